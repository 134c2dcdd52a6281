"""`chatlint parse TARGET`: a model's output back into a message, by the format that its template teaches."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from chatlint.cli import options
from chatlint.cli.declared import Argument, Option

if TYPE_CHECKING:
    from chatlint.conversation import JSON, Tool
    from chatlint.parse.events import Event
    from chatlint.parse.formats import OutputFormat
    from chatlint.parse.parser import OutputParser

FORMATS = ("message", "events", "chunks")
_CHUNK = 65536

Output = Annotated[
    str, Argument(metavar="OUTPUT", help="A file with the model's output; - is standard input.")
]
Tools = Annotated[
    str | None,
    Option("--tools", metavar="FILE", help="The tools of the request, as JSON: they type arguments."),
]
Kwargs = Annotated[
    str | None, Option("--kwargs", metavar="JSON", help="Template kwargs of the request, as an object.")
]
Form = Annotated[
    str | None,
    Option("--format", metavar="F", help="message; or, as the text comes, events or OpenAI's chunks."),
]
Stream = Annotated[bool, Option("--stream", help="Read and write piece by piece, as events.")]
Logged = Annotated[
    str | None, Option("--jsonl", metavar="FILE", help="Many logged outputs: count how they were read.")
]
Reasoning = Annotated[
    bool, Option("--reasoning/--no-reasoning", help="Set reasoning apart, or leave it in the content.")
]


def parse_output(
    target: options.Target,
    output: Output = "-",
    tools: Tools = None,
    kwargs: Kwargs = None,
    format_: Form = None,
    stream: Stream = False,
    jsonl: Logged = None,
    reasoning: Reasoning = True,
    name: options.Name = None,
    host: options.Host = None,
    template: options.TemplateFile = None,
    special_tokens: options.SpecialTokens = None,
    revision: options.Revision = None,
    offline: options.Offline = False,
    untrusted: options.Untrusted = False,
    color: options.Color = "auto",
) -> None:
    """Read what a model wrote: reasoning, content and tool calls, as the template says it writes them.

    To a pipe it is JSON. With --jsonl, exit status 1 if some output was not read whole.
    """
    from chatlint.cli.inputs import read_kwargs, read_tools, share_input
    from chatlint.cli.learning import learn_for
    from chatlint.cli.loading import Wanted, opened

    share_input(target, jsonl or output, tools)
    form = _form(format_, stream)
    known = read_tools(tools) if tools else None
    wanted = Wanted(target, name, host, template, special_tokens, revision, offline, untrusted)
    with opened(wanted) as trace:
        learned, prompt = learn_for(trace, known, read_kwargs(kwargs))
    if jsonl:
        sys.exit(_read_logged(learned, jsonl, known, prompt, reasoning, color))
    parser = learned.parser(known, prompt, reasoning)
    if form == "message":
        _print_message(parser, output, color)
    elif form == "events":
        _print_events(parser, output)
    else:
        _print_chunks(parser, output, target)
    if parser.cut:
        sys.stderr.write("note: a call broke off; its arguments are no whole JSON\n")
    if parser.guessed:
        sys.stderr.write("note: read by a guess: the template shows no such reasoning or call\n")


def _form(name: str | None, stream: bool) -> str:
    from chatlint.config import nearest
    from chatlint.errors import UsageError

    if name is not None and name not in FORMATS:
        raise UsageError(f"no format {name!r}", hint=nearest(name, FORMATS))
    return name or ("events" if stream else "message")


def _print_message(parser: OutputParser, output: str, color: str) -> None:
    from chatlint.parse.message import assemble
    from chatlint.report.canvas import canvas_for
    from chatlint.report.message import message_lines

    events = [event for settled in _read(parser, output) for event in settled]
    message = assemble(events)
    canvas = canvas_for(sys.stdout, options.colour_choice(color))
    if canvas.colour or sys.stdout.isatty():
        sys.stdout.write("".join(f"{line}\n" for line in message_lines(canvas, message)))
    else:
        options.print_json(message)


def _print_events(parser: OutputParser, output: str) -> None:
    """Write a line for each event as soon as it is certain."""
    from chatlint.report.message import event_facts

    for events in _read(parser, output):
        _print_lines(map(event_facts, events))


def _print_chunks(parser: OutputParser, output: str, target: str) -> None:
    """Write what a server would stream: who speaks, a chunk for each delta, why it ended. As servers do, it
    makes ids for calls where the format has none, or has them after the arguments."""
    import time

    from chatlint.parse.message import deltas
    from chatlint.report.message import Completion, random_call_id

    answer = Completion(target, int(time.time()))
    _print_lines([answer.chunk({"role": "assistant", "content": ""})])
    called = False
    for delta in deltas(_flushed(parser, output), random_call_id):
        called = called or "tool_calls" in delta
        sys.stdout.write(_line(answer.chunk(delta)))
    _print_lines([answer.chunk({}, "length" if parser.cut else "tool_calls" if called else "stop")])


def _flushed(parser: OutputParser, output: str) -> Iterator[Event]:
    """Every event; what was written of those that a piece settled goes out before the next piece is read."""
    for events in _read(parser, output):
        yield from events
        sys.stdout.flush()


def _line(value: Mapping[str, JSON]) -> str:
    import json

    return json.dumps(value) + "\n"


def _print_lines(lines: Iterable[Mapping[str, JSON]]) -> None:
    for line in lines:
        sys.stdout.write(_line(line))
    sys.stdout.flush()


def _read(parser: OutputParser, output: str) -> Iterator[list[Event]]:
    """What each piece of the output settles, then what its end does."""
    for piece in _pieces(output):
        yield parser.feed_bytes(piece)
    yield parser.finish()


def _pieces(output: str) -> Iterator[bytes]:
    """The output's bytes as they come."""
    from chatlint.errors import UsageError

    try:
        with open(sys.stdin.fileno() if output == "-" else output, "rb", closefd=output != "-") as stream:
            while piece := stream.read1(_CHUNK):
                yield piece
    except OSError as error:
        raise UsageError(f"{output} cannot be read: {error.strerror}", hint="check the path") from error


def _read_logged(
    learned: OutputFormat, path: str, tools: tuple[Tool, ...] | None, prompt: str, reasoning: bool, color: str
) -> int:
    from chatlint.cli.logged import read_all, tally_lines
    from chatlint.report.canvas import canvas_for

    tally = read_all(learned, path, tools, prompt, reasoning)
    canvas = canvas_for(sys.stdout, options.colour_choice(color))
    if canvas.colour or sys.stdout.isatty():
        sys.stdout.write("".join(f"{line}\n" for line in tally_lines(canvas, tally)))
    else:
        options.print_json(tally.to_dict())
    return 0 if tally.all_whole else 1
