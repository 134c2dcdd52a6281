"""`chatlint card TARGET`: a block for a model's README."""

from __future__ import annotations

import sys
from typing import Annotated

from chatlint.cli import options
from chatlint.cli.declared import Option

Heading = Annotated[
    str, Option("--heading", metavar="N", help="Level of the heading: 1 to 4.", show_default=True)
]


def write_card(
    target: options.Target,
    heading: Heading = "2",
    host: options.Host = None,
    template: options.TemplateFile = None,
    special_tokens: options.SpecialTokens = None,
    revision: options.Revision = None,
    offline: options.Offline = False,
    untrusted: options.Untrusted = False,
    no_cache: options.NoCache = False,
) -> None:
    """Print Markdown for a model's README: capabilities, how to serve it, how it writes calls, limits."""
    from chatlint.cli.progress import Progress
    from chatlint.config import Settings
    from chatlint.errors import TargetError, UsageError
    from chatlint.pipeline import check_target
    from chatlint.render.rendered import DEFAULT_HOST
    from chatlint.report.card import card

    if heading not in ("1", "2", "3", "4"):
        raise UsageError(f"--heading {heading} is no level", hint="1 to 4")
    settings = Settings(
        host=host or DEFAULT_HOST,
        template=template,
        special_tokens=special_tokens,
        revision=revision,
        offline=offline,
        untrusted=untrusted,
        cache=not no_cache,
    )
    with Progress(1) as progress:
        report = check_target(target, settings, progress.say)
    if report.failure:
        raise TargetError(report.failure.message, hint=report.failure.hint)
    sys.stdout.write(card(report, int(heading)))
