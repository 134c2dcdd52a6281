"""Opening renderers, one prompt for who needs just that, and choosing among templates."""

from __future__ import annotations

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from weakref import ref

import pytest
from jinja2.runtime import Context, Macro

from chatlint.conversation import Conversation
from chatlint.errors import TemplateError, UsageError
from chatlint.limits import NESTING
from chatlint.render import compiled, local
from chatlint.render.inputs import Inputs
from chatlint.render.rendered import FailureKind, RenderRequest, RenderSettings
from chatlint.render.renderer import choose, open_renderer, render_prompt
from chatlint.render.runs import ContainerSource
from tests.render.plain import render, template

CHAT = template(
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{{ '[assistant]' if add_generation_prompt }}"
)
HELLO = [{"role": "user", "content": "hi"}]


def test_render_prompt() -> None:
    assert render_prompt(CHAT, HELLO).text == "[user]hi[assistant]"
    assert render_prompt(CHAT, HELLO, add_generation_prompt=False).text == "[user]hi"
    kwargs = template("{{ level }}{{ tools is none }}{{ documents[0].title }}")
    settings = RenderSettings(documents=({"title": "T"},))
    assert render_prompt(kwargs, HELLO, settings=settings, level=3).text == "3TrueT"
    assert render_prompt(kwargs, HELLO, [], settings=settings, level=3).text == "3FalseT"


def test_render_prompt_continues_and_has_a_clock() -> None:
    settings = RenderSettings(continue_final_message=True, now=datetime(1999, 1, 2))
    open_ended = [*HELLO, {"role": "assistant", "content": "and"}]
    assert render_prompt(CHAT, open_ended, None, False, settings=settings).text == "[user]hi[assistant]and"
    assert (
        render_prompt(
            template("{{ strftime_now('%Y') }}"),
            HELLO,
            settings=replace(settings, continue_final_message=False),
        ).text
        == "1999"
    )


def test_blocks_of_jinja_that_have_no_line_of_their_own() -> None:
    escaped = template("{% autoescape true %}\n{{ messages[0].content }}{% endautoescape %}")
    assert render_prompt(escaped, [{"role": "user", "content": "<hi>"}]).text == "&lt;hi&gt;"
    renderer = open_renderer(escaped, RenderSettings(), None)
    assert all(line > 0 for line in renderer.coverable_lines())
    renderer.close()


@pytest.mark.parametrize("untrusted", [False, True])
def test_render_prompt_says_whose_fault_it_is(untrusted: bool) -> None:
    settings = RenderSettings(untrusted=untrusted)
    for source, part in (
        ("\n{% if %}", "Expected an expression"),
        ("\n{{ raise_exception('no') }}", "refuses this conversation: no"),
        ("\n{{ x.y.z }}", "UndefinedError: 'x' is undefined"),
        ("\n{{ 'x' * 10**9 }}", "a string of more than"),
    ):
        with pytest.raises(TemplateError) as raised:
            render_prompt(template(source), HELLO, settings=settings)
        assert part in raised.value.message
        assert raised.value.line == 2
    with pytest.raises(UsageError):
        render_prompt(CHAT, [], settings=settings)
    with pytest.raises(UsageError, match="unknown host"):
        render_prompt(CHAT, HELLO, settings=replace(settings, host="nothing"))


@pytest.mark.parametrize("messages", ["hi", {"role": "user"}, ["hi"], None, [None]])
def test_what_is_no_conversation_is_refused(messages: object) -> None:
    with pytest.raises(UsageError, match="messages must be a list of objects"):
        render_prompt(CHAT, messages)  # type: ignore[arg-type]


def test_a_conversation_that_changes_between_renders_is_looked_at_again() -> None:
    message = {"role": "user", "content": ["a"]}
    conversation = Conversation((message,))
    renderer = open_renderer(template("{{ messages[0].content|tojson }}"))
    texts = []
    for content in (["a"], ["b"], ["b", "c"]):
        message["content"] = content
        texts.append(renderer.render(RenderRequest(conversation)).prompt.text)
    assert texts == ['["a"]', '["b"]', '["b", "c"]']


def test_objects_that_are_no_json_become_what_transformers_makes_of_them() -> None:
    class Image:
        pass

    class Name(str):
        __slots__ = ()

    conversation = Conversation(({"role": Name("user"), "content": Image(), "pair": (1, 2)},))  # type: ignore[dict-item]
    assert render("{{ messages }}", conversation).prompt.text == (
        "[{'role': 'user', 'content': '<Image>', 'pair': (1, 2)}]"
    )


def test_a_conversation_that_is_nested_too_deep_is_a_bound() -> None:
    value: object = "x"
    for _ in range(NESTING + 5):
        value = [value]
    conversation = Conversation(({"role": "user", "content": value},))  # type: ignore[dict-item]
    for untrusted in (False, True):
        failure = render("{{ messages }}", conversation, untrusted=untrusted).failure
        assert failure is not None
        assert failure.kind is FailureKind.BOUND


def test_choose() -> None:
    default, tool_use, rag = (
        template("a"),
        replace(template("b"), name="tool_use"),
        replace(template("c"), name="rag"),
    )
    assert choose([default], None) is default
    assert choose([default, tool_use], None) is default
    assert choose([default, tool_use], []) is tool_use, "an empty list of tools is given, too"
    assert choose([default, rag], [{}]) is default
    with pytest.raises(UsageError, match="no default"):
        choose([rag, tool_use], None)


def test_importing_the_types_does_not_import_jinja() -> None:
    program = (
        "import sys; import chatlint.render.rendered, chatlint.render.renderer, chatlint.render.environment; "
        "print([name for name in ('jinja2', 'asyncio', 'subprocess') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


TOOLS = (
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "parameters": {"properties": {f"p{n}": {"enum": [n]} for n in range(40)}},
        },
    },
)
ASKED = RenderRequest(Conversation(({"role": "user", "content": "Hi"},), TOOLS))


@pytest.mark.parametrize("request_", [ASKED, replace(ASKED, content=(b"messages", b"tools", b""))])
def test_a_render_does_not_depend_on_those_before_it(request_: RenderRequest) -> None:
    """What is wrapped and written once is kept for the next template: neither its places nor its steps show."""
    first = "{{ tools | tojson }}"
    second = "\n\n{% for m in messages %}{{ tools | tojson }}{{ tools[0] | tojson(indent=2) }}{% endfor %}"

    def asked(*sources: str) -> list[tuple[object, ...]]:
        found = []
        for source in sources:
            with closing(open_renderer(template(source), RenderSettings())) as renderer:
                seen = renderer.render(request_)
                found.append((seen.prompt, seen.steps, seen.failure))
        return found

    local._inputs.forget()
    alone = asked(second)
    local._inputs.forget()
    assert asked(first, second, second)[1:] == [*alone, *alone]


def test_what_a_template_writes_is_not_kept_without_end() -> None:
    source = "{% for n in range(100) %}{{ tools | tojson(indent=n) | length }}{% endfor %}"
    with closing(open_renderer(template(source), RenderSettings())) as renderer:
        assert renderer.render(ASKED).prompt is not None
    kept = [one for one in gc.get_objects() if type(one) is ContainerSource and one.pointer == "/tools"]
    assert kept
    assert all(len(one.texts) <= 8 for one in kept)


@pytest.mark.parametrize(
    "source",
    [
        "{% macro one(n) %}{{ n }}{{ one(n - 1) if n else '' }}{% endmacro %}{{ one(3) }}",
        "{% macro one(n) %}{{ n }}{% endmacro %}{% macro two() %}{{ one(2) }}{% endmacro %}{{ two() }}",
        "{% macro one() %}{{ caller() }}{% endmacro %}{% call one() %}{{ messages | length }}{% endcall %}",
        "{% macro one() %}{{ messages.none.at.all }}{% endmacro %}{{ one() }}",
    ],
)
def test_a_render_leaves_nothing_to_be_collected(source: str) -> None:
    """A survey of thousands of templates would stop for it again and again."""
    with closing(open_renderer(template(source), RenderSettings())) as renderer:
        renderer.render(ASKED)
        gc.collect()
        gc.disable()
        try:
            renderer.render(ASKED)
            kept = [one for one in gc.get_objects() if type(one) in (Macro, Context)]
        finally:
            gc.enable()
    assert not kept


def test_a_template_that_nobody_renders_any_more_is_gone_at_once() -> None:
    source = "{% macro one() %}{{ messages | length }}{% endmacro %}{{ one() }}"
    with closing(open_renderer(template(source), RenderSettings())) as renderer:
        assert renderer.render(ASKED).prompt is not None
        root = ref(renderer._compiled.root)
    del renderer
    compiled._ready.clear()
    assert root() is None


def test_a_conversation_that_a_template_changed_is_not_used_again() -> None:
    content = (b"changed", b"", b"")
    request = RenderRequest(
        Conversation(({"role": "user", "content": "Hi", "parts": [1, 2]},)), content=content
    )
    with closing(open_renderer(template("{{ messages[0].parts | tojson }}"), RenderSettings())) as renderer:
        assert renderer.render(request).prompt == renderer.render(request).prompt
        roots = local._inputs.wrap(request.conversation, content)
        roots["messages"].value[0]["parts"].append(3)
        assert renderer.render(request).mutated == ("/messages/0/parts",)
        assert renderer.render(request).prompt.text == "[1, 2]"


def test_what_is_no_plain_data_is_wrapped_each_time() -> None:
    class Text(str):
        pass

    content = (b"not plain", b"", b"")
    inputs = Inputs()
    for said in ("one", "two"):
        conversation = Conversation(({"role": "user", "content": Text(said)},))
        assert inputs.wrap(conversation, content)["messages"].value == [{"role": "user", "content": said}]


def test_threads_that_open_many_templates_do_not_meet() -> None:
    sources = [template(f"{{{{ messages[0].content }}}}{number}") for number in range(24)]

    def rendered(at: int) -> bool:
        number = at % len(sources)
        return render_prompt(sources[number], HELLO).text == f"hi{number}"

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            assert all(pool.map(rendered, range(600)))
    finally:
        sys.setswitchinterval(before)
