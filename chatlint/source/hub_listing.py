"""What a Hub repository holds at one commit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from chatlint.conversation import JSON
from chatlint.errors import TargetError
from chatlint.lazy import regex
from chatlint.limits import HUB_FILES
from chatlint.records import dataclass, field
from chatlint.source.folder import SUBFOLDERS
from chatlint.source.package import Target
from chatlint.text import visible

# huggingface_hub 2.4, utils/_validators.py: what may be a repository's id.
_REPO = regex(r"(?:\b[\w.-]+\b/)?\b[\w.-]{1,96}\b", re.ASCII)
_REVISION = regex(r"[\w.+-]+(?:/[\w.+-]+)*", re.ASCII)
MAIN = "main"


@dataclass(frozen=True, slots=True)
class Address:
    """A Hub target read apart: the repository, the revision asked for, and what of it (`file`: a path in it,
    a quantization, `*` for every GGUF, or "")."""

    repo: str
    revision: str
    file: str = ""

    @property
    def asked(self) -> str | None:
        """The revision as the client wants it: None is the repository's own default."""
        return None if self.revision == MAIN else self.revision

    def __str__(self) -> str:
        return self.repo if self.revision == MAIN else f"{self.repo}@{self.revision}"


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file by its path, its size in bytes (None if unknown), and what names its content: the Hub's ETag,
    "" if unknown."""

    path: str
    size: int | None = None
    etag: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a repository at a commit that may matter here, and when it was looked at (seconds since
    the epoch).

    `complete` is False where only those are known that somebody fetched. `shown` is what the Hub's page says
    of a model's configuration; it is open where the files may not be.
    """

    repo: str
    commit: str
    files: tuple[HubFile, ...]
    time: float = 0.0
    complete: bool = True
    shown: Mapping[str, JSON] = field(default_factory=dict, repr=False)

    def file(self, path: str) -> HubFile | None:
        """The file at `path`, or None."""
        return next((file for file in self.files if file.path == path), None)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path there is, sorted."""
        return tuple(sorted(file.path for file in self.files))


def address_of(target: Target) -> Address:
    """The parts of a target of kind HUB. Raises TargetError for an id or a revision that can be none."""
    repo, _, file = target.locator.partition(":")
    revision = target.revision or MAIN
    if not _REPO.fullmatch(repo) or "--" in repo or ".." in repo or repo.endswith(".git"):
        raise TargetError(
            f"{visible(repo)} cannot be the id of a Hub model", hint="an id like org/name was expected"
        )
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise TargetError(
            f"{visible(revision)} cannot be a revision", hint="a branch, a tag or a commit was expected"
        )
    return Address(repo, revision, file)


def relevant(files: Iterable[HubFile]) -> tuple[HubFile, ...]:
    """Those among a repository's files that may matter: beside the weights in other folders."""
    found = (file for file in files if _may_matter(file.path))
    return tuple(file for _, file in zip(range(HUB_FILES), found, strict=False))


def dump_listing(listing: Listing) -> bytes:
    """A listing as it is kept."""
    rows = [[file.path, file.size, file.etag] for file in listing.files]
    kept = {"repo": listing.repo, "commit": listing.commit, "time": listing.time, "files": rows}
    return json.dumps(kept).encode()


def load_listing(content: bytes) -> Listing:
    """A listing that was kept. Raises ValueError for anything else."""
    kept = json.loads(content)
    try:
        files = tuple(HubFile(str(path), size, str(etag)) for path, size, etag in kept["files"])
        return Listing(str(kept["repo"]), str(kept["commit"]), files, float(kept["time"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"no listing: {error}") from error


def _may_matter(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return not folder or folder in SUBFOLDERS or name.lower().endswith((".gguf", ".jinja"))
