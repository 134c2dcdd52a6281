"""A Hub on loopback, by the standard library: what the real client asks is answered as the real Hub does.

    with FakeHub() as hub:
        hub.add("org/model", {"config.json": b"{}"})
        ...
        assert [asked.path for asked in hub.log] == [...]

Large files (`Large`, and whatever ends in `.gguf`) are kept at a second origin that only redirects lead to.
"""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

_PIECE = 64 * 1024
_LARGE_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True)
class Large:
    """A file's content that is in large storage: bytes, or the path of a (sparse) local file."""

    content: bytes | Path

    @property
    def size(self) -> int:
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    def piece(self, start: int, end: int) -> bytes:
        if isinstance(self.content, bytes):
            return self.content[start:end]
        with self.content.open("rb") as file:
            file.seek(start)
            return file.read(end - start)


@dataclass
class Asked:
    """One request as it came in, and what it gets: whoever has an answer whole sees all of it here."""

    method: str
    path: str
    origin: str
    token: str | None
    range: str | None
    status: int = 0
    sent: int = 0


class Refusal(Exception):
    """An answer without what was asked for."""

    def __init__(self, status: int, body: bytes = b"{}", **headers: str) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers


@dataclass
class Repo:
    """A repository: commits by id, and what refs mean now."""

    id: str
    gated: str | None = None
    private: bool = False
    disabled: bool = False
    readers: frozenset[str] = frozenset()
    info: dict = field(default_factory=dict)
    commits: dict[str, dict[str, Large]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    def commit(self, files: dict[str, bytes | str | Path | Large], ref: str = "main") -> str:
        """Add a commit with exactly these files and let `ref` mean it."""
        tree = {path: _stored(path, content) for path, content in files.items()}
        said = (
            repr(sorted((path, _etag(path, file)) for path, file in tree.items()))
            + ref
            + str(len(self.commits))
        )
        commit = sha1(said.encode()).hexdigest()
        self.commits[commit] = tree
        self.refs[ref] = commit
        return commit

    def resolve(self, revision: str) -> str:
        commit = self.refs.get(revision, revision)
        if commit not in self.commits:
            raise Refusal(404, X_Error_Code="RevisionNotFound")
        return commit


@dataclass
class Fault:
    """What happens to requests whose "METHOD path" matches: a status, or `drop`, `stall`, `halve`, `drip`."""

    pattern: str
    kind: int | str
    times: int
    headers: dict[str, str]
    seconds: float = 0.0


class FakeHub:
    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.renames: dict[str, str] = {}
        self.tokens: set[str] = set()
        self.log: list[Asked] = []
        self.delay = 0.0
        self.ranges = True
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self.closing = threading.Event()

    def __enter__(self) -> FakeHub:
        self._servers = [_Server(self, ("127.0.0.1", 0)), _Server(self, ("127.0.0.1", 0))]
        for server in self._servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._servers[0].server_address[1]}"
        self.cdn = f"http://localhost:{self._servers[1].server_address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self.die()

    def die(self) -> None:
        """Answer nothing any more: the ports are closed, and every connection with them."""
        self.closing.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()
            server.hang_up()

    def add(self, name: str, files: dict[str, bytes | str | Path | Large], **about) -> Repo:
        """A repository with one commit on `main`."""
        repo = self.repos[name] = Repo(name, **about)
        repo.commit(files)
        return repo

    def fault(
        self, pattern: str, kind: int | str, *, times: int = 10**6, seconds: float = 0.0, **headers: str
    ) -> None:
        """Let requests fail; underscores in names of headers are dashes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._faults.append(Fault(pattern, kind, times, named, seconds))

    def heal(self) -> None:
        """No faults any more."""
        self._faults.clear()

    def pop_fault(self, method: str, path: str) -> Fault | None:
        with self._lock:
            for fault in self._faults:
                if fault.times > 0 and re.search(fault.pattern, f"{method} {path}"):
                    fault.times -= 1
                    return fault
        return None

    @property
    def requests(self) -> list[str]:
        """Every request as "METHOD path", without queries."""
        return [f"{asked.method} {asked.path.partition('?')[0]}" for asked in self.log]

    @property
    def sent(self) -> int:
        """Bytes of all bodies."""
        return sum(asked.sent for asked in self.log)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, hub: FakeHub, address: tuple[str, int]) -> None:
        self.hub = hub
        self.connections: set = set()
        super().__init__(address, _Answer)

    def hang_up(self) -> None:
        for connection in list(self.connections):
            with suppress(OSError):
                connection.close()

    def handle_error(self, request, client_address) -> None:
        pass  # clients hang up on purpose


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    server: _Server
    asked: Asked

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        super().finish()

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def _serve(self) -> None:
        hub = self.server.hub
        self.asked = Asked(
            self.command, self.path, self.headers["Host"], self._token, self.headers.get("Range")
        )
        hub.log.append(self.asked)
        if hub.delay:
            time.sleep(hub.delay)
        fault = hub.pop_fault(self.command, self.path)
        try:
            if fault is None or not self._fail(fault):
                self._answer(fault)
            self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError, ValueError):
            self.close_connection = True

    def _fail(self, fault: Fault) -> bool:
        """Whether the fault is the whole answer."""
        if isinstance(fault.kind, int):
            self._say(fault.kind, b"{}", **fault.headers)
        elif fault.kind == "drop":
            self.close_connection = True
            self.connection.close()
        elif fault.kind == "stall":
            self.server.hub.closing.wait(fault.seconds or 60)
            self.close_connection = True
        else:
            return False
        return True

    def _answer(self, fault: Fault | None) -> None:
        try:
            self._route(fault)
        except Refusal as refusal:
            self._say(refusal.status, refusal.body, **refusal.headers)

    def _route(self, fault: Fault | None) -> None:
        url = urlsplit(self.path)
        path = unquote(url.path)
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", url.path)
        tree = re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)", url.path)
        resolve = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", url.path)
        if path.startswith("/cdn/"):
            _, _, name, commit, file = path.split("/", 4)
            tree_of = self.server.hub.repos[unquote(unquote(name))].commits[commit]
            self._send(tree_of[file], file, fault)
        elif api:
            self._about(unquote(api[1]), unquote(api[2] or "main"), parse_qs(url.query))
        elif tree:
            self._list(unquote(tree[1]), unquote(tree[2]))
        elif resolve:
            self._resolve(unquote(resolve[1]), unquote(resolve[2]), unquote(resolve[3]), fault)
        else:
            raise Refusal(404, b"no such route")

    def _about(self, name: str, revision: str, query: dict[str, list[str]]) -> None:
        repo = self._repo(name)
        commit = repo.resolve(revision)
        files = sorted(repo.commits[commit].items())
        blobs = "blobs" in query
        siblings = [_sibling(path, file) if blobs else {"rfilename": path} for path, file in files]
        about = {"_id": "0", "id": repo.id, "modelId": repo.id, "sha": commit, "private": repo.private}
        about |= {"gated": repo.gated or False, "disabled": repo.disabled, "tags": [], "downloads": 0}
        self._say(200, json.dumps({**about, "siblings": siblings, **repo.info}).encode())

    def _list(self, name: str, revision: str) -> None:
        """What `snapshot_download` asks for."""
        repo = self._repo(name)
        files = [_sibling(path, file) for path, file in repo.commits[repo.resolve(revision)].items()]
        rows = [{"type": "file", "path": one["rfilename"], "oid": one["blobId"], **one} for one in files]
        self._say(200, json.dumps(rows).encode())

    def _repo(self, name: str) -> Repo:
        hub, token = self.server.hub, self._token
        if token is not None and token not in hub.tokens:
            message = "Invalid credentials in Authorization header"
            raise Refusal(401, json.dumps({"error": message}).encode(), X_Error_Message=message)
        if name in hub.renames:
            raise Refusal(307, Location=self.path.replace(name, hub.renames[name], 1))
        repo = hub.repos.get(name)
        if repo is None or (repo.private and token not in repo.readers):
            raise Refusal(404 if token else 401, X_Error_Code="RepoNotFound")
        if repo.disabled:
            raise Refusal(403, X_Error_Message="Access to this resource is disabled.")
        return repo

    def _resolve(self, name: str, revision: str, path: str, fault: Fault | None) -> None:
        repo = self._repo(name)
        if repo.gated and self._token not in repo.readers:
            raise Refusal(403 if self._token else 401, X_Error_Code="GatedRepo")
        commit = repo.resolve(revision)
        file = repo.commits[commit].get(path)
        if file is None:
            raise Refusal(404, X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
        if _is_large(path, file):
            name = quote(quote(repo.id, safe=""), safe="")
            signed = f"{self.server.hub.cdn}/cdn/{name}/{commit}/{quote(path)}?Signature=secret"
            linked = {"X_Linked_Size": str(file.size), "X_Linked_Etag": f'"{_etag(path, file)}"'}
            raise Refusal(302, Location=signed, X_Repo_Commit=commit, ETag='"pointer"', **linked)
        self._send(file, path, fault, X_Repo_Commit=commit)

    def _send(self, file: Large, path: str, fault: Fault | None, **headers: str) -> None:
        size = file.size
        start, end, status = 0, size, 200
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if match and self.server.hub.ranges:
            start, end, status = int(match[1]), min(int(match[2] or size) + 1, size), 206
            headers["Content_Range"] = f"bytes {start}-{end - 1}/{size}"
            if start >= size:
                raise Refusal(416, Content_Range=f"bytes */{size}")
        self._head(status, end - start, ETag=f'"{_etag(path, file)}"', Accept_Ranges="bytes", **headers)
        if self.command == "GET":
            self._body(file, start, end, fault)

    def _body(self, file: Large, start: int, end: int, fault: Fault | None) -> None:
        kind = fault.kind if fault else ""
        if kind == "halve":
            end = start + (end - start) // 2
            self.close_connection = True
        step = 1 if kind == "drip" else _PIECE
        for at in range(start, end, step):
            piece = file.piece(at, min(at + step, end))
            self.asked.sent += len(piece)
            self.wfile.write(piece)
            if kind == "drip":
                self.wfile.flush()
                if self.server.hub.closing.wait(0.2):
                    return

    def _say(self, status: int, body: bytes, **headers: str) -> None:
        self._head(status, len(body), Content_Type="application/json", **headers)
        if self.command == "GET":
            self.asked.sent += len(body)
            self.wfile.write(body)

    def _head(self, status: int, length: int, **headers: str) -> None:
        self.asked.status = status
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    @property
    def _token(self) -> str | None:
        authorization = self.headers.get("Authorization")
        return authorization.removeprefix("Bearer ") if authorization else None


def _stored(path: str, content: bytes | str | Path | Large) -> Large:
    if isinstance(content, Large):
        return content
    return Large(content.encode() if isinstance(content, str) else content)


def _is_large(path: str, file: Large) -> bool:
    return path.endswith(".gguf") or file.size > _LARGE_BYTES or isinstance(file.content, Path)


def _etag(path: str, file: Large) -> str:
    if isinstance(file.content, Path):
        return sha256(f"{file.content} {file.size} {file.content.stat().st_mtime_ns}".encode()).hexdigest()
    if _is_large(path, file):
        return sha256(file.content).hexdigest()
    return sha1(b"blob %d\0" % file.size + file.content).hexdigest()


def _sibling(path: str, file: Large) -> dict:
    about = {"rfilename": path, "size": file.size, "blobId": sha1(path.encode()).hexdigest()}
    if _is_large(path, file):
        return {**about, "lfs": {"size": file.size, "sha256": _etag(path, file), "pointerSize": 134}}
    return {**about, "blobId": _etag(path, file)}
