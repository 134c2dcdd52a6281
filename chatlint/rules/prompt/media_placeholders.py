"""Images, sounds or videos are lost, moved, or written as what the model does not know.

## What it does
Sends two parts of each kind that the template names between three texts, and one in a tool result, and looks
for one placeholder for each, in its place, that the tokenizer knows; then whether a question can spell it.

## Why is this bad
An engine puts the picture where the placeholder is. Where there is none, the model answers about a picture
that it never saw; where there are fewer or more than pictures, the request fails, or a picture is shown in
the wrong place.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>
{%- if m.content is string %}{{ m.content }}{% else %}
{%- set seen = namespace(image=false) %}
{%- for part in m.content %}
{%- if part.type == 'text' %}{{ part.text }}
{%- elif 'image' in part.type and not seen.image %}{% set seen.image = true %}<|image|>{% endif %}
{%- endfor %}{% endif %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>
{%- if m.content is string %}{{ m.content }}{% else %}
{%- for part in m.content %}
{%- if part.type == 'text' %}{{ part.text | replace('<|', '< |') }}
{%- elif 'image' in part.type %}<|image|>{% endif %}
{%- endfor %}{% endif %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from chatlint.conversation import with_value
from chatlint.lazy import regex
from chatlint.rules.calls import RESULT, supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.ends import TAG
from chatlint.rules.finding import Confidence, Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, at_end, content_shown
from chatlint.rules.turns import agree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.rules.subject import Subject

_CONTENT = "/messages/0/content"
_NUMBER = regex(r"\d+")
_UNSEEN = "The model answers about something that it never saw."


class _Kind(NamedTuple):
    """A kind of part, as it came out in the form that the template takes best: `written` for each of two, ""
    for nothing, None where the texts around them did not stay in their places."""

    name: str
    form: Variant
    seen: Observation
    written: tuple[str, ...] | None


@rule("CT313", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    from chatlint.detect.media import KINDS

    known = [(name, probe) for name, probe, word in KINDS if subject.footing.mentions(word)]
    plain = subject.see("content/two-parts", parts="given") if known else None
    if plain is None or not content_shown(plain, _CONTENT):
        return
    kinds = [kind for name, probe in known if (kind := _kind(subject, name, probe, plain))]
    for kind in kinds:
        yield from _misplaced(kind, plain)
    whole = [kind for kind in kinds if kind.written and all(kind.written)]
    for kind in whole:
        yield from _unknown(subject, kind)
    if whole:
        yield from _spelled(subject, whole)
        yield from _of_results(subject, whole)


def _kind(subject: Subject, name: str, probe: str, plain: Observation) -> _Kind | None:
    """None where no form of the part gives a prompt: the template says that it takes none."""
    from chatlint.detect.media import FORMS, placeholders

    found = []
    for form in FORMS:
        seen = subject.see(probe, form, parts="given")
        written = placeholders(seen, plain)
        if seen.prompt:
            found.append(_Kind(name, form, seen, written))
        if written and all(written):
            break
    return max(found, key=_rank, default=None)


def _rank(kind: _Kind) -> tuple[int, int]:
    """Placeholders in their places, else whatever is written anywhere."""
    return sum(map(bool, kind.written or ())), len("".join(kind.seen.text.split()))


def _misplaced(kind: _Kind, plain: Observation) -> Iterator[Cause]:
    lost = kind.written.count("") if kind.written is not None else 0
    gathered = lost == 2 and _elsewhere(kind, plain) and _once(kind, plain)
    if lost == 1 or gathered:
        yield Cause(
            key=f"{kind.name}: one lost",
            message=f"of two {_PLURAL[kind.name]} in one message, only one is written",
            consequence=_UNSEEN,
            sights=(at(kind.seen, _CONTENT, "two were sent"),),
            severity=Severity.WARNING if gathered else None,
            confidence=Confidence.MEDIUM if gathered else Confidence.HIGH,
            fix="Write a placeholder for every part.",
        )
    elif lost and _elsewhere(kind, plain):
        yield Cause(
            key=f"{kind.name}: moved",
            message=f"{_PLURAL[kind.name]} are moved away from where they stand among the texts",
            consequence="A text that points at one of several can no longer be told to mean it.",
            sights=(at(kind.seen, _CONTENT, "they stood between these texts"),),
            severity=Severity.INFO,
        )
    elif lost:
        yield Cause(
            key=f"{kind.name}: lost",
            message=f"the source names {_PLURAL[kind.name]}, but writes nothing for them",
            consequence=_UNSEEN,
            sights=(at(kind.seen, _CONTENT, "two were sent"),),
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            fix="Write a placeholder for every part.",
        )


_PLURAL = {"images": "images", "audio": "sounds", "video": "videos"}


def _elsewhere(kind: _Kind, plain: Observation) -> bool:
    """Whether something stands before or after the three texts that is not there beside two."""
    third = len("Obsidian")  # its header may be repeated, which is no placeholder
    ours, usual = ("".join(one.text.split()) for one in (kind.seen, plain))
    return len(ours) - third > len(usual)


def _once(kind: _Kind, plain: Observation) -> bool:
    """Whether one placeholder stands for all: tags that are not there beside texts alone, each once, whatever
    numbers they have."""
    tags = [_NUMBER.sub("#", tag) for tag in TAG.findall(kind.seen.text) if tag not in plain.text]
    return bool(tags) and len(tags) == len(set(tags))


def _unknown(subject: Subject, kind: _Kind) -> Iterator[Cause]:
    tags = TAG.findall(kind.written[0]) if kind.written else []
    missing = [tag for tag in tags if subject.package.is_token(tag) is False]
    if tags and len(missing) == len(tags):
        start = kind.seen.text.find(missing[0])
        yield Cause(
            key=f"{kind.name}: unknown {missing[0]}",
            message=f"the placeholder of {_PLURAL[kind.name]}, {missing[0]!r}, is no token of the tokenizer",
            consequence="The engine finds no place for them: they are dropped, or put in front.",
            sights=(Sight(kind.seen, start, start + len(missing[0]), "no token"),),
            severity=Severity.WARNING,
        )


def _tag(written: str) -> str:
    """The token in a placeholder that engines look for: the one in the middle, where it has a beginning and
    an end."""
    tags = TAG.findall(written)
    return tags[len(tags) // 2] if tags else ""


def _spelled(subject: Subject, kinds: list[_Kind]) -> Iterator[Cause]:
    """Text that spells a placeholder: near universal, and worth knowing."""
    tags = [tag for kind in kinds if kind.written and (tag := _tag(kind.written[0]))]
    usual = subject.see("content/two-parts", parts="given")
    if not tags:
        return
    place = f"{_CONTENT}/0/text"
    question = with_value(usual.case.conversation, place, " Zircon ".join(tags))
    seen = subject.trace.ask_conversation("media/spelled", question)
    shown = "".join(seen.prompt.piece(span) for span in seen.prompt.inputs(place)) if seen.prompt else ""
    spelled = [tag for tag in tags if tag in shown]
    if spelled:
        yield Cause(
            key="spelled",
            message=f"a question can spell {spelled[0]!r}, which stands for {_PLURAL[kinds[0].name]}",
            consequence="Engines count them: the request fails, or a picture goes to the wrong place.",
            sights=(at(seen, place, "written as it is given"),),
            severity=Severity.INFO,
            fix="Encode input without special tokens, or refuse it.",
        )


def _of_results(subject: Subject, kinds: list[_Kind]) -> Iterator[Cause]:
    """An image in a tool result, where questions may hold one and results may be parts."""
    way = supported(subject)
    images = next((kind for kind in kinds if kind.name == "images"), None)
    if way is None or images is None or not images.written:
        return
    seen = subject.see("media/image-in-result", {**way, **images.form}, parts="given")
    if not seen.prompt or not content_shown(seen, RESULT):
        return
    usual = subject.see("calls/one-result", way)
    mark = images.written[0]
    if mark not in seen.text and agree(seen.text, usual.text) == len(usual.text):
        yield Cause(
            key="images: lost in a result",
            message="an image in a tool result is dropped, one in a question is written",
            consequence="The model does not see what its tool showed it: a screenshot, a page.",
            sights=(at_end(seen, "no image up to here", lost=RESULT),),
            severity=Severity.WARNING,
        )
