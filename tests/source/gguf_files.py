"""GGUFs for tests: written by the gguf package, or packed by hand where it would refuse."""

from __future__ import annotations

import struct
from pathlib import Path

TOKENS = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "hello", "wörld", "<tool>", ""]
TYPES = [2, 3, 3, 3, 3, 1, 1, 4, 5]


def write_gguf(
    path: Path,
    *,
    big_endian: bool = False,
    template="{{ x }}",
    shards: int = 0,
    pad: int = 0,
    normal: tuple[str, ...] = (),
    **more,
) -> Path:
    """A vocabulary GGUF as converters write it: templates behind the tokens. Tokens in `normal` are of that
    type; `more` are further keys."""
    import gguf

    order = gguf.GGUFEndian.BIG if big_endian else gguf.GGUFEndian.LITTLE
    options = {"split_max_tensors": 1} if shards else {}
    writer = gguf.GGUFWriter(path, "llama", endianess=order, **options)
    writer.add_type("model")
    writer.add_name("tiny")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(TOKENS)
    writer.add_token_scores([float(n) for n in range(len(TOKENS))])
    writer.add_token_types(
        [1 if token in normal else kind for token, kind in zip(TOKENS, TYPES, strict=True)]
    )
    writer.add_token_merges(["h e", "l l"] * 3_000)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_eot_token_id(4)
    writer.add_pad_token_id(pad)
    for key, value in more.items():
        getattr(writer, f"add_{key}")(value)
    if template is not None:
        writer.add_chat_template(template)
    if shards:
        _add_tensors(writer, shards)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    if shards:
        writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tensors(writer, count: int) -> None:
    import numpy

    for number in range(count):
        writer.add_tensor(f"t{number}", numpy.zeros(4, dtype=numpy.float32))


def text(value: str | bytes, order: str = "<") -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack(f"{order}Q", len(data)) + data


def pair(key: str | bytes, kind: int, value: bytes, order: str = "<") -> bytes:
    return text(key, order) + struct.pack(f"{order}I", kind) + value


def strings(items, order: str = "<") -> bytes:
    return struct.pack(f"{order}IQ", 8, len(items)) + b"".join(text(item, order) for item in items)


def packed(*pairs: bytes, version: int = 3, order: str = "<", count: int | None = None) -> bytes:
    """A GGUF of these pairs, by hand."""
    header = struct.pack(f"{order}IQQ", version, 0, len(pairs) if count is None else count)
    return b"GGUF" + header + b"".join(pairs)
