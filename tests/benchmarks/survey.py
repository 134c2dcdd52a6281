"""What many templates cost: `python -m tests.benchmarks.survey [--every N] [--jobs 1 2]`.

The real templates are surveyed with an empty store and again with a full one, each in a process of its own. CPU time
of that process and of its workers, memory of the largest; wall time means little on a shared machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from chatlint.source.bundled import corpus_names
from tests.conftest import SHARED


def targets(every: int) -> list[str]:
    real = sorted((SHARED / "templates").glob("*.jinja"))
    return [str(path) for path in real[::every]] or [f"corpus:{name}" for name in corpus_names()]


def surveyed(listed: Path, out: Path, store: Path, jobs: int) -> dict[str, float]:
    """CPU and wall seconds of one run, and the most memory that one of its processes took, in MiB."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = {**os.environ, "CHATLINT_CACHE_DIR": str(store)}
    command = [
        sys.executable,
        "-m",
        "chatlint",
        "survey",
        f"@{listed}",
        "--out",
        str(out),
        "--jobs",
        str(jobs),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"CPU s": cpu, "wall s": time.monotonic() - began, "MiB": after.ru_maxrss / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=20, help="only every n-th template (1: all 792)")
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2])
    options = parser.parse_args()
    found = targets(options.every)
    print(f"{len(found)} templates{'':14}CPU s  per template    wall s   largest process")
    for jobs in options.jobs:
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder) / "list"
            listed.write_text("\n".join(found))
            for what in ("cold", "again"):
                cost = surveyed(listed, Path(folder) / "out", Path(folder) / "store", jobs)
                each = f"{1000 * cost['CPU s'] / len(found):7.1f} ms"
                print(
                    f"{jobs} worker{'s' if jobs > 1 else ' '}, {what:6}     {cost['CPU s']:8.2f}    {each}  {cost['wall s']:8.1f}  {cost['MiB']:8.0f} MiB"
                )


if __name__ == "__main__":
    main()
