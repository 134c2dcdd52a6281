"""What each engine makes of constructs of Jinja: `constructs.json`, a dated table of our own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path

from chatlint.records import dataclass


class Effect(StrEnum):
    """What an engine does with a construct, from worst to least."""

    UNUSABLE = "unusable"
    """The template does not parse."""
    FAILS = "fails"
    """The request fails where the line runs."""
    DIFFERS = "differs"
    """Another text, silently."""
    EDGE = "edge"
    """Another text, silently, for some values only."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine, the version that the table knows, and who uses it."""

    name: str
    version: str
    used: str


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a construct in an engine; `what` says how, where there is something to say."""

    engine: Engine
    effect: Effect
    what: str = ""


@dataclass(frozen=True, slots=True)
class Construct:
    """A construct under the name that `render.constructs` gives it. `shown` is how it is written, `instead`
    what all engines take for it ("" where there is nothing so simple)."""

    name: str
    shown: str
    fates: tuple[Fate, ...]
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The constructs by name, and the month in which the table was made."""

    date: str
    constructs: Mapping[str, Construct]


@cache
def construct_table() -> Table:
    """The table that comes with chatlint."""
    text = Path(__file__).with_name("constructs.json").read_text(encoding="utf-8")
    facts = json.loads(text)
    engines = {name: Engine(name, one["version"], one["used"]) for name, one in facts["engines"].items()}
    made = [
        Construct(
            row["construct"],
            row["shown"],
            tuple(
                Fate(engines[name], Effect(fate["effect"]), fate.get("what", ""))
                for name, fate in row["engines"].items()
            ),
            row.get("instead", ""),
        )
        for row in facts["constructs"]
    ]
    return Table(facts["date"], {one.name: one for one in made})
