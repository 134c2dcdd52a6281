"""Small model directories, written by tests."""

from __future__ import annotations

import json
from pathlib import Path

SPECIALS = ("<unk>", "<s>", "</s>", "<pad>", "<|im_end|>", "<image>", "<sep>")


def tokenizer_json(post_processor=None, *, specials=SPECIALS, pre_tokenizer=None, bpe=False, **members):
    """A whole tokenizer of a few words in the shape of `tokenizer.json`; `bpe` for the classes that rebuild it."""
    words = [*specials, *("helowrdxy" if bpe else ("hello", "world", "x", "y"))]
    vocabulary = {word: number for number, word in enumerate(words)}
    model = (
        {"type": "BPE", "vocab": vocabulary, "merges": []}
        if bpe
        else {"type": "WordLevel", "vocab": vocabulary}
    )
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": number,
                "content": text,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for number, text in enumerate(specials)
        ],
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer or {"type": "Whitespace"},
        "post_processor": post_processor,
        "decoder": None,
        "model": {**model, "unk_token": "<unk>"},
        **members,
    }


def template_processing(*before: str, after: tuple[str, ...] = (), specials=SPECIALS):
    """A TemplateProcessing that puts these tokens around a text."""

    def special(text, number):
        return {"SpecialToken": {"id": text, "type_id": number}}

    def sequence(name, number):
        return {"Sequence": {"id": name, "type_id": number}}

    single = [*(special(t, 0) for t in before), sequence("A", 0), *(special(t, 0) for t in after)]
    pair = [*single, *(special(t, 1) for t in before), sequence("B", 1), *(special(t, 1) for t in after)]
    named = {t: {"id": t, "ids": [specials.index(t)], "tokens": [t]} for t in (*before, *after)}
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": named}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}


def added_token(content, **more):
    """An AddedToken as tokenizer_config.json writes it."""
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    return {"__type": "AddedToken", "content": content, **flags, **more}


def decoder_entry(content, *, special=True):
    """An entry of `added_tokens_decoder`."""
    return {
        "content": content,
        "lstrip": False,
        "normalized": False,
        "rstrip": False,
        "single_word": False,
        "special": special,
    }


def write(directory: Path, files: dict[str, object]) -> Path:
    """Write files by path: bytes and str as they are, anything else as JSON."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return directory
