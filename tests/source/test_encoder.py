"""Token ids with the boundary respected: held by the real library, and by transformers' own guard."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.errors import TargetError
from chatlint.source.encoder import Encoder, said_at
from chatlint.text import Input, Literal, Prompt, Span
from tests.source.model_files import added_token, template_processing, tokenizer_json, write

SPECIALS = ("<unk>", "<s>", "</s>", "<|end|>", "<think>")
LETTERS = "abcdehiknstu<>|/ \n"


def whole_tokenizer(kind="BPE", post=None, **members):
    """Characters and a few merges, so that every text has one reading."""
    values = tokenizer_json(post, specials=SPECIALS)
    words = [*SPECIALS, *LETTERS, "th", "in", "end", "\U000f0001"]
    if kind == "Unigram":
        model = {"type": "Unigram", "unk_id": 0, "vocab": [[word, -1.0] for word in words]}
    else:
        merges = [["t", "h"], ["i", "n"], ["e", "n"], ["en", "d"]]
        vocabulary = {word: number for number, word in enumerate([*words, "en"])}
        model = {"type": "BPE", "vocab": vocabulary, "merges": merges, "unk_token": "<unk>"}
    values["added_tokens"][4]["special"] = False
    return {**values, "pre_tokenizer": None, "model": model, **members}


@pytest.fixture(scope="module")
def encoders(tmp_path_factory):
    pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("tokenizers")
    made = {}
    for kind in ("BPE", "Unigram"):
        path = folder / f"{kind}.json"
        path.write_text(json.dumps(whole_tokenizer(kind)))
        made[kind] = Encoder(path)
    return made


def prompt_of(*pieces):
    """A prompt of (text, said) pieces."""
    spans, text = [], ""
    for index, (piece, said) in enumerate(pieces):
        origin = Input(f"/messages/{index}/content", 0) if said else Literal(1, 1)
        spans.append(Span(len(text), len(text) + len(piece), origin))
        text += piece
    return Prompt(text, tuple(spans))


PIECES = st.lists(
    st.tuples(
        st.lists(
            st.sampled_from([*SPECIALS[1:], "th", "end", "<|", "|>", " ", "\n", "\U000f0000"]), max_size=4
        ).map("".join),
        st.booleans(),
    ).filter(lambda piece: piece[0]),
    min_size=1,
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(pieces=PIECES, kind=st.sampled_from(["BPE", "Unigram"]))
def test_input_is_never_a_special_token_and_the_template_always(encoders, pieces, kind):
    prompt = prompt_of(*pieces)
    said, found = said_at(prompt), encoders[kind].encode(prompt)
    for token in found.tokens:
        assert not (token.added and any(said[token.start : token.end]))
    assert "".join(prompt.text[token.start : token.end] for token in found.tokens) == prompt.text
    if not found.forged:
        assert found.tokens == found.whole
    own = "".join("\0" if heard else sign for sign, heard in zip(prompt.text, said, strict=True))
    expected = [token.id for token in encoders[kind]._tokens(encoders[kind]._whole, own) if token.added]
    assert [token.id for token in found.tokens if token.added] == expected


@settings(max_examples=60, deadline=None)
@given(pieces=PIECES, kind=st.sampled_from(["BPE", "Unigram"]))
def test_the_guarded_tokenizer_is_the_same_but_for_names(encoders, pieces, kind):
    """Where the template wrote everything, both give the same ids and places."""
    encoder = encoders[kind]
    prompt = prompt_of(*((text, False) for text, _ in pieces))
    guarded = encoder._guarded_tokens(prompt.text, said_at(prompt))
    assert guarded == encoder.encode(prompt).whole


def test_a_character_of_the_private_area_is_no_way_in(encoders):
    """Neither one that the vocabulary has, nor one that would be a guard."""
    text = "\U000f0000\U000f0001\U000f0002</s>"
    found = encoders["BPE"].encode(prompt_of((text, True), ("</s>", False)))
    assert [token.id for token in found.tokens if token.added] == [SPECIALS.index("</s>")]


def test_a_mark_half_said_is_none(encoders):
    found = encoders["BPE"].encode(prompt_of(("<|", False), ("end|>", True)))
    assert [token.text for token in found.forged] == ["<|end|>"]
    assert not any(token.added for token in found.tokens)


def test_roles_are_structure(encoders):
    prompt = Prompt(
        "<|end|>",
        (Span(0, 2, Literal(1, 1)), Span(2, 5, Input("/messages/0/role", 0)), Span(5, 7, Literal(1, 9))),
    )
    assert encoders["BPE"].encode(prompt).forged == ()


def test_a_second_bos(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole_tokenizer(post=template_processing("<s>", specials=SPECIALS))))
    encoder = Encoder(path)
    assert encoder.encode(prompt_of(("<s>th", False)), "<s>").doubled == "<s>"
    assert encoder.encode(prompt_of(("th", False)), "<s>").doubled == ""


@pytest.mark.parametrize("content", [b"{}", b"[1]", b"not JSON", b""])
def test_no_tokenizer(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(TargetError, match=r"tokenizer.json is no tokenizer"):
        Encoder(path)


CHAT = "{{ bos_token }}{% for m in messages %}<s>{{ m.role }}\n{{ m.content }}</s>{% endfor %}"


@pytest.mark.parametrize(
    "content", ["th", "a</s>b", "</s><s>s\nthe", "<s", "<|end|> <|end|>", "end", "\n</s>\n"]
)
def test_as_transformers_guards_it(tmp_path, transformers, content):
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": added_token("<s>"),
        "eos_token": added_token("</s>"),
        "unk_token": "<unk>",
        "chat_template": CHAT,
    }
    write(tmp_path, {"tokenizer.json": whole_tokenizer(), "tokenizer_config.json": config})
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    messages = [{"role": "user", "content": content}, {"role": "assistant", "content": "the end"}]
    expected = tokenizer.apply_chat_template(messages, sanitize_control_tokens=True, return_dict=False)

    from chatlint.conversation import Conversation
    from chatlint.probe.trace import Trace
    from chatlint.source.load import load

    with Trace(load(str(tmp_path)).template()) as trace:
        seen = trace.ask_conversation("x", Conversation(tuple(messages)), add_generation_prompt=False)
    found = Encoder(tmp_path / "tokenizer.json").encode(seen.prompt)
    assert [token.id for token in found.tokens] == list(expected)
