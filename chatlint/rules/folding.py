"""One fault that two rules see is one finding.

`breaks-in-serving` sends ordinary conversations as servers hand them on. Where what breaks or is lost there
breaks or is lost here, too, on input of that shape, the rule about the shape says what to mend: its finding
takes over what the server makes of it, and `breaks-in-serving` has nothing to add.

A name that nothing defines, a filter say, breaks whatever leads to it. The rule about names says so, as
severely as the rules about what breaks would have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from chatlint.records import replace
from chatlint.rules.finding import Severity
from chatlint.rules.severity import SEVERITIES
from chatlint.text import Input

if TYPE_CHECKING:
    from chatlint.conversation import JSON
    from chatlint.rules.cause import Cause, Sight
    from chatlint.rules.rule import Rule

Told: TypeAlias = "list[tuple[Rule, list[Cause]]]"
"""What each rule said."""
_GIVES_WAY = "breaks-in-serving"
_SHAPES = ("content-shape", "tool-result-shape")
_PROMPT, _PREFIX = "generation-prompt", "prefix-break"
_END = ("the end", "the end: user", "the end: tool", "the end: assistant")
_GONE_WITH = {"always": _END, "a question's": (*_END, "assistant")}
"""What breaks for the one cause in the other rule."""


def folded(told: Told) -> Told:
    """What the rules said, each failure once."""
    told = _gone(_explained(told))
    causes = {rule.name: causes for rule, causes in told}
    for served in causes.get(_GIVES_WAY, []):
        shape = next(
            (
                (name, number)
                for name, number in _places(told)
                if _same(causes[name][number], served)
                or (name in _SHAPES and _spoils_the_same(causes[name][number], served))
            ),
            None,
        )
        if shape is not None:
            name, number = shape
            known = causes[name]
            taken = _with(known[number], served)
            causes = {
                **causes,
                name: [*known[:number], taken, *known[number + 1 :]],
                _GIVES_WAY: [cause for cause in causes[_GIVES_WAY] if cause is not served],
            }
    return [(rule, causes[rule.name]) for rule, _ in told]


def _gone(told: Told) -> Told:
    """A generation prompt that is always there is gone when the next message comes, and one that opens a
    question is when an answer does: told once."""
    prompts = {cause.key for rule, causes in told if rule.name == _PROMPT for cause in causes}
    gone = {key for prompt in prompts for key in _GONE_WITH.get(prompt, ())}
    return [
        (rule, [cause for cause in causes if rule.name != _PREFIX or cause.key not in gone])
        for rule, causes in told
    ]


def _explained(told: Told) -> Told:
    """Without what another cause explains."""
    for reason in [cause for _, causes in told for cause in causes if cause.explains]:
        gone = [
            replace(cause, severity=cause.severity or rule.severity)
            for rule, causes in told
            for cause in causes
            if cause is not reason and _is_explained(cause, reason)
        ]
        told = [
            (
                rule,
                [
                    _with_weight(cause, rule, gone) if cause is reason else cause
                    for cause in causes
                    if cause is reason or not _is_explained(cause, reason)
                ],
            )
            for rule, causes in told
        ]
    return told


def _is_explained(cause: Cause, reason: Cause) -> bool:
    """Whether it shows nothing but failures for that reason."""
    shown = bool(cause.sights) and all(sight.observation.failure for sight in cause.sights)
    return shown and _failures(cause) <= _failures(reason)


def _with_weight(reason: Cause, rule: Rule, gone: list[Cause]) -> Cause:
    """The reason, as severe as the worst of what it explains, and hidden only where all of that is."""
    severities = [reason.severity or rule.severity, *(cause.severity for cause in gone if cause.severity)]
    hosts = dict.fromkeys(host for cause in (reason, *gone) for host in cause.hosts)
    return replace(
        reason,
        severity=min(severities, key=SEVERITIES.index),
        hosts=tuple(hosts),
        hidden_on=tuple(host for host in reason.hidden_on if host not in hosts),
    )


def _places(told: Told) -> list[tuple[str, int]]:
    """Rule and position of the causes that are more than information, and not of the rule that gives way."""
    return [
        (rule.name, number)
        for rule, causes in told
        for number, cause in enumerate(causes)
        if rule.name != _GIVES_WAY
        and not cause.own
        and (cause.severity or rule.severity) is not Severity.INFO
    ]


def _same(shape: Cause, served: Cause) -> bool:
    return not _failures(shape).isdisjoint(_failures(served))


def _failures(cause: Cause) -> set[tuple[str, str, int]]:
    """Exception, words and line of all that is seen to fail."""
    failed = [sight.observation.failure for sight in cause.sights]
    return {(one.exception, one.message, one.line) for one in failed if one}


def _spoils_the_same(shape: Cause, served: Cause) -> bool:
    """Whether content of all roles that a server's request loses, or prints as a list, is lost or printed in
    that shape here."""
    if not served.key.endswith((": lost", ": printed")):
        return False
    lost = served.key.endswith(": lost")
    spoilt = {_role(sight, pointer) for sight in served.sights if (pointer := _written_at(sight))}
    here = {
        _role(sight, sight.lost or _written_at(sight))
        for sight in shape.sights
        if bool(sight.lost) is lost and not sight.observation.failure
    }
    return bool(spoilt) and spoilt <= here


def _written_at(sight: Sight) -> str:
    """The pointer of the first input that stands at a sight, "" for none."""
    prompt = sight.observation.prompt
    spans = (
        [span for span in prompt.spans if span.end > sight.start and span.start < sight.end] if prompt else []
    )
    return next((span.origin.pointer for span in spans if isinstance(span.origin, Input)), "")


def _role(sight: Sight, pointer: str) -> JSON:
    """The role of the message that a pointer leads into; None for none."""
    root, _, rest = pointer.removeprefix("/").partition("/")
    number = rest.partition("/")[0]
    messages = sight.observation.case.conversation.messages
    return messages[int(number)].get("role") if root == "messages" and number.isdecimal() else None


def _with(shape: Cause, served: Cause) -> Cause:
    """What is lost needs no more words than the shape's own finding has; of what a server does to every
    request there is more to say."""
    lost = served.key.endswith(": lost")
    return replace(
        shape,
        consequence=shape.consequence if lost else served.consequence,
        hosts=tuple(dict.fromkeys((*shape.hosts, *served.hosts))),
        hidden_on=tuple(host for host in shape.hidden_on if host not in served.hosts),
    )
