"""`chatlint serve-check URL`: does a running server make the prompts that the template says?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from chatlint.cli import options
from chatlint.cli.declared import Argument, Option
from chatlint.cli.streams import print_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from chatlint.source.encoder import Encoder
    from chatlint.source.package import Package

Url = Annotated[str, Argument(metavar="URL", help="The server's address, like http://127.0.0.1:8080.")]
Target = Annotated[
    str | None,
    Option(
        "--target",
        metavar="TARGET",
        help="The model or template that it should serve.",
        show_default="the template that the server names",
    ),
]
Key = Annotated[
    str | None,
    Option("--key-env", metavar="NAME", help="Environment variable that holds the server's API key."),
]


def check_running_server(
    url: Url,
    target: Target = None,
    name: options.Name = None,
    template: options.TemplateFile = None,
    special_tokens: options.SpecialTokens = None,
    revision: options.Revision = None,
    offline: options.Offline = False,
    key_env: Key = None,
    format_: options.Listing = "terminal",
    color: options.Color = "auto",
) -> None:
    """Ask a running OpenAI-compatible server for prompts, and compare them with the template's.

    Nothing is generated: only what needs no model is asked (llama.cpp: /props, /apply-template, /tokenize;
    vLLM: render, /tokenize, /detokenize; SGLang: its parser of calls). Exit status: 0 nothing differs, 1 the
    server differs, 2 usage or internal error, 3 the server or target is not there or nothing can be compared.
    """
    import os

    from chatlint.config import nearest
    from chatlint.errors import UsageError
    from chatlint.report.canvas import canvas_for
    from chatlint.serve_check import check_server
    from chatlint.serve_check.terminal import terminal

    if format_ not in ("terminal", "json"):
        raise UsageError(f"no format {format_!r}", hint=nearest(format_, ("terminal", "json")))
    options.colour_choice(color)
    if key_env and key_env not in os.environ:
        raise UsageError(f"there is no environment variable {key_env}", hint="--key-env takes a name")
    chosen, encoder = None, None
    if target:
        from chatlint.cli.loading import named_template
        from chatlint.cli.progress import Progress
        from chatlint.source.load import load

        with Progress(1) as progress:
            package = load(
                target,
                revision=revision,
                offline=offline,
                template_file=template,
                special_tokens_file=special_tokens,
                say=progress.say,
            )
            chosen = named_template(package.templates, name)
            encoder = _encoder(package, offline=offline, say=progress.say)
    report = check_server(url, chosen, key=os.environ.get(key_env or "", ""), encoder=encoder)
    if format_ == "json":
        options.print_json(report.to_dict())
    else:
        print_whole(terminal(report, canvas_for(sys.stdout, color)))
    sys.exit(report.exit_code)


def _encoder(package: Package, *, offline: bool, say: Callable[[str], None]) -> Encoder | None:
    """The target's tokenizer, where it has one and the library is here."""
    from chatlint.errors import TargetError, UsageError
    from chatlint.source.encoder import Encoder
    from chatlint.source.tokenizer_file import tokenizer_file

    try:
        return Encoder(tokenizer_file(package, offline=offline, say=say))
    except (TargetError, UsageError):
        return None
