"""The user's Hub cache on disk, read without importing the client.

Layout (huggingface_hub 2.4): `models--org--name/` with `refs/<revision>`, a file that holds a commit;
`snapshots/<commit>/<path>`, links to `blobs/<etag>`; `.no_exist/<commit>/<path>` for what is known to be
absent; and `trees/<commit>.json`, a listing, where one was made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from chatlint.lazy import regex
from chatlint.limits import JSON_FILE_BYTES
from chatlint.source.hub_listing import HubFile, Listing, relevant

_COMMIT = regex(r"[0-9a-f]{40}")
_TRUE = ("1", "ON", "YES", "TRUE")
_DEPTH = 3


def cache_root() -> Path:
    """Where the client keeps its cache, by its own reading of the environment: `HF_HUB_CACHE`, else `hub` in
    `HF_HOME` (a variable that is set and empty counts)."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    home = _expanded(os.environ.get("HF_HOME", os.path.join(cache, "huggingface")))
    older = os.environ.get("HUGGINGFACE_HUB_CACHE", os.path.join(home, "hub"))
    return Path(_expanded(os.environ.get("HF_HUB_CACHE", older)))


def offline_by_environment() -> bool:
    """Whether the user switched the Hub off."""
    value = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return value.upper() in _TRUE


def is_commit(revision: str) -> bool:
    """Whether a revision is a whole commit hash, which never means another content."""
    return bool(_COMMIT.fullmatch(revision))


class HubCache:
    """The cache under `root`. Nothing here raises: what cannot be read is not there."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = cache_root() if root is None else root

    def commit(self, repo: str, revision: str) -> tuple[str, float] | None:
        """The commit that `revision` meant when it was last asked for, and when that was noted."""
        if is_commit(revision):
            return (revision, 0.0) if self._snapshot(repo, revision).is_dir() else None
        ref = self._folder(repo) / "refs" / revision
        try:
            commit = ref.read_text(encoding="ascii").strip()
            return (commit, ref.stat().st_mtime) if is_commit(commit) else None
        except (OSError, ValueError):
            return None

    def path(self, repo: str, commit: str, path: str) -> Path | None:
        """Where a file of a commit lies, or None if it was not fetched."""
        found = self._snapshot(repo, commit).joinpath(*path.split("/"))
        try:
            return found if found.is_file() else None
        except (OSError, ValueError):
            return None

    def listing(self, repo: str, commit: str, time: float) -> Listing:
        """What is known of a commit: all of it where a listing was made, else what was fetched."""
        whole = self._tree(repo, commit)
        files = self._fetched(repo, commit) if whole is None else whole
        return Listing(repo, commit, relevant(files), time, complete=whole is not None)

    def known_absent(self, repo: str, commit: str, path: str) -> bool:
        """Whether somebody asked for the file and was told that there is none."""
        return self._folder(repo).joinpath(".no_exist", commit, *path.split("/")).exists()

    def _tree(self, repo: str, commit: str) -> list[HubFile] | None:
        tree = self._folder(repo) / "trees" / f"{commit}.json"
        try:
            if tree.stat().st_size > JSON_FILE_BYTES:
                return None
            files = json.loads(tree.read_bytes())["files"]
            return [_tree_file(path, entry) for path, entry in files.items()]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def _fetched(self, repo: str, commit: str) -> Iterator[HubFile]:
        root = self._snapshot(repo, commit)
        for folder, folders, names in os.walk(root):
            inside = Path(folder).relative_to(root)
            if len(inside.parts) >= _DEPTH:
                folders.clear()
            for name in names:
                yield HubFile((inside / name).as_posix())

    def _snapshot(self, repo: str, commit: str) -> Path:
        return self._folder(repo) / "snapshots" / commit

    def _folder(self, repo: str) -> Path:
        return self.root / f"models--{repo.replace('/', '--')}"


def _tree_file(path: str, entry: dict[str, object]) -> HubFile:
    size = entry.get("lfs_size") or entry.get("size")
    etag = entry.get("lfs_sha256") or entry.get("blob_id") or ""
    return HubFile(path, size if isinstance(size, int) else None, str(etag))


def _expanded(path: str) -> str:
    return os.path.expandvars(os.path.expanduser(path))
