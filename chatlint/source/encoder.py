"""Token ids of a prompt, by the real tokenizer, with the boundary between template and input respected.

Theory of operation. A tokenizer looks for special tokens first, wherever they stand, and splits the rest. In
a prompt that is wrong for what somebody said: spelled marks must stay text. So special tokens are looked for
in what the template wrote, alone. Where the input spells one, the prompt is encoded by a second tokenizer
that is the same but for the names of its special tokens: each is called by a character of a private area,
which stands in the text where the template wrote the token, and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from chatlint.conversation import JSON
from chatlint.errors import TargetError, UsageError
from chatlint.limits import TOKENIZER_HEAD_BYTES
from chatlint.records import dataclass
from chatlint.source.folder import read_file
from chatlint.text import Input, Prompt

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PRIVATE = range(0xF0000, 0x10FFFE)
_UNSAID = "\0"


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its id, its text as the vocabulary spells it, its place in the prompt (code points), and
    whether it is an added token, matched before anything else."""

    id: int
    text: str
    start: int
    end: int
    added: bool


@dataclass(frozen=True, slots=True)
class Encoding:
    """A prompt's tokens. `whole` are those of the text alone, without regard to who wrote it; `forged` those
    among them that the input, or input and template together, spell; `doubled` says that encoding with
    special tokens gives two BOS tokens at the start, by which text."""

    tokens: tuple[Token, ...]
    whole: tuple[Token, ...]
    forged: tuple[Token, ...]
    doubled: str


class Encoder:
    """The tokenizer of a `tokenizer.json`. Raises UsageError if the library is not installed, TargetError if
    the file is not one."""

    def __init__(self, path: Path) -> None:
        self._content = read_file(path, TOKENIZER_HEAD_BYTES)
        self._whole = _loaded(self._content, path.name)
        self._made: dict[frozenset[str], tuple[dict[int, str], Tokenizer]] = {}
        self._added = {
            token.content: number for number, token in self._whole.get_added_tokens_decoder().items()
        }

    def encode(self, prompt: Prompt, bos: str = "") -> Encoding:
        """The tokens of a prompt. `bos` is the text of the BOS token, to see whether there will be two."""
        whole = self._tokens(self._whole, prompt.text)
        said = said_at(prompt)
        forged = tuple(token for token in whole if token.added and any(said[token.start : token.end]))
        tokens = self._guarded_tokens(prompt.text, said) if forged else whole
        return Encoding(tokens, whole, forged, bos if self._doubles(prompt.text, bos) else "")

    def _tokens(self, tokenizer: Tokenizer, text: str) -> tuple[Token, ...]:
        """By `tokenizer`, which may be the guarded one. That of unknown text is an added token, too, but was
        not matched: it does not stand there."""
        encoded = tokenizer.encode(text, add_special_tokens=False)
        contents = {number: token.content for number, token in tokenizer.get_added_tokens_decoder().items()}
        return tuple(
            Token(
                number,
                str(self._whole.id_to_token(number) or ""),
                start,
                end,
                number in contents and contents[number] in text[start:end],
            )
            for number, (start, end) in zip(encoded.ids, encoded.offsets, strict=True)
        )

    def _guarded_tokens(self, text: str, said: Sequence[bool]) -> tuple[Token, ...]:
        """With special tokens only where the template wrote them."""
        guards, tokenizer = self._guard(text)
        unsaid = "".join(_UNSAID if heard else sign for sign, heard in zip(text, said, strict=True))
        pieces: list[str] = []
        places: list[int] = []
        at = 0
        for token in self._tokens(self._whole, unsaid):
            if token.added:
                pieces += [text[at : token.start], guards[token.id]]
                places += [*range(at, token.start), token.start]
                at = token.end
        pieces.append(text[at:])
        places += [*range(at, len(text)), len(text)]
        ends = dict(pairwise(places))
        guarded = self._tokens(tokenizer, "".join(pieces))
        return tuple(
            Token(one.id, one.text, places[one.start], ends.get(places[one.end - 1], len(text)), one.added)
            if one.end > one.start
            else Token(one.id, one.text, places[one.start], places[one.start], one.added)
            for one in guarded
        )

    def _doubles(self, text: str, bos: str) -> bool:
        number = self._added.get(bos)
        ids = self._whole.encode(text, add_special_tokens=True).ids
        return number is not None and ids[:2] == [number, number]

    def _guard(self, text: str) -> tuple[dict[int, str], Tokenizer]:
        """A character of a private area for each added token, and the tokenizer that knows them by these.
        Some vocabularies hold such characters, and so may the text: those are left out."""
        taken = frozenset(sign for sign in text if sign >= chr(_PRIVATE[0]))
        if taken not in self._made:
            free = (chr(code) for code in _PRIVATE if self._whole.token_to_id(chr(code)) is None)
            unused = (sign for sign in free if sign not in taken)
            guards = dict(zip(self._added.values(), unused, strict=False))
            self._made[taken] = guards, self._renamed(guards)
        return self._made[taken]

    def _renamed(self, guards: dict[int, str]) -> Tokenizer:
        names = {content: guards[number] for content, number in self._added.items()}
        values = json.loads(self._content)
        for token in values["added_tokens"]:
            token["content"] = names[token["content"]]
        model = values["model"]
        model["vocab"] = _renamed(model["vocab"], names)
        unknown = model.get("unk_token")
        model["unk_token"] = names.get(unknown, unknown)
        return _loaded(json.dumps(values).encode(), "the guarded tokenizer")


def said_at(prompt: Prompt) -> list[bool]:
    """For each character of a prompt whether somebody said it; roles and types are structure."""
    said = [False] * len(prompt.text)
    for span in prompt.spans:
        if isinstance(span.origin, Input) and not span.origin.pointer.endswith(("/role", "/type")):
            said[span.start : span.end] = [True] * (span.end - span.start)
    return said


def _renamed(vocabulary: JSON, names: dict[str, str]) -> JSON:
    """A model's vocabulary, by text or as a list of (text, score), with special tokens under their guards."""
    if isinstance(vocabulary, dict):
        return {names.get(str(text), str(text)): number for text, number in vocabulary.items()}
    assert isinstance(vocabulary, list)
    return [[names.get(str(text), text), *rest] for text, *rest in vocabulary]


def _loaded(content: bytes, name: str) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise UsageError(
            "token ids need the library `tokenizers`", hint="pip install 'chatlint-conformance[tokens]'"
        ) from error
    make: Callable[[bytes], Tokenizer] = Tokenizer.from_buffer
    try:
        return make(content)
    except Exception as error:  # the library raises its own kind for every fault
        raise TargetError(f"{name} is no tokenizer: {error}", hint="download the file again") from error
