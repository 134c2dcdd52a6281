"""A running server against the template: prompts, capabilities, tokens, calls; and servers that misbehave."""

from __future__ import annotations

import json
import re
import socket
import threading
from dataclasses import replace

import pytest

from chatlint.engines import server as http
from chatlint.engines.server import Server, ServerSilent
from chatlint.errors import TargetError, UsageError
from chatlint.report.canvas import Canvas
from chatlint.serve_check import check_server
from chatlint.serve_check.run import CASES, Outcome
from chatlint.serve_check.terminal import terminal
from tests.render.plain import template
from tests.serve_check.servers import CAPS, TEMPLATE, llama_server, sglang_server, vllm_server

OURS = template(TEMPLATE, bos_token="<s>", eos_token="</s>")


def differing(report):
    return [(one.part, one.about) for one in report.comparisons if one.outcome is Outcome.DIFFERS]


def of(report, part):
    return [one for one in report.comparisons if one.part == part]


# -- llama-server --------------------------------------------------------------------------------------------


def test_a_llama_server_is_compared_with_the_template_that_it_names(httpserver):
    report = check_server(llama_server(httpserver))
    assert differing(report) == []
    assert report.exit_code == 0
    assert (report.server.kind, report.server.version, report.host) == (
        "llama.cpp",
        "b9000-0123abc",
        "llama.cpp",
    )
    assert len(of(report, "prompt")) == len(CASES)
    assert {one.about for one in of(report, "capability")} == set(CAPS)
    assert [one.about for one in of(report, "token")] == ["<|end|>", "BOS"]


def test_a_server_that_renders_something_else(httpserver):
    report = check_server(llama_server(httpserver, served=TEMPLATE.replace("<|end|>", "<|eot|>")))
    assert report.exit_code == 1
    assert {part for part, _ in differing(report)} == {"prompt"}
    first = next(one for one in report.comparisons if one.outcome is Outcome.DIFFERS)
    assert "<|end|>" in first.ours
    assert "<|eot|>" in first.theirs
    assert first.note.startswith("the prompts part at character ")


def test_another_template_than_the_targets(httpserver):
    other = TEMPLATE.replace("<|end|>", "<|eot|>")
    report = check_server(llama_server(httpserver, other), OURS)
    assert differing(report)[0] == ("template", "default")


def test_capabilities_that_the_server_reports_otherwise(httpserver):
    report = check_server(llama_server(httpserver, caps={**CAPS, "supports_tools": False}))
    assert differing(report) == [("capability", "supports_tools")]


def test_requests_are_prepared_as_the_server_says_that_it_does(httpserver):
    """Older builds join parts where newer ones, and ours, hand them on: `/props` says which this is."""
    loops = "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}{% endfor %}"
    newer = check_server(llama_server(httpserver, loops, caps={}))
    assert ("prompt", "content/two-parts") in differing(newer)
    httpserver.clear()
    older = check_server(llama_server(httpserver, loops, caps=CAPS))
    assert ("prompt", "content/two-parts") not in differing(older)


def test_two_bos_tokens_and_a_mark_of_several_tokens(httpserver):
    report = check_server(llama_server(httpserver, double_bos=True, pieces=3))
    assert ("token", "BOS") in differing(report)
    marks = [one for one in of(report, "token") if one.about != "BOS"]
    assert marks
    assert all("3 tokens" in one.note for one in marks)


def test_a_refusal_that_is_ours_as_well_is_the_same(httpserver):
    strict = "{% if messages[-1].role == 'tool' %}{{ raise_exception('no results') }}{% endif %}" + TEMPLATE
    report = check_server(llama_server(httpserver, strict, caps={}))
    notes = {one.about: (one.outcome, one.note) for one in of(report, "prompt")}
    assert notes["calls/one-result@arguments=string,content=null"] == (Outcome.SAME, "both refuse")


# -- vLLM ----------------------------------------------------------------------------------------------------


def test_a_vllm_server_that_tells_the_text(httpserver):
    report = check_server(vllm_server(httpserver), OURS)
    assert differing(report) == []
    assert report.server.kind == "vllm"
    assert all(one.outcome is Outcome.SAME for one in of(report, "prompt"))


def test_token_ids_alone_need_the_tokenizer(httpserver):
    report = check_server(vllm_server(httpserver, shows="ids"), OURS)
    assert {one.outcome for one in of(report, "prompt")} == {Outcome.NOT_COMPARED}
    assert "tokenizer.json" in report.comparisons[0].note
    assert report.exit_code == 3


class _CodePoints:
    """A tokenizer whose tokens are code points."""

    def encode(self, prompt, bos=""):
        tokens = [_Token(ord(sign), place) for place, sign in enumerate(prompt.text)]
        return type("Encoding", (), {"whole": tuple(tokens)})()


class _Token:
    def __init__(self, number, start):
        self.id, self.start = number, start


def test_token_ids_are_compared(httpserver):
    url = vllm_server(httpserver, shows="ids")
    assert check_server(url, OURS, encoder=_CodePoints()).exit_code == 0
    other = replace(OURS, text=TEMPLATE.replace("<|end|>", "<|eot|>"))
    report = check_server(url, other, encoder=_CodePoints())
    assert report.exit_code == 1
    assert "the tokens part at" in report.comparisons[0].note
    assert "'ot|>" in report.comparisons[0].note


def test_a_server_that_shows_nothing(httpserver):
    report = check_server(vllm_server(httpserver, shows="nothing"), OURS)
    assert report.exit_code == 3
    assert report.comparisons[0].note.startswith("the server shows no prompts")


def test_a_server_that_names_no_template_needs_a_target(httpserver):
    with pytest.raises(UsageError, match="does not say which template") as error:
        check_server(vllm_server(httpserver))
    assert "--target" in error.value.hint


# -- SGLang --------------------------------------------------------------------------------------------------


def test_sglang_reads_calls(httpserver):
    report = check_server(sglang_server(httpserver), OURS)
    assert of(report, "call")
    assert differing(report) == []
    assert report.exit_code == 0
    assert "not known here" in report.notes[0]


def test_sglang_that_loses_a_call(httpserver):
    report = check_server(sglang_server(httpserver, "only-one"), OURS)
    assert {part for part, _ in differing(report)} == {"call"}
    first = next(one for one in report.comparisons if one.outcome is Outcome.DIFFERS)
    assert "its parser only-one reads other calls" in first.note


# -- servers that misbehave ----------------------------------------------------------------------------------


def test_nobody_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(TargetError, match="does not answer"):
        check_server(f"http://127.0.0.1:{port}", OURS)


def test_no_http():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(5)

        def talk():
            peer, _ = listening.accept()
            peer.recv(1000)
            peer.sendall(b"SSH-2.0-x\r\n")
            peer.close()

        thread = threading.Thread(target=talk)
        thread.start()
        with pytest.raises(TargetError, match="does not answer"):
            check_server(f"http://127.0.0.1:{listening.getsockname()[1]}", OURS)
        thread.join()


@pytest.mark.parametrize(
    "url", ["", "ftp://x", "http://", "http://a:b@c", "http://x?y=1", "http://x:99999999", "http://[::1"]
)
def test_error_no_address(url):
    with pytest.raises(UsageError, match="no address"):
        Server(url)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://x:1/v1/", "http://x:1"),
        ("https://x/some/v1", "https://x/some"),
    ],
)
def test_addresses(url, base):
    assert Server(url).url == base


def test_answers_are_bounded(httpserver, monkeypatch):
    httpserver.expect_request("/big").respond_with_data("x" * 5000)
    httpserver.expect_request("/moved").respond_with_data("", status=302, headers={"Location": "/big"})
    httpserver.expect_request("/odd").respond_with_data("[" * 100_000)
    monkeypatch.setattr(http, "SERVER_ANSWER_BYTES", 200_000)
    server = Server(httpserver.url_for(""))
    assert server.get("/odd").value is None
    assert server.get("/moved").status == 302
    monkeypatch.setattr(http, "SERVER_ANSWER_BYTES", 1000)
    with pytest.raises(ServerSilent, match="more than 1,000 bytes"):
        server.get("/big")


ODD = [
    [],
    "x",
    {"data": 5},
    {"data": [5]},
    {"data": [{"id": 5, "owned_by": []}]},
    {
        "data": [{"id": "m", "owned_by": "vllm"}],
        "version": {},
        "token_ids": "abc",
        "prompt": 5,
        "tokens": [None],
    },
    {"data": [{"id": "m", "owned_by": "sglang"}], "tool_call_parser": "p", "calls": [5, {"name": 1}]},
    {"chat_template": 5, "build_info": [], "chat_template_caps": 5, "prompt": [], "tokens": 5},
    {
        "chat_template": "{{ 1 / 0 }}",
        "chat_template_caps": {"supports_tools": "yes"},
        "prompt": "p",
        "tokens": [],
    },
    {"chat_template": "{% if %}", "build_info": "b", "error": {"message": {"a": 1}}},
]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("status", [200, 500])
def test_odd_answers_are_no_fault_of_ours(httpserver, odd, status):
    httpserver.expect_request(re.compile(".*")).respond_with_json(odd, status=status)
    report = check_server(httpserver.url_for(""), OURS)
    assert report.exit_code in (0, 1, 3)
    assert terminal(report, Canvas(width=40))


@pytest.mark.parametrize(
    "broken",
    [
        "{% if %}",
        "{{ 1 / 0 }}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}",
    ],
)
def test_a_served_template_that_breaks(httpserver, broken):
    props = {"chat_template": broken, "chat_template_caps": CAPS, "build_info": "b"}
    httpserver.expect_request("/props").respond_with_json(props)
    httpserver.expect_request(re.compile(".*")).respond_with_json(
        {"error": {"message": "broken"}}, status=500
    )
    report = check_server(httpserver.url_for(""))
    assert {one.note for one in of(report, "prompt")} == {"both refuse"}


def test_the_key_is_sent(httpserver):
    httpserver.expect_request("/x", headers={"Authorization": "Bearer s3cret"}).respond_with_json({"a": 1})
    assert Server(httpserver.url_for(""), "s3cret").get("/x").fields == {"a": 1}


def test_hostile_answers_stay_visible(httpserver):
    report = check_server(llama_server(httpserver, served=TEMPLATE + "\x1b[31m\u202e"))
    shown = terminal(report, Canvas(width=80))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "the server differs from the template" in shown
    assert shown.count("roles/user") <= 3  # one cause is shown once


def test_as_json(httpserver):
    data = check_server(llama_server(httpserver)).to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["schema"] == "chatlint.server/1"
    assert {one["outcome"] for one in data["comparisons"]} == {"same"}


@pytest.mark.parametrize(
    "begun",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"],
    ids=["headers", "a long answer", "an answer without an end"],
)
def test_a_server_that_drips_is_not_waited_for(monkeypatch, begun):
    monkeypatch.setattr(http, "SERVER_SECONDS", 0.6)
    stop = threading.Event()

    def drip(listening):
        peer, _ = listening.accept()
        with peer:
            peer.sendall(begun)
            while not stop.wait(0.05):
                try:
                    peer.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, args=(listening,), daemon=True)
        thread.start()
        try:
            with pytest.raises(ServerSilent, match="not there after 0"):
                Server(f"http://127.0.0.1:{listening.getsockname()[1]}").get("/props")
        finally:
            stop.set()
            thread.join()


def test_a_key_that_no_header_can_hold_is_not_shown(httpserver):
    httpserver.expect_request("/x", headers={"Authorization": "Bearer s3cret"}).respond_with_json({"a": 1})
    assert Server(httpserver.url_for(""), "s3cret\n").get("/x").fields == {"a": 1}
    with pytest.raises(UsageError) as error:
        Server(httpserver.url_for(""), "s3\ncret")
    assert "cret" not in str(error.value)
