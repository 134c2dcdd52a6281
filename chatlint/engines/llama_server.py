"""llama.cpp's engine inside a running `llama-server`: it renders the template that it serves."""

from __future__ import annotations

from collections.abc import Sequence

from chatlint.conversation import JSON
from chatlint.engines.engine import EngineAbsent, EngineFailed, Job, Outcome
from chatlint.engines.server import Server, ServerSilent


class LlamaServer:
    """Raises EngineAbsent where nobody answers, or it is no llama-server."""

    name = "llama.cpp"
    host = "llama.cpp"

    def __init__(self, url: str) -> None:
        self._server = Server(url)
        try:
            props = self._server.get("/props")
        except ServerSilent as error:
            raise EngineAbsent(str(error)) from error
        self._template = props.fields.get("chat_template")
        if not props.fine or not isinstance(self._template, str):
            raise EngineAbsent(f"{self._server.url} is no llama-server: /props names no chat template")
        build = props.fields.get("build_info")
        self.version = build if isinstance(build, str) else ""

    def render_all(self, source: str, jobs: Sequence[Job]) -> tuple[Outcome, ...]:
        """One request for each job."""
        if not isinstance(self._template, str) or self._template.rstrip("\n") != source.rstrip("\n"):
            raise EngineFailed("it serves another template: start it with --chat-template-file")
        return tuple(map(self._rendered, jobs))

    def _rendered(self, job: Job) -> Outcome:
        body: dict[str, JSON] = {
            "messages": [dict(message) for message in job.conversation.messages],
            "add_generation_prompt": job.add_generation_prompt,
            "chat_template_kwargs": dict(job.conversation.template_kwargs),
        }
        if job.conversation.tools:
            body["tools"] = [dict(tool) for tool in job.conversation.tools]
        try:
            answer = self._server.post("/apply-template", body)
        except ServerSilent as error:
            raise EngineFailed(str(error)) from error
        prompt = answer.fields.get("prompt")
        if answer.fine and isinstance(prompt, str):
            return Outcome(prompt)
        return Outcome(None, answer.said)
