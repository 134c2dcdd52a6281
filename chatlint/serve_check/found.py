"""What a server is, and what it says of itself.

Sources: llama-server's `/props` (2026-10), vLLM's `/v1/models` and `/version` (0.33), SGLang's
`/get_server_info` (0.5.23). What a server does not offer is left out, not guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from chatlint.conversation import JSON
from chatlint.engines.server import Server
from chatlint.records import dataclass, field


class ServerKind(StrEnum):
    """Who serves."""

    LLAMA_CPP = "llama.cpp"
    VLLM = "vllm"
    VLLM_RS = "vllm-rs"
    """vLLM's Rust front end, which says no version."""
    SGLANG = "sglang"
    OTHER = "other"


HOSTS: Mapping[ServerKind, str] = {
    ServerKind.LLAMA_CPP: "llama.cpp",
    ServerKind.VLLM: "vllm",
    ServerKind.VLLM_RS: "vllm-rs",
}
"""Whose preparation is known; the others are compared with transformers' own."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """`template` is the text it says it serves, None where it does not say; `special_tokens` by the names of
    their variables; `caps` its nine capabilities; `tool_parser` the parser that it was started with."""

    kind: ServerKind
    version: str = ""
    model: str = ""
    template: str | None = None
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    caps: Mapping[str, bool] = field(default_factory=dict)
    tool_parser: str = ""


def find_server(server: Server) -> FoundServer:
    """Ask it. Raises ServerSilent where nobody answers."""
    models = server.get("/v1/models")
    listed = models.fields.get("data")
    first = listed[0] if isinstance(listed, list) and listed else None
    facts = first if isinstance(first, dict) else {}
    model, owner = _text(facts.get("id")), _text(facts.get("owned_by"))
    props = server.get("/props")
    if props.fine and ("chat_template" in props.fields or "build_info" in props.fields):
        return _llama_server(props.fields, model)
    if owner == "sglang":
        info = server.get("/get_server_info").fields or server.get("/server_info").fields
        parser = _text(info.get("tool_call_parser"))
        return FoundServer(ServerKind.SGLANG, _text(info.get("version")), model, tool_parser=parser)
    version = _text(server.get("/version").fields.get("version"))
    kind = (ServerKind.VLLM if version else ServerKind.VLLM_RS) if owner == "vllm" else ServerKind.OTHER
    return FoundServer(kind, version, model)


def _llama_server(props: Mapping[str, JSON], model: str) -> FoundServer:
    template = props.get("chat_template")
    caps = props.get("chat_template_caps")
    tokens = {name: props.get(name) for name in ("bos_token", "eos_token")}
    return FoundServer(
        ServerKind.LLAMA_CPP,
        _text(props.get("build_info")),
        model,
        template if isinstance(template, str) and template else None,
        {name: token for name, token in tokens.items() if isinstance(token, str)},
        {name: value for name, value in caps.items() if isinstance(value, bool)}
        if isinstance(caps, dict)
        else {},
    )


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""
