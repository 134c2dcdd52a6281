"""A model's files, read together as its tokenizer would read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from chatlint.conversation import JSON
from chatlint.errors import TargetError
from chatlint.limits import JSON_FILE_BYTES, TEMPLATE_FILE_BYTES
from chatlint.source.folder import Folder, read_record
from chatlint.source.found import Found, Reader, template_text, templates_in
from chatlint.source.json_text import JsonText, read_json
from chatlint.source.package import Failure, PackageFile, TemplatePlace

TEMPLATE_FILE = "chat_template.jinja"
TEMPLATE_FOLDER = "additional_chat_templates"
TEMPLATE_READERS = {
    "tokenizer_config.json": Reader.TOKENIZER_CONFIG,
    "processor_config.json": Reader.PROCESSOR_CONFIG,
    "chat_template.json": Reader.LEGACY_PROCESSOR,
}
TOKEN_FILES = ("tokenizer_config.json", "special_tokens_map.json")
FACT_FILES = ("added_tokens.json", "generation_config.json", "config.json")
JSON_FILES = (*TEMPLATE_READERS, "special_tokens_map.json", *FACT_FILES)


@dataclass(slots=True)
class Reading:
    """What has been read of a package so far, and what could not be."""

    found: list[Found] = field(default_factory=list)
    objects: dict[str, Mapping[str, JSON]] = field(default_factory=dict)
    files: list[PackageFile] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def add_template(self, name: str, path: str, content: bytes) -> None:
        """Note a template file. Raises TargetError if it is no text."""
        text = template_text(path, content)
        self.files.append(read_record(path, content))
        self.found.append(Found(name, text, TemplatePlace(path), Reader.TOKENIZER_FILES))

    def add_json(self, path: str, content: bytes) -> JsonText:
        """Note a JSON file, and the templates in it if it is of a kind that carries any. Raises
        TargetError."""
        source = read_json(path, content)
        self.files.append(read_record(path, content))
        self.objects[PurePosixPath(path).name] = source.values()
        reader = TEMPLATE_READERS.get(PurePosixPath(path).name)
        if reader is not None:
            self.found += templates_in(source, reader, self.failures)
        return source

    @property
    def has_tokens(self) -> bool:
        """Whether a file that names special tokens was read."""
        return any(name in self.objects for name in TOKEN_FILES)

    def object(self, name: str) -> Mapping[str, JSON]:
        """The object in a JSON file; empty if the file is not there."""
        return self.objects.get(name, {})


def read_folder(folder: Folder) -> Reading:
    """Read the small files of a package. What cannot be read becomes a failure in the reading."""
    reading = Reading()
    paths = folder.paths()
    # `chat_template.jinja` last would lose to an additional template called `default`, as in transformers.
    for path in sorted(paths, key=lambda path: path != TEMPLATE_FILE):
        _read_one(reading, folder, path)
    return reading


def _read_one(reading: Reading, folder: Folder, path: str) -> None:
    name = _template_name(path)
    try:
        if name is not None:
            reading.add_template(name, path, folder.read(path, TEMPLATE_FILE_BYTES))
        elif path in JSON_FILES:
            reading.add_json(path, folder.read(path, JSON_FILE_BYTES))
    except TargetError as error:
        reading.failures.append(
            Failure("source", path, f"{error.message} ({error.hint})" if error.hint else error.message)
        )


def _template_name(path: str) -> str | None:
    if path == TEMPLATE_FILE:
        return "default"
    folder, _, file = path.rpartition("/")
    return file.removesuffix(".jinja") if folder == TEMPLATE_FOLDER and file.endswith(".jinja") else None
