"""`export_format`: every target, its requests, and what it refuses."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache

import pytest

import chatlint
from chatlint.errors import UsageError
from chatlint.export.structural_tag import structural_tag
from chatlint.export.targets import ExportTarget, export_format
from chatlint.export.turn import Request
from chatlint.export.writing import Call, write_calls, write_turn
from chatlint.parse.formats import OutputFormat, Reasoning, ToolCalls
from tests.corpus.entries import ENTRIES, TOOLS
from tests.export.gbnf_machine import Machine
from tests.export.judges import JUDGES, verdict
from tests.export.learned import WRITTEN, learned

HERMES = OutputFormat(
    header="<|im_start|>assistant\n",
    reasoning=Reasoning("<think>\n", "\n</think>\n\n"),
    end_of_turn=("<|im_end|>",),
    tool_calls=ToolCalls(call_start="<tool_call>\n", call_end="\n</tool_call>", separator="\n"),
)
CALL = Call("get_weather", {"city": "Paris", "days": 3})


@pytest.mark.parametrize("to", ExportTarget)
def test_every_target(to):
    text = export_format(HERMES, to, tools=TOOLS["weather"])
    assert text.endswith("\n")
    if to in ("response-template", "llama.cpp-request", "structural-tag"):
        assert isinstance(json.loads(text), dict)


def test_it_is_public():
    assert chatlint.export_format is export_format


def test_no_such_target():
    with pytest.raises(UsageError, match="nothing is exported to 'vlm'") as caught:
        export_format(HERMES, "vlm")
    assert "vllm" in caught.value.hint


def test_flags_are_one_line_and_comments():
    lines = export_format(HERMES, "vllm").splitlines()
    assert lines[0] == "--enable-auto-tool-choice --tool-call-parser hermes --reasoning-parser deepseek_v3"
    assert all(line.startswith("# ") for line in lines[1:])


def test_deepinfer_has_no_flags():
    text = export_format(HERMES, "deepinfer")
    assert all(line.startswith("# ") for line in text.splitlines())
    assert "deepseek-recipe" in text


def test_stop_ids_that_no_file_declares():
    text = export_format(HERMES, "vllm", tokens={"<|im_end|>": 7, "<think>": 8}, declared_stops={1})
    assert "[7]" in text
    assert "# tokens to keep in the output: <think>" in text
    assert "[7]" not in export_format(HERMES, "vllm", tokens={"<|im_end|>": 7}, declared_stops={7})


def test_schemas_for_answer_and_calls_are_refused_together():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for to in ("gbnf", "lark"):
        with pytest.raises(UsageError, match="two hard constraints"):
            export_format(HERMES, to, tools=TOOLS["weather"], answer=schema)
        assert export_format(HERMES, to, tools=TOOLS["weather"], tool_choice="none", answer=schema)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("name", ["qwen3", "harmony", "command-r7b", "chatml"])
def test_an_answer_in_json(judge, name):
    output = learned(name)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    reasoning = "Hm." if output.reasoning else ""
    request = {"tools": [], "answer": schema, "generation_prompt": output.header}
    good = write_turn(output, reasoning=reasoning, content='{"a": 1}')
    bad = write_turn(output, reasoning=reasoning, content='{"a": "x"}')
    assert verdict(judge, output, good, **request) == "accepted"
    assert verdict(judge, output, bad, **request).startswith("refused")
    assert verdict(judge, output, write_turn(output, content="Words."), **request).startswith("refused")


# -- the bundle for llama.cpp -------------------------------------------------------------------------


def bundle(output, **request):
    return json.loads(export_format(output, "llama.cpp-request", **request))


def test_gbnf_is_a_grammar_of_the_whole_turn():
    """As a file for `llama-cli --grammar-file`: it holds from the first character on."""
    grammar = export_format(HERMES, "gbnf", tools=TOOLS["weather"])
    assert grammar.startswith("root ::= ")
    call = write_calls(HERMES.tool_calls, [CALL])
    for text in ("Just words.", f"<think>\nHm.\n</think>\n\n{call}", f"Words, then\n{call}"):
        assert Machine(grammar).read(text) == "accepted"
    assert Machine(grammar).read(call.replace("get_weather", "get_whether")).startswith("refused")


def test_a_grammar_sleeps_until_a_call_begins():
    found = bundle(HERMES, tools=TOOLS["weather"])
    assert found["grammar_lazy"] is True
    assert found["grammar_triggers"] == [{"type": 1, "value": "<tool_call>"}]
    assert found["preserved_tokens"] == ["<think>", "</think>", "<tool_call>", "</tool_call>"]
    assert found["stop"] == ["<|im_end|>"]
    text = write_calls(HERMES.tool_calls, [CALL, CALL])
    assert Machine(found["grammar"]).read(text) == "accepted"


@pytest.mark.parametrize("choice", ["required", "get_weather", "none"])
def test_a_grammar_that_must_hold_from_the_start(choice):
    found = bundle(HERMES, tools=TOOLS["weather"], tool_choice=choice)
    assert found["grammar_lazy"] is False
    assert found["grammar_triggers"] == []


def test_channels_never_sleep():
    assert bundle(learned("harmony"), tools=TOOLS["weather"])["grammar_lazy"] is False


@pytest.mark.parametrize("entry", [entry.name for entry in ENTRIES])
def test_what_follows_a_trigger_is_held(entry):
    """Of every reading with calls, from the first trigger on."""
    for reading in WRITTEN:
        if reading.entry != entry or not reading.calls:
            continue
        found = bundle(reading.format, tools=reading.tools, generation_prompt=reading.generation_prompt)
        if not found["grammar_lazy"]:
            continue
        machine = Machine(found["grammar"])
        starts = [
            reading.text.find(t["value"]) for t in found["grammar_triggers"] if t["value"] in reading.text
        ]
        assert starts, reading.id
        text = reading.text[min(starts) :].rstrip()
        for mark in reading.format.end_of_turn:
            text = text.removesuffix(mark)
        assert machine.read(text) == "accepted", (reading.id, text)


def test_tokens_that_the_tokenizer_lacks_are_not_preserved():
    found = bundle(HERMES, tokens={"<think>": 1, "</think>": 2})
    assert found["preserved_tokens"] == ["<think>", "</think>"]


# -- special tokens for llguidance --------------------------------------------------------------------


@cache
def tokenizer_of(tokens):
    """A tokenizer of bytes with these special tokens, as llguidance takes it."""
    import llguidance
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: number for number, letter in enumerate(letters)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(
        [AddedToken(text, special=True, normalized=False) for text in (*tokens, "</end>")]
    )
    return made, llguidance.LLTokenizer(made.to_str(), eos_token=made.token_to_id("</end>"))


@pytest.mark.parametrize(
    "name", ["harmony", "kimi-k2", "deepseek-v3", "command-a-reasoning", "lfm2", "mistral-v3"]
)
def test_special_tokens_are_tokens(name):
    import llguidance

    entry = next(entry for entry in ENTRIES if entry.name == name)
    special = tuple(t["content"] for t in entry.config["added_tokens_decoder"].values() if t["special"])
    tokenizer, facts = tokenizer_of(special)
    for reading in WRITTEN:
        if reading.entry != name:
            continue
        grammar = export_format(
            reading.format, "lark", reading.tools,
            generation_prompt=reading.generation_prompt,
            special_tokens={text: tokenizer.token_to_id(text) for text in special},
        )  # fmt: skip
        matcher = llguidance.LLMatcher(facts, grammar)
        assert not matcher.is_error(), matcher.get_error()
        text = reading.text
        for mark in reading.format.end_of_turn:
            text = text.removesuffix(mark)
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        assert matcher.try_consume_tokens(tokens) == len(tokens), reading.id
        assert matcher.is_accepting(), reading.id


# -- structural tags ----------------------------------------------------------------------------------


def tag_of(output, **request):
    return structural_tag(output, Request(TOOLS["standard"], **request))["format"]


def test_one_tag_for_each_tool():
    form = tag_of(HERMES)
    assert form["type"] == "triggered_tags"
    assert form["triggers"] == ["<tool_call>"]
    assert (form["at_least_one"], form["stop_after_first"]) == (False, False)
    first = form["tags"][0]
    assert first["begin"] == '<tool_call>\n{"name": "get_time", "arguments": '
    assert first["content"] == {
        "type": "json_schema",
        "json_schema": TOOLS["standard"][0]["function"]["parameters"],
    }
    assert first["end"] == "}\n</tool_call>"


def test_required_and_single():
    form = tag_of(HERMES, tool_choice="required", parallel=False)
    assert (form["at_least_one"], form["stop_after_first"]) == (True, True)
    assert len(tag_of(HERMES, tool_choice="get_time")["tags"]) == 1


def test_a_section_is_one_tag_around_the_calls():
    form = tag_of(learned("hunyuan-4"), tool_choice="required")
    section = form["tags"][0]
    assert (section["begin"], section["end"]) == ("<tool_calls>", "</tool_calls>")
    assert section["content"]["type"] == "tags_with_separator"
    assert len(section["content"]["tags"]) == len(TOOLS["standard"])


def test_every_trigger_begins_its_tags():
    for entry in ENTRIES:
        output = learned(entry.name)
        if output.tool_calls:
            form = tag_of(output)
            for tag in form["tags"]:
                assert any(tag["begin"].startswith(trigger) for trigger in form["triggers"]), entry.name


def test_grammars_inside_tags_are_grammars():
    found = 0
    for entry in ENTRIES:
        if learned(entry.name).tool_calls:
            for tag in _tags(tag_of(learned(entry.name))):
                if tag["content"]["type"] == "grammar":
                    found += 1
                    Machine(tag["content"]["grammar"])
    assert found > 50


def _tags(form):
    for tag in form["tags"]:
        yield from _tags(tag["content"]) if "tags" in tag["content"] else (tag,)


def test_nothing_to_force():
    with pytest.raises(UsageError, match="no tool calls"):
        structural_tag(OutputFormat(), Request(TOOLS["weather"]))
    with pytest.raises(UsageError, match="no tool may be called"):
        structural_tag(HERMES, Request(TOOLS["weather"], "none"))


def test_schemas_that_nest_too_deep():
    schema: dict = {"type": "string"}
    for _ in range(2_000):
        schema = {"type": "array", "items": schema}
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    for to in ("gbnf", "lark"):
        with pytest.raises(UsageError, match="nest too deep"):
            export_format(HERMES, to, tools=tools)


@pytest.mark.parametrize("to", ExportTarget)
@pytest.mark.parametrize(
    "mark", ["[" * 9_000, "<" * 9_000, '{"a":' * 1_500, "<" + "x" * 900 + ">", "\n" * 5_000, "⟨n⟩" * 2_000]
)
def test_hostile_marks_end_soon(to, mark):
    calls = ToolCalls(call_start=mark, call_end=mark)
    output = OutputFormat(
        header="<a>", tool_calls=calls, reasoning=Reasoning(mark, mark), end_of_turn=(mark,)
    )
    with suppress(UsageError):
        assert export_format(output, to, tools=TOOLS["weather"])
