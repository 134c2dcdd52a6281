"""Tags and chains stand where the source has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatlint.render.grammar import normalised
from chatlint.render.tokens import offset_at, tags_of


def chains(source: str) -> list[str]:
    return [
        ".".join(chain.names) + ("()" if chain.called else "")
        for tag in tags_of(source)
        for chain in tag.chains
    ]


# fmt: off
CHAINS = [
    ("{{ m.content }}", ["m.content"]),
    ("{{ m['content'][0].text | trim }}", ["m.content.*.text"]),
    ("{{ m[ 'a' ]. b (c.d)[1] }}", ["m.a.b()", "c.d"]),
    ("{{ items[i.j - 1] }}", ["items.*", "i.j"]),
    ("{% set x = y.z %}", ["y.z"]),
    ("{% for a, b in x.items() %}{{ a }}", ["x.items()", "a"]),
    ("{% if x is not defined and 'y' in z.w or not q %}", ["x", "z.w", "q"]),
    ("{% macro f(a, b=c) %}{{ f(a, b=d.e) }}", ["f()", "a", "d.e"]),
    ("{{ call.filter if true else none }}", ["call.filter"]),
    ("{# m.content #}{% raw %}{{ m.content }}{% endraw %}{{ n }}", ["n"]),
    ("{{ {'a': x.y, 'b': [z]}['}}'] }}", ["x.y", "z"]),
    ("{{ '{{ a }}' ~ b }}", ["b"]),
]
# fmt: on


@pytest.mark.parametrize(("source", "expected"), CHAINS, ids=[row[0] for row in CHAINS])
def test_chains(source: str, expected: list[str]) -> None:
    assert chains(source) == expected


def test_a_chain_up_to_a_member() -> None:
    (tag,) = tags_of("{{ m.content.strip() }}")
    (chain,) = tag.chains
    shorter = chain.upto("content")
    assert shorter is not None
    assert (shorter.names, shorter.called) == (("m", "content"), False)
    assert chain.upto("strip") is None


def test_what_cannot_be_cut_has_no_tags() -> None:
    assert tags_of("{{ '") == ()


def test_offsets() -> None:
    assert [offset_at("ab\r\ncd\re", line, 2) for line in (1, 2, 3)] == [1, 4, 7]


def fitting(source: str) -> int:
    """How many tags there are, each where it says it is."""
    text = normalised(source)
    tags = tags_of(source)
    for tag in tags:
        written = text[tag.start : tag.end]
        assert written.startswith("{{" if tag.prints else "{%")
        assert written.endswith("}}" if tag.prints else "%}")
        for token in tag.tokens:
            assert text[token.start : token.end] == token.text
        for chain in tag.chains:
            assert tag.tokens[chain.first].text == chain.names[0]
            assert chain.first <= chain.last < len(tag.tokens)
    return len(tags)


def test_white_space_control_and_carriage_returns() -> None:
    assert fitting("a\r\n  {%- if x -%}\r\n  {{- y }}\r {%+ endif %}\r\n\r\n") == 3


def test_real_templates(shared: Path) -> None:
    paths = sorted((shared / "templates").glob("*.jinja"))[7::40]
    assert sum(fitting(path.read_text(encoding="utf-8")) for path in paths) > 500
