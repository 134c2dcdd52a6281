"""`chatlint render --tokens` and `--mask`: the prompt as token ids."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from chatlint.cli import options

if TYPE_CHECKING:
    from chatlint.probe.case import Observation
    from chatlint.probe.trace import Trace
    from chatlint.report.tokens import Masks
    from chatlint.source.encoder import Encoding
    from chatlint.source.package import Package


def print_tokens(
    package: Package, trace: Trace, seen: Observation, *, mask: bool, offline: bool, format_: str, color: str
) -> None:
    """Print the tokens of a prompt, with `mask` also which of them the model wrote."""
    from chatlint.cli.progress import Progress
    from chatlint.report.canvas import canvas_for
    from chatlint.report.tokens import token_lines, token_remarks, tokens_as_json
    from chatlint.source.encoder import Encoder
    from chatlint.source.tokenizer_file import tokenizer_file

    prompt = seen.prompt
    assert prompt is not None
    with Progress(1) as progress:
        path = tokenizer_file(package, offline=offline, say=progress.say)
    encoding = Encoder(path).encode(prompt, package.tokenizer.bos or "")
    masks = _masks(trace, seen, encoding) if mask else None
    if format_ == "json":
        options.print_json(tokens_as_json(prompt, encoding, masks))
        return
    canvas = canvas_for(sys.stdout, options.colour_choice(color))
    for line in token_lines(canvas, prompt, encoding, masks):
        sys.stdout.write(line + "\n")
    for remark in token_remarks(prompt, encoding, masks):
        for line in canvas.wrap([(word, "") for word in remark.split(" ")]):
            sys.stdout.write(line + "\n")


def _masks(trace: Trace, seen: Observation, encoding: Encoding) -> Masks:
    from chatlint.errors import TemplateError
    from chatlint.infer.learn import learn
    from chatlint.render.syntax import syntax_in
    from chatlint.report.tokens import Masks, masked
    from chatlint.verify.mask import assistant_spans

    output = learn(trace, syntax_in(trace.store, trace.template.text))
    if output is None:
        raise TemplateError("no output format was learned from the template: who wrote what is not known")
    spans = assistant_spans(trace, output, seen)
    generation = _generation(trace, seen)
    tokens = encoding.tokens
    return Masks(masked(tokens, spans), masked(tokens, generation) if generation else None)


def _generation(trace: Trace, seen: Observation) -> tuple[tuple[int, int], ...]:
    """The spans of `{% generation %}` as they really are; none where the template has no such block."""
    from chatlint.render.rendered import RenderRequest
    from chatlint.render.renderer import open_renderer

    renderer = open_renderer(trace.template, trace.settings, None)
    try:
        return renderer.render(
            RenderRequest(seen.case.conversation, seen.case.add_generation_prompt)
        ).generation
    finally:
        renderer.close()
