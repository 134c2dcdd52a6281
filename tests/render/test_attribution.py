"""Ground truth: every letter of every input string is replaced by a code point of its own, so that each character of a
prompt tells where it came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from chatlint.conversation import Conversation
from chatlint.render.rendered import RenderRequest
from chatlint.render.renderer import open_renderer
from chatlint.text import Input, Prompt, pointer_token
from tests.conftest import SHARED
from tests.render.conversations import CONVERSATIONS
from tests.render.plain import render, template

TEMPLATES = sorted((SHARED / "templates").glob("*.jinja"))
STRUCTURE = {"role", "type", "id", "tool_call_id", "name"}
FIRST = 0x20000
"""CJK Extension B: letters without case, which no template knows."""


class Marked:
    """A conversation whose letters are unique; `places` tells where each one is."""

    def __init__(self, conversation: Conversation) -> None:
        self.places: dict[str, tuple[str, int]] = {}
        self.conversation = Conversation(
            self.mark(conversation.messages, "/messages"),
            self.mark(conversation.tools, "/tools"),
            self.mark(conversation.documents, "/documents"),
            conversation.template_kwargs,
        )

    def mark(self, value, pointer: str, name: str = ""):
        if isinstance(value, str) and name not in STRUCTURE:
            return "".join(self.letter(character, pointer, at) for at, character in enumerate(value))
        if isinstance(value, Mapping):
            return {
                key: self.mark(item, f"{pointer}/{pointer_token(key)}", key) for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return type(value)(self.mark(item, f"{pointer}/{index}") for index, item in enumerate(value))
        return value

    def letter(self, character: str, pointer: str, offset: int) -> str:
        if not character.isalpha():
            return character
        letter = chr(FIRST + len(self.places))
        self.places[letter] = (pointer, offset)
        return letter


def attributed(prompt: Prompt, marked: Marked) -> Iterator[str]:
    for span in prompt.spans:
        for index, character in enumerate(prompt.piece(span)):
            if character not in marked.places:
                continue
            pointer, offset = marked.places[character]
            if not isinstance(span.origin, Input):
                yield "lost"
            elif span.origin.offset is None:
                yield "derived" if span.origin.pointer == pointer else "wrong"
            else:
                found = (span.origin.pointer, span.origin.offset + index)
                yield "exact" if found == (pointer, offset) else "wrong"


def count(paths: list[Path]) -> Counter[str]:
    counted: Counter[str] = Counter()
    conversations = [Marked(conversation) for conversation in CONVERSATIONS.values()]
    for path in paths:
        renderer = open_renderer(template(path.read_bytes().decode(), bos_token="<s>", eos_token="</s>"))
        for marked in conversations:
            rendered = renderer.render(RenderRequest(marked.conversation))
            if rendered.prompt is not None:
                counted.update(attributed(rendered.prompt, marked))
    return counted


def test_every_letter_of_a_sample_is_attributed(shared: Path) -> None:
    counted = count(TEMPLATES[::12])
    assert counted["wrong"] == counted["lost"] == 0, counted
    assert counted["exact"] > 15_000
    assert counted["derived"] < counted["exact"] / 200, counted


@pytest.mark.sweep
def test_every_letter_is_attributed(shared: Path) -> None:
    counted = count(TEMPLATES)
    print(counted)
    assert counted["wrong"] == counted["lost"] == 0, counted
    assert counted["derived"] < counted["exact"] / 200, counted


def test_copies_keep_the_pointer_of_the_field_that_was_given() -> None:
    conversation = Conversation(({"role": "assistant", "content": "a", "reasoning": "why"},))
    source = "{{ messages[0].thinking }}|{{ messages[0].reasoning_content }}|{{ messages[0].reasoning }}"
    prompt = render(source, conversation).prompt
    assert prompt is not None
    assert prompt.text == "why|why|why"
    origins = [span.origin for span in prompt.spans if isinstance(span.origin, Input)]
    assert origins == [Input("/messages/0/reasoning", 0)] * 3
