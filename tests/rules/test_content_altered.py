"""What of a text was changed: its white space, or its words."""

from __future__ import annotations

import pytest

from chatlint.rules.catalogue import find_rule
from chatlint.rules.finding import Severity
from chatlint.rules.run import causes_of
from tests.rules.subjects import subject_of

LOOP = "{% for m in messages %}<|{{ m.role }}|>{{ TEXT }}<|end|>{% endfor %}"


@pytest.mark.parametrize(
    ("written", "key", "severity", "message"),
    [
        ("m.content | upper", "words", Severity.WARNING, "are written otherwise, not as they were said"),
        (r"m.content | replace('\n\n', '\n')", "altered", Severity.WARNING, "is lost or changed"),
        ("m.content | trim", "trimmed", None, "at the ends of"),
    ],
)
def test_what_was_changed_is_named(written: str, key: str, severity: Severity | None, message: str) -> None:
    with subject_of(LOOP.replace("TEXT", written), learned=False) as subject:
        (told,) = causes_of(find_rule("content-altered"), subject)
    assert (told.key.partition(":")[0], told.severity) == (key, severity)
    assert message in told.message
