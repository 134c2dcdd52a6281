"""What runs minijinja: reads a job, writes an answer. Needs nothing of chatlint, which does not import it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from minijinja import Environment

_FUEL = 5_000_000
_MEMORY = 1024 * 1024 * 1024


class _Job(TypedDict):
    source: str
    trim: bool
    python_json: bool
    now: str | None
    jobs: Sequence[Mapping[str, object]]


def main() -> None:
    """One job from standard input, one answer to standard output."""
    _limit()
    job: _Job = json.load(sys.stdin)
    environment = _environment(job)
    try:
        environment.add_template("chat", job["source"])
    except Exception as error:
        results = [{"error": _words(error)} for _ in job["jobs"]]
    else:
        results = [_rendered(environment, variables) for variables in job["jobs"]]
    json.dump({"results": results}, sys.stdout)


def _environment(job: _Job) -> Environment:
    from minijinja import Environment

    environment = Environment()
    environment.pycompat = True
    environment.trim_blocks = environment.lstrip_blocks = job["trim"]
    environment.fuel = _FUEL
    environment.auto_escape_callback = lambda name: False
    environment.add_global("raise_exception", _raise)
    if job["now"]:
        now = datetime.fromisoformat(job["now"])
        environment.add_global("strftime_now", now.strftime)
    if job["python_json"]:
        environment.add_filter("tojson", _tojson)
    return environment


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """As transformers has it."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=(separators[0], separators[1]) if separators else None,
        sort_keys=sort_keys,
    )


def _raise(message: str) -> None:
    raise ValueError(message)


def _rendered(environment: Environment, variables: Mapping[str, object]) -> dict[str, str]:
    try:
        return {"text": environment.render_template("chat", **variables)}
    except Exception as error:
        return {"error": _words(error)}


def _words(error: BaseException) -> str:
    """Its own words; a template's `raise_exception` stands behind them."""
    cause = error.__cause__
    first = str(error).strip().partition("\n")[0]
    return f"{first}: {cause}" if cause is not None else first


def _limit() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    except (ImportError, ValueError, OSError):
        pass


if __name__ == "__main__":
    main()
