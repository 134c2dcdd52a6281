"""What the Hub shows of a model to everybody, as the files it was taken from.

The answer about a model holds its template and named tokens (`@huggingface/tasks`, model-data.ts, 2026-08:
`config.chat_template_jinja`, `config.tokenizer_config`, `config.processor_config`; of a GGUF, `gguf`), even
where the files are gated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from chatlint.conversation import JSON
from chatlint.errors import TargetError
from chatlint.source.folder import ByteStream
from chatlint.source.found import TEMPLATE_FILE
from chatlint.source.hub_listing import Listing

_SHOWN = {"tokenizer_config": "tokenizer_config.json", "processor_config": "processor_config.json"}


class Page:
    """Files in memory, as a Folder."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = dict(files)

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    def read(self, path: str, limit: int) -> bytes:
        return self._files[path][: limit + 1]

    def stream(self, path: str) -> ByteStream:
        raise TargetError(f"{path} is not shown", hint="")


def page_of(listing: Listing) -> Page | None:
    """The files that a listing shows, or None if there is no template among them."""
    files: dict[str, bytes] = {}
    template = listing.shown.get("chat_template_jinja")
    if isinstance(template, str):
        files[TEMPLATE_FILE] = template.encode("utf-8", "surrogatepass")
    for name, path in _SHOWN.items():
        values = listing.shown.get(name)
        if isinstance(values, Mapping):
            files[path] = json.dumps(values).encode()
    gguf = listing.shown.get("gguf")
    if isinstance(gguf, Mapping) and "tokenizer_config.json" not in files:
        files["tokenizer_config.json"] = json.dumps(dict(gguf)).encode()
    return Page(files) if _has_template(files, listing.shown) else None


def _has_template(files: Mapping[str, bytes], shown: Mapping[str, JSON]) -> bool:
    values = [shown.get(name) for name in (*_SHOWN, "gguf")]
    return TEMPLATE_FILE in files or any(
        isinstance(value, Mapping) and value.get("chat_template") for value in values
    )
