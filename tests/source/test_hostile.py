"""Files of any shape: loading succeeds, or is refused with an error of ours."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.errors import ChatlintError
from chatlint.source.directory import JSON_FILES
from chatlint.source.load import load
from tests.source.model_files import (
    BYTE_LEVEL,
    added_token,
    decoder_entry,
    template_processing,
    tokenizer_json,
    write,
)

NAMES = st.sampled_from(
    [
        *("chat_template", "bos_token", "image_token", "extra_special_tokens", "additional_special_tokens"),
        *(
            "added_tokens_decoder",
            "added_tokens",
            "post_processor",
            "tokenizer_class",
            "eos_token_id",
            "text_config",
        ),
        *(
            "name",
            "template",
            "content",
            "id",
            "special",
            "type",
            "single",
            "SpecialToken",
            "Sequence",
            "processors",
        ),
        *(
            "special_tokens",
            "tokens",
            "cls",
            "sep",
            "add_bos_token",
            "pre_tokenizer",
            "default",
            "1",
            "99999999999",
        ),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(
        ["default", "ByteLevel", "TemplateProcessing", "BertProcessing", "Sequence", "LlamaTokenizer"]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)
FILES = st.dictionaries(
    st.sampled_from([*JSON_FILES, "tokenizer.json", "tokenizer.model"]),
    st.dictionaries(NAMES, VALUES, max_size=6) | VALUES,
    min_size=1,
    max_size=4,
)


@given(files=FILES, host=st.sampled_from(["transformers-5.24", "transformers-4.57"]))
def test_json_of_any_shape(files, host, tmp_path_factory):
    directory = tmp_path_factory.mktemp("model")
    write(directory, {"chat_template.jinja": "x", **files})
    package = load(str(directory), host=host)
    assert package.template().text == "x"
    for name in files:
        if name.endswith("config.json"):
            refused = [failure for failure in package.failures if failure.subject.startswith(name)]
            assert refused or any(file.path == name for file in package.files)


@pytest.mark.parametrize("name", ["tokenizer_config.json", "tokenizer.json"])
def test_damaged_bytes(name, tmp_path):
    dice = random.Random(name)
    content = {
        "tokenizer_config.json": {
            "chat_template": [{"name": "default", "template": 'é\n"x"'}, {"name": "rag", "template": "r"}],
            "bos_token": added_token("<s>"),
            "added_tokens_decoder": {"1": decoder_entry("<s>")},
        },
        "tokenizer.json": tokenizer_json(
            {"type": "Sequence", "processors": [BYTE_LEVEL, template_processing("<s>")]}
        ),
    }[name]
    whole = json.dumps(content, ensure_ascii=False).encode()
    write(tmp_path, {"chat_template.jinja": "x"})
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(dice.choice((1, 2, 6))):
            damaged[dice.randrange(len(damaged))] = dice.choice(b'"{}[],:\\0a\xff')
        damaged = damaged[: dice.choice((len(damaged), dice.randrange(len(damaged))))]
        assert load(str(write(tmp_path, {name: bytes(damaged)}))).template().text == "x"
        if name == "tokenizer_config.json":
            alone(tmp_path / name)


def alone(path):
    try:
        assert load(str(path)).templates
    except ChatlintError as error:
        assert "\n" not in error.message  # noqa: PT017 (refusing is as good as loading, but must be one line)
