"""Real transformers as the oracle: `apply_chat_template` of a tokenizer that holds nothing but special tokens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime

import pytest

from chatlint.conversation import Conversation
from chatlint.render.rendered import FIXED_CLOCK

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")


class _FixedClock(datetime):
    @classmethod
    def now(cls, tz=None):
        return FIXED_CLOCK


class Oracle:
    """Prompts, or exceptions' types and messages, of the real `apply_chat_template`."""

    def __init__(self) -> None:
        pytest.importorskip("transformers", reason="needs the extra `oracle`")
        from tokenizers import Tokenizer, models
        from transformers import PreTrainedTokenizerFast
        from transformers.utils import chat_template_utils

        chat_template_utils.datetime = _FixedClock
        self._tokenizer = PreTrainedTokenizerFast
        self._empty = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
        self._made: dict[str, object] = {}

    def tokenizer(self, tokens: Mapping[str, str]):
        key = repr(tokens)
        if key not in self._made:
            self._made[key] = self._tokenizer(tokenizer_object=self._empty, **tokens)
        return self._made[key]

    def __call__(
        self,
        source: str,
        conversation: Conversation,
        generation: bool = True,
        tokens: Mapping[str, str] | None = None,
        **options: object,
    ) -> str | tuple[str, str]:
        try:
            return self.tokenizer(tokens or {}).apply_chat_template(
                list(conversation.messages),
                tools=None if conversation.tools is None else list(conversation.tools),
                documents=None if conversation.documents is None else list(conversation.documents),
                chat_template=source,
                add_generation_prompt=generation,
                tokenize=False,
                **conversation.template_kwargs,
                **options,
            )
        except RecursionError:
            return "RecursionError", "maximum recursion depth exceeded"  # Python's wording varies
        except Exception as error:
            return type(error).__name__, str(error)

    def generation_spans(self, source: str, conversation: Conversation) -> list[tuple[int, int]]:
        from transformers.utils.chat_template_utils import render_jinja_template

        _, spans = render_jinja_template(
            [list(conversation.messages)], chat_template=source, return_assistant_tokens_mask=True
        )
        return spans[0]
