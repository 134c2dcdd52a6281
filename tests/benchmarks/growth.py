"""How costs grow with the work: `python -m tests.benchmarks.growth [NAME…]` (corpus entries, `qwen3` unless told).

Conversations of 10 to 1,000 messages, 1 to 1,000 tools, contents of 1 kB to 1 MB, and the model's text of as much.
Linear is a ratio near 1: the time of ten times the work over ten times the time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from time import process_time

from chatlint.conversation import Conversation
from chatlint.infer.learn import learn
from chatlint.probe.trace import Trace
from chatlint.render.rendered import RenderRequest
from chatlint.render.renderer import open_renderer
from chatlint.render.syntax import syntax_of
from chatlint.source.load import load

ROUNDS = 3


def timed(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        began = process_time()
        work()
        best = min(best, process_time() - began)
    return 1000 * best


def turns(count: int) -> Conversation:
    pairs = [
        (
            {"role": "user", "content": f"Question {number}"},
            {"role": "assistant", "content": f"Answer {number}"},
        )
        for number in range(count // 2)
    ]
    return Conversation(tuple(message for pair in pairs for message in pair))


def calls(count: int) -> Conversation:
    """A long tool loop."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "Go."}]
    for number in range(count // 2):
        identity = f"call{number:05}"
        function = {"name": "look", "arguments": {"place": f"Place {number}", "days": number}}
        messages.append(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": identity, "type": "function", "function": function}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": identity, "content": f"Result {number}"})
    return Conversation(tuple(messages), (tool(0),))


def tool(number: int) -> dict[str, object]:
    properties = {f"p{index}": {"type": "string", "description": f"Parameter {index}"} for index in range(5)}
    parameters = {"type": "object", "properties": properties, "required": ["p0"]}
    return {
        "type": "function",
        "function": {"name": f"tool_{number}", "description": f"Tool {number}", "parameters": parameters},
    }


def tools(count: int) -> Conversation:
    return Conversation(({"role": "user", "content": "Go."},), tuple(tool(number) for number in range(count)))


def content(characters: int) -> Conversation:
    text = ('Some words, "quoted" ones,\nand a line.\t' * (characters // 40 + 1))[:characters]
    return Conversation(({"role": "user", "content": text}, {"role": "assistant", "content": text}))


KINDS: dict[str, tuple[Callable[[int], Conversation], tuple[int, ...]]] = {
    "messages": (turns, (10, 100, 1_000)),
    "messages in a tool loop": (calls, (10, 100, 1_000)),
    "tools": (tools, (1, 10, 100, 1_000)),
    "characters of content": (content, (1_000, 10_000, 100_000, 1_000_000)),
}


def main() -> None:
    for name in sys.argv[1:] or ["qwen3"]:
        template = load(f"corpus:{name}").templates[0]
        print(f"corpus:{name}, CPU ms")
        renderer = open_renderer(template)
        for what, (make, sizes) in KINDS.items():
            show(f"render, {what}", sizes, partial(rendered, renderer, make))
        with Trace(template) as trace:
            output = learn(trace, syntax_of(template.text))
        for step in (4, 1_000_000):
            sizes = (1_000, 10_000, 100_000, 1_000_000)
            show(f"parse in chunks of {step:,}", sizes, partial(parsed, output, step))


def rendered(renderer, make, size):
    request = RenderRequest(make(size))

    def work():
        found = renderer.render(request)
        return found.prompt.spans if found.prompt else found.failure.message

    return work


def parsed(output, step, size):
    text = ('Some words, "quoted" ones,\nand a < b line.\t' * (size // 44 + 1))[:size]
    chunks = [text[start : start + step] for start in range(0, size, step)]

    def work():
        parser = output.parser()
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()

    return work


def show(title: str, sizes: tuple[int, ...], make: Callable[[int], Callable[[], object]]) -> None:
    print(f"  {title}")
    previous: tuple[int, float] | None = None
    for size in sizes:
        work = make(size)
        result = work()
        if isinstance(result, str):
            print(f"    {size:>9,} {'':13} {result}")
            return
        cost = timed(work)
        ratio = f"{cost / previous[1] / (size / previous[0]):8.2f}" if previous else ""
        print(f"    {size:>9,} {cost:10.2f} ms {ratio}", flush=True)
        previous = size, cost


if __name__ == "__main__":
    main()
