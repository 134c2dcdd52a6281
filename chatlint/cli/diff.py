"""`chatlint diff A B`: what changed between two targets or two saved reports."""

from __future__ import annotations

import sys
from typing import Annotated

from chatlint.cli import check, options
from chatlint.cli.declared import Argument, Option
from chatlint.cli.streams import print_whole

First = Annotated[str, Argument(metavar="A", help="A target, or a report saved by check --format json.")]
Second = Annotated[str, Argument(metavar="B", help="Another one.")]
Format = Annotated[str, Option("--format", metavar="F", help="What to print: terminal, json, markdown.")]

_FORMATS = ("terminal", "json", "markdown")


def compare_targets(
    first: First,
    second: Second,
    format_: Format = "terminal",
    host: options.Host = None,
    special_tokens: options.SpecialTokens = None,
    offline: options.Offline = False,
    untrusted: options.Untrusted = False,
    no_cache: options.NoCache = False,
    config: check.Config = None,
    color: options.Color = "auto",
) -> None:
    """Say what changed from A to B: is it cosmetic, or another behaviour?

    Two revisions (org/model@v1 org/model@v2), a fork and its base, a GGUF and its source. Exit status: 0 the
    same behaviour, 1 another one, or nobody knows: not every case could be rendered on both sides, and saved
    reports have no prompts; 2 usage or internal error, 3 a target could not be loaded.
    """
    import json

    from chatlint.cli.configured import settings_of
    from chatlint.cli.progress import Progress
    from chatlint.config import nearest
    from chatlint.diff import compare
    from chatlint.diff.markdown import markdown
    from chatlint.diff.sides import read_sides
    from chatlint.diff.terminal import terminal
    from chatlint.errors import UsageError
    from chatlint.records import replace
    from chatlint.report.canvas import canvas_for

    if format_ not in _FORMATS:
        raise UsageError(f"no format {format_!r}", hint=nearest(format_, _FORMATS))
    options.colour_choice(color)
    settings = settings_of(config, host=host)
    settings = replace(
        settings, special_tokens=special_tokens, offline=offline, untrusted=untrusted, cache=not no_cache
    )
    with Progress(1) as progress:
        one, other = read_sides(first, second, settings, progress.say)
        drift = compare(one, other, settings)
    if format_ == "json":
        print_whole(json.dumps(drift.to_dict(), indent=2) + "\n")
    elif format_ == "markdown":
        print_whole(markdown(drift))
    else:
        print_whole(terminal(drift, canvas_for(sys.stdout, color)))
    sys.exit(drift.exit_code)
