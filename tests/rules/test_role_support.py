"""Conversations in which nothing tells who said what: enough for a base model, told in any case."""

from __future__ import annotations

import pytest

from chatlint.rules.catalogue import find_rule
from chatlint.rules.finding import Severity
from chatlint.rules.run import causes_of
from tests.rules.subjects import subject_of

LOOP = "{% for m in messages %}BEFORE{{ m.content if m.content is string else m.content[0].text }}AFTER{% endfor %}"


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [
        ("", "", Severity.INFO),
        ("", "\n", Severity.INFO),
        ("[INST] ", " [/INST]", Severity.WARNING),
        ("<|{{ m.role }}|>", "", None),
        ("{{ '<|user|>' if m.role == 'user' else '<|bot|>' }}", "<|end|>", None),
    ],
)
def test_messages_that_nothing_tells_apart(before: str, after: str, severity: Severity | None) -> None:
    source = LOOP.replace("BEFORE", before).replace("AFTER", after)
    with subject_of(source, learned=False) as subject:
        told = [one for one in causes_of(find_rule("role-support"), subject) if one.key == "run together"]
    assert [one.severity for one in told] == ([severity] if severity else [])


def test_a_template_with_roles_of_its_own_is_told_as_well() -> None:
    """It may be for pairs of texts; who chats with it sees one mark around everybody's words."""
    marks = "{% if m.role == 'query' %}<q>{% endif %}[INST] "
    source = LOOP.replace("BEFORE", marks).replace("AFTER", " [/INST]")
    with subject_of(source, learned=False) as subject:
        (told,) = causes_of(find_rule("role-support"), subject)
    assert (told.key, told.severity) == ("run together", Severity.INFO)
    assert "'[/INST][INST]' stands before both" in told.message


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("m.role == 'developer' and not loop.first", "a developer message after system text"),
        ("m.role == 'developer'", "a developer message"),
    ],
)
def test_where_a_developer_message_is_refused(condition: str, said: str) -> None:
    refusal = f"{{% if {condition} %}}{{{{ raise_exception('no') }}}}{{% endif %}}<|{{{{ m.role }}}}|>"
    source = LOOP.replace("BEFORE", refusal).replace("AFTER", "<|end|>")
    with subject_of(source, learned=False) as subject:
        (told,) = causes_of(find_rule("role-support"), subject)
    assert told.message == f"{said}: refused (TemplateError: no)"
    assert told.key == "refused: a developer message"


@pytest.mark.parametrize(
    ("source", "severity"),
    [
        ("{{ raise_exception('no') }}", Severity.ERROR),
        ("{% if messages[0].role != 'functions' %}{{ raise_exception('no') }}{% endif %}x", Severity.WARNING),
    ],
)
def test_a_template_that_takes_no_conversation_is_told(source: str, severity: Severity) -> None:
    with subject_of(source, learned=False) as subject:
        (told,) = causes_of(find_rule("role-support"), subject)
    assert (told.key, told.severity) == ("refuses all", severity)
    assert told.message == "every conversation is refused (TemplateError: no)"


def test_a_template_that_takes_some_conversation_is_not() -> None:
    source = "{% if messages | length == 1 %}{{ raise_exception('no') }}{% endif %}" + LOOP
    with subject_of(source, learned=False) as subject:
        assert "refuses all" not in [one.key for one in causes_of(find_rule("role-support"), subject)]
