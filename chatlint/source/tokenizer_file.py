"""Where the whole `tokenizer.json` of a package lies: for token ids its head is not enough."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from chatlint.errors import TargetError
from chatlint.source.bundled import corpus_entry
from chatlint.source.directory import TOKENIZER_FILE
from chatlint.source.package import Package, TargetKind


def tokenizer_file(
    package: Package, *, offline: bool = False, say: Callable[[str], None] = lambda _: None
) -> Path:
    """The file on this machine; from the Hub it is fetched into the client's cache. Raises TargetError."""
    target = package.target
    if target.kind is TargetKind.HUB:
        from chatlint.source.hub import fetch_file

        return fetch_file(target, TOKENIZER_FILE, offline=offline, say=say)
    folder = {
        TargetKind.DIRECTORY: Path(target.locator),
        TargetKind.FILE: Path(target.locator).parent,
        TargetKind.CORPUS: corpus_entry(target.locator) if target.kind is TargetKind.CORPUS else Path(),
    }.get(target.kind)
    if folder is None or not (folder / TOKENIZER_FILE).is_file():
        raise TargetError(
            f"{target.locator} has no tokenizer.json, which token ids need",
            hint="name a model's directory or a Hub model that has one",
        )
    return folder / TOKENIZER_FILE
