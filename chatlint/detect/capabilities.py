"""Every question, in the order in which later ones need earlier answers."""

from __future__ import annotations

from collections.abc import Iterable

from chatlint.detect.answer import unanswered
from chatlint.detect.calls import detect_calls, find_call_form
from chatlint.detect.capability import Capabilities, Capability, GenerationPrompt, Support
from chatlint.detect.content import detect_content
from chatlint.detect.footing import Footing, find_footing
from chatlint.detect.generation_prompt import detect_generation_prompt
from chatlint.detect.llama_cpp import chat_template_caps, differences
from chatlint.detect.media import detect_media
from chatlint.detect.prefill import detect_prefill
from chatlint.detect.reasoning import detect_reasoning, find_reasoning_form
from chatlint.detect.roles import detect_roles
from chatlint.detect.switches import detect_switches, find_contexts, generation_by_switch, with_switches
from chatlint.detect.tools import detect_tools
from chatlint.probe.trace import Trace
from chatlint.records import replace
from chatlint.render.syntax import Syntax, syntax_of


def detect_capabilities(trace: Trace, syntax: Syntax | None = None) -> Capabilities:
    """What a template can express, by what it renders. `syntax` is its `syntax_of`, made here if not given.

    Raises nothing for the template's sake: what it refuses or breaks on is part of the answers.
    """
    footing = find_footing(trace, syntax or syntax_of(trace.template.text))
    generation, prompt = detect_generation_prompt(footing)
    found = _by_name([generation, *detect_roles(footing), *detect_content(footing)])
    form = find_call_form(footing)
    calls = form.variant if form.there else None
    found |= _by_name(detect_tools(footing)) | _by_name(detect_calls(footing, form))
    reasoning = find_reasoning_form(footing, calls)
    found |= _by_name(detect_reasoning(footing, reasoning, form))
    found |= _by_name(detect_media(footing, found["parts_user"])) | _by_name(detect_prefill(footing))
    contexts = find_contexts(footing, reasoning.variant if reasoning.shown else None, calls)
    switches = detect_switches(footing, contexts)
    if base := unanswered(footing.base):
        found = {name: replace(base, name=name) for name in found}
    caps = chat_template_caps(found, switches)
    return Capabilities(
        caps,
        found,
        switches,
        with_switches(prompt, generation_by_switch(footing, switches)),
        differences(footing, caps, found, switches),
    )


def _by_name(found: Iterable[Capability]) -> dict[str, Capability]:
    return {one.name: one for one in found}


__all__ = ["Capabilities", "Footing", "GenerationPrompt", "Support", "detect_capabilities"]
