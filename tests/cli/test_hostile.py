"""What a template writes steers no terminal: no command prints it as it is."""

from __future__ import annotations

import json

import pytest

from chatlint.export.targets import ExportTarget
from chatlint.report import REPORTERS

MARKS = {
    "esc": "\x1b[1m",
    "bell": "\x1b]8;;https://example.org\x07",
    "c1": "\x9b31m",
    "override": "\u202e",
    "isolate": "\u2066\u2069",
    "tag": "\U000e0041",
}
TEMPLATE = """\
{%- if tools %}{{ 'X<tools>' }}{% for tool in tools %}{{ tool | tojson }}{% endfor %}{{ '</tools>X' }}{% endif %}
{%- for message in messages %}
{%- if message.role not in ['system', 'user', 'assistant', 'tool'] %}{{ raise_exception('no X ' ~ message.role) }}{% endif %}
{{- '<X|' ~ message.role ~ '|>' }}
{%- if message.reasoning_content %}{{ '<thinkX>' ~ message.reasoning_content ~ '</thinkX>' }}{% endif %}
{{- message.content or '' }}
{%- for call in message.tool_calls or [] %}
{{- '<callX>' ~ ({'name': call.function.name, 'arguments': call.function.arguments} | tojson) ~ '</callX>' }}
{%- endfor %}
{{- '<|endX|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<X|assistant|>' }}{% endif %}
"""
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}}]  # fmt: skip
COMMANDS = {
    **{f"check-{form}": ("check", "FILE", "--no-cache", "--format", form) for form in REPORTERS},
    "check-statistics": ("check", "FILE", "--statistics"),
    **{f"export-{to}": ("export", "FILE", "--to", to) for to in ExportTarget},
    **{f"export-{to}-tools": ("export", "FILE", "--to", to, "--tools", "TOOLS") for to in ExportTarget},
    **{f"parse-{form}": ("parse", "FILE", "OUTPUT", "--format", form) for form in ("message", "events", "chunks")},
    "render-json": ("render", "FILE", "--format", "json"),
    "render-spans": ("render", "FILE", "--spans"),
    "refused": ("render", "FILE", "--messages", "MESSAGES"),
    **{f"diff-{form}": ("diff", "FILE", "corpus:chatml", "--format", form) for form in ("terminal", "json", "markdown")},
    "card": ("card", "FILE"),
    "vectors": ("vectors", "FILE"),
    "survey": ("survey", "FILE", "--out", "out"),
    "lock": ("lock", "FILE"),
}  # fmt: skip


def raw(text: str) -> list[str]:
    """Characters that a terminal obeys, or that nobody sees."""
    return sorted({hex(ord(one)) for one in text if not one.isprintable() and one not in "\n"})


@pytest.fixture
def files(tmp_path):
    made = {"TOOLS": json.dumps(TOOLS), "MESSAGES": json.dumps([{"role": "odd", "content": "a"}])}
    for name, text in made.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / name for name in (*made, "FILE", "OUTPUT")}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("mark", MARKS)
def test_nothing_a_template_writes_is_obeyed(chatlint, files, mark, command):
    files["FILE"] = files["FILE"].with_suffix(".jinja")
    files["FILE"].write_text(TEMPLATE.replace("X", MARKS[mark]), encoding="utf-8")
    said = 'a<callX>{"name": "look", "arguments": {"city": "X"}}</callX><|endX|>'
    files["OUTPUT"].write_text(said.replace("X", MARKS[mark]), encoding="utf-8")
    done = chatlint(*(files.get(word, word) for word in COMMANDS[command]))
    assert raw(done.out + done.err) == []
    assert done.out + done.err
