"""Another template engine makes another prompt of the same conversation.

## What it does
Renders every conversation that was asked anyway with the engines that `--engines` names (minijinja as vLLM's
and Hugging Face's Rust servers have it, `@huggingface/jinja` of transformers.js, llama.cpp's own), each with
exactly the same variables, and compares. Says where the prompts part first, and which construct explains it.
An engine that is not installed is reported as not evaluated.

## Why is this bad
The model is served with prompts that it was not trained on, or not at all, and nothing says so.

## Example
```toml chatlint.toml
engines = ["minijinja"]
```
```jinja bad
{% for m in messages %}{% set text = m.content or '' %}
{%- set text = text if text is string else text | map(attribute='text') | join %}
<|{{ m.role }}|>{{ text.rsplit('</think>', 1)[-1] }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
Use instead what every engine has:
```jinja good
{% for m in messages %}{% set text = m.content or '' %}
{%- set text = text if text is string else text | map(attribute='text') | join %}
<|{{ m.role }}|>{{ text.split('</think>')[-1] }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.probe.axes import SWITCH
from chatlint.records import replace
from chatlint.rules.cause import Cause, NotEvaluated, Sight, smallest_first
from chatlint.rules.divergence import Difference, difference
from chatlint.rules.finding import Confidence, Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.engines.engine import Engine, Job
    from chatlint.probe.case import Case, Observation
    from chatlint.probe.trace import Trace
    from chatlint.rules.subject import Subject


_ORDINARY = ("roles/system-user", "roles/user-assistant-user", "calls/one-followed", "tools/one")


@rule("CT804", severity=Severity.WARNING, needs=Stage.OBSERVATIONS)
def check(subject: Subject) -> Iterator[Cause]:
    from chatlint.engines.engine import EngineAbsent, EngineFailed
    from chatlint.engines.find import open_engine

    missing: list[str] = []
    for name in subject.settings.engines if subject.settings else ():
        try:
            engine = open_engine(name, subject.trace.settings.now)
            yield from _causes(subject, engine)
        except (EngineAbsent, EngineFailed) as reason:
            missing.append(f"{name}: {reason}")
    if missing:
        raise NotEvaluated("; ".join(missing))


def _causes(subject: Subject, engine: Engine) -> Iterator[Cause]:
    trace = subject.elsewhere(engine.host) if engine.host else subject.trace
    pairs = _jobs(subject, trace)
    outcomes = engine.render_all(subject.template.text, [job for _, job in pairs])
    found: dict[str, list[tuple[Difference, Observation]]] = {}
    compared = 0
    for (observation, _), outcome in zip(pairs, outcomes, strict=True):
        compared += observation.prompt is not None
        if differs := difference(observation, outcome):
            key = differs.key if differs.key != "text" else f"text @{_line(observation, differs.start)}"
            found.setdefault(key, []).append((differs, observation))
    for key, members in found.items():
        cause = _cause(engine, key, members, whole=len(members) == compared)
        yield _blamed(subject, engine, cause) if key.startswith("fails") and not cause.line else cause


def _jobs(subject: Subject, trace: Trace) -> list[tuple[Observation, Job]]:
    """Every case with what its template was given. What continues a message, and what the host refuses, is
    no matter of an engine."""
    from chatlint.engines.engine import Job
    from chatlint.render.prepared import plain_variables
    from chatlint.render.rendered import FailureKind, RenderRequest

    jobs = []
    manners = subject.manners(trace.settings.host)
    for probe in _ORDINARY:  # the least that is compared, whatever else was asked
        subject.see(probe)
    for asked in subject.trace.observations:
        case = asked.case
        if case.continue_final_message or _tried(case, subject):
            continue
        if asked.failure and asked.failure.kind is FailureKind.BOUND:
            continue
        request = RenderRequest(case.conversation, case.add_generation_prompt)
        variables = plain_variables(subject.template, trace.settings, request, manners)
        if variables is not None:
            job = Job(variables, case.conversation, case.add_generation_prompt)
            jobs.append((asked if trace is subject.trace else trace.ask(case), job))
    return jobs


def _tried(case: Case, subject: Subject) -> bool:
    """Whether a template kwarg is tried that this template does not need: with a value that nobody means."""
    needed = subject.footing.variant
    return any(name.startswith(SWITCH) and name not in needed for name, _ in case.variant)


def _line(observation: Observation, start: int) -> int:
    from chatlint.rules.sights import written_at

    return written_at(observation.prompt, start)[0] if observation.prompt else 0


def _cause(engine: Engine, key: str, members: list[tuple[Difference, Observation]], *, whole: bool) -> Cause:
    title = f"{engine.name} {engine.version}".rstrip()
    by_case = {observation.case.id: differs for differs, observation in members}
    sights = smallest_first(_sight(title, differs, observation) for differs, observation in members)
    first = by_case[sights[0].observation.case.id]
    unusable = whole and key.startswith("fails")
    severity = Severity.ERROR if unusable else first.severity
    if key == "containers" and all(probe.startswith("content/") for probe in by_case):
        severity = Severity.INFO  # a list of parts that is printed is wrong in every engine
    return Cause(
        key=f"{engine.name}: {key}",
        message=f"{title} {'cannot use the template: it ' if unusable else ''}{first.message}",
        consequence=_CONSEQUENCES[key.partition(":")[0] if key.startswith(("fails", "forgiven")) else "text"],
        sights=sights if not unusable else sights[:1],
        line=first.line,
        severity=severity,
        confidence=Confidence.HIGH,
        hosts=(engine.name,),
    )


_FAMILIES = {"huggingface-js": "@huggingface/jinja", "llama.cpp": "llama.cpp"}
"""The names of engines in the table of constructs; the ways to set up minijinja are all minijinja's."""


def _blamed(subject: Subject, engine: Engine, cause: Cause) -> Cause:
    """A failure whose engine names no line, with what the template uses that is known to fail there."""
    from chatlint.engines.constructs import Effect, construct_table

    constructs = construct_table().constructs
    family = _FAMILIES.get(engine.name, "minijinja")
    for use in subject.syntax.constructs:
        known = constructs.get(use.name)
        for fate in known.fates if known else ():
            if known and fate.engine.name == family and fate.effect in (Effect.UNUSABLE, Effect.FAILS):
                message = f"{cause.message} ({known.shown} is known to fail there)"
                fix = f"All engines take {known.instead}." if known.instead else ""
                return replace(cause, message=message, line=use.line, fix=fix)
    return cause


_CONSEQUENCES = {
    "fails": "Where that engine serves the model, such requests fail.",
    "forgiven": "What is tested there breaks in transformers.",
    "text": "Where that engine serves the model, it sees another prompt.",
}


def _sight(title: str, differs: Difference, observation: Observation) -> Sight:
    sight = Sight(observation, rank=0)
    if observation.prompt is None or not (differs.theirs or differs.start):
        return sight
    end = min(differs.start + 1, len(observation.text))
    start = min(differs.start, max(end - 1, 0))
    return replace(sight, start=start, end=end, note=f"from here {title} writes {differs.theirs!r}")
