"""What rules judge: one template of a package, with everything the earlier stages found out about it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from chatlint.conversation import JSON
from chatlint.records import dataclass, field
from chatlint.rules.finding import Location

if TYPE_CHECKING:
    from datetime import datetime

    from chatlint.config import Settings
    from chatlint.detect.calls import CallForm
    from chatlint.detect.capability import Capabilities, Switch
    from chatlint.detect.footing import Footing
    from chatlint.export.serving import Serving
    from chatlint.facts import FactChange
    from chatlint.parse.formats import OutputFormat
    from chatlint.probe.case import Observation
    from chatlint.probe.trace import Trace
    from chatlint.render.rendered import RenderSettings
    from chatlint.render.shaping import Manners
    from chatlint.render.syntax import Syntax, SyntaxFault
    from chatlint.rules.ignores import Ignore
    from chatlint.source.package import Package, Template
    from chatlint.verify.trip import RoundTrips


@dataclass(frozen=True, slots=True)
class FactDrift:
    """What a report says of a template otherwise than the one in `file` that it is held to. `unknown` where
    that says nothing of the target, `same_text` where the template itself is the one of then."""

    file: str
    changes: tuple[FactChange, ...] = ()
    same_text: bool = False
    unknown: bool = False


@dataclass(slots=True)
class Subject:
    """`capabilities`, `format` and `round_trips` are None where they were not made. What is costly is found
    when first asked for and kept."""

    package: Package
    template: Template
    trace: Trace
    settings: Settings | None = None
    format: OutputFormat | None = None
    round_trips: RoundTrips | None = None
    capabilities: Capabilities | None = None
    drift: FactDrift | None = None
    """For the rules on the report, which run when it is made."""
    unused_ignores: tuple[tuple[Ignore, tuple[str, ...]], ...] = ()
    """Comments that ignore rules, each with those of its rules that it ignored nothing of."""
    chats: bool | None = None
    """See `turns.chats`, which keeps here what it saw."""
    _syntax: Syntax | None = None
    _broken: list[SyntaxFault] | None = field(default=None)
    _unbounded: bool | None = None
    _footing: Footing | None = None
    _call_form: CallForm | None = None
    _serving: Serving | None = None
    _others: dict[str, Trace] = field(default_factory=dict)
    _prepared: dict[Hashable, str] = field(default_factory=dict)
    """What this host prepares, as other hosts are compared with it."""

    @property
    def syntax(self) -> Syntax:
        """The template's static facts."""
        if self._syntax is None:
            from chatlint.render.syntax import syntax_in

            self._syntax = syntax_in(self.trace.store, self.template.text)
        return self._syntax

    @property
    def broken(self) -> SyntaxFault | None:
        """Why the template does not compile, None if it does. Some faults only the code generator finds: an
        unknown filter outside every `if`, `break` outside a loop."""
        if self._broken is None:
            fault = self.syntax.fault
            if fault is None or fault.bound:  # too large for us to read: `unbounded-work` says so
                fault = self._compile_fault()
            self._broken = [fault] if fault else []
        return self._broken[0] if self._broken else None

    @property
    def unbounded(self) -> bool:
        """Whether a question alone hits a bound of `chatlint.limits`: then nothing can be told."""
        if self._unbounded is None:
            from chatlint.render.rendered import FailureKind

            failure = self.trace.look("roles/user").failure
            self._unbounded = failure is not None and failure.kind is FailureKind.BOUND
        return self._unbounded

    def _compile_fault(self) -> SyntaxFault | None:
        from chatlint.render.rendered import FailureKind
        from chatlint.render.syntax import SyntaxFault

        failure = self.trace.look("roles/user").failure
        if failure is None or failure.kind is not FailureKind.SYNTAX:
            return None
        return SyntaxFault(failure.message, failure.line)

    def see(
        self,
        probe: str,
        way: Mapping[str, str] | None = None,
        /,
        *,
        switches: Mapping[str, JSON] | None = None,
        **axes: str,
    ) -> Observation:
        """What the template does with a probe in the manner in which it answers at all (see `Footing`), with
        the axes in `way`, those given by name, and template kwargs. Later ones win."""
        if not switches:
            return self.footing.look(probe, way or {}, axes)
        from chatlint.probe.axes import switched

        return self.footing.look(probe, way or {}, axes, switched(switches))

    @property
    def footing(self) -> Footing:
        """How to address this template."""
        if self._footing is None:
            from chatlint.detect.footing import find_footing

            self._footing = find_footing(self.trace, self.syntax)
        return self._footing

    @property
    def call_form(self) -> CallForm:
        """The way to send a tool call that this template writes best."""
        from chatlint.detect.calls import find_call_form

        if self._call_form is None:
            self._call_form = find_call_form(self.footing)
        return self._call_form

    @property
    def serving(self) -> Serving | None:
        """How to serve the format; None where none was learned."""
        from chatlint.export.flags import serving_in

        if self._serving is None and self.format is not None:
            self._serving = serving_in(self.package, self.format)
        return self._serving

    @property
    def switches(self) -> tuple[Switch, ...]:
        """What callers may set, and what it changes."""
        from chatlint.detect.capabilities import detect_capabilities

        if self.capabilities is None:
            self.capabilities = detect_capabilities(self.trace, self.syntax)
        return self.capabilities.switches

    def elsewhere(self, host: str) -> Trace:
        """A trace of the same template on another host, kept until `close`."""
        if host not in self._others:
            self._others[host] = self._on_host(host)
        return self._others[host]

    def close(self) -> None:
        """End the renderers of other hosts."""
        for other in self._others.values():
            other.close()

    def _on_host(self, host: str) -> Trace:
        """What this host gives the template as well is rendered once."""
        from chatlint.probe.likeness import Likeness
        from chatlint.probe.trace import Trace
        from chatlint.records import replace

        settings = replace(self.trace.settings, host=host)
        manners = self.manners(host)
        likeness = Likeness(
            self.template, self.syntax, self.trace.settings, settings, manners, self._prepared
        )
        return Trace(
            self.template,
            settings,
            probes=self.trace.probes,
            manners=manners,
            alike=(self.trace, likeness),
        )

    def manners(self, host: str) -> Manners:
        """How a server addresses the template, from what is known of it."""
        from chatlint.render.hosts import host_named
        from chatlint.render.manners import manners_by_loops
        from chatlint.render.shaping import Manners, Server

        if host_named(host).server in (Server.VLLM, Server.VLLM_RS):
            return manners_by_loops(self.syntax.loops_over_content)
        return Manners.of_caps(self.capabilities.chat_template_caps if self.capabilities else {})

    def at(self, now: datetime | None) -> Trace:
        """A trace of the same template at another time, or on a host without a clock (None), to be closed by
        the caller."""
        from chatlint.records import replace

        return self._another(replace(self.trace.settings, now=now))

    def untrimmed(self) -> Trace:
        """A trace of the same template on a host that does not trim white space, to be closed by the
        caller."""
        from chatlint.records import replace

        return self._another(replace(self.trace.settings, trims=False))

    def again(self) -> Trace:
        """Another trace of the same template, for cases that are no probe's and may hit bounds; to be closed
        by the caller."""
        return self._another(self.trace.settings)

    def _another(self, settings: RenderSettings) -> Trace:
        from chatlint.probe.trace import Trace
        from chatlint.rules.cause import NotEvaluated

        if self.trace.timed_out:
            raise NotEvaluated("renders of this template have used up their time")
        return Trace(self.template, settings, self.trace.store, probes=self.trace.probes)

    def locate(self, line: int, column: int = 0) -> Location:
        """A place in the template as a place in the file that holds it."""
        from chatlint.source.place import file_position

        place = self.template.place
        if line <= 0:
            return Location(place.file)
        file_line, file_column = file_position(place, line, max(column, 1))
        mapped = bool(place.line_starts) or column > 0
        return Location(place.file, file_line, file_column if mapped else 0)
