"""A name is used that nothing defines.

## What it does
Notes where a render prints an undefined value or breaks on one, and looks for functions that are called and
defined nowhere, and for other languages' words for `none`. What is tested first (`is defined`, `default`, as
a truth value) is fine. Filters and tests that transformers does not have are named, too.

## Why is this bad
Jinja prints an undefined value as nothing, so a wrong name leaves a hole in the prompt and no error; with
`+` or a method it fails the request instead. `null` is not a value in Jinja but a variable that nobody sets.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{{ thought_opener }}{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{{ thought_opener | default('') }}{% endif %}
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.probe.axes import SWITCH
from chatlint.rules.cause import Cause, Gathering, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.text import pointer_token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.conversation import JSON
    from chatlint.probe.case import Observation
    from chatlint.render.names import Variable
    from chatlint.rules.subject import Subject

_UNDEFINED = regex(r"'(\w+)' is undefined")
_FOREIGN = frozenset({"null", "nil", "NULL", "Null", "undefined", "TRUE", "FALSE"})
"""Other languages' constants: in Jinja they are variables."""
_MEMBER = regex(r"/(?:messages|tools)/\*(?:/(?!arguments/|content/|parameters/)[^/]+)*")
"""Members of messages and tools, not of what people and models write into them."""


@rule("CT102", severity=Severity.WARNING, needs=Stage.OBSERVATIONS)
def check(subject: Subject) -> Iterator[Cause]:
    variables = {variable.name: variable for variable in subject.syntax.variables}
    macros = {macro.name for macro in subject.syntax.macros}
    called = [one for one in variables.values() if one.called and not one.stored and one.name not in macros]
    broken = dict(_broken(subject))
    for variable in called:
        yield _called(variable, broken.get(variable.name, ()))
    for name in variables.keys() & _FOREIGN:
        if not variables[name].stored:
            yield _foreign(variables[name])
    explained = {one.name for one in called} | _FOREIGN
    for name, sights in broken.items():
        if name not in explained:
            stored = name in variables and variables[name].stored
            yield _breaks(name, sights, stored=stored)
    yield from _printed(subject, explained | broken.keys())
    yield from _unknown(subject)


def _unknown(subject: Subject) -> Iterator[Cause]:
    """Filters and tests that transformers does not have: Jinja compiles them where an `if` is around."""
    from chatlint.render.grammar import parsing_environment

    environment = parsing_environment()
    used = {("filter", use.name): use.line for use in reversed(subject.syntax.filters)}
    used |= {("test", use.name): use.line for use in reversed(subject.syntax.tests)}
    known = {("filter", name) for name in environment.filters} | {
        ("test", name) for name in environment.tests
    }
    if used.keys() & {("test", "filter"), ("test", "test")}:  # it asks first
        return
    for (kind, name), line in used.items():
        if (kind, name) not in known:
            sights = [
                Sight(one)
                for one in subject.trace.failed
                if one.failure and f"No {kind} named {name!r}" in one.failure.message
            ]
            yield Cause(
                key=f"{kind}: {name}",
                message=f"transformers has no {kind} `{name}`",
                consequence="The request fails where the line runs.",
                sights=tuple(sights),
                line=line,
                explains=True,
                fix="Jinja reads no JSON: let callers pass objects, and print a text as it is only where the "
                "format is JSON."
                if "json" in name
                else "",
            )


def _broken(subject: Subject) -> Iterator[tuple[str, tuple[Sight, ...]]]:
    """Variables whose being undefined broke a render."""
    found = Gathering()
    for observation in (*_without_one(subject), *subject.trace.failed):
        failure = observation.failure
        match = _UNDEFINED.fullmatch(failure.message) if failure else None
        if match and subject.template.special_tokens_assumed and match[1].endswith("_token"):
            continue  # the tokenizer may have it
        if failure and match and failure.exception == "UndefinedError":
            found.add(match[1], Sight(observation))
    yield from found


def _without_one(subject: Subject) -> list[Observation]:
    """Where a template answers only with variables of its own: a question with all of them but one. Which of
    them it needs hides behind the one that it breaks on first."""
    way = subject.footing.variant
    names = [axis for axis in way if axis.startswith(SWITCH) and not axis.endswith("_token")]
    if len(names) < 2:
        return []
    return [
        subject.trace.look("roles/user", {axis: value for axis, value in way.items() if axis != name})
        for name in names
    ]


def _called(variable: Variable, sights: Sequence[Sight]) -> Cause:
    return Cause(
        key=f"called: {variable.name}",
        message=f"`{variable.name}` is called, and neither the template nor transformers defines it",
        consequence="The request fails where the line runs.",
        sights=tuple(sights),
        line=variable.lines[0],
        severity=Severity.ERROR if sights else None,
        explains=True,
        fix="Define it as a macro, or test `is defined` first.",
    )


def _foreign(variable: Variable) -> Cause:
    other = {"TRUE": "true", "FALSE": "false"}.get(variable.name, "none")
    return Cause(
        key=f"foreign: {variable.name}",
        message=f"`{variable.name}` is no constant in Jinja but a variable, which nobody sets",
        consequence="It is undefined: equal to nothing, printed as nothing, and false.",
        line=variable.lines[0],
        fix=f"Write `{other}`.",
    )


def _breaks(name: str, sights: tuple[Sight, ...], *, stored: bool) -> Cause:
    """What a template sets itself, but not on every path, breaks conversations: that those break is an error
    of the rules about them."""
    return Cause(
        key=f"breaks: {name}",
        message=f"the template breaks where `{name}` is not set",
        consequence="It is set on some paths only, and conversations that take another one fail."
        if stored
        else "Requests fail unless every caller passes it.",
        sights=sights,
        severity=Severity.WARNING if stored else Severity.ERROR,
        explains=not stored,
        fix=f"Give it a default: `set {name} = {name} | default(…)`.",
    )


def _printed(subject: Subject, explained: set[str]) -> Iterator[Cause]:
    """What is printed though it is undefined: variables, and members that no conversation has."""
    found = Gathering()
    lines: dict[str, int] = {}
    seen = {name for observation in subject.trace.observations for _, name in observation.unset}
    members = _members(subject) if any(map(_MEMBER.fullmatch, seen)) else set()
    for observation in subject.trace.observations:
        for line, name in observation.unset:
            if _is_hole(name, members) and name not in explained:
                found.add(name, Sight(observation, note=f"nothing stands where `{_said(name)}` is written"))
                lines.setdefault(name, line)
    for name, sights in found:
        yield Cause(
            key=f"printed: {name}",
            message=f"`{_said(name)}` is printed, and it is undefined",
            consequence="The prompt has a hole there, and nothing fails.",
            sights=sights,
            line=lines[name],
            severity=Severity.ERROR if not name.startswith("/") and _always(subject, name) else None,
            fix="Write the name that was meant, or give a default.",
        )


def _is_hole(name: str, members: set[str]) -> bool:
    if name.startswith("/"):
        return _MEMBER.fullmatch(name) is not None and name.rpartition("/")[2] not in members
    return not name.startswith(".") and not name.endswith("_token")


def _said(name: str) -> str:
    owner, _, member = name.rpartition("/")
    return (
        f"{owner.rpartition('/')[0].rpartition('/')[2].removesuffix('s') or 'message'}.{member}"
        if owner
        else name
    )


def _always(subject: Subject, name: str) -> bool:
    """Whether even a question alone, with no kwargs, shows it."""
    return any(name == one for _, one in subject.see("roles/user").unset)


def _members(subject: Subject) -> set[str]:
    """The names of all members of all conversations that were asked."""
    found: set[str] = set()
    for observation in subject.trace.observations:
        conversation = observation.case.conversation
        level: list[JSON] = [*conversation.messages, *(conversation.tools or ())]
        while level:
            value = level.pop()
            if isinstance(value, Mapping):
                found.update(map(pointer_token, value))
                level += value.values()
            elif isinstance(value, list | tuple):
                level += value
    return found
