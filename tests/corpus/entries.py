"""The corpus as tests see it: each folder's files, and its template under real transformers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "corpus"
TOOLS = json.loads((CORPUS / "tools.json").read_text(encoding="utf-8"))


@dataclass
class Entry:
    """One folder of the corpus."""

    folder: Path
    name: str = field(init=False)

    def __post_init__(self):
        self.name = self.folder.name

    @cached_property
    def expected(self):
        return self._json("expected.json")

    @cached_property
    def config(self):
        return self._json("tokenizer_config.json")

    @cached_property
    def generation(self):
        return self._json("generation_config.json")

    @cached_property
    def templates(self) -> dict[str, str]:
        """Templates by name, files first, as transformers has it."""
        files = {path.stem: path for path in self.folder.glob("additional_chat_templates/*.jinja")}
        if (self.folder / "chat_template.jinja").exists():
            files["default"] = self.folder / "chat_template.jinja"
        if files:
            return {name: path.read_text(encoding="utf-8") for name, path in files.items()}
        return {item["name"]: item["template"] for item in self.config["chat_template"]}

    @property
    def added_tokens(self) -> dict[str, int]:
        return {
            token["content"]: int(number) for number, token in self.config["added_tokens_decoder"].items()
        }

    @property
    def special_tokens(self) -> dict[str, str]:
        return {
            key: value
            for key, value in self.config.items()
            if key.endswith("_token") and isinstance(value, str)
        }

    def render(self, messages, tools=None, generation=False, template="", **template_kwargs) -> str:
        """The prompt, as transformers renders it."""
        from transformers.utils.chat_template_utils import render_jinja_template

        name = template or ("tool_use" if tools is not None and "tool_use" in self.templates else "default")
        prompts, _ = render_jinja_template(
            [messages],
            tools=tools,
            chat_template=self.templates[name],
            add_generation_prompt=generation,
            **{**self.special_tokens, **template_kwargs},
        )
        return prompts[0]

    def _json(self, name):
        return json.loads((self.folder / name).read_text(encoding="utf-8"))


ENTRIES = [Entry(path.parent) for path in sorted(CORPUS.glob("*/expected.json"))]


def user(text):
    return {"role": "user", "content": text}


def assistant(content="", reasoning="", calls=(), ids=()):
    """An assistant message; calls are (name, arguments), ids are made up where none are given."""
    message = {"role": "assistant", "content": content}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = [
            {"id": (ids[index] if index < len(ids) else "") or f"call{index:05}", "type": "function",
             "function": {"name": name, "arguments": arguments}}
            for index, (name, arguments) in enumerate(calls)
        ]  # fmt: skip
    return message


def result(text, index=0, name="get_weather"):
    return {"role": "tool", "tool_call_id": f"call{index:05}", "name": name, "content": text}
