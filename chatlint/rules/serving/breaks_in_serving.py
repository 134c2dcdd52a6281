"""What renders here breaks, or loses text, with what a server makes of the request.

## What it does
Renders a few ordinary conversations as vLLM and llama.cpp hand them to the template: contents as lists of
parts or as texts, arguments as objects, members renamed or left out, `tools` that are not defined. Finds what
renders on the host that was asked for, and fails, loses a text or prints a list as Python there. What fails
here as well on input of that shape is told once, by the rule about the shape (`content-shape`,
`argument-shape`).

## Why is this bad
The template works in every test with transformers, and fails in the server that most people run.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>
{%- for part in m.content %}{{ part.text if part is mapping else part }}{% endfor %}
{%- if m.content is string %}.{% else %}{{ raise_exception('texts only') }}{% endif %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
Use instead:
```jinja good
{% for m in messages %}<|{{ m.role }}|>
{%- if m.content is string %}{{ m.content }}
{%- else %}{% for part in m.content %}{{ part.text }}{% endfor %}{% endif %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.calls import reads_calls, supported
from chatlint.rules.cause import Cause, Sight, smallest_first
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, said, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.render.rendered import RenderFailure
    from chatlint.rules.subject import Subject

_SERVERS = ("vllm", "llama.cpp")


_DATA = "{'type': 'text'"


@rule("CT805", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    own = subject.trace.settings.host
    seen = [one for one in _conversations(subject) if one.prompt]
    for server in _SERVERS:
        if server != own:
            yield from _causes(server, [(here, subject.elsewhere(server).ask(here.case)) for here in seen])


def _conversations(subject: Subject) -> Iterator[Observation]:
    """As few as show a message of every role."""
    yield subject.see("roles/system-user")
    way = supported(subject) if reads_calls(subject) else None
    yield subject.see("roles/user-assistant-user") if way is None else subject.see("calls/one-followed", way)


def _causes(server: str, pairs: list[tuple[Observation, Observation]]) -> Iterator[Cause]:
    broken = smallest_first(
        Sight(there) for _, there in pairs if there.failure and not _forgiven(server, there.failure)
    )
    lost = smallest_first(
        at(here, gone, f"with {server} nowhere in the prompt")
        for here, there in pairs
        if there.prompt and (gone := _lost(here, there))
    )
    if broken:
        yield Cause(
            key=f"{server}: breaks",
            message=f"breaks with what {server} makes of the request: {said(broken[0].observation)}",
            consequence=f"Requests that transformers renders fail in {server}.",
            sights=broken,
            hosts=(server,),
        )
    printed = smallest_first(
        Sight(there, place, place + len(_DATA), "a list of parts, as Python prints it")
        for here, there in pairs
        if (place := there.text.find(_DATA)) >= 0 and _DATA not in here.text
    )
    if printed:
        yield Cause(
            key=f"{server}: printed",
            message=f"with what {server} makes of the request, a content is printed as Python",
            consequence=f"{server} sends lists for all contents where the template loops over one: the "
            "model sees the notation of a list.",
            sights=printed,
            fix="Loop over the parts of every role's content, or of none's.",
            hosts=(server,),
        )
    if lost:
        yield Cause(
            key=f"{server}: lost",
            message=f"a text is lost with what {server} makes of the request",
            consequence=f"The model sees it in transformers, and does not in {server}.",
            sights=lost,
            hosts=(server,),
        )


def _forgiven(server: str, failure: RenderFailure) -> bool:
    """llama.cpp's own engine writes nothing for what is undefined, and adds any value to a text."""
    undefined = failure.exception == "UndefinedError" or "concatenate" in failure.message
    return server == "llama.cpp" and undefined


def _lost(here: Observation, there: Observation) -> str:
    """Where in the conversation the first text stands that only this host's prompt has, "" for none."""
    if here.prompt is None or there.prompt is None:
        return ""
    for number in range(len(here.case.conversation.messages)):
        for pointer in texts(here.case.conversation, f"/messages/{number}/content"):
            if any(here.prompt.inputs(pointer)) and not any(there.prompt.inputs(pointer)):
                return pointer
    return ""
