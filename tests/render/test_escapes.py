"""The sandbox holds: what a hostile template reaches for is refused, or is not there."""

from __future__ import annotations

import pytest

from chatlint.conversation import Conversation
from chatlint.render.inputs import changed
from tests.render.plain import compiled, outcome, plain_outcome, render

ESCAPES = {
    "class": "{{ ''.__class__ }}",
    "mro": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "subscript": "{{ ''['__class__'] }}",
    "attr filter": "{{ ''|attr('__class__') }}",
    "attr of a method": "{{ messages[0].content.strip.__self__ }}{{ messages[0].content.split.__func__ }}",
    "globals of a method": "{{ messages[0].content.split.__globals__ }}",
    "code of a filter": "{{ messages[0].content.join.__func__.__code__ }}",
    "globals of a global": "{{ raise_exception.__globals__ }}{{ strftime_now.__closure__ }}{{ lipsum.__globals__ }}",
    "init of a namespace": "{{ namespace.__init__.__globals__ }}",
    "namespace attributes": "{% set ns = namespace(a=1) %}{{ ns.__class__.__bases__ }}{{ ns._Namespace__attrs }}",
    "format": "{{ '{0.__class__.__mro__}'.format('') }}",
    "format_map": "{{ '{x.__class__}'.format_map({'x': ''}) }}",
    "format of input": "{{ ('{0.' ~ messages[0].content ~ '}').format('') }}",
    "safe format": "{{ ('{0.__class__}'|safe).format('') }}",
    "map attribute": "{{ ['']|map(attribute='__class__')|list }}",
    "generator frame": "{{ (messages|map('string')).gi_frame.f_globals }}",
    "self": "{{ self.__init__.__globals__ }}{{ self._TemplateReference__context }}",
    "context": "{% macro f() %}{{ caller._func }}{% endmacro %}{% call f() %}{% endcall %}",
    "loop": "{% for m in messages %}{{ loop._iterator }}{{ loop.__class__ }}{% endfor %}",
    "macro": "{% macro f() %}{% endmacro %}{{ f._func.__globals__ }}{{ f._environment }}",
    "joiner": "{{ joiner.__init__.__globals__ }}{{ cycler.__init__.__globals__ }}",
    "undefined": "{{ nothing._undefined_hint }}{{ nothing.__class__ }}",
    "dict": "{{ dict.__base__ }}{{ dict.__class__ }}",
    "numbers": "{{ (1).__class__ }}{{ level.__dict__ }}{{ level._source }}",
    "runs": "{{ messages[0].content._runs }}{{ messages[0].content['_runs'] }}{{ 'x'._runs }}",
    "import": "{% import 'os' as os %}{{ os.system('true') }}",
    "include": "{% include '/etc/passwd' %}",
    "append": "{{ messages.append(1) }}",
    "update": "{{ messages[0].update({'a': 1}) }}",
    "clear": "{{ messages[0].clear() }}",
    "pop": "{{ messages.pop() }}{{ messages[0].pop('role') }}{{ messages[0].setdefault('x', 1) }}",
    "sort": "{{ messages.sort() }}{{ messages.reverse() }}{{ messages.insert(0, 1) }}{{ messages.extend([1]) }}",
    "set item": "{% set messages[0].x = 1 %}",
    "set attribute": "{% set messages.x = 1 %}",
}
CONVERSATION = Conversation(({"role": "user", "content": "__class__"},), template_kwargs={"level": 3})
LEAKS = ("<class", "<module", "<function", "<code", "<frame", "built-in", "builtins", "root:", "{'role'")


@pytest.mark.parametrize("name", ESCAPES)
def test_an_escape_fails_as_it_does_in_the_plain_sandbox(name: str) -> None:
    rendered = render(ESCAPES[name], CONVERSATION)
    text = outcome(rendered)
    assert not rendered.mutated
    if isinstance(text, str):
        assert not any(leak in text for leak in LEAKS), text
    else:
        assert text[0] in (
            "SecurityError",
            "UndefinedError",
            "TypeError",
            "TemplateSyntaxError",
            "TemplateRuntimeError",
        )


@pytest.mark.parametrize(
    "name", [name for name in ESCAPES if name not in ("namespace attributes", "context", "dict")]
)
def test_messages_do_not_tell_that_inputs_are_traced(name: str) -> None:
    variables = {"messages": [{"role": "user", "content": "__class__"}], "level": 3}
    try:
        expected: object = compiled(ESCAPES[name]).render(**variables)
    except Exception as error:
        expected = type(error).__name__, str(error)
    assert outcome(render(ESCAPES[name], CONVERSATION)) == expected
    assert plain_outcome("{{ 1 }}") == "1"


def test_what_changed_is_pointed_at() -> None:
    given = [{"a": 1, "b": [1, {"c": 2}], "d/e": 3}]
    now = [{"a": 1, "b": [1, {"c": 5}], "f": 4}]
    assert list(changed(given, now, "/messages")) == [
        "/messages/0/b/1/c",
        "/messages/0/d~1e",
        "/messages/0/f",
    ]
    assert list(changed(given, [], "/messages")) == ["/messages"]
    assert list(changed(given, given, "/messages")) == []
