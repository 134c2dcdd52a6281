"""`chatlint render TARGET`: show the prompt, and where every character of it came from."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from chatlint.cli import options
from chatlint.cli.declared import Option

if TYPE_CHECKING:
    from chatlint.probe.case import Case, Observation
    from chatlint.probe.trace import Trace
    from chatlint.source.package import Package
    from chatlint.text import Prompt

DEFAULT_PROBE = "roles/system-user"
ANSWERED_PROBE = "roles/user-assistant-user"
"""What is shown where the question is what the model wrote."""

Messages = Annotated[
    str | None, Option("--messages", metavar="FILE", help="Messages as JSON; - is standard input.")
]
Tools = Annotated[str | None, Option("--tools", metavar="FILE", help="Tools as JSON.")]
Kwargs = Annotated[str | None, Option("--kwargs", metavar="JSON", help="Template kwargs, as an object.")]
ProbeId = Annotated[
    str | None, Option("--probe", metavar="ID", help="A probe or a case instead, as findings name it.")
]
Spans = Annotated[bool, Option("--spans", help="A table: place, origin and text of each span.")]
Tokens = Annotated[
    bool,
    Option("--tokens", help="Token ids; input is never read as special tokens. Needs `tokenizers`."),
]
Mask = Annotated[
    bool,
    Option("--mask", help="Token ids, and which of them the model wrote: the loss mask of training."),
]
Format = Annotated[str, Option("--format", metavar="F", help="What to print: terminal, json.")]
NoGenerationPrompt = Annotated[bool, Option("--no-generation-prompt", help="Without a generation prompt.")]


def show_prompt(
    target: options.Target,
    messages: Messages = None,
    tools: Tools = None,
    kwargs: Kwargs = None,
    probe: ProbeId = None,
    name: options.Name = None,
    spans: Spans = False,
    tokens: Tokens = False,
    mask: Mask = False,
    no_generation_prompt: NoGenerationPrompt = False,
    format_: Format = "terminal",
    host: options.Host = None,
    template: options.TemplateFile = None,
    special_tokens: options.SpecialTokens = None,
    revision: options.Revision = None,
    offline: options.Offline = False,
    untrusted: options.Untrusted = False,
    color: options.Color = "auto",
) -> None:
    """Show the prompt of a conversation: colours tell template, special tokens and input apart.

    To a pipe it is the exact text. Exit status 1 if the template refuses the conversation or breaks on it.
    """
    from chatlint.cli.inputs import share_input
    from chatlint.cli.loading import Wanted, opened_in_package

    options.listing(format_)
    share_input(target, messages, tools)
    wanted = Wanted(target, name, host, template, special_tokens, revision, offline, untrusted)
    with opened_in_package(wanted) as (package, trace):
        generation = not (no_generation_prompt or mask)
        asked = probe or (ANSWERED_PROBE if mask and not messages else None)
        seen = _asked(package, trace, messages, tools, kwargs, asked, generation)
        if seen.prompt is None:
            sys.exit(_refused(seen))
        if tokens or mask:
            from chatlint.cli.tokens import print_tokens

            print_tokens(package, trace, seen, mask=mask, offline=offline, format_=format_, color=color)
            return
    _print(seen.prompt, spans, format_, color)


def _asked(
    package: Package,
    trace: Trace,
    messages: str | None,
    tools: str | None,
    kwargs: str | None,
    probe: str | None,
    generation: bool,
) -> Observation:
    """What the template does with the conversation that the options name."""
    from chatlint.cli.inputs import read_conversation, read_kwargs, read_tools
    from chatlint.errors import UsageError
    from chatlint.records import replace

    if messages and probe:
        raise UsageError("--messages and --probe name two conversations", hint="give one of them")
    if messages:
        conversation = read_conversation(messages, tools, kwargs)
        return trace.ask_conversation("messages", conversation, add_generation_prompt=generation)
    case = _case(package, trace, probe or DEFAULT_PROBE)
    if not tools and not kwargs and generation:
        return trace.ask(case)
    conversation = replace(
        case.conversation,
        tools=read_tools(tools) if tools else case.conversation.tools,
        template_kwargs={**case.conversation.template_kwargs, **read_kwargs(kwargs)},
    )
    return trace.ask_conversation(
        case.id,
        conversation,
        add_generation_prompt=generation and case.add_generation_prompt,
        continue_final_message=case.continue_final_message,
    )


def _case(package: Package, trace: Trace, case_id: str) -> Case:
    """The case of that id. Where it is of no probe, a rule may have made it for this template: then checking
    it makes it again. Raises UsageError."""
    from chatlint.config import Settings
    from chatlint.errors import UsageError
    from chatlint.fix.examined import examined

    try:
        return trace.case_of(case_id)
    except UsageError:
        if case_id.partition("@")[0] not in trace.probes.ids():
            settings = Settings(host=trace.settings.host, untrusted=trace.settings.untrusted)
            with examined(package, trace.template, settings, trace.store) as known:
                if made := known.case(case_id):
                    return made
        raise


def _refused(seen: Observation) -> int:
    from chatlint.cli.complaint import complain
    from chatlint.errors import TemplateError
    from chatlint.report.failure import failure_text

    assert seen.failure is not None
    complain(TemplateError(failure_text(seen.failure), hint=""))
    return 1


def _print(prompt: Prompt, spans: bool, format_: str, color: str) -> None:
    from chatlint.report.canvas import canvas_for
    from chatlint.report.prompt import LEGEND, origin_facts, prompt_lines, span_lines

    canvas = canvas_for(sys.stdout, options.colour_choice(color))
    if format_ == "json":
        spelled = [{"start": s.start, "end": s.end, **origin_facts(s.origin)} for s in prompt.spans]
        options.print_json({"text": prompt.text, "spans": spelled})
    elif spans:
        sys.stdout.write("".join(f"{line}\n" for line in span_lines(canvas, prompt)))
    elif canvas.colour or sys.stdout.isatty():
        sys.stdout.write("".join(f"{line}\n" for line in prompt_lines(canvas, prompt)))
        if canvas.colour and sys.stderr.isatty():
            sys.stderr.write(canvas.draw([("— ", "faint"), *LEGEND]) + "\n")
    else:
        _write_exactly(prompt.text)


def _write_exactly(text: str) -> None:
    """The prompt's own bytes: no newline added or changed; a lone surrogate as UTF-8 would spell it."""
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
