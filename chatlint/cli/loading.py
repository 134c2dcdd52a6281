"""From the options of a command to a template that can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chatlint.records import dataclass

if TYPE_CHECKING:
    from chatlint.probe.trace import Trace
    from chatlint.source.package import Package, Template


@dataclass(frozen=True, slots=True)
class Wanted:
    """One template of one target, as the options of `render` and `parse` name it."""

    target: str
    name: str | None
    host: str | None
    template: str | None
    special_tokens: str | None
    revision: str | None
    offline: bool
    untrusted: bool


@contextmanager
def opened(wanted: Wanted) -> Iterator[Trace]:
    """The template, ready to be asked. Raises TargetError or UsageError where there is none."""
    with opened_in_package(wanted) as (_, trace):
        yield trace


@contextmanager
def opened_in_package(wanted: Wanted) -> Iterator[tuple[Package, Trace]]:
    """As `opened`, with the package the template is in."""
    from chatlint.cli.progress import Progress
    from chatlint.probe.trace import Trace
    from chatlint.render.rendered import DEFAULT_HOST, RenderSettings
    from chatlint.source.load import load
    from chatlint.source.package import TargetKind
    from chatlint.store.disk import Store

    host = wanted.host or DEFAULT_HOST
    with Progress(1) as progress:
        package = load(
            wanted.target,
            revision=wanted.revision,
            offline=wanted.offline,
            host=host,
            template_file=wanted.template,
            special_tokens_file=wanted.special_tokens,
            say=progress.say,
        )
    untrusted = wanted.untrusted or package.target.kind is TargetKind.HUB
    chosen = named_template(package.templates, wanted.name)
    with Trace(chosen, RenderSettings(host=host, untrusted=untrusted), Store()) as trace:
        yield package, trace


def named_template(templates: tuple[Template, ...], name: str | None) -> Template:
    """The template of that name, the first where none is named. Raises UsageError with the nearest one."""
    from chatlint.config import nearest
    from chatlint.errors import UsageError

    for template in templates:
        if template.name == name or name is None:
            return template
    names = [template.name for template in templates]
    raise UsageError(f"no template {name!r} in this target", hint=nearest(str(name), names))
