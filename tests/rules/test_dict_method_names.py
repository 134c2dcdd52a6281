"""What is advised where parameters of some names are lost: it depends on why."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatlint.rules.catalogue import find_rule
from chatlint.rules.run import causes_of
from tests.rules.subjects import subject_of

LEFT_OUT = (Path(__file__).parent / "dict_method_names" / "bad-schema-words.jinja").read_text(
    encoding="utf-8"
)


@pytest.mark.parametrize(
    ("names", "fix"),
    [
        ("'type', 'description'", "Leave out no parameter for its name"),
        ("'items', 'keys'", "Write `x['items']` for members"),
    ],
)
def test_what_is_advised(names: str, fix: str) -> None:
    with subject_of(LEFT_OUT.replace("'type', 'description'", names)) as subject:
        (cause,) = causes_of(find_rule("dict-method-names"), subject)
    assert cause.key == "parameters lost"
    assert cause.fix.startswith(fix)
