"""Put a template's new text where the old one stands: in `.jinja` files, and in strings of JSON files, whose
other bytes stay as they are."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from chatlint.errors import TargetError
from chatlint.fix.mend import Mended
from chatlint.records import dataclass
from chatlint.source.package import Package, TargetKind, Template

_WHY_NOT = {
    TargetKind.HUB: "it lies on the Hub: apply the difference to the repository",
    TargetKind.GGUF: "a GGUF is not edited in place: llama.cpp's gguf_new_metadata.py --chat-template-file",
    TargetKind.STDIN: "it came from standard input",
    TargetKind.CORPUS: "it is bundled with chatlint",
}


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A file with its new content."""

    path: Path
    content: bytes


def why_not(package: Package, template: Template) -> str:
    """Why this template cannot be edited where it stands, "" where it can."""
    kind = package.target.kind
    if kind in _WHY_NOT:
        return _WHY_NOT[kind]
    return _WHY_NOT[TargetKind.GGUF] if template.place.key else ""


def rewrites(package: Package, mended: Mended) -> tuple[Rewrite, ...]:
    """The files that hold the template, with its new text: also those of copies that say the same, or engines
    would read different templates afterwards.

    Raises TargetError where a file is not as it was read, or cannot be read.
    """
    contents: dict[Path, bytes] = {}
    for template in (*package.templates, *package.copies):
        if template.sha256 == mended.template.sha256 and not template.place.key:
            path = _path(package, template)
            contents[path] = _rewritten(path, contents.get(path) or _read(path), template, mended.text)
    return tuple(Rewrite(path, content) for path, content in contents.items())


def write(rewrite: Rewrite) -> None:
    """Replace a file as a whole, so that a kill leaves the old one or the new one. Raises TargetError."""
    path = rewrite.path
    if path.is_symlink():  # as in the Hub's cache, whose contents belong to their hashes
        raise TargetError(f"{path} is a link to {os.readlink(path)}", hint="name that file, or a copy")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
            file.write(rewrite.content)
        os.chmod(file.name, path.stat().st_mode & 0o7777)
        os.replace(file.name, path)
    except OSError as error:
        raise TargetError(f"{path} cannot be written: {error.strerror}") from error


def _path(package: Package, template: Template) -> Path:
    root = Path(package.target.locator)
    return root / template.place.file if package.target.kind is TargetKind.DIRECTORY else root


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TargetError(f"{path} cannot be read: {error.strerror}") from error


def _rewritten(path: Path, content: bytes, template: Template, text: str) -> bytes:
    place = template.place
    old, new = template.text, text
    if place.json_pointer:
        old, new = place.written, _spelled(place.written, template.text, text)
    try:
        whole = content.decode("utf-8")
    except UnicodeDecodeError:
        whole = ""
    start = _start(whole, template)
    if start < 0 or whole[start : start + len(old)] != old:
        raise TargetError(f"{path} is not as it was read", hint="check it again")
    return (whole[:start] + new + whole[start + len(old) :]).encode()


def _start(whole: str, template: Template) -> int:
    """Where the template begins in its file."""
    place = template.place
    mark = len(whole) - len(whole.lstrip("\ufeff"))
    if not place.json_pointer:
        return mark
    if not place.line_starts:
        return -1
    line, column = place.line_starts[0]
    lines = whole[mark:].split("\n")
    return mark + sum(len(one) + 1 for one in lines[: line - 1]) + column - 1


def _spelled(written: str, old: str, new: str) -> str:
    """The new text as a JSON string in the manner of the old one: what both begin and end with stays as it
    is spelled."""
    from chatlint.infer.markers import common_suffix
    from chatlint.rules.turns import agree

    start = agree(old, new)
    end = len(common_suffix([old[start:], new[start:]]))
    widths = _widths(written)
    head = written[: sum(widths[:start])]
    tail = written[len(written) - sum(widths[len(widths) - end :]) :] if end else ""
    ascii_only = written.isascii()
    return head + json.dumps(new[start : len(new) - end], ensure_ascii=ascii_only)[1:-1] + tail


def _widths(written: str) -> list[int]:
    """How many characters spell each character of a JSON string."""
    from chatlint.source.place import spelled_width

    widths, offset = [], 0
    while offset < len(written):
        widths.append(spelled_width(written, offset))
        offset += widths[-1]
    return widths
