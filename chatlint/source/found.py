"""Templates as they are found, before it is decided which of them a host would use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from hashlib import sha256

from chatlint.conversation import JSON
from chatlint.errors import TargetError
from chatlint.limits import TEMPLATES
from chatlint.records import dataclass
from chatlint.source.json_text import JsonText, array_starts, not_utf8, object_members, refuse_stand_ins
from chatlint.source.package import Failure, Template, TemplatePlace
from chatlint.source.place import json_place
from chatlint.source.special import SpecialTokens, assumed_tokens
from chatlint.text import pointer_token

TEMPLATE_FILE = "chat_template.jinja"


class Reader(IntEnum):
    """Who reads the file a template stands in; the first kind that has any template is used."""

    USER = 0
    """Named on the command line for this target."""
    TOKENIZER_FILES = 1
    TOKENIZER_CONFIG = 2
    PROCESSOR_CONFIG = 3
    CHAT_TEMPLATE_JSON = 4
    GGUF = 5
    NOBODY = 6
    """An earlier duplicate of a JSON name: in the file, but no reader sees it."""


@dataclass(frozen=True, slots=True)
class Found:
    """One template text, where it stands, and who reads it there. `tokens` are those of its own file, where
    that has a vocabulary (a GGUF)."""

    name: str
    text: str
    place: TemplatePlace
    reader: Reader
    tokens: SpecialTokens | None = None

    def template(self, of_package: SpecialTokens | None, given: SpecialTokens | None = None) -> Template:
        """As the host gets it: with real special tokens (its own file's, else its package's; those `given` by
        the user win), or with visible stand-ins if there are none."""
        tokens = of_package if self.tokens is None else self.tokens | (given or {})
        return Template(
            name=self.name,
            text=self.text,
            sha256=sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest(),
            place=self.place,
            special_tokens=assumed_tokens() if tokens is None else tokens,
            special_tokens_assumed=tokens is None,
        )


def template_text(file: str, content: bytes) -> str:
    """The text of a template file as Python reads it in text mode: every line break is a newline.

    An empty file is an empty template (transformers lets it win). Raises TargetError if it is not UTF-8,
    or is something else that lies where a template was meant.
    """
    if content.strip():
        refuse_stand_ins(file, content)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(file, error) from error
    if "\0" in text:
        raise TargetError(f"{file} looks like a binary file: it has zero bytes", hint="a template is text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def templates_in(source: JsonText, reader: Reader, failures: list[Failure]) -> list[Found]:
    """Every template under `chat_template` of a JSON file: a string, a list of `{name, template}`, or an
    object of names. Of duplicates in a list the last wins (transformers builds a dict), so it comes last
    here too."""
    found: list[Found] = []
    entries = [member for member in source.members if member.name == "chat_template"]
    for entry in entries[-TEMPLATES:]:
        who = reader if entry is entries[-1] else Reader.NOBODY
        found += _templates(source, entry.value, entry.start, who, failures)
    return found


def _templates(
    source: JsonText, value: JSON, start: int, reader: Reader, failures: list[Failure]
) -> list[Found]:
    if isinstance(value, str):
        return [
            Found("default", value, json_place(source.file, "/chat_template", source.text, start), reader)
        ]
    if isinstance(value, Mapping):
        return _by_name(source, start, reader, failures)
    if isinstance(value, Sequence):
        return _listed(source, value, start, reader, failures)
    if value is not None:
        failures.append(_unusable(source.file, "/chat_template"))
    return []


def _by_name(source: JsonText, start: int, reader: Reader, failures: list[Failure]) -> list[Found]:
    found = []
    for member in object_members(source.text, start)[:TEMPLATES]:
        pointer = f"/chat_template/{pointer_token(member.name)}"
        if isinstance(member.value, str):
            place = json_place(source.file, pointer, source.text, member.start)
            found.append(Found(member.name, member.value, place, reader))
        else:
            failures.append(_unusable(source.file, pointer))
    return found


def _listed(
    source: JsonText, items: Sequence[JSON], start: int, reader: Reader, failures: list[Failure]
) -> list[Found]:
    found = []
    if len(items) > TEMPLATES:
        failures.append(
            Failure("source", source.file, f"only {TEMPLATES} of its {len(items)} templates are read")
        )
    starts = array_starts(source.text, start)
    for index, (item, item_start) in enumerate(zip(items[:TEMPLATES], starts, strict=False)):
        name = item.get("name") if isinstance(item, Mapping) else None
        text = item.get("template") if isinstance(item, Mapping) else None
        if not isinstance(name, str) or not isinstance(text, str):
            failures.append(_unusable(source.file, f"/chat_template/{index}"))
            continue
        members = {member.name: member for member in object_members(source.text, item_start)}
        pointer = f"/chat_template/{index}/template"
        place = json_place(source.file, pointer, source.text, members["template"].start)
        found.append(Found(name, text, place, reader))
    return found


def _unusable(file: str, pointer: str) -> Failure:
    return Failure(
        "source", f"{file}#{pointer}", "a template's text, or a list of {name, template}, was expected here"
    )


def choose(found: Sequence[Found]) -> tuple[list[Found], list[Found]]:
    """Split into what the host uses (`default` first, then `tool_use`) and the copies it does not read.

    transformers: any template file hides the configuration's entry altogether; a tokenizer reads no processor
    file, so these count only where the tokenizer has no template; of one name the last wins. Of several GGUFs
    the first is used.
    """
    reader = min((item.reader for item in found), default=Reader.NOBODY)
    if reader is Reader.NOBODY:
        return [], list(found)
    readable = [item for item in found if item.reader is reader]
    if reader is Reader.GGUF:
        readable = [item for item in readable if item.place.file == readable[0].place.file]
    used = {item.name: item for item in readable}
    chosen = sorted(used.values(), key=lambda item: _rank(item.name))
    return chosen, [item for item in found if used.get(item.name) is not item]


def _rank(name: str) -> int:
    return {"default": 0, "tool_use": 1}.get(name, 2)
