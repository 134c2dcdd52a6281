"""What each command costs before it does anything, and for one template: `python -m tests.benchmarks.startup`.

CPU milliseconds of whole processes, the least of five; with an empty store, and with what the first run left in it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = (
    ("--version",),
    ("--help",),
    ("check", "--help"),
    ("rules",),
    ("rule", "prefix-break"),
    ("probes",),
    ("corpus", "list"),
    ("schema", "report"),
    ("cache", "info"),
    ("check", "corpus:qwen3"),
    ("check", "corpus:qwen3", "--format", "json"),
    ("check", "corpus:qwen3", "--no-cache"),
    ("render", "corpus:qwen3"),
    ("export", "corpus:qwen3", "--to", "vllm"),
    ("card", "corpus:qwen3"),
    ("diff", "corpus:qwen3", "corpus:qwen3"),
    ("lock", "corpus:qwen3", "--file", "LOCK"),
    ("vectors", "corpus:qwen3"),
)
ROUNDS = 5


def milliseconds(command: tuple[str, ...], store: Path) -> float:
    environment = {**os.environ, "CHATLINT_CACHE_DIR": str(store)}
    arguments = [str(store / "chatlint.lock") if one == "LOCK" else one for one in command]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "chatlint", *arguments], capture_output=True, check=False, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def bare() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    print(f"{'CPU ms':44} {'first':>7} {'again':>7}")
    print(f"{'python -c pass':44} {min(bare() for _ in range(ROUNDS)):7.0f}")
    for command in COMMANDS:
        first, again = [], []
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                store = Path(folder) / "store"
                store.mkdir(mode=0o700)
                first.append(milliseconds(command, store))
                again.append(milliseconds(command, store))
        print(f"{'chatlint ' + ' '.join(command):44} {min(first):7.0f} {min(again):7.0f}", flush=True)


if __name__ == "__main__":
    main()
