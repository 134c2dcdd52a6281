"""Response templates that packages carry, and the rule about them."""

from __future__ import annotations

import json

import pytest

from chatlint.errors import UsageError
from chatlint.export.inversion import SAMPLES, misreadings, proven_template
from chatlint.export.response_reading import ResponseReader
from chatlint.export.response_template import response_template
from chatlint.parse.formats import OutputFormat, Reasoning, ToolCalls
from chatlint.rules.catalogue import find_rule
from chatlint.rules.run import run
from chatlint.rules.selection import Selection
from tests.corpus.entries import ENTRIES
from tests.export.learned import learned
from tests.rules.subjects import subject_of

RULE = find_rule("response-template-mismatch")
HERMES = OutputFormat(
    header="<a>",
    reasoning=Reasoning("<think>\n", "\n</think>\n\n"),
    end_of_turn=("<end>",),
    tool_calls=ToolCalls(call_start="<tool_call>\n", call_end="\n</tool_call>", separator="\n"),
)
SOURCE = next(entry for entry in ENTRIES if entry.name == "qwen3").templates["default"]


def found(template, output=HERMES):
    return {misread.what: misread for misread in misreadings(ResponseReader(template), output)}


@pytest.mark.parametrize("name", [entry.name for entry in ENTRIES])
def test_what_is_exported_reads_what_is_written(name):
    try:
        template = response_template(learned(name))
    except UsageError:
        pytest.skip("the format cannot be expressed")
    assert proven_template(learned(name)) == template


def test_every_sample_is_tried():
    """With a template that reads nothing, all samples are misread."""
    nothing = {"start_anchor": "<a>", "fields": {"content": {"open": "<never>"}}}
    assert set(found(nothing)) == {sample.what for sample in SAMPLES}


def test_marks_of_another_format():
    template = response_template(HERMES)
    template["fields"]["thinking"] = {"open": "<plan>", "close": "</plan>"}
    assert set(found(template)) == {"reasoning and an answer", "a call after reasoning"}


def test_content_that_white_space_replaces():
    """As templates are often written: the line break between two calls becomes the content."""
    template = {
        "start_anchor": "<a>",
        "fields": {
            "thinking": {"open": "<think>", "close": "</think>"},
            "tool_calls": {
                "open": "<tool_call>", "close": "</tool_call>", "content": "json", "repeats": True,
                "transform": {"type": "function", "function": "{content}"},
            },
            "content": {"close": "<end>"},
        },
    }  # fmt: skip
    misread = found(template)
    assert set(misread) == {"two calls after text"}
    assert misread["two calls after text"].found.content == ""


def test_bodies_that_are_no_json():
    template = response_template(HERMES)
    template["fields"]["tool_calls"]["close_pattern"] = r"\}\s*</tool_call>"
    assert "cannot be read" in found(template)["a call"].told()


def judged(template, source=SOURCE):
    with subject_of(source, response_template=json.dumps(template)) as subject:
        return run(subject, Selection((RULE.name,)))


def test_the_rule_finds_one_cause_with_what_it_shows():
    template = response_template(learned("qwen3"))
    template["fields"]["tool_calls"]["transform"]["function"]["name"] = "{content.arguments}"
    result = judged(template)
    assert [finding.rule for finding in result.findings] == [RULE.name]
    assert "a call comes back as" in result.findings[0].message
    assert "kinds of message" in result.findings[0].message


def test_the_rule_is_silent_on_what_is_right():
    assert judged(response_template(learned("qwen3"))).findings == ()
    assert judged(None).findings == ()


def test_the_rule_says_what_transformers_refuses():
    result = judged({"start_anchor": "<a>", "fields": {"content": {"opens": "x"}}})
    assert "transformers refuses the response_template" in result.findings[0].message


def test_what_cannot_be_tried_is_not_evaluated():
    result = judged({"start_anchor_pattern": "(a+)+b", "fields": {"content": {}}})
    assert result.findings == ()
    assert result.unevaluated[0][0] == RULE.name


def test_the_package_of_a_directory_has_it():
    from chatlint.source.load import load

    entry = next(entry for entry in ENTRIES if entry.name == "response-template")
    assert load(str(entry.folder)).response_template == entry.config["response_template"]
    other = next(entry for entry in ENTRIES if entry.name == "qwen3")
    assert load(str(other.folder)).response_template is None
