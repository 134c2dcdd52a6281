"""A template and everything it has been asked.

`Trace.ask` renders on demand and remembers by what is rendered, so detection, inference, verification and
rules share their renders: what one has asked the other has for nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from chatlint.conversation import JSON, Conversation, JSONObject, Message, plain_bytes
from chatlint.errors import UsageError
from chatlint.lazy import regex
from chatlint.limits import TRACE_BOUND_FAILURES, TRACE_CHARACTERS, TRACE_SECONDS
from chatlint.probe.axes import switched
from chatlint.probe.case import Case, Key, Observation, Variant
from chatlint.probe.catalogue import Catalogue, catalogue
from chatlint.render.rendered import (
    FailureKind,
    Rendered,
    Renderer,
    RenderFailure,
    RenderRequest,
    RenderSettings,
)
from chatlint.source.package import Template
from chatlint.store.disk import Store

if TYPE_CHECKING:
    from chatlint.probe.likeness import Likeness
    from chatlint.render.shaping import Manners

_SETTING = regex(r",(?=[a-z_]+(?:\.\w+)?=)")


class Trace:
    """One template in one setting; asks it and remembers. Close it when done: it may hold a worker
    process. `alike` is the trace of another host, and where the two hosts do not differ: there it is asked;
    `manners` are known of a server."""

    def __init__(
        self,
        template: Template,
        settings: RenderSettings | None = None,
        store: Store | None = None,
        *,
        probes: Catalogue | None = None,
        renderer: Renderer | None = None,
        manners: Manners | None = None,
        alike: tuple[Trace, Likeness] | None = None,
    ) -> None:
        self.template = template
        self.settings = settings or RenderSettings()
        self.probes = probes or catalogue()
        self.store = store
        self._renderer = renderer
        self._manners = manners
        self._alike = alike
        self._asked: dict[str, Observation] = {}
        self._rendered: dict[Key, Rendered] = {}
        self._held: dict[int, tuple[Case, Observation]] = {}
        """By the identity of a case, which is kept so that it stays its own."""
        self._contents: dict[int, tuple[object, bytes]] = {}
        self._lines: set[int] = set()
        self._coverable: frozenset[int] | None = None
        self._drops_null: bool | None = None
        self._bounds = 0
        self._characters = 0
        self.renders = 0
        """How many renders were made."""
        self.seconds = 0.0
        """CPU time they took."""
        self.timed_out = False
        """Whether a bound of time decided what was seen: on another day there may be more."""

    # -- cases -----------------------------------------------------------------------------------------------

    def case(self, probe: str, *, switches: Mapping[str, JSON] | None = None, **axes: str) -> Case:
        """A probe in one variant. `switches` are template kwargs. Raises UsageError on unknown names."""
        return self.probes.case(probe, {**axes, **switched(switches or {})})

    def case_of(self, case_id: str) -> Case:
        """The case that an id names: `tools/given@tools=empty,generation=off`, or one that was asked, also if
        its conversation was made on the spot. Raises UsageError."""
        if known := self.known(case_id):
            return known
        probe, _, settings = case_id.partition("@")
        pairs = [setting.partition("=") for setting in _SETTING.split(settings)] if settings else []
        return self.probes.case(probe, {axis: value for axis, _, value in pairs})

    # -- asking ----------------------------------------------------------------------------------------------

    def see(self, probe: str, *, switches: Mapping[str, JSON] | None = None, **axes: str) -> Observation:
        """What the template does with a probe in one variant."""
        return self.ask(self.case(probe, switches=switches, **axes))

    def look(self, probe: str, *variants: Variant) -> Observation:
        """`see` with the axes as mappings (kwargs as `kwargs.NAME`: JSON); later ones win."""
        return self.ask(
            self.probes.case(probe, {axis: value for variant in variants for axis, value in variant.items()})
        )

    def ask_conversation(
        self,
        name: str,
        conversation: Conversation,
        *,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
    ) -> Observation:
        """What the template does with a conversation made on the spot. `name` stands for a probe's id:
        stable, readable, and never used for another conversation of the same trace."""
        variant = () if add_generation_prompt or continue_final_message else (("generation", "off"),)
        if continue_final_message:
            field = "content" if continue_final_message is True else continue_final_message
            variant = (("continue", field),)
        case = Case(name, variant, conversation, add_generation_prompt, continue_final_message)
        return self.ask(case)

    def ask(self, case: Case) -> Observation:
        """What the template does with a case. Renders unless an equal conversation was rendered before."""
        held = self._held.get(id(case))
        if held is None:
            known = self._asked.get(case.id)
            seen = self.ask_all((case,))[0] if known is None else self._same(known, case)
            held = self._held[id(case)] = case, seen
        return held[1]

    def ask_all(self, cases: Iterable[Case]) -> tuple[Observation, ...]:
        """`ask` for several cases, rendered together where they are new."""
        wanted = tuple(cases)
        new = [(self._key(case), case) for case in wanted if case.id not in self._asked]
        self._borrow(new)
        self._render({key: _request(case, key) for key, case in new if key not in self._rendered})
        for key, case in new:
            self._asked[case.id] = _observation(case, self._rendered[key])
        return tuple(self._same(self._asked[case.id], case) for case in wanted)

    def rendered(self, case: Case) -> Rendered:
        """What a case gives, without its being one that was asked."""
        key = self._key(case)
        if key not in self._rendered:
            self._render({key: _request(case, key)})
        return self._rendered[key]

    def aside(self, case: Case) -> Observation:
        """`ask`, without the case being one that was asked."""
        return self._asked.get(case.id) or _observation(case, self.rendered(case))

    def _borrow(self, cases: Iterable[tuple[Key, Case]]) -> None:
        """What another host gives the template just as this one, that host's trace renders."""
        if self._alike is None:
            return
        other, likeness = self._alike
        for key, case in cases:
            if key not in self._rendered and likeness.holds(key, _request(case, key)):
                self._rendered[key] = other.rendered(case)

    def _same(self, observation: Observation, case: Case) -> Observation:
        known = observation.case.conversation
        if known is not case.conversation and known != case.conversation:
            raise UsageError(f"the case {case.id} names two different conversations")
        return observation

    def saw(self, observation: Observation) -> bool:
        """Whether it was made here, not in another trace of the same template."""
        return self._asked.get(observation.case.id) is observation

    def _render(self, requests: Mapping[Key, RenderRequest]) -> None:
        if not requests:
            return
        for key, request in requests.items():
            if given_up := self._given_up():
                self._rendered[key] = given_up
                continue
            (rendered,) = self._opened().render_all((request,))
            self._rendered[key] = rendered
            self._count(rendered)

    def _given_up(self) -> Rendered | None:
        """What every further case gets, once a template has used up what it may."""
        if self._bounds >= TRACE_BOUND_FAILURES:
            return _GIVEN_UP
        if self._characters > TRACE_CHARACTERS:
            return _TOO_LONG
        if self.seconds > TRACE_SECONDS:
            self.timed_out = True
            return _TOO_SLOW
        return None

    def _key(self, case: Case) -> Key:
        """Two cases with equal keys give equal renders. The order of members counts: templates can print it.
        Where the host drops members that are null, null and absent are one."""
        if self._drops_null is None:
            from chatlint.render.hosts import HOSTS

            host = HOSTS.get(self.settings.host)
            self._drops_null = host is not None and host.drops_null_fields
        known = case.keys.get(self._drops_null)
        if known is None:
            conversation = case.conversation
            content = (
                self._content(conversation.messages, self._drops_null),
                self._content(conversation.tools),
                _bytes((conversation.documents, conversation.template_kwargs)),
            )
            known = case.keys[self._drops_null] = (
                content,
                case.add_generation_prompt,
                case.continue_final_message,
            )
        return known

    def _content(self, values: Sequence[JSONObject] | None, without_null: bool = False) -> bytes:
        """Messages or tools as bytes. Variants of a probe have them in common."""
        known = self._contents.get(id(values))
        if known is None or known[0] is not values:
            given = tuple(map(_without_null, values)) if values and without_null else values
            known = self._contents[id(values)] = values, _bytes(given)
        return known[1]

    def _count(self, rendered: Rendered) -> None:
        self.renders += 1
        self.seconds += rendered.seconds
        self._characters += len(rendered.prompt.text) if rendered.prompt is not None else 0
        self._lines |= rendered.lines
        if rendered.failure is not None and rendered.failure.kind is FailureKind.BOUND:
            self._bounds += 1
            self.timed_out |= "seconds" in rendered.failure.message

    def _opened(self) -> Renderer:
        if self._renderer is None:
            from chatlint.render.renderer import open_renderer

            self._renderer = open_renderer(self.template, self.settings, self.store, self._manners)
        return self._renderer

    # -- what was seen ---------------------------------------------------------------------------------------

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Every case asked, once, in the order of the first asking."""
        return tuple(self._asked.values())

    def known(self, case_id: str) -> Case | None:
        """The case of that id that was asked."""
        asked = self._asked.get(case_id)
        return asked.case if asked else None

    @property
    def failed(self) -> tuple[Observation, ...]:
        """The cases that gave no prompt."""
        return tuple(observation for observation in self._asked.values() if observation.failure)

    @property
    def lines(self) -> frozenset[int]:
        """One-based template lines that ran in any render."""
        return frozenset(self._lines)

    @property
    def unreached(self) -> tuple[tuple[int, int], ...]:
        """Template lines that could run and did not, as ranges (first, last) between lines that did."""
        ranges: list[tuple[int, int]] = []
        reached = True
        for line in sorted(self._lines_to_cover()):
            if line in self._lines:
                reached = True
                continue
            ranges[len(ranges) if reached else -1 :] = [(line if reached else ranges[-1][0], line)]
            reached = False
        return tuple(ranges)

    def _lines_to_cover(self) -> frozenset[int]:
        if self._coverable is None:
            self._coverable = self._opened().coverable_lines()
        return self._coverable

    def close(self) -> None:
        """End the renderer; what was seen stays."""
        if self._renderer is not None:
            self._lines_to_cover()
            self._renderer.close()
            self._renderer = None

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


_GIVEN_UP = Rendered(
    None,
    RenderFailure(
        FailureKind.BOUND,
        "",
        "not rendered: earlier cases hit a bound, so this template is not asked further",
    ),
)


def _used_up(what: str) -> Rendered:
    return Rendered(None, RenderFailure(FailureKind.BOUND, "BoundError", what))


_TOO_LONG = _used_up(
    f"prompts of more than {TRACE_CHARACTERS:,} characters from conversations of a few words"
)
_TOO_SLOW = _used_up(f"more than {TRACE_SECONDS:g} seconds of CPU time for conversations of a few words")


def _request(case: Case, key: Key) -> RenderRequest:
    return RenderRequest(case.conversation, case.add_generation_prompt, case.continue_final_message, key[0])


def _without_null(message: Message) -> Message:
    return {name: value for name, value in message.items() if value is not None}


def _bytes(value: object) -> bytes:
    """What is no plain data goes as JSON."""
    return plain_bytes(value) or json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _observation(case: Case, rendered: Rendered) -> Observation:
    return Observation(
        case,
        rendered.prompt,
        rendered.failure,
        rendered.mutated,
        rendered.seconds,
        rendered.generation,
        rendered.unset,
        rendered.steps,
        rendered.generation_reported,
    )
