"""What files declare about tokens, against whole packages: what is said, and how severe it is."""

from __future__ import annotations

import json

import pytest

from tests.rules.test_stops import CHAT, NAMES, directory, judged, reasons
from tests.source.gguf_files import write_gguf


@pytest.mark.parametrize(
    ("token", "template", "found"),
    [
        ("bos_token", CHAT, [("warning", "`bos_token` is printed, and the tokenizer has none")]),
        ("bos_token", CHAT.replace("{{ bos_token }}", "{{ bos_token or '' }}"), []),
        ("bos_token", CHAT.replace("{{ bos_token }}", "{% if bos_token %}{{ bos_token }}{% endif %}"), []),
        (
            "eos_token",
            CHAT.replace("<|over|>", "{{ eos_token }}"),
            [("warning", "`eos_token` is printed, and the tokenizer has none")],
        ),
    ],
)
def test_a_token_that_is_null(tmp_path, token, template, found):
    assert judged(directory(tmp_path, template, **{token: None}), "absent-special-token") == found


def test_a_token_that_only_a_tokenizer_could_name(tmp_path):
    path = tmp_path / "bare.jinja"
    path.write_text(CHAT.replace("<|over|>", "{{ eot_token }}"))
    assert judged(str(path), "absent-special-token") == []
    assert reasons(str(path), "absent-special-token") == [
        "the special tokens are assumed: no tokenizer file says which there are"
    ]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ((), (), []),
        (("<s>",), (), []),
        ((), ("</s>",), [("warning", "encoding the prompt puts '</s>' behind it")]),
        (("<s>",), ("<unk>",), [("warning", "encoding the prompt puts '<unk>' behind it")]),
    ],
)
def test_what_encoding_puts_behind(tmp_path, before, after, found):
    target = directory(tmp_path)
    tokenizer = json.loads((tmp_path / "tokenizer.json").read_text())
    step = tokenizer["post_processor"]
    items = [{"SpecialToken": {"id": name, "type_id": 0}} for name in (*before, *after)]
    step["single"] = [*items[: len(before)], {"Sequence": {"id": "A", "type_id": 0}}, *items[len(before) :]]
    step["special_tokens"] = {
        name: {"id": name, "ids": [NAMES.index(name)], "tokens": [name]} for name in (*before, *after)
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert judged(target, "eos-after-prompt") == found


def test_what_llama_cpp_puts_behind(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", template=GGUF_CHAT, add_eos_token=True)
    assert judged(str(path), "eos-after-prompt") == [("error", "encoding the prompt puts '</s>' behind it")]
    assert judged(str(write_gguf(tmp_path / "n.gguf", template=GGUF_CHAT)), "eos-after-prompt") == []


GGUF_CHAT = CHAT.replace("<|over|>", "<|im_end|>")


@pytest.mark.parametrize(
    ("config", "generation", "tokens", "found"),
    [
        ({"vocab_size": 7, "eos_token_id": 2}, {"eos_token_id": [2, 3]}, {}, []),
        (
            {"vocab_size": 7, "eos_token_id": 2, "pad_token_id": 7},
            {"eos_token_id": [2, 99]},
            {},
            [
                "eos_token_id 99 in generation_config.json is beyond the vocabulary, which has 7 ids",
                "pad_token_id 7 in config.json is beyond the vocabulary, which has 7 ids",
            ],
        ),
        ({"text_config": {"vocab_size": 3, "eos_token_id": 3}}, None, {}, ["eos_token_id 3 in config.json"]),
        ({"vocab_size": 7, "pad_token_id": -1}, None, {}, []),  # a way to say that there is none
        ({"eos_token_id": 99}, None, {}, []),  # nobody says how large the vocabulary is
        ({}, None, {"pad_token": "<pad>"}, ["pad_token '<pad>' is no token of this tokenizer"]),
    ],
)
def test_tokens_that_are_not_there(tmp_path, config, generation, tokens, found):
    target = directory(tmp_path, config=config, generation=generation, **tokens)
    said = [message for severity, message in judged(target, "no-such-token") if severity == "warning"]
    assert len(said) == len(found)
    for message, expected in zip(sorted(said), sorted(found), strict=True):
        assert message.startswith(expected.partition(" is beyond")[0])


def test_ids_of_a_gguf_that_are_not_there(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", template=GGUF_CHAT, pad=4711)
    assert [message for _, message in judged(str(path), "no-such-token")] == [
        "tokenizer.ggml.padding_token_id 4711 in m.gguf is beyond the vocabulary, which has 9 ids"
    ]


@pytest.mark.parametrize(
    ("config", "generation", "eos", "found"),
    [
        ([3], [3, 2], "<|over|>", False),
        ([3, 2], [3], "<|over|>", True),
        ([3], None, "<|over|>", False),
        ([3], [3], "</s>", False),  # llama.cpp does not stop: turn-end-not-a-stop says so
    ],
)
def test_files_that_disagree(tmp_path, config, generation, eos, found):
    target = directory(
        tmp_path,
        config={"eos_token_id": config},
        generation={"eos_token_id": generation} if generation else None,
        eos_token=eos,
    )
    said = judged(target, "stops-disagree")
    assert bool(said) == found
    if found:
        severity, message = said[0]
        assert severity == "info"
        assert "generation_config.json '<|over|>'; config.json '<|over|>', '</s>'" in message


@pytest.mark.parametrize(("eos", "severity"), [("</s>", "warning"), ("<|over|>", "info")])
def test_an_end_that_is_not_special(tmp_path, eos, severity):
    target = directory(tmp_path, eos_token=eos, generation={"eos_token_id": [2, 3]})
    for name in ("tokenizer.json", "tokenizer_config.json"):
        content = json.loads((tmp_path / name).read_text())
        tokens = content.get("added_tokens") or content["added_tokens_decoder"].values()
        for token in tokens:
            token["special"] = token["content"] != "<|over|>"
        (tmp_path / name).write_text(json.dumps(content))
    assert judged(target, "mark-not-special") == [
        (severity, "'<|over|>' ends turns, and the tokenizer does not flag it special")
    ]


def test_marks_of_a_gguf_that_are_normal_text(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", template=GGUF_CHAT, normal=("<|im_end|>",))
    assert judged(str(path), "mark-not-special") == [
        ("warning", "'<|im_end|>': in the vocabulary as normal text, not as control tokens")
    ]
    assert judged(str(write_gguf(tmp_path / "n.gguf", template=GGUF_CHAT)), "mark-not-special") == []


@pytest.mark.parametrize(
    ("mark", "found"),
    [
        ("<|im_end|>", []),  # eot_token_id
        (
            "</s>",
            [
                (
                    "info",
                    "after an answer stands '</s>', and the file declares '<|im_end|>' for that (eot_token_id)",
                )
            ],
        ),
        (
            "<|im_start|>",
            [
                (
                    "warning",
                    "after an answer stands '<|im_start|>', and the file declares '<|im_end|>' for that (eot_token_id)",
                )
            ],
        ),
    ],
)
def test_an_end_of_turn_that_nobody_writes(tmp_path, mark, found):
    path = write_gguf(tmp_path / "m.gguf", template=CHAT.replace("<|over|>", mark))
    assert judged(str(path), "eot-not-written") == found
