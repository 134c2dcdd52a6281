"""Where a model writes as its template does, readers wait for the usual text; else all is read as ever."""

from __future__ import annotations

import re

import pytest

from chatlint.parse.events import ArgumentsDelta, ToolCallEnd, ToolCallStart
from chatlint.parse.formats import OutputFormat, Syntax, ToolCalls
from chatlint.parse.layouts import Layouts
from chatlint.parse.markers import marker
from chatlint.parse.message import assemble
from chatlint.parse.notation import Members, Values
from chatlint.parse.plans import plan_of
from chatlint.parse.seams import NONE, Seam, exact
from tests.parse.catalogue import CATALOGUE
from tests.parse.reading import TOOLS, calls_of, chunks_of, read, stream
from tests.parse.test_hostile import work
from tests.parse.writer import write

beyond = re.compile(r"[^\w]").search
SEAM = Seam("</v>\n<k=", beyond, ["</v>\n</c"])
QWEN = CATALOGUE["qwen_xml"].output
ELEMENTS = (
    "<tool_call>\n<function=get_weather>\n<parameter=city>\n{city}\n</parameter>\n"
    "<parameter=days>\n{days}\n</parameter>\n</function>\n</tool_call>"
)
OBJECT = (
    '<tool_call>\n{{"name": "get_weather", "arguments": {{"city": "{city}", "days": {days}}}}}\n</tool_call>'
)


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("", True),
        ("<", True),
        ("</v>\n<k", True),
        ("</v>\n<k=", True),
        ("</v>\n<k=ab", True),
        ("</v>\n<k=ab>", False),
        ("</v>\n</", True),
        ("</v>\n</c", False),
        ("</v>\n</cx", False),
        ("</v> ", False),
        ("</v>\n<k=" + "a" * 100, False),
    ],
)
def test_beginnings_of_a_seam(text: str, begun: bool) -> None:
    assert SEAM.begun(text, 0) == begun
    assert SEAM.begun("value" + text, 5) == begun


def test_no_seam_is_never_begun() -> None:
    assert not any(NONE.begun(text, 0) for text in ("", "<", "a"))


def test_exact_text_ends_at_a_slot() -> None:
    assert exact("</v>\n", "<k=⟨key⟩>⟨value⟩") == "</v>\n<k="
    assert exact("a⟨⟨⟩", "b") == "a⟨b"


def test_seams_of_a_layout() -> None:
    calls = QWEN.tool_calls
    layout = plan_of(QWEN).layout
    (way,) = {id(way): way for _, way in layout.ways.entries}.values()
    assert (way.seam.text, way.joins) == ("\n</parameter>\n<parameter=", True)
    assert way.over == "\n</parameter>\n</function>"
    assert layout.first == "<parameter="
    assert calls.members


def test_no_key_is_certain_where_another_mark_may_stand() -> None:
    """What begins the next member may also come to begin what ends the call."""
    ends = [mark for mark in [marker("<k=end>")] if mark]
    (way,) = {
        id(w): w for _, w in Layouts(Values(), ends, "").top(Members("<k=⟨key⟩>⟨value⟩</v>")).ways.entries
    }.values()
    assert not way.joins


def usual(form: str, count: int) -> str:
    """Calls as the template writes them, no call like another."""
    return "\n".join(form.format(city=f"City of {chr(65 + i % 26)}{i * i}", days=i * 7) for i in range(count))


@pytest.mark.parametrize(("name", "form", "most"), [("qwen_xml", ELEMENTS, 14), ("hermes_json", OBJECT, 13)])
def test_usual_calls_cost_few_function_calls_a_chunk(name: str, form: str, most: float) -> None:
    output, text = CATALOGUE[name].output, usual(form, 40)
    work(output, text, 4)
    assert work(output, text, 4) / (len(text) / 4) < most


UNUSUAL = [
    lambda text: text.replace("\n", ""),
    lambda text: text.replace("\n", "\n\n"),
    lambda text: text.replace(">\n<", "> \n\t<"),
    lambda text: text.replace("</parameter>\n<parameter", "</parameter><parameter"),
    lambda text: text.replace("</function>\n", "</function> "),
    lambda text: text.replace("<tool_call>\n<function", "<function"),
    lambda text: text.replace("</function>\n</tool_call>", "</tool_call>"),
]


@pytest.mark.parametrize("change", UNUSUAL)
def test_marks_written_otherwise_are_read_the_same(change) -> None:
    text = change(usual(ELEMENTS, 3))
    found = calls_of(read(QWEN, text, cuts=True))
    assert [(name, arguments["days"]) for name, arguments in found] == [
        ("get_weather", i * 7) for i in range(3)
    ]
    assert [arguments["city"].strip() for _, arguments in found] == ["City of A0", "City of B1", "City of C4"]


@pytest.mark.parametrize(
    "name", ["qwen_xml", "glm45_xml_kv", "hermes_json", "deepseek_v4_dsml", "gemma4", "kimi_k3_xtml"]
)
def test_a_text_may_end_anywhere(name: str) -> None:
    output = CATALOGUE[name].output
    calls = [("get_weather", {"city": "Paris", "days": 3}), ("now", {}), ("get_weather", {"city": "Rome"})]
    text = write(
        output,
        content="",
        reasoning="",
        calls=calls,
        ids=[f"functions.{n}:{i}" for i, (n, _) in enumerate(calls)],
    )
    for end in range(len(text)):
        whole = output.parser(tools=TOOLS).parse(text[:end])
        for size in (1, 4):
            assert assemble(stream(output, chunks_of(text[:end], size), tools=TOOLS)) == whole, (end, size)


def test_a_value_that_holds_the_beginning_of_a_seam() -> None:
    city = "a\n</parameter>\n<parameter b\n</parameter>\nx"
    text = ELEMENTS.format(city=city, days=3)
    assert calls_of(read(QWEN, text, cuts=True)) == [("get_weather", {"city": city, "days": 3})]


def test_the_end_of_a_call_is_said_when_its_mark_has_come() -> None:
    parser = QWEN.parser(tools=TOOLS)
    parser.feed("<tool_call>\n<function=get_weather>\n<parameter=days>\n3\n</parameter>\n</functio")
    assert parser.feed("n>") == [ArgumentsDelta(0, "3}"), ToolCallEnd(0, "")]


def test_the_next_call_is_said_when_its_name_has_come() -> None:
    parser = QWEN.parser(tools=TOOLS)
    for chunk in chunks_of(ELEMENTS.format(city="Rome", days=1) + "\n<tool_call>\n<function=no", 4):
        parser.feed(chunk)
    assert parser.feed("w>") == [ToolCallStart(1, "", "now")]


def test_a_value_without_marks_after_a_nested_object() -> None:
    output = CATALOGUE["gemma4"].output
    text = '<|tool_call>call:now{e:{a:<|"|>X<|"|>},f:0}<tool_call|>'
    assert calls_of(read(output, text, cuts=True)) == [("now", {"e": {"a": "X"}, "f": 0})]


def test_marks_may_be_very_long() -> None:
    """The beginnings of a mark are kept: of one that long they would fill the memory."""
    long = "x" * 200_000
    members = Members(f"<k=⟨key⟩>⟨value⟩</{long}>\n")
    calls = ToolCalls(
        call_start="<c=",
        body="⟨name⟩>⟨arguments⟩",
        call_end=f"</c {long}>",
        syntax=Syntax.TEXT,
        members=members,
    )
    output = OutputFormat(tool_calls=calls)
    assert all(len(way.seam.beginnings) < 1000 for _, way in plan_of(output).layout.ways.entries)
    text = f"<c=now><k=a>1</{long}>\n<k=b>2</{long}>\n</c {long}>"
    expected = [("now", {"a": 1, "b": 2})] * 2
    assert calls_of(output.parser(tools=TOOLS).parse(text * 2)) == expected
    chunks = [text[:99_999], text[99_999:] + text[:7], text[7:300_001], text[300_001:]]
    assert calls_of(assemble(stream(output, chunks, tools=TOOLS))) == expected
