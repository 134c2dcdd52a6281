"""Hostile templates end: with a bound that is named, or with a plain failure, and always in time."""

from __future__ import annotations

import time

import pytest

from chatlint.limits import TEMPLATE_SOURCE_CHARACTERS
from chatlint.render import guard
from chatlint.render.rendered import FailureKind
from tests.render.plain import render

LOOP = "{% for i in range(100000) %}"
DOUBLE = "{% set ns = namespace(x='xxxxxxxxxx') %}{% for i in range(99) %}{% set ns.x = "
NEST = "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
TUPLES = "{% set ns = namespace(x=(1,)) %}{% for i in range(90) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}"
BOMBS = {
    "nested loops": LOOP * 3 + "{% endfor %}" * 3,
    "nested loops that print": LOOP * 2 + "xxxxxxxxxx{% endfor %}" * 2,
    "loop filter": LOOP + "{% for j in range(100000) if false %}{% endfor %}{% endfor %}",
    "macro doubling": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "macro doubling, printing": "{% macro f(n) %}xx{% if n %}{{ f(n - 1) * 2 }}{% endif %}{% endmacro %}{{ f(90) }}",
    "+ doubling": DOUBLE + "ns.x + ns.x %}{% endfor %}{{ ns.x }}",
    "~ doubling": DOUBLE + "ns.x ~ ns.x %}{% endfor %}{{ ns.x }}",
    "* doubling": DOUBLE + "ns.x * 2 %}{% endfor %}{{ ns.x }}",
    "join doubling": DOUBLE + "[ns.x, ns.x]|join %}{% endfor %}{{ ns.x }}",
    "str.join doubling": DOUBLE + "''.join([ns.x, ns.x]) %}{% endfor %}{{ ns.x }}",
    "format doubling": DOUBLE + "'%s%s' % (ns.x, ns.x) %}{% endfor %}{{ ns.x }}",
    "format filter doubling": DOUBLE + "'%s%s'|format(ns.x, ns.x) %}{% endfor %}{{ ns.x }}",
    "str.format doubling": DOUBLE + "'{0}{0}'.format(ns.x) %}{% endfor %}{{ ns.x }}",
    "replace doubling": DOUBLE + "ns.x.replace('x', 'xx') %}{% endfor %}{{ ns.x }}",
    "replace of nothing": DOUBLE + "ns.x.replace('', ns.x) %}{% endfor %}{{ ns.x }}",
    "escape growth": DOUBLE + "ns.x|replace('x', '<')|e|string|replace('&', '&&') %}{% endfor %}{{ ns.x }}",
    "set block doubling": DOUBLE.replace("ns.x = ", "y")
    + " %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}{% endfor %}",
    "repeat": "{{ 'x' * 10**10 }}",
    "repeat a list": "{{ [0] * 10**9 }}",
    "repeat in the other order": "{{ 10**10 * 'x' }}",
    "center": "{{ 'x'|center(10**10) }}",
    "ljust": "{{ 'x'.ljust(9999999999) }}",
    "zfill": "{{ 'x'.zfill(9999999999) }}",
    "expandtabs": "{{ '\t\t'.expandtabs(9999999999) }}",
    "indent": "{{ 'x\ny'|indent(9999999999, true) }}",
    "indent many lines": "{{ ('x\n' * 100000)|indent(100000) }}",
    "printf width": "{{ '%9999999999d' % 1 }}",
    "printf star": "{{ '%*d' % (2**31 - 1, 1) }}",
    "printf precision": "{{ '%.999999999f' % 1.5 }}",
    "format width": "{{ '{:>9999999999}'.format(1) }}",
    "format width inside": "{{ '{:{}}'.format('x', 9999999999) }}",
    "safe format width": "{{ ('{:>9999999999}'|safe).format(1) }}",
    "tojson indent": "{{ [1, 2]|tojson(indent=9999999999) }}",
    "tojson deep indent": "{{ messages|tojson(indent=10000000) }}",
    "tojson separators": "{% set s = 'x' * 10000000 %}{{ [1, 2, 3, 4, 5]|tojson(separators=(s, s)) }}",
    "power": "{{ 9**(9**9) }}",
    "power in a dead branch": "{% if false %}{{ 9**(9**9) }}{% endif %}{{ 'x' * 9**9 }}",
    "squares": "{% set ns = namespace(x=3) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}{{ ns.x }}",
    "round": "{{ 1.5|round(999999999, 'floor') }}",
    "round a whole number": "{{ 5|round(-999999999) }}",
    "to_bytes": "{{ (5).to_bytes(9999999999, 'big')|length }}",
    "bytes": "{{ ('x'.encode() * 10**10)|length }}",
    "bytes.replace": "{% set b = ('x' * 1000000).encode() %}{{ b.replace('x'.encode(), b)|length }}",
    "batch": "{{ [1]|batch(10**10, 0)|list }}",
    "slice": "{{ [1]|slice(2 * 10**9)|list }}",
    "lipsum": "{{ lipsum(n=10**9) }}",
    "lipsum of long paragraphs": "{{ lipsum(1, false, 10**9, 10**9 + 1) }}",
    "nested list printed": NEST + "{{ ns.x }}",
    "nested list as JSON": NEST + "{{ ns.x|tojson }}",
    "nested list as a string": NEST + "{{ ns.x|string|length }}",
    "nested list, pretty": NEST + "{{ ns.x|pprint }}",
    "nested list formatted": NEST + "{{ '%s' % ns.x }}",
    "nested list compared": NEST + NEST.replace("ns", "nt") + "{{ ns.x == nt.x }}",
    "nested list looked for": NEST + NEST.replace("ns", "nt") + "{{ ns.x in [nt.x] }}",
    "nested list sorted": NEST + NEST.replace("ns", "nt") + "{{ [ns.x, nt.x]|sort|length }}",
    "nested object": NEST.replace("[ns.x, ns.x]", "{'a': ns.x, 'b': ns.x}") + "{{ ns.x }}",
    "nested namespaces": NEST.replace("[ns.x, ns.x]", "namespace(a=ns.x, b=ns.x)") + "{{ ns.x }}",
    "nested tuple as a key": TUPLES + "{{ {ns.x: 1} }}",
    "nested tuple looked up": TUPLES + "{{ {}[ns.x] }}",
    "nested tuple got": TUPLES + "{{ {}.get(ns.x) }}",
    "nested tuple in an object": TUPLES + "{{ ns.x in {} }}",
    "nested tuple, unique": TUPLES + "{{ [ns.x]|unique|list }}",
    "nested tuple from keys": TUPLES + "{{ dict.fromkeys([ns.x]) }}",
    "nested tuples tested": TUPLES + TUPLES.replace("ns", "nt") + "{{ ns.x is eq(nt.x) }}",
    "nested tuples selected": TUPLES + TUPLES.replace("ns", "nt") + "{{ [ns.x]|select('eq', nt.x)|list }}",
    "nested tuples that change": TUPLES
    + TUPLES.replace("ns", "nt")
    + "{% for i in 'ab' %}{{ loop.changed(ns.x if i == 'a' else nt.x) }}{% endfor %}",
    "nested tuples, indexed": TUPLES + TUPLES.replace("ns", "nt") + "{{ [ns.x].index(nt.x) }}",
    "pairs": "{% set ns = namespace(x=1) %}{% for i in range(90) %}{% set ns.x = {ns.x: ns.x}.items()|first %}{% endfor %}",
    "search from the right": "{{ ('a' * 9999999).rfind('b' + 'a' * 999999) }}",
    "split from the right": "{{ ('a' * 9999999).rsplit('b' + 'a' * 999999)|length }}",
    "strip": "{{ ('a' * 9999999).strip('b' * 999999 + 'a')|length }}",
    "sort of equal long strings": "{% set a = 'x' * 9999999 %}{% set b = 'x' * 9999999 %}{{ ([a, b] * 100000)|sort(case_sensitive=true)|length }}",
    "deep list": NEST.replace("[ns.x, ns.x]", "[ns.x]").replace("90", "90000") + "{{ ns.x }}",
    "list doubling": "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "lists kept": "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x, range(99999)|list] %}{% endfor %}",
    "strings kept": "{% set ns = namespace(x=[]) %}{% set s = 'x' * 9999999 %}{% for i in range(100000) %}{% set ns.x = [ns.x, s ~ i] %}{% endfor %}",
    "sum of lists": "{{ [[1] * 1000]|batch(1)|list }}{{ ([[1] * 9999] * 9999)|sum(start=[])|length }}",
    "sort in a loop": "{% set x = range(99999)|list %}" + LOOP + "{% set y = x|sort %}{% endfor %}",
    "map in a loop": LOOP + "{% set y = range(99999)|map('string')|list %}{% endfor %}",
    "select in a loop": LOOP + "{% set y = range(99999)|select('odd')|list %}{% endfor %}",
    "split in a loop": "{% set x = 'x ' * 1000000 %}" + LOOP + "{% set y = x.split() %}{% endfor %}",
    "find in a loop": "{% set x = 'x' * 9999999 %}" + LOOP + "{% if 'xxxy' in x %}{% endif %}{% endfor %}",
    "title in a loop": "{% set x = 'x ' * 1000000 %}" + LOOP + "{% set y = x|title %}{% endfor %}",
    "split of everything": "{{ ('x ' * 9999999).split()|length }}",
    "list of everything": "{{ ('x ' * 9999999)|list|length }}",
    "quotes as JSON": "{{ ('\"' * 9999999)|tojson|length }}",
    "conversions": "{{ ('%s' * 999999) % 'x' }}",
    "fields": "{{ ('{}' * 999999).format('x') }}",
    "fields of one long string": "{{ ('{0}' * 9999).format('x' * 9999999) }}",
    "conversions of one long string": "{{ ('%(a)s' * 9999) % {'a': 'x' * 9999999} }}",
    "safe conversions of one long string": "{{ ('%(a)s' * 9999)|safe % {'a': 'x' * 9999999} }}",
    "translate": "{{ ('x' * 1000000).translate({120: 'y' * 1000000}) }}",
    "printed lists, joined": "{{ ([['x' * 9999999]] * 9999)|join }}",
    "urlize": "{{ ('www.' * 2000000)|urlize|length }}",
    "wordwrap": "{{ ('x ' * 5000000)|wordwrap(1)|length }}",
    "striptags": "{{ ('<' * 9999999)|striptags|length }}",
    "output": "{% set x = 'x' * 9999999 %}" + LOOP + "{{ x }}{% endfor %}",
    "output in a macro": "{% set x = 'x' * 9999999 %}{% macro f() %}"
    + LOOP
    + "{{ x }}{% endfor %}{% endmacro %}{{ f() }}",
    "macro recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "caller recursion": "{% macro f() %}{{ caller is defined }}{% call f() %}{% endcall %}{% endmacro %}{{ f() }}",
    "recursive loop": "{% for x in [messages] recursive %}{{ loop([messages]) }}{% endfor %}",
    "self recursion": "{% block b %}{{ self.b() }}{% endblock %}",
    "range": "{% for i in range(10**9) %}{% endfor %}",
    "generators inside generators": "{% set ns = namespace(g=[1]) %}{% for i in range(9999) %}{% set ns.g = ns.g|map('string') %}{% endfor %}{{ ns.g|list }}",
    "many brackets": "{{ " + "(" * 50000 + "1" + ")" * 50000 + " }}",
    "many filters": "{{ 'x'" + "|upper" * 20000 + " }}",
    "many blocks": "{% if x %}" * 300 + "{% endif %}" * 300,
    "many statements": "{% if x %}{% endif %}" * 30000,
    "many expressions": "{{ 1 }}" * 140000,
    "long source": "x" * (TEMPLATE_SOURCE_CHARACTERS + 1),
}
NO_BOUND = {
    "range": "OverflowError",
    "macro recursion": "RecursionError",
    "caller recursion": "RecursionError",
    "recursive loop": "RecursionError",
    "self recursion": "RecursionError",
    "generators inside generators": "RecursionError",
    "many blocks": "RecursionError",
}
"""What Jinja or Python ends by itself, as it would in the host."""


@pytest.fixture(autouse=True)
def less_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "RENDER_SECONDS", 0.5)


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_this_process(name: str) -> None:
    started = time.process_time()
    rendered = render(BOMBS[name])
    assert rendered.prompt is None, rendered.prompt.text[:80]
    failure = rendered.failure
    assert failure is not None
    if name in NO_BOUND:
        assert failure.exception == NO_BOUND[name]
    else:
        assert failure.kind is FailureKind.BOUND, failure
    assert len(failure.message) < 500
    assert time.process_time() - started < 4
