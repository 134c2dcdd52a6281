"""Where things stand, as machines read it: files as they can be opened, addresses, a finding's template."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath
from urllib.parse import quote

from chatlint.rules.finding import Finding, SuppressedBy
from chatlint.source.package import TargetKind
from chatlint.verdict import Report, TargetReport, TemplateReport


def file_of(target: TargetReport, file: str) -> str:
    """A file of a target as the user can open it, where it lies on this machine."""
    if target.kind is TargetKind.DIRECTORY:
        return str(PurePath(target.target, file))
    if target.kind is TargetKind.FILE or target.kind is TargetKind.GGUF:
        return target.target if PurePath(target.target).name == PurePath(file).name else file
    return f"{target.target}/{file}" if file and file != "-" else target.target


def place_in(target: TargetReport, finding: Finding) -> str:
    """`file:line:column`, as editors and terminals take it."""
    location = finding.location
    numbers = f":{location.line}" if location.line else ""
    numbers += f":{location.column}" if location.column else ""
    return file_of(target, location.file) + numbers


def local_path(target: TargetReport, file: str) -> str:
    """The same, relative to the working directory if it is in there: services compare it with a checkout's
    paths."""
    path = PurePath(file_of(target, file))
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return path.as_posix()


def address(path: str) -> str:
    """A path as a URI reference (RFC 3986): every character that is not one of it is escaped."""
    # A colon in the first segment would make a scheme of it; a path in bytes may be no text.
    escaped = quote(path.encode("utf-8", "surrogatepass"), safe="/@+=,~!$&()*;'")
    return f"file://{escaped}" if path.startswith("/") else escaped


def placed_findings(target: TargetReport) -> Iterator[tuple[TemplateReport | None, Finding]]:
    """Each finding of a target with the template that it is about, None for those about the package."""
    yield from ((None, finding) for finding in target.findings)
    for template in target.templates:
        yield from ((template, finding) for finding in template.findings)


def suppressed_findings(target: TargetReport) -> Iterator[tuple[TemplateReport | None, Finding]]:
    """The same for findings that the user accepted."""
    yield from ((None, finding) for finding in target.suppressed)
    for template in target.templates:
        yield from ((template, finding) for finding in template.suppressed)


def accepted(finding: Finding) -> str:
    """Who accepted a finding and why, "" if nobody did."""
    because = finding.suppressed
    if because is None:
        return ""
    by = "the baseline" if because.by is SuppressedBy.BASELINE else f"a comment in line {because.line}"
    return f"by {by}: {because.reason}" if because.reason else f"by {by}"


def name_of(target: TargetReport, template: TemplateReport | None) -> str:
    """The target, and which of its templates where there are several."""
    if template is None or len(target.templates) < 2:
        return target.target
    return f"{target.target} › {template.template.name}"


def not_evaluated(report: Report) -> Iterator[tuple[str, str, str]]:
    """(template's name, rule, reason) for everything that nobody could tell."""
    for target in report.targets:
        for template in target.templates:
            for rule, reason in template.unevaluated:
                yield name_of(target, template), rule, reason


def faults(report: Report) -> Iterator[tuple[str, str, str]]:
    """(name, what failed, why) for everything that could not be loaded, read or asked."""
    for target in report.targets:
        if target.failure:
            hint = f" ({target.failure.hint})" if target.failure.hint else ""
            yield target.target, target.status, f"{target.failure.message}{hint}"
        for failure in target.failures:
            yield target.target, f"not read: {failure.subject}", failure.message
        for template in target.templates:
            for failure in template.failures:
                yield name_of(target, template), f"{failure.stage} {failure.subject}".strip(), failure.message
