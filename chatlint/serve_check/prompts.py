"""The prompt that a server makes of a conversation, where it offers to show it without a model.

llama-server has `/apply-template`. vLLM has `/v1/chat/completions/render` (the token ids; its Rust front end
has nothing else) and `/tokenize` (the same), and `/detokenize` gives their text.
"""

from __future__ import annotations

from collections.abc import Mapping

from chatlint.conversation import JSON
from chatlint.engines.server import Answer, Server
from chatlint.probe.case import Case
from chatlint.records import dataclass
from chatlint.serve_check.found import FoundServer, ServerKind

_ABSENT = (404, 405, 501)


@dataclass(frozen=True, slots=True)
class ServerPrompt:
    """The text, or the token ids where there is no text; `refused` is why there is neither. `offered` is
    False where the server shows no prompts at all."""

    text: str | None = None
    ids: tuple[int, ...] | None = None
    refused: str = ""
    offered: bool = True


def prompt_of(server: Server, found: FoundServer, case: Case) -> ServerPrompt:
    """Ask for one prompt. Raises ServerSilent."""
    body = request_of(found, case)
    if found.kind is ServerKind.LLAMA_CPP:
        answer = server.post("/apply-template", body)
        text = answer.fields.get("prompt")
        return ServerPrompt(text) if answer.fine and isinstance(text, str) else _refused(answer)
    answer = server.post("/v1/chat/completions/render", body)
    if answer.status in _ABSENT:
        answer = server.post("/tokenize", body)
    ids = _ids(answer)
    if ids is None:
        return _refused(answer)
    told = server.post("/detokenize", {"model": found.model, "tokens": list(ids)})
    text = told.fields.get("prompt", told.fields.get("text"))
    return ServerPrompt(text if told.fine and isinstance(text, str) else None, ids)


def request_of(found: FoundServer, case: Case) -> dict[str, JSON]:
    """A case as a chat completion request."""
    conversation = case.conversation
    body: dict[str, JSON] = {
        "messages": [dict(message) for message in conversation.messages],
        "add_generation_prompt": case.add_generation_prompt,
    }
    if found.model:
        body["model"] = found.model
    if conversation.tools is not None:
        body["tools"] = [dict(tool) for tool in conversation.tools]
    if conversation.template_kwargs:
        body["chat_template_kwargs"] = dict(conversation.template_kwargs)
    return body


def _ids(answer: Answer) -> tuple[int, ...] | None:
    if not answer.fine:
        return None
    value: JSON = answer.value
    if isinstance(value, list):  # one prompt of several
        value = value[0] if value else None
    fields: Mapping[str, JSON] = value if isinstance(value, dict) else {}
    for name in ("token_ids", "prompt_token_ids", "tokens"):
        ids = fields.get(name)
        if isinstance(ids, list):
            return tuple(one for one in ids if isinstance(one, int))
    return None


def _refused(answer: Answer) -> ServerPrompt:
    if answer.status in _ABSENT:
        return ServerPrompt(offered=False)
    return ServerPrompt(refused=answer.said or f"status {answer.status}")
