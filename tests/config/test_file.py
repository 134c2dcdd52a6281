"""Settings from a file: what is taken, and what is said about mistakes."""

from __future__ import annotations

import pytest

from chatlint.config import FailOn, Settings
from chatlint.config.file import find_config, read_config
from chatlint.errors import UsageError


def test_a_file_sets_what_it_names(tmp_path):
    path = tmp_path / "chatlint.toml"
    path.write_text(
        'select = ["CT4"]\nignore = ["prefix-break"]\nfail-on = "warning"\nhost = "transformers-4.57"\n'
    )
    settings = read_config(path, Settings(offline=True))
    assert settings == Settings(
        "transformers-4.57",
        FailOn.WARNING,
        ("CT4",),
        ("prefix-break",),
        offline=True,
        config=str(path),
    )


def test_a_section_of_pyproject_counts(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text('[tool.chatlint]\nfail-on = "never"\n')
    assert read_config(path, Settings()).fail_on is FailOn.NEVER


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("[tool.chatlint]", True),
        ('[ tool . "chatlint" ]', True),
        ("['tool'.chatlint.rules.prefix-break]\nseverity = 'error'", True),
        ("tool.chatlint.fail-on = 'never'", True),
        ("[tool]\nchatlint.fail-on = 'never'", True),
        ("tool = {ruff = {}, chatlint = {}}", True),
        ("[tool.ruff]\n[project]\ndependencies = ['chatlint']", False),
        ("[tool.chatlints]", False),
        ("[tool.ruff]\n[chatlint]", False),
    ],
)
def test_a_section_however_it_is_written(tmp_path, text, counts):
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / ".git").mkdir()
    assert (find_config(tmp_path) is not None) == counts


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("fail_on = 'error'", "unknown key 'fail_on'", "did you mean 'fail-on'?"),
        ("colour = 1", "unknown key 'colour'", "known: baseline, engines, expect, fail-on, host"),
        ("select = 'CT4'", "select must be a list of strings", ""),
        ("host = 5", "host must be a string", ""),
        ("fail-on = 'fatal'", "no severity 'fatal'", "known: error, warning, info, never"),
        ("profile = 'trainig'", "no profile 'trainig'", "did you mean 'training'?"),
        ("select = [", "is not TOML", ""),
        (f"fail-on = {'9' * 5000}", "is not TOML", ""),
        (f"{'a.' * 400_000}a = 1", "a key of more than 100 parts", ""),
    ],
)
def test_error_says_what_and_what_to_do(tmp_path, text, message, hint):
    path = tmp_path / "chatlint.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        read_config(path, Settings())
    assert hint in caught.value.hint


def test_error_for_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="there is no file"):
        read_config(tmp_path / "chatlint.toml", Settings())


def test_the_nearest_configuration_holds_up_to_the_repository(tmp_path):
    (tmp_path / "chatlint.toml").write_text("")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_config(inner) == tmp_path / "chatlint.toml"
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert find_config(inner) == tmp_path / "chatlint.toml"
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.chatlint]\n")
    assert find_config(inner) == tmp_path / "a" / "pyproject.toml"
    (inner / ".git").mkdir()
    assert find_config(inner) is None
