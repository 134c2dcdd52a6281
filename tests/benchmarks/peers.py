"""What a whole command costs, ours beside the peers' that install from PyPI. CPU time; run by hand:

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install chatlint ggufdoctor c4nary glyphhound
    python -m tests.benchmarks.peers /tmp/peers/bin ../shared/templates/*.jinja --every 40

PyPI's `chatlint` is another project. Peers that read only GGUF get each template in one, with a vocabulary of three.
They do less: shapes rendered and inspected, or static scans; none learns a format.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gguf import GGUFWriter

_SECONDS = 40
"""After that a run counts as broken."""


@dataclass(frozen=True)
class Tool:
    """One way to run a tool over one template, as a command line."""

    name: str
    command: Callable[[Path, Path], list[str]]


def tools(folder):
    ours = [sys.executable, "-m", "chatlint", "check", "--fail-on", "never"]
    return (
        Tool("ours, cached result", lambda jinja, gguf: [*ours, str(jinja)]),
        Tool("ours", lambda jinja, gguf: [*ours, "--no-cache", str(jinja)]),
        Tool("PyPI chatlint check", lambda jinja, gguf: [f"{folder}/chatlint", "check", str(jinja)]),
        Tool("ggufdoctor", lambda jinja, gguf: [f"{folder}/ggufdoctor", str(gguf)]),
        Tool("canary scan (c4nary)", lambda jinja, gguf: [f"{folder}/canary", "scan", str(gguf)]),
        Tool("glyphhound scan", lambda jinja, gguf: [f"{folder}/glyphhound", "scan", str(jinja)]),
    )


def in_gguf(template, path):
    """A GGUF that holds nothing but the template and the smallest vocabulary."""
    writer = GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["<s>", "</s>", "a"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_chat_template(template)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def cpu_of(command, home):
    """CPU seconds of one run, and whether it ended by itself without a traceback."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "XDG_CACHE_HOME": str(home), "HF_HUB_OFFLINE": "1", "NO_COLOR": "1"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, env=environment)
        fine = "Traceback" not in done.stderr
    except subprocess.TimeoutExpired:
        fine = False
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, fine


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the peers' commands are")
    parser.add_argument("templates", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1)
    asked = parser.parse_args()
    taken = asked.templates[:: asked.every]
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        seconds = {}
        for tool in tools(asked.folder):
            times, failed = [], 0
            for template in taken:
                gguf = home / f"{template.stem}.gguf"
                if not gguf.exists():
                    in_gguf(template.read_text(encoding="utf-8", errors="replace"), gguf)
                if tool.name == "ours, cached result":
                    cpu_of(tool.command(template, gguf), home)
                used, fine = cpu_of(tool.command(template, gguf), home)
                times.append(used)
                failed += not fine
            seconds[tool.name] = statistics.median(times)
            ratio = seconds[tool.name] / seconds["ours, cached result"]
            print(
                f"{tool.name:24} {1000 * seconds[tool.name]:7.0f} ms median, {1000 * max(times):7.0f} ms most, "
                f"{ratio:5.1f} ×, {failed} broken of {len(taken)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
