"""Engines by their names."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from chatlint.engines.engine import Engine
from chatlint.errors import UsageError

ENGINES = ("minijinja", "minijinja-stock", "minijinja-bare", "huggingface-js", "llama.cpp")


def known(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once. Raises UsageError for one that there is not."""
    import difflib

    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name not in ENGINES:
            close = difflib.get_close_matches(name, ENGINES, n=1, cutoff=0.4)
            meant = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(ENGINES)}"
            raise UsageError(f"no engine {name!r}", hint=meant)
    return chosen


def open_engine(name: str, now: datetime | None) -> Engine:
    """The engine of that name, with a clock that stands at `now`. Raises EngineAbsent where it is not here,
    and says what to do about it."""
    if name == "huggingface-js":
        from chatlint.engines.huggingface_js import HuggingfaceJs

        return HuggingfaceJs(now)
    if name == "llama.cpp":
        from chatlint.engines.llama_cpp import open_llama_cpp

        return open_llama_cpp()
    from chatlint.engines.minijinja import Minijinja

    return Minijinja(name, now)
