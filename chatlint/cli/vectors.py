"""`chatlint vectors TARGET`: conformance vectors for those who write engines."""

from __future__ import annotations

import json
import sys
from typing import Annotated

from chatlint.cli import options
from chatlint.cli.declared import Option

Hosts = Annotated[
    list[str] | None,
    Option(
        "--host", metavar="NAME", help="Who renders; may be repeated, `all` is every host.",
        show_default="transformers-5.24",
    ),
]  # fmt: skip


def write_vectors(
    target: options.Target,
    hosts: Hosts = None,
    name: options.Name = None,
    template: options.TemplateFile = None,
    special_tokens: options.SpecialTokens = None,
    revision: options.Revision = None,
    offline: options.Offline = False,
    untrusted: options.Untrusted = False,
) -> None:
    """Print one JSON line per case and host: conversation, prompt with spans, model text, message.

    docs/vectors.md and `chatlint schema vector` say what is in a line.
    """
    from chatlint.cli.loading import Wanted, opened
    from chatlint.export.vectors import vectors
    from chatlint.render.hosts import HOSTS
    from chatlint.render.rendered import DEFAULT_HOST

    wanted_hosts = list(HOSTS) if hosts and "all" in hosts else hosts or [DEFAULT_HOST]
    for host in dict.fromkeys(wanted_hosts):
        wanted = Wanted(target, name, host, template, special_tokens, revision, offline, untrusted)
        with opened(wanted) as trace:
            for vector in vectors(trace):
                sys.stdout.write(json.dumps(vector, separators=(",", ":")) + "\n")
