"""The head of tokenizer.json is what json.load gives, read piece by piece."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.errors import TargetError
from chatlint.limits import TOKENIZER_MEMBER_CHARACTERS
from chatlint.source import tokenizer_head
from chatlint.source.tokenizer_head import WANTED, read_head
from tests.source.model_files import BYTE_LEVEL, tokenizer_json


class Pieces:
    """Bytes in pieces of a given size, and how many were asked for."""

    def __init__(self, content: bytes, step: int = 1 << 30) -> None:
        self.size = len(content)
        self.taken = 0
        self._content, self._step = content, step

    def read(self, count):
        piece = self._content[self.taken : self.taken + min(count, self._step)]
        self.taken += len(piece)
        return piece

    def close(self):
        pass


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    members=st.lists(st.tuples(st.sampled_from([*WANTED, "model", "version", "é"]), JSON_VALUES), max_size=7),
    step=st.integers(1, 40),
    indent=st.sampled_from([None, 1]),
    ascii_only=st.booleans(),
)
def test_members_are_those_of_the_file(members, step, indent, ascii_only):
    values = dict(members)
    content = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = read_head(Pieces(content, step), "tokenizer.json")
    assert all(values[name] == value for name, value in found.items())
    assert "model" not in found
    assert found.keys() >= WANTED & values.keys()


def test_reading_stops_before_the_model():
    model = {"vocab": {f"token {n}": n for n in range(200_000)}}
    pieces = Pieces(json.dumps(tokenizer_json(BYTE_LEVEL) | {"model": model}).encode())
    assert read_head(pieces, "tokenizer.json")["post_processor"] == BYTE_LEVEL
    assert pieces.taken < 200_000 < 4_000_000 < pieces.size


def test_members_behind_the_model_are_found():
    model = {"vocab": {f'tok"en {n} {{': n for n in range(50_000)}, "merges": [["a\\", "]"]]}
    content = json.dumps({"added_tokens": [], "model": model, "post_processor": BYTE_LEVEL}).encode()
    assert read_head(Pieces(content), "tokenizer.json")["post_processor"] == BYTE_LEVEL


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"[1]", "Expecting a JSON object"),
        (b'{"a": 1', "ends too early"),
        (b'{"a": 1 "b"', "ends too early, or is damaged"),
        (b'{"a" 1}', "ends too early"),
        (b'{"model": {"a": "b', "ends too early"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"1" * 5_000 + b"}", "not usable JSON"),
    ],
)
def test_what_is_no_tokenizer_is_said(content, said):
    with pytest.raises(TargetError, match=said):
        read_head(Pieces(content), "tokenizer.json")


@pytest.mark.parametrize(
    "start", [b'{"a": "', b'{"model": "', b'{"model": {"', b'{"a": [', b'{"added_tokens": "']
)
def test_endless_members_are_given_up(start, monkeypatch):
    monkeypatch.setattr(tokenizer_head, "TOKENIZER_MEMBER_CHARACTERS", TOKENIZER_MEMBER_CHARACTERS // 16)
    filler = b"1," if start.endswith(b"[") else b"x"
    pieces = Pieces(start + filler * TOKENIZER_MEMBER_CHARACTERS)
    in_model = start == b'{"model": {"'  # there a string is stepped over, and costs nothing
    with pytest.raises(TargetError, match="ends too early" if in_model else "too large"):
        read_head(pieces, "tokenizer.json")
    assert in_model or pieces.taken < TOKENIZER_MEMBER_CHARACTERS
