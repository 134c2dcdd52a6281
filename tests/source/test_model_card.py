"""The parsers that a model card names."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatlint.source.folder import LocalFolder
from chatlint.source.load import load
from chatlint.source.model_card import named_parsers, parsers_in

CARD = """# A model

```sh
vllm serve org/model \\
  --enable-auto-tool-choice --tool-call-parser hermes \\
  --reasoning-parser=qwen3
python -m sglang.launch_server --model org/model --tool-call-parser "qwen25"
```
Set `--tool-call-parser glm45`. Neither --tool-call-parser alone, nor --chat-template x.
"""
NAMED = [
    (5, "tool", "hermes", "vllm"),
    (6, "reasoning", "qwen3", "vllm"),
    (7, "tool", "qwen25", "sglang"),
    (9, "tool", "glm45", ""),
]


def rows(text: str) -> list[tuple[int, str, str, str]]:
    return [(one.line, one.kind, one.name, one.engine) for one in parsers_in(text)]


def test_parsers_of_commands_with_their_engine_and_line():
    assert [row for row in rows(CARD) if row[2] != "alone"] == NAMED


@pytest.mark.parametrize(
    "text", ["", "no command", "--tool-call-parser", "\\\n\\\n\\", "--tool-call-parser=\n"]
)
def test_nothing_named(text):
    assert rows(text) == []


def test_time_is_linear_in_the_card():
    assert rows("\\ \t" * 40_000 + "--tool-call-parser a") == [(1, "tool", "a", "")]


def test_a_card_beside_the_files(tmp_path: Path):
    (tmp_path / "chat_template.jinja").write_text("{{ messages[0].content }}")
    (tmp_path / "README.md").write_text(CARD)
    assert [one.name for one in load(str(tmp_path)).named_parsers][:2] == ["hermes", "qwen3"]


def test_a_card_that_cannot_be_read_names_none(tmp_path: Path):
    (tmp_path / "README.md").write_bytes(b"\xff\xfe" + b"--tool-call-parser hermes\n")
    assert [one.name for one in named_parsers(LocalFolder(tmp_path))] == ["hermes"]
    assert named_parsers(LocalFolder(tmp_path.parent)) == ()
