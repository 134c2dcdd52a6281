"""A user's own conversations: a folder of JSON files, each beside the prompt that it ought to give.

`refund.json` is a probe, an object with `messages` and what belongs to them, or a list of messages;
`refund.txt` beside it, where there is one, is its prompt, byte for byte."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from chatlint.conversation import JSON, Conversation
from chatlint.errors import TargetError, UsageError
from chatlint.limits import FOLDER_FILES, OWN_CONVERSATION_BYTES, OWN_CONVERSATIONS
from chatlint.probe.case import Case
from chatlint.probe.catalogue import catalogue
from chatlint.records import dataclass

GROUP = "own"
"""Where a conversation `refund.json` stands among the cases: `own/refund`."""
_MEMBERS = ("messages", "tools", "documents", "template_kwargs", "add_generation_prompt")


@dataclass(frozen=True, slots=True)
class OwnConversation:
    """A conversation of `file`, as the folder's parent sees it, and the prompt that is expected of it, None
    where none is."""

    name: str
    file: str
    conversation: Conversation
    add_generation_prompt: bool = True
    prompt: str | None = None

    @property
    def case(self) -> Case:
        """As a trace is asked it."""
        variant = () if self.add_generation_prompt else (("generation", "off"),)
        return Case(f"{GROUP}/{self.name}", variant, self.conversation, self.add_generation_prompt)


def read_own(folder: str) -> tuple[OwnConversation, ...]:
    """The conversations of a folder and of those below it, by name.

    Raises UsageError for a folder that is missing, empty or too full, and for a file that is no conversation.
    """
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"probes: {folder} is no folder", hint="it holds conversations as JSON files")
    listed = _listed(root)
    files = [path for path in listed if path.suffix == ".json"]
    if not files:
        raise UsageError(f"probes: {folder} holds no .json file", hint='like {"messages": [...]}')
    if len(files) > OWN_CONVERSATIONS:
        raise UsageError(f"probes: {folder} holds more than {OWN_CONVERSATIONS:,} conversations")
    _refuse_lonely(listed)
    return tuple(_read(root, path) for path in files)


def _listed(root: Path) -> list[Path]:
    """All files in the folder and below it, in their order. Links to folders are not followed."""
    found: list[Path] = []
    seen = 0
    for folder, folders, names in os.walk(root, onerror=_refuse_unreadable):
        seen += len(folders) + len(names)
        if seen > FOLDER_FILES:
            raise UsageError(
                f"probes: {root} holds more than {FOLDER_FILES:,} files", hint="name a folder of its own"
            )
        found += [path for name in names if _is_file(path := Path(folder, name))]
    return sorted(found)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        _refuse_unreadable(error)


def _refuse_unreadable(error: OSError) -> NoReturn:
    raise UsageError(f"probes: {error.filename} cannot be read: {error.strerror}") from error


def _refuse_lonely(listed: Sequence[Path]) -> None:
    """A prompt that no conversation gives is a slip of the pen, and would never be compared."""
    known = set(listed)
    for path in listed:
        if path.suffix == ".txt" and path.with_suffix(".json") not in known:
            raise UsageError(f"{path}: there is no {path.stem}.json that ought to give this prompt")


def _read(root: Path, path: Path) -> OwnConversation:
    inner = path.relative_to(root)
    content = _json(path)
    generation = content.get("add_generation_prompt", True)
    if not isinstance(generation, bool):
        raise UsageError(f"{path}: `add_generation_prompt` must be true or false")
    golden = path.with_suffix(".txt")
    return OwnConversation(
        inner.with_suffix("").as_posix(),
        f"{root.resolve().name}/{inner.as_posix()}",
        catalogue().conversation(content, path),
        generation,
        _text(golden) if golden.is_file() else None,
    )


def _json(path: Path) -> Mapping[str, JSON]:
    """The conversation in a file."""
    try:
        content: JSON = json.loads(_text(path).removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error
    if isinstance(content, Sequence) and not isinstance(content, str):
        content = {"messages": content}
    if isinstance(content, Mapping) and isinstance(content.get("conversation"), Mapping):
        content = content["conversation"]
    if not isinstance(content, Mapping) or "messages" not in content:
        raise UsageError(
            f"{path}: holds no conversation", hint='like {"messages": [{"role": "user", "content": "…"}]}'
        )
    unknown = next((name for name in content if name not in _MEMBERS), "")
    if unknown:
        raise UsageError(f"{path}: unknown member {unknown!r}", hint=f"known: {', '.join(_MEMBERS)}")
    return content


def _text(path: Path) -> str:
    """A file's text, with its line ends as they are."""
    from chatlint.source.folder import read_file

    try:
        return read_file(path, OWN_CONVERSATION_BYTES, regular=False).decode("utf-8")
    except TargetError as error:
        raise UsageError(error.message, hint=error.hint) from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8", hint="save it as UTF-8") from error
