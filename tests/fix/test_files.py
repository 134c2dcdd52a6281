"""A template's new text in the files that hold it, every other byte as it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.errors import TargetError
from chatlint.fix.files import rewrites, why_not, write
from chatlint.fix.mend import Mended
from chatlint.fix.patch import patch
from chatlint.source.load import load

OLD = '{# caf\u00e9 "\U0001f600" #}{% for m in messages %}\n{{ m.content }}\n{% endfor %}'
NEW = OLD.replace("m.content", "m.content or 'a\t\u00fc\"\\'").replace("endfor", "endfor -")


def rewritten(target: Path, new: str = NEW, name: str = "default") -> dict[str, bytes]:
    package = load(str(target))
    return {
        rewrite.path.name: rewrite.content
        for rewrite in rewrites(package, Mended(package.template(name), new))
    }


def test_a_bare_template(tmp_path: Path) -> None:
    path = tmp_path / "t.jinja"
    path.write_bytes(OLD.replace("\n", "\r\n").encode() + b"\r\n")
    assert rewritten(path, NEW + "\n") == {"t.jinja": NEW.replace("\n", "\r\n").encode() + b"\r\n"}


def test_mixed_newlines_stay_where_nothing_changes(tmp_path: Path) -> None:
    path = tmp_path / "t.jinja"
    path.write_bytes(b"a\r\nb\nc\rd\r\ne")
    assert rewritten(path, "a\nb\nX\nY\nd\ne") == {"t.jinja": b"a\r\nb\nX\r\nY\rd\r\ne"}


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_string_in_json(tmp_path: Path, escaped: bool, mark: bytes) -> None:
    """Odd spellings outside the template and inside what stays are kept."""
    inside = (
        json.dumps(OLD, ensure_ascii=escaped)
        .replace("for m", "\\u0066or m")
        .replace("messages", "messa\\u0067es")
    )
    frame = '{ "bos_token" : "<s>",\r\n\t"x": 1.0e+2,  "chat_template":%s , "z": "\\u00e9\u00e9"\n}\n'
    path = tmp_path / "tokenizer_config.json"
    path.write_bytes(mark + (frame % inside).encode())
    (content,) = rewritten(path).values()
    assert json.loads(content.decode("utf-8-sig"))["chat_template"] == NEW
    before, after = (part.encode() for part in frame.split("%s"))
    assert content.startswith(mark + before)
    assert content.endswith(after)
    assert b"\\u0066or m in messa\\u0067es" in content
    assert (b"\\u00fc" in content) is escaped


def test_a_named_template_in_a_list(tmp_path: Path) -> None:
    both = [{"name": "default", "template": OLD}, {"name": "tool_use", "template": OLD + "x"}]
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"chat_template": both}))
    (content,) = rewritten(tmp_path, NEW + "x", "tool_use").values()
    assert json.loads(content) == {"chat_template": [both[0], {**both[1], "template": NEW + "x"}]}


def test_copies_that_say_the_same_are_changed_as_well(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text(OLD)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": OLD}))
    (tmp_path / "chat_template.json").write_text(json.dumps({"chat_template": OLD + "other"}))
    found = rewritten(tmp_path)
    assert found["chat_template.jinja"] == NEW.encode()
    assert json.loads(found["tokenizer_config.json"]) == {"chat_template": NEW}
    assert set(found) == {"chat_template.jinja", "tokenizer_config.json"}


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.jinja"
    path.write_text(OLD)
    package = load(str(path))
    path.write_text("something else")
    with pytest.raises(TargetError, match="not as it was read"):
        rewrites(package, Mended(package.template(), NEW))


def test_a_link_is_left_alone(tmp_path: Path) -> None:
    """As in the Hub's cache, where the content belongs to its hash."""
    (tmp_path / "blob").write_text(OLD)
    link = tmp_path / "t.jinja"
    link.symlink_to("blob")
    package = load(str(link))
    with pytest.raises(TargetError, match="is a link to blob"):
        write(rewrites(package, Mended(package.template(), NEW)))
    assert (tmp_path / "blob").read_text() == OLD


def test_a_file_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "t.jinja"
    path.write_text(OLD)
    os.chmod(path, 0o640)
    package = load(str(path))
    write(rewrites(package, Mended(package.template(), NEW)))
    assert path.read_text() == NEW
    assert path.stat().st_mode & 0o7777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("how", ["read-only", "link", "changed"])
def test_of_several_files_all_are_written_or_none(tmp_path: Path, how: str) -> None:
    first, second = tmp_path / "chat_template.jinja", tmp_path / "tokenizer_config.json"
    first.write_text(OLD)
    second.write_text(json.dumps({"chat_template": OLD}))
    package = load(str(tmp_path))
    made = rewrites(package, Mended(package.template(), NEW))
    if how == "read-only":
        second.chmod(0o444)
    elif how == "link":
        second.rename(tmp_path / "blob")
        second.symlink_to("blob")
    else:
        second.write_text("{}")
    before = sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir())
    with pytest.raises(TargetError):
        write(made)
    assert sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir()) == before


def test_a_name_as_long_as_names_may_be(tmp_path: Path) -> None:
    path = tmp_path / f"{'n' * 249}.jinja"
    path.write_text(OLD)
    package = load(str(path))
    write(rewrites(package, Mended(package.template(), NEW)))
    assert path.read_text() == NEW


def test_what_cannot_be_edited() -> None:
    package = load("corpus:chatml")
    assert "bundled" in why_not(package, package.template())


TEXTS = st.text(st.sampled_from(list('a"\\/\n\r\té\u2028😀{}%')), max_size=12)


@given(TEXTS, TEXTS, TEXTS, TEXTS, st.booleans())
def test_any_change_of_a_json_string(head: str, old: str, new: str, tail: str, escaped: bool) -> None:
    before, after = head + old + tail, head + new + tail
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer_config.json"
        path.write_text(json.dumps({"chat_template": "-" + before}, ensure_ascii=escaped), encoding="utf-8")
        (content,) = rewritten(path, "-" + after).values()
    assert json.loads(content) == {"chat_template": "-" + after}


def test_a_patch(tmp_path: Path) -> None:
    path = tmp_path / "t.jinja"
    path.write_text("a\nb\nc")
    template = load(str(path)).template()
    assert patch(Mended(template, "a\nb\nd"), "t.jinja") == (
        "--- t.jinja\n+++ t.jinja\n@@ -1,3 +1,3 @@\n a\n b\n-c\n\\ No newline at end of file\n"
        "+d\n\\ No newline at end of file\n"
    )
    assert patch(Mended(template, template.text), "t.jinja") == ""
