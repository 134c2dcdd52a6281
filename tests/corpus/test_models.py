"""models.json: real repositories, the entry that writes as they do, and a few facts that their templates show."""

from __future__ import annotations

import json
import re

import pytest

from .entries import CORPUS, ENTRIES, TOOLS, assistant, user

pytest.importorskip("transformers", reason="the oracle extra renders real templates")

MODELS = json.loads((CORPUS / "models.json").read_text(encoding="utf-8"))
CAPS = {
    "supports_tools",
    "supports_tool_calls",
    "supports_parallel_tool_calls",
    "supports_preserve_reasoning",
}
CALLS = [("get_weather", {"city": "Qwertyuiop"}), ("write_note", {"body": "Asdfghjkl"})]
KEEP = {"enable_thinking": True, "preserve_thinking": True, "clear_thinking": False}


def render(text, messages, tools=None, generation=False, **template_kwargs):
    """The prompt, "" where the template refuses."""
    from transformers.utils.chat_template_utils import render_jinja_template

    options = {"bos_token": "<s>", "eos_token": "</s>", **template_kwargs}
    try:
        prompts, _ = render_jinja_template(
            [messages], tools=tools, chat_template=text, add_generation_prompt=generation, **options
        )
    except Exception:
        return ""
    return prompts[0]


def test_models_are_listed_once_and_well_formed():
    names = [model["id"] for model in MODELS]
    assert len(names) == len(set(names)) >= 40
    entries = {entry.name for entry in ENTRIES}
    for model in MODELS:
        assert set(model) == {"id", "entry", "sha256", "facts"}
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", model["id"])
        assert model["entry"] in entries
        assert set(model["facts"]) <= CAPS | {"generation_prompt", "call"}
        assert model["sha256"] is None or re.fullmatch(r"[0-9a-f]{64}", model["sha256"])
        assert bool(model["facts"]) == bool(model["sha256"])


@pytest.mark.parametrize("model", [m for m in MODELS if m["sha256"]], ids=lambda model: model["id"])
def test_facts_hold_on_the_real_template(model, shared):
    path = shared / "templates" / f"{model['sha256'][:12]}.jinja"
    text = path.read_text(encoding="utf-8")
    ask = [user("Askedfirst.")]
    one = render(text, [*ask, assistant(calls=CALLS[:1])], TOOLS["standard"])
    two = render(text, [*ask, assistant(calls=CALLS)], TOOLS["standard"])
    thought = [
        user("A."),
        assistant("B.", "Thoughtone."),
        user("C."),
        assistant("D.", "Thoughttwo."),
        user("E."),
    ]
    seen = {
        "supports_tools": "Forecast" in render(text, ask, TOOLS["weather"]),
        "supports_tool_calls": "Qwertyuiop" in one,
        "supports_parallel_tool_calls": "Qwertyuiop" in two and "Asdfghjkl" in two,
        "supports_preserve_reasoning": "Thoughtone." in render(text, thought, **KEEP),
        "generation_prompt": render(text, ask, generation=True).removeprefix(render(text, ask)),
    }
    expected = {key: value for key, value in model["facts"].items() if key != "call"}
    assert {key: seen[key] for key in expected} == expected
    assert model["facts"].get("call", "") in one
