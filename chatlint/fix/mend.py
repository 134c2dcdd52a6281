"""Find fixes for one template: try what the rules offer, keep what is proven."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from time import process_time
from typing import TYPE_CHECKING

from chatlint.config import Settings
from chatlint.fix.examined import Examined, Name, examined, with_text
from chatlint.fix.proof import UNREACHED, objection
from chatlint.limits import FIX_SECONDS
from chatlint.records import dataclass, field
from chatlint.rules.edits import Edits, edited
from chatlint.rules.rule import Rule
from chatlint.source.package import Package, Template

if TYPE_CHECKING:
    from chatlint.store.disk import Store

_TRIES = 60
"""Changes tried on one template; each costs about as much as a check."""
_TRIES_EACH = 16
"""Changes tried for one cause."""
_SMALLER = 10
"""A change of more places than these is not tried without each of them."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A finding that is mended: its rule and its message. `note` says what is left to be wished for."""

    rule: Rule
    message: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Unfixed:
    """A finding for which no fix was proven, with the objection to the likeliest one, and why others were not
    tried, where some were not."""

    rule: Rule
    message: str
    why: str


@dataclass(frozen=True, slots=True)
class Mended:
    """The template's new text (the old one where nothing was proven), and what became of each finding for
    which a rule offers a fix."""

    template: Template
    text: str
    fixed: tuple[Fixed, ...] = ()
    unfixed: tuple[Unfixed, ...] = ()


def mend(
    package: Package,
    template: Template,
    settings: Settings,
    wanted: frozenset[str],
    store: Store | None = None,
) -> Mended:
    """Mend what the rules named in `wanted` find, as far as a fix can be proven."""
    with ExitStack() as stack:
        state = stack.enter_context(examined(package, template, settings, store))
        attempt = _Attempt(package, template, settings, state, stack)
        while attempt.step(wanted):
            pass
        return Mended(template, attempt.text, tuple(attempt.fixed), tuple(attempt.unfixed.values()))


@dataclass(slots=True)
class _Attempt:
    """The template as far as it is mended. Every state stays open until the end: later proofs look back."""

    package: Package
    template: Template
    settings: Settings
    state: Examined
    stack: ExitStack
    fixed: list[Fixed] = field(default_factory=list)
    unfixed: dict[Name, Unfixed] = field(default_factory=dict)
    _tries: int = 0
    _began: float = field(default_factory=process_time)
    _elsewhere: float = 0.0
    """CPU time of worker processes."""

    @property
    def text(self) -> str:
        return self.state.text

    @property
    def spent(self) -> str:
        """Why nothing more is tried, "" while it is."""
        if process_time() - self._began + self._elsewhere >= FIX_SECONDS:
            return f"{FIX_SECONDS:g} seconds of CPU time are used up"
        return "enough changes were tried" if self._tries >= _TRIES else ""

    def step(self, wanted: frozenset[str]) -> bool:
        """Mend one more cause; False where there is none left to try."""
        for name, (rule, cause) in self.state.causes.items():
            if cause.mending is None or rule.name not in wanted or name in self.unfixed:
                continue
            better, why = self._mended(name)
            if better:
                self.state = better
                self.fixed.append(Fixed(rule, cause.message, why))
            else:
                self.unfixed[name] = Unfixed(rule, cause.message, why)
            return True
        return False

    def _mended(self, name: Name) -> tuple[Examined | None, str]:
        """The template with this mended, if that is proven, and what there is to say of it."""
        objections = []
        for edits in self._ways(name):
            better, why = self._try(name, edits)
            if better:
                return self._smaller(name, edits, better)
            objections.append(why)
        if spent := self.spent:
            objection = f"{objections[0]}; " if objections else ""
            return (
                None,
                f"{objection}{'no other way' if objections else 'nothing'} was tried, because {spent}",
            )
        return None, objections[0] if objections else self._nowhere(name)

    def _nowhere(self, name: Name) -> str:
        """Why there is not one way to try."""
        mending = self.state.causes[name][1].mending
        what = mending.place if mending else ""
        return f"nothing in the source {what}" if what else "there is no place for it"

    def _ways(self, name: Name) -> Iterator[Edits]:
        from chatlint.render.grammar import normalised

        mending = self.state.causes[name][1].mending
        assert mending is not None
        tried: set[Edits] = set()
        for edits in mending.ways(normalised(self.text)):
            for chosen in (_reached(edits, _lines_before(self.text, edits), self.state), edits):
                if len(tried) >= _TRIES_EACH or self.spent:
                    return
                if chosen and chosen not in tried:
                    tried.add(chosen)
                    yield chosen

    def _try(self, name: Name, edits: Edits) -> tuple[Examined | None, str]:
        """The template with these edits, where they are proven; else why they are not."""
        self._tries += 1
        edits = tuple(sorted(edits, key=lambda edit: edit.start))
        text, lines = _applied(self.text, edits), _lines_after(self.text, edits)
        package, template = with_text(self.package, self.template, text)
        with ExitStack() as stack:
            new = stack.enter_context(examined(package, template, self.settings))
            self._elsewhere += new.trace.seconds if new.trace.settings.untrusted else 0.0
            why = objection(self.state, new, name, lines)
            if not why:
                self.stack.push(stack.pop_all())
                return new, ""
            fewer = _reached(edits, lines, new)
        # one edit may make another pointless
        return self._try(name, fewer) if why == UNREACHED and 0 < len(fewer) < len(edits) else (None, why)

    def _smaller(self, name: Name, edits: Edits, best: Examined) -> tuple[Examined, str]:
        """The same with as few places changed as will do, and whether there may be fewer."""
        kept = list(edits)
        if not 1 < len(kept) <= _SMALLER or _belongs_together(edits):
            return best, ""
        for edit in edits:
            if spent := self.spent:
                return best, f"perhaps in more places than needed, because {spent}"
            fewer = tuple(one for one in kept if one is not edit)
            better = self._try(name, fewer)[0] if fewer else None
            if better:
                kept.remove(edit)
                best = better
        return best, ""


def _reached(edits: Edits, lines: list[int], state: Examined) -> Edits:
    """Those at lines that some case reaches: of others nothing can be proven."""
    dead = state.trace.unreached
    pairs = zip(edits, lines, strict=True)
    return tuple(edit for edit, line in pairs if not any(first <= line <= last for first, last in dead))


def _belongs_together(edits: Edits) -> bool:
    """Whether one opens a block and another closes it."""
    return any(edit.text.startswith("{% end") for edit in edits)


def _applied(text: str, edits: Edits) -> str:
    """Edits of the normalised source made in the source as it is written."""
    from chatlint.rules.edits import Edit

    if "\r" not in text:
        return edited(text, edits)
    places = _places(text)
    newline = "\r\n" if "\r\n" in text else "\r"
    return edited(
        text, [Edit(places[one.start], places[one.end], one.text.replace("\n", newline)) for one in edits]
    )


def _places(text: str) -> list[int]:
    """Where each character of the normalised source stands in the source."""
    places = [at for at in range(len(text)) if text[at] != "\n" or at == 0 or text[at - 1] != "\r"]
    return [*places, len(text)]


def _lines_before(source: str, edits: Edits) -> list[int]:
    """The lines of the source at which edits begin."""
    from chatlint.render.grammar import normalised

    text = normalised(source)
    return [text.count("\n", 0, edit.start) + 1 for edit in edits]


def _lines_after(source: str, edits: Edits) -> list[int]:
    """The lines at which they begin once they are made. They come in their order."""
    from chatlint.render.grammar import normalised

    text = normalised(source)
    lines, shift = [], 0
    for edit, line in zip(edits, _lines_before(source, edits), strict=True):
        lines.append(line + shift)
        shift += edit.text.count("\n") - text.count("\n", edit.start, edit.end)
    return lines
