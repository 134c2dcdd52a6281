"""The output format of a template, and how a request's prompt ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chatlint.conversation import Conversation, JSONObject, Tool
    from chatlint.parse.formats import OutputFormat
    from chatlint.probe.trace import Trace


def learn_for(
    trace: Trace, tools: tuple[Tool, ...] | None, kwargs: JSONObject, case: str = "parse/request"
) -> tuple[OutputFormat, str]:
    """The output format, and the generation prompt of a request with these tools and kwargs."""
    from chatlint.detect.footing import find_footing
    from chatlint.detect.generation_prompt import added
    from chatlint.errors import TemplateError
    from chatlint.infer.learn import learn
    from chatlint.render.syntax import syntax_in

    syntax = syntax_in(trace.store, trace.template.text)
    if syntax.fault:
        raise TemplateError(f"the template does not compile: {syntax.fault.message}", line=syntax.fault.line)
    learned = learn(trace, syntax)
    asked = _request(find_footing(trace, syntax).base.case.conversation, tools, kwargs)
    on, off = (trace.ask_conversation(case, asked, add_generation_prompt=flag) for flag in (True, False))
    return learned, added(on, off)[0] if on.prompt and off.prompt else learned.generation_prompt.text


def _request(base: Conversation, tools: tuple[Tool, ...] | None, kwargs: JSONObject) -> Conversation:
    from chatlint.records import replace

    return replace(base, tools=tools, template_kwargs={**base.template_kwargs, **kwargs})
