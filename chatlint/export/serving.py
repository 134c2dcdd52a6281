"""How to serve a format: the block `serving` of the report."""

from __future__ import annotations

from collections.abc import Mapping

from chatlint.conversation import JSON
from chatlint.records import dataclass, field


@dataclass(frozen=True, slots=True)
class EngineServing:
    """What one engine is told. Parsers that fit, best first; `basis` says what that rests on, `caveats` what
    will go wrong all the same. `flags` are those of the best. `fits` is False where no named parser reads the
    calls: then `basis` says what to do instead."""

    name: str
    version: str
    tool_call_parser: tuple[str, ...] = ()
    reasoning_parser: tuple[str, ...] = ()
    basis: str = ""
    caveats: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    chat_template_kwargs: Mapping[str, JSON] = field(default_factory=dict)
    fits: bool = True

    def to_dict(self) -> dict[str, JSON]:
        """As in the report."""
        return {
            "version": f"{self.name} {self.version}",
            "tool_call_parser": list(self.tool_call_parser),
            "reasoning_parser": list(self.reasoning_parser),
            "basis": self.basis,
            "caveats": list(self.caveats),
            "flags": list(self.flags),
            "chat_template_kwargs": dict(self.chat_template_kwargs),
        }


@dataclass(frozen=True, slots=True)
class Serving:
    """How to serve a format with each engine. `family`: the nearest known format. `why_not`: why
    transformers' response template cannot express it, "" if it can. `stop_ids` are those of `stop` that the
    tokenizer has as tokens, for `eos_token_id` in `generation_config.json`; `undeclared_stop_ids` those that
    no file declares. `preserved_tokens` are marks that an engine must not drop when it prints text."""

    engines: Mapping[str, EngineServing]
    family: str | None = None
    why_not: str = ""
    stop: tuple[str, ...] = ()
    stop_ids: tuple[int, ...] = ()
    undeclared_stop_ids: tuple[int, ...] = ()
    preserved_tokens: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, JSON]:
        """As in the report: one member per engine, transformers, and what all engines need."""
        found: dict[str, JSON] = {name: engine.to_dict() for name, engine in self.engines.items()}
        return {
            **found,
            "transformers": {"response_template": not self.why_not, "basis": self.why_not},
            "stop": list(self.stop),
            "stop_ids": list(self.stop_ids),
            "undeclared_stop_ids": list(self.undeclared_stop_ids),
            "preserved_tokens": list(self.preserved_tokens),
        }
