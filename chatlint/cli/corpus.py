"""`chatlint corpus list|show|sync`: the templates that come with chatlint, and real models beside them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from chatlint.cli import options
from chatlint.cli.declared import Argument, Group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatlint.conversation import JSON
    from chatlint.corpus import Synced


def list_corpus(format_: options.Listing = "terminal", color: options.Color = "auto") -> None:
    """List the entries; check one with: chatlint check corpus:NAME"""
    from chatlint.source.bundled import corpus_names

    entries = [(name, _title(name)) for name in corpus_names()]
    if options.listing(format_) == "json":
        options.print_json([{"name": name, "title": title} for name, title in entries])
    else:
        options.print_table([[(name, "strong"), (title, "")] for name, title in entries], color)


def _title(name: str) -> str:
    """What an entry's `expected.json` calls it."""
    import json

    from chatlint.source.bundled import bundled

    expected = bundled("corpus") / name / "expected.json"
    return str(json.loads(expected.read_text(encoding="utf-8"))["title"]) if expected.is_file() else ""


def show_corpus(name: Annotated[str, Argument(metavar="NAME", help="An entry's name.")]) -> None:
    """Print the template of one entry."""
    from chatlint.source.load import load

    sys.stdout.write(load(f"corpus:{name}").templates[0].text + "\n")


Models = Annotated[list[str] | None, Argument(metavar="MODEL", help="Only these, by id or corpus entry.")]


def sync_corpus(
    wanted: Models = None,
    offline: options.Offline = False,
    host: options.Host = None,
    no_cache: options.NoCache = False,
    format_: options.Listing = "terminal",
    color: options.Color = "auto",
) -> None:
    """Fetch the real models of corpus/models.json, and hold them against the facts listed there.

    Exit status: 0 every fact holds, 1 one does not, 2 usage or internal error, 3 a model could not be read.
    """
    from chatlint.cli.progress import Progress
    from chatlint.config import Settings
    from chatlint.corpus import models, sync
    from chatlint.render.rendered import DEFAULT_HOST

    options.listing(format_)
    settings = Settings(host=host or DEFAULT_HOST, offline=offline, cache=not no_cache)
    listed = models(wanted or ())
    with Progress(len(listed)) as progress:
        found = [progress.step(one, one.model.id) for one in sync(listed, settings, progress.say)]
    if format_ == "json":
        options.print_json([_facts(one) for one in found])
    else:
        rows = [
            [(one.model.id, "strong"), (one.state, _STYLES[one.state]), (_said(one), "")] for one in found
        ]
        options.print_table(rows, color)
        sys.stdout.write(_in_all(found))
    states = {one.state for one in found}
    sys.exit(3 if "not-read" in states else int("differs" in states))


_STYLES = {"same": "good", "unlisted": "faint", "edited": "part", "differs": "bad", "not-read": "bad"}
_MEANING = {
    "same": "same: the listed template, and its facts hold",
    "unlisted": "unlisted: read, but no facts are listed (--format json shows what it does)",
    "edited": "edited: another template than the listed one; every fact holds all the same",
    "differs": "differs: a listed fact does not hold",
    "not-read": "not-read: it could not be loaded",
}


def _said(synced: Synced) -> str:
    if synced.differences:
        return "; ".join(
            f"the call begins otherwise than {expected!r}"
            if name == "call"
            else f"{name} is {found!r}, not {expected!r}"
            for name, expected, found in synced.differences
        )
    listed = f", not {synced.model.sha256[:12]}" if synced.state == "edited" and synced.model.sha256 else ""
    reason = synced.reason.removeprefix(f"{synced.model.id} ")
    return reason or f"sha256 {synced.sha256[:12]}{listed}"


def _in_all(found: Sequence[Synced]) -> str:
    """How many came to what, and what that means."""
    states: list[str] = [one.state for one in found]
    lines = [f"{states.count(state):4} {said}" for state, said in _MEANING.items() if state in states]
    return "".join(f"{line}\n" for line in ["", *lines])


def _facts(synced: Synced) -> dict[str, JSON]:
    return {
        "id": synced.model.id,
        "entry": synced.model.entry,
        "state": synced.state,
        "revision": synced.revision,
        "sha256": synced.sha256 or None,
        "expected_sha256": synced.model.sha256,
        "found": synced.found,
        "differences": [
            {"fact": name, "expected": expected, "found": found}
            for name, expected, found in synced.differences
        ],
        "reason": synced.reason,
    }


corpus_commands = Group(
    "The bundled templates: one of our own per published format.",
    list=list_corpus,
    show=show_corpus,
    sync=sync_corpus,
)
