"""From a place in the file back to the template, exactly, through JSON escapes."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.source.package import TemplatePlace
from chatlint.source.place import file_position, json_place, template_position

LINE_BREAK = re.compile(r"\r\n|\r|\n")


@given(st.text(st.sampled_from('ab"\\\t\n\r\u00e9\U0001f600{%')), st.booleans())
def test_back_and_forth(text, ascii_only):
    written = json.dumps(text, ensure_ascii=ascii_only)
    file = '{\n "chat_template": ' + written + ', "b": 1}'
    place = json_place("tokenizer_config.json", "/chat_template", file, file.index(written, 5))
    for line, content in enumerate(LINE_BREAK.split(text), start=1):
        for column in range(1, len(content) + 1):
            assert template_position(place, *file_position(place, line, column)) == (line, column)


@pytest.mark.parametrize(("position", "expected"), [((3, 5), (3, 5)), ((1, 0), (1, 0))])
def test_a_template_file_is_its_own_place(position, expected):
    assert template_position(TemplatePlace("a.jinja"), *position) == expected
