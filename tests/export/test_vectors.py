"""Conformance vectors hold: against their schema, against transformers, and against a parser that knows only the
format."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

import jsonschema
import pytest

from chatlint.export.vectors import SCHEMA, vectors
from chatlint.infer.learn import learn
from chatlint.parse.formats import OutputFormat
from chatlint.probe.trace import Trace
from chatlint.render.rendered import RenderSettings
from chatlint.render.syntax import syntax_of
from chatlint.source.load import load
from tests.conftest import ROOT

NAMES = ("qwen3", "deepseek-v3.1", "harmony", "mistral-v11-ids", "glm-4.5", "gemma-3")
VALIDATOR = jsonschema.Draft202012Validator(
    json.loads(files("chatlint.export").joinpath("vector.schema.json").read_text(encoding="utf-8"))
)


@cache
def made(name, host="transformers-5.24"):
    template = load(f"corpus:{name}").templates[0]
    with Trace(template, RenderSettings(host)) as trace, Trace(template, RenderSettings(host)) as fresh:
        found = [json.loads(json.dumps(vector)) for vector in vectors(trace)]
        return found, learn(fresh, syntax_of(template.text)).to_dict(), template


@pytest.mark.parametrize("name", NAMES)
def test_every_line_fits_the_schema(name):
    found, _, _ = made(name)
    VALIDATOR.check_schema(VALIDATOR.schema)
    assert [error.message for vector in found for error in VALIDATOR.iter_errors(vector)] == []
    assert len({vector["id"] for vector in found}) == len(found) > 400


def test_the_schema_refuses_what_is_none():
    vector = made("qwen3")[0][0]
    for changes in (
        {"schema": "chatlint.vector/2"},
        {"prompt": {"text": "x", "spans": [[0, 1, "input", "/x"]]}},
        {"now": 3},
    ):
        assert list(VALIDATOR.iter_errors({**vector, **changes}))


@pytest.mark.parametrize("name", NAMES)
def test_spans_cover_the_prompt_and_say_the_truth(name):
    for vector in made(name)[0]:
        if not vector["prompt"]:
            assert vector["failure"]
            continue
        text, end = vector["prompt"]["text"], 0
        for start, stop, kind, *origin in vector["prompt"]["spans"]:
            assert start == end < stop
            end = stop
            if kind == "input" and origin[1] is not None:
                value = at(vector["conversation"], origin[0])
                if isinstance(value, str):
                    assert value[origin[1] :][: stop - start] == text[start:stop]
            if kind == "special":
                assert vector["special_tokens"][origin[0]] == text[start:stop]
        assert end == len(text)


def at(conversation, pointer):
    value = {**conversation.get("template_kwargs", {}), **conversation}
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value


@pytest.mark.parametrize("name", NAMES)
def test_prompts_are_those_of_transformers(name):
    utils = pytest.importorskip("transformers.utils.chat_template_utils", reason="the oracle renders prompts")
    from transformers.tokenization_utils_base import _normalize_chat_messages

    found, _, template = made(name)
    compared = 0
    for vector in found[::25]:
        conversation = vector["conversation"]
        if not vector["prompt"] or vector["continue_final_message"]:
            continue
        rendered, _ = utils.render_jinja_template(
            [_normalize_chat_messages(conversation["messages"])],
            tools=conversation.get("tools"),
            documents=conversation.get("documents"),
            chat_template=template.text,
            add_generation_prompt=vector["add_generation_prompt"],
            **{**vector["special_tokens"], **conversation.get("template_kwargs", {})},
        )
        assert rendered[0] == vector["prompt"]["text"], vector["id"]
        compared += 1
    assert compared > 8


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gemma-3"])
def test_readings_are_read_by_whoever_knows_the_format(name):
    found, saved, _ = made(name)
    output = OutputFormat.from_dict(saved)
    read = [vector for vector in found if vector["reading"]]
    assert len(read) >= 6
    for vector in read:
        reading = vector["reading"]
        for text in (reading["text"], reading["text"] + reading["stop"]):
            for size in (1, 10_000):
                parser = output.parser(vector["conversation"].get("tools"), reading["after"])
                for start in range(0, len(text), size):
                    parser.feed(text[start : start + size])
                parser.finish()
                whole = output.parser(vector["conversation"].get("tools"), reading["after"]).parse(text)
                assert {"role": "assistant", **whole} == reading["message"], vector["id"]


@pytest.mark.parametrize("name", NAMES)
def test_a_reading_stands_in_the_prompt(name):
    for vector in made(name)[0]:
        if vector["reading"]:
            reading = vector["reading"]
            assert reading["text"] + reading["stop"] in vector["prompt"]["text"]


def test_hosts_have_vectors_of_their_own():
    new, old = made("qwen3")[0], made("qwen3", "transformers-4.57")[0]
    assert {vector["host"] for vector in old} == {"transformers-4.57"}
    assert {vector["id"] for vector in new}.isdisjoint(vector["id"] for vector in old)


def test_a_template_that_does_not_compile_has_vectors(tmp_path):
    (tmp_path / "t.jinja").write_text("{% for m in messages %}")
    with Trace(load(str(tmp_path / "t.jinja")).templates[0]) as trace:
        found = list(vectors(trace))
    assert {vector["failure"]["kind"] for vector in found} == {"syntax", "host"}
    assert all(not list(VALIDATOR.iter_errors(json.loads(json.dumps(vector)))) for vector in found[:5])


def test_the_document_names_every_member():
    text = (ROOT / "docs" / "vectors.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", text))
    members = {
        *VALIDATOR.schema["properties"],
        *VALIDATOR.schema["properties"]["reading"]["anyOf"][1]["properties"],
    }
    assert members - named - {"case"} == set()
    assert SCHEMA in text
