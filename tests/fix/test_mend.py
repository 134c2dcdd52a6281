"""What is mended, and how little is changed for it."""

from __future__ import annotations

from difflib import ndiff
from itertools import pairwise

import pytest

from chatlint.config import Settings
from chatlint.fix.examined import examined
from chatlint.fix.mend import Mended, mend
from chatlint.fix.proof import objection
from chatlint.probe.trace import Trace
from chatlint.rules.catalogue import all_rules
from chatlint.rules.edits import Mending
from chatlint.source.package import Package, Target, TargetKind, Template, TemplatePlace

GOOD = """\
{% if tools %}<|tools|>{% for t in tools %}{{ t | tojson }}{% endfor %}<|end|>
{% endif %}
{% for m in messages %}{% set c = m.content or '' %}
{% set text = c | map(attribute='text') | join if c is iterable and c is not string else c %}
{% if m.role == 'assistant' %}
<|assistant|>{{ text }}{% for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string and a else a | tojson }}</call>
{%- endfor %}<|end|>
{% else %}
{{ '<|' + m.role + '|>' + text + '<|end|>' }}
{% endif %}
{% endfor %}
{% if add_generation_prompt %}<|assistant|>{% endif %}
"""
BARE = """\
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
"""
EVERYTHING = frozenset(rule.name for rule in all_rules())


def package_of(source: str) -> Package:
    place = TemplatePlace("t.jinja")
    template = Template("default", source, "old", place, {"bos_token": "<s>"}, special_tokens_assumed=True)
    return Package(Target(TargetKind.FILE, "t.jinja"), (template,))


def mended(source: str, *wanted: str) -> Mended:
    package = package_of(source)
    return mend(package, package.templates[0], Settings(), frozenset(wanted) or EVERYTHING)


def changes(result: Mended) -> list[str]:
    old, new = result.template.text.splitlines(), result.text.splitlines()
    return [line for line in ndiff(old, new) if line[0] in "+-"]


def without(source: str, old: str, new: str) -> str:
    assert source.count(old) == 1
    return source.replace(old, new)


def test_nothing_to_mend() -> None:
    assert mended(GOOD) == Mended(package_of(GOOD).templates[0], GOOD)


# fmt: off
TABLE = [
    ("generation-prompt", GOOD, "{% if add_generation_prompt %}<|assistant|>{% endif %}\n", "",
     ["+ {%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"]),
    ("generation-prompt", GOOD, "{% if add_generation_prompt %}", "{% if add_generation_prompt and messages[-1].role != 'tool' %}",
     ["- {% if add_generation_prompt and messages[-1].role != 'tool' %}<|assistant|>{% endif %}",
      "+ {% if add_generation_prompt %}<|assistant|>{% endif %}"]),
    ("generation-prompt", GOOD, "{% if add_generation_prompt %}<|assistant|>{% endif %}", "<|assistant|>",
     ["- <|assistant|>", "+ {% if add_generation_prompt %}<|assistant|>{% endif %}"]),
    ("generation-prompt", GOOD, "{% if add_generation_prompt %}<|assistant|>{% endif %}", "{{ '<|assistant|>' }}",
     ["- {{ '<|assistant|>' }}", "+ {% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"]),
    ("null-content-printed", GOOD, "m.content or ''", "m.content",
     ["- {% for m in messages %}{% set c = m.content %}",
      "+ {% for m in messages %}{% set c = m.content or '' %}"]),
    ("missing-content-key", GOOD, "m.content or ''", "'' + m.content if m.content is undefined or m.content is string else m.content",
     ["- {% for m in messages %}{% set c = '' + m.content if m.content is undefined or m.content is string else m.content %}",
      "+ {% for m in messages %}{% set c = '' + (m.content or '') if m.content is undefined or m.content is string else m.content %}"]),
    ("argument-shape", GOOD, "a if a is string and a else a | tojson", "a | tojson",
     ["- <call>{{ c.function.name }} {{ a | tojson }}</call>",
      "+ <call>{{ c.function.name }} {{ a if a is string and a else a | tojson }}</call>"]),
    ("argument-shape", GOOD, "{{ a if a is string and a else a | tojson }}", "{{ c.function['arguments'] }}",
     ["- <call>{{ c.function.name }} {{ c.function['arguments'] }}</call>",
      "+ <call>{{ c.function.name }} {{ c.function['arguments'] if c.function['arguments'] is string else c.function['arguments'] | tojson }}</call>"]),
    ("argument-shape", GOOD, "{{ c.function.name }} {{ a if a is string and a else a | tojson }}", "{{ c.function | tojson }}",
     ["- <call>{{ c.function | tojson }}</call>",
      "+ <call>{{ c.function | tojson | replace(c.function.arguments | tojson, c.function.arguments) if c.function.arguments is string and c.function.arguments[:1] == '{' else c.function | tojson }}</call>"]),
    ("python-literals-in-output", GOOD, "{{ t | tojson }}", "{{ t }}",
     ["- {% if tools %}<|tools|>{% for t in tools %}{{ t }}{% endfor %}<|end|>",
      "+ {% if tools %}<|tools|>{% for t in tools %}{{ t | tojson }}{% endfor %}<|end|>"]),
    ("dict-method-names", GOOD, "{{ t | tojson }}", "{{ t | tojson }}{% for n, p in ((t.function.parameters or {}).properties or {}).items() %}{% if p.type == 'array' %}{{ p.items }}{% endif %}{% endfor %}",
     ["- {% if tools %}<|tools|>{% for t in tools %}{{ t | tojson }}{% for n, p in ((t.function.parameters or {}).properties or {}).items() %}{% if p.type == 'array' %}{{ p.items }}{% endif %}{% endfor %}{% endfor %}<|end|>",
      "+ {% if tools %}<|tools|>{% for t in tools %}{{ t | tojson }}{% for n, p in ((t.function.parameters or {}).properties or {}).items() %}{% if p.type == 'array' %}{{ p['items'] }}{% endif %}{% endfor %}{% endfor %}<|end|>"]),
    ("content-shape", BARE, "", "",
     ["- {% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>",
      "+ {% for m in messages %}<|{{ m.role }}|>{{ m.content | map(attribute='text') | join if m.content is iterable and m.content is not string and m.content is not mapping and m.content | selectattr('type', 'equalto', 'text') | list | length == m.content | length else m.content }}<|end|>"]),
    ("empty-tools-not-neutral", GOOD, "{% if tools %}", "{% if tools is not none and tools is defined %}",
     ["- {% if tools is not none and tools is defined %}<|tools|>{% for t in tools %}{{ t | tojson }}{% endfor %}<|end|>",
      "+ {% if tools is not none and tools %}<|tools|>{% for t in tools %}{{ t | tojson }}{% endfor %}<|end|>"]),
    ("empty-tools-not-neutral", GOOD, "{% if tools %}", "{% if tools is defined and not tools is none %}",
     ["- {% if tools is defined and not tools is none %}<|tools|>{% for t in tools %}{{ t | tojson }}{% endfor %}<|end|>",
      "+ {% if tools is defined and tools %}<|tools|>{% for t in tools %}{{ t | tojson }}{% endfor %}<|end|>"]),
    ("empty-call-list-not-neutral", GOOD, "<|assistant|>{{ text }}", "<|assistant|>{% if 'tool_calls' not in m or m.tool_calls and text %}{{ text }}{% endif %}",
     ["- <|assistant|>{% if 'tool_calls' not in m or m.tool_calls and text %}{{ text }}{% endif %}{% for c in m.tool_calls or [] %}{% set a = c.function.arguments %}",
      "+ <|assistant|>{% if not m.tool_calls or m.tool_calls and text %}{{ text }}{% endif %}{% for c in m.tool_calls or [] %}{% set a = c.function.arguments %}"]),
    ("tool-calls-lost", GOOD, "{% else %}\n", "{% elif m.role == 'user' or m.role == 'system' %}\n",
     ["- {% elif m.role == 'user' or m.role == 'system' %}",
      "+ {% elif m.role in ['user', 'tool'] or m.role == 'system' %}"]),
]
# fmt: on


@pytest.mark.parametrize(
    ("rule", "source", "good", "bad", "lines"), TABLE, ids=[f"{row[0]}-{n}" for n, row in enumerate(TABLE)]
)
def test_the_fault_is_mended_and_nothing_else(rule, source, good, bad, lines) -> None:
    result = mended(without(source, good, bad) if good else source, rule)
    assert changes(result) == lines
    assert [one.rule.name for one in result.fixed] == [rule]
    assert not result.unfixed


def test_what_is_mended_stays_mended() -> None:
    once = mended(BARE)
    assert once.fixed
    assert not mended(once.text).fixed


def test_carriage_returns_stay() -> None:
    source = without(GOOD, "m.content or ''", "m.content").replace("\n", "\r\n")
    assert mended(source, "null-content-printed").text == GOOD.replace("\n", "\r\n")


def test_a_fix_that_would_change_what_passed_is_not_made() -> None:
    """A refusal in words is a limit that the template states: no fix may take it away."""
    source = without(
        GOOD,
        "{% for m in messages %}",
        "{% for m in messages %}{% if m.content is none %}{{ raise_exception('no nulls') }}{% endif %}",
    )
    assert mended(source).text == source


def test_a_place_that_no_case_reaches_is_not_edited() -> None:
    dead = "{% if messages[0].content == 'never said' %}\n{{ messages[0].content }}\n{% endif %}\n"
    source = dead + BARE
    result = mended(source, "content-shape")
    assert result.text.startswith(dead)
    assert result.text != source


TWO_PLACES = """\
{% for m in messages %}{% if m.role == 'user' %}<|user|>{{ m.content }}
{%- else %}<|{{ m.role }}|>{{ m.content }}{% endif %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
"""


def test_what_time_was_too_short_for_is_said(monkeypatch) -> None:
    monkeypatch.setattr("chatlint.fix.mend.FIX_SECONDS", 0.0)
    result = mended(TWO_PLACES, "content-shape")
    assert result.text == TWO_PLACES
    assert [left.why for left in result.unfixed] == [
        "nothing was tried, because 0 seconds of CPU time are used up"
    ]


def test_what_may_be_more_than_needed_is_said(monkeypatch) -> None:
    assert [one.note for one in mended(TWO_PLACES, "content-shape").fixed] == [""]
    monkeypatch.setattr("chatlint.fix.mend._TRIES", 1)
    assert [one.note for one in mended(TWO_PLACES, "content-shape").fixed] == [
        "perhaps in more places than needed, because enough changes were tried"
    ]


def test_objections() -> None:
    """The proof itself, with changes that no rule would offer."""
    broken = without(GOOD, "m.content or ''", "m.content")
    package = package_of(broken)
    with examined(package, package.templates[0], Settings()) as old:
        name = next(name for name in old.causes if name[0] == "null-content-printed")

        def against(source: str, lines=()) -> str:
            other = package_of(source)
            with examined(other, other.templates[0], Settings()) as new:
                return objection(old, new, name, lines)

        assert against(GOOD) == ""
        assert against(broken) == "the finding stays"
        assert against(without(GOOD, "<|end|>' }}", "<|eot|>' }}")) != ""
        assert "would give another prompt" in against(without(GOOD, "'<|' + m.role", "'<||' + m.role"))
        assert (
            against(without(GOOD, "{{ t | tojson }}", "{{ t }}"))
            == "it would bring python-literals-in-output"
        )
        dead = "{% if messages[0].content == 'never said' %}\nnothing\n{% endif %}\n"
        assert against(dead + GOOD, (1,)) == ""
        assert against(dead + GOOD, (2,)) == "no case reaches the place"


TEXTS_ALONE = (
    "m.content | map(attribute='text') | join if m.content is iterable and m.content is not string "
    "and m.content is not mapping"
)


@pytest.mark.parametrize("written", ["{{ m.content }}", "{{ '' + m.content }}"])
def test_what_is_no_text_is_printed_or_refused_as_before(written) -> None:
    source = without(BARE, "{{ m.content }}", written)
    result = mended(source, "content-shape")
    assert result.fixed
    other = package_of(result.text)
    with Trace(package_of(source).templates[0]) as old, Trace(other.templates[0]) as new:
        for probe in ("results/list", "media/image-first", "media/two-images"):
            before, after = old.see(probe), new.see(probe)
            assert (before.text, before.failure) == (after.text, after.failure)
        assert new.see("content/two-parts").text == "<|user|>WalnutKestrel<|end|>\n<|assistant|>"


@pytest.mark.parametrize(
    ("written", "lost"),
    [
        ("{{ m.content }}", "/messages/0/content/1/type of media/audio"),
        ("{{ '' + m.content }}", "/messages/0/content/1/type of media/audio"),
    ],
)
def test_a_fix_that_makes_values_vanish_is_no_fix(written, lost) -> None:
    """Also in conversations that no rule asks about."""
    source = without(BARE, "{{ m.content }}", written)
    package, naive = (
        package_of(source),
        package_of(without(BARE, "m.content", f"{TEXTS_ALONE} else m.content")),
    )
    with (
        examined(package, package.templates[0], Settings()) as old,
        examined(naive, naive.templates[0], Settings()) as new,
    ):
        name = next(name for name in old.causes if name[0] == "content-shape")
        assert objection(old, new, name) == f"{lost} would be lost"


def test_every_way_gives_edits_that_fit() -> None:
    """On the rules' own bad examples: edits lie inside the source and do not overlap."""
    from chatlint.render.grammar import normalised
    from chatlint.rules.edits import edited

    tried = 0
    for rule in all_rules():
        if rule.own:
            continue
        source = rule.page.example("bad")
        package = package_of(source)
        with examined(package, package.templates[0], Settings()) as state:
            mendings = [cause.mending for _, cause in state.causes.values()]
        for mending in filter(None, mendings):
            tried += check(normalised(source), mending, edited)
    assert tried > 20


def check(source: str, mending: Mending, edited) -> int:
    tried = 0
    for edits in mending.ways(source):
        ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
        assert all(0 <= edit.start <= edit.end <= len(source) for edit in ordered)
        assert all(first.end <= second.start for first, second in pairwise(ordered))
        assert edited(source, edits) != source
        tried += 1
    return tried


def test_what_is_mended_is_written_as_its_other_form() -> None:
    """The text of parts, encoded, shows everything, and is still another prompt than the text."""
    odd = "{% for m in messages %}{% set c = m.content %}{% if c is not string %}{% set c = c | tojson %}{% endif %}"
    source = without(BARE, "{% for m in messages %}", odd).replace("{{ m.content }}", "{{ c }}")
    result = mended(source, "content-shape")
    assert "| tojson %}{% endif %}" in result.text
    assert "{% set c = m.content | map(" in result.text
