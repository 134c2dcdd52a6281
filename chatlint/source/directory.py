"""A model's files, read together as its tokenizer would read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from chatlint.conversation import JSON
from chatlint.errors import TargetError
from chatlint.limits import GGUF_FILES, JSON_FILE_BYTES, TEMPLATE_FILE_BYTES, TEMPLATES
from chatlint.records import dataclass, field
from chatlint.source.folder import ByteStream, Folder, LocalFolder, OutOfReachError, read_record
from chatlint.source.found import TEMPLATE_FILE, Found, Reader, template_text, templates_in
from chatlint.source.json_text import JsonText, read_json
from chatlint.source.package import Failure, NamedParser, PackageFile, TemplatePlace
from chatlint.source.special import SpecialTokens

if TYPE_CHECKING:
    from chatlint.source.gguf_facts import GgufReading

TOKENIZER_FILE = "tokenizer.json"
TEMPLATE_FOLDER = "additional_chat_templates"
TEMPLATE_READERS = {
    "tokenizer_config.json": Reader.TOKENIZER_CONFIG,
    "processor_config.json": Reader.PROCESSOR_CONFIG,
    "chat_template.json": Reader.CHAT_TEMPLATE_JSON,
}
TOKEN_FILES = ("tokenizer_config.json", "special_tokens_map.json")
FACT_FILES = ("added_tokens.json", "generation_config.json", "config.json")
JSON_FILES = (*TEMPLATE_READERS, "special_tokens_map.json", *FACT_FILES)


@dataclass(slots=True)
class Reading:
    """What has been read of a package so far, and what could not be."""

    found: list[Found] = field(default_factory=list)
    objects: dict[str, Mapping[str, JSON]] = field(default_factory=dict)
    head: Mapping[str, JSON] | None = None
    ggufs: list[GgufReading] = field(default_factory=list)
    paths: frozenset[str] = frozenset()
    files: list[PackageFile] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    tokens: SpecialTokens | None = None
    """Special tokens that the user gave."""
    commit: str | None = None
    """The Hub's commit that was read."""
    unknown: frozenset[str] = frozenset()
    """Files of which it is not known whether there are any: their absence says nothing."""
    notes: list[str] = field(default_factory=list)
    """What was decided while reading, for the report."""
    named_parsers: tuple[NamedParser, ...] = ()

    def add_template(self, name: str, path: str, content: bytes) -> None:
        """Note a template file. Raises TargetError if it is no text."""
        if len(self.found) >= TEMPLATES:
            raise TargetError(
                f"not read: only {TEMPLATES} templates of a directory are", hint="name it alone"
            )
        text = template_text(path, content)
        self.files.append(read_record(path, content))
        self.found.append(Found(name, text, TemplatePlace(path), Reader.TOKENIZER_FILES))

    def add_json(self, path: str, content: bytes) -> JsonText:
        """Note a JSON file, and the templates in it if it is of a kind that carries any.

        Raises TargetError if it is not a JSON object.
        """
        source = read_json(path, content)
        self.files.append(read_record(path, content))
        self.objects[path] = source.values()
        if path in TEMPLATE_READERS:
            self.found += templates_in(source, TEMPLATE_READERS[path], self.failures)
        return source

    def add_tokenizer(self, path: str, stream: ByteStream) -> None:
        """Note the head of a `tokenizer.json`. Raises TargetError."""
        from chatlint.source.tokenizer_head import read_head

        self.head = read_head(stream, path)
        self.files.append(PackageFile(path, "", stream.size or 0))

    def add_gguf(self, path: str, stream: ByteStream) -> None:
        """Note a GGUF's metadata. Raises TargetError."""
        from chatlint.source.gguf import read_metadata
        from chatlint.source.gguf_facts import understand

        gguf = understand(read_metadata(stream, path), path)
        self.files.append(PackageFile(path, "", stream.size or 0))
        self.ggufs.append(gguf)
        self.found += gguf.found
        self.failures += gguf.failures

    def fail(self, path: str, error: TargetError) -> None:
        """Note what could not be read."""
        message = f"{error.message} ({error.hint})" if error.hint else error.message
        self.failures.append(Failure("source", path, message))

    @property
    def has_tokens(self) -> bool:
        """Whether a file that names special tokens was read."""
        return any(name in self.objects for name in TOKEN_FILES)


def read_folder(folder: Folder) -> Reading:
    """Read what matters of a package's files. What cannot be read becomes a failure in the reading.

    Raises OutOfReachError if the folder as a whole cannot be read.
    """
    reading = Reading(paths=frozenset(folder.paths()))
    # `chat_template.jinja` first: an additional template called `default` wins over it, as in transformers.
    for path in sorted(reading.paths, key=lambda path: (path != TEMPLATE_FILE, path)):
        try:
            _read_one(reading, folder, path)
        except OutOfReachError:
            raise
        except TargetError as error:
            reading.fail(path, error)
    _read_ggufs(reading, folder)
    reading.named_parsers = _card(folder)
    return reading


def _card(folder: Folder) -> tuple[NamedParser, ...]:
    """Of local files only: on the Hub a card is one request more for every model."""
    if not isinstance(folder, LocalFolder):
        return ()
    from chatlint.source.model_card import named_parsers

    return named_parsers(folder)


def read_whole_among(paths: Iterable[str]) -> list[str]:
    """Those of a package's files that `read_folder` reads from the first byte to the last."""
    return [path for path in paths if path in JSON_FILES or _template_name(path) is not None]


def _read_one(reading: Reading, folder: Folder, path: str) -> None:
    name = _template_name(path)
    if name is not None:
        reading.add_template(name, path, folder.read(path, TEMPLATE_FILE_BYTES))
    elif path in JSON_FILES:
        reading.add_json(path, folder.read(path, JSON_FILE_BYTES))
    elif path == TOKENIZER_FILE:
        with closing(folder.stream(path)) as stream:
            reading.add_tokenizer(path, stream)


def _read_ggufs(reading: Reading, folder: Folder) -> None:
    paths = [path for path in sorted(reading.paths) if path.lower().endswith(".gguf")]
    if not paths:
        return
    from chatlint.source.gguf_facts import first_part, is_side_file

    models = [path for path in paths if path == first_part(path) and not is_side_file(path)]
    for path in models[:GGUF_FILES]:
        try:
            with closing(folder.stream(path)) as stream:
                reading.add_gguf(path, stream)
        except OutOfReachError:
            raise
        except TargetError as error:
            reading.fail(path, error)
    for path in models[GGUF_FILES:]:
        reading.fail(
            path, TargetError(f"not read: only {GGUF_FILES} GGUFs of a directory are", hint="name it alone")
        )


def _template_name(path: str) -> str | None:
    if path == TEMPLATE_FILE:
        return "default"
    folder, _, file = path.rpartition("/")
    return file.removesuffix(".jinja") if folder == TEMPLATE_FOLDER and file.endswith(".jinja") else None
