"""Which characters the model wrote: by the spans, and as `{% generation %}` says where a template has it."""

from __future__ import annotations

import json

import pytest

from chatlint.conversation import Conversation
from chatlint.infer.learn import learn
from chatlint.probe.trace import Trace
from chatlint.render.syntax import syntax_of
from chatlint.source.load import load
from chatlint.verify.mask import assistant_spans
from tests.source.model_files import added_token, tokenizer_json, write

TALK = (
    {"role": "system", "content": "Be brief"},
    {"role": "user", "content": "One"},
    {"role": "assistant", "content": "First"},
    {"role": "user", "content": "Two"},
    {"role": "assistant", "content": "Second"},
)
CALL = {"id": "abcdefghi", "type": "function", "function": {"name": "look", "arguments": {"at": "it"}}}
LOOP = (
    {"role": "user", "content": "One"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "abcdefghi", "content": "Seen"},
    {"role": "assistant", "content": "Done"},
)


def written(target, messages):
    with Trace(load(target).template()) as trace:
        output = learn(trace, syntax_of(trace.template.text))
        seen = trace.ask_conversation("talk", Conversation(messages), add_generation_prompt=False)
        return [seen.text[start:end] for start, end in assistant_spans(trace, output, seen)]


@pytest.mark.parametrize(
    ("target", "end"),
    [
        ("corpus:chatml", "<|im_end|>"),
        ("corpus:qwen3", "<|im_end|>"),
        ("corpus:llama-3", "<|eot_id|>"),
        ("corpus:mistral-v3", "</s>"),
    ],
)
def test_answers_with_their_ends(target, end):
    found = written(target, TALK)
    assert [text.rpartition(end)[1:] for text in found] == [(end, "")] * 2
    assert [text.removesuffix(end).rpartition("\n")[2].strip() for text in found] == ["First", "Second"]


def test_calls_are_written_and_results_are_not():
    call, answer = written("corpus:qwen3", LOOP)
    assert '"name": "look"' in call
    assert (
        call.partition("<tool_call>")[0] == "<think>\n\n</think>\n\n"
    )  # the template says so, so it was written
    assert call.endswith("</tool_call><|im_end|>")
    assert "Seen" not in call + answer


def test_where_no_mark_ends_a_message_its_text_does(tmp_path):
    template = tmp_path / "plain.jinja"
    template.write_text(
        "{% for m in messages %}{{ m.role | upper }}: {{ m.content }}\n{% endfor %}"
        "{% if add_generation_prompt %}ASSISTANT: {% endif %}"
    )
    assert [text.strip() for text in written(str(template), TALK)] == ["First", "Second"]


GENERATION = (
    "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|im_end|>"
    "{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def test_the_same_as_transformers_where_the_author_says_it(tmp_path, chatlint, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("transformers", reason="needs the extra `oracle`")
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": added_token("<s>"),
        "eos_token": added_token("<|im_end|>"),
        "unk_token": "<unk>",
        "chat_template": GENERATION,
    }
    folder = write(tmp_path / "model", {"tokenizer.json": tokenizer_json(), "tokenizer_config.json": config})
    (tmp_path / "talk.json").write_text(json.dumps(TALK))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    expected = tokenizer.apply_chat_template(list(TALK), return_assistant_tokens_mask=True, return_dict=True)
    done = chatlint("render", folder, "--mask", "--messages", tmp_path / "talk.json", "--format", "json")
    assert done.status == 0
    found = json.loads(done.out)
    assert found["ids"] == list(expected["input_ids"])
    assert found["mask"] == found["generation_mask"] == list(expected["assistant_masks"])
    assert sum(found["mask"]) > 2


def test_a_block_that_takes_in_the_header_is_told(tmp_path, chatlint):
    wide = GENERATION.replace(
        "<|{{ m.role }}|>{% if m.role == 'assistant' %}{% generation %}",
        "{% if m.role == 'assistant' %}{% generation %}<|assistant|>",
    ).replace("{% else %}", "{% else %}<|{{ m.role }}|>")
    config = {"bos_token": "<s>", "eos_token": "<|im_end|>", "chat_template": wide}
    folder = write(tmp_path / "model", {"tokenizer.json": tokenizer_json(), "tokenizer_config.json": config})
    done = chatlint("render", folder, "--mask")
    assert "its {% generation %} leaves out 0 of them, and takes in" in done.out
