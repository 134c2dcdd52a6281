"""A place for text that is printed as it is, told from a text."""

from __future__ import annotations

import pytest

from chatlint.rules.catalogue import find_rule
from chatlint.rules.finding import Severity
from chatlint.rules.run import causes_of
from tests.rules.subjects import subject_of

LOOP = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"


@pytest.mark.parametrize(
    ("text", "key", "severity"),
    [
        ("{system_message}", "unfilled", Severity.WARNING),
        ("Rules: {system_prompt}.", "unfilled", Severity.WARNING),
        ("Answer with {answer} only.", "text", None),
    ],
)
def test_a_place_that_nobody_fills(text: str, key: str, severity: Severity | None) -> None:
    own = f"{{% if messages[0].role != 'system' %}}{{{{ '{text}' }}}}{{% endif %}}"
    with subject_of(own + LOOP, learned=False) as subject:
        (told,) = causes_of(find_rule("implicit-system-text"), subject)
        assert (told.key, told.severity) == (key, severity)
        assert (
            told.sights[0]
            .observation.text[told.sights[0].start :]
            .startswith(text[text.find("{") :] if severity else text)
        )
