"""Findings name the hosts in which they hold, and those that hide them; and little is rendered for it."""

from __future__ import annotations

import pytest

from chatlint.rules.run import run
from chatlint.rules.selection import Selection
from tests.rules.subjects import subject_of

ALL = ("transformers-5.24", "transformers-4.57", "vllm", "llama.cpp")
TOOLS = "{% if tools %}{{ tools | tojson }}\n{% endif %}"
END = "<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
STRINGS = TOOLS + "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}" + END
TWICE = (
    TOOLS + "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}" + END
)


def only(source, rule, **kwargs):
    with subject_of(source, **kwargs) as subject:
        judged = run(subject, Selection(select=(rule,)))
        assert not judged.failures
        return judged.findings


def test_parts_are_texts_before_servers_hand_them_on():
    (found,) = only(STRINGS, "content-shape")
    assert found.hosts == ALL[:2]
    assert found.hidden_on == ALL[2:]


def test_arguments_are_objects_before_servers_hand_them_on():
    (found,) = only(TWICE, "argument-shape")
    assert found.hosts == ALL[:2]
    assert found.hidden_on == ALL[2:]


def test_what_a_host_hides_of_one_case_only_is_not_hidden():
    """A developer message becomes system text there; two questions in a row stay two, and are refused."""
    source = (
        "{% set first = 1 if messages[0].role == 'system' else 0 %}{% for m in messages[first:] %}"
        "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}"
        "{% endif %}<|{{ m.role }}|>{{ messages[0].content if loop.first and first }}{{ m.content }}" + END
    )
    (found,) = [one for one in only(source, "role-support") if "refused" in one.message]
    assert {"roles/developer", "roles/two-users"} <= set(found.cases)
    assert found.hosts == ALL
    assert found.hidden_on == ()


LIST_ONLY = (
    "{% for m in messages %}<|{{ m.role }}|>{% for part in m.content %}{{ part.text }}{% endfor %}" + END
)


def test_what_is_lost_holds_where_it_is_lost():
    """Contents are lists in vLLM where the template loops over them, and texts in transformers."""
    (found,) = only(LIST_ONLY, "content-shape")
    assert found.message.startswith("content must be a list of parts; a text is lost")
    assert found.hosts[:2] == ALL[:2]
    assert found.hidden_on == ("vllm",)


def test_what_no_host_changes_holds_in_all():
    source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    (found,) = only(source, "generation-prompt")
    assert found.hosts == ALL
    assert found.hidden_on == ()


NULL_PRINTED = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}"
    + END
)


@pytest.mark.parametrize(
    ("host", "severity"),
    [("transformers-5.24", "warning"), ("vllm", "warning"), ("transformers-4.57", "error")],
)
def test_a_rule_that_names_its_hosts_is_believed(host, severity):
    """A fault of an older host alone is an error only for who checks for that."""
    (found,) = only(NULL_PRINTED, "null-content-printed", host=host)
    assert (found.hosts, found.severity) == (("transformers-4.57",), severity)


@pytest.mark.parametrize("host", ALL)
def test_each_host_can_be_the_subjects_own(host):
    (found,) = only(
        STRINGS.replace("{% if add_generation_prompt %}<|assistant|>{% endif %}", ""),
        "generation-prompt",
        host=host,
    )
    assert found.hosts[0] == host
    assert set(found.hosts) == set(ALL)


def test_what_another_host_is_given_as_well_is_rendered_once():
    with subject_of(STRINGS) as subject:
        run(subject)
        renders = {host: subject.elsewhere(host).renders for host in ALL[1:]}
        asked = {host: len(subject.elsewhere(host).observations) for host in ALL[1:]}
    assert asked["transformers-4.57"] > 0
    assert renders["transformers-4.57"] == 0
    assert renders["vllm"] <= 6
    assert renders["llama.cpp"] <= 6


def test_what_another_trace_shows_says_nothing_of_hosts():
    """Rendered without trimming, which no host that is compared does."""
    source = "{% for m in messages %}\n<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}\n<|assistant|>"
    (found,) = only(source, "whitespace-environment")
    assert found.hosts == ALL[:1]
    assert found.hidden_on == ()
