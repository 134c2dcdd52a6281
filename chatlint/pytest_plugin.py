"""pytest for model repositories: `assert_template`, as a function and as a fixture of the same name.

    def test_template(assert_template):
        assert_template("models/mine", require=["tools", "parallel_tool_calls"], ignore=["forged-turns"])

The configuration that `chatlint check` would read holds here, too. pytest imports this module in every run of
every project that has chatlint installed, so it imports nothing until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from chatlint.config import Settings
    from chatlint.report.canvas import Canvas
    from chatlint.rules.finding import Finding
    from chatlint.source.package import Template
    from chatlint.verdict import Report

_WIDTH = 100


def assert_template(
    target: str | PathLike[str],
    *,
    require: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    select: str | Sequence[str] = (),
    profile: str | None = None,
    fail_on: str | None = None,
    config: str | None = None,
    isolated: bool = False,
) -> Report:
    """Assert that a target's templates are what they ought to be; gives the report.

    `target` is written as for `chatlint check`, or a Path. `require` names capabilities, `ignore` and
    `select` name rules or prefixes of their codes; the rest is as on the command line. What the nearest
    configuration says holds too, unless `isolated`.

    Raises AssertionError with the findings at or above `fail_on`, or with the reason why there was nothing to
    judge; UsageError for a setting that means nothing.
    """
    __tracebackhide__ = True
    from chatlint.cli.baseline import held_against_baseline
    from chatlint.cli.configured import settings_of
    from chatlint.pipeline import check_target
    from chatlint.source.target import target_text
    from chatlint.verdict import Report

    name = target_text(target)
    chosen = (config, fail_on, _listed(select), _listed(ignore), None, profile)
    settings = settings_of(*chosen, require=_listed(require), isolated=isolated, targets=[name])
    report = Report(settings, (check_target(name, settings),))
    report = held_against_baseline(report, update=False)
    if report.exit_code:
        raise AssertionError("\n".join(_lines(report, settings)))
    return report


@pytest.fixture(name="assert_template", scope="session")
def _assert_template() -> object:
    """`chatlint.pytest_plugin.assert_template`: assert that a target's chat templates are as they ought to
    be."""
    return assert_template


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _lines(report: Report, settings: Settings) -> Iterator[str]:
    """Why it fails, as a person reads it."""
    from chatlint.report.canvas import Canvas

    canvas = Canvas(width=_WIDTH)
    for target in report.targets:
        yield canvas.spell(target.target)
        if target.failure:
            yield canvas.spell(f"{target.status}: {target.failure.message}")
            yield canvas.spell(target.failure.hint)
        for template in target.templates:
            yield from (canvas.spell(f"{one.stage}: {one.message}") for one in template.failures)
    yield from _findings(report, settings, canvas)


def _findings(report: Report, settings: Settings, canvas: Canvas) -> Iterator[str]:
    from chatlint.report.finding import finding_lines
    from chatlint.verdict import fails

    for target in report.targets:
        found: list[tuple[Finding, Template | None]] = [(finding, None) for finding in target.findings]
        found += [(one, template.template) for template in target.templates for one in template.findings]
        for finding, template in found:
            if fails(finding.severity, settings.fail_on):
                yield ""
                yield from finding_lines(canvas, finding, template, host=settings.host)
