"""Turns cut out of prompts."""

from __future__ import annotations

from chatlint.infer.turns import COUNTER, SAME_KEY, SAME_NAME, Part, turn_of
from chatlint.probe.trace import Trace
from tests.infer.learned import ARGUMENTS, TEXT, each_call, keyed, template, turns


def turn(text, probe, index=-1, **axes):
    return turn_of(Trace(template(text)).see(probe, **axes), index)


def test_lead_slot_and_tail():
    found = turn(turns(TEXT), "roles/user-assistant", generation="off")
    assert found.lead == "<|end|><|assistant|>"
    assert [(slot.part, found.raw[slot.start : slot.end]) for slot in found.slots] == [
        (Part.CONTENT, "Juniper")
    ]
    assert found.tail == "<|end|>"
    assert found.last


def test_a_turn_ends_before_the_next_message():
    found = turn(turns(TEXT), "roles/user-assistant-user")
    assert found.tail == "<|end|><|user|>"
    assert not found.last


def test_the_same_name_and_key_again_become_placeholders():
    body = "<{{ c.function.name }}>" + keyed("<{{ k }}>{{ v }}</{{ k }}>") + "</{{ c.function.name }}>"
    found = turn(turns(each_call(body)), "calls/one", generation="off")
    assert [slot.part for slot in found.slots] == [Part.NAME, Part.KEY, Part.VALUE, Part.KEY, Part.VALUE]
    assert found.literal(found.slots[2].end, found.slots[3].start) == f"</{SAME_KEY}><"
    assert found.tail == f"</{SAME_KEY}></{SAME_NAME}><|end|>"


def test_a_counter_becomes_a_placeholder():
    found = turn(
        turns(each_call("{{ loop.index0 }}:{{ c.function.name }}" + ARGUMENTS)), "calls/two", generation="off"
    )
    assert found.lead.endswith(f"<|assistant|>{COUNTER}:")


def test_nothing_of_the_message_shows():
    assert turn(turns("silence"), "roles/user-assistant") is None


def test_role_and_type_are_structure():
    text = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    assert turn(text, "roles/user-assistant", generation="off").lead == "<assistant>"
