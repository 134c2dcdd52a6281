"""The table of constructs: every row can be found in a template, and the engine that is at hand does what it
says."""

from __future__ import annotations

import json
from functools import cache

import jinja2
import pytest
from jinja2.ext import loopcontrols

from chatlint.engines.constructs import Effect, construct_table
from chatlint.render.syntax import syntax_of

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")
EXAMPLES = {
    "tag generation": "{% generation %}x{% endgeneration %}",
    "tag with": "{% with a = 1 %}{{ a }}{% endwith %}",
    "tag block": "{% block a %}x{% endblock %}",
    "tag raw": "{% raw %}{{ x }}{% endraw %}",
    "tag with +": "  {%+ if true %}x{% endif %}",
    "for … recursive": "{% for x in [[1], [2]] recursive %}{{ loop(x) if x is iterable else x }}{% endfor %}",
    "set with a filter": "{% set x | upper %}ab{% endset %}{{ x }}",
    "operator //": "{{ 7 // 2 }}",
    "operator **": "{{ 2 ** 3 }}",
    "chained comparison": "{{ 'y' if 1 < 2 < 3 }}",
    "order of texts": "{{ 'y' if 'a' < s }}",
    "list in a list": "{{ 'y' if [1] in [[1], [2]] }}",
    "text times a number": "{{ 'ab' * 3 }}",
    "list times a number": "{{ ([1] * 2) | length }}",
    "text % values": "{{ '%s-%s' % (s, s) }}",
    "tuple of one": "{{ (1,) | length }}",
    "key that is no text": "{{ {1: 'a'}[1] }}",
    "name with accents": "{% set é = 1 %}{{ é }}",
    "escape by number": r"{{ '\x41' }}",
    "escape without a meaning": r"{{ '\d' }}",
    "safe and +": "{{ '<' | safe + '<' }}",
    "filter tojson": "{{ '<&' | tojson }}",
    "filter tojson(ensure_ascii)": "{{ s | tojson(ensure_ascii=false) }}",
    "filter tojson(separators)": "{{ l | tojson(separators=(',', ':')) }}",
    "filter tojson(sort_keys)": "{{ d | tojson(sort_keys=true) }}",
    "filter tojson(positional)": "{{ l | tojson(2) }}",
    "filter map(filter)": "{{ ['a'] | map('upper') | join }}",
    "filter select": "{{ l | select('odd') | join }}",
    "filter reject": "{{ l | reject('odd') | join }}",
    "filter select(nothing)": "{{ ['a', ''] | select | join }}",
    "filter selectattr(test)": "{{ [{'a': 1}] | selectattr('a', '==', 1) | list | length }}",
    "filter selectattr(value)": "{{ [{'a': 1}] | selectattr('a', 'equalto', 1) | list | length }}",
    "filter rejectattr(test)": "{{ [{'a': 1}, {}] | rejectattr('a', 'defined') | list | length }}",
    "filter replace(more)": "{{ 'aaa' | replace('a', 'b', 2) }}",
    "filter trim(more)": "{{ 'xax' | trim('x') }}",
    "filter default(boolean=)": "{{ '' | default('x', boolean=true) }}",
    "filter join(attribute=)": "{{ [{'x': 'a'}, {'x': 'b'}] | join(',', attribute='x') }}",
    "filter d": "{{ nope | d('q') }}",
    "filter sum": "{{ l | sum }}",
    "filter round": "{{ 2.567 | round(1) }}",
    "filter unique": "{{ [1, 1, 2] | unique | join }}",
    "filter batch": "{{ l | batch(2) | list | length }}",
    "filter groupby": "{{ [{'a': 1}] | groupby('a') | list | length }}",
    "filter truncate": "{{ 'hello world foo' | truncate(8) }}",
    "filter wordwrap": "{{ 'aaa bbb ccc' | wordwrap(7) }}",
    "filter format": "{{ '%s' | format(s) }}",
    "filter attr": "{{ d | attr('b') }}",
    "test callable": "{{ 'y' if s is callable else 'n' }}",
    "test float": "{{ 'y' if 1.5 is float }}",
    "test with a value": "{{ 'y' if 4 is divisibleby(2) }}",
    "test sequence": "{{ 'y' if 's' is sequence else 'n' }}",
    "test iterable": "{{ 'y' if l is iterable }}",
    "method strip(characters)": "{{ 'xax'.strip('x') }}",
    "method startswith(tuple)": "{{ 'y' if 'abc'.startswith(('x', 'a')) }}",
    "method format": "{{ '{}'.format(s) }}",
    "method format(names)": "{{ '{x}'.format(x=2) }}",
    "method join": "{{ ','.join(['a', 'b']) }}",
    "method encode": "{{ 'abc'.encode() | length }}",
    "method index": "{{ 'abc'.index('b') }}",
    "method title": "{{ \"it's\".title() }}",
    "method zfill": "{{ '1'.zfill(3) }}",
    "loop.cycle": "{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "loop.changed": "{% for x in l %}{{ 'y' if loop.changed(x) }}{% endfor %}",
    "loop.depth": "{% for x in l %}{{ loop.depth }}{% endfor %}",
    "loop.depth0": "{% for x in l %}{{ loop.depth0 }}{% endfor %}",
    "function joiner": "{% set j = joiner(',') %}{{ j() }}a{{ j() }}b",
    "function cycler": "{% set c = cycler('x', 'y') %}{{ c.next() }}{{ c.next() }}",
    "function lipsum": "{{ lipsum(1) | length > 0 }}",
    "function dict": "{{ dict(a=1).a }}",
    "function strftime_now(code)": "{{ strftime_now('%A') }}",
    "macro with too few arguments": "{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m() }}",
    "macro varargs": "{% macro m(a) %}{{ a }}{{ varargs | length }}{% endmacro %}{{ m(1, 2) }}",
    "tools is none": "{{ 'y' if tools is none else 'n' }}",
    "one character before the first tag": "x{{ s }}",
    "line ends of Windows": "{% if true %}\r\nx\r\n{% endif %}\r\ny",
}  # fmt: skip


def example(name: str) -> str:
    kind, _, word = name.partition(" ")
    if name in EXAMPLES:
        return EXAMPLES[name]
    if kind == "method":
        argument = {"ljust": "6", "rjust": "6", "center": "6"}.get(word, "")
        argument = argument or ("" if word.startswith(("is", "split", "cap")) else "' '")
        return f"{{{{ ('a b'.{word}({argument})) }}}}"
    return f"{{{{ {'l' if word in ('unique', 'min', 'max', 'count', 'length') else 's'} | {word} }}}}"


NAMES = tuple(construct_table().constructs)


@pytest.mark.parametrize("name", NAMES)
def test_every_row_is_found_in_a_template(name: str) -> None:
    syntax = syntax_of(example(name))
    assert syntax.fault is None
    assert name in [use.name for use in syntax.constructs]


def test_the_table_is_dated_and_names_versions() -> None:
    table = construct_table()
    assert table.date.startswith("20")
    assert all(fate.engine.version for one in table.constructs.values() for fate in one.fates)
    assert all(one.fates for one in table.constructs.values())


VALUES = {"s": "z", "l": [3, 1, 2], "d": {"b": 1, "a": "x"}, "tools": None}


def reference(source: str) -> str:
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(
            x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    environment.filters["tojson"] = tojson
    return environment.from_string(source).render(VALUES)


@cache
def minijinja_environment():
    minijinja = pytest.importorskip("minijinja", reason="needs the extra `engines`")
    return minijinja.Environment(trim_blocks=True, lstrip_blocks=True, pycompat=True)


def effect_in_minijinja(source: str) -> Effect | None:
    environment = minijinja_environment()
    try:
        environment.add_template("x", source)
    except Exception:
        return Effect.UNUSABLE
    try:
        text = environment.render_template("x", **VALUES)
    except Exception:
        return Effect.FAILS
    return None if text == reference(source) else Effect.DIFFERS


NOT_HERE = {"tag generation", "function strftime_now(code)", "tools is none", "filter length"}
"""What transformers and its hosts add to Jinja, and what the example's values do not show."""


@pytest.mark.parametrize("name", NAMES)
def test_minijinja_does_what_the_table_says(name: str) -> None:
    fates = {fate.engine.name: fate.effect for fate in construct_table().constructs[name].fates}
    seen = effect_in_minijinja(example(name))
    said = fates.get("minijinja")
    if name == "tag generation":
        assert seen is said
    elif name in NOT_HERE:
        pytest.skip("not shown by this example")
    elif said is Effect.EDGE:
        assert seen in (None, Effect.DIFFERS)
    else:
        assert seen is said
