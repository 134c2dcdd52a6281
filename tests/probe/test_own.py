"""A user's own conversations: what is read, and what is refused with its file."""

from __future__ import annotations

import os

import pytest

from chatlint import limits
from chatlint.conversation import Conversation
from chatlint.errors import UsageError
from chatlint.probe import own
from chatlint.probe.own import read_own

HELLO = {"role": "user", "content": "Hello"}
TEXT = '{"role": "user", "content": "Hello"}'


@pytest.fixture
def folder(tmp_path):
    def made(**files):
        place = tmp_path / "talks"
        for name, content in files.items():
            stem, _, suffix = name.rpartition("_")
            path = place / f"{stem.replace('__', '/')}.{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(place)

    return made


@pytest.mark.parametrize(
    "written",
    [
        f"[{TEXT}]",
        f'{{"messages": [{TEXT}]}}',
        f'\ufeff{{"messages": [{TEXT}]}}',
        f'{{"id": "a/b", "title": "t", "why": "w", "conversation": {{"messages": [{TEXT}]}}}}',
    ],
)
def test_a_conversation_may_be_written_in_several_ways(folder, written):
    (found,) = read_own(folder(hello_json=written))
    assert found.conversation == Conversation((HELLO,))
    assert (found.name, found.file, found.prompt) == ("hello", "talks/hello.json", None)
    assert found.case.id == "own/hello"


def test_everything_that_a_request_has(folder):
    (found,) = read_own(
        folder(
            a_json=f'{{"messages": [{TEXT}], "tools": ["@tide"], "documents": [{{"title": "t"}}], '
            '"template_kwargs": {"enable_thinking": false}, "add_generation_prompt": false}'
        )
    )
    assert found.conversation.tools[0]["function"]["name"] == "find_tide"
    assert found.conversation.documents == ({"title": "t"},)
    assert found.conversation.template_kwargs == {"enable_thinking": False}
    assert found.case.id == "own/a@generation=off"
    assert found.case.add_generation_prompt is False


def test_folders_below_and_prompts_to_the_byte(folder):
    found = read_own(folder(b_json=f"[{TEXT}]", b_txt=b"\r\n x \n", sub__a_json=f"[{TEXT}]"))
    assert [(one.name, one.prompt) for one in found] == [("b", "\r\n x \n"), ("sub/a", None)]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "is no folder"),
        ({"a_md": ""}, "holds no .json file"),
        ({"a_json": "{"}, "a.json: cannot be read as JSON"),
        ({"a_json": "[" * 9000}, "a.json: cannot be read as JSON"),
        ({"a_json": b"\xff"}, "a.json is not UTF-8"),
        ({"a_json": "3"}, "a.json: holds no conversation"),
        ({"a_json": "{}"}, "a.json: holds no conversation"),
        ({"a_json": "[3]"}, "a.json: an element of `messages` must be an object"),
        ({"a_json": '{"messages": 3}'}, "a.json: `messages` must be a list"),
        ({"a_json": '{"messages": [], "tool": []}'}, "a.json: unknown member 'tool'"),
        ({"a_json": '{"messages": [], "tools": ["@none"]}'}, "there is no tool '@none'"),
        ({"a_json": '{"messages": [], "add_generation_prompt": "no"}'}, "must be true or false"),
        ({"a_json": "[]", "b_txt": ""}, "b.txt: there is no b.json"),
    ],
)
def test_error_what_is_no_conversation(folder, files, said):
    with pytest.raises(UsageError) as caught:
        read_own(folder(**files))
    assert said in caught.value.message


def test_error_more_than_may_be(folder, monkeypatch):
    place = folder(a_json=f"[{TEXT}]", b_json=f"[{TEXT}]")
    with monkeypatch.context() as patched:
        patched.setattr(own, "OWN_CONVERSATIONS", 1)
        with pytest.raises(UsageError, match="more than 1 conversations"):
            read_own(place)
    with monkeypatch.context() as patched:
        patched.setattr(own, "FOLDER_FILES", 1)
        with pytest.raises(UsageError, match="more than 1 files"):
            read_own(place)
    monkeypatch.setattr(own, "OWN_CONVERSATION_BYTES", 8)
    with pytest.raises(UsageError, match=r"a\.json"):
        read_own(place)
    assert limits.OWN_CONVERSATIONS > 1


def test_error_a_folder_that_goes_away(folder, monkeypatch):
    place = folder(a_json=f"[{TEXT}]", sub__b_json=f"[{TEXT}]")

    def scandir(path):
        if str(path).endswith("sub"):
            raise FileNotFoundError(2, "No such file or directory", path)
        return real(path)

    real = os.scandir
    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(UsageError, match="sub cannot be read: No such file"):
        read_own(place)


def test_links_to_folders_lead_nowhere(folder):
    place = folder(a_json=f"[{TEXT}]")
    os.symlink(place, os.path.join(place, "again"))
    assert [one.name for one in read_own(place)] == ["a"]
