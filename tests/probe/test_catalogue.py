"""Probes are read when asked for, and a faulty file says what is wrong with it."""

from __future__ import annotations

import json

import pytest

from chatlint.errors import UsageError
from chatlint.probe.catalogue import Catalogue, catalogue

PROBE = {
    "id": "mine/one",
    "title": "One",
    "why": "To see.",
    "conversation": {"messages": [{"role": "user", "content": "Walnut"}]},
    "needs": [],
    "vary": [],
}


def write(folder, probe, name="mine/one"):
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(probe if isinstance(probe, str) else json.dumps(probe), encoding="utf-8")
    return Catalogue(folder)


def test_reads_a_directory(tmp_path):
    mine = write(tmp_path, PROBE)
    assert mine.ids() == ("mine/one",)
    assert [probe.title for probe in mine] == ["One"]
    assert mine.probe("mine/one").conversation.tools is None


def test_named_tools_are_put_in_place():
    (tool,) = catalogue().probe("calls/one").conversation.tools
    assert tool["function"]["name"] == "find_tide"


def test_null_absent_and_empty_stay_different(tmp_path):
    conversation = {
        "messages": [{"role": "user", "content": None}, {"role": "user"}, {"role": "user", "content": ""}],
        "tools": [],
    }
    probe = write(tmp_path, {**PROBE, "conversation": conversation}).probe("mine/one")
    assert [one.get("content", "absent") for one in probe.conversation.messages] == [None, "absent", ""]
    assert probe.conversation.tools == ()


def test_nothing_is_read_before_it_is_needed(tmp_path):
    write(tmp_path, "no json", "mine/other")
    assert write(tmp_path, PROBE).probe("mine/one").id == "mine/one"


@pytest.mark.parametrize(
    ("probe", "said"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "must be an object"),
        ({**PROBE, "id": "mine/two"}, "its id must be 'mine/one'"),
        ({**PROBE, "title": 1}, "`title` must be a text"),
        ({**PROBE, "conversation": None}, "`conversation` must be an object"),
        ({**PROBE, "conversation": {"messages": {}}}, "`messages` must be a list"),
        ({**PROBE, "conversation": {"messages": ["hello"]}}, "an element of `messages` must be an object"),
        ({**PROBE, "conversation": {"messages": [], "tools": ["@none"]}}, "tools.json"),
    ],
)
def test_error_names_the_file_and_the_fault(tmp_path, probe, said):
    with pytest.raises(UsageError) as error:
        write(tmp_path, probe).probe("mine/one")
    assert said in error.value.message
    assert str(tmp_path) in error.value.message


@pytest.mark.parametrize("name", ["roles/usr", "nothing", "../roles/user", "roles/../roles/user", ""])
def test_error_on_an_unknown_probe(name):
    with pytest.raises(UsageError) as error:
        catalogue().probe(name)
    assert error.value.hint
    assert name != "roles/usr" or "roles/user" in error.value.hint
