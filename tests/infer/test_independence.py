"""What is learned rests on its own evidence: whatever else a trace was asked before changes nothing."""

from __future__ import annotations

import pytest

from chatlint.infer.learn import learn
from chatlint.probe.trace import Trace
from chatlint.render.syntax import syntax_of
from tests.conftest import SHARED
from tests.corpus.entries import ENTRIES
from tests.infer.learned import entry_named, learned_from, of_entry, template

FILES = sorted((SHARED / "templates").glob("*.jinja"))


def learned_after_everything(given):
    """The format, learned when every probe has been rendered."""
    with Trace(given) as trace:
        for probe in trace.probes:
            for generation in ("on", "off"):
                trace.see(probe.id, generation=generation)
        return learn(trace, syntax_of(given.text))


@pytest.mark.parametrize("name", [entry.name for entry in ENTRIES])
def test_of_the_corpus(name):
    entry = entry_named(name)
    text = entry.templates.get("tool_use") or entry.templates["default"]
    assert learned_after_everything(template(text, entry.special_tokens)) == of_entry(name)[1]


@pytest.mark.sweep
@pytest.mark.timeout(1800)
@pytest.mark.skipif(
    not FILES, reason="needs the real templates in ../shared, which are not part of the project"
)
def test_of_real_templates():
    other = []
    for file in FILES[::4]:
        given = template(file.read_text(encoding="utf-8"))
        trace, output = learned_from(given)
        trace.close()
        if learned_after_everything(given) != output:
            other.append(file.stem)
    assert other == []
