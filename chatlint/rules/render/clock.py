"""The prompt holds a date: today's, one that is written into the template, or none without a clock.

## What it does
Renders with two dates, later on the same day, and on a host that has no `strftime_now`, and looks for dates
in the template's own text that are given as today's, and for places like `{today}` that nobody fills.

## Why is this bad
`strftime_now` came with transformers 4.46 and is missing in many engines: without a guard every request
fails there, and a fallback in the template tells the model a wrong date for ever. What changes within a day
makes every prompt a new one for caches.

## Example
```jinja bad
Today is {{ strftime_now('%d %b %Y') }}.
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if today is defined %}Today is {{ today }}.
{% endif %}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import agree
from chatlint.text import Computed, Input

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PROBES = ("roles/user", "roles/system-user", "tools/given")
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_DATE = regex(
    rf"\b(?:\d{{1,2}} (?:{_MONTHS})\w* 20\d\d|(?:{_MONTHS})\w* \d{{1,2}}, 20\d\d|20\d\d-\d\d-\d\d)\b"
)
_TODAY = regex(r"today|current|now\b|date", re.I)
_OTHER = regex(r"cut-?off|knowledge|cutting|trained|updated|until|since|version|example|released", re.I)
_PLACE = regex(r"\{(?:today|yesterday|tomorrow|(?:current_?)?(?:date|time|datetime))\}", re.I)
_BEFORE = 40
"""Characters before a date that say what it is."""


@rule("CT204", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    yield from _unfilled(subject)
    if "function strftime_now" in {use.name for use in subject.syntax.constructs}:
        yield from _with_clock(subject)
    else:
        yield from _written(subject)


def _unfilled(subject: Subject) -> Iterator[Cause]:
    """A place for a date that was to be filled by somebody else, and is printed as it is."""
    if not any(map(_PLACE.search, (text.text for text in subject.syntax.texts))):
        return
    for probe in _PROBES:
        seen = subject.see(probe)
        found = [match for match in _PLACE.finditer(seen.text) if not _is_input(seen, match.start())]
        if found:
            names = ", ".join(dict.fromkeys(match.group() for match in found))
            yield Cause(
                key="unfilled",
                message=f"a place for a date is printed as it is: {names}",
                consequence=f"The model reads `{found[0].group()}` for the day that it is.",
                sights=(Sight(seen, *found[0].span(), "nobody fills it in"),),
                fix="Fill it with `strftime_now`, tested with `is defined`, or write no date.",
            )
            return


def _with_clock(subject: Subject) -> Iterator[Cause]:
    from chatlint.render.rendered import FIXED_CLOCK

    moment = subject.trace.settings.now or FIXED_CLOCK
    shown = _shown(subject, moment.replace(year=moment.year + 1, month=11, day=28))
    if shown is None:
        return
    seen, start, end = shown
    later = _at(subject, seen, moment.replace(hour=21, minute=47, second=53))
    within = later.text != seen.text
    sight = Sight(seen, start, end, "from the clock")
    often = "with the time of day" if within else "once a day"
    yield Cause(
        key="date",
        message=f"the prompt holds the date ({seen.text[start:end]!r}), which changes {often}",
        consequence="Every prompt is a new one for caches."
        if within
        else "Caches of prompts last for a day.",
        sights=(sight,),
        severity=None if within else Severity.INFO,
        fix="Write the date without the time." if within else "",
    )
    yield from _without(subject, seen, sight)


def _without(subject: Subject, seen: Observation, sight: Sight) -> Iterator[Cause]:
    """On a host that has no clock."""
    bare = _at(subject, seen, None)
    if bare.failure:
        yield Cause(
            key="unguarded",
            message="breaks on hosts without `strftime_now`",
            consequence="TGI, older transformers and other engines lack it: every request fails there.",
            sights=(sight,),
            fix="Test `strftime_now is defined` first, and leave the date out where it is not.",
        )
        return
    begin = agree(seen.text, bare.text)
    fallback = _DATE.search(bare.text, max(begin - 12, 0), begin + _BEFORE)
    if fallback:
        yield _old(fallback.group(), "without a clock ", (sight,))


def _old(date: str, where: str, sights: tuple[Sight, ...]) -> Cause:
    return Cause(
        key="written date",
        message=f"{where}the template gives {date!r} as the date",
        consequence="The model believes that it is that day, for ever.",
        sights=sights,
        fix="Write no date where none is known.",
    )


def _written(subject: Subject) -> Iterator[Cause]:
    """A date of the template's own that is given as today's."""
    if not any(map(_DATE.search, (text.text for text in subject.syntax.texts))):
        return
    for probe in _PROBES:
        seen = subject.see(probe)
        for match in _DATE.finditer(seen.text):
            before = seen.text[max(match.start() - _BEFORE, 0) : match.start()].rpartition("\n")[2]
            if _TODAY.search(before) and not _OTHER.search(before) and not _is_input(seen, match.start()):
                yield _old(match.group(), "", (Sight(seen, *match.span(), "from the template"),))
                return


def _is_input(seen: Observation, place: int) -> bool:
    spans = seen.prompt.spans if seen.prompt else ()
    return any(span.start <= place < span.end and isinstance(span.origin, Input) for span in spans)


def _shown(subject: Subject, other: datetime) -> tuple[Observation, int, int] | None:
    """The first conversation whose prompt holds the date, and where."""
    for probe in _PROBES:
        seen = subject.see(probe)
        moved = _at(subject, seen, other) if seen.prompt else seen
        if moved.prompt and moved.text != seen.text:
            return seen, *_computed(seen, agree(seen.text, moved.text))
    return None


def _computed(seen: Observation, place: int) -> tuple[int, int]:
    """What an expression made, at a place of the prompt."""
    for span in seen.prompt.spans if seen.prompt else ():
        if span.start <= place < span.end and isinstance(span.origin, Computed):
            return span.start, span.end
    return place, min(place + 1, len(seen.text))


def _at(subject: Subject, seen: Observation, now: datetime | None) -> Observation:
    """The same conversation at another time, or where there is no clock."""
    with subject.at(now) as trace:
        return trace.ask(seen.case)
