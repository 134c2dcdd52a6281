"""Renderers: a template compiled once, then asked for prompts; and one prompt for who needs just that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chatlint.render.rendered import Renderer, RenderSettings
from chatlint.source.package import Template

if TYPE_CHECKING:
    from chatlint.render.compiled import Store

_DEFAULT = RenderSettings()


def open_renderer(
    template: Template, settings: RenderSettings = _DEFAULT, store: Store | None = None
) -> Renderer:
    """A renderer of `template`: in this process, or in a worker process if `settings.untrusted`.

    `store` keeps compiled code between runs. A template that does not compile has a renderer too: every
    render of it gives the same failure. Close it when done. Raises UsageError for a host that there is not.
    """
    from chatlint.render.local import LocalRenderer

    return LocalRenderer(template, settings, store)


__all__ = ["Sequence", "open_renderer"]
