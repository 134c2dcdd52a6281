"""Stops, BOS and padding against whole packages: who is named, and how severe it is."""

from __future__ import annotations

import pytest

from chatlint.pipeline import check
from tests.source.gguf_files import write_gguf
from tests.source.model_files import decoder_entry, template_processing, tokenizer_json, write

NAMES = ["<unk>", "<s>", "</s>", "<|over|>", "<|user|>", "<|assistant|>", "<|system|>"]
CHAT = (
    "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def directory(tmp_path, template=CHAT, *, config=None, generation=None, adds=("<s>",), **tokens):
    tokens = {"bos_token": "<s>", "eos_token": "</s>", **tokens}
    decoder = {str(number): decoder_entry(name) for number, name in enumerate(NAMES)}
    settings = {"chat_template": template, "tokenizer_class": "PreTrainedTokenizerFast"}
    tokenizer = tokenizer_json(template_processing(*adds, specials=NAMES), specials=NAMES)
    files = {
        "tokenizer_config.json": {**settings, **tokens, "added_tokens_decoder": decoder},
        "tokenizer.json": tokenizer,
        "config.json": config,
        "generation_config.json": generation,
    }
    return str(write(tmp_path, {name: content for name, content in files.items() if content is not None}))


def judged(target, rule, **settings):
    report = check(target, select=(rule,), cache=False, **settings).targets[0]
    return [(finding.severity.value, finding.message) for finding in report.all_findings]


def reasons(target, rule):
    return [
        reason for _, reason in check(target, select=(rule,), cache=False).targets[0].templates[0].unevaluated
    ]


RULE = "turn-end-not-a-stop"


def test_declared_nowhere(tmp_path):
    found = judged(directory(tmp_path, config={"eos_token_id": 2}, generation={"eos_token_id": [2]}), RULE)
    assert found == [
        (
            "error",
            "after an answer stands '<|over|>', at which transformers, vLLM, SGLang, TGI and llama.cpp do not stop",
        )
    ]


def test_declared_where_two_engines_do_not_look(tmp_path):
    target = directory(
        tmp_path, config={"eos_token_id": 2}, generation={"eos_token_id": [2]}, eos_token="<|over|>"
    )
    assert judged(target, RULE) == [
        (
            "warning",
            "after an answer stands '<|over|>', at which transformers and TGI do not stop; "
            "vLLM, SGLang and llama.cpp do",
        )
    ]


def test_declared_where_one_does_not_look(tmp_path):
    target = directory(tmp_path, config={"eos_token_id": 3}, generation={"eos_token_id": 3})
    severity, message = judged(target, RULE)[0]
    assert severity == "info"
    assert "at which TGI and llama.cpp do not stop" in message


def test_declared_for_all(tmp_path):
    target = directory(
        tmp_path, config={"eos_token_id": 3}, generation={"eos_token_id": [3]}, eos_token="<|over|>"
    )
    assert judged(target, RULE) == []
    stops = check(target, cache=False).to_dict()["targets"][0]["templates"][0]["stops"]
    assert stops["engines"] == {
        engine: {"stops": True, "missing": []}
        for engine in ("transformers", "vLLM", "SGLang", "TGI", "llama.cpp")
    }


def test_no_verdict_without_the_files(tmp_path):
    target = directory(tmp_path)
    assert judged(target, RULE) == []
    assert reasons(target, RULE) == [
        "generation_config.json and config.json, which declare stops, are not here"
    ]


def test_a_mark_that_is_no_token(tmp_path):
    template = CHAT.replace("<|over|>", "<|end_of_all|>")
    target = directory(tmp_path, template, config={"eos_token_id": 2}, generation={"eos_token_id": [2]})
    assert judged(target, RULE) == [
        (
            "warning",
            "after an answer stands '<|end_of_all|>', which the tokenizer's files do not list as a token",
        )
    ]
    assert judged(target, "unknown-special-tokens") == [
        ("warning", "'<|end_of_all|>' is no token of this tokenizer")
    ]


def test_a_gguf_stops_where_llama_cpp_does(tmp_path):
    template = CHAT.replace("<|over|>", "<|im_end|>").replace(
        "<|{{ m.role }}|>", "<|im_start|>{{ m.role }}\n"
    )
    path = write_gguf(tmp_path / "m.gguf", template=template)
    assert judged(str(path), RULE) == [
        (
            "warning",
            "after an answer stands '<|im_end|>', at which vLLM and Ollama do not stop; llama.cpp does",
        )
    ]
    (finding,) = check(str(path), select=(RULE,), cache=False).targets[0].all_findings
    assert finding.fix == "Set `tokenizer.ggml.eos_token_id` to the id of '<|im_end|>'."


@pytest.mark.parametrize(
    ("template", "tokens", "found"),
    [
        (CHAT, {}, []),
        (
            CHAT.replace("{{ bos_token }}", ""),
            {},
            [("warning", "no prompt has '<s>', which encoding a text adds")],
        ),
        (CHAT.replace("{{ bos_token }}", ""), {"adds": ()}, []),
        (CHAT.replace("{{ bos_token }}", ""), {"bos_token": None}, []),
        ("\n" + CHAT, {"adds": ()}, []),  # bos-not-first has that
    ],
)
def test_no_bos(tmp_path, template, tokens, found):
    assert judged(directory(tmp_path, template, **tokens), "no-bos") == found


def test_double_bos(tmp_path):
    severity, message = judged(directory(tmp_path), "double-bos")[0]
    assert (severity, message) == (
        "warning",
        "the template writes '<s>', and encoding the prompt adds another",
    )
    assert judged(directory(tmp_path, adds=()), "double-bos") == []


def test_padding(tmp_path):
    assert judged(directory(tmp_path, pad_token="<|over|>"), "pad-is-turn-end") == [
        ("info", "'<|over|>' ends an answer and is the padding token")
    ]
    assert judged(directory(tmp_path, pad_token="</s>"), "pad-is-turn-end") == []


def test_double_bos_of_a_gguf(tmp_path):
    """llama.cpp takes the template's away where it adds one."""
    path = write_gguf(tmp_path / "m.gguf", template=CHAT.replace("<|over|>", "<|im_end|>"))
    assert judged(str(path), "double-bos") == [
        ("info", "the template writes '<s>', and the file has llama.cpp add another")
    ]
