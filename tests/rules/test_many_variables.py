"""Templates that read more variables of their own than anybody sets."""

from __future__ import annotations

import time

from chatlint.limits import SWITCHES
from chatlint.rules.run import run
from chatlint.rules.selection import Selection
from tests.rules.subjects import subject_of

TURNS = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"


def test_variables_beyond_a_bound_are_not_tried_and_that_is_said() -> None:
    count = 4 * SWITCHES
    source = TURNS + "".join(f"{{% if own_{number} %}}x{{% endif %}}" for number in range(count))
    started = time.process_time()
    with subject_of(source) as subject:
        judged = run(subject, Selection(select=("free-variables",)))
    assert time.process_time() - started < 20
    assert [f"reads {SWITCHES} variables" in one.message for one in judged.findings] == [True]
    assert judged.unevaluated == (("free-variables", f"of {count} variables the first {SWITCHES} are tried"),)
    assert not judged.failures
