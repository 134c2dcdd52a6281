"""Whether two hosts give a template the same to work with: then it writes the same, and is run once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from chatlint.render.hosts import Host, Refusal, host_named, prepare, refuse, special_tokens
from chatlint.render.prepared import untraced
from chatlint.render.rendered import RenderRequest, RenderSettings

if TYPE_CHECKING:
    from chatlint.render.shaping import Manners
    from chatlint.render.syntax import Syntax
    from chatlint.source.package import Template


class Likeness:
    """Compares what two hosts prepare, as far as the template reads it. `manners` are the other server's,
    `known` is what our host prepared, by the keys of a trace: other hosts are compared with the same."""

    def __init__(
        self,
        template: Template,
        syntax: Syntax,
        ours: RenderSettings,
        theirs: RenderSettings,
        manners: Manners,
        known: dict[Hashable, str],
    ) -> None:
        self._template = template
        self._known = known
        self._names = frozenset(variable.name for variable in syntax.variables) | {"messages"}
        self._manners = manners
        self._sides = tuple(
            (host, special_tokens(host, template), settings)
            for settings in (ours, theirs)
            for host in (host_named(settings.host),)
        )
        first, second = (host.restricts_globals for host, _, _ in self._sides)
        self._other_globals = first != second and ("dict" in self._names or bool(syntax.private))

    def holds(self, key: Hashable, request: RenderRequest) -> bool:
        """Whether both hosts give the same for this request. Order and types count: templates print them."""
        if self._other_globals:
            return False
        ours, theirs = self._sides
        if key not in self._known:
            self._known[key] = self._prepared(request, *ours)
        return self._known[key] == self._prepared(request, *theirs)

    def _prepared(
        self, request: RenderRequest, host: Host, tokens: Mapping[str, object], settings: RenderSettings
    ) -> str:
        try:
            refuse(host, request)
            roots = untraced(request.conversation)
            made = prepare(host, self._template, request, roots, tokens, self._manners, settings.now)
        except Refusal as refusal:
            return f"{refusal.exception}: {refusal.message}"
        read = {name: value for name, value in made.variables.items() if name in self._names}
        return repr((sorted(read.items()), made.unfinished, made.appended))
