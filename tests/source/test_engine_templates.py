"""Which engine reads which template: the same directories, given to the readers that can be run here."""

from __future__ import annotations

from hashlib import sha256
from itertools import product

import pytest

from chatlint.source.engine_templates import CHATML, differ
from chatlint.source.load import load
from tests.source.gguf_files import write_gguf
from tests.source.model_files import tokenizer_json, write
from tests.source.test_precedence import CONFIG

TOOLS = [{"type": "function", "function": {"name": "f", "description": "", "parameters": {}}}]
FILES = {
    "jinja": {"chat_template.jinja": "JINJA"},
    "tool_use": {"additional_chat_templates/tool_use.jinja": "ADDED"},
    "legacy": {"chat_template.json": {"chat_template": "LEGACY"}},
    "processor": {"processor_config.json": {"processor_class": "P", "chat_template": "PROCESSOR"}},
    "bare processor": {"preprocessor_config.json": {}},
}
NAMED = [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T"}]
CONFIGS = {
    "none": {},
    "string": {"chat_template": "CONFIG"},
    "list": {"chat_template": NAMED},
    "list without default": {"chat_template": NAMED[1:]},
    "object": {"chat_template": {"default": "D", "rag": "R"}},
    "null": {"chat_template": None},
}
SETS = [set(), {"jinja"}, {"legacy"}, {"processor"}, {"jinja", "tool_use"}, {"tool_use"}, {"jinja", "legacy"},
        {"jinja", "bare processor"}, {"legacy", "processor"}, {"bare processor"}]  # fmt: skip
EMPTY = [(set(), "none"), (set(), "null"), ({"bare processor"}, "none"), ({"bare processor"}, "null")]
CASES = [(names, config) for names, config in product(SETS, CONFIGS) if (names, config) not in EMPTY]


def shas(*texts):
    return tuple(text and sha256(text.encode()).hexdigest() for text in texts)


def read_by(package, engine):
    one = next(one for one in package.template_readers if one.engine == engine)
    return tuple(pick and pick.sha256 for pick in (one.without_tools, one.with_tools))


def chosen(tokenizer, tools):
    try:
        return tokenizer.get_chat_template(tools=tools)
    except ValueError:
        return None


@pytest.fixture(params=CASES, ids=lambda case: f"{'+'.join(sorted(case[0])) or 'alone'}-{case[1]}")
def directory(request, tmp_path):
    names, config = request.param
    files = {path: content for name in names for path, content in FILES[name].items()}
    own = {"tokenizer.json": tokenizer_json(), "tokenizer_config.json": {**CONFIG, **CONFIGS[config]}}
    return write(tmp_path, {**own, **files})


def test_the_tokenizer(directory, transformers):
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    expected = shas(chosen(tokenizer, None), chosen(tokenizer, TOOLS))
    assert read_by(load(str(directory)), "transformers tokenizer") == expected


def test_the_processor(directory, transformers):
    package = load(str(directory))
    if "transformers processor" not in {one.engine for one in package.template_readers}:
        assert not list(directory.glob("*processor_config.json"))
        return
    settings, _ = transformers.ProcessorMixin.get_processor_dict(str(directory))
    template = settings.get("chat_template")
    text = template.get("default") if isinstance(template, dict) else template
    assert read_by(package, "transformers processor") == shas(text, text)


def test_the_converter(directory):
    gguf = pytest.importorskip("gguf")
    written = []
    writer = type("Writer", (), {"add_chat_template": lambda _, value: written.append(value)})()
    vocabulary = gguf.SpecialVocab(directory)
    if vocabulary.chat_template is not None:
        writer.add_chat_template(vocabulary.chat_template)
    value = written[0] if written else None
    named = (
        {"default": value}
        if isinstance(value, str)
        else {one["name"]: one["template"] for one in value or ()}
    )
    default = named.get("default") or named.get("tool_use")
    package = load(str(directory))
    assert read_by(package, "llama.cpp after conversion") == shas(default, named.get("tool_use") or default)


def test_a_gguf(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", template=[*NAMED, {"name": "rag", "template": "R"}])
    package = load(str(path))
    assert read_by(package, "llama.cpp") == shas("D", "T")
    assert [one.engine for one in package.template_readers] == ["transformers tokenizer", "llama.cpp"]


def test_tool_use_alone_in_a_gguf_is_the_default(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", template=NAMED[1:])
    assert read_by(load(str(path)), "llama.cpp") == shas("T", "T")


def test_what_is_read_where_nothing_is(tmp_path):
    """The converter takes a null for an answer, and llama.cpp has ChatML for such files."""
    config = {**CONFIG, "chat_template": None}
    write(tmp_path, {"tokenizer_config.json": config, "chat_template.jinja": "JINJA"})
    package = load(str(tmp_path))
    last = package.template_readers[-1]
    assert (last.without_tools, last.note) == (None, CHATML)
    assert differ(package.template_readers)


def test_processors_make_engines_differ(tmp_path):
    write(tmp_path, {**FILES["jinja"], **FILES["legacy"], "tokenizer_config.json": CONFIG})
    package = load(str(tmp_path))
    assert read_by(package, "vLLM") == shas("LEGACY", "JINJA")
    assert read_by(package, "SGLang") == shas("LEGACY", "LEGACY")
    assert differ(package.template_readers)


def test_a_template_of_the_users_is_no_question(tmp_path):
    write(tmp_path, {"tokenizer_config.json": {**CONFIG, "chat_template": "C"}, "mine.jinja": "M"})
    package = load(str(tmp_path), template_file=str(tmp_path / "mine.jinja"))
    assert package.template_readers == ()


def test_one_template_is_no_difference(tmp_path):
    write(tmp_path, {"tokenizer_config.json": {**CONFIG, "chat_template": "C"}})
    assert not differ(load(str(tmp_path)).template_readers)
