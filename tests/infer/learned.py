"""Formats learned in tests: of a template written in the test, of a corpus entry, of a real template."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from pathlib import Path

from chatlint.infer.learn import learn
from chatlint.parse.formats import OutputFormat
from chatlint.probe.trace import Trace
from chatlint.render.syntax import syntax_of
from chatlint.source.package import Template, TemplatePlace
from tests.corpus.entries import ENTRIES, Entry

SPECIAL_TOKENS = {"bos_token": "<bos_token>", "eos_token": "<eos_token>"}
PROMPT = "{% if add_generation_prompt %}<|assistant|>{% endif %}"
TEXT = "{{ m.content or '' }}"
ARGUMENTS = "{{ c.function.arguments | tojson }}"


def template(text: str, special_tokens=SPECIAL_TOKENS) -> Template:
    digest = sha256(text.encode()).hexdigest()
    return Template("default", text, digest, TemplatePlace("chat_template.jinja"), special_tokens)


def turns(assistant: str, *, prompt: str = PROMPT, head: str = "", end: str = "<|end|>") -> str:
    """A template that writes assistant turns in a given way (`m` is the message) and everything else plainly."""
    return (
        head
        + "{% for m in messages %}{% if m.role == 'assistant' %}<|assistant|>"
        + assistant
        + end
        + "{% else %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endif %}{% endfor %}"
        + prompt
    )


def each_call(body: str, separator: str = "") -> str:
    """Calls, one after the other (`c` is the call)."""
    between = f"{{% if not loop.last %}}{separator}{{% endif %}}" if separator else ""
    return "{% for c in m.tool_calls or [] %}" + body + between + "{% endfor %}"


def section(start: str, calls: str, end: str) -> str:
    """Something around all calls, where there are any."""
    return "{% if m.tool_calls %}" + start + calls + end + "{% endif %}"


def keyed(member: str, separator: str = "") -> str:
    """Arguments, one after the other (`k` and `v`)."""
    between = f"{{% if not loop.last %}}{separator}{{% endif %}}" if separator else ""
    return "{% for k, v in c.function.arguments.items() %}" + member + between + "{% endfor %}"


def learned_from(given: Template) -> tuple[Trace, OutputFormat]:
    trace = Trace(given)
    return trace, learn(trace, syntax_of(given.text))


@cache
def learned(text: str) -> OutputFormat:
    return learned_from(template(text))[1]


@cache
def of_entry(name: str) -> tuple[Trace, OutputFormat]:
    """The trace of a corpus entry (of its template for tools, if it has one), and its format."""
    entry = entry_named(name)
    text = entry.templates.get("tool_use") or entry.templates["default"]
    return learned_from(template(text, entry.special_tokens))


def entry_named(name: str) -> Entry:
    return next(entry for entry in ENTRIES if entry.name == name)


def real(shared: Path) -> dict[str, dict]:
    """The manifest of real templates by file name."""
    rows = (shared / "templates" / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["file"]: row for row in map(json.loads, rows)}
