"""Static facts: what a template reads, sets, writes and refuses, without running it."""

from __future__ import annotations

import pickle
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from chatlint.render.syntax import syntax_in, syntax_of
from chatlint.store.disk import Store


def names(source: str) -> dict[str, tuple[int, ...]]:
    return {variable.name: variable.bare_lines for variable in syntax_of(source).variables}


@pytest.mark.parametrize(
    ("source", "bare"),
    [
        ("{{ x }}", {"x": (1,)}),
        ("{% set x = 1 %}{{ x }}", {}),
        ("{{ x }}{% set x = 1 %}", {"x": (1,)}),
        ("{% if x %}\n{{ x }}{% endif %}", {"x": ()}),
        ("{% if x is defined %}{{ x }}{% endif %}", {"x": ()}),
        ("{% if x is not defined %}{% set x = 1 %}{% endif %}{{ x }}", {"x": ()}),
        ("{% if x is defined %}{% set x = 1 %}{% endif %}\n{{ x }}", {"x": (2,)}),
        ("{% if not x %}{% set x = 1 %}{% endif %}{{ x }}", {"x": ()}),
        ("{{ x | default('') }}", {"x": ()}),
        ("{{ x if x is defined else '' }}", {"x": ()}),
        ("{% if x is defined and x > 1 %}{% endif %}", {"x": ()}),
        ("{% if y %}{% set x = 1 %}{% endif %}\n{{ x }}", {"y": (), "x": (2,)}),
        ("{% if y %}{% set x = 1 %}{% else %}{% set x = 2 %}{% endif %}{{ x }}", {"y": ()}),
        ("{% for m in messages %}{% set x = m %}{% endfor %}\n{{ x }}", {"messages": (1,), "x": (2,)}),
        ("{% macro f(a) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}", {"b": (1,)}),
        ("{% for a, b in c %}{{ a }}{{ b }}{{ loop.index }}{% endfor %}", {"c": (1,)}),
        ("{% with a = b %}{{ a }}{% endwith %}{{ a }}", {"b": (1,), "a": (1,)}),
        ("{{ raise_exception(namespace(x=1)) }}", {}),
    ],
)
def test_variables_read_while_unset(source: str, bare: dict[str, tuple[int, ...]]) -> None:
    assert names(source) == bare


@pytest.mark.parametrize(
    ("source", "switches"),
    [
        ("{% if enable_thinking is defined and not enable_thinking %}x{% endif %}", ("enable_thinking",)),
        (
            "{% if not thinking is defined %}{% set thinking = false %}{% endif %}{{ thinking }}",
            ("thinking",),
        ),
        ("{% set effort = effort | default('high') %}{{ effort }}", ("effort",)),
        ("{% for m in messages %}{{ content }}{% set content = m %}{% endfor %}", ()),
        ("{{ bos_token }}{% if tools %}{{ add_generation_prompt }}{% endif %}{{ now('x') }}", ()),
    ],
)
def test_switches_are_variables_only_a_caller_can_set(source: str, switches: tuple[str, ...]) -> None:
    assert syntax_of(source).switches == switches


@pytest.mark.parametrize(
    ("source", "patterns"),
    [
        ("{% for m in messages %}{{ m.content }}{% endfor %}", {"/messages/*/content"}),
        ("{{ messages[0]['role'] }}", {"/messages/*/role"}),
        ("{% set l = messages[1:] %}{% for m in l %}{{ m.get('name') }}{% endfor %}", {"/messages/*/name"}),
        ("{% for m in messages %}{{ 'x' in m }}{{ '</think>' in m }}{% endfor %}", {"/messages/*/x"}),
        (
            "{% macro f(p) %}{{ p.text }}{% endmacro %}"
            "{% for m in messages %}{% for c in m.content %}{{ f(c) }}{% endfor %}{% endfor %}",
            {"/messages/*/content", "/messages/*/content/*/text"},
        ),
        (
            "{% for m in messages %}{% for c in m.tool_calls %}{% if c.function %}{% set c = c.function %}"
            "{% endif %}{% for k, v in c.arguments | items %}{{ v.deep }}{% endfor %}{% endfor %}{% endfor %}",
            {
                "/messages/*/tool_calls",
                "/messages/*/tool_calls/*/function",
                "/messages/*/tool_calls/*/arguments",
                "/messages/*/tool_calls/*/function/arguments",
                "/messages/*/tool_calls/*/arguments/*/deep",
                "/messages/*/tool_calls/*/function/arguments/*/deep",
            },
        ),
        ("{% set ns = namespace(m=messages[0]) %}{{ ns.m.id }}", {"/messages/*/id"}),
        ("{% for m in messages %}{{ loop.previtem.role }}{% endfor %}", {"/messages/*/role"}),
        (
            "{{ (messages | selectattr('role', 'equalto', 'user') | list | last).content }}",
            {"/messages/*/role", "/messages/*/content"},
        ),
    ],
)
def test_members_read_are_followed_through_names(source: str, patterns: set[str]) -> None:
    assert {read.pattern for read in syntax_of(source).reads} == patterns


def test_roles_are_found_in_every_way_to_compare() -> None:
    source = (
        "{% for m in messages %}{% set r = m['role'] %}{% if r == 'user' or m.role in ['tool', 'x'] %}{% endif %}"
        "{{ {'model': 1}[m.role] }}{% if m.role is eq('y') %}{% endif %}{% if m.content == 'no' %}{% endif %}"
        "{% endfor %}{{ messages | selectattr('role', 'equalto', 'system') | list }}"
    )
    assert {literal.role for literal in syntax_of(source).roles} == {
        "user",
        "tool",
        "x",
        "model",
        "y",
        "system",
    }


@pytest.mark.parametrize(
    ("source", "dead"),
    [
        ("{% set old = false %}{% if old and x %}{{ x | random }}{% endif %}", True),
        ("{% set old = false %}{% if not old %}{% else %}{{ x | random }}{% endif %}", True),
        ("{% set on = true %}{% if on or y %}{% elif y %}{{ x | random }}{% endif %}", True),
        ("{% set old = none %}{{ (x | random) if old }}", True),
        ("{{ 1 if true else (x | random) }}", True),
        # a caller may give it, another assignment may change it, or it is read before
        (
            "{% if not old is defined %}{% set old = false %}{% endif %}{% if old %}{{ x | random }}{% endif %}",
            False,
        ),
        ("{% set old = false %}{% set old = y %}{% if old %}{{ x | random }}{% endif %}", False),
        ("{% set old = false %}{% for old in y %}{% if old %}{{ x | random }}{% endif %}{% endfor %}", False),
        ("{% if old %}{{ x | random }}{% endif %}{% set old = false %}", False),
        ("{% set old = false %}{% if old or y %}{{ x | random }}{% endif %}", False),
        ("{% set old = false %}{% if old %}{{ x | random }}{% endif %}{{ y | random }}", False),
    ],
)
def test_what_a_constant_condition_hides_is_used_by_nobody(source: str, dead: bool) -> None:
    facts = syntax_of(source)
    of = facts.dead_constructs if dead else facts.constructs
    other = facts.constructs if dead else facts.dead_constructs
    assert "filter random" in {use.name for use in of}
    assert "filter random" not in {use.name for use in other}


def test_a_set_that_the_loop_swallows() -> None:
    source = "{% set a = 0 %}\n{% for m in messages %}\n{% set a = 1 %}\n{% set b = 2 %}{{ b }}\n{% endfor %}\n{{ a }}"
    assert [
        (s.name, s.line, s.loop_line, s.outer_line, s.read_line) for s in syntax_of(source).loop_sets
    ] == [
        ("a", 3, 2, 1, 6),
        ("b", 4, 2, 0, 0),
    ]


def test_refusals_markers_and_methods() -> None:
    syntax = syntax_of(
        "<|im_start|>\n{{ raise_exception('no ' + messages[0].role ~ '!') }}\n{{ '[INST]' }}{% set x = messages %}"
        "{{ x.append(1) }}{{ ''.__class__ }}{{ y | fromjson }}{% if y is mapping %}{% endif %}"
    )
    assert [(r.message, r.line) for r in syntax.refusals] == [("no …!", 2)]
    assert [(m.text, m.line) for m in syntax.markers] == [("<|im_start|>", 1), ("[INST]", 3)]
    assert [(m.name, m.places) for m in syntax.methods] == [("append", ("/messages",))]
    assert [use.name for use in syntax.private] == ["__class__"]
    assert [use.name for use in syntax.filters] == ["fromjson"]
    assert [use.name for use in syntax.tests] == ["mapping"]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("{% if false %}{{ 9**(9**9) }}{% endif %}", "power"),
        ("{{ 'x' * 10**10 }}", "repetition"),
        ("{{ [0] * 20000000 }}", "repetition"),
        ("{% for i in range(100000000) %}{% endfor %}", "range"),
        ("{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}", "nested ranges"),
    ],
)
def test_constant_work_is_estimated_and_never_done(source: str, kind: str) -> None:
    assert [work.kind for work in syntax_of(source).work] == [kind]


@pytest.mark.parametrize(
    "source", ["{{ 2**10 }}{{ 9**9**9 }}{{ '-' * 80 }}{% for i in range(10) %}{% endfor %}", "{{ 3 * 4 }}"]
)
def test_ordinary_constants_are_no_work(source: str) -> None:
    assert syntax_of(source).work == ()


@pytest.mark.parametrize(
    ("source", "line"),
    [("{% if %}", 1), ("a\n{{ x", 2), ("{% endfor %}", 1), ("{{ " + "(" * 5000 + ")" * 5000 + " }}", 0)],
)
def test_error_what_cannot_be_parsed_is_a_fault_with_its_line(source: str, line: int) -> None:
    fault = syntax_of(source).fault
    assert fault
    assert fault.line == line


def test_error_a_source_beyond_the_bound_is_a_fault() -> None:
    fault = syntax_of("x" * 2_000_000).fault
    assert fault
    assert "characters" in fault.message
    assert fault.bound


def test_error_a_number_that_python_does_not_read_is_a_fault() -> None:
    fault = syntax_of("{{ " + "9" * 5000 + " }}").fault
    assert fault
    assert "digits" in fault.message
    assert not fault.bound


def test_facts_are_kept_as_they_are(shared: Path, tmp_path: Path) -> None:
    store = Store(tmp_path)
    for path in sorted((shared / "templates").glob("*.jinja"))[::25]:
        source = path.read_text(encoding="utf-8")
        found = syntax_of(source)
        assert syntax_in(store, source) == found
        with patch("chatlint.render.syntax.syntax_of", side_effect=AssertionError):
            kept = syntax_in(store, source)
        assert kept == found


def test_facts_that_cannot_be_read_are_found_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    found = syntax_in(store, "{{ messages }}")
    for path in tmp_path.glob("rooms/syntax/*.entry"):
        path.write_bytes(b"nonsense")
    assert syntax_in(store, "{{ messages }}") == found == syntax_in(None, "{{ messages }}")
    with patch.object(Store, "read", return_value=pickle.dumps("other")):
        assert syntax_in(store, "{{ messages }}") == found


@pytest.mark.parametrize(
    "piece",
    [
        "<|x{0}|>\n",
        "{{% set x{0} = messages[0].a %}}",
        "{{% for m in messages %}}{{% set z{0} = m %}}{{% endfor %}}{{{{ z{0} }}}}",
        "{{% if a{0} %}}{{% set b{0} = 1 %}}{{% else %}}{{% set b{0} = 2 %}}{{% endif %}}{{{{ b{0} }}}}",
        "{{{{ raise_exception('a' ~ b{0} ~ 'c') }}}}",
        "{{% if 'word{0}' in messages[0].content %}}some more of these plain words{{% endif %}}",
        "{{% set x{0} = 'word{0}' in messages[0].content and x{0} %}}{{{{ 'a' if x{0} }}}}",
    ],
)
def test_the_facts_are_linear_in_the_source(piece: str) -> None:
    def seconds(count: int) -> float:
        source = "".join(piece.format(index) for index in range(count))
        started = time.process_time()
        assert syntax_of(source).fault is None
        return time.process_time() - started

    seconds(50)
    small, large = (min(seconds(count) for _ in range(4)) for count in (300, 1200))
    assert large < 10 * small + 0.1  # quadratic: 16 times
