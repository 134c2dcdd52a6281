"""parse(render(m)) == m, for every message that the template can express.

Theory of operation. Each probe message is rendered, its text is cut out as the model would have written it
(`written.py`), read with the learned format whole and in chunks (`chunks.py`), and compared with what was
sent (`comparison.py`). Probes that the template declines or shows nothing of are not applicable; one part
that it loses is its own loss and is said, but fails nothing of the format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatlint.infer.samples import OFF, Samples, find_samples
from chatlint.parse.formats import OutputFormat
from chatlint.probe.case import Observation, Variant
from chatlint.probe.trace import Trace
from chatlint.records import replace
from chatlint.render.syntax import Syntax, syntax_of
from chatlint.verify.adversarial import with_own_marks
from chatlint.verify.chunks import Chunkings, broken_chunking
from chatlint.verify.comparison import differences
from chatlint.verify.prefix import continues, shown_before
from chatlint.verify.trip import RoundTrip, RoundTrips
from chatlint.verify.written import Written, written

TEXTS: tuple[tuple[str, Variant, int], ...] = (
    ("roles/user-assistant", OFF, 1),
    ("content/markup", OFF, 1),
)
LONGEST_TEXT = 4_000
"""Characters of a text that is read back; a template that writes more around a short message is not asked."""
_CUT = frozenset(("content/markup",))
"""Probes of which only the conversation up to the message is asked, so that the message is the last."""
REASONED: tuple[tuple[str, Variant, int], ...] = (("reasoning/last", OFF, 1),)
CALLS: tuple[tuple[str, Variant, int], ...] = (
    ("calls/one", OFF, 1),
    ("calls/two", OFF, 1),
    ("calls/three", OFF, 1),
    ("calls/one", {"content": "text", **OFF}, 1),
    ("calls/two", {"content": "text", **OFF}, 1),
    ("calls/one-answered", OFF, 3),
    ("arguments/every-type", OFF, 1),
    ("arguments/hard-strings", OFF, 1),
    ("arguments/none", OFF, 1),
)
REASONED_CALLS: tuple[tuple[str, Variant, int], ...] = (
    ("reasoning/call", OFF, 1),
    ("reasoning/text-call", OFF, 1),
    ("reasoning/two-calls", {}, 1),
)


def round_trips(
    trace: Trace, output: OutputFormat, syntax: Syntax | None = None, *, every_cut: bool = False
) -> RoundTrips:
    """Sends every probe message that the template can express there and back. With `every_cut` each text is
    also read in two pieces, cut at every place."""
    samples = find_samples(trace, syntax or syntax_of(trace.template.text))
    ways = Chunkings(every_cut=every_cut)
    trips: list[RoundTrip] = []
    without: list[str] = []
    for seen, index in _asked(samples, output):
        sent = written(output, shown_before(trace, seen, index), seen, index)
        if sent is None or len(sent.text) > LONGEST_TEXT:
            without.append(seen.case.id)
        else:
            trips.append(_trip(output, seen, sent, ways))
    return RoundTrips(tuple(trips), tuple(dict.fromkeys(without)))


def readings(trace: Trace, output: OutputFormat, syntax: Syntax | None = None) -> Iterator[Written]:
    """The probe messages of `round_trips` as a model would have written them."""
    samples = find_samples(trace, syntax or syntax_of(trace.template.text))
    for seen, index in _asked(samples, output):
        sent = written(output, shown_before(trace, seen, index), seen, index)
        if sent is not None and len(sent.text) <= LONGEST_TEXT:
            yield sent


def _asked(samples: Samples, output: OutputFormat) -> Iterator[tuple[Observation, int]]:
    """The probes that say something about this template, and which message of each is read back."""
    trace = samples.footing.trace
    calling = samples.calls is not None and output.tool_calls is not None
    for probe, variant, index in _cases(samples, output, calling):
        seen = samples.look(probe, variant)
        yield (_as_last(trace, seen, index) if probe in _CUT else seen), index
    if calling:
        yield trace.ask(with_own_marks(samples.look("arguments/text", OFF).case, output)), 1


def _cases(samples: Samples, output: OutputFormat, calling: bool) -> Iterator[tuple[str, Variant, int]]:
    reasoned = samples.reasoning is not None and output.reasoning is not None
    yield from TEXTS
    yield from REASONED if reasoned else ()
    yield from (_in_form(case, samples.suffix) for case in CALLS) if calling else ()
    yield from REASONED_CALLS if calling and reasoned else ()


def _in_form(case: tuple[str, Variant, int], suffix: str) -> tuple[str, Variant, int]:
    """A call's probe in the form in which the template shows calls (with a result, with an answer)."""
    probe, variant, index = case
    plain = probe.removeprefix("calls/") in ("one", "two", "three")
    if not suffix or not plain:
        return case
    return probe + suffix, {axis: value for axis, value in variant.items() if axis != "generation"}, index


def _as_last(trace: Trace, seen: Observation, index: int) -> Observation:
    """The same conversation up to a message, nothing behind it."""
    case = seen.case
    messages = case.conversation.messages[: index + 1]
    return trace.ask(
        replace(case, probe=f"{case.probe}/last", conversation=replace(case.conversation, messages=messages))
    )


def _trip(output: OutputFormat, seen: Observation, sent: Written, ways: Chunkings) -> RoundTrip:
    parser = output.parser(tools=seen.case.conversation.tools, generation_prompt=sent.prompt)
    text = sent.text + sent.stop
    received = parser.parse(text)
    found = differences(output, sent, received)
    chunks: Sequence[str] = broken_chunking(parser, text, received, ways) or ()
    return RoundTrip(seen.case.id, sent.message, sent.text, received, found, continues(sent), tuple(chunks))
