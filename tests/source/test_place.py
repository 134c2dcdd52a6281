"""Template positions map to file positions exactly, in JSON strings too."""

from __future__ import annotations

import json
import re

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.source.found import Reader, templates_in
from chatlint.source.json_text import read_json
from chatlint.source.package import TemplatePlace
from chatlint.source.place import file_position

LINE_BREAK = re.compile(r"\r\n|\r|\n")
ODD = st.text(st.sampled_from('ab"\\/\t\n\r\b\u00e9\u2028\x0b\x85\U0001f600\ud800{%nu0'), max_size=40)
ANY = st.one_of(ODD, st.text(st.characters(codec=None), max_size=40))


def spelled(text: str, choices: list[bool]) -> str:
    """A JSON string in which each character is escaped or not, as the choices have it."""
    written = []
    for index, character in enumerate(text):
        plain = json.dumps(character, ensure_ascii=False)[1:-1]
        escaped = "".join(f"\\u{unit:04X}" for unit in utf16(character))
        must_escape = "\ud800" <= character <= "\udfff"  # a file cannot hold it otherwise
        written.append(escaped if must_escape or (choices and choices[index % len(choices)]) else plain)
    return '"' + "".join(written) + '"'


def utf16(character: str) -> list[int]:
    data = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


def character_at(file: str, line: int, column: int) -> str:
    """The character of the template that the file spells at this position, by an independent reading."""
    rest = file.split("\n")[line - 1][column - 1 :]
    match = re.match(r'\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u.{4}|\\.|[^"\\]', rest)
    assert match, rest[:10]
    return json.loads(f'"{match.group()}"', strict=False)


@given(
    text=ANY, choices=st.lists(st.booleans(), max_size=7), form=st.sampled_from(["string", "list", "object"])
)
def test_every_character_is_found_in_its_file(text, choices, form):
    string = spelled(text, choices)
    value = {
        "string": string,
        "list": '[{"name": "x", "template": "é"},\n   {"template": ' + string + ', "name": "default"}]',
        "object": '{"x": "é",\n "default": ' + string + "}",
    }[form]
    file = (
        '{"bos_token": "\\u00e9é",\r\n\n  "chat_template" : ' + value + ',\n"z": [1, {"chat_template": 2}]}'
    )
    source = read_json("tokenizer_config.json", file.encode())
    found = {item.name: item for item in templates_in(source, Reader.TOKENIZER_CONFIG, [])}["default"]
    text = json.loads(string)
    assert found.text == text
    for line, content in enumerate(LINE_BREAK.split(text), start=1):
        for column, character in enumerate(content, start=1):
            assert character_at(file, *file_position(found.place, line, column)) == character


@given(ODD)
def test_lines_are_counted_as_jinja_counts_them(text):
    text = text.replace("{", "(")
    file = json.dumps({"chat_template": text})
    place = templates_in(read_json("f", file.encode()), Reader.TOKENIZER_CONFIG, [])[0].place
    tokens = list(jinja2.Environment().lexer.tokeniter(text + "{{ x }}", None))
    assert tokens[-1][0] == len(place.line_starts)


def test_the_end_of_a_line_is_where_its_break_is_written():
    file = '{"chat_template": "ab\\u000d\\ncd"}'
    place = templates_in(read_json("f", file.encode()), Reader.TOKENIZER_CONFIG, [])[0].place
    assert [file_position(place, 1, column)[1] - file.index("ab") for column in (1, 2, 3, 4)] == [1, 2, 3, 3]
    assert file_position(place, 2, 9) == (1, file.index('"}') + 1)


@pytest.mark.parametrize("line", [0, 4])
def test_a_line_that_is_not_there_is_answered_with_itself(line):
    file = '{"chat_template": "a\\nb"}'
    place = templates_in(read_json("f", file.encode()), Reader.TOKENIZER_CONFIG, [])[0].place
    assert file_position(place, line, 1) == (line, 1)


def test_a_template_file_is_its_own_place():
    assert file_position(TemplatePlace("a.jinja"), 3, 5) == (3, 5)


def test_a_byte_order_mark_counts_for_nothing():
    file = '{"chat_template": "ab"}'
    place = templates_in(read_json("f", b"\xef\xbb\xbf" + file.encode()), Reader.TOKENIZER_CONFIG, [])[
        0
    ].place
    assert file_position(place, 1, 1) == (1, file.index("ab") + 1)
