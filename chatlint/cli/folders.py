"""`--folders`: the model that a changed file belongs to, which is what hooks want judged."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_FILES = frozenset(
    {
        "chat_template.jinja",
        "chat_template.json",
        "config.json",
        "generation_config.json",
        "processor_config.json",
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
    }
)
"""Files of which a template, or what is said about it, depends in a model's directory."""
_MORE_TEMPLATES = "additional_chat_templates"


def folders_of(targets: Iterable[str]) -> list[str]:
    """Files of model directories replaced by their directories, each once, in the order given."""
    return list(dict.fromkeys(map(_folder, targets)))


def _folder(target: str) -> str:
    path = Path(target)
    if path.parent.name == _MORE_TEMPLATES and path.suffix == ".jinja":
        return str(path.parent.parent)
    return str(path.parent) if path.name in _FILES and path.is_file() else target
