"""The published schema of the configuration says what is read, and no more."""

from __future__ import annotations

import json
import tomllib

import pytest
from jsonschema import Draft202012Validator

from chatlint.config import FailOn, Profile, Settings
from chatlint.config.file import FILE_KEYS, SEVERITIES, read_config
from chatlint.detect.capabilities import detect_capabilities
from chatlint.detect.capability import CAPABILITIES, CHAT_TEMPLATE_CAPS
from chatlint.errors import UsageError
from chatlint.probe.trace import Trace
from chatlint.source.load import load
from tests.conftest import ROOT

SCHEMA = json.loads((ROOT / "chatlint" / "config" / "config.schema.json").read_text(encoding="utf-8"))
KNOWN = SCHEMA["properties"]


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


def test_it_names_every_key_and_every_choice():
    assert tuple(KNOWN) == FILE_KEYS
    assert KNOWN["fail-on"]["enum"] == list(FailOn)
    assert KNOWN["profile"]["enum"] == list(Profile)
    severity = KNOWN["rules"]["additionalProperties"]["properties"]["severity"]
    assert severity["enum"] == list(SEVERITIES)
    assert KNOWN["require"]["items"]["enum"] == [*CAPABILITIES, *CHAT_TEMPLATE_CAPS]


def test_the_names_of_capabilities_are_those_that_are_reported():
    with Trace(load("corpus:qwen3").templates[0]) as trace:
        found = detect_capabilities(trace)
    assert tuple(found.capabilities) == CAPABILITIES
    assert tuple(found.chat_template_caps) == CHAT_TEMPLATE_CAPS


@pytest.mark.parametrize(
    "text",
    [
        "",
        'select = ["CT4"]\nignore = []\nfail-on = "never"\nprofile = "security"\nhost = "vllm"',
        'require = ["tools", "supports_tool_calls"]\nexpect = "r.json"\nprobes = "p"\nbaseline = "b.json"',
        'engines = ["minijinja"]\n[rules.prefix-break]\nseverity = "error"\n[rules.double-bos]',
        '[per-target-ignores]\n"org/*" = ["CT5", "prefix-break"]',
    ],
)
def test_both_take(tmp_path, text):
    assert Draft202012Validator(SCHEMA).is_valid(tomllib.loads(text))
    (tmp_path / "chatlint.toml").write_text(text)
    read_config(tmp_path / "chatlint.toml", Settings())


REFUSED = {
    'slect = ["CT4"]': (1, "unknown key 'slect'", "did you mean 'select'?"),
    "\nselect = 5": (2, "select must be a list of strings", ""),
    "select = [5]": (1, "select must be a list of strings", ""),
    '# a remark\nfail-on = "fatal"': (2, "no severity 'fatal'", "known: error, warning, info, never"),
    'profile = "trainig"': (1, "no profile 'trainig'", "did you mean 'training'?"),
    "host = 5": (1, "host must be a string", ""),
    'require = ["tool"]': (1, "no capability 'tool' to require", "did you mean 'tools'?"),
    "require = true": (1, "require must be a list of strings", ""),
    "expect = []": (1, "expect must be a string", ""),
    "probes = {}": (1, "probes must be a string", ""),
    "baseline = 1": (1, "baseline must be a string", ""),
    "rules = 1": (1, "rules must be a table", ""),
    "[rules]\nprefix-break = 'error'": (2, "prefix-break must be a table", ""),
    "[rules.prefix-break]\nsevrity = 'error'": (2, "unknown key 'sevrity' in [rules.prefix-break]", "did you mean 'severity'?"),
    "[rules.prefix-break]\n\nseverity = 'fatal'": (3, "no severity 'fatal'", "known: error, warning, info"),
    "[rules.prefix-break]\nseverity = 1": (2, "severity must be a string", ""),
    "per-target-ignores = 1": (1, "per-target-ignores must be a table", ""),
    '[per-target-ignores]\n"org/*" = "CT5"': (2, "org/* must be a list of strings", ""),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_both_refuse_and_the_file_says_where(tmp_path, text):
    assert not Draft202012Validator(SCHEMA).is_valid(tomllib.loads(text))
    line, said, hint = REFUSED[text]
    path = tmp_path / "chatlint.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_config(path, Settings())
    assert caught.value.message.startswith(f"{path}:{line}: {said}")
    assert hint in caught.value.hint


def test_error_a_section_that_is_none(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool]\nchatlint = 5\n")
    with pytest.raises(UsageError, match="chatlint must be a table"):
        read_config(path, Settings())


def test_error_lines_of_a_section_of_pyproject(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text("[project]\nselect = 1\n[tool.chatlint]\nselct = []\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml:4: unknown key 'selct'"):
        read_config(path, Settings())


@pytest.mark.parametrize("name", ["report", "config", "probe", "vector"])
def test_the_command_prints_it(chatlint, name):
    done = chatlint("schema", name)
    assert done.status == 0
    Draft202012Validator.check_schema(json.loads(done.out))


def test_error_a_schema_that_there_is_not(chatlint):
    done = chatlint("schema", "confg")
    assert done.status == 2
    assert "did you mean 'config'?" in done.err
