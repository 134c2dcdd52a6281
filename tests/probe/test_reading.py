"""The fate of values: what a template did with them, read from spans."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.conversation import Conversation
from chatlint.probe.case import Case, Observation
from chatlint.probe.reading import (
    SHOWN,
    Fate,
    Notation,
    copies,
    fate,
    in_order,
    keeps,
    leaves,
    names_shown,
    notation,
    place,
    shown,
    texts,
)  # fmt: skip
from chatlint.probe.trace import Trace
from chatlint.source.package import Template, TemplatePlace
from chatlint.text import Computed, Input, Literal, Prompt, Span

CONTENT = "/messages/0/content"


def rendered(template: str, content, **message) -> Observation:
    trace = Trace(Template("default", template, template.encode().hex(), TemplatePlace("t.jinja")))
    return trace.ask_conversation(
        "test/one", Conversation(({"role": "user", "content": content, **message},))
    )


def observed(content, *pieces) -> Observation:
    """An observation from pieces (text, offset), (text, None) for derived ones, text alone for template text."""
    spans, text = [], ""
    for piece in pieces:
        written = piece if isinstance(piece, str) else piece[0]
        origin = Literal(1, 1) if isinstance(piece, str) else Input(CONTENT, piece[1])
        spans.append(Span(len(text), len(text) + len(written), origin))
        text += written
    conversation = Conversation(({"role": "user", "content": content},))
    return Observation(Case("test/one", (), conversation), Prompt(text, tuple(spans)), None)


@pytest.mark.parametrize(
    ("expression", "content", "expected"),
    [
        ("c", "Walnut", Fate.VERBATIM),
        ("'<' + c + '>'", "Walnut", Fate.VERBATIM),
        ("c | trim", "Walnut", Fate.VERBATIM),
        ("c | trim", "  Walnut\n", Fate.TRIMMED),
        ("c.lstrip()", "  Walnut\n", Fate.TRIMMED),
        ("c | upper", "Walnut", Fate.ALTERED),
        ("c | upper", "4127", Fate.VERBATIM),
        ("c | tojson", "Walnut", Fate.ESCAPED),
        ("c | tojson", 'Walnut "Kestrel"', Fate.ESCAPED),
        ("c | tojson", "Walnut\nKestrel", Fate.ESCAPED),
        ("c | e", "Walnut & <Kestrel>", Fate.ALTERED),
        ("c | replace('n', 'm')", "Walnut", Fate.ALTERED),
        ("c[:3]", "Walnut", Fate.TRUNCATED),
        ("c[3:]", "Walnut", Fate.TRUNCATED),
        ("c.split('x')[1]", "WalnutxKestrel", Fate.TRUNCATED),
        ("c.split('x') | join('x')", "WalnutxKestrel", Fate.VERBATIM),
        ("c.split('x') | join('y')", "WalnutxKestrel", Fate.ALTERED),
        ("c[:3] ~ '…' ~ c[-3:]", "Walnut Kestrel", Fate.TRUNCATED),
        ("c | list", "Walnut Kestrel", Fate.SCATTERED),
        ("c | join(', ')", "Walnut Kestrel", Fate.SCATTERED),
        ("c ~ c", "Walnut", Fate.REPEATED),
        ("c ~ ' and ' ~ c | trim", "Walnut", Fate.REPEATED),
        ("(c | tojson) ~ (c | tojson)", "Walnut\nKestrel", Fate.REPEATED),
        ("''", "Walnut", Fate.DROPPED),
        ("c", "", Fate.UNTRACED),
        ("c", 4127, Fate.VERBATIM),
        ("c", 41.25, Fate.VERBATIM),
        ("c | int", 41.25, Fate.DROPPED),
        ("c ~ c", 4127, Fate.REPEATED),
        ("c is none", None, Fate.UNTRACED),
        ("c", True, Fate.UNTRACED),
        ("c | tojson", {"a": "Walnut", "b": [4127, "Kestrel"]}, Fate.VERBATIM),
        ("c.a", {"a": "Walnut", "b": "Kestrel"}, Fate.TRUNCATED),
        ("c | tojson", {"a": "Walnut\n", "b": "Kestrel"}, Fate.ESCAPED),
        ("''", {"a": "Walnut"}, Fate.DROPPED),
        ("c | tojson", {}, Fate.UNTRACED),
        ("raise_exception('no')", "Walnut", Fate.RAISED),
    ],
)
def test_fate(expression, content, expected):
    template = "{% set c = messages[0].content %}[{{ " + expression + " }}]"
    assert fate(rendered(template, content), CONTENT) is expected


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["<", ("Walnut", 0), ">"], Fate.VERBATIM),
        ([("Wal", 0), ("nut", 3)], Fate.VERBATIM),
        ([("nut", 3), ("Wal", 0)], Fate.ALTERED),
        ([("Wal", 0), "-", ("nut", 3)], Fate.ALTERED),
        ([("Wal", 0)], Fate.TRUNCATED),
        ([("Walnut", 0), ("Wal", 0)], Fate.ALTERED),
        ([("Walnut", 0), ", ", ("Walnut", 0)], Fate.REPEATED),
        ([("WALNUT", None)], Fate.ALTERED),
        ([("WALNUT", None), ", ", ("WALNUT", None)], Fate.REPEATED),
        (["nothing"], Fate.DROPPED),
    ],
)
def test_fate_of_spans(pieces, expected):
    assert fate(observed("Walnut", *pieces), CONTENT) is expected


def test_no_such_value():
    with pytest.raises(KeyError):
        fate(observed("Walnut"), "/messages/0/name")


@pytest.mark.parametrize(
    ("expression", "content", "expected"),
    [
        ("c | tojson", {"a": "Walnut", "b": [1, None, True]}, Notation.JSON),
        ("c | tojson(indent=2)", {"a": "Walnut"}, Notation.JSON),
        ("c", {"a": "Walnut", "b": [1, None, True]}, Notation.PYTHON),
        (
            "c",
            ["Walnut"],
            Notation.PYTHON,
        ),
        ("'{\"x\": ' ~ c ~ '}'", {"a": "Walnut"}, Notation.PYTHON),
        ("'{\"x\": ' ~ (c | tojson) ~ '}'", {"a": {"b": "Walnut"}}, Notation.JSON),
        ("messages[0] | tojson", {"a": {"b": "Walnut"}}, Notation.JSON),  # with its own name before it
        ("messages[0]", {"a": {"b": "Walnut"}}, Notation.PYTHON),
        ("c.a", {"a": "Walnut"}, Notation.OTHER),
        ("c", '{"a": "Walnut"}', Notation.JSON),
        ("c | tojson", '{"a": "Walnut"}', Notation.JSON_STRING),
        ("c[1:]", '{"a": "Walnut"}', Notation.OTHER),
        ("''", {"a": "Walnut"}, Notation.NONE),
        ("raise_exception('no')", {"a": "Walnut"}, Notation.NONE),
    ],
)
def test_notation(expression, content, expected):
    template = "{% set c = messages[0].content %}(x) {see [it]} [{{ " + expression + " }}] {end}"
    assert notation(rendered(template, content), CONTENT) is expected


def test_parts_and_their_texts():
    parts = [{"type": "text", "text": "Walnut"}, {"type": "image"}, {"type": "text", "text": "Kestrel"}]
    seen = rendered("{% for p in messages[0].content %}{{ p.text }}{% endfor %}", parts)
    assert texts(seen, CONTENT) == (f"{CONTENT}/0/text", f"{CONTENT}/2/text")
    assert shown(seen, *texts(seen, CONTENT))
    assert not names_shown(seen, CONTENT)
    assert names_shown(rendered("{{ messages[0].content }}", parts), CONTENT)
    assert texts(observed("Walnut"), CONTENT) == (CONTENT,)


def test_order_and_places():
    seen = rendered("{{ messages[0].name }}: {{ messages[0].content }}", "Walnut", name="Rowan")
    assert in_order(seen, ["/messages/0/name", CONTENT])
    assert not in_order(seen, [CONTENT, "/messages/0/name"])
    assert not in_order(seen, [CONTENT, "/messages/0/role"])
    assert place(seen, CONTENT) == Span(7, 13, Input(CONTENT, 0))
    assert place(seen, "/messages/0/role") is None


def test_pieces_that_are_kept():
    seen = rendered("{{ messages[0].content.split('</think>')[-1] }}", "Pebbles</think>Juniper")
    assert keeps(seen, CONTENT, "Juniper")
    assert not keeps(seen, CONTENT, "Pebbles")
    assert not keeps(seen, CONTENT, "Quartz")


def test_leaves_are_pointers():
    assert list(leaves({"a/b": [1, {"c~": "x"}], "d": {}}, "/root")) == ["/root/a~1b/0", "/root/a~1b/1/c~0"]


@given(st.text(min_size=1, max_size=30), st.lists(st.sampled_from(["plain", "derived", "gap"]), max_size=8))
def test_any_spans_have_a_fate(content, kinds):
    """No arrangement of spans breaks the reading, and verbatim means what it says."""
    pieces = []
    for position, kind in enumerate(kinds):
        offset = position * 3 % len(content)
        piece = content[offset : offset + 4]
        pieces.append({"plain": (piece, offset), "derived": (piece.upper() or "x", None), "gap": "#"}[kind])
    seen = observed(content, *pieces)
    found = fate(seen, CONTENT)
    assert found in Fate
    if found is Fate.VERBATIM:
        assert content in seen.text
        assert len(copies(seen.prompt, CONTENT)) == 1
    assert (found in SHOWN) is shown(seen, CONTENT)


@given(st.recursive(st.text(max_size=8) | st.integers() | st.booleans() | st.none(),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=8))  # fmt: skip
def test_json_is_read_as_json(value):
    """`tojson` of a container is JSON notation, and no leaf of it is lost."""
    if not isinstance(value, list | dict) or not list(leaves(value)):
        return
    seen = rendered("{{ messages[0].content | tojson }}", value)
    assert json.loads(seen.text) == value
    assert fate(seen, CONTENT) in SHOWN | {Fate.UNTRACED}
    if any(True for _ in seen.prompt.inputs(CONTENT, key=False)):
        assert notation(seen, CONTENT) is Notation.JSON


def test_a_hostile_prompt_is_read_in_bounded_time():
    text = "{" * 50_000
    conversation = Conversation(({"role": "user", "content": {"a": "Walnut"}},))
    spans = (
        Span(0, 50_000, Computed(1)),
        Span(50_000, 50_006, Input(f"{CONTENT}/a", 0)),
        Span(50_006, 100_006, Computed(1)),
    )
    prompt = Prompt(text + "Walnut" + "}" * 50_000, spans)
    assert notation(Observation(Case("test/one", (), conversation), prompt, None), CONTENT) is Notation.OTHER
