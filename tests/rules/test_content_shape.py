"""What is said of contents of which only some parts are written."""

from __future__ import annotations

import pytest

from chatlint.rules.catalogue import find_rule
from chatlint.rules.run import causes_of
from chatlint.rules.twice import written_twice
from tests.rules.subjects import subject_of

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}{{ m.content }}{% else %}PARTS"
    "{% endif %}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
LOOP = "`{% for part in content %}{{ part.text }}{% endfor %}`"


@pytest.mark.parametrize(
    ("parts", "message", "fix"),
    [
        ("{{ m.content[0].text }}", "only the first is", f"Write all parts, not the first alone: {LOOP}."),
        ("{{ m.content[-1].text }}", "only the last is", f"Write all parts, not the last alone: {LOOP}."),
        (
            "{{ m.content[0 if m.role == 'user' else -1].text }}",
            "not all are",
            f"Write all parts: {LOOP}.",
        ),
    ],
)
def test_what_of_the_parts_is_written(parts: str, message: str, fix: str) -> None:
    with subject_of(TEMPLATE.replace("PARTS", parts), learned=False) as subject:
        (cause,) = causes_of(find_rule("content-shape"), subject)
    assert cause.message == f"of several parts {message} written (user, system, assistant)"
    assert cause.fix == fix


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{{ m.content }}{{ m.content if m.role == 'system' }}", ["system text"]),
        ("{{ m.content }}{{ m.content if m.role == 'user' }}", ["a question"]),
        ("{{ m.content }}{{ m.content if m.role == 'assistant' }}", []),
        ("{% for c in m.tool_calls or [] %}{{ c.function.name }} {{ c.function.arguments | tojson }}{% endfor %}"
         "{{ m.content }}{{ m.content if m.role == 'tool' }}", ["a tool result"]),
    ],
)  # fmt: skip
def test_whose_text_is_written_twice(source: str, said: list[str]) -> None:
    with subject_of(
        f"{{% for m in messages %}}<|{{{{ m.role }}}}|>{source}<|end|>\n{{% endfor %}}", learned=False
    ) as subject:
        assert [what for what, _ in written_twice(subject)] == said
