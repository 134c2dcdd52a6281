"""Images, sounds and videos: one placeholder for each part, where the part stands."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.detect.answer import refused
from chatlint.detect.capability import Capability, Support
from chatlint.detect.footing import Footing
from chatlint.probe.case import Observation, Variant
from chatlint.probe.reading import place
from chatlint.text import visible

KINDS = (
    ("images", "media/two-images", "image"),
    ("audio", "media/two-audios", "audio"),
    ("video", "media/two-videos", "video"),
)
FORMS: tuple[Variant, ...] = ({"media": "processor"}, {})
CONTENT = "/messages/0/content"


def detect_media(footing: Footing, parts: Capability) -> Iterator[Capability]:
    """Each kind of part; nothing is rendered where user messages take no parts (`parts` is that answer)."""
    for name, probe, word in KINDS:
        if parts.support is not Support.YES:
            yield Capability(name, Support.NO, parts.evidence, "no content parts")
        elif not footing.mentions(word):
            yield Capability(name, Support.NO, parts.evidence, "the source does not name them")
        else:
            yield _placeholders(footing, name, probe)


def _placeholders(footing: Footing, name: str, probe: str) -> Capability:
    """In the form that transformers' processors give, failing that in OpenAI's."""
    plain = footing.look("content/two-parts", {"parts": "given"})
    answers = []
    for form in FORMS:
        answers.append(_placed(name, footing.look(probe, {"parts": "given"}, form), plain))
        if answers[-1].support in (Support.YES, Support.PARTIAL):
            return answers[-1]
    return answers[0]


def _placed(name: str, seen: Observation, plain: Observation) -> Capability:
    if answer := refused(name, seen):
        return answer
    case = (seen.case.id,)
    written = placeholders(seen, plain)
    if written is None:
        return Capability(name, Support.NO, case, "text beside it is lost or moved")
    if all(written):
        return Capability(name, Support.YES, case, f"written as {_shorter(visible(written[0]))}")
    if any(written):
        return Capability(name, Support.PARTIAL, case, "one of two is lost")
    return _elsewhere(name, seen, plain)


def placeholders(seen: Observation, plain: Observation) -> tuple[str, ...] | None:
    """What stands for each of two parts between three texts, "" for nothing; None where a text is lost or
    moved. `plain` has two texts and nothing between them."""
    gaps = (_between(seen, 0, 2), _between(seen, 2, 4))
    none = _between(plain, 0, 1)
    if none is None:
        return None
    known = [gap for gap in gaps if gap is not None]
    return tuple(_without(gap, none) for gap in known) if len(known) == len(gaps) else None


def _elsewhere(name: str, seen: Observation, plain: Observation) -> Capability:
    """Not where the parts stand: before the text, after it, or nowhere."""
    first, last = place(seen, CONTENT), _last(seen, 4)
    plain_first, plain_last = place(plain, CONTENT), _last(plain, 1)
    if first is None or plain_first is None:
        return Capability(name, Support.NO, (seen.case.id,))
    before = seen.text[: first.start] != plain.text[: plain_first.start]
    after = seen.text[last:] != plain.text[plain_last:]
    if before or after:
        return Capability(
            name, Support.PARTIAL, (seen.case.id,), f"moved {'before' if before else 'after'} the text"
        )
    return Capability(name, Support.NO, (seen.case.id,))


def _between(seen: Observation, one: int, other: int) -> str | None:
    """The prompt between the texts of two parts; None where one is lost or they are in another order."""
    start, end = place(seen, f"{CONTENT}/{one}/text"), place(seen, f"{CONTENT}/{other}/text")
    if start is None or end is None or end.start < start.end:
        return None
    return seen.text[start.end : end.start]


def _last(seen: Observation, part: int) -> int:
    span = place(seen, f"{CONTENT}/{part}/text")
    return span.end if span else len(seen.text)


def _without(gap: str, plain: str) -> str:
    """What a gap holds beside what stands between two texts anyway."""
    if plain and gap.startswith(plain):
        gap = gap.removeprefix(plain)
    return gap.strip() if gap.strip() != plain.strip() else ""


_LONGEST = 60


def _shorter(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
