"""`chatlint parse`: a model's output back into a message, whole and as it comes."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

TEXT = '<think>\nHmm, tide.\n</think>\n\nLet me löök.\n<tool_call>\n{"name": "f", "arguments": {"n": 3}}\n</tool_call><|im_end|>'
MESSAGE = {
    "role": "assistant",
    "content": "Let me löök.",
    "reasoning_content": "Hmm, tide.",
    "tool_calls": [{"id": "", "type": "function", "function": {"name": "f", "arguments": '{"n": 3}'}}],
}


@pytest.fixture
def written(tmp_path):
    (tmp_path / "out.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "tools.json").write_text(json.dumps([{"type": "function", "function": {"name": "f"}}]))
    return tmp_path / "out.txt"


def lines(done):
    return [json.loads(line) for line in done.out.splitlines()]


def test_a_message_is_read(chatlint, written):
    done = chatlint("parse", "corpus:qwen3", written)
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out) == MESSAGE


@pytest.mark.parametrize("form", [(), ("--stream",), ("--format", "chunks")])
def test_a_call_that_broke_off_is_noted(chatlint, written, form):
    written.write_text(TEXT.partition('": 3}')[0], encoding="utf-8")
    done = chatlint("parse", "corpus:qwen3", written, *form)
    assert done.status == 0
    assert done.err == "note: a call broke off; its arguments are no whole JSON\n"


def test_reasoning_may_stay_in_the_content(chatlint, written):
    message = json.loads(chatlint("parse", "corpus:qwen3", written, "--no-reasoning").out)
    assert message["reasoning_content"] == ""
    assert message["content"].startswith("<think>\nHmm, tide.\n</think>")


def test_events_add_up_to_the_message(chatlint, written):
    events = lines(chatlint("parse", "corpus:qwen3", written, "--stream"))
    assert events[-1] == {"event": "end_of_turn", "marker": "<|im_end|>"}
    for kind, field in (("content", "content"), ("reasoning", "reasoning_content")):
        assert "".join(one["text"] for one in events if one["event"] == kind) == MESSAGE[field]
    assert {"event": "call", "index": 0, "id": "", "name": "f"} in events


def test_chunks_are_those_of_openai(chatlint, written):
    first, *chunks, last = lines(chatlint("parse", "corpus:qwen3", written, "--format", "chunks"))
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert {(chunk["object"], chunk["model"]) for chunk in chunks} == {
        ("chat.completion.chunk", "corpus:qwen3")
    }
    assert len({(chunk["id"], chunk["created"]) for chunk in [first, *chunks, last]}) == 1
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == "Let me löök."
    assert last["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    calls = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", [])]
    ids = [call["id"] for call in calls if "id" in call]
    assert len(ids) == 1
    assert re.fullmatch("[A-Za-z0-9]{9}", ids[0])  # the format has none: clients need one all the same


@pytest.mark.parametrize(
    ("end", "reason"), [(', "id": "abc123456"}]</s>', "tool_calls"), ("", "length"), ("}", "tool_calls")]
)
def test_the_first_delta_of_a_call_has_its_id(chatlint, tmp_path, end, reason):
    (tmp_path / "o.txt").write_text(
        '[TOOL_CALLS] [{"name": "f", "arguments": {"n": 3' + ("}" + end) * bool(end)
    )
    _, first, *rest, last = lines(chatlint("parse", "corpus:mistral-v7", "o.txt", "--format", "chunks"))
    (call,) = first["choices"][0]["delta"]["tool_calls"]
    assert re.fullmatch("[A-Za-z0-9]{9}", call["id"])
    assert call["id"] != "abc123456"  # that comes too late: a call has one id
    later = [call for chunk in rest for call in chunk["choices"][0]["delta"].get("tool_calls", [])]
    assert [call for call in later if "id" in call] == []
    assert last["choices"][0]["finish_reason"] == reason


def test_a_switch_says_what_the_prompt_has_opened(chatlint, tmp_path):
    (tmp_path / "t.jinja").write_text(
        "{% for m in messages %}<|{{ m.role }}|>{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>"
        "{% endif %}{{ m.content }}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% if think %}<think>{% endif %}{% endif %}"
    )
    (tmp_path / "o.txt").write_text("so</think>yes")
    read = [
        json.loads(chatlint("parse", "t.jinja", "o.txt", "--kwargs", kwargs).out)
        for kwargs in ('{"think": true}', "{}")
    ]
    assert (read[0]["reasoning_content"], read[0]["content"]) == ("so", "yes")


def test_a_person_sees_the_parts(chatlint, written):
    done = chatlint("parse", "corpus:qwen3", written, "--color", "always")
    assert "\x1b[2mHmm, tide.\x1b[0m" in done.out
    assert "\x1b[1;35mf\x1b[0m" in done.out
    assert '{"n": 3}' in done.out


@pytest.mark.timeout(60)
def test_standard_input_is_read_as_it_comes(written):
    command = [sys.executable, "-m", "chatlint", "parse", "corpus:qwen3", "--stream"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write("<think>\nGrüße an alle\n".encode()[:13])
        process.stdin.flush()
        first = json.loads(process.stdout.readline())
        process.stdin.write("<think>\nGrüße an alle\n".encode()[13:])
        rest, _ = process.communicate()
    assert first == {"event": "reasoning", "text": "Grü"}
    events = [first, *map(json.loads, rest.decode().splitlines())]
    assert "".join(one["text"] for one in events if one["event"] == "reasoning").rstrip() == "Grüße an alle"


def test_logged_outputs_are_counted(chatlint, tmp_path):
    call = '<tool_call>\n{"name": "f", "arguments": {"n": 3}}\n</tool_call>'
    logged = [
        "plain",
        {"text": "<think>\na\n</think>\n\nb"},
        {"output": call, "message": {"content": "", "tool_calls": [{"name": "f", "arguments": {"n": 3}}]}},
        {"output": call, "message": {"content": "", "tool_calls": []}},
        '<tool_call>\n{"name": "f", "arguments": {"n": ',
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in logged) + "{cut\n[1]\n")
    done = chatlint("parse", "corpus:qwen3", "--jsonl", "log.jsonl")
    tally = json.loads(done.out)
    assert done.status == 1
    assert {name: tally[name] for name in ("outputs", "whole", "cut", "other", "broken")} == {
        "outputs": 7, "whole": 3, "cut": 1, "other": 1, "broken": 2,
    }  # fmt: skip
    assert tally["examples"]["other"] == [{"line": 4, "text": call}]
    shown = chatlint("parse", "corpus:qwen3", "--jsonl", "log.jsonl", "--color", "always").out
    assert "read whole" in shown
    assert "line 5" in shown


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["corpus:qwen3", "missing.txt"], 2, "missing.txt cannot be read"),
        (["corpus:qwen3", "--jsonl", "missing.jsonl"], 2, "missing.jsonl cannot be read"),
        (["corpus:qwen3", "--jsonl", "out.txt"], 2, "out.txt:1 is not JSON"),
        (["corpus:qwen3", "--format", "mesage"], 2, "did you mean 'message'?"),
        (["corpus:qwen3", "--tools", "out.txt"], 2, "out.txt is not JSON"),
        (["corpus:nothing", "out.txt"], 3, "no entry 'nothing'"),
        (["broken.jinja", "out.txt"], 2, "does not compile"),
    ],
)
def test_error_says_what_to_do(chatlint, written, tmp_path, arguments, status, said):
    (tmp_path / "broken.jinja").write_text("{% for %}")
    done = chatlint("parse", *arguments)
    assert (done.status, done.out) == (status, "")
    assert said in " ".join(done.err.split())
