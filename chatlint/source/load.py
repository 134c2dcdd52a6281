"""TARGET → Package."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from os import PathLike
from pathlib import Path

from chatlint.errors import TargetError, UsageError, require
from chatlint.limits import JSON_FILE_BYTES, TEMPLATE_FILE_BYTES
from chatlint.records import replace
from chatlint.source.assemble import package_of
from chatlint.source.bundled import corpus_entry
from chatlint.source.directory import JSON_FILES, TOKENIZER_FILE, Reading, read_folder
from chatlint.source.folder import FileStream, LocalFolder, StandardInput, read_file, read_whole
from chatlint.source.found import Reader, templates_in
from chatlint.source.json_text import JsonText, read_json, refuse_stand_ins
from chatlint.source.package import Package, Target, TargetKind
from chatlint.source.special import NAMED, special_tokens
from chatlint.source.target import parse_target, path_text, target_text

_GGUF_MAGIC = b"GGUF"


def load(
    target: str | PathLike[str],
    revision: str | None = None,
    offline: bool = False,
    *,
    host: str = "transformers-5.24",
    template_file: str | PathLike[str] | None = None,
    special_tokens_file: str | PathLike[str] | None = None,
    untrusted: bool = False,
    cache: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> Package:
    """Load a target: every template in it, and the facts about its tokens.

    `target` is written as on the command line (`org/name@revision`, a path, `corpus:NAME`, `-`); given as a
    Path it is a path and nothing else. With `offline` the Hub is not asked: what is on this machine serves.
    `template_file` judges another template with the target's tokens; `special_tokens_file` (in the shape of
    `tokenizer_config.json` or `special_tokens_map.json`) gives real tokens to a bare template, and overrides
    the target's own by name. `host` decides which variables the templates see. `untrusted` changes nothing
    here: files are data, and are read within the same bounds wherever they come from. `cache` False remembers
    nothing of the Hub beside the client's own cache. `say` is told what is being fetched.

    Raises TargetError if the target cannot be loaded or has no template, UsageError if what was named is no
    target, an argument is of another kind, or one of the two files is at fault.
    """
    require(host, str, "host")
    named = parse_target(target_text(target), revision=revision)
    reading = _reading(named, offline=offline, cache=cache, say=say)
    if named.kind is TargetKind.FILE and reading.ggufs:
        named = replace(named, kind=TargetKind.GGUF)
    if reading.commit is not None:
        named = replace(named, revision=reading.commit)
    if template_file is not None:
        _replace_templates(reading, path_text(template_file, "template_file"))
    if special_tokens_file is not None:
        given = _user_json(path_text(special_tokens_file, "special_tokens_file"))
        reading.tokens = special_tokens(given.values(), {}, host=host)
    return package_of(named, reading, host=host)


def _reading(target: Target, *, offline: bool, cache: bool, say: Callable[[str], None]) -> Reading:
    path = Path(target.locator)
    if target.kind is TargetKind.HUB:
        from chatlint.source.hub import read_hub

        return read_hub(target, offline=offline, cache=cache, say=say)
    if target.kind is TargetKind.DIRECTORY:
        return read_folder(LocalFolder(path))
    if target.kind is TargetKind.CORPUS:
        return read_folder(LocalFolder(corpus_entry(target.locator)))
    if target.kind is TargetKind.GGUF:
        return _gguf(path)
    if target.kind is TargetKind.STDIN:
        return _bare("-", _standard_input())
    return _file(path)


def _file(path: Path) -> Reading:
    if path.suffix.lower() == ".json":
        return _json(path)
    with closing(FileStream(path, regular=False)) as stream:
        head = stream.read(len(_GGUF_MAGIC))
        if head == _GGUF_MAGIC:  # without the suffix, as in the Hub's cache of blobs
            return _gguf(path)
        return _bare(path.name, head + read_whole(stream, str(path), TEMPLATE_FILE_BYTES))


def _json(path: Path) -> Reading:
    reading = Reading()
    if path.name == TOKENIZER_FILE:
        return reading  # large, and without a template
    reading.paths = frozenset({path.name})
    content = read_file(path, JSON_FILE_BYTES, regular=False)
    source = reading.add_json(path.name, content)
    if path.name not in JSON_FILES:
        reading.found += templates_in(source, Reader.TOKENIZER_CONFIG, reading.failures)
        values = source.values()
        if any(name in values for name in NAMED):
            reading.objects["tokenizer_config.json"] = values
    return reading


def _gguf(path: Path) -> Reading:
    from chatlint.source.gguf_facts import first_part

    reading = Reading()
    first = Path(first_part(str(path)))
    if first != path and not first.exists():
        raise TargetError(
            f"{first} is missing: it holds the metadata of {path.name}", hint="fetch the first part, too"
        )
    with closing(FileStream(first, name=first.name)) as stream:
        reading.add_gguf(first.name, stream)
    return reading


def _bare(name: str, content: bytes) -> Reading:
    refuse_stand_ins(name, content)  # alone, an empty template is a mistake; in a directory the host obeys it
    reading = Reading()
    reading.add_template("default", name, content)
    return reading


def _standard_input() -> bytes:
    content = read_whole(StandardInput(), "standard input", TEMPLATE_FILE_BYTES)
    if not content.strip():
        raise TargetError("standard input is empty", hint="pipe a template into it")
    return content


def _replace_templates(reading: Reading, file: str) -> None:
    """Let the templates of a file of the user's win over those of the target, which stay as copies."""
    path = Path(file)
    try:
        other = _gguf(path) if path.suffix.lower() == ".gguf" else _file(path)
    except TargetError as error:
        raise UsageError(f"--template: {error.message}", hint=error.hint) from error
    if not other.found:
        raise UsageError(f"--template: {file} has no chat template", hint="a template file was expected")
    given = [replace(item, reader=Reader.USER, tokens=None) for item in other.found]
    reading.found = given + reading.found
    reading.files += other.files
    reading.failures += other.failures


def _user_json(file: str) -> JsonText:
    try:
        return read_json(file, read_file(Path(file), JSON_FILE_BYTES, regular=False))
    except TargetError as error:
        raise UsageError(f"--special-tokens: {error.message}", hint=error.hint) from error
