"""What is advised where one shape of arguments breaks, depends on how the other is written."""

from __future__ import annotations

import pytest

from chatlint.rules.catalogue import find_rule
from chatlint.rules.run import causes_of
from tests.rules.subjects import subject_of

TEMPLATE = (
    "{{ tools | tojson if tools }}{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}{% set a = c.function.arguments %}<call>{{ c.function.name }} ARGUMENTS</call>"
    "{% endfor %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TAGS = "{% for k, v in a.items() %}<{{ k }}>{{ v if v is string else v | tojson }}</{{ k }}>{% endfor %}"
JSON = "{ {%- for k, v in a.items() %}{{ ', ' if not loop.first }}{{ k | tojson }}: {{ v | tojson }}{% endfor %}}"


@pytest.mark.parametrize(
    ("arguments", "key", "fix"),
    [
        (TAGS, "needs an object", "Refuse texts with `raise_exception`"),
        (f"{{% if a is string %}}{{{{ a }}}}{{% else %}}{TAGS}{{% endif %}}", "raw", "Refuse texts with"),
        (
            "{% if a is string %}{{ raise_exception('no texts') }}{% endif %}" + TAGS,
            "needs an object",
            "Have callers parse texts: Jinja reads no JSON.",
        ),
        (JSON, "needs an object", "`{% if arguments is string %}"),
        ("{{ a | tojson }}", "escaped twice", "`{% if arguments is string %}"),
    ],
)
def test_what_is_advised(arguments: str, key: str, fix: str) -> None:
    with subject_of(TEMPLATE.replace("ARGUMENTS", arguments), learned=False) as subject:
        (cause,) = causes_of(find_rule("argument-shape"), subject)
    assert cause.key == key
    assert cause.fix.startswith(fix)


@pytest.mark.parametrize(
    ("value", "broken"),
    [
        ("'>' + v", "numbers, booleans, null, lists or objects"),
        ("v if v is string else v | tojson", ""),
        ("v if v is not mapping else v + ''", "objects"),
    ],
)
def test_values_that_break_the_template(value: str, broken: str) -> None:
    tags = f"{{% for k, v in a.items() %}}<{{{{ k }}}}>{{{{ {value} }}}}</{{{{ k }}}}>{{% endfor %}}"
    with subject_of(TEMPLATE.replace("ARGUMENTS", tags), learned=False) as subject:
        causes = [one for one in causes_of(find_rule("argument-shape"), subject) if one.key == "types"]
    assert [one.message.partition(" are ")[2].partition(":")[0] for one in causes] == (
        [broken] if broken else []
    )
