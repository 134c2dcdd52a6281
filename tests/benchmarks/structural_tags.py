"""Structural tags judged by xgrammar: `python -m tests.benchmarks.structural_tags`, run by hand.

xgrammar is no dependency of chatlint or of its tests, since it asks for torch. Only its types need torch,
so where that is missing an empty module stands in for it. Needs xgrammar, apache-tvm-ffi, numpy,
pydantic, and what tests of the corpus need.

For each reading of the corpus with calls: does the tag accept the calls, and refuse them cut off, mistyped, and with
another tool's name? Prints one line for each that does not, and the shares.
"""

from __future__ import annotations

import json
import sys
import types
from importlib.util import find_spec

from chatlint.errors import UsageError
from chatlint.export.structural_tag import structural_tag
from chatlint.export.turn import Request
from chatlint.export.writing import Call, write_calls
from tests.corpus.entries import ENTRIES, TOOLS
from tests.export.learned import learned

GOOD = [Call("get_weather", {"city": "Paris", "days": 3})]
BROKEN = {
    "mistyped": [Call("get_weather", {"city": "Paris", "days": "three"})],
    "missing": [Call("get_weather", {"days": 3})],
    "unknown tool": [Call("get_whether", {"city": "Paris", "days": 3})],
}


def _stand_in(name):
    module = types.ModuleType(name)
    module.__path__ = []
    module.__getattr__ = lambda attribute: type(attribute, (), {"__init__": lambda *_, **__: None})
    sys.modules[name] = module


def compiler():
    import transformers
    import tvm_ffi  # noqa: F401 - these two look for a real torch

    assert transformers.PreTrainedTokenizerFast
    for name in ("torch", "triton"):
        if find_spec(name) is None:
            _stand_in(name)
    import xgrammar

    vocabulary = [bytes([number]) for number in range(256)] + [b"</end>"]
    facts = xgrammar.TokenizerInfo(vocabulary, xgrammar.VocabType.RAW, stop_token_ids=[256])
    return xgrammar.GrammarCompiler(facts)


def read(compiled, text):
    import xgrammar

    matcher = xgrammar.GrammarMatcher(compiled)
    for char in text.encode():
        if not matcher.accept_token(char):
            return "refused"
    return "accepted" if matcher.accept_token(256) else "viable"


def main():
    compile_with = compiler()
    counts = {"accepted": 0, "refused broken": 0, "wrong": 0}
    for entry in ENTRIES:
        output = learned(entry.name)
        request = Request(TOOLS["standard"], "required")
        try:
            tag = json.dumps(structural_tag(output, request))
        except UsageError as error:
            print(f"{entry.name}: {error.message}")
            continue
        try:
            compiled = compile_with.compile_structural_tag(tag)
        except RuntimeError as error:
            counts["wrong"] += 1
            print(f"{entry.name}: {error}")
            continue
        two = [*GOOD, Call("get_time")] if output.tool_calls.parallel and not output.end_of_message else GOOD
        for calls in (GOOD, two):
            text = write_calls(output.tool_calls, calls).strip()
            found = read(compiled, text)
            counts["accepted" if found == "accepted" else "wrong"] += 1
            if found != "accepted":
                print(f"{entry.name}: {found}: {text!r}")
        text = write_calls(output.tool_calls, GOOD).strip()
        tries = {what: write_calls(output.tool_calls, calls).strip() for what, calls in BROKEN.items()}
        for what, broken in {**tries, "cut": text[:-2]}.items():
            found = read(compiled, broken)
            counts["wrong" if found == "accepted" else "refused broken"] += 1
            if found == "accepted":
                print(f"{entry.name}: {what} accepted: {broken!r}")
    print(counts)


if __name__ == "__main__":
    main()
