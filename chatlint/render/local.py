"""Rendering in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from threading import Lock
from time import process_time

import jinja2
from jinja2.runtime import Context, Macro

from chatlint.conversation import Conversation, Message, Tool
from chatlint.errors import TemplateError
from chatlint.records import replace
from chatlint.render import absent, generation, guard
from chatlint.render.compiled import Compiled, Store, loaded
from chatlint.render.environment import TemplateTooLarge, chat_environment
from chatlint.render.guard import BoundError
from chatlint.render.hosts import Prepared, Refusal, finish, host_named, prepare, refuse, special_tokens
from chatlint.render.inputs import Inputs, Root, Wrapped, changed
from chatlint.render.operators import concat
from chatlint.render.rendered import FailureKind, Rendered, RenderFailure, RenderRequest, RenderSettings
from chatlint.render.runs import spans_of
from chatlint.render.sandbox import Declined
from chatlint.render.shaping import Manners, Server
from chatlint.render.trace import Traced, computed, plain, stand
from chatlint.render.trace_containers import containers
from chatlint.render.trace_json import paid
from chatlint.source.package import Template
from chatlint.text import Prompt

MESSAGE_CHARACTERS = 1_000_000
"""Longest message of an exception that is kept."""

_one_at_a_time = Lock()
"""Steps, places and sources of the running render are kept by module."""


_inputs = Inputs()
"""Probes say the same to every template, and where globals are restricted none has a way to change it. One
that yet does is found out after the render, and what is kept is dropped."""


class LocalRenderer:
    """A template compiled for one host, run in this process with steps and sizes bounded."""

    def __init__(
        self,
        template: Template,
        settings: RenderSettings,
        store: Store | None = None,
        manners: Manners | None = None,
    ) -> None:
        self._template = template
        self._settings = settings
        self._host = host_named(settings.host)
        self._tokens = special_tokens(self._host, template)
        self._manners = manners
        self._inputs = _inputs if self._host.restricts_globals else Inputs()
        self._compiled, self._failure = self._compile(store)

    def _compile(self, store: Store | None) -> tuple[Compiled | None, RenderFailure | None]:
        environment = chat_environment(self._host, self._settings.trims)
        source = self._template.text
        try:
            return loaded(environment, source, store), None
        except TemplateTooLarge as error:
            return None, RenderFailure(FailureKind.BOUND, _name(error.__cause__ or error), error.message)
        except TemplateError as error:
            name = _name(error.__cause__ or error)
            return None, RenderFailure(FailureKind.SYNTAX, name, error.message, error.line)
        except jinja2.TemplateSyntaxError as error:
            return None, RenderFailure(FailureKind.SYNTAX, _name(error), str(error.message), error.lineno)
        except SyntaxError as error:
            return None, RenderFailure(FailureKind.SYNTAX, _name(error), str(error))
        except (RecursionError, MemoryError) as error:
            return None, RenderFailure(
                FailureKind.BOUND, _name(error), "a template that is nested too deep to compile"
            )

    def render(self, request: RenderRequest) -> Rendered:
        """The prompt of one request, or why there is none. Never raises for the template's or the input's
        sake."""
        with _one_at_a_time:
            started = process_time()
            try:
                refuse(self._host, request)
            except Refusal as error:
                return Rendered(None, RenderFailure(FailureKind.HOST, error.exception, error.message))
            if self._compiled is None:
                return Rendered(None, self._failure)
            return self._run(self._compiled, request, started)

    def _run(self, compiled: Compiled, request: RenderRequest, started: float) -> Rendered:
        compiled.seen[:] = compiled.unseen
        prompt: Prompt | None = None
        failure: RenderFailure | None = None
        mutated: tuple[str, ...] = ()
        blocks: tuple[tuple[int, int], ...] = ()
        roots: Mapping[str, Root] = {}
        try:
            _begin(compiled)
            roots = self._inputs.wrap(request.conversation, request.content)
            prepared = self._prepared(compiled, request, roots)
            given = [{**message} if type(message) is dict else message for message in prepared.messages]
            text = self._text(compiled, prepared, roots)
            mutated = self._mutated(roots, given, prepared)
            text = finish(self._host, prepared, text)
            blocks = generation.blocks(text._runs)
            prompt = Prompt(plain(text), partial(spans_of, text._runs))
        except Exception as error:
            failure = _failure(error, compiled)
            if not all(root.unchanged() for root in roots.values()):
                self._inputs.forget()
        finally:
            containers.clear()
        return Rendered(
            prompt,
            failure,
            mutated,
            compiled.lines_seen(),
            blocks,
            process_time() - started,
            tuple(generation.reported) if prompt is not None else (),
            tuple(absent.printed),
            guard.used(),
        )

    def _prepared(self, compiled: Compiled, request: RenderRequest, roots: Mapping[str, Root]) -> Prepared:
        if self._host.server and self._manners is None:
            self._manners = self._find_manners(self._host.server, compiled)
        host, template, now = self._host, self._template, self._settings.now
        return prepare(host, template, request, roots, self._tokens, self._manners, now)

    def _find_manners(self, server: Server, compiled: Compiled) -> Manners:
        from chatlint.render.manners import llama_cpp_manners, vllm_manners

        if server is not Server.LLAMA_CPP:
            return vllm_manners(self._template.text)
        manners = llama_cpp_manners(partial(self._as_given, compiled))
        _begin(compiled)
        compiled.seen[:] = compiled.unseen
        return manners

    def _as_given(
        self, compiled: Compiled, messages: Sequence[Message], tools: Sequence[Tool] | None
    ) -> str | None:
        """What the template writes for messages that nobody rewrites, None where it fails."""
        conversation = Conversation(tuple(messages), None if tools is None else tuple(tools))
        roots = Inputs().wrap(conversation)
        unserved = replace(self._host, server=None)
        try:
            _begin(compiled)
            prepared = prepare(unserved, self._template, RenderRequest(conversation), roots, self._tokens)
            if tools is None:
                del prepared.variables["tools"]
            return plain(self._text(compiled, prepared, roots))
        except BoundError:
            raise
        except Exception:
            return None
        finally:
            containers.clear()

    def _text(self, compiled: Compiled, prepared: Prepared, roots: Mapping[str, Root]) -> Traced:
        for root in roots.values():
            containers.update(root.sources)
        containers.update(prepared.sources)
        now = compiled.environment.now = self._settings.now
        emitted = generation.emitted
        context = compiled.context(prepared.variables, () if now else ("strftime_now",))
        try:
            for part in compiled.root(context):
                emitted.append(part)
        finally:
            _let_go(context)
        text = concat(emitted)
        return text if isinstance(text, Traced) else computed(text)

    def _mutated(
        self, roots: Mapping[str, Root], given: list[dict[str, Wrapped]], prepared: Prepared
    ) -> tuple[str, ...]:
        if given == prepared.messages and all(root.unchanged() for root in roots.values()):
            return ()
        found = list(changed(given, prepared.messages, "/messages"))
        for name, root in roots.items():
            found += changed(root.given, root.value, f"/{name}")
        self._inputs.forget()
        return tuple(dict.fromkeys(found))

    def render_all(self, requests: Sequence[RenderRequest]) -> tuple[Rendered, ...]:
        """One result for each request, in order."""
        return tuple(self.render(request) for request in requests)

    def coverable_lines(self) -> frozenset[int]:
        """The template lines that can run."""
        if self._compiled is None:
            return frozenset()
        return frozenset(line for place in self._compiled.places[1:] for line in place)

    def code_lines(self) -> list[tuple[int, int]]:
        """Pairs of a line of the code and the template line it comes from."""
        return [] if self._compiled is None else self._compiled.debug

    def close(self) -> None:
        """Nothing to end."""


def _begin(compiled: Compiled) -> None:
    guard.start()
    stand(compiled.lines)
    generation.start()
    absent.printed.clear()
    paid.clear()


def _let_go(context: Context) -> None:
    """Macros hold the context that holds them, and functions that hold themselves: they would stay until
    they are collected."""
    for value in context.vars.values():
        if type(value) is Macro:
            value._func = plain
    context.vars.clear()


def _failure(error: Exception, compiled: Compiled) -> RenderFailure:
    line = compiled.line(error.__traceback__)
    match error:
        case Refusal():
            return RenderFailure(FailureKind.HOST, error.exception, error.message)
        case BoundError():
            return RenderFailure(FailureKind.BOUND, _name(error), str(error), line)
        case MemoryError():
            return RenderFailure(FailureKind.BOUND, _name(error), "more memory than there is", line)
        case Declined():
            return RenderFailure(FailureKind.DECLINED, "TemplateError", _message(error), line)
        case RecursionError():
            # Python's wording differs with what it was doing at that depth.
            return RenderFailure(FailureKind.FAULT, _name(error), "maximum recursion depth exceeded", line)
        case _:
            return RenderFailure(FailureKind.FAULT, _name(error), _message(error), line)


def _name(error: BaseException) -> str:
    return type(error).__name__


def _message(error: Exception) -> str:
    return plain(str(error))[:MESSAGE_CHARACTERS]
