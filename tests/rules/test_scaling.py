"""What grows with the square is told from what grows with the conversation, without a clock."""

from __future__ import annotations

import pytest

from chatlint.rules.run import run
from chatlint.rules.selection import Selection
from tests.rules.subjects import subject_of

LOOP = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>BODY{% endfor %}"


def severities(source: str) -> list[str]:
    with subject_of(source, learned=False) as subject:
        before = subject.trace.renders
        judged = run(subject, Selection(("scaling",)))
        assert judged.failures == ()
        assert subject.trace.renders <= before + 8
    return [one.severity.value for one in judged.findings]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("", []),
        ("{% for other in messages %}{% endfor %}", ["warning"]),
        ("{% for other in messages %}{% for x in messages %}{% endfor %}{% endfor %}", ["warning"]),
        ("{% for other in messages[loop.index0:] %}{% endfor %}", ["warning"]),
        ("{% for at in range(loop.index0, -1, -1) %}{% endfor %}", ["warning"]),
        ("{% if loop.first %}{% for other in messages %}{% endfor %}{% endif %}", []),
        ("{% for part in m.tool_calls or [] %}{% endfor %}", []),
        ("{{ messages[loop.index0 - 1].role }}", []),
    ],
)
def test_loops_over_messages(body: str, found: list[str]) -> None:
    assert severities(LOOP.replace("BODY", body)) == found


def test_a_text_that_is_put_together_anew() -> None:
    source = (
        "{% set ns = namespace(text='') %}{% for t in tools or [] %}"
        "{% set ns.text = ns.text + t | tojson + '\n' %}{% endfor %}{{ ns.text }}" + LOOP.replace("BODY", "")
    )
    assert severities(source) == ["info"]


def test_not_evaluated_where_time_is_used_up() -> None:
    with subject_of(LOOP.replace("BODY", "{% for x in messages %}{% endfor %}"), learned=False) as subject:
        subject.trace.timed_out = True
        judged = run(subject, Selection(("scaling",)))
    assert judged.findings == ()
    assert judged.unevaluated == (("scaling", "renders of this template have used up their time"),)
