"""Which parsers fit, and what will go wrong with them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import chatlint
from chatlint.export.flags import serving_of
from chatlint.export.known import (
    canonical,
    engines,
    family,
    known_formats,
    match_of,
    reasoning_marks,
    reasoning_of,
)
from chatlint.parse.formats import (
    Content,
    Encoding,
    GenerationPrompt,
    Marks,
    Members,
    OutputFormat,
    Reasoning,
    ReasoningState,
    SwitchedPrompt,
    Syntax,
    ToolCalls,
    Values,
    Written,
)
from tests.export.learned import learned

HERMES = ToolCalls(call_start="<tool_call>\n", call_end="\n</tool_call>", separator="\n")
THINK = Reasoning("<think>\n", "\n</think>\n\n")
OPEN = GenerationPrompt("<|a|><think>\n", ReasoningState.OPEN)
ELEMENTS = ToolCalls(
    call_start="<tool_call>\n<function=", call_end="\n</function>\n</tool_call>", syntax=Syntax.TEXT,
    body="⟨name⟩>⟨arguments⟩", members=Members("\n<parameter=⟨key⟩>\n⟨value⟩\n</parameter>"),
)  # fmt: skip


def serve(engine, **parts):
    return serving_of(OutputFormat(header="<|a|>", end_of_turn=("<|e|>",), **parts)).engines[engine]


def test_the_tables_name_only_formats_that_are_there():
    formats, reasoning = set(known_formats()), set(reasoning_marks())
    for engine in engines().values():
        for parser in engine.tool:
            assert set(parser.reads) <= formats, parser
            assert all(set(seen) <= set("onx") for seen in parser.reads.values())
        for parser in engine.reasoning:
            assert set(parser.reads) <= reasoning
            assert parser.bare in ("reasoning", "content", "toggle"), parser
    for known in known_formats().values():
        for engine, names in known.pairs.items():
            assert set(names) <= {parser.name for parser in engines()[engine].reasoning}, known.id


def test_registries_are_complete(shared):
    facts = json.loads((shared / "facts" / "formats.json").read_text(encoding="utf-8"))["registries"]
    no_parsers = {"hf", "response_template", "trinity"}
    """What reads by the checkpoint's own template, and one that was seen to read nothing."""
    for key in ("vllm", "sglang"):
        engine = engines()[key]
        assert {parser.name for parser in engine.tool} == set(facts[key]["tool"]) - no_parsers
        assert {parser.name for parser in engine.reasoning} == set(facts[key]["reasoning"]) - no_parsers


def test_samples_are_told_apart():
    seen: dict[str, str] = {}
    for known in known_formats().values():
        for sample in known.samples:
            assert seen.setdefault(sample.strip(), known.id) == known.id
    assert canonical('{"b": 1, "a": [2]}\n<x> y') == '{"a":[2],"b":1}<x>y'


def test_best_first_with_what_it_rests_on():
    found = serve("vllm", tool_calls=HERMES)
    assert found.tool_call_parser[:2] == ("hermes", "qwen3_json")
    assert found.basis.startswith("same markers and structure as vLLM 0.33 `hermes`")
    assert found.flags == ("--enable-auto-tool-choice", "--tool-call-parser", "hermes")
    assert not found.caveats


def test_the_same_markers_around_another_body_are_another_format():
    other = replace(HERMES, body='{"tool": "⟨name⟩", "arguments": ⟨arguments⟩}')
    assert serve("vllm", tool_calls=other).tool_call_parser == ()
    assert serve("vllm", tool_calls=ELEMENTS).tool_call_parser[0] == "qwen3_coder"


def test_a_parser_that_needs_a_line_break_gets_one():
    assert serve("sglang", tool_calls=HERMES).tool_call_parser == ("hermes", "qwen", "qwen25")
    compact = ToolCalls(call_start="<tool_call>", call_end="</tool_call>")
    assert serve("sglang", tool_calls=compact).tool_call_parser == ("hermes",)


def test_spelling_of_json_is_no_difference():
    spelled = replace(HERMES, body='{"arguments":⟨arguments⟩,"name":"⟨name⟩"}')
    assert match_of(OutputFormat(tool_calls=spelled)).known.id == "hermes-json"


def test_ids_that_nobody_reads_are_said():
    found = serve(
        "vllm", tool_calls=replace(HERMES, body='{"id": "⟨id⟩", "name": "⟨name⟩", "arguments": ⟨arguments⟩}')
    )
    assert found.tool_call_parser[0] == "hermes"
    assert any("id is written but not read" in caveat for caveat in found.caveats)


def test_a_token_that_is_never_written():
    found = serve("vllm", tool_calls=ToolCalls(body='{"name": "⟨name⟩", "parameters": ⟨arguments⟩}'))
    assert found.tool_call_parser[0] == "llama3_json"
    assert any("insists on the token <|python_tag|>" in caveat for caveat in found.caveats)


def test_nested_values_in_another_notation():
    values = Values(object=Written(encoding=Encoding.PYTHON), array=Written(encoding=Encoding.PYTHON))
    found = serve("vllm", tool_calls=replace(ELEMENTS, values=values))
    assert any("Python literals" in caveat for caveat in found.caveats)


def test_content_in_marks_that_stay():
    found = serve("vllm", tool_calls=HERMES, content=Content("<response>\n", "\n</response>"))
    assert found.tool_call_parser[0] == "ernie45"
    found = serve("vllm", tool_calls=HERMES, content=Content("<reply>\n", "\n</reply>"))
    assert "the <reply> that opens an answer reaches the client as part of it" in found.caveats
    behind_results = Content(alternatives=(Marks(", [/RESULTS]"),))
    assert not any("reaches the client" in one for one in serve("vllm", content=behind_results).caveats)


def test_nothing_fits_points_to_the_response_template():
    calls = replace(HERMES, call_start="<do>\n", call_end="\n</do>")
    for engine, name in (("vllm", "hf"), ("sglang", "response_template")):
        found = serve(engine, tool_calls=calls, reasoning=THINK)
        assert found.tool_call_parser == ()
        assert name in found.flags
        assert "response template" in found.basis
    assert "grammar" in serve("tensorrt-llm", tool_calls=calls).basis


def test_nothing_fits_points_to_the_grammar():
    calls = replace(HERMES, call_start="<do>", call_end="</do>", syntax=Syntax.PYTHON)
    found = serve("vllm", tool_calls=calls)
    assert "grammar" in found.basis
    assert "--tool-call-parser" not in found.flags
    assert any("Python literals" in caveat for caveat in found.caveats)


def test_a_prompt_that_opens_reasoning_wants_a_parser_that_takes_bare_text_for_it():
    found = serve("vllm", reasoning=THINK, generation_prompt=OPEN)
    assert found.reasoning_parser[0] in ("qwen3", "deepseek_r1")
    assert serve("vllm", reasoning=THINK).reasoning_parser[0] == "deepseek_v3"


def test_switches_become_template_kwargs():
    prompt = replace(OPEN, by_switch=(SwitchedPrompt({"think": False}, "<|a|>", ReasoningState.CLOSED),))
    reasoning = Reasoning("<|START_THINKING|>", "<|END_THINKING|>")
    found = serve("vllm", reasoning=reasoning, generation_prompt=prompt)
    assert found.chat_template_kwargs == {"think": False}
    assert any("takes text without an opener for content" in caveat for caveat in found.caveats)


def test_reasoning_marks_nobody_has():
    found = serve("vllm", tool_calls=HERMES, reasoning=Reasoning("<plan>", "</plan>"))
    assert found.reasoning_parser == ()
    assert "no reasoning parser of vLLM 0.33" in found.basis


def test_reasoning_without_an_opener():
    assert reasoning_of(Reasoning("", "</think>\n\n")) == "think"
    assert reasoning_of(Reasoning("<thinking>", "</thinking>")) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [("qwen-xml", "qwen3_coder"), ("deepseek-r1", "analyser"), ("olmo-3", "no word"), ("xlam", "analyser")],
)
def test_llama_cpp(name, expected):
    found = serving_of(learned(name)).engines["llama.cpp"]
    assert expected in found.basis
    assert found.flags == ("--jinja",)
    assert any("--to gbnf" in caveat for caveat in found.caveats) is (expected == "no word")


def test_family_of_something_near():
    near = replace(ELEMENTS, call_end="\n</function>\n</tool_call><|x|>")
    assert match_of(OutputFormat(tool_calls=near)) is None
    assert family(OutputFormat(tool_calls=near)) == "qwen-xml"
    assert family(OutputFormat(tool_calls=ToolCalls(call_start="<zap>", call_end="</zap>"))) is None
    assert family(OutputFormat()) is None


def test_stops_and_tokens():
    output = OutputFormat(end_of_turn=("<|e|>", "<|call|>"), tool_calls=HERMES, reasoning=THINK)
    known = serving_of(output, {"<|e|>": 7, "<|call|>": 8, "<tool_call>": 9}, frozenset({7}))
    assert (known.stop, known.stop_ids, known.undeclared_stop_ids) == (("<|e|>", "<|call|>"), (7, 8), (8,))
    assert known.preserved_tokens == ("<tool_call>",)
    unknown = serving_of(output)
    assert unknown.stop_ids == ()
    assert unknown.preserved_tokens == ("<think>", "</think>", "<tool_call>", "</tool_call>")


def test_the_block_of_the_report():
    block = serving_of(learned("qwen3")).to_dict()
    assert {"vllm", "sglang", "tensorrt-llm", "llama.cpp", "transformers"} <= set(block)
    assert {"tool_call_parser", "reasoning_parser", "basis"} <= set(block["vllm"])
    assert block["transformers"]["response_template"] is True
    assert json.loads(json.dumps(block)) == block
    refused = serving_of(learned("apertus")).to_dict()["transformers"]
    assert refused["response_template"] is False
    assert "only key" in refused["basis"]


@pytest.mark.parametrize("mark", ["[" * 100_000, "<" * 50_000, "a b " * 20_000, '{"a":' * 20_000])
def test_hostile_marks_are_no_work(mark):
    output = OutputFormat(tool_calls=replace(HERMES, call_start=mark), end_of_turn=(mark,))
    found = serving_of(output)
    assert found.family is None
    assert "too long" in found.why_not


@pytest.mark.parametrize("mark", ["[" * 9_000, "<" * 9_000, "a b " * 2_000, '{"a":' * 1_500])
def test_long_marks_take_their_time(mark):
    serving_of(OutputFormat(tool_calls=replace(HERMES, call_start=mark), content=Content(mark)))


def test_a_template_that_never_renders_is_served_by_nothing(tmp_path):
    (tmp_path / "t.jinja").write_text("{{ messages[0].context + 1 }}")
    serving = serving_of(chatlint.learn_format(chatlint.load(tmp_path / "t.jinja").template()))
    assert {(engine.flags, engine.basis) for engine in serving.engines.values()} == {
        ((), "no answer was shown")
    }
