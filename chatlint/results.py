"""What was judged before, by the content of everything that it depends on.

Theory of operation. A template is not judged with the package it came in but with a *copy without a place*:
no path of the target, no positions in files, no hashes of whole files, no settings that only say where to
look. The digest of that copy, of chatlint's own code, the probes and Jinja is the key of its result, so a
result depends on nothing that its key does not hold. Where the template stood is put in afterwards.

Results are pickled: the store only believes files that nobody but the user can write (`store/trust.py`).
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from chatlint import __version__
from chatlint.config import FailOn, Profile, Settings
from chatlint.records import dataclass, replace
from chatlint.rules.finding import Finding, Location
from chatlint.rules.severity import weighed
from chatlint.source.bundled import bundled
from chatlint.source.package import Package, PackageFile, Target, TargetKind, Template, TemplatePlace
from chatlint.source.place import file_position
from chatlint.store.digest import directories_digest, value_digest
from chatlint.store.disk import Store
from chatlint.verdict import OWN_STAGES, TemplateReport, declared_stops

ROOM = "results"
_SOMETHING = Template("", "", "", TemplatePlace(""))


@dataclass(frozen=True, slots=True)
class Question:
    """A template to judge, with what else matters to the result, and nothing more. `untrusted` says whether
    it is rendered in a worker process."""

    template: Template
    package: Package
    settings: Settings
    untrusted: bool

    @property
    def key(self) -> str:
        """What the result is stored under. Raises TypeError where a part has no digest."""
        return value_digest([code_digest(), self])


def question(template: Template, package: Package, settings: Settings) -> Question:
    """The copy without a place."""
    untrusted = settings.untrusted or package.target.kind is TargetKind.HUB
    bare = _without_places(package)
    return Question(_without_place(template, package), bare, _without_ways(settings), untrusted)


def recall(store: Store, key: str) -> TemplateReport | None:
    """The result kept under this key, still without a place."""
    kept = store.read(ROOM, key)
    if kept is None:
        return None
    import pickle

    try:
        report = pickle.loads(kept)
    except Exception:
        return None  # the code that it names is not there any more
    return report if isinstance(report, TemplateReport) else None


def keep(store: Store, key: str, report: TemplateReport) -> None:
    """Keep a result, but not one in which chatlint failed."""
    if any(failure.stage in OWN_STAGES for failure in report.failures):
        return
    import pickle

    store.write(ROOM, key, pickle.dumps(replace(report, template=_SOMETHING), 5))


def placed(
    report: TemplateReport, template: Template, package: Package, settings: Settings
) -> TemplateReport:
    """The result about the template where it stands, as severe as the settings have it."""
    findings = (replace(one, location=_location(one, template.place)) for one in report.findings)
    return replace(
        report,
        template=template,
        declared_stops=declared_stops(package),
        findings=weighed(findings, settings.profile, settings.severities),
    )


def _location(finding: Finding, place: TemplatePlace) -> Location:
    """A place in the template as a place in the file that holds it; a place in another file stays."""
    file, line, column = finding.location.file, finding.location.line, finding.location.column
    if file not in ("", place.file):
        return finding.location
    if line <= 0:
        return Location(place.file)
    file_line, file_column = file_position(place, line, max(column, 1))
    return Location(place.file, file_line, file_column if place.line_starts or column > 0 else 0)


def _without_places(package: Package) -> Package:
    bare = _is_bare(package)
    return replace(
        package,
        target=Target(package.target.kind, ""),
        templates=tuple(_without_place(one, package) for one in package.templates),
        copies=tuple(_without_place(one, package) for one in package.copies),
        files=() if bare else tuple(PackageFile(file.path, "", 0) for file in package.files),
        notes=(),
        template_readers=() if bare else package.template_readers,
        base=_without_places(package.base) if package.base else None,
    )


def _without_place(template: Template, package: Package) -> Template:
    """Inside a model's directory a file's name says who reads the template; a bare one's is chance."""
    place = template.place
    kept = (
        TemplatePlace("")
        if _is_bare(package)
        else TemplatePlace(place.file, place.json_pointer, key=place.key)
    )
    return replace(template, place=kept)


def _is_bare(package: Package) -> bool:
    return package.target.kind in (TargetKind.FILE, TargetKind.STDIN)


def _without_ways(settings: Settings) -> Settings:
    """Only what changes what is found: not how it is loaded, nor what is done with it."""
    return replace(
        settings,
        revision=None,
        offline=False,
        template=None,
        special_tokens=None,
        base=None,
        untrusted=False,
        cache=True,
        fail_on=FailOn.ERROR,
        profile=Profile.SERVING,
        severities={},
        per_target_ignores={},
        expect=None,
        expected=None,
        probes=None,
        baseline=None,
        config=None,
    )


@cache
def code_digest() -> str:
    """What judges: chatlint's code and version, the probes, Jinja and Python."""
    jinja = find_spec("jinja2")
    places = [Path(__file__).parent, bundled("probes")]
    places += [Path(jinja.origin).parent] if jinja and jinja.origin else []
    return value_digest([__version__, sys.version, directories_digest(places, Store())])
