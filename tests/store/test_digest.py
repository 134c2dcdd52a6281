"""Digests: equal for equal things, different for all others; directories are read once."""

from __future__ import annotations

import os
from array import array
from collections import OrderedDict
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.records import dataclass
from chatlint.store import Store
from chatlint.store.digest import directories_digest, value_digest

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@dataclass(frozen=True, slots=True)
class One:
    first: object
    second: object = None


@dataclass(frozen=True, slots=True)
class Other:
    first: object
    second: object = None


@given(plain, plain)
def test_equal_values_and_no_others_have_equal_digests(first, second):
    # repr: True is not 1 here.
    assert (value_digest(One(first)) == value_digest(One(second))) == (repr(first) == repr(second))


def test_what_stands_where_counts():
    values = [
        One(1, 2),
        One(2, 1),
        One((1, 2)),
        Other(1, 2),
        One("1", 2),
        One(b"1", 2),
        One(array("B", b"2"), 2),
    ]
    values += [frozenset("ab"), frozenset("a"), "\ud800", "\\ud800"]
    values += [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
    assert len({value_digest(value) for value in values}) == len(values)
    assert (
        value_digest(MappingProxyType({"a": 1})) == value_digest(OrderedDict(a=1)) == value_digest({"a": 1})
    )


def test_error_for_what_cannot_be_told_apart():
    with pytest.raises(TypeError, match="no digest of object"):
        value_digest([object()])


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "code"
    (folder / "room").mkdir(parents=True)
    (folder / "room" / "a.py").write_text("1")
    (folder / "b.json").write_text("2")
    return folder


def test_a_directory_by_its_contents(folder, tmp_path):
    before = directories_digest([folder])
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "b.json").write_text("2")
    (copy / "room").mkdir()
    (copy / "room" / "a.py").write_text("1")
    assert directories_digest([copy]) == before
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__" / "c.py").write_text("3")
    (copy / "notes.txt").write_text("4")
    assert directories_digest([copy]) == before
    (copy / "room" / "a.py").rename(copy / "room" / "c.py")
    assert directories_digest([copy]) != before


def test_files_are_read_once_and_again_when_they_change(folder, tmp_path, monkeypatch):
    store = Store(tmp_path / "store")
    before = directories_digest([folder], store)
    with monkeypatch.context() as patched:
        patched.setattr("chatlint.store.digest._contents_digest", None)
        assert directories_digest([folder], store) == before
    status = (folder / "b.json").stat()
    (folder / "b.json").write_text("3")
    os.utime(folder / "b.json", ns=(status.st_atime_ns, status.st_mtime_ns))  # as a careful forger would
    assert directories_digest([folder], store) != before
    (folder / "b.json").write_text("2")
    assert directories_digest([folder], store) == before
