"""Which marks others can spell."""

from __future__ import annotations

from chatlint.rules.catalogue import find_rule
from chatlint.rules.run import causes_of
from tests.rules.subjects import subject_of

DOUBLED = (
    "{% for m in messages %}{% if m.role == 'system' %}<<SYS>>{{ m.content }}<</SYS>>\n"
    "{% elif m.role == 'user' %}[INST] {{ m.content }} [/INST]{% else %}{{ m.content }}[END]{% endif %}{% endfor %}"
)  # fmt: skip


def test_marks_in_doubled_brackets_are_whole_and_in_pairs() -> None:
    with subject_of(DOUBLED) as subject:
        (cause,) = causes_of(find_rule("forged-turns"), subject)
    spelled = cause.message.partition(": ")[2].split()
    assert {"<<SYS>>", "<</SYS>>"} < set(spelled)
    assert "</SYS>" not in spelled
