"""A call that is one object literal: members in any order, at any nesting the skeleton has."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from chatlint.parse.literals import Literal, Unwrapped, Write, container, plain, string
from chatlint.parse.patterns import NAME, Skeleton
from chatlint.parse.schemas import Tools
from chatlint.parse.seams import NONE, Seam
from chatlint.parse.stream import Reading, Stream
from chatlint.parse.values import decoded, literal

_short = re.compile(r'"(?:[^"\\]|\\.){0,256}"|\'(?:[^\'\\]|\\.){0,256}\'', re.DOTALL).match
_key = re.compile(r'"([^"\\]{0,256}+)"\s{0,64}+:').match
_word = re.compile(r"[^\s,{}\[\]\"':]{1,64}").match
_quotes = {quote: re.compile(rf"[{quote}\\]").search for quote in "'\""}
"""Finds what may end a quoted text, or hide its end."""
_EXTRA = 3
"""So many members of no interest may come first where it is in doubt whether an object is a call."""
_SHORT = 600
"""A key or name that has not ended after so many characters is none."""

Announce = Callable[[str, str], None]


def wrapped(stream: Stream, write: Write) -> Reading[bool]:
    """Arguments inside a JSON string: what the string holds is written."""
    inner = Unwrapped(write)
    whole = yield from string(stream, inner, "")
    return whole and inner.close()


class ObjectReader:
    """Reads one call from an object literal.

    `announce(name, id)` is called once, as soon as both are certain (the id only where it comes before the
    arguments); after that the arguments stream. With `declared` the call counts only if its tool is declared;
    `bare`, only if its arguments have begun. `head`: matches what usually stands up to the name; `bridge`:
    what does between name and arguments.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        stream: Stream,
        tools: Tools,
        announce: Announce,
        write: Write,
        declared: bool,
        bare: bool,
        head: re.Pattern[str] | None = None,
        bridge: Seam = NONE,
    ) -> None:
        self._skeleton = skeleton
        self._stream = stream
        self._tools = tools
        self._announce = announce
        self._write = write
        self._declared = declared
        self._bare = bare
        self._head = head
        self._bridge = bridge
        self._name = ""
        self.id = ""
        self._said = False
        self._held: list[str] = []
        """Arguments that came before the name."""
        self._spare: list[str] = []
        """An object under another key than the arguments': taken for them if none come."""
        self._written = False
        self._whole = False
        """Whether the arguments came to their end."""
        self.closed = False
        """Whether the object did."""
        self.listed = False
        """Whether it stands in a list."""
        self._extra = 0
        """Members of no interest so far."""

    def read(self, name: str) -> Reading[bool]:
        """The object, or the first of an array. `name` is the tool's, if it was read before. False if it is
        cut, or, where nothing was announced, no call."""
        self._name = name
        char = yield from self._stream.skip_blank()
        if char == "[":
            self._stream.at += 1
            self.listed = True
            char = yield from self._stream.skip_blank()
        if char != "{":
            return False
        whole = yield from self._members(())
        if whole and not self._bare and not self._said:
            if not self._tool_known:
                self._unwrap()
            if self._tool_known:
                self._say()
        if self._said and whole and not self._written:
            self._write("".join(self._spare) or "{}")
        self.closed = whole
        return whole or self._whole

    @property
    def _tool_known(self) -> bool:
        """Whether it was said which tool is called: by its name, or by an id that carries it."""
        skeleton = self._skeleton
        in_id = skeleton.name is None and NAME not in skeleton.arguments
        return bool(self._name or (in_id and self.id))

    def _members(self, path: tuple[str, ...]) -> Reading[bool]:
        """The members of one object, from its brace on."""
        stream = self._stream
        head = self._head.match(stream.text, stream.at) if self._head and not path else None
        stream.at = head.end() if head else stream.at + 1
        if head and not (yield from self._called(head[1])):
            return False
        while char := (stream.solid() or (yield from stream.skip_blank())):
            if char == "}":
                stream.at += 1
                return True
            if char == ",":
                stream.at += 1
                continue
            key = self._plain_key()
            if key is None:
                key = yield from self._short_text()
                if key is None or (stream.solid() or (yield from stream.skip_blank())) != ":":
                    return False
                stream.at += 1
            if not (yield from self._member((*path, key))):
                return False
        return False

    def _plain_key(self) -> str | None:
        """A key and its colon, if all of it has come, and nothing in it is unusual."""
        found = _key(self._stream.text, self._stream.at)
        if found is None:
            return None
        self._stream.at = found.end()
        return found[1]

    def _member(self, path: tuple[str, ...]) -> Reading[bool]:
        """One value, by what the skeleton has in its place."""
        skeleton = self._skeleton
        char = self._stream.solid() or (yield from self._stream.skip_blank())
        if skeleton.arguments[-1] == NAME and len(path) == len(skeleton.arguments) and char == "{":
            self._name = path[-1]
            return (yield from self._arguments(char))
        if _fits(path, skeleton.arguments):
            return (yield from self._arguments(char))
        if skeleton.name and _fits(path, skeleton.name):
            return (yield from self._named())
        if skeleton.id and _fits(path, skeleton.id):
            identity = yield from self._short_text()
            self.id = identity or ""
            return identity is not None
        if char == "{" and any(
            want[: len(path)] == path for want in (skeleton.arguments, skeleton.name or ())
        ):
            return (yield from self._members(path))
        if self._bare and self._name and char == "{":
            return (yield from self._arguments(char))
        return (yield from self._other(path, char))

    def _named(self) -> Reading[bool]:
        """The name."""
        name = yield from self._short_text()
        return name is not None and name != "" and (yield from self._called(name))

    def _called(self, name: str) -> Reading[bool]:
        """Says the name, if nothing else must come first, and goes on to the arguments where they follow."""
        if self._declared and name not in self._tools:
            return False
        self._name = name
        unsure = self._bare and not self._held
        waits = unsure or (self._skeleton.id is not None and self._skeleton.id_first and not self.id)
        if waits:
            return True
        self._say()
        stream, bridge = self._stream, self._bridge
        if not bridge.begun(stream.text, stream.at):
            return True
        arguments = Literal()
        yield from stream.along(bridge, arguments.begin_behind(stream, bridge))
        if not arguments.stack and not arguments.ended:
            return True
        self._whole = yield from arguments.pass_through(stream, self._write)
        self._written = True
        return self._whole

    def _arguments(self, char: str) -> Reading[bool]:
        """The arguments: streamed if the name is known, else held."""
        usable = self._tool_known
        unsure = self._name not in self._tools if self._name else not self._skeleton.arguments_first
        if self._bare and (unsure or not char or char not in '{"'):
            return False
        if usable:
            self._say()
        write = self._write if usable else self._held.append
        if char == '"':
            whole = yield from wrapped(self._stream, write)
        elif char and char in "{[":
            whole = yield from container(self._stream, write)
        else:
            word = yield from self._short_text()
            if word is None or word.lower() in ("null", "none"):
                return word is not None
            write(plain(word))
            whole = True
        self._written = usable
        self._whole = whole and usable
        return whole

    def _other(self, path: tuple[str, ...], char: str) -> Reading[bool]:
        """A value of no interest. While in doubt whether this is a call at all, it must be short."""
        self._extra += 1
        if self._bare and not self._said:
            return self._extra <= _EXTRA and (yield from self._short_text()) is not None
        if char == "{" or char == "[":
            spare: list[str] = []
            whole = yield from container(self._stream, spare.append)
            if char == "{" and len(path) == len(self._skeleton.arguments):
                self._spare = self._spare or spare
            return whole
        if char == '"' or char == "'":
            return (yield from string(self._stream, _nowhere, ",}"))
        return (yield from self._short_text()) is not None

    def _unwrap(self) -> None:
        """A call inside another object, under a key that the format does not know."""
        value = decoded("".join(self._spare))
        name = value.get((self._skeleton.name or ("",))[-1]) if isinstance(value, dict) else None
        inner = value.get(self._skeleton.arguments[-1]) if isinstance(value, dict) else None
        if isinstance(name, str) and isinstance(inner, dict):
            self._name = name
            self._spare = [json.dumps(inner, ensure_ascii=False)]

    def _say(self) -> None:
        if not self._said:
            self._said = True
            self._announce(self._name, self.id)
            if self._held:
                self._written = True
                self._write("".join(self._held))
                self._held.clear()

    def _short_text(self) -> Reading[str | None]:
        """A key, a name, an id: a short string or a bare word; None if there is none."""
        stream = self._stream
        while True:
            char = stream.solid() or (yield from stream.skip_blank())
            found = _short(stream.text, stream.at) if char in ("'", '"') else _word(stream.text, stream.at)
            whole = found is not None and (
                char in ("'", '"') or found.end() < len(stream.text) or stream.final
            )
            if found and whole:
                stream.at = found.end()
                return _text(found[0])
            if (
                char == ""
                or stream.final
                or len(stream.text) - stream.at > _SHORT
                or (not found and char not in "'\"")
            ):
                return None
            if not found:
                stream.quiet = stream.until(_quotes[char], _SHORT)
            yield
            stream.quiet = None


def _fits(path: tuple[str, ...], want: tuple[str, ...]) -> bool:
    """Whether a path is the wanted one, or its end (an object that was written flat)."""
    return path == want[-len(path) :]


def _text(word: str) -> str:
    """What a short string or word says."""
    if word[0] not in "'\"":
        return word
    if "\\" not in word:
        return word[1:-1]
    value = decoded(literal(word) or "")
    return value if isinstance(value, str) else word


def _nowhere(_: str) -> None:
    """Writes nothing."""
