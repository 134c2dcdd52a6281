"""Hosts: who prepares the conversation, what variables a template gets, and what becomes of its text.

A host is data (`Host`): what differs between two is a field. Its three steps are functions of this module:
`refuse` before the template is looked at, `prepare` before it runs, `finish` after. Sources:
`apply_chat_template` and `render_jinja_template` of transformers 5.24.0 and 4.57.1. Exceptions have the
type and, word for word, the message that the host raises. Servers rewrite a request first (`shaping`): vLLM
gives what it made to transformers, llama.cpp runs the template itself. Here Jinja runs it for all of them;
what another engine makes of a template is asked elsewhere (`chatlint.engines`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from chatlint.errors import UsageError
from chatlint.records import dataclass, replace
from chatlint.render.inputs import Root, Sources, Wrapped, renamed
from chatlint.render.rendered import RenderRequest
from chatlint.render.runs import ContainerSource, special_source
from chatlint.render.shaping import Manners, Server, Unfit, shape
from chatlint.render.trace import Traced, appended, computed, plain, traced
from chatlint.source.package import Template

CONTINUE_TAG = "CONTINUE_FINAL_MESSAGE_TAG "
_OWN_VARIABLES = ("messages", "tools", "documents", "add_generation_prompt")


@dataclass(frozen=True, slots=True)
class Host:
    """What one version of one host does.

    `drops_null_fields`: members of a message whose value is None are absent. `reasoning_fields`: names of a
    message's reasoning; the first that is given is copied to the first of them, and to `thinking` if that
    is absent. `restricts_globals`: `dict` and `namespace` are cut down. `refuses_empty`: an empty
    conversation is an error of the host's own. `special_token_lists`, `empty_special_tokens`: whether lists
    and "" among the special tokens are passed. `continues_any_field`: `continue_final_message` may name a
    field. `server` rewrites requests before that; `passed_tokens` are the only special tokens it passes.
    """

    name: str
    drops_null_fields: bool
    reasoning_fields: tuple[str, ...]
    restricts_globals: bool
    refuses_empty: bool
    special_token_lists: bool
    empty_special_tokens: bool
    continues_any_field: bool
    compiling_function: str
    server: Server | None = None
    passed_tokens: tuple[str, ...] | None = None


_TRANSFORMERS = Host(
    name="transformers-5.24",
    drops_null_fields=True,
    reasoning_fields=("reasoning_content", "thinking", "reasoning"),
    restricts_globals=True,
    refuses_empty=True,
    special_token_lists=False,
    empty_special_tokens=True,
    continues_any_field=True,
    compiling_function="_cached_compile_jinja_template",
)
HOSTS: Mapping[str, Host] = {
    host.name: host
    for host in (
        _TRANSFORMERS,
        Host(
            name="transformers-4.57",
            drops_null_fields=False,
            reasoning_fields=(),
            restricts_globals=False,
            refuses_empty=False,
            special_token_lists=True,
            empty_special_tokens=False,
            continues_any_field=False,
            compiling_function="_compile_jinja_template",
        ),
        replace(_TRANSFORMERS, name="vllm", server=Server.VLLM),
        replace(
            _TRANSFORMERS,
            name="vllm-rs",
            drops_null_fields=False,
            reasoning_fields=(),
            restricts_globals=False,
            server=Server.VLLM_RS,
        ),
        Host(
            name="llama.cpp",
            drops_null_fields=False,
            reasoning_fields=(),
            restricts_globals=False,
            refuses_empty=True,
            special_token_lists=False,
            empty_special_tokens=True,
            continues_any_field=False,
            compiling_function="common_chat_template",
            server=Server.LLAMA_CPP,
            passed_tokens=("bos_token", "eos_token"),
        ),
    )
}


def host_named(name: str) -> Host:
    """The host of that name. Raises UsageError with the names there are."""
    host = HOSTS.get(name)
    if host is None:
        raise UsageError(f"unknown host {name!r}", hint=f"hosts: {', '.join(HOSTS)}")
    return host


class Refusal(Exception):
    """The host raised `exception` with this message."""

    def __init__(self, exception: str, message: str) -> None:
        super().__init__(message)
        self.exception = exception
        self.message = message


@dataclass(slots=True)
class Prepared:
    """What a template is run with: its variables, and the sources of the lists and objects that `prepare`
    made. `unfinished` is the text that is to be continued, `appended` one that goes behind the prompt."""

    variables: dict[str, object]
    messages: list[dict[str, Wrapped]]
    sources: Sources
    unfinished: str | None = None
    appended: str = ""


def refuse(host: Host, request: RenderRequest) -> None:
    """Raise Refusal for what the host refuses before it has looked at the template."""
    if not request.conversation.messages:
        if host.refuses_empty:
            message = "Cannot apply chat template to an empty conversation. Provide at least one message."
            raise Refusal("ValueError", message)
        raise Refusal("IndexError", "list index out of range")
    if host.drops_null_fields:
        for given in request.conversation.messages:
            if type(given) is not dict:  # as most are
                _must_be_object(given)
    if request.continue_final_message and request.add_generation_prompt:
        raise Refusal(
            "ValueError",
            "continue_final_message and add_generation_prompt are not compatible. Use continue_final_message "
            "when you want the model to continue the final message, and add_generation_prompt when you want "
            "to add a header that will prompt it to start a new assistant message instead.",
        )
    for name in _OWN_VARIABLES if request.conversation.template_kwargs else ():
        if name in request.conversation.template_kwargs:
            raise Refusal(
                "TypeError",
                f"jinja2.environment.Template.render() got multiple values for keyword argument {name!r}",
            )


def _must_be_object(message: object) -> None:
    if not isinstance(message, Mapping) and not hasattr(message, "__dataclass_fields__"):
        text = f"Chat messages should be dicts, dataclasses or pydantic models, but got {message!r}."
        raise Refusal("TypeError", text)


def prepare(
    host: Host,
    template: Template,
    request: RenderRequest,
    roots: Mapping[str, Root],
    tokens: Mapping[str, object],
    manners: Manners | None = None,
    now: datetime | None = None,
) -> Prepared:
    """The variables a template gets; `tokens` are its `special_tokens`, `manners` how a server addresses it,
    `now` the time that a server states. Raises Refusal."""
    _check_lists(roots)
    prepared = Prepared({}, [], {})
    given: list[dict[str, Wrapped]] = list(roots["messages"].value)  # type: ignore[arg-type]
    tools = roots["tools"].value if "tools" in roots else None
    if host.server:
        given, tools = _served(host.server, template, request, given, tools, manners or Manners(), prepared)
    for index, one in enumerate(given):
        message = _message(host, one)
        prepared.messages.append(message)
        if message is not one:
            prepared.sources[id(message)] = ContainerSource(f"/messages/{index}")
    if request.continue_final_message and not prepared.appended:
        _continue(host, template, request.continue_final_message, prepared.messages, prepared)
    prepared.variables = {
        **tokens,
        **(_stated(now) if host.server is Server.LLAMA_CPP else {}),
        **{name: root.value for name, root in roots.items()},
        "messages": prepared.messages,
        "tools": tools,
        "documents": roots["documents"].value if "documents" in roots else None,
        "add_generation_prompt": request.add_generation_prompt or bool(prepared.appended),
    }
    if host.server in (Server.LLAMA_CPP, Server.VLLM_RS):  # what is null is not there
        for name in ("tools", "documents"):
            if prepared.variables[name] is None:
                del prepared.variables[name]
    return prepared


def _served(
    server: Server,
    template: Template,
    request: RenderRequest,
    messages: list[dict[str, Wrapped]],
    tools: Wrapped,
    manners: Manners,
    prepared: Prepared,
) -> tuple[list[dict[str, Wrapped]], Wrapped]:
    """The request as the server rewrites it. llama.cpp continues a message by writing it itself."""
    last = messages[-1] if messages else {}
    if request.continue_final_message and server is Server.LLAMA_CPP and isinstance(last.get("content"), str):
        prepared.appended = last["content"]  # type: ignore[assignment]
        messages = messages[:-1]
    try:
        shaped = shape(server, template.text, manners, messages, tools)
    except Unfit as refused:
        raise Refusal("BadRequest", str(refused)) from refused
    prepared.sources.update(shaped.sources)
    return shaped.messages, shaped.tools


def _stated(now: datetime | None) -> dict[str, object]:
    """What llama.cpp tells every template; callers may set `enable_thinking` otherwise."""
    stated: dict[str, object] = {"enable_thinking": True}
    if now is not None:
        stated["datetime"] = computed(now.strftime("%b %d %Y"))
        stated["date_string"] = computed(now.strftime("%d %b %Y"))
    return stated


def _check_lists(roots: Mapping[str, Root]) -> None:
    for tool in roots["tools"].value if "tools" in roots else ():  # type: ignore[union-attr]
        if not isinstance(tool, dict):
            raise Refusal(
                "ValueError",
                "Tools should either be a JSON schema, or a callable function with type hints "
                "and a docstring suitable for auto-conversion to a schema.",
            )
    for document in roots["documents"].value if "documents" in roots else ():  # type: ignore[union-attr]
        if not isinstance(document, dict):
            raise Refusal("TypeError", "Documents should be a list of dicts with 'title' and 'text' keys!")


def _message(host: Host, given: dict[str, Wrapped]) -> dict[str, Wrapped]:
    message = given
    if host.drops_null_fields and None in given.values():
        message = {key: value for key, value in given.items() if value is not None}
    for name in host.reasoning_fields:
        if message.get(name) is not None:
            return _aliased(message, name, host.reasoning_fields[0])
    return message


def _aliased(message: dict[str, Wrapped], name: str, standard: str) -> dict[str, Wrapped]:
    """`thinking` comes first, and keeps a value of its own; the standard name keeps its place or comes
    last."""
    keys = {key: key for key in message}
    first = keys.get("thinking") or renamed(keys[name], "thinking")
    aliased = {first: message[name], **message}
    aliased[keys.get(standard) or renamed(keys[name], standard)] = message[name]
    return aliased


def special_tokens(host: Host, template: Template) -> dict[str, object]:
    """The special tokens that a host passes, by the names of their variables."""
    passed: dict[str, object] = {}
    for name, token in template.special_tokens.items():
        if host.passed_tokens is not None and name not in host.passed_tokens:
            continue
        if isinstance(token, str):
            if token or host.empty_special_tokens:
                passed[name] = _special(name, token)
        elif host.special_token_lists and token:
            passed[name] = [_special(name, one) for one in token]
    return passed


def _special(name: str, token: str) -> Traced:
    return traced(token, ((len(token), special_source(name), 0),) if token else ())


def _continue(
    host: Host, template: Template, field: bool | str, messages: list[dict[str, Wrapped]], prepared: Prepared
) -> None:
    """Mark the end of the last message's text, which `finish` cuts the prompt at."""
    name = field if isinstance(field, str) and host.continues_any_field else "content"
    last = messages[-1] = dict(messages[-1])
    prepared.sources[id(last)] = ContainerSource(f"/messages/{len(messages) - 1}")
    text = last.get(name)
    names = [name]
    if host.continues_any_field:
        names = _continued_fields(host, template, name, last)
    elif name not in last:
        raise Refusal("KeyError", repr(name))
    if isinstance(text, (list, tuple)):
        last[name] = _tagged_part(text, f"/messages/{len(messages) - 1}/{name}", prepared)
        return
    if not isinstance(text, str):
        raise _not_a_text(text)
    prepared.unfinished = text
    for one in names:
        last[one] = text + CONTINUE_TAG


def _continued_fields(host: Host, template: Template, name: str, message: dict[str, Wrapped]) -> list[str]:
    text = message.get(name)
    if text is None:
        shown = f'continue_final_message is set but the final message has no "{name}" to continue!'
        raise Refusal("ValueError", shown)
    names = [name]
    if name in host.reasoning_fields:
        names = [field for field in host.reasoning_fields if message.get(field) == text]
    if not any(field in template.text for field in names):
        shown = (
            f'continue_final_message is set to "{name}" '
            "but this is not an accepted field in the chat_template"
        )
        raise Refusal("ValueError", shown)
    return names


def _tagged_part(
    parts: list[Wrapped] | tuple[Wrapped, ...], pointer: str, prepared: Prepared
) -> list[Wrapped] | tuple[Wrapped, ...]:
    tagged = list(parts)
    for index in reversed(range(len(parts))):
        part = parts[index]
        if isinstance(part, dict) and "text" in part:
            text = part["text"]
            if not isinstance(text, str):
                raise _not_a_text(text)
            prepared.unfinished = text
            tagged[index] = copy = {**part, "text": text + CONTINUE_TAG}
            prepared.sources[id(copy)] = ContainerSource(f"{pointer}/{index}")
            break
    else:
        raise Refusal(
            "ValueError",
            "continue_final_message is set but we could not find any text to continue in the final message!",
        )
    prepared.sources[id(tagged)] = ContainerSource(pointer)
    return tagged


def _not_a_text(value: object) -> Refusal:
    try:
        value + CONTINUE_TAG  # type: ignore[operator]
    except TypeError as error:
        return Refusal("TypeError", str(error))
    return Refusal("TypeError", "the text to continue is no string")


def finish(host: Host, prepared: Prepared, text: Traced) -> Traced:
    """The prompt, of the text that the template gave. Raises Refusal."""
    if prepared.appended:
        return appended(text, prepared.appended)
    if prepared.unfinished is None:
        return text
    tag = CONTINUE_TAG.strip()
    unfinished = plain(prepared.unfinished).strip()
    if unfinished not in text or tag not in text:
        shown = f"Final message to continue: {unfinished}\nRendered chat:\n{plain(text)}"
        raise Refusal(
            "ValueError",
            "continue_final_message is set but the final message does not appear in the chat after "
            "applying the chat template! This can happen if the chat template deletes portions of "
            "the final message. Please verify the chat template and final message in your chat to "
            "ensure they are compatible." + (shown if host.continues_any_field else ""),
        )
    at = text.rindex(tag)
    kept = text[:at] if text.startswith(CONTINUE_TAG, at) else text[:at].rstrip()
    return kept if isinstance(kept, Traced) else traced(kept, ())
