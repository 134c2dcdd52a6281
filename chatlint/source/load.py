"""TARGET → Package."""

from __future__ import annotations

import sys
from pathlib import Path

from chatlint.errors import TargetError
from chatlint.limits import JSON_FILE_BYTES, TEMPLATE_FILE_BYTES
from chatlint.source.bundled import corpus_entry
from chatlint.source.directory import Reading, read_folder
from chatlint.source.folder import LocalFolder, read_file, read_whole
from chatlint.source.found import choose, no_template
from chatlint.source.hub import load_hub
from chatlint.source.package import Package, Target, TargetKind
from chatlint.source.special import assumed_tokens, special_tokens
from chatlint.source.target import parse_target


def load(
    target: str,
    *,
    revision: str | None = None,
    offline: bool = False,
    host: str = "transformers-5.24",
    template_file: str | None = None,
    special_tokens_file: str | None = None,
    untrusted: bool = False,
) -> Package:
    """Load a target: every template in it, and the facts about its tokens.

    `template_file` judges another template with the target's tokens; `special_tokens_file` (in the shape of
    `tokenizer_config.json` or `special_tokens_map.json`) gives real tokens to a bare template. `host` decides
    which variables the templates see. `untrusted` changes nothing here: files are data, and are read within
    the same bounds wherever they come from.

    Raises TargetError if the target cannot be loaded or has no template, UsageError if what was named is
    not one or a file of the user's is at fault.
    """
    named = parse_target(target, revision=revision)
    if named.kind is TargetKind.HUB:
        return load_hub(named, offline=offline, host=host)
    return package_of(named, _reading(named), host=host)


def package_of(target: Target, reading: Reading, *, host: str) -> Package:
    """Put together what was read. Raises TargetError if there is no template in it."""
    chosen, copies = choose(reading.found)
    if not chosen:
        raise _nothing(target, reading)
    config, special_map = reading.object("tokenizer_config.json"), reading.object("special_tokens_map.json")
    tokens = special_tokens(config, special_map, host=host) if reading.has_tokens else None
    assumed = assumed_tokens()
    return Package(
        target=target,
        templates=tuple(item.template(tokens, assumed) for item in chosen),
        copies=tuple(item.template(tokens, assumed) for item in copies),
        files=tuple(reading.files),
        failures=tuple(reading.failures),
    )


def _reading(target: Target) -> Reading:
    if target.kind is TargetKind.DIRECTORY:
        return read_folder(LocalFolder(Path(target.locator)))
    if target.kind is TargetKind.CORPUS:
        return read_folder(LocalFolder(corpus_entry(target.locator)))
    if target.kind is TargetKind.STDIN:
        return _bare("-", _standard_input())
    return _file(Path(target.locator))


def _file(path: Path) -> Reading:
    if path.suffix != ".json":
        return _bare(path.name, read_file(path, TEMPLATE_FILE_BYTES, regular=False))
    reading = Reading()
    reading.add_json(path.name, read_file(path, JSON_FILE_BYTES, regular=False))
    return reading


def _bare(name: str, content: bytes) -> Reading:
    reading = Reading()
    reading.add_template("default", name, content)
    return reading


class _StandardInput:
    size = None

    def read(self, count: int, /) -> bytes:
        return sys.stdin.buffer.read(count)

    def close(self) -> None:
        pass


def _standard_input() -> bytes:
    return read_whole(_StandardInput(), "standard input", TEMPLATE_FILE_BYTES)


def _nothing(target: Target, reading: Reading) -> TargetError:
    if reading.failures:
        first = reading.failures[0]
        return TargetError(f"{target.locator} could not be read: {first.message}")
    return no_template(target.locator, "point at a model's directory, or at its template")
