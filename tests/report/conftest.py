"""One fixed report with a little of everything, and a hostile one."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from chatlint.config import Settings
from chatlint.detect.capability import (
    Capabilities,
    Capability,
    Coverage,
    Difference,
    GenerationPrompt,
    Limit,
    ResultTurn,
    Support,
    Switch,
    ToolResult,
)
from chatlint.parse.formats import Confidence as Confidence_
from chatlint.parse.formats import GenerationPrompt as GenerationPromptState
from chatlint.parse.formats import (
    Ground,
    Members,
    OutputFormat,
    Reasoning,
    ReasoningState,
    SwitchedPrompt,
    Syntax,
    ToolCalls,
)
from chatlint.rules.finding import (
    Confidence,
    Evidence,
    Finding,
    Location,
    Severity,
    SuppressedBy,
    Suppression,
)
from chatlint.source.package import Failure, PackageFile, TargetKind, Template, TemplatePlace
from chatlint.suppress.baseline import BaselineEntry
from chatlint.verdict import BaselineUse, Report, Status, Stop, TargetFailure, TargetReport, TemplateReport
from chatlint.verify.comparison import Cause
from chatlint.verify.comparison import Difference as Difference_
from chatlint.verify.roundtrip import RoundTrip, RoundTrips

TEXT = """{%- for message in messages %}
{{- '<|' + message.role + '|>' }}{{ message.content }}{{ '<|end|>' }}
{%- endfor %}
"""
NINE = (
    "supports_tools",
    "supports_tool_calls",
    "supports_system_role",
    "supports_parallel_tool_calls",
    "supports_preserve_reasoning",
    "supports_reasoning_effort",
    "supports_string_content",
    "supports_typed_content",
    "supports_object_arguments",
)


def template(text=TEXT, name="default", file="chat_template.jinja"):
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Template(name, text, digest, TemplatePlace(file), {"eos_token": "<|end|>"})


def finding(severity=Severity.ERROR, **changes):
    facts = {
        "rule": "tool-calls-lost",
        "code": "CT402",
        "severity": severity,
        "confidence": Confidence.HIGH,
        "message": "of a call in the history, the function's name and the arguments are lost",
        "consequence": "After its first call the model does not see what it called.",
        "location": Location("chat_template.jinja", 2, 36),
        "cases": ("calls/one", "calls/two@generation=off"),
        "hosts": ("transformers-5.24",),
        "evidence": (
            Evidence("calls/one", "<|user|>Walnut<|end|><|assistant|><|end|>", 21, 34, "neither up to here"),
        ),
        "fix": "Write every call of `message.tool_calls`.",
        "fingerprint": "0123456789abcdef",
    }
    return Finding(**{**facts, **changes})


def capabilities():
    answers = (
        Capability("system", Support.YES, ("roles/system-user",)),
        Capability("late_system", Support.RAISES, ("roles/late-system",), "declined: system must come first"),
        Capability("tools", Support.NO, ("tools/given",)),
        Capability("tool_calls", Support.PARTIAL, ("calls/one",), "the name is lost"),
        Capability("reasoning_kept", Support.UNKNOWN, (), "no reasoning"),
    )
    return Capabilities(
        dict.fromkeys(NINE, False),
        {answer.name: answer for answer in answers},
        (Switch("enable_thinking", "true", ("true", "false"), "an empty reasoning block", ("roles/user",)),),
        GenerationPrompt("<|assistant|>\n", {"enable_thinking=false": "<|assistant|>\n<think></think>"}),
        (Difference("supports_tools", True, "it looks at what is read, not at what is written"),),
    )


def output_format():
    return OutputFormat(
        header="<|assistant|>",
        generation_prompt=GenerationPromptState(
            "<|assistant|>\n",
            ReasoningState.OPEN,
            (
                SwitchedPrompt(
                    {"enable_thinking": False}, "<|assistant|>\n<think></think>", ReasoningState.CLOSED
                ),
            ),
        ),
        reasoning=Reasoning("<think>", "</think>"),
        tool_calls=ToolCalls(
            section_start="<calls>",
            call_start="<call>",
            body="⟨name⟩⟨arguments⟩",
            call_end="</call>",
            section_end="</calls>",
            syntax=Syntax.TEXT,
            members=Members("<arg=⟨key⟩>⟨value⟩</arg>"),
            guess=True,
        ),
        end_of_turn=("<|end|>",),
        grounds={"reasoning": Ground(Confidence_.MEDIUM, ("reasoning/last",), "seen once")},
    )


def round_trips():
    def trip(case, *differences):
        return RoundTrip(case, {"role": "assistant"}, "<call>f<arg=a>1</arg></call>", {}, differences, True)

    lost = Difference_("tool_calls/0/arguments/a", "1", 1, Cause.AMBIGUOUS)
    return RoundTrips((trip("calls/one"), trip("arguments/one", lost)), ("reasoning/call",))


def template_report(**changes):
    facts = {
        "template": template(),
        "host": "transformers-5.24",
        "capabilities": capabilities(),
        "format": output_format(),
        "round_trips": round_trips(),
        "declared_stops": {"eos_token": (Stop(2, "<|end|>"),), "generation_config.json": (Stop(2, "<|end|>"), Stop(7, None))},
        "limits": (Limit("system must come first", 4, ("roles/late-system",)),),
        "findings": (
            finding(),
            finding(Severity.WARNING, rule="prefix-break", code="CT505", cases=(), evidence=(), fix="", location=Location("chat_template.jinja")),
            finding(Severity.INFO, rule="syntax", code="CT201", evidence=(Evidence("calls/one", "", note="UndefinedError: no x"),)),
        ),
        "suppressed": (
            finding(rule="no-bos", suppressed=Suppression(SuppressedBy.COMMENT, "as it was trained", 1)),
            finding(Severity.WARNING, rule="double-bos", suppressed=Suppression(SuppressedBy.BASELINE)),
        ),
        "coverage": Coverage(61, 58, 3, ((7, 9),)),
        "unevaluated": (("double-bos", "special tokens are assumed"),),
        "failures": (Failure("rules", "clock", "ValueError: broke"),),
        "tool_result": ToolResult(ResultTurn.USER, "<result of=⟨name⟩>", "</result>", ("calls/one-result",)),
    }  # fmt: skip
    return TemplateReport(**{**facts, **changes})


@pytest.fixture
def report():
    """Two targets: a directory that was checked, and one that was not."""
    checked = TargetReport(
        "models/mine",
        TargetKind.DIRECTORY,
        files=(PackageFile("chat_template.jinja", "ab" * 32, 120),),
        templates=(template_report(),),
        failures=(Failure("source", "processor_config.json", "is not JSON"),),
    )
    failed = TargetReport(
        "models/theirs",
        status=Status.NO_TEMPLATE,
        failure=TargetFailure("load", "models/theirs has no chat template", "it may be a base model"),
    )
    # The rules are named: a new one is no new snapshot.
    known = ("CT201", "double-bos", "no-bos", "prefix-break", "tool-calls-lost", "syntax")
    gone = BaselineEntry("models/mine", "default", "no-bos", "the prompt has no BOS", "fedcba9876543210")
    baseline = BaselineUse("chatlint.baseline.json", 1, (gone,))
    return Report(Settings(select=known), (checked, failed), baseline)


HOSTILE = (
    "\x1b[31m\x1b]8;;http://x\x07\x00\x9b2J\u202e\u2066[/INST][red]\ud800\u200b\r\n{%"
    "]]></script></pre><img src=x onerror=y>\"'&`|\n::error::%0A::stop-commands::x\n[a](http://x)"
)


@pytest.fixture
def hostile():
    """Every text that a template or a file can choose, chosen with malice."""
    bad = template(HOSTILE + "\n" + HOSTILE, HOSTILE, HOSTILE)
    answer = Capability("tools", Support.PARTIAL, (HOSTILE,), HOSTILE)
    found = finding(
        message=HOSTILE,
        consequence=HOSTILE,
        fix=HOSTILE,
        cases=(HOSTILE,),
        location=Location(HOSTILE, 1, 3),
        evidence=(Evidence(HOSTILE, HOSTILE, 2, 5, HOSTILE), Evidence(HOSTILE, "", note=HOSTILE)),
    )
    one = template_report(
        template=bad,
        host=HOSTILE,
        findings=(found,),
        declared_stops={HOSTILE: (Stop(1, HOSTILE),)},
        limits=(Limit(HOSTILE, 1, (HOSTILE,)),),
        unevaluated=((HOSTILE, HOSTILE),),
        failures=(Failure(HOSTILE, HOSTILE, HOSTILE),),
        suppressed=(replace(found, suppressed=Suppression(SuppressedBy.COMMENT, HOSTILE, 1)),),
        capabilities=Capabilities(
            dict.fromkeys(NINE, True),
            {"tools": answer},
            (Switch(HOSTILE, HOSTILE, (HOSTILE,), HOSTILE),),
            GenerationPrompt(HOSTILE, {HOSTILE: HOSTILE + "x"}, note=HOSTILE),
        ),
    )
    failed = TargetReport(HOSTILE, status=Status.FAILED, failure=TargetFailure("load", HOSTILE, HOSTILE))
    return Report(Settings(), (TargetReport(HOSTILE, TargetKind.FILE, templates=(one,)), failed))
