"""What `chatlint check --fix` and `--diff` do before anything is judged."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from chatlint.errors import TargetError, UsageError
from chatlint.limits import TEMPLATE_FILE_BYTES
from chatlint.text import visible

if TYPE_CHECKING:
    from chatlint.config import Settings
    from chatlint.fix.mend import Mended
    from chatlint.source.package import Package, Template


def fix_targets(targets: Sequence[str], settings: Settings, *, write: bool) -> None:
    """Mend the templates of targets in their files, or (`write` False) print what would change; say on
    standard error what became of each finding. A target that cannot be loaded is passed over: the check that
    follows says why.

    Raises UsageError where files other than the target's own are judged.
    """
    if settings.template:
        raise UsageError("--fix and --diff edit a target's own template", hint="name the --template's file")
    rewind = _kept_input() if "-" in targets else None
    for target in targets:
        for package, mended in _mended(target, settings):
            place = _place(target, package, mended)
            changed = mended.text != mended.template.text
            reason = _unwritten(package, mended) if write and changed else ""
            for line in _said(place, mended, write=write and not reason):
                sys.stderr.write(f"{visible(line)}\n")
            if reason:
                sys.stderr.write(f"nothing is written: {visible(reason)}; --diff shows the change\n")
            elif changed and not write:
                _print(place, mended)
        if rewind:
            rewind()


def _kept_input() -> Callable[[], None]:
    """Read standard input, and let it be read again: now, and after each call."""
    content = sys.stdin.buffer.read(TEMPLATE_FILE_BYTES + 1)

    def rewind() -> None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(content))

    rewind()
    return rewind


def _mended(target: str, settings: Settings) -> Iterator[tuple[Package, Mended]]:
    from chatlint.fix.mend import mend
    from chatlint.pipeline import read_target
    from chatlint.store.disk import Store

    try:
        package = read_target(target, settings, lambda _: None)
    except TargetError:
        return
    for template in package.templates:
        here = settings.for_target(target, template.place.file)
        wanted = _wanted(here, template)
        yield package, mend(package, template, here, wanted, Store() if settings.cache else None)


def _wanted(settings: Settings, template: Template) -> frozenset[str]:
    """The rules whose findings are to be mended: those that are selected, but for what a comment accepts."""
    from chatlint.rules.ignores import ignores_in
    from chatlint.rules.selection import Selection

    accepted = {name for one in ignores_in(template.text) if one.harmless for name in one.rules}
    rules = Selection(settings.select, settings.ignore).rules()
    return frozenset(rule.name for rule in rules if accepted.isdisjoint((rule.name, rule.code)))


def _said(place: str, mended: Mended, *, write: bool) -> Iterator[str]:
    for one in mended.fixed:
        note = f" ({one.note})" if one.note else ""
        yield f"{'fixed' if write else 'would fix'} {one.rule.name} in {place}: {one.message}{note}"
    for left in mended.unfixed:
        yield f"not fixed: {left.rule.name} in {place}: {left.why} ({left.message})"


def _place(target: str, package: Package, mended: Mended) -> str:
    """The file as `patch` finds it, and what in it is the template."""
    from chatlint.source.package import TargetKind

    place = mended.template.place
    inside = place.json_pointer or place.key
    kind = package.target.kind
    if kind is TargetKind.DIRECTORY:
        file = f"{target.rstrip('/')}/{place.file}"
    else:
        alone = kind in (TargetKind.FILE, TargetKind.GGUF, TargetKind.STDIN)
        file = target if alone else f"{target}:{place.file}"
    return f"{file}:{inside}" if inside else file


def _unwritten(package: Package, mended: Mended) -> str:
    """Write it; why that could not be, "" where it is done."""
    from chatlint.fix.files import rewrites, why_not, write

    if reason := why_not(package, mended.template):
        return reason
    try:
        write(rewrites(package, mended))
    except TargetError as error:
        return error.message
    return ""


def _print(place: str, mended: Mended) -> None:
    """The difference: as it is into a pipe, on a terminal with every control character spelled out."""
    from chatlint.fix.patch import patch

    text = patch(mended, place)
    if sys.stdout.isatty():
        text = "".join(f"{visible(line)}\n" for line in text.split("\n")[:-1])
    sys.stdout.write(text)
