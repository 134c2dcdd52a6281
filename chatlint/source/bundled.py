"""The bundled probes and corpus: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from chatlint.errors import InternalError, TargetError

_PACKAGE = Path(__file__).parents[1]


@cache
def bundled(name: str) -> Path:
    """The directory of `corpus` or `probes`. Raises InternalError if the installation lacks it."""
    for place in (_PACKAGE / f"_{name}", _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise InternalError(f"this installation has no {name}/", hint="install chatlint-conformance again")


def corpus_names() -> tuple[str, ...]:
    """The names of the bundled corpus, sorted."""
    return tuple(sorted(entry.name for entry in bundled("corpus").iterdir() if _is_entry(entry)))


def corpus_entry(name: str) -> Path:
    """The directory of one corpus entry. Raises TargetError with the nearest names if there is none."""
    names = corpus_names()
    if name in names:
        return bundled("corpus") / name
    import difflib  # only to explain

    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "`chatlint corpus list` prints the names"
    raise TargetError(f"the corpus has no entry {name!r}", hint=hint)


def _is_entry(path: Path) -> bool:
    return (path / "chat_template.jinja").is_file() or (path / "tokenizer_config.json").is_file()
