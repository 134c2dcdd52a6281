"""Worker processes: the same results, and an end to what cannot be bounded from inside."""

from __future__ import annotations

import gc
import os
import signal
import time

import pytest

from chatlint.conversation import Conversation
from chatlint.errors import InternalError
from chatlint.limits import WORKER_FAILURES
from chatlint.render import worker
from chatlint.render.rendered import FailureKind, RenderRequest, RenderSettings
from chatlint.render.renderer import open_renderer
from chatlint.text import Input
from tests.render.plain import template

SLOW = (
    "a\n{% if add_generation_prompt %}\n"
    "{% for i in range(99999) %}{% for j in range(100000) if false %}{% endfor %}{% endfor %}\n{% endif %}"
)
"""Takes the two seconds of CPU time that a render may take."""
GOOD = Conversation(({"role": "user", "content": "hi\ud800 \u2028é"},))
TOOLS = Conversation(
    ({"role": "user", "content": [{"type": "text", "text": "x"}, None, 1.5, True]},),
    ({"type": "function", "function": {"name": "f", "parameters": {"a/b": {"n": None, "f": 1e300}}}},),
    ({"title": "t"},),
    {"enable_thinking": False, "level": 3},
)
SOURCE = """{{ bos_token }}{% for m in messages %}{{ m }}{{ loop.index }}
{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}
{% if tools %}{{ tools|tojson }}{{ level }}{{ enable_thinking }}{% endif %}
{% if add_generation_prompt %}{{ raise_exception("no " ~ messages[0].role) }}{% endif %}"""


def opened(source: str, *, untrusted: bool = True):
    return open_renderer(template(source, bos_token="<s>"), RenderSettings(untrusted=untrusted))


@pytest.mark.parametrize("conversation", [GOOD, TOOLS])
@pytest.mark.parametrize("generation", [True, False])
@pytest.mark.parametrize(
    "source", [SOURCE, "{{ messages[7].content }}", "{% if %}", "{{ x|nothing }}", "x" * 2_000_000]
)
def test_a_worker_gives_what_this_process_gives(
    source: str, generation: bool, conversation: Conversation
) -> None:
    request = RenderRequest(conversation, generation)
    results = []
    for untrusted in (True, False):
        renderer = opened(source, untrusted=untrusted)
        rendered = renderer.render(request)
        results.append(
            (
                rendered.prompt,
                rendered.failure,
                rendered.lines,
                rendered.generation,
                rendered.mutated,
                rendered.generation_reported,
                renderer.coverable_lines(),
            )
        )
        renderer.close()
    assert results[0] == results[1]


def test_the_case_that_hangs_is_named_and_the_worker_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = opened(SLOW)
    cases = [RenderRequest(GOOD, generation) for generation in (False, True, False)]
    first = renderer.render(cases[0])
    monkeypatch.setattr(worker, "WORKER_SECONDS", 0.5)
    started = time.monotonic()
    second = renderer.render(cases[1])
    took = time.monotonic() - started
    monkeypatch.undo()
    third = renderer.render(cases[2])
    renderer.close()
    assert first.prompt is not None
    assert second.failure is not None
    assert second.failure.kind is FailureKind.BOUND
    assert second.failure.line == 3, "the line that ran when it was ended"
    assert third.prompt == first.prompt
    assert 0.5 <= took < 10


def test_a_template_is_given_up_after_some_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "WORKER_SECONDS", 0.3)
    renderer = opened(SLOW)
    started = time.monotonic()
    results = renderer.render_all([RenderRequest(GOOD, True)] * 30)
    renderer.close()
    assert {result.failure.kind for result in results if result.failure} == {FailureKind.BOUND}
    assert len(results) == 30
    assert time.monotonic() - started < 0.3 * WORKER_FAILURES + 20
    assert results[-1].failure is not None
    assert "not rendered" in results[-1].failure.message


def test_a_worker_that_dies_is_replaced() -> None:
    renderer = opened("{{ messages[0].content }}")
    request = RenderRequest(GOOD)
    before = renderer.render(request)
    os.kill(renderer._process._process.pid, signal.SIGKILL)
    killed = renderer.render(request)
    after = renderer.render(request)
    renderer.close()
    assert killed.failure is not None
    assert killed.failure.kind is FailureKind.BOUND
    assert before.prompt == after.prompt
    assert before.prompt is not None


def test_memory_is_bounded() -> None:
    source = "{% set ns = namespace(x=[]) %}{% for i in range(9000) %}{% set ns.x = [ns.x, dict(x='y' * 999999)] %}"
    grows = "{% set ns = namespace(x={}) %}{% for i in range(99999) %}{% set ns.x = dict(a=range(99999)|list, b=ns.x) %}"
    for bomb in (source, grows):
        renderer = opened(bomb + "{% endfor %}")
        rendered = renderer.render(RenderRequest(GOOD))
        renderer.close()
        assert rendered.failure is not None
        assert rendered.failure.kind is FailureKind.BOUND


def test_a_worker_is_used_again() -> None:
    first = opened("{{ messages[0].role }}")
    first.render(RenderRequest(GOOD))
    pid = first._process._process.pid
    first.close()
    second = opened("{{ messages[0].content }}")
    prompt = second.render(RenderRequest(GOOD)).prompt
    assert second._process._process.pid == pid
    second.close()
    assert prompt is not None
    assert prompt.spans[0].origin == Input("/messages/0/content", 0)


def test_a_renderer_that_nobody_closes_takes_its_worker_with_it() -> None:
    renderer = opened("{{ messages[0].role }}")
    renderer.render(RenderRequest(GOOD))
    process = renderer._process
    assert process.alive()
    del renderer
    gc.collect()
    assert not process.alive()


def test_a_fault_of_ours_in_a_worker_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = opened("{{ messages[0].role }}")
    monkeypatch.setattr(worker, "asked", lambda request: {"messages": "["})
    with pytest.raises(InternalError, match="a worker process failed"):
        renderer.render(RenderRequest(GOOD))
    monkeypatch.undo()
    assert renderer.render(RenderRequest(GOOD)).prompt is not None
    renderer.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_workers_of_its_own() -> None:
    renderer = opened("{{ messages[0].role }}")
    expected = renderer.render(RenderRequest(GOOD)).prompt
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        rendered = renderer.render(RenderRequest(GOOD))
        different = renderer._process._owner == os.getpid()
        os.write(writing, b"same" if rendered.prompt == expected and different else b"other")
        renderer._process.kill()
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 10) == b"same"
    assert renderer.render(RenderRequest(GOOD)).prompt == expected
    renderer.close()


def test_code_is_kept_for_workers_only() -> None:
    kept: dict[tuple[str, str], bytes] = {}

    class Store:
        def read(self, room: str, key: str) -> bytes | None:
            return kept.get((room, key))

        def write(self, room: str, key: str, content: bytes) -> None:
            kept[room, key] = content

    for _ in range(2):
        for untrusted in (True, False):
            renderer = open_renderer(template("{{ 1 + 1 }}"), RenderSettings(untrusted=untrusted), Store())
            prompt = renderer.render(RenderRequest(GOOD)).prompt
            renderer.close()
            assert prompt is not None
            assert prompt.text == "2"
    assert sorted(room for room, _ in kept) == ["compiled", "compiled-untrusted"]
    kept.update(dict.fromkeys(kept, b"nonsense"))
    for untrusted in (True, False):
        renderer = open_renderer(template("{{ 1 + 1 }}"), RenderSettings(untrusted=untrusted), Store())
        assert renderer.render(RenderRequest(GOOD)).prompt is not None
        renderer.close()
