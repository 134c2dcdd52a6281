"""Reasoning that no turn of the history shows: found by what the template strips, opens or writes empty.

Theory of operation. Three traces are left. A mirrored pair with nothing in it before every content is an
empty block of reasoning. A text constant that makes everything before it vanish from an answer is the
closer of what the model thought (found by rendering `before CLOSER after`). And a generation prompt that
ends in a mark which mirrors such a closer holds the opener. What is learned so is a guess: no render shows
reasoning inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chatlint.conversation import Conversation
from chatlint.infer.gaps import Gap, Kind
from chatlint.infer.markers import atoms, closes, is_tag, mirrored_start, mirrors
from chatlint.infer.reasoning import ReasoningMarks, empty_block
from chatlint.infer.samples import Samples
from chatlint.render.constants import TextKind
from chatlint.text import Input

_BEFORE, _AFTER = "Pebbles", "Juniper"
_MOST_CONSTANTS = 4
_LONGEST_CONSTANT = 60


def guess_reasoning(
    samples: Samples, gaps: Sequence[Gap], header: str, prompts: Sequence[str]
) -> ReasoningMarks | None:
    """The marks of reasoning that never shows, None if nothing speaks for any."""
    for gap in gaps:
        if gap.before is Kind.START and gap.after is Kind.CONTENT and (block := empty_block(gap.text)):
            return ReasoningMarks(block[0], block[1], header, block[2], guess=True)
    for closer in _closers(samples):
        if _strips(samples, closer):
            opener = _opener(samples, closer, prompts)
            return ReasoningMarks(opener, closer, _without_closer(header, closer), None, guess=True)
    return _from_prompts(header, prompts)


def _without_closer(header: str, closer: str) -> str:
    """The header without a closer that the history writes in front of every content."""
    kept = header.rstrip()
    return kept[: -len(closer)] if kept.endswith(closer) and len(kept) > len(closer) else header


def _from_prompts(header: str, prompts: Sequence[str]) -> ReasoningMarks | None:
    """A prompt's opener, and the closer that another prompt (or the header) ends in; failing that, the
    closer that an opener of its form has."""
    openers = [tag for prompt in prompts if (tag := _last_tag(prompt)) and not closes(tag)]
    closers = [tag for text in (*prompts, header) if (tag := _last_tag(text)) and closes(tag)]
    for opener in openers:
        for closer in closers:
            if mirrors(opener, closer):
                return ReasoningMarks(opener, closer, _without_closer(header, closer), None, guess=True)
    for opener in openers:
        if re.fullmatch(r"<[\w:-]*\w>", opener) and opener not in header:
            return ReasoningMarks(opener, f"</{opener[1:]}", header, None, guess=True)
    return None


def _last_tag(text: str) -> str:
    pieces = [atom for atom in atoms(text) if not atom.isspace()]
    return pieces[-1] if pieces and is_tag(pieces[-1]) else ""


def _closers(samples: Samples) -> list[str]:
    """Text constants of the template that look like closers, those that are split at first."""
    source = samples.footing.trace.template.text
    texts = [text.text.strip() for text in samples.footing.syntax.texts if text.kind is TextKind.STRING]
    known = dict.fromkeys(text for text in texts if len(text) <= _LONGEST_CONSTANT and _is_closer(text))
    ordered = sorted(known, key=lambda text: not re.search(rf"split\(\s*['\"]{re.escape(text)}", source))
    return ordered[:_MOST_CONSTANTS]


def _is_closer(text: str) -> bool:
    pieces = atoms(text)
    return bool(pieces) and (closes(pieces[-1]) if is_tag(pieces[-1]) else "/" in text and not text.isascii())


def _strips(samples: Samples, closer: str) -> bool:
    """Whether what stands before a constant vanishes from an answer, and what stands behind it does not."""
    for followed in (True, False):
        messages = [
            {"role": "user", "content": "Walnut"},
            {"role": "assistant", "content": f"{_BEFORE}{closer}{_AFTER}"},
            *([{"role": "user", "content": "Kestrel"}] if followed else []),
        ]
        name = f"infer/stripped-{'followed' if followed else 'last'}-{closer}"
        seen = samples.footing.trace.ask_conversation(
            name, Conversation(tuple(messages)), add_generation_prompt=followed
        )
        if seen.prompt is None:
            continue
        offsets = {offset for start, end in _kept(seen.prompt.spans) for offset in (start, end - 1)}
        if offsets and min(offsets) >= len(_BEFORE):
            return True
    return False


def _kept(spans: Sequence[object]) -> Iterator[tuple[int, int]]:
    """Offsets of the answer's characters that reached the prompt."""
    for span in spans:
        origin = getattr(span, "origin", None)
        if (
            isinstance(origin, Input)
            and origin.pointer.startswith("/messages/1/content")
            and origin.offset is not None
        ):
            yield origin.offset, origin.offset + span.end - span.start  # type: ignore[attr-defined]


def _opener(samples: Samples, closer: str, prompts: Sequence[str]) -> str:
    """The opener of a closer: in a generation prompt, else among the template's constants."""
    for prompt in sorted(prompts, key=lambda prompt: closer in prompt):
        at = mirrored_start(prompt, closer)
        if at >= 0:
            return prompt[at:].partition(closer)[0]
    texts = (text.text.strip() for text in samples.footing.syntax.texts)
    pieces = (atom for text in texts if len(text) <= _LONGEST_CONSTANT for atom in atoms(text))
    return next((atom for atom in pieces if is_tag(atom) and mirrors(atom, atoms(closer)[-1])), "")
