"""`chatlint cache info|clear`: what was kept so that the next check is quick."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from chatlint.cli import options
from chatlint.cli.declared import Group

if TYPE_CHECKING:
    from chatlint.store.disk import Store

_WHAT = {
    "compiled": "templates compiled to code",
    "compiled-untrusted": "the same of templates that are rendered in a worker process",
    "digests": "digests of chatlint's own files",
    "hub-beginnings": "beginnings of large files on the Hub",
    "hub-listings": "what is in repositories on the Hub",
    "syntax": "what templates say by their text alone",
    "results": "what was found out about templates",
}


def show_cache(format_: options.Listing = "terminal", color: options.Color = "auto") -> None:
    """Say where the cache is, what is in it and how large it is."""
    from chatlint.store.disk import Store

    store = Store()
    if options.listing(format_) == "json":
        options.print_json(_facts(store))
        return
    rooms = store.rooms()
    sys.stdout.write(f"{store.root}: {_size(sum(size for _, size in rooms.values()))}\n")
    rows = [
        [(room, ""), (str(count), ""), (_size(size), ""), (_WHAT.get(room, ""), "faint")]
        for room, (count, size) in rooms.items()
    ]
    if rows:
        options.print_table(rows, color)


def clear_cache() -> None:
    """Remove everything that was kept; it is made anew when it is needed."""
    from chatlint.errors import UsageError
    from chatlint.store.disk import Store

    store = Store()
    removed, left = store.clear()
    sys.stdout.write(f"{store.root}: {_size(removed)} removed\n")
    if left:
        raise UsageError(f"{_size(left)} could not be removed", hint="is it another user's?")


def _facts(store: Store) -> dict[str, str | int | dict[str, dict[str, int]]]:
    rooms = {room: {"entries": count, "bytes": size} for room, (count, size) in store.rooms().items()}
    return {"path": str(store.root), "bytes": store.size(), "rooms": rooms}


def _size(count: int) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count} {unit}"
        count = round(count / 1024)
    return f"{count} GiB"


cache_commands = Group("What was kept so that the next check is quick.", info=show_cache, clear=clear_cache)
