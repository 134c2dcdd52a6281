"""A template with everything that was asked of it and found in it, as the proof of a fix compares two of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from chatlint.config import Settings
from chatlint.errors import obey_interrupts
from chatlint.records import dataclass, replace
from chatlint.rules.cause import Cause, NotEvaluated
from chatlint.rules.rule import Rule
from chatlint.source.package import Package, Template

if TYPE_CHECKING:
    from chatlint.probe.case import Case
    from chatlint.probe.trace import Trace
    from chatlint.rules.subject import Subject
    from chatlint.store.disk import Store

Name: TypeAlias = tuple[str, str]
"""What makes two causes the same: their rule's name, and their key."""


@dataclass(frozen=True, slots=True)
class Examined:
    """`causes` in the order of their severity; `broken`: rules on which chatlint itself failed; `misread`:
    how many messages did not come back from their own text. The trace is open."""

    trace: Trace
    causes: Mapping[Name, tuple[Rule, Cause]]
    broken: frozenset[str]
    misread: int

    @property
    def text(self) -> str:
        return self.trace.template.text

    def case(self, case_id: str) -> Case | None:
        """The case of that id that was asked, be it in another trace that a rule opened."""
        seen = (sight.observation.case for _, cause in self.causes.values() for sight in cause.sights)
        return self.trace.known(case_id) or next((case for case in seen if case.id == case_id), None)


@contextmanager
def examined(
    package: Package, template: Template, settings: Settings, store: Store | None = None
) -> Iterator[Examined]:
    """Ask a template everything, with all rules, whatever is selected: a fix must not trade one finding for
    another that nobody wanted to see."""
    from chatlint.detect.capabilities import detect_capabilities
    from chatlint.infer.learn import learn
    from chatlint.probe.trace import Trace
    from chatlint.render.rendered import RenderSettings
    from chatlint.rules.subject import Subject
    from chatlint.source.package import TargetKind
    from chatlint.verify.roundtrip import round_trips

    untrusted = settings.untrusted or package.target.kind is TargetKind.HUB
    with Trace(template, RenderSettings(settings.host, untrusted=untrusted), store) as trace:
        subject = Subject(package, template, trace, settings)
        if not subject.broken:
            subject.capabilities = detect_capabilities(trace, subject.syntax)
            subject.format = learn(trace, subject.syntax)
            subject.round_trips = round_trips(trace, subject.format, subject.syntax)
        causes, broken = _causes(subject)
        misread = len(subject.round_trips.failures) if subject.round_trips else 0
        yield Examined(trace, causes, broken, misread)


def _causes(subject: Subject) -> tuple[dict[Name, tuple[Rule, Cause]], frozenset[str]]:
    from chatlint.rules.catalogue import all_rules
    from chatlint.rules.run import causes_of

    found: dict[Name, tuple[Rule, Cause]] = {}
    broken: set[str] = set()
    for rule in sorted(all_rules(), key=lambda rule: rule.needs):
        try:
            found |= {(rule.name, cause.key): (rule, cause) for cause in causes_of(rule, subject)}
        except NotEvaluated:
            continue
        except Exception as error:  # the report says that a rule fails; here it only must not begin to
            obey_interrupts(error)
            broken.add(rule.name)
    return found, frozenset(broken)


def with_text(package: Package, template: Template, text: str) -> tuple[Package, Template]:
    """The package and the template with another text, in every file that holds the same one."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def changed(one: Template) -> Template:
        same = one.sha256 == template.sha256
        return replace(one, text=text, sha256=digest) if same else one

    templates, copies = map(changed, package.templates), map(changed, package.copies)
    return replace(package, templates=tuple(templates), copies=tuple(copies)), changed(template)
