"""A comparison as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.diff.drift import Drift, TemplateDrift
from chatlint.diff.prompts import Excerpt, PromptChange
from chatlint.diff.terminal import SAID, alike, cached_words, unrendered_words, value_words
from chatlint.report.markup import md_cell, md_code, md_text

_CHANGES = 20
_LONGEST = 120


def markdown(drift: Drift) -> str:
    """The whole comparison."""
    return "\n".join(_lines(drift)) + "\n"


def _lines(drift: Drift) -> Iterator[str]:
    yield f"### {SAID[drift.sameness].capitalize()}\n"
    yield f"{md_code(drift.first)} → {md_code(drift.second)}"
    yield from (f"\n{md_text(note)}." for note in drift.notes)
    for what, names in (("gone", drift.only_first), ("new", drift.only_second)):
        yield from (f"\nTemplate {md_code(name)} is {what}." for name in names)
    for template in drift.templates:
        yield from _template(template)


def _template(drift: TemplateDrift) -> Iterator[str]:
    yield f"\n#### {md_text(drift.name)}: {SAID[drift.sameness]}\n"
    if drift.prompts is None:
        yield "Prompts were not compared: a saved report has none.\n"
    elif drift.prompts:
        changed = sum(len(change.cases) for change in drift.prompts)
        yield f"{changed} of {drift.cases} cases render differently.\n"
        yield "| case | before | after |\n|---|---|---|"
        yield from map(_prompt, drift.prompts[:_CHANGES])
        if len(drift.prompts) > _CHANGES:
            yield f"\nAnd {len(drift.prompts) - _CHANGES} more changes."
    if drift.unrendered:
        yield f"\n{md_text(unrendered_words(drift).capitalize())}."
    cached = cached_words(drift.cached_prefix) if drift.cached_prefix else []
    if cached:
        yield f"\nCached prefixes: {' '.join(word for word, _ in cached)}."
    if drift.facts:
        yield "\n| fact | before | after |\n|---|---|---|"
        for change, paths in alike(drift.facts):
            path = f"{change.part.replace('_', ' ')} {', '.join(paths)}".strip()
            values = [md_cell(value_words(value), _LONGEST) for value in (change.first, change.second)]
            yield f"| {md_text(path)} | {' | '.join(values)} |"
    for finding in drift.findings:
        sign = "new" if finding.new else "gone"
        yield f"\n- {sign}: {finding.severity} {md_code(finding.rule)} {md_text(finding.message)}"


def _prompt(change: PromptChange) -> str:
    more = f" and {len(change.cases) - 1} more" if len(change.cases) > 1 else ""
    return f"| {md_cell(change.cases[0])}{more} | {_side(change.first)} | {_side(change.second)} |"


def _side(side: Excerpt) -> str:
    if side.reason or not (side.before or side.changed or side.after):
        return md_text(side.reason or "gives a prompt", 2 * _LONGEST)
    place = f" (line {side.line})" if side.line else ""
    return (md_cell(side.changed, _LONGEST) or "nothing") + place
