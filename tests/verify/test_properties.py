"""Random tools, arguments and chunkings through every learned format of the corpus.

A message is sent through the template, cut out as the model would have written it, and read back. What does not
come back must be the template's doing, or a value that the format cannot tell from its own marks.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatlint.conversation import Conversation
from chatlint.verify.chunks import streamed
from chatlint.verify.comparison import Cause, differences
from chatlint.verify.prefix import shown_before
from chatlint.verify.written import written
from tests.corpus.entries import ENTRIES
from tests.infer.learned import of_entry

WITH_CALLS = [entry for entry in ENTRIES if entry.expected["format"]["tool_calls"]]
KEYS = st.from_regex(r"[a-z][a-z_]{2,9}", fullmatch=True).filter(
    lambda key: key not in ("name", "arguments", "items", "keys", "values", "get", "type", "item", "function")
)
CHARACTERS = st.sampled_from("abcXYZ 019.,:;!?'\"`\\/{}[]()<>&=+-_\n\té漢🦙")
STRINGS = st.text(CHARACTERS, min_size=1, max_size=30)
LEAVES = st.one_of(
    STRINGS,
    st.integers(-(10**9), 10**9),
    st.floats(-1000, 1000).map(lambda number: round(number, 3)),
    st.booleans(),
)
VALUES = st.one_of(
    LEAVES,
    st.lists(st.text("abcXYZ ", min_size=1, max_size=8).map(str.strip).filter(bool), min_size=1, max_size=3),
    st.dictionaries(
        KEYS, st.one_of(st.integers(0, 99), st.text("abcXYZ", min_size=1)), min_size=1, max_size=3
    ),
)
ARGUMENTS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=4)
NAMES = st.from_regex(r"[a-z]{3,8}_[a-z]{3,8}", fullmatch=True)
CALLS = st.lists(st.tuples(NAMES, ARGUMENTS), min_size=1, max_size=3, unique_by=lambda call: call[0])


def schema_of(value):
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    kind = {"type": names[type(value)]}
    if isinstance(value, dict):
        return kind | {"properties": {key: schema_of(item) for key, item in value.items()}}
    return kind | {"items": schema_of(value[0])} if isinstance(value, list) else kind


def tool(name, arguments):
    parameters = {"type": "object", "properties": {key: schema_of(value) for key, value in arguments.items()}}
    function = {"name": name, "description": "x", "parameters": parameters | {"required": list(arguments)}}
    return {"type": "function", "function": function}


def conversation(entry, calls):
    identity = "functions.{name}:{index}" if "named" in str(form(entry)) else "idxyz000{index}"
    sent = [
        {
            "id": identity.format(name=name, index=index),
            "type": "function",
            "function": {"name": name, "arguments": encoded(entry, arguments)},
        }
        for index, (name, arguments) in enumerate(calls)
    ]
    messages = ({"role": "user", "content": "Go."}, {"role": "assistant", "content": "", "tool_calls": sent})
    return Conversation(messages, tuple(tool(name, arguments) for name, arguments in calls))


def form(entry):
    return of_entry(entry.name)[1].grounds["tool_calls"].evidence


def encoded(entry, arguments):
    return json.dumps(arguments) if any("arguments=string" in case for case in form(entry)) else arguments


@pytest.mark.parametrize("entry", WITH_CALLS, ids=[entry.name for entry in WITH_CALLS])
def test_calls_come_back(entry):
    trace, output = of_entry(entry.name)

    @settings(
        max_examples=7,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    @given(CALLS, st.lists(st.integers(1, 9), min_size=1, max_size=8))
    def check(calls, sizes):
        given_calls = calls if output.tool_calls.parallel else calls[:1]
        asked = conversation(entry, given_calls)
        name = f"property/{json.dumps(given_calls)}"
        seen = trace.ask_conversation(name, asked, add_generation_prompt=False)
        one = written(output, shown_before(trace, seen, 1), seen, 1)
        if one is None:
            return
        received = output.parser(tools=asked.tools, generation_prompt=one.prompt).parse(one.text)
        lost = [d for d in differences(output, one, received) if d.cause is Cause.PARSER]
        assert not lost, (one.text, received)
        reader = output.parser(tools=asked.tools, generation_prompt=one.prompt)
        assert streamed(reader, cut(one.text, sizes)) == received

    check()


def cut(text, sizes):
    at, turn = 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        yield text[at : at + size]
        at, turn = at + size, turn + 1
