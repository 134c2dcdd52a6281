"""Dates in prompts: whose they are, how often they change, and what stands there without a clock."""

from __future__ import annotations

import pytest

from chatlint.rules.run import run
from chatlint.rules.selection import Selection
from tests.rules.subjects import subject_of

CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
GUARD = "{% if strftime_now is defined %}Today is {{ strftime_now('%d %b %Y') }}.{% endif %}\n"
DAILY = ("info", "the prompt holds the date ('14 Mar 2026'), which changes once a day")
BREAKS = ("warning", "breaks on hosts without `strftime_now`")


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("", []),
        (GUARD, [DAILY]),
        ("Today is {{ strftime_now('%d %b %Y') }}.\n", [BREAKS, DAILY]),
        (
            "{% set d = strftime_now('%d %b %Y') if strftime_now is defined else '26 Jul 2024' %}Today Date: {{ d }}\n",
            [("warning", "without a clock the template gives '26 Jul 2024' as the date"), DAILY],
        ),
        (
            GUARD.replace("%d %b %Y", "%Y-%m-%d %H:%M"),
            [
                (
                    "warning",
                    "the prompt holds the date ('2026-03-14 15:09'), which changes with the time of day",
                )
            ],
        ),
        ("Today Date: 26 Jul 2024\n", [("warning", "the template gives '26 Jul 2024' as the date")]),
        (
            "Today is {today}, yesterday was {yesterday}, {name}.\n",
            [("warning", "a place for a date is printed as it is: {today}, {yesterday}")],
        ),
        ("{{ 'Today is {today}.'.replace('{today}', 'a day') }}\n", []),
        ("Knowledge cutoff: 2024-06-01\nYour knowledge base was last updated on 2023-10-01.\n", []),
        ("{% if tools %}" + GUARD + "{{ tools }}{% endif %}", [DAILY]),
    ],
)
def test_dates(head: str, found: list[tuple[str, str]]) -> None:
    with subject_of(head + CHAT, learned=False) as subject:
        judged = run(subject, Selection(("clock",)))
    assert judged.failures == ()
    assert [(one.severity.value, one.message) for one in judged.findings] == found


def test_a_date_in_a_message_is_nobody_s_business() -> None:
    with subject_of(CHAT, learned=False) as subject:
        assert run(subject, Selection(("clock",))).findings == ()
