"""Numbers, JSON and printed containers: the plain text, and every value of the conversation shown in it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.conversation import Conversation
from chatlint.text import Computed, Input, Literal, Prompt, pointer_token
from tests.render.plain import check_spans, outcome, plain_outcome, render

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text("ab\"'\\\n\t\x00\x7f é\u2028🦙/~<", max_size=6),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("ab/~\"'\n é", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
WRITERS = """
v|tojson
v|tojson(ensure_ascii=true)
v|tojson(indent=2)
v|tojson(indent='\\t')
v|tojson(separators=(',', ':'))
v|tojson(indent=0, separators=(' ;', ' = '))
[v, {'x': v}]|tojson
v
v|string
[v]
(v,)
{'x': v}
v ~ ''
'%s' % (v,)
'{}'.format(v)
[v]|join
v|pprint
""".strip().splitlines()


@pytest.mark.parametrize("expression", WRITERS)
@settings(max_examples=40, deadline=None)
@given(JSON)
def test_written_as_it_would_be(expression: str, value: object) -> None:
    source = "{{ " + expression + " }}"
    rendered = render(source, v=value)
    assert outcome(rendered) == plain_outcome(source, v=value)
    assert rendered.prompt is not None
    check_spans(rendered.prompt, Conversation((), template_kwargs={"v": value}))


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(max_size=4), JSON, max_size=5))
def test_sorted_keys(value: dict[str, object]) -> None:
    source = "{{ v|tojson(sort_keys=true) }}"
    rendered = render(source, v=value)
    assert outcome(rendered) == plain_outcome(source, v=value)
    check_spans(rendered.prompt, Conversation((), template_kwargs={"v": value}))


@settings(max_examples=150, deadline=None)
@given(JSON)
def test_every_value_is_shown_in_json(value: object) -> None:
    prompt = render("{{ [v]|tojson }}", v=value).prompt
    assert prompt is not None
    for pointer, leaf in leaves(value, "/v"):
        spans = [
            span for span in prompt.spans if isinstance(span.origin, Input) and span.origin.pointer == pointer
        ]
        shown = "".join(prompt.piece(span) for span in spans if not span.origin.key)
        if isinstance(leaf, str):
            assert shown == json.dumps(leaf, ensure_ascii=False)[1:-1]
        elif leaf is None or isinstance(leaf, (bool, int, float)):
            if pointer != "/v" or not isinstance(leaf, bool | None):  # by itself, `true` has no name to go by
                assert shown == json.dumps(leaf)
        else:
            assert shown, "brackets belong to the list or object"


def leaves(value: object, pointer: str) -> Iterator[tuple[str, object]]:
    yield pointer, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{pointer}/{pointer_token(key)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{pointer}/{index}")


def pieces(prompt: Prompt) -> list[tuple[str, object]]:
    return [(prompt.piece(span), span.origin) for span in prompt.spans]


def shown(source: str, **kwargs: object) -> list[tuple[str, object]]:
    prompt = render(source, **kwargs).prompt
    assert prompt is not None
    return pieces(prompt)


def test_numbers_are_traced_wherever_they_are_printed() -> None:
    for expression in (
        "n",
        "n|string",
        "n ~ ''",
        "'%d' % n",
        "'{}'.format(n)",
        "[n]|join",
        "n|int",
        "x|default(n)",
    ):
        assert shown("{{ " + expression + " }}", n=42) == [("42", Input("/n", 0))], expression
    assert shown("{{ f }}", f=1e20) == [("1e+20", Input("/f", 0))]
    assert shown("{{ '%.1f' % f }}", f=1.25) == [("1.2", Input("/f", 0))]
    assert shown("{{ '%04d' % n }}", n=42) == [("00", Computed(1)), ("42", Input("/n", 0))]
    assert shown("{{ '%x' % n }}", n=255) == [("ff", Input("/n", None))]


def test_a_number_that_was_computed_is_computed() -> None:
    for expression in ("n + 0", "n * 1", "-n", "n // 1", "n|abs", "[n]|sum", "n|round", "messages|length"):
        assert [type(origin) for _, origin in shown("{{ " + expression + " }}", n=42)] == [Computed], (
            expression
        )


def test_true_and_null_belong_to_their_value_inside_what_is_written() -> None:
    assert shown("{{ v|tojson }}", v={"a": True, "b": [None]}) == [
        ('{"', Input("/v", None)),
        ("a", Input("/v/a", 0, key=True)),
        ('": ', Input("/v", None)),
        ("true", Input("/v/a", 0)),
        (', "', Input("/v", None)),
        ("b", Input("/v/b", 0, key=True)),
        ('": ', Input("/v", None)),
        ("[", Input("/v/b", None)),
        ("null", Input("/v/b/0", 0)),
        ("]", Input("/v/b", None)),
        ("}", Input("/v", None)),
    ]
    assert shown("{{ v }}", v=[True]) == [
        ("[", Input("/v", None)),
        ("True", Input("/v/0", None)),
        ("]", Input("/v", None)),
    ]
    assert shown("{{ v.a }}", v={"a": True}) == [("True", Computed(1))]


def test_what_the_template_builds_is_its_own() -> None:
    assert shown("{{ {'name': v}|tojson }}", v="x") == [
        ('{"', Computed(1)),
        ("name", Literal(1, 5)),
        ('": "', Computed(1)),
        ("x", Input("/v", 0)),
        ('"}', Computed(1)),
    ]


def test_escapes_are_derived_from_what_they_stand_for() -> None:
    assert shown("{{ v|tojson }}", v='a"\nb') == [
        ('"', Input("/v", None)),
        ("a", Input("/v", 0)),
        ('\\"\\n', Input("/v", None)),
        ("b", Input("/v", 3)),
        ('"', Input("/v", None)),
    ]


def test_what_was_written_once_is_not_written_again_for_other_options() -> None:
    texts = [outcome(render("{{ v|tojson }}{{ v|tojson(indent=1) }}{{ v|tojson }}", v=[1, {}]))]
    assert texts == ["[1, {}][\n 1,\n {}\n][1, {}]"]
