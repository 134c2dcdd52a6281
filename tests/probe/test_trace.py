"""A trace renders what is asked, once, and remembers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatlint.conversation import Conversation
from chatlint.errors import UsageError
from chatlint.limits import TRACE_BOUND_FAILURES
from chatlint.probe import trace as trace_module
from chatlint.probe.trace import Trace
from chatlint.render.rendered import FailureKind, Rendered, RenderFailure, RenderRequest, RenderSettings
from chatlint.source.package import Template, TemplatePlace
from chatlint.text import Literal, Prompt, Span

TEMPLATE = Template("default", "", "0" * 64, TemplatePlace("t.jinja"))


class Recorder:
    """A renderer that writes down what it is asked and answers with the roles."""

    def __init__(self, failure: RenderFailure | None = None, lines: tuple[int, ...] = (1,)) -> None:
        self.requests: list[RenderRequest] = []
        self.failure = failure
        self.lines = frozenset(lines)
        self.closed = False

    def render(self, request: RenderRequest) -> Rendered:
        self.requests.append(request)
        if self.failure:
            return Rendered(None, self.failure, seconds=0.5)
        text = " ".join(str(message["role"]) for message in request.conversation.messages)
        return Rendered(
            Prompt(text, (Span(0, len(text), Literal(1, 1)),)), None, lines=self.lines, seconds=0.5
        )

    def render_all(self, requests):
        return tuple(self.render(request) for request in requests)

    def coverable_lines(self):
        return frozenset({1, 2, 3, 5, 8, 9})

    def close(self):
        self.closed = True


def trace(**options):
    renderer = Recorder(**options)
    return Trace(TEMPLATE, renderer=renderer), renderer


@pytest.mark.parametrize(
    ("axes", "switches", "expected"),
    [
        ({}, None, "calls/one"),
        ({"generation": "on", "arguments": "object"}, None, "calls/one"),
        ({"generation": "off", "arguments": "string"}, None, "calls/one@arguments=string,generation=off"),
        (
            {"content": "null"},
            {"mode": "low", "enable_thinking": True},
            'calls/one@content=null,kwargs.enable_thinking=true,kwargs.mode="low"',
        ),
    ],
)
def test_case_ids(axes, switches, expected):
    asked, _ = trace()
    case = asked.case("calls/one", switches=switches, **axes)
    assert case.id == expected
    assert asked.case_of(expected) == case
    assert asked.case_of(expected).conversation == case.conversation


def test_case_id_with_a_comma_in_a_text():
    asked, _ = trace()
    case = asked.case("roles/user", switches={"today": "Monday, 3 May, 2026"})
    assert asked.case_of(case.id).conversation.template_kwargs == {"today": "Monday, 3 May, 2026"}


def test_the_case_that_an_id_names_may_be_one_that_was_asked():
    asked = Trace(TEMPLATE, renderer=Recorder())
    made = asked.ask_conversation("made/here", Conversation(({"role": "user", "content": "Walnut"},)))
    assert asked.case_of("made/here") is made.case


@pytest.mark.parametrize(
    "name", ["roles/nobody", "roles/user@colour=red", "roles/user@parts", "roles/user@kwargs.x=low"]
)
def test_error_on_a_case_that_is_none(name):
    asked, _ = trace()
    with pytest.raises(UsageError):
        asked.case_of(name)


def test_nothing_is_rendered_twice():
    asked, renderer = trace()
    first = asked.see("calls/one")
    assert asked.see("calls/one") is first
    assert asked.see("calls/one", tools="given", generation="on") is first
    assert asked.renders == len(renderer.requests) == 1


def test_equal_conversations_share_a_render_under_their_own_names():
    asked, renderer = trace()
    one, other = asked.see("calls/one-result"), asked.see("sequences/uct")
    assert len(renderer.requests) == 1
    assert (one.case.id, other.case.id) == ("calls/one-result", "sequences/uct")
    assert one.prompt is other.prompt
    assert [seen.case.id for seen in asked.observations] == ["calls/one-result", "sequences/uct"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"flag": True}, {"flag": 1}),
        ({"flag": 1}, {"flag": 1.0}),
        ({"flag": None}, {}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_different_input_is_rendered_anew(one, other):
    asked, renderer = trace()
    asked.ask_conversation("made/one", Conversation((), template_kwargs=one))
    asked.ask_conversation("made/other", Conversation((), template_kwargs=other))
    assert len(renderer.requests) == 2


@pytest.mark.parametrize(("host", "renders"), [("transformers-5.24", 1), ("transformers-4.57", 2)])
def test_null_and_absent_are_one_where_the_host_drops_null(host, renders):
    renderer = Recorder()
    asked = Trace(TEMPLATE, RenderSettings(host=host), renderer=renderer)
    asked.ask_all([asked.case("calls/one", content="null"), asked.case("calls/one", content="absent")])
    assert len(renderer.requests) == renders


def test_how_a_case_is_rendered():
    asked, renderer = trace()
    for axes in ({}, {"generation": "off"}, {"continue": "content"}, {"continue": "reasoning_content"}):
        asked.look("prefill/answer", axes)
    assert [(one.add_generation_prompt, one.continue_final_message) for one in renderer.requests] == [
        (True, False), (False, False), (False, True), (False, "reasoning_content"),
    ]  # fmt: skip


def test_conversations_made_on_the_spot():
    asked, renderer = trace()
    conversation = Conversation(({"role": "user", "content": "Walnut"},))
    asked.see("roles/user")
    seen = asked.ask_conversation("infer/one", conversation)
    off = asked.ask_conversation("infer/one", conversation, add_generation_prompt=False)
    assert (seen.case.id, off.case.id) == ("infer/one", "infer/one@generation=off")
    assert len(renderer.requests) == 2
    with pytest.raises(UsageError, match="two different conversations"):
        asked.ask_conversation("infer/one", Conversation(()))


def test_several_cases_are_rendered_together():
    asked, _ = trace()
    cases = [asked.case("roles/user"), asked.case("roles/user", parts="all"), asked.case("roles/user")]
    assert [seen.case.id for seen in asked.ask_all(cases)] == [
        "roles/user",
        "roles/user@parts=all",
        "roles/user",
    ]
    assert asked.renders == 2
    assert asked.seconds == 1.0


def test_failures_are_kept():
    asked, _ = trace(failure=RenderFailure(FailureKind.DECLINED, "TemplateError", "no"))
    seen = asked.see("roles/user")
    assert seen.text == ""
    assert asked.failed == (seen,)


def test_a_template_that_hits_bounds_is_not_asked_for_ever():
    asked, renderer = trace(failure=RenderFailure(FailureKind.BOUND, "", "too long"))
    seen = [
        asked.see(name)
        for name in ("roles/user", "roles/system-user", "roles/two-users", "calls/one", "calls/two")
    ]
    assert len(renderer.requests) == TRACE_BOUND_FAILURES
    assert all(one.failure.kind is FailureKind.BOUND for one in seen)
    assert seen[-1].failure.message.startswith("not rendered")


@pytest.mark.parametrize(
    ("limit", "said"), [("TRACE_SECONDS", "seconds"), ("TRACE_CHARACTERS", "characters")]
)
def test_what_all_cases_together_use_up_is_bounded_and_said(monkeypatch, limit, said):
    monkeypatch.setattr(trace_module, limit, 1)
    asked, renderer = trace()
    seen = [
        asked.see(probe) for probe in ("roles/user", "roles/system-user", "roles/two-users", "tools/given")
    ]
    assert len(renderer.requests) < len(seen)
    last = seen[-1].failure
    assert last.kind is FailureKind.BOUND
    assert said in last.message
    assert last.exception  # or no finding would be made of it
    assert asked.timed_out is (limit == "TRACE_SECONDS")


def test_lines():
    asked, renderer = trace(lines=(1, 3, 9))
    asked.see("roles/user")
    assert asked.lines == {1, 3, 9}
    assert asked.unreached == ((2, 2), (5, 8))
    asked.close()
    assert renderer.closed
    assert asked.unreached == ((2, 2), (5, 8))


def test_a_trace_closes_itself():
    renderer = Recorder()
    with Trace(TEMPLATE, renderer=renderer) as asked:
        asked.see("roles/user")
    assert renderer.closed


def test_cases_are_the_same_for_every_template():
    one, two = trace()[0], trace()[0]
    assert one.case("tools/given", tools="empty") is two.case("tools/given", tools="empty", generation="on")


def test_a_case_made_of_another_is_rendered_for_itself():
    asked, renderer = trace()
    case = asked.case("roles/user-assistant")
    asked.ask(case)
    other = replace(case, probe="made", conversation=Conversation(({"role": "user", "content": "Lapis"},)))
    asked.ask(other)
    assert other.id == "made"
    assert [request.conversation for request in renderer.requests] == [case.conversation, other.conversation]
