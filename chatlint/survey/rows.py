"""One judged template as a survey's tables show it, from its result line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chatlint.conversation import JSON
from chatlint.records import dataclass

SUPPORTS = ("yes", "partial", "no", "raises", "unknown")
"""From best to worst to not known."""
SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Answer:
    """One capability: how far it goes, what "partial" means, and the cases it rests on."""

    support: str
    note: str
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """One finding. `message` is "" where the survey keeps facts only."""

    rule: str
    code: str
    severity: str
    line: int
    message: str
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """How a template's model writes, as texts to group by; "" where there is none or it was not learned.

    `frame` is the header of an assistant turn and its end, `call` the pattern of one call, `reasoning` and
    `result` the marks around reasoning and around a tool's result, `turn` whose turn that stands in.
    """

    frame: str = ""
    call: str = ""
    call_kind: str = "NONE"
    reasoning: str = ""
    opens: str = "none"
    turn: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """What the tables say of one template. `answers` are empty where it does not compile, or chatlint failed.
    `unasked` are the rules that could not be evaluated, or not in full."""

    key: str
    sha256: str
    bytes: int
    answers: Mapping[str, Answer]
    faults: tuple[Fault, ...]
    marks: Marks
    passed: int
    failed: int
    refusals: int
    unasked: tuple[str, ...]
    compiles: bool

    @property
    def evaluated(self) -> bool:
        """Whether anything could be asked of it. If not, what it cannot do and has not is not known."""
        return any(answer.support != "unknown" for answer in self.answers.values())

    @property
    def worst(self) -> str:
        """The severity of its worst finding, "" without any."""
        found = {fault.severity for fault in self.faults}
        return next((severity for severity in SEVERITIES if severity in found), "")

    def support(self, name: str) -> str:
        """How far a capability goes; "" where it was not asked."""
        answer = self.answers.get(name)
        return answer.support if answer else ""


def row_of(key: str, result: Mapping[str, JSON]) -> Row:
    """The row of a result."""
    return Row(
        key,
        text(result, "sha256"),
        number(result, "bytes"),
        {name: _answer(answer) for name, answer in members(result, "capabilities")},
        tuple(_fault(finding) for finding in items(result, "findings")),
        _marks(result),
        number(result, "round_trips", "passed"),
        number(result, "round_trips", "failed"),
        sum(1 for _ in items(result, "limits")),
        tuple(text(one, "rule") for one in items(result, "not_evaluated")),
        bool(at(result, "capabilities")) or any(_is_ours(one) for one in items(result, "failures")),
    )


def _is_ours(failure: JSON) -> bool:
    """Whether chatlint failed to see what the template can do."""
    return text(failure, "stage") == "detect"


def _answer(answer: JSON) -> Answer:
    return Answer(text(answer, "support"), text(answer, "note"), texts(answer, "evidence"))


def _fault(finding: JSON) -> Fault:
    return Fault(
        text(finding, "rule"),
        text(finding, "code"),
        text(finding, "severity"),
        number(finding, "location", "line"),
        text(finding, "message"),
        texts(finding, "cases"),
    )


def _marks(result: Mapping[str, JSON]) -> Marks:
    output = at(result, "format")
    if not isinstance(output, Mapping):
        return Marks()
    ends = texts(result, "stops", "end_of_turn")
    end = ends[0].strip() if ends else ""
    return Marks(
        _pair(text(output, "saved", "header"), end),
        _call(output),
        text(output, "tool_format"),
        _pair(text(output, "reasoning", "start"), text(output, "reasoning", "end")),
        text(result, "generation_prompt", "reasoning") or "none",
        text(result, "tool_result", "turn"),
        _pair(
            text(result, "tool_result", "before"),
            text(result, "tool_result", "after").strip().removesuffix(end),
        ),
    )


def _call(output: JSON) -> str:
    """One call with its marks and one argument, white space made one blank."""
    calls = at(output, "tool_calls")
    parts = ("section_start", "call_start", "body", "call_end", "section_end")
    member = text(output, "saved", "tool_calls", "members", "member")
    whole = "".join(text(calls, part) for part in parts)
    return _plain(whole.replace("⟨arguments⟩", f"{member}…") if member else whole)


def _pair(before: str, after: str) -> str:
    """Two marks around something; "" where there are none."""
    before, after = _plain(before), _plain(after)
    return f"{before} … {after}".strip() if before or after else ""


def _plain(mark: str) -> str:
    return " ".join(mark.split())


def at(value: JSON, *path: str) -> JSON:
    """What stands at a path of member names, None where nothing does."""
    for name in path:
        # Asking a dict whether it is one is quicker.
        value = value.get(name) if isinstance(value, (dict, Mapping)) else None
    return value


def text(value: JSON, *path: str) -> str:
    """The text there, "" if there is none."""
    for name in path:  # as `at`: texts are most of what is asked
        value = value.get(name) if isinstance(value, (dict, Mapping)) else None
    return value if isinstance(value, str) else ""


def number(value: JSON, *path: str) -> int:
    """The number there, 0 if there is none."""
    found = at(value, *path)
    return found if isinstance(found, int) else 0


def items(value: JSON, *path: str) -> Iterator[JSON]:
    """The items of the list there."""
    found = at(value, *path)
    if isinstance(found, (list, Sequence)) and not isinstance(found, str):
        yield from found


def texts(value: JSON, *path: str) -> tuple[str, ...]:
    """The texts of the list there."""
    found = at(value, *path)
    if not isinstance(found, (list, Sequence)) or isinstance(found, str):
        return ()
    return tuple([item for item in found if isinstance(item, str)])


def members(value: JSON, *path: str) -> Iterator[tuple[str, JSON]]:
    """The members of the object there."""
    found = at(value, *path)
    if isinstance(found, Mapping):
        yield from found.items()
