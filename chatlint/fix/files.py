"""Put a template's new text where the old one stands: in `.jinja` files, and in strings of JSON files, whose
other bytes stay as they are."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from chatlint.errors import TargetError
from chatlint.fix.mend import Mended
from chatlint.lazy import regex
from chatlint.records import dataclass
from chatlint.source.package import Package, TargetKind, Template
from chatlint.source.place import spelled_width

_WHY_NOT = {
    TargetKind.HUB: "it lies on the Hub: apply the difference to the repository",
    TargetKind.GGUF: "a GGUF is not edited in place: llama.cpp's gguf_new_metadata.py --chat-template-file",
    TargetKind.STDIN: "it came from standard input",
    TargetKind.CORPUS: "it is bundled with chatlint",
}


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A file with its new content, and the one it had."""

    path: Path
    content: bytes
    old: bytes


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
    old: dict[Path, bytes] = {}
    for template in (*package.templates, *package.copies):
        if template.sha256 == mended.template.sha256 and not template.place.key:
            path = _path(package, template)
            if path not in old:
                old[path] = contents[path] = _read(path)
            contents[path] = _rewritten(path, contents[path], template, mended.text)
    return tuple(Rewrite(path, content, old[path]) for path, content in contents.items())


def write(rewrites: Sequence[Rewrite]) -> None:
    """Replace files as a whole, so that a kill leaves old ones or new ones.
    None is replaced before all new ones are there.

    Raises TargetError for a file that is a link, may not be written, or is not as it was read.
    """
    with ExitStack() as stack:
        ready = [(_beside(rewrite, stack), rewrite) for rewrite in rewrites]
        for _, rewrite in ready:
            if _read(rewrite.path) != rewrite.old:
                raise TargetError(f"{rewrite.path} is not as it was read", hint="check it again")
        for new, rewrite in ready:
            try:
                os.replace(new, rewrite.path)
            except OSError as error:
                raise TargetError(f"{rewrite.path} cannot be written: {error.strerror}") from error


def _beside(rewrite: Rewrite, stack: ExitStack) -> str:
    """A new file beside the old one, with its rights. It goes with the stack, unless it is renamed before."""
    path = rewrite.path
    if path.is_symlink():  # as in the Hub's cache, whose contents belong to their hashes
        raise TargetError(f"{path} is a link to {os.readlink(path)}", hint="name that file, or a copy")
    try:
        rights = path.stat().st_mode & 0o7777
        if not rights & 0o222 or not os.access(path, os.W_OK):
            raise TargetError(f"{path} is read-only")
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".chatlint-", delete=False) as file:
            stack.callback(_remove, file.name)
            file.write(rewrite.content)
        os.chmod(file.name, rights)
    except OSError as error:
        raise TargetError(f"{path} cannot be written: {error.strerror}") from error
    return file.name


def _remove(name: str) -> None:
    with suppress(OSError):
        os.unlink(name)


def _path(package: Package, template: Template) -> Path:
    root = Path(package.target.locator)
    return root / template.place.file if package.target.kind is TargetKind.DIRECTORY else root


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TargetError(f"{path} cannot be read: {error.strerror}") from error


def _rewritten(path: Path, content: bytes, template: Template, text: str) -> bytes:
    try:
        whole = content.decode("utf-8")
    except UnicodeDecodeError:
        whole = ""
    start = _start(whole, template)
    written = template.place.written if template.place.json_pointer else whole[start:]
    if start < 0 or not whole.startswith(written, start) or _read_as(written, template) != template.text:
        raise TargetError(f"{path} is not as it was read", hint="check it again")
    new = _spelled(written, template, text)
    return (whole[:start] + new + whole[start + len(written) :]).encode()


def _start(whole: str, template: Template) -> int:
    """Where the template begins in its file."""
    place = template.place
    if not place.json_pointer:
        return 0
    if not place.line_starts:
        return -1
    mark = len(whole) - len(whole.lstrip("\ufeff"))
    line, column = place.line_starts[0]
    lines = whole[mark:].split("\n")
    return mark + sum(len(one) + 1 for one in lines[: line - 1]) + column - 1


_NEWLINE = regex(r"\r\n|\r|\n")


def _read_as(written: str, template: Template) -> str:
    """The template that is written so. A file's newlines are read as Python reads those of any text file."""
    if template.place.json_pointer:
        return str(json.loads(f'"{written}"', strict=False))
    return _NEWLINE.sub("\n", written)


def _spelled(written: str, template: Template, new: str) -> str:
    """The new text in the manner of the old one: what both begin and end with stays as it is spelled."""
    from chatlint.infer.markers import common_suffix
    from chatlint.rules.turns import agree

    old = template.text
    start = agree(old, new)
    end = len(common_suffix([old[start:], new[start:]]))
    in_json = bool(template.place.json_pointer)
    widths = _widths(written, in_json=in_json)
    middle = new[start : len(new) - end]
    if in_json:
        lone = any("\ud800" <= character <= "\udfff" for character in middle)  # no UTF-8 has these
        middle = json.dumps(middle, ensure_ascii=lone or written.isascii())[1:-1]
    else:
        newline = _NEWLINE.search(written)
        middle = middle.replace("\n", newline.group() if newline else "\n")
    head, tail = sum(widths[:start]), sum(widths[len(widths) - end :]) if end else 0
    return written[:head] + middle + written[len(written) - tail :]


def _widths(written: str, *, in_json: bool) -> list[int]:
    """How many characters spell each character of the template."""
    widths, offset = [], 0
    while offset < len(written):
        widths.append(spelled_width(written, offset) if in_json else _newline_width(written, offset))
        offset += widths[-1]
    return widths


def _newline_width(written: str, offset: int) -> int:
    return 2 if written.startswith("\r\n", offset) else 1
