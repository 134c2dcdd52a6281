"""The key-value walk: what the gguf package reads, and nothing but TargetError for what is damaged."""

from __future__ import annotations

import random
import struct
import tracemalloc
from contextlib import closing
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint import limits
from chatlint.errors import TargetError
from chatlint.source.folder import FileStream
from chatlint.source.gguf import Texts, read_metadata
from chatlint.source.load import load
from tests.source.gguf_files import TOKENS, TYPES, packed, pair, strings, text, write_gguf

gguf = pytest.importorskip("gguf")


class Chunks:
    """A byte stream that gives what it has in pieces, and counts them."""

    def __init__(self, content: bytes, step: int = 1 << 30, *, sized: bool = True) -> None:
        self.size = len(content) if sized else None
        self.taken = 0
        self._file, self._step = BytesIO(content), step

    def read(self, count):
        piece = self._file.read(min(count, self._step))
        self.taken += len(piece)
        return piece

    def close(self):
        pass


def walk(content: bytes, step: int = 1 << 30, *, sized: bool = True):
    return read_metadata(Chunks(content, step, sized=sized), "m.gguf")


def of_file(path):
    with closing(FileStream(path)) as stream:
        return read_metadata(stream, path.name)


def seen(value):
    """A value of ours in the shape that the oracle gives."""
    if isinstance(value, Texts):
        return [value.text(index) for index in range(len(value))]
    return list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def oracle(path) -> dict[str, object]:
    reader = gguf.GGUFReader(path)
    return {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}


@pytest.mark.parametrize("big_endian", [False, True])
def test_values_are_those_of_the_gguf_package(big_endian, tmp_path):
    path = write_gguf(
        tmp_path / "m.gguf",
        big_endian=big_endian,
        template=[{"name": "default", "template": "D é"}, {"name": "tool_use", "template": "T"}],
        add_bos_token=True,
        context_length=4096,
        layer_norm_rms_eps=1e-5,
        file_type=7,
        languages=["en", "fr"],
    )
    metadata = of_file(path)
    assert metadata.big_endian is big_endian
    real = oracle(path)
    assert metadata.values.keys() == real.keys()
    for key, value in real.items():
        if key != "tokenizer.ggml.merges":
            assert seen(metadata.values[key]) == value, key
    assert metadata.values["tokenizer.ggml.merges"] is None  # 6,000 strings that nobody asks for
    assert metadata.section_bytes <= path.stat().st_size


@pytest.mark.parametrize("big_endian", [False, True])
def test_version_2_has_the_same_layout(big_endian, tmp_path):
    path = write_gguf(tmp_path / "m.gguf", big_endian=big_endian)
    content = bytearray(path.read_bytes())
    content[4:8] = struct.pack(">I" if big_endian else "<I", 2)
    assert walk(bytes(content)).version == 2
    assert walk(bytes(content)).text("tokenizer.chat_template") == "{{ x }}"


@given(
    texts=st.lists(st.text(max_size=9), max_size=20),
    step=st.integers(1, 50),
    sized=st.booleans(),
    order=st.sampled_from("<>"),
)
def test_pieces_of_any_size_read_the_same(texts, step, sized, order):
    content = packed(
        pair("tokenizer.ggml.tokens", 9, strings(texts, order), order),
        pair("skipped", 9, strings([f"{n} {n}" for n in range(5_000)], order), order),
        pair("numbers", 9, struct.pack(f"{order}IQ3h", 3, 3, 1, -2, 3), order),
        pair("tokenizer.chat_template", 8, text("é" * 20, order), order),
        pair("flag", 7, b"\1", order),
        order=order,
    )
    metadata = walk(content, step if step > 5 else step * 1000, sized=sized)
    assert seen(metadata.values["tokenizer.ggml.tokens"]) == texts
    assert metadata.values["numbers"] == (1, -2, 3)
    assert metadata.text("tokenizer.chat_template") == "é" * 20
    assert metadata.flag("flag") is True
    assert metadata.values["skipped"] is None
    assert metadata.section_bytes == len(content)


@given(st.lists(st.text(st.sampled_from("ab\0\1\2"), max_size=4), min_size=1, max_size=30))
def test_tokens_are_found_by_their_text(texts):
    # Bytes like 0 and 1 in the texts look like length prefixes: an index must be one of a whole string.
    vocabulary = walk(packed(pair("tokenizer.ggml.tokens", 9, strings(texts)))).texts("tokenizer.ggml.tokens")
    for wanted in [*texts, "c", "abab"]:
        assert vocabulary.index(wanted) == (texts.index(wanted) if wanted in texts else None)
    assert vocabulary.text(len(texts)) is None
    assert vocabulary.text(-1) is None


def test_no_more_is_read_than_a_chunk_beyond_the_section():
    content = packed(pair("tokenizer.chat_template", 8, text("x"))) + bytes(20_000_000)
    stream = Chunks(content)
    read_metadata(stream, "m.gguf")
    assert stream.taken <= 1 << 20


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"GG", "truncated"),
        (b"GGUF", "truncated"),
        (b"GGML\0\0\0\0", "not GGUF"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS pointer"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b'{"error": "x"}', "is JSON"),
        (packed(version=1), "version 1"),
        (packed(version=9), "version 9"),
        (packed(count=1 << 40), "metadata keys"),
        (packed(count=2), "truncated"),
        (packed(pair("a", 4, bytes(4)), pair("a", 4, bytes(4))), "stands in it twice"),
        (packed(pair("a", 99, b"")), "unknown type"),
        (packed(pair("a", 9, struct.pack("<IQ", 99, 1))), "unknown type"),
        (packed(pair("a", 9, struct.pack("<IQ", 9, 1))), "unknown type"),
        (packed(pair("a", 8, struct.pack("<Q", 1 << 62))), "the limit is"),
        (packed(pair("a", 8, struct.pack("<Q", 100))), "needs byte"),
        (packed(pair("a", 9, struct.pack("<IQ", 4, 1 << 62))), "the limit is"),
        (packed(pair("a", 9, struct.pack("<IQ", 4, 1000))), "needs byte"),
        (packed(pair("a", 9, struct.pack("<IQQ", 8, 5000, (1 << 64) - 1))), "beyond the limit"),
        (
            packed(pair("tokenizer.ggml.tokens", 9, struct.pack("<IQQ", 8, 1, (1 << 63) - 9))),
            "beyond the limit",
        ),
        (packed(pair("", 4, bytes(4))), "a key of 0 bytes"),
        (packed(pair("k" * 70_000, 4, bytes(4))), "a key of 70000 bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("sized", [True, False])
def test_faults_are_said(content, said, sized):
    with pytest.raises(TargetError, match=said):
        walk(content, sized=sized)


def test_a_vocabulary_that_never_ends_is_given_up(monkeypatch):
    class Endless:
        size = None

        def __init__(self):
            claim = struct.pack("<IQ", 8, limits.GGUF_ARRAY_ITEMS)
            self.start = packed(pair("tokenizer.ggml.tokens", 9, claim))

        def read(self, count):
            start, self.start = self.start, b""
            return start or text("x" * 1016) * 1024

        def close(self):
            pass

    monkeypatch.setattr("chatlint.source.gguf.GGUF_KEPT_BYTES", 8_000_000)
    with pytest.raises(TargetError, match="longer than"):
        read_metadata(Endless(), "m.gguf")


def small(tmp_path) -> bytes:
    import gguf

    writer = gguf.GGUFWriter(tmp_path / "small.gguf", "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(TOKENS)
    writer.add_token_types(TYPES)
    writer.add_eos_token_id(2)
    writer.add_chat_template([{"name": "default", "template": "{{ x }}"}, {"name": "rag", "template": "y"}])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return (tmp_path / "small.gguf").read_bytes()


def survives(tmp_path, content: bytes) -> None:
    """Reading, and all that is made of it, succeeds or is a TargetError."""
    path = tmp_path / "fuzzed.gguf"
    path.write_bytes(content)
    try:
        package = load(str(path))
    except TargetError:
        return
    assert package.templates


def test_every_truncation(tmp_path):
    content = small(tmp_path)
    for length in range(len(content)):
        with pytest.raises(TargetError):
            walk(content[: min(length, len(content) - 1)])


def test_byte_flips(tmp_path):
    content, dice = small(tmp_path), random.Random(7)
    for _ in range(1_500):
        flipped = bytearray(content)
        for _ in range(dice.choice((1, 1, 2, 5))):
            flipped[dice.randrange(len(flipped))] = dice.randrange(256)
        survives(tmp_path, bytes(flipped))


def test_huge_lengths_everywhere_cost_no_memory(tmp_path):
    content = small(tmp_path)
    tracemalloc.start()
    for huge in (1 << 31, 1 << 40, (1 << 63) - 1, (1 << 64) - 1):
        for at in range(4, len(content) - 8, 3):
            survives(tmp_path, content[:at] + struct.pack("<Q", huge) + content[at + 8 :])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000


@pytest.mark.sweep
def test_real_vocabularies(shared):
    """The gguf package needs 20 s for what the walk does in 0.06."""
    for path in sorted((shared / "gguf").glob("*.gguf")):
        metadata, real = of_file(path), gguf.GGUFReader(path)
        assert metadata.values.keys() == {name for name in real.fields if not name.startswith("GGUF.")}
        for key, value in metadata.values.items():
            if value is not None and not isinstance(value, Texts):
                assert seen(value) == real.fields[key].contents(), key
        vocabulary = metadata.texts("tokenizer.ggml.tokens")
        field = real.fields["tokenizer.ggml.tokens"]
        for index in (0, 1, 1000, len(vocabulary) - 1):
            assert vocabulary.text(index) == bytes(field.parts[field.data[index]]).decode()
