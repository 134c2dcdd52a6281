"""How fast the machine reads, in CPU time: `python -m tests.benchmarks.parse [part of a name …]`.

For each kind of text: MB/s whole, MB/s in chunks of 4 characters, what twice the text costs (linear: 2.0), and,
as a measure that depends less on the machine, how often a plain `re.finditer` (for `<`, quotes and brackets) could
pass over the same chunks in the time.
At the end the baseline that many servers use: parse all that has come again at every chunk.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable

from chatlint.parse.formats import OutputFormat
from tests.parse.catalogue import CATALOGUE

_MARKS = re.compile(r'[<"{}\[\]]').finditer
SIZE = 1_000_000
CHUNK = 4
ROUNDS = 5
WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "for",
    "it",
    "as",
    "was",
    "with",
    "be",
    "by",
    "on",
    "not",
    "he",
    "his",
    "but",
    "at",
    "are",
    "this",
    "have",
    "from",
    "or",
    "had",
    "an",
    "they",
    "which",
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "write_file",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "text": {"type": "string"},
                    "rows": {"type": "array"},
                    "mode": {"type": "integer"},
                    **{word: {"type": "string"} for word in WORDS},
                },
            },
        },
    }
]


def prose(size: int) -> str:
    """Words, sentences, paragraphs."""
    source = random.Random(size)
    parts, length = [], 0
    while length < size:
        part = source.choice(WORDS) + source.choice([" "] * 14 + [", ", ". ", "\n\n"])
        parts.append(part)
        length += len(part)
    return "".join(parts)[:size].strip()


def code(size: int) -> str:
    """Lines with quotes, brackets and indents."""
    line = 'def read(self, path: str) -> dict[str, list[int]]:\n    return {"path": path, "lines": [len(x) for x in open(path)]}\n\n'
    return (line * (size // len(line) + 1))[:size].strip()


def object_call(arguments: dict) -> str:
    """One call as a JSON object between tags."""
    return '<tool_call>\n{"name": "write_file", "arguments": ' + json.dumps(arguments) + "}\n</tool_call>"


def element_call(arguments: dict) -> str:
    """One call as elements, values raw."""
    members = [
        f"<parameter={key}>\n{value if isinstance(value, str) else json.dumps(value)}\n</parameter>\n"
        for key, value in arguments.items()
    ]
    return "<tool_call>\n<function=write_file>\n" + "".join(members) + "</function>\n</tool_call>"


def turn(size: int, call: Callable[[dict], str]) -> str:
    """A long turn as agents have it: reasoning, an answer, a file to write."""
    third = size // 3
    return f"<think>\n{prose(third)}\n</think>\n\n{prose(third)}\n" + call(
        {"path": "a.py", "text": code(third)}
    )


def many(size: int, call: Callable[[dict], str]) -> str:
    """Nothing but calls of some 400 characters, no call like another."""
    source = random.Random(size)
    words = prose(size)
    calls, length = [], 0
    while length < size:
        start = source.randrange(len(words) - 300)
        path = f"src/{source.choice(WORDS)}{source.randrange(10**4)}.py"
        more = {source.choice(WORDS): f"{source.choice(WORDS)} {source.choice(WORDS)}"}
        calls.append(
            call({"path": path, "text": words[start : start + 280], "mode": source.randrange(10**6)} | more)
        )
        length += len(calls[-1]) + 1
    return "\n".join(calls)


def rows(size: int) -> list:
    """Data that is mostly structure, no row like another."""
    source = random.Random(size)
    found: list = []
    length = 0
    while length < size:
        values = [source.randrange(1000), round(source.random(), 3), None]
        name = f"{source.choice(WORDS)} {source.choice(WORDS)}"
        found.append(
            {"id": source.randrange(10**6), "name": name, "ok": source.random() < 0.5, "values": values}
        )
        length += len(json.dumps(found[-1])) + 2
    return found


KINDS: dict[str, tuple[str, Callable[[int], str]]] = {
    "prose": ("hermes_json", prose),
    "reasoning": ("qwen_xml", lambda size: "<think>\n" + prose(size)),
    "channel": ("harmony", lambda size: "<|channel|>final<|message|>" + prose(size)),
    "turn, object": ("hermes_json", lambda size: turn(size, object_call)),
    "turn, elements": ("qwen_xml", lambda size: turn(size, element_call)),
    "many calls, object": ("hermes_json", lambda size: many(size, object_call)),
    "many calls, elements": ("qwen_xml", lambda size: many(size, element_call)),
    "string argument, object": ("hermes_json", lambda size: object_call({"text": prose(size)})),
    "string argument, raw": ("qwen_xml", lambda size: element_call({"text": prose(size)})),
    "code argument, object": ("hermes_json", lambda size: object_call({"text": code(size)})),
    "code argument, raw": ("qwen_xml", lambda size: element_call({"text": code(size)})),
    "rows, object": ("hermes_json", lambda size: object_call({"rows": rows(size)})),
    "rows, elements": ("qwen_xml", lambda size: element_call({"rows": rows(size)})),
    "python call": (
        "lfm2_pythonic",
        lambda size: f"<|tool_call_start|>[write_file(text={prose(size)!r})]<|tool_call_end|>",
    ),
    "markup in prose": ("hermes_json", lambda size: "<p>some <b>text</b></p>\n" * (size // 24)),
}


def seconds(output: OutputFormat, make: Callable[[int], str], size: int, chunk: int) -> float:
    """CPU seconds to read a million bytes, the best of some rounds. Each round has another text of its kind,
    freshly cut: what is remembered of one (`chatlint.parse.known`) counts only as far as the next is alike."""
    best = float("inf")
    for turn in range(ROUNDS):
        text = make(size + turn)
        chunks = [text[i : i + chunk] for i in range(0, len(text), chunk)] if chunk else [text]
        parser = output.parser(tools=TOOLS)
        started = time.process_time()
        for piece in chunks:
            parser.feed(piece)
        parser.finish()
        best = min(best, (time.process_time() - started) / len(text.encode()) * 1e6)
    return best


def pass_seconds(text: str, chunk: int) -> float:
    """CPU seconds of a plain pass over the chunks."""
    chunks = [text[i : i + chunk] for i in range(0, len(text), chunk)]
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for piece in chunks:
            for _found in _MARKS(piece):
                pass
        best = min(best, time.process_time() - started)
    return best


def again_seconds(output: OutputFormat, text: str) -> float:
    """CPU seconds if all that has come is parsed again at every chunk."""
    started = time.process_time()
    for end in range(CHUNK, len(text), CHUNK):
        output.parser(tools=TOOLS).parse(text[:end])
    return time.process_time() - started


def main(wanted: list[str]) -> None:
    """Prints the table."""
    print(f"{'kind':26}{'whole MB/s':>12}{'chunks MB/s':>12}{'whole 2x':>10}{'chunks 2x':>10}{'passes':>8}")
    for kind, (name, make) in KINDS.items():
        if wanted and not any(part in kind for part in wanted):
            continue
        output = CATALOGUE[name].output
        whole, chunked = seconds(output, make, SIZE, 0), seconds(output, make, SIZE, CHUNK)
        twice = 2 * seconds(output, make, 2 * SIZE, 0), 2 * seconds(output, make, 2 * SIZE, CHUNK)
        ratios = twice[0] / whole, twice[1] / chunked
        once = make(SIZE)
        passes = chunked * len(once.encode()) / 1e6 / pass_seconds(once, CHUNK)
        print(f"{kind:26}{1 / whole:12.1f}{1 / chunked:12.2f}{ratios[0]:10.2f}{ratios[1]:10.2f}{passes:8.1f}")
    output, text = CATALOGUE["hermes_json"].output, turn(8_000, object_call)
    ours = seconds(output, lambda size: turn(size, object_call), 8_000, CHUNK) * len(text) / 1e6
    again = again_seconds(output, text)
    print(
        f"baseline, {len(text)} characters: {ours * 1e3:.1f} ms here, {again * 1e3:.0f} ms again and again ({again / ours:.0f} times)"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
