"""`corpus/models.json`: real repositories with the facts expected of them, held against what is there now."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

from chatlint.config import Settings
from chatlint.conversation import JSON, Conversation
from chatlint.errors import ChatlintError, UsageError
from chatlint.pipeline import judge, read_target
from chatlint.probe.trace import Trace
from chatlint.records import dataclass, field
from chatlint.render.rendered import RenderSettings
from chatlint.source.bundled import bundled
from chatlint.source.package import Template
from chatlint.store.disk import Store
from chatlint.verdict import TemplateReport

_MODELS, _TOOLS = "models.json", "tools.json"
_USER: Mapping[str, JSON] = {"role": "user", "content": "Askedfirst."}
_CALL: Mapping[str, JSON] = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {
            "id": "callid001",
            "type": "function",
            "function": {"name": "get_weather", "arguments": {"city": "Qwertyuiop"}},
        }
    ],
}
"""The call in which the fact `call` must stand."""


@dataclass(frozen=True, slots=True)
class Model:
    """A repository: the entry of the corpus that writes as it does, the sha256 of its template's text (None
    if it is not known), and facts that its template shows."""

    id: str
    entry: str
    sha256: str | None
    facts: Mapping[str, JSON]


class SyncState(StrEnum):
    """What became of a repository."""

    SAME = "same"
    """The template whose facts are listed, and they hold."""
    UNLISTED = "unlisted"
    """It was read; no facts are listed that could hold or not."""
    EDITED = "edited"
    """Another template; what is listed holds all the same."""
    DIFFERS = "differs"
    """A fact does not hold."""
    NOT_READ = "not-read"
    """It could not be loaded."""


@dataclass(frozen=True, slots=True)
class Synced:
    """One repository against its facts: `found` are those of its template, `differences` (fact, expected,
    found)."""

    model: Model
    state: SyncState
    revision: str | None = None
    sha256: str = ""
    found: Mapping[str, JSON] = field(default_factory=dict)
    differences: tuple[tuple[str, JSON, JSON], ...] = ()
    reason: str = ""


def models(names: Sequence[str] = ()) -> tuple[Model, ...]:
    """The listed repositories, or those of them that are named by id or entry. Raises UsageError for a name
    that is neither."""
    listed = json.loads((bundled("corpus") / _MODELS).read_text(encoding="utf-8"))
    known = tuple(Model(one["id"], one["entry"], one["sha256"], one["facts"]) for one in listed)
    for name in names:
        if not any(name in (model.id, model.entry) for model in known):
            from chatlint.config import nearest

            ids = [model.id for model in known]
            raise UsageError(f"{name} is not in models.json", hint=nearest(name, ids))
    return tuple(model for model in known if not names or model.id in names or model.entry in names)


def sync(
    wanted: Sequence[Model], settings: Settings, say: Callable[[str], None] = lambda _: None
) -> Iterator[Synced]:
    """Fetch each repository and hold its facts against its template."""
    for model in wanted:
        yield _synced(model, settings, say)


def _synced(model: Model, settings: Settings, say: Callable[[str], None]) -> Synced:
    try:
        package = read_target(model.id, settings, say)
    except UsageError:
        raise
    except ChatlintError as error:
        return Synced(model, SyncState.NOT_READ, reason=error.message)
    template = package.templates[0]
    found = _seen(judge(template, package, settings))
    differences = tuple(_differences(model, template, found, settings))
    state = _state(model, template, bool(differences))
    return Synced(model, state, package.target.revision, template.sha256, found, differences)


def _state(model: Model, template: Template, differs: bool) -> SyncState:
    if differs:
        return SyncState.DIFFERS
    if model.sha256 is None and not model.facts:
        return SyncState.UNLISTED
    return SyncState.SAME if model.sha256 in (None, template.sha256) else SyncState.EDITED


def _differences(
    model: Model, template: Template, found: Mapping[str, JSON], settings: Settings
) -> Iterator[tuple[str, JSON, JSON]]:
    facts = dict(model.facts)
    call = facts.pop("call", None)
    for name, expected in facts.items():
        if found.get(name) != expected:
            yield name, expected, found.get(name)
    if isinstance(call, str) and call not in _rendered_call(template, settings):
        yield "call", call, None


def _seen(report: TemplateReport) -> dict[str, JSON]:
    """Every fact that may be listed, but `call`."""
    capabilities = report.capabilities
    if capabilities is None:
        return {}
    return {**capabilities.chat_template_caps, "generation_prompt": capabilities.generation_prompt.text}


def _rendered_call(template: Template, settings: Settings) -> str:
    """A prompt with one call of `get_weather`; "" where the template refuses it."""
    tools = json.loads((bundled("corpus") / _TOOLS).read_text(encoding="utf-8"))["standard"]
    conversation = Conversation((_USER, _CALL), tuple(tools))
    store = Store() if settings.cache else None
    with Trace(template, RenderSettings(settings.host, untrusted=True), store) as trace:
        return trace.ask_conversation("corpus/call", conversation, add_generation_prompt=False).text
