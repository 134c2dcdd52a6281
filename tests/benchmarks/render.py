"""Renders per second, as ratios: `python -m tests.benchmarks.render [EVERY]` (every nth real template, 12 unless told).

Peers: Jinja alone (compiled once, inputs prepared already: the least that a render can cost) and transformers'
`render_jinja_template`. CPU time of this process; a shared machine makes wall time mean little.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import count
from statistics import median
from time import process_time

from chatlint.conversation import Conversation
from chatlint.render.compiled import compile_template, load
from chatlint.render.environment import chat_environment
from chatlint.render.hosts import HOSTS
from chatlint.render.rendered import Renderer, RenderRequest, RenderSettings
from chatlint.render.renderer import open_renderer
from tests.conftest import SHARED
from tests.render.conversations import CONVERSATIONS
from tests.render.plain import template

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
ROUNDS = 3


def timed(runs: Iterable[Callable[[], object]]) -> float:
    """Milliseconds of CPU time that one of the runs takes."""
    runs = list(runs)
    best = float("inf")
    for _ in range(ROUNDS):
        started = process_time()
        for run in runs:
            run()
        best = min(best, process_time() - started)
    return 1000 * best / max(len(runs), 1)


def prepared(conversation: Conversation) -> dict[str, object]:
    from transformers.tokenization_utils_base import _normalize_chat_messages
    from transformers.utils.chat_template_utils import _alias_reasoning_fields, _plain_template_data

    return {
        "messages": _alias_reasoning_fields(_normalize_chat_messages(list(conversation.messages))),
        "tools": _plain_template_data(conversation.tools and list(conversation.tools)),
        "documents": _plain_template_data(conversation.documents and list(conversation.documents)),
        **TOKENS,
        **conversation.template_kwargs,
    }


def theirs(source: str, request: RenderRequest) -> object:
    from transformers.tokenization_utils_base import _normalize_chat_messages
    from transformers.utils.chat_template_utils import render_jinja_template

    conversation = request.conversation
    return render_jinja_template(
        [_normalize_chat_messages(list(conversation.messages))],
        tools=None if conversation.tools is None else list(conversation.tools),
        documents=None if conversation.documents is None else list(conversation.documents),
        chat_template=source,
        add_generation_prompt=request.add_generation_prompt,
        **TOKENS,
        **conversation.template_kwargs,
    )


def compare(source: str) -> dict[str, float] | None:
    from transformers.utils.chat_template_utils import _compile_jinja_template

    renderer = open_renderer(template(source, **TOKENS))
    good = [
        conversation
        for conversation in CONVERSATIONS.values()
        if renderer.render(RenderRequest(conversation)).prompt is not None
    ]
    if not good:
        return None
    plain = _compile_jinja_template(source)
    requests = [RenderRequest(conversation, on) for conversation in good for on in (True, False)]
    contexts = [
        {**prepared(request.conversation), "add_generation_prompt": request.add_generation_prompt}
        for request in requests
    ]

    def cold(request: RenderRequest) -> object:
        renderer._inputs.forget()
        return renderer.render(request).prompt.spans

    return {
        "plain": timed(lambda c=context: plain.render(**c) for context in contexts),
        "transformers": timed(lambda r=request: theirs(source, r) for request in requests),
        "traced": timed(lambda r=request: renderer.render(r) for request in requests),
        "traced, spans built": timed(
            lambda r=request: renderer.render(r).prompt.spans for request in requests
        ),
        "traced, inputs new": timed(lambda r=request: cold(r) for request in requests),
        "worker": in_worker(source, requests),
    }


def in_worker(source: str, requests: list[RenderRequest]) -> float:
    renderer: Renderer = open_renderer(template(source, **TOKENS), RenderSettings(untrusted=True))
    renderer.render(requests[0])
    milliseconds = timed(lambda r=request: renderer.render(r) for request in requests)
    renderer.close()
    return milliseconds


def compiling(source: str) -> dict[str, float]:
    environment = chat_environment(HOSTS["transformers-5.24"])
    kept: dict[str, bytes] = {}
    never_seen = (f"{source}{{# {number} #}}" for number in count())

    class Store:
        def read(self, room: str, key: str) -> bytes | None:
            return next(iter(kept.values()), None)

        def write(self, room: str, key: str, content: bytes) -> None:
            kept[key] = content

    def cold() -> object:
        text = next(never_seen)
        return load(environment, compile_template(environment, text), text)

    def warm() -> object:
        text = next(never_seen)
        return load(environment, compile_template(environment, text, Store()), text)

    warm()
    return {
        "ours": timed([cold]),
        "from the store": timed([warm]),
        "size of code, KiB": len(next(iter(kept.values()))) / 1024,
    }


def report(title: str, rows: list[dict[str, float]], base: str) -> None:
    print(f"{title}: {len(rows)} templates; mean and largest in ms, mean and median ratio to {base}")
    for name in rows[0]:
        values = [row[name] for row in rows]
        mean = sum(values) / len(values)
        ratio = mean / (sum(row[base] for row in rows) / len(rows))
        ratios = median(row[name] / row[base] for row in rows)
        print(f"  {name:22}{mean:9.3f}{max(values):9.3f}{ratio:8.2f}{ratios:8.2f}")


def main() -> None:
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    sources = [path.read_bytes().decode() for path in sorted((SHARED / "templates").glob("*.jinja"))[::every]]
    renders, compiles = [], []
    for source in sources:
        row = compare(source) if open_renderer(template(source)).coverable_lines() else None
        if row is not None:
            renders.append(row)
            compiles.append(compiling(source))
    report("render", renders, "plain")
    report("compile", compiles, "ours")


if __name__ == "__main__":
    main()
