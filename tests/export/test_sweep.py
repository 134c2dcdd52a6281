"""Exports of real templates: shares that must not fall. `pytest -m sweep`."""

from __future__ import annotations

from collections import Counter

import pytest

from chatlint.errors import TargetError, UsageError
from chatlint.export.flags import serving_of
from chatlint.export.inversion import proven_template
from chatlint.export.turn import Request, turn_grammar
from chatlint.export.writing import Call, write_calls
from chatlint.infer.learn import learn
from chatlint.probe.trace import Trace
from chatlint.render.rendered import RenderSettings
from chatlint.render.syntax import syntax_of
from chatlint.source.load import load
from tests.corpus.entries import TOOLS
from tests.export.judges import lark
from tests.export.test_response_template import read

CALL = Call("get_weather", {"city": "Paris", "days": 3})
BROKEN = Call("get_weather", {"city": "Paris", "days": "three"})


def formats(folder):
    """The formats of real templates that show calls."""
    for path in sorted(folder.glob("*.jinja")):
        try:
            template = load(str(path)).templates[0]
        except TargetError:
            continue
        with Trace(template, RenderSettings()) as trace:
            output = learn(trace, syntax_of(template.text))
        if output.tool_calls:
            yield output


def reads_back(output):
    try:
        template = proven_template(output)
    except UsageError:
        return False
    text = write_calls(output.tool_calls, [CALL])
    calls = read(template, text, prefix=output.header, tools=TOOLS["weather"], step=3)[2]
    return [call[:2] for call in calls] == [("get_weather", {"city": "Paris", "days": 3})]


def forces(output):
    """Whether the grammar takes the call, and neither a mistyped nor a cut one."""
    try:
        grammar = turn_grammar(output, Request(TOOLS["weather"], "required", generation_prompt=output.header))
    except UsageError:
        return False
    good, broken = (write_calls(output.tool_calls, [call]) for call in (CALL, BROKEN))
    taken = lark(grammar, good) == "accepted"
    return taken and lark(grammar, broken) != "accepted" and lark(grammar, good.rstrip()[:-1]) != "accepted"


@pytest.mark.sweep
def test_shares_of_real_templates(shared):
    counts = Counter()
    for output in formats(shared / "templates"):
        engines = serving_of(output).engines
        counts["all"] += 1
        counts["response template"] += reads_back(output)
        counts["grammar"] += forces(output)
        counts["vllm"] += bool(engines["vllm"].tool_call_parser)
        counts["sglang"] += bool(engines["sglang"].tool_call_parser)
    shares = {name: count / counts["all"] for name, count in counts.items()}
    assert counts["all"] > 250
    assert shares["response template"] > 0.9, shares
    assert shares["grammar"] > 0.95, shares
    assert shares["vllm"] > 0.9, shares
    assert shares["sglang"] > 0.8, shares
