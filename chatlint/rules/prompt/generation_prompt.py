"""The generation prompt is missing, skipped after some messages, always there, or not the header of answers.

## What it does
Compares prompts with and without `add_generation_prompt` after a question, a second question and tool
results with the place where an answer stands in the history, and with that where a question does; then the
white space behind the two headers.

## Why is this bad
Without the assistant's header the model goes on with the user's turn, or writes the header itself and
servers hand it to the client. A header that is always there spoils training data and prefilled answers; one
that ends in other white space than in the history is one that the model has never answered behind.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from chatlint.lazy import regex
from chatlint.rules.balance import Fault, fault_in, turn_marks
from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause
from chatlint.rules.edits import (
    Mending,
    appended_prompt,
    prompt_only_if_asked,
    prompt_whenever_asked,
    several,
)
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at_end
from chatlint.rules.turns import agree, before, behind, chats
from chatlint.text import Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.rules.subject import Subject


class _Last(NamedTuple):
    """A kind of last message: the probe that ends with it, the probe that goes on with an answer, where the
    answer is, and in which variant of both."""

    kind: str
    probe: str
    answered: str
    answer: str
    axes: Variant


_TEXT = (
    _Last("a question", "roles/user", "roles/user-assistant", "/messages/1/content", {}),
    _Last("a second question", "roles/user-assistant-user", "sequences/uaua", "/messages/3/content", {}),
)
_TOOLS = (
    _Last("a tool result", "calls/one-result", "calls/one-answered", "/messages/3/content", {}),
    _Last(
        "the result of a call beside text",
        "calls/one-result",
        "calls/one-answered",
        "/messages/3/content",
        {"content": "text"},
    ),
    _Last("two tool results", "calls/two-result", "calls/two-answered", "/messages/4/content", {}),
)


_SHOWN = 80
"""Characters of a header that are quoted."""
_WORD = regex(r"[^\W_]{2}|[^\x00-\x7f]")
"""What a header has at least; a lone letter is a left-over of an escape."""


@rule("CT301", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    way = supported(subject)
    lasts: list[tuple[_Last, Variant]] = [(last, {}) for last in _TEXT]
    lasts += [(last, {**way, **last.axes}) for last in _TOOLS if way is not None]
    missing = []
    for last, axes in lasts:
        asked = subject.see(last.probe, axes)
        if not _prompted(subject, last, asked) and (header := _header(subject, last, axes, asked)):
            missing.append((last.kind, asked, header))
    if missing:
        everywhere = missing[0][0] == _TEXT[0].kind
        yield _missing(missing, everywhere, _mending(subject, missing[0][2], everywhere))
        return
    if taken := _taken_for_a_question(subject):
        yield taken
        return
    always = list(_always(subject))
    yield from always or _after_questions(subject)
    yield from () if always else _other_blanks(subject)


def _prompted(subject: Subject, last: _Last, asked: Observation) -> bool:
    """Whether there is a generation prompt as after a question. Where there is none because the turn of a
    tool result was closed, `turn-balance` says so."""
    added = _added(subject)
    if asked.prompt is None or (added and asked.text.endswith(added)):
        return True
    marks = turn_marks(subject) if last in _TOOLS else None
    fault = fault_in(asked, marks) if marks else None
    return fault is not None and fault.kind is Fault.OUTSIDE


def _added(subject: Subject) -> str:
    """The generation prompt that follows a question."""
    usual, without = subject.see("roles/user"), subject.see("roles/user", generation="off")
    return usual.text[len(without.text) :] if usual.text.startswith(without.text) else ""


def _taken_for_a_question(subject: Subject) -> Cause | None:
    """The prompt for an answer is what the history writes before questions, and not before answers."""
    asked = subject.see("roles/user")
    header = _added(subject).strip() or _behind_a_question(subject)
    history = subject.see("roles/user-assistant-user", generation="off")
    answer, question = before(history, "/messages/1/content"), before(history, "/messages/2/content")
    if answer is None or question is None or not _WORD.search(header):
        return None
    if not question.rstrip().endswith(header) or answer.rstrip().endswith(header):
        return None
    rest = behind(history, "/messages/0/content") or ""
    usual = history.text[len(history.text) - len(rest) : len(answer)].strip()
    return Cause(
        key="a question's",
        message=f"the generation prompt {header!r} opens a question, not an answer",
        consequence="The model goes on as the user: it asks, and does not answer.",
        sights=(at_end(asked, f"before answers stands {usual[:_SHOWN]!r}"),),
        fix="Write the assistant's header under `{% if add_generation_prompt %}`.",
    )


def _other_blanks(subject: Subject) -> Iterator[Cause]:
    """The header is the same as before answers in the history, but for white space at its end that an answer
    could not begin with there."""
    asked = subject.see("roles/user")
    usual = before(subject.see("roles/user-assistant-user", generation="off"), "/messages/1/content")
    if usual is None or not _WORD.search(_added(subject)) or usual.split() != asked.text.split():
        return
    blanks, known = (text[len(text.rstrip()) :] for text in (asked.text, usual))
    if not known.startswith(blanks):
        yield Cause(
            key="white space",
            message=f"the generation prompt ends with {blanks!r}, the header before answers in the history "
            f"with {known!r}",
            consequence="Every answer begins behind a header that no example of an answer has.",
            sights=(at_end(asked, f"before answers stands {known!r}"),),
            severity=Severity.WARNING,
            fix="Write both alike: `{%- … -%}` and line breaks as strings.",
        )


def _header(subject: Subject, last: _Last, axes: Variant, asked: Observation) -> str:
    """The generation prompt that is missing here, "" if none is."""
    if asked.text != subject.see(last.probe, axes, generation="off").text:
        return ""
    closer = _closer(subject)
    until = before(subject.see(last.answered, axes, generation="off"), last.answer)
    return _missing_header(subject, asked, until, closer) or _closed(subject, asked, until, closer)


def _closer(subject: Subject) -> str:
    """The first word after an answer in the history: it closes the assistant's turn."""
    tail = behind(subject.see("roles/user-assistant-user", generation="off"), "/messages/1/content")
    words = tail.split(maxsplit=1) if tail else []
    return words[0].partition(">")[0] + ">" if words and ">" in words[0] else "".join(words[:1])


def _missing_header(subject: Subject, asked: Observation, until: str | None, closer: str) -> str:
    """What stands between the prompt and an answer in the history. Nothing is missing where a tool result is
    written inside the assistant's turn and leaves it open, or where all roles have the same header."""
    if until is None or not until.startswith(asked.text.rstrip()) or _still_open(asked, closer):
        return ""
    header = until[len(asked.text.rstrip()) :].strip()
    if _models_own(subject, header):
        return ""
    question = before(subject.see("roles/user"), "/messages/0/content") or ""
    return header if _WORD.search(header) and not question.rstrip().endswith(header) else ""


def _models_own(subject: Subject, header: str) -> bool:
    """Whether it begins with a mark that the model writes itself, as far as its format was learned."""
    output = subject.format
    if output is None or output.header:
        return False
    starts = (
        marks.start.strip() for part in (output.reasoning, output.content) if part for marks in part.every
    )
    return any(start and header.startswith(start) for start in starts)


def _still_open(asked: Observation, closer: str) -> bool:
    calls = behind(asked, "/messages/1/tool_calls")
    return calls is not None and bool(closer) and closer not in calls


def _closed(subject: Subject, asked: Observation, until: str | None, closer: str) -> str:
    """The generation prompt that follows a question, where the prompt ends with a turn that was closed."""
    end = asked.text.rstrip()
    if not closer or not end.endswith(closer) or (until or "").rstrip().endswith(closer):
        return ""
    return _added(subject).strip()


def _mending(subject: Subject, header: str, everywhere: bool) -> Mending:
    """Write the header that stands before answers in the history, or ask for nothing but the flag."""

    def shows(seen: Observation) -> bool:
        asked = seen.case.add_generation_prompt and seen.prompt is not None
        return asked and not seen.text.rstrip().endswith(header)

    if not everywhere:
        return Mending(prompt_whenever_asked, shows)
    asked = subject.see(_TEXT[0].probe)
    until = before(subject.see(_TEXT[0].answered, generation="off"), _TEXT[0].answer) or ""
    whole = until.removeprefix(asked.text)
    return Mending(several(appended_prompt(whole), appended_prompt(header)), shows)


def _missing(missing: list[tuple[str, Observation, str]], everywhere: bool, mending: Mending) -> Cause:
    kinds = ", ".join(kind for kind, _, _ in missing)
    header = missing[0][2]
    return Cause(
        key="missing" if everywhere else f"skipped after {kinds}",
        message=f"no generation prompt after {kinds}: {header!r} would have to stand there",
        consequence="The model goes on as the user, or opens its own turn and the header reaches the client.",
        sights=tuple(at_end(one, f"{header!r} is missing here") for _, one, header in missing),
        fix="Write the assistant's header under `{% if add_generation_prompt %}`, whatever came last.",
        mending=mending,
    )


def _always(subject: Subject) -> Iterator[Cause]:
    """A header that also follows a finished answer, whatever the flag says."""
    from chatlint.infer.markers import common_suffix

    ended = subject.see("roles/user-assistant", generation="off")
    followed = subject.see("roles/user-assistant-user", generation="off")
    header = before(ended, "/messages/1/content")
    tail, usual = behind(ended, "/messages/1/content"), behind(followed, "/messages/1/content")
    if not header or not tail or usual is None or usual.startswith(tail.rstrip()):
        return
    extra = _behind_the_turn(ended, tail, usual, common_suffix([tail.rstrip(), header.rstrip()]).strip())
    if any(character.isalnum() for character in extra) and _unasked(subject, ended):
        yield _even_after_answers(extra, ended, _only_if_asked(subject, ended, extra))


def _unasked(subject: Subject, ended: Observation) -> bool:
    """Whether nothing changes where a generation prompt is asked for after a finished answer."""
    return ended.text == subject.see("roles/user-assistant").text


def _even_after_answers(header: str, ended: Observation, mending: Mending | None = None) -> Cause:
    return Cause(
        key="always",
        message=f"the generation prompt {header!r} is written even after a finished answer",
        consequence="Training data ends in an empty turn, and answers cannot be prefilled.",
        sights=(at_end(ended, "after a finished answer, with add_generation_prompt off"),),
        severity=Severity.WARNING,
        fix="Write it only under `{% if add_generation_prompt %}`.",
        mending=mending,
    )


def _behind_a_question(subject: Subject) -> str:
    """The header that is part of every question, whatever the flag says, "" for none. What only ends the
    question's turn is no header."""
    asked = subject.see("roles/user", generation="off")
    tail = behind(asked, "/messages/0/content")
    if not tail or asked.text != subject.see("roles/user").text:
        return ""
    eos = subject.template.special_tokens.get("eos_token")
    output = subject.format
    ends = [_closer(subject), *(output.end_of_turn if output else ()), eos if isinstance(eos, str) else ""]
    return _without_ends(tail, [end for end in ends if end])


def _after_questions(subject: Subject) -> Iterator[Cause]:
    asked = subject.see("roles/user", generation="off")
    header = _behind_a_question(subject)
    ended = subject.see("roles/user-assistant", generation="off")
    if _WORD.search(header) and ended.text.rstrip().endswith(header) and _unasked(subject, ended):
        yield _even_after_answers(header, ended)
    elif _WORD.search(header):
        yield Cause(
            key="after every question",
            message=f"{header!r} is written after every question, whatever `add_generation_prompt` says",
            consequence="A conversation that ends with a question cannot be had without it, as training and "
            "embedding want it.",
            sights=(at_end(asked, "with add_generation_prompt off"),),
            severity=Severity.WARNING,
            fix="Write it before answers, and at the end only under `{% if add_generation_prompt %}`.",
        )


def _without_ends(text: str, ends: list[str]) -> str:
    """Without marks that end a turn, and closing tags, at its beginning."""
    ending = re.compile("|".join([*map(re.escape, ends), r"</[^<>\s]+>|\[/[^\[\]\s]+\]|<\|/[^<>\s]+>"]))
    text = text.strip()
    while found := ending.match(text):
        text = text[found.end() :].strip()
    return text


def _behind_the_turn(ended: Observation, tail: str, usual: str, extra: str) -> str:
    """Of what follows a finished answer, that which does not end its turn: from where it parts with what
    usually follows, back to where the template begins to write that."""
    parted = len(ended.text) - len(tail) + agree(tail, usual)
    spans = ended.prompt.spans if ended.prompt else ()
    start = max([span.start for span in spans if span.start <= parted], default=0)
    narrow = ended.text[max(start, len(ended.text.rstrip()) - len(extra)) :].strip()
    return narrow if _WORD.search(narrow) else extra


def _only_if_asked(subject: Subject, ended: Observation, extra: str) -> Mending | None:
    """The flag around whatever writes the header."""
    from chatlint.render.tokens import offset_at

    if ended.prompt is None:
        return None
    start = len(ended.text.rstrip()) - len(extra)
    span = next(span for span in ended.prompt.spans if span.end > start)
    if not isinstance(span.origin, Literal):
        return None
    offset = offset_at(subject.template.text, span.origin.line, span.origin.column) + start - span.start

    def shows(seen: Observation) -> bool:
        return not seen.case.add_generation_prompt and seen.text.rstrip().endswith(extra)

    return Mending(prompt_only_if_asked(offset), shows)
