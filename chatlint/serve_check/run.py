"""Compare a server with the template: prompts, capabilities, tokens, parsed calls.

Every question is one that needs no model: nothing is generated. What the server does not offer is not
compared, and said to be so.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from chatlint.conversation import JSON
from chatlint.engines.server import Server, ServerSilent
from chatlint.errors import TargetError, UsageError
from chatlint.limits import SERVE_CHECK_SECONDS
from chatlint.probe.case import Observation, Variant
from chatlint.probe.trace import Trace
from chatlint.records import dataclass, field, replace
from chatlint.render.rendered import DEFAULT_HOST, RenderSettings
from chatlint.render.shaping import Manners
from chatlint.serve_check.found import HOSTS, FoundServer, ServerKind, find_server
from chatlint.serve_check.prompts import ServerPrompt, prompt_of
from chatlint.source.package import Template, TemplatePlace

if TYPE_CHECKING:
    from chatlint.parse.formats import OutputFormat
    from chatlint.source.encoder import Encoder
    from chatlint.verify.trip import RoundTrip

_AS_SENT: Variant = {"arguments": "string", "content": "null"}
CASES: tuple[tuple[str, Variant], ...] = (
    ("roles/user", {}),
    ("roles/system-user", {}),
    ("roles/user-assistant-user", {}),
    ("roles/developer", {}),
    ("content/two-parts", {}),
    ("tools/one", {}),
    ("calls/one-result", _AS_SENT),
    ("calls/two-result", _AS_SENT),
    ("calls/one-followed", _AS_SENT),
    ("reasoning/call-result", {"arguments": "string"}),
)
"""What every server is asked, as clients send it: arguments are a text, content beside a call is null."""
_AROUND = 40
_PARSED = 6
"""Texts that are sent to a server's parser."""


class Outcome(StrEnum):
    """What a comparison came to."""

    SAME = "same"
    DIFFERS = "differs"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One thing that was compared. `part` is prompt, template, capability, token or call; `about` the case or
    the name; where it differs, `ours` and `theirs` are what was expected and what the server says."""

    part: str
    about: str
    outcome: Outcome
    note: str = ""
    ours: str = ""
    theirs: str = ""


@dataclass(frozen=True, slots=True)
class ServerReport:
    """What is known of a server, and everything that was compared."""

    url: str
    server: FoundServer
    host: str
    template: Template
    comparisons: tuple[Comparison, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def exit_code(self) -> int:
        """0 nothing differs, 1 something does, 3 nothing could be compared."""
        outcomes = {one.outcome for one in self.comparisons}
        if Outcome.DIFFERS in outcomes:
            return 1
        return 0 if Outcome.SAME in outcomes else 3

    def to_dict(self) -> dict[str, JSON]:
        """As JSON, "chatlint.server/1"."""
        return {
            "schema": "chatlint.server/1",
            "url": self.url,
            "server": {
                "kind": self.server.kind,
                "version": self.server.version,
                "model": self.server.model,
                "tool_parser": self.server.tool_parser,
            },
            "host": self.host,
            "template": {"name": self.template.name, "sha256": self.template.sha256},
            "comparisons": [
                {
                    "part": one.part,
                    "about": one.about,
                    "outcome": one.outcome,
                    "note": one.note,
                    "ours": one.ours,
                    "theirs": one.theirs,
                }
                for one in self.comparisons
            ],
            "notes": list(self.notes),
        }


def check_server(
    url: str, template: Template | None = None, *, key: str = "", encoder: Encoder | None = None
) -> ServerReport:
    """Compare the server at `url` with `template`, or with the one it says it serves. `encoder` is the
    model's tokenizer, for servers that show token ids only; `key` an API key.

    Raises UsageError for what is no address, and where nobody says which template to compare with;
    TargetError where the server does not answer.
    """
    server = Server(url, key)
    try:
        found = find_server(server)
        chosen = template or _served(found)
        if chosen is None:
            raise UsageError(
                f"{server.url} does not say which template it serves",
                hint="name the model or the template: chatlint serve-check URL --target TARGET",
            )
        host = HOSTS.get(found.kind, DEFAULT_HOST)
        settings = RenderSettings(host, now=datetime.now(), untrusted=template is None)
        manners = Manners.of_caps(found.caps) if found.caps else None
        with Trace(chosen, settings, manners=manners) as trace:
            made = tuple(_Asking(server, found, trace, encoder).compared())
    except ServerSilent as error:
        raise TargetError(str(error), hint="is it running, and at this address?") from error
    return ServerReport(server.url, found, host, chosen, made, _notes(found))


def _served(found: FoundServer) -> Template | None:
    if found.template is None:
        return None
    text = found.template
    return Template("default", text, _digest(text), TemplatePlace("/props"), dict(found.special_tokens))


def _notes(found: FoundServer) -> tuple[str, ...]:
    if found.kind in HOSTS:
        return ()
    return (
        f"how {found.kind} prepares requests is not known here: compared with {DEFAULT_HOST}, "
        "differences may be its own",
    )


@dataclass(slots=True)
class _Asking:
    """One run over one server."""

    server: Server
    found: FoundServer
    trace: Trace
    encoder: Encoder | None
    _until: float = field(default_factory=lambda: time.monotonic() + SERVE_CHECK_SECONDS)

    def compared(self) -> Iterator[Comparison]:
        """Everything, in the order in which it is shown. Raises ServerSilent."""
        yield from self._template()
        yield from self._prompts()
        output = self._learned()
        yield from self._capabilities()
        yield from self._tokens(output)
        yield from self._calls(output)

    def _late(self) -> bool:
        return time.monotonic() > self._until

    # -- the template

    def _template(self) -> Iterator[Comparison]:
        theirs, ours = self.found.template, self.trace.template
        if theirs is None or ours.place.file == "/props":
            return
        same = theirs.rstrip("\n") == ours.text.rstrip("\n")
        yield Comparison(
            "template",
            ours.name,
            Outcome.SAME if same else Outcome.DIFFERS,
            "" if same else "the server serves another text",
            "" if same else ours.sha256[:12],
            "" if same else _digest(theirs)[:12],
        )

    # -- prompts

    def _prompts(self) -> Iterator[Comparison]:
        for probe, axes in CASES:
            here = self.trace.look(probe, axes)
            if self._late():
                yield Comparison("prompt", here.case.id, Outcome.NOT_COMPARED, "there was no time left")
                continue
            there = prompt_of(self.server, self.found, here.case)
            if not there.offered:
                note = "the server shows no prompts (no /apply-template, render or /tokenize)"
                yield Comparison("prompt", "all", Outcome.NOT_COMPARED, note)
                return
            yield self._prompt(here, there)

    def _prompt(self, here: Observation, there: ServerPrompt) -> Comparison:
        about = here.case.id
        if there.refused:
            if here.prompt is None:
                return Comparison("prompt", about, Outcome.SAME, "both refuse")
            return Comparison("prompt", about, Outcome.DIFFERS, f"refused: {there.refused}")
        if here.failure:
            said = f"{here.failure.exception}: {here.failure.message}"
            return Comparison("prompt", about, Outcome.DIFFERS, f"rendered there, fails here: {said}")
        if there.text is not None:
            return self._texts(about, here.text, there.text)
        return self._ids(about, here, there.ids or ())

    def _texts(self, about: str, ours: str, theirs: str) -> Comparison:
        bos = self.trace.template.special_tokens.get("bos_token")
        if ours == theirs or (isinstance(bos, str) and bos and ours == bos + theirs):
            return Comparison("prompt", about, Outcome.SAME)
        start = next(
            (place for place, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
            min(len(ours), len(theirs)),
        )
        shown = slice(max(start - _AROUND, 0), start + _AROUND)
        note = f"the prompts part at character {start}"
        return Comparison("prompt", about, Outcome.DIFFERS, note, ours[shown], theirs[shown])

    def _ids(self, about: str, here: Observation, theirs: Sequence[int]) -> Comparison:
        if self.encoder is None:
            note = "the server shows token ids only: --target with a tokenizer.json compares them"
            return Comparison("prompt", about, Outcome.NOT_COMPARED, note)
        assert here.prompt is not None
        tokens = self.encoder.encode(here.prompt).whole
        ours = [token.id for token in tokens]
        if ours == list(theirs):
            return Comparison("prompt", about, Outcome.SAME, "by token ids")
        place = next(
            (place for place, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
            min(len(ours), len(theirs)),
        )
        text = here.text[tokens[place].start :][:_AROUND] if place < len(tokens) else ""
        note = f"the tokens part at {place}, where our prompt goes on {text!r}"
        return Comparison(
            "prompt", about, Outcome.DIFFERS, note, _listed(ours, place), _listed(theirs, place)
        )

    # -- what was learned

    def _learned(self) -> OutputFormat | None:
        from chatlint.infer.learn import learn
        from chatlint.render.syntax import syntax_of

        return learn(self.trace, syntax_of(self.trace.template.text))

    def _capabilities(self) -> Iterator[Comparison]:
        if not self.found.caps:
            return
        from chatlint.detect.capabilities import detect_capabilities

        with Trace(self.trace.template, replace(self.trace.settings, host=DEFAULT_HOST)) as trace:
            capabilities = detect_capabilities(trace)
        known = {one.name: one.why for one in capabilities.differs_from_llama_cpp}
        for name, ours in capabilities.chat_template_caps.items():
            theirs = self.found.caps.get(name)
            if theirs is None:
                continue
            if theirs == ours:
                yield Comparison("capability", name, Outcome.SAME)
            else:
                why = known.get(name, "")
                note = f"{why} (known of llama.cpp)" if why else "what it does with requests depends on it"
                outcome = Outcome.SAME if why else Outcome.DIFFERS
                yield Comparison("capability", name, outcome, note, str(ours).lower(), str(theirs).lower())

    # -- tokens

    def _tokens(self, output: OutputFormat | None) -> Iterator[Comparison]:
        """Marks that end a turn must be one token, and BOS must stand once."""
        for mark in output.end_of_turn if output else ():
            if self._late():
                return
            pieces = self._tokenized(mark, special=False)
            if pieces is None:
                return
            note = "" if len(pieces) == 1 else f"the mark is {len(pieces)} tokens: no token id ends the turn"
            yield Comparison("token", mark, Outcome.DIFFERS if note else Outcome.SAME, note)
        if self.found.kind is ServerKind.LLAMA_CPP and not self._late():
            yield from self._bos()

    def _bos(self) -> Iterator[Comparison]:
        shown = prompt_of(self.server, self.found, self.trace.case("roles/user"))
        pieces = self._tokenized(shown.text, special=True) if shown.text is not None else None
        if pieces is None or len(pieces) < 2:
            return
        bos = self.trace.template.special_tokens.get("bos_token")
        second = pieces[0] == pieces[1] and bool(bos)
        note = "two of them begin every prompt" if second else ""
        yield Comparison("token", "BOS", Outcome.DIFFERS if second else Outcome.SAME, note)

    def _tokenized(self, text: str, *, special: bool) -> list[int] | None:
        """The ids of a text, None where the server does not say."""
        if self.found.kind is ServerKind.LLAMA_CPP:
            body: dict[str, JSON] = {"content": text, "add_special": special, "parse_special": True}
        else:
            body = {"model": self.found.model, "prompt": text, "add_special_tokens": special}
        answer = self.server.post("/tokenize", body)
        ids = answer.fields.get("tokens")
        if not answer.fine or not isinstance(ids, list):
            return None
        return [one for one in ids if isinstance(one, int)]

    # -- the parser

    def _calls(self, output: OutputFormat | None) -> Iterator[Comparison]:
        """SGLang reads calls without a model (`/parse_function_call`)."""
        if self.found.kind is not ServerKind.SGLANG or not self.found.tool_parser or output is None:
            return
        from chatlint.verify.roundtrip import round_trips

        trips = [trip for trip in round_trips(self.trace, output).trips if trip.sent.get("tool_calls")]
        for trip in trips[:_PARSED]:
            if self._late():
                return
            yield self._call(trip)

    def _call(self, trip: RoundTrip) -> Comparison:
        case = self.trace.case_of(trip.case)
        body: dict[str, JSON] = {
            "text": trip.text,
            "tools": [dict(tool) for tool in case.conversation.tools or ()],
            "tool_call_parser": self.found.tool_parser,
        }
        answer = self.server.post("/parse_function_call", body)
        if not answer.fine:
            return Comparison("call", trip.case, Outcome.NOT_COMPARED, answer.said)
        ours, theirs = _sent_calls(trip.sent), _read_calls(answer.fields)
        same = ours == theirs
        note = "" if same else f"its parser {self.found.tool_parser} reads other calls"
        shown = ("", "") if same else (json.dumps(ours), json.dumps(theirs))
        return Comparison("call", trip.case, Outcome.SAME if same else Outcome.DIFFERS, note, *shown)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _listed(ids: Sequence[int], place: int) -> str:
    return " ".join(map(str, ids[max(place - 2, 0) : place + 4]))


def _sent_calls(message: Mapping[str, JSON]) -> list[tuple[JSON, JSON]]:
    calls = message.get("tool_calls")
    functions = (
        [call.get("function") for call in calls if isinstance(call, Mapping)]
        if isinstance(calls, list)
        else []
    )
    return [
        (function.get("name"), _parsed(function.get("arguments")))
        for function in functions
        if isinstance(function, Mapping)
    ]


def _read_calls(fields: Mapping[str, JSON]) -> list[tuple[JSON, JSON]]:
    calls = fields.get("calls")
    return [
        (call.get("name"), _parsed(call.get("parameters")))
        for call in (calls if isinstance(calls, list) else ())
        if isinstance(call, Mapping)
    ]


def _parsed(arguments: JSON) -> JSON:
    if not isinstance(arguments, str):
        return arguments
    try:
        value: JSON = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return value
