"""What a target holds once it is loaded: every template found, and the facts about tokens beside them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from chatlint.conversation import JSON
from chatlint.records import dataclass, field


class TargetKind(StrEnum):
    """Where a target lives."""

    HUB = "hub"
    GGUF = "gguf"
    DIRECTORY = "directory"
    FILE = "file"
    STDIN = "stdin"
    CORPUS = "corpus"


@dataclass(frozen=True, slots=True)
class Target:
    """What the user named. `locator` is a path, `org/name[:file]`, or a corpus name."""

    kind: TargetKind
    locator: str
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A file that was read: its path inside the package, sha256 and size in bytes. `sha256` is "" where only
    the head of a large file was read."""

    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class TemplatePlace:
    """Where in a file a template's text stands, so that template positions map to file positions
    (`chatlint.source.place.file_position`).

    `json_pointer` is "" where the file is the template. `line_starts` maps template line n (one-based, at
    index n-1) to the (line, column) of the file where it begins; empty where the two are the same. `written`
    is the JSON string as the file spells it, without its quotes. `key` is the metadata key in a GGUF.
    """

    file: str
    json_pointer: str = ""
    line_starts: tuple[tuple[int, int], ...] = ()
    written: str = field(default="", repr=False)
    key: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """One chat template. `name` is `default`, `tool_use`, `rag` …; `special_tokens` are the variables its
    host passes (`bos_token` …), real ones, or visible placeholders where `special_tokens_assumed`."""

    name: str
    text: str
    sha256: str
    place: TemplatePlace
    special_tokens: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    special_tokens_assumed: bool = False


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A vocabulary token that is matched before the model's own splitting; `special` as the file flags it."""

    id: int
    text: str
    special: bool


@dataclass(frozen=True, slots=True)
class TokenizerFacts:
    """What the tokenizer files say. None is unknown, never "no".

    `adds_bos`/`adds_eos`: whether encoding a text with special tokens adds them, in transformers 5 and
    `tokenizers`, or in llama.cpp where the facts are a GGUF's; `…_before_5`: in transformers 4.
    `added_before` and `added_after` are the texts of all tokens that the post-processor adds. `end_of_turn`
    and `end_of_message` are what a GGUF declares as such. `source` names the files the facts came from.
    """

    bos: str | None = None
    eos: str | None = None
    pad: str | None = None
    added_tokens: tuple[AddedToken, ...] | None = None
    adds_bos: bool | None = None
    adds_eos: bool | None = None
    source: tuple[str, ...] = ()
    adds_bos_before_5: bool | None = None
    adds_eos_before_5: bool | None = None
    added_before: tuple[str, ...] | None = None
    added_after: tuple[str, ...] | None = None
    end_of_turn: str | None = None
    end_of_message: str | None = None


@dataclass(frozen=True, slots=True)
class GenerationFacts:
    """End-of-sequence ids declared by each file that declares any (`generation_config.json`, …, a GGUF with
    `#` and the key). `has_generation_config`: engines fall back to `config.json` only where it is absent.
    `complete` is False where one of these files may be there and was not read. `listed` are those whose ids
    are a list, though it be of one. `other_ids` are those of further tokens (BOS, padding …), by file, `#`
    and key; `vocabulary` is how many ids the model has, None where no file tells."""

    eos_ids: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    has_generation_config: bool = False
    complete: bool = True
    listed: frozenset[str] = frozenset()
    other_ids: Mapping[str, int] = field(default_factory=dict)
    vocabulary: int | None = None


class Vocabulary(Protocol):
    """The token texts of a GGUF, by id."""

    def __len__(self) -> int: ...

    def text(self, index: int) -> str | None: ...

    def index(self, text: str) -> int | None: ...


@dataclass(frozen=True, slots=True)
class GgufFacts:
    """What a GGUF says of itself beside templates and tokens. `tokenizer_model` and `pre` are llama.cpp's
    names for the kind of tokenizer and its splitting; `kinds` counts tokens by type (1 normal, 2 unknown, 3
    control, 4 user-defined, 5 unused, 6 byte)."""

    file: str
    version: int
    big_endian: bool
    general: Mapping[str, str | int | float | bool]
    tokenizer_model: str | None
    pre: str | None
    kinds: Mapping[int, int]
    vocabulary: Vocabulary | None = field(default=None, repr=False, compare=False)
    fim_ids: tuple[int, ...] = ()
    """Tokens of infilling at which llama.cpp ends generation, too."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that could not be loaded, rendered, learned or evaluated: said in the report, never lost."""

    stage: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True)
class KvCache:
    """What a token of history costs in memory while it is served.

    `kind` is multi-head, grouped-query, multi-query or latent; `growing_layers` are those that keep every
    token. `element_assumed`: no file names the element's type, two bytes are taken. `at_most`: a sliding
    window bounds some layers, and no file says which.
    """

    kind: str
    layers: int
    growing_layers: int
    key_value_heads: int
    head_size: int
    element_bytes: int
    bytes_per_token: int
    element_assumed: bool = False
    at_most: bool = False


@dataclass(frozen=True, slots=True)
class TemplatePick:
    """A template by where it stands: file, name, and sha256 of its text."""

    file: str
    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class EngineTemplate:
    """What an engine would use for requests without and with tools; None where it finds none. `note` says
    what it does then, or what decides."""

    engine: str
    without_tools: TemplatePick | None
    with_tools: TemplatePick | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class NamedParser:
    """A parser that a file of the package names for serving: `kind` is `tool` or `reasoning`; `engine` is
    `vllm` or `sglang`, "" where the file does not say."""

    file: str
    line: int
    kind: str
    name: str
    engine: str = ""


@dataclass(frozen=True, slots=True)
class Package:
    """A loaded target. `templates` are those its host would use, chosen first; `copies` are further ones
    found that the host does not read (they are compared, not judged). `notes` say what was decided while
    loading: which of several GGUFs was read, from which commit. `template_readers`: which template each
    engine would use."""

    target: Target
    templates: tuple[Template, ...]
    copies: tuple[Template, ...] = ()
    tokenizer: TokenizerFacts = field(default_factory=TokenizerFacts)
    generation: GenerationFacts = field(default_factory=GenerationFacts)
    files: tuple[PackageFile, ...] = ()
    failures: tuple[Failure, ...] = ()
    ggufs: tuple[GgufFacts, ...] = ()
    notes: tuple[str, ...] = ()
    template_readers: tuple[EngineTemplate, ...] = ()
    base: Package | None = None
    """What this one ought to be a copy of."""
    kv_cache: KvCache | None = None
    response_template: JSON = None
    """How transformers 5 reads the model's output, from `tokenizer_config.json`; None if it does not say."""
    named_parsers: tuple[NamedParser, ...] = ()
    """Those that the model card beside the files names."""

    def template(self, name: str = "default") -> Template:
        """The template of that name. Raises KeyError with the names there are."""
        for template in self.templates:
            if template.name == name:
                return template
        raise KeyError(f"no template {name!r}; there are: {', '.join(t.name for t in self.templates)}")

    def token_id(self, text: str) -> int | None:
        """The id of the added token of this text, or of any token where a GGUF tells them all; None if there
        is none, or no file says so."""
        for token in self.tokenizer.added_tokens or ():
            if token.text == text:
                return token.id
        vocabulary = self._vocabulary
        return vocabulary.index(text) if vocabulary is not None else None

    def is_token(self, text: str) -> bool | None:
        """Whether this text is one token; None where no file lists all that were added to the vocabulary."""
        return True if self.token_id(text) is not None else False if self.lists_tokens else None

    @property
    def lists_tokens(self) -> bool:
        """Whether all special tokens are known. `added_tokens.json` lists only what was added later: those
        that every model has are missing there."""
        listed = {token.text for token in self.tokenizer.added_tokens or ()}
        return self._vocabulary is not None or bool({self.tokenizer.bos, self.tokenizer.eos} & listed)

    @property
    def markers(self) -> tuple[str, ...]:
        """The added tokens that can be marks of a template (vocabularies also add plain words), the longest
        first; none where no file lists them."""
        added = self.tokenizer.added_tokens or ()
        texts = [token.text for token in added if token.text and (token.special or _is_marker(token.text))]
        return tuple(sorted(texts, key=len, reverse=True))

    @property
    def tokenizer_is_gguf(self) -> bool:
        """Whether the facts about tokens are those of a GGUF."""
        return bool(self.ggufs) and self.tokenizer.source == (self.ggufs[0].file,)

    @property
    def _vocabulary(self) -> Vocabulary | None:
        """Every token, where the tokenizer is a GGUF's."""
        return self.ggufs[0].vocabulary if self.tokenizer_is_gguf else None

    def differing_copies(self) -> tuple[Template, ...]:
        """The copies whose text is not that of the template of their name that the host uses."""
        used = {template.name: template.sha256 for template in self.templates}
        return tuple(copy for copy in self.copies if used.get(copy.name) != copy.sha256)


def _is_marker(text: str) -> bool:
    return len(text) > 2 and not text.isalnum() and not text.isspace()
