"""The pytest plugin: what it asserts, what it says, and that it costs nothing where it is not used."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from chatlint.errors import UsageError
from chatlint.pytest_plugin import assert_template

pytest_plugins = ["pytester"]

GOOD = """{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
"""
BAD = GOOD.split("{% if")[0]


@pytest.fixture(autouse=True)
def here(pytester, monkeypatch, tmp_path):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    pytester.makefile(".jinja", good=GOOD, bad=BAD)


@pytest.fixture
def run(pytester):
    """Run tests with the plugin, as an installation has it."""
    installed = any(point.value == "chatlint.pytest_plugin" for point in entry_points(group="pytest11"))
    arguments = () if installed else ("-p", "chatlint.pytest_plugin")

    def run(source):
        pytester.makepyfile(source)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    return run


def test_the_fixture_passes_and_fails(run):
    result = run(
        """
        def test_good(assert_template):
            report = assert_template("good.jinja", require=["system"])
            assert report.exit_code == 0

        def test_bad(assert_template):
            assert_template("bad.jinja")

        def test_ignored(assert_template):
            assert_template("bad.jinja", ignore=["generation-prompt"])

        def test_required(assert_template):
            assert_template("good.jinja", require="tools")
        """
    )
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: bad.jinja",
            "E*error?generation-prompt?: *",
            "E*--> bad.jinja*",
            "E*= in serving*",
            "*AssertionError: good.jinja",
            "E*error?required-capability?: tools is required, and is not there*",
        ]
    )
    assert "pytest_plugin.py" not in result.stdout.str().partition("short test summary")[0]


def test_what_is_said_is_safe_to_print(pytester):
    pytester.makefile(".jinja", hostile="\x1b[31m{{ raise_exception('\x1b]8;;x\x07') }}")
    with pytest.raises(AssertionError) as caught:
        assert_template("hostile.jinja")
    assert "\x1b" not in str(caught.value)


def test_a_target_that_cannot_be_loaded_is_no_success():
    with pytest.raises(AssertionError, match="no/such"):
        assert_template("no/such.jinja")


def test_the_configuration_holds_too(pytester):
    pytester.makefile(".toml", chatlint='require = ["tools"]')
    with pytest.raises(AssertionError, match="tools is required"):
        assert_template("good.jinja")
    assert assert_template("good.jinja", isolated=True).exit_code == 0


def test_a_threshold_and_a_profile():
    assert_template("good.jinja", select=["prefix-break", "content-shape"])
    with pytest.raises(AssertionError, match="content-shape"):
        assert_template("good.jinja", select="content-shape", fail_on="warning")


@pytest.mark.parametrize(
    "settings", [{"require": "tool"}, {"profile": "trainig"}, {"ignore": "sintax"}, {"fail_on": "x"}]
)
def test_error_settings_that_mean_nothing(settings):
    with pytest.raises(UsageError):
        assert_template("good.jinja", **settings)


def test_it_costs_nothing_where_it_is_not_used():
    code = "import sys, chatlint.pytest_plugin; print(*(name for name in sys.modules if name.startswith('chatlint.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["chatlint.pytest_plugin"]


def test_the_entry_point_is_declared():
    import tomllib
    from pathlib import Path

    project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert project["entry-points"]["pytest11"] == {"chatlint": "chatlint.pytest_plugin"}
