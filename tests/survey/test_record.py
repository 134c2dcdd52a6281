"""The file of results: nothing lost, nothing twice, whatever a kill leaves."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.errors import UsageError
from chatlint.survey.record import FILE, Record, read_lines

HEAD = {"by": "1"}


def line(name, *keyed):
    templates = [{"key": key, "result": result} for key, result in keyed]
    return {"target": name, "status": "checked", "templates": templates}


def names(path):
    return [one["target"] for _, one in read_lines(path)]


@given(cut=st.integers(0, 400))
def test_a_file_cut_anywhere_goes_on(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("record")
    lines = [line("a", ("k1", {"x": 1})), line("b", ("k1", None)), line("ü\n\u2028", ("k2", {"y": "ü"}))]
    with Record(folder, HEAD) as record:
        for one in lines:
            record.add(one)
    whole = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(whole[:cut])
    kept = [one for one in lines if whole.find(json.dumps(one, separators=(",", ":")).encode()) >= 0]
    with Record(folder, HEAD) as record:
        assert whole.startswith((folder / FILE).read_bytes()) or cut < whole.index(b"\n")
        done = set(record.done)
        assert done <= {one["target"] for one in kept}
        assert (whole[:cut].count(b"\n") - 1 == len(done)) or not whole[:cut].count(b"\n")
        for one in lines:
            if one["target"] not in record.done:
                record.add(one)
        record.complete({"targets": 3})
    assert sorted(names(folder / FILE)) == sorted(one["target"] for one in lines)


@pytest.mark.parametrize(
    "torn", [b'{"target": "b", "stat', b"\x00\x00\x00", b'{"target": "b"}', b"[1]\n", b"\xff\n"]
)
def test_what_a_kill_left_at_the_end_is_cut_off(tmp_path, torn):
    with Record(tmp_path, HEAD) as record:
        record.add(line("a", ("k", {})))
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole + torn)
    with Record(tmp_path, HEAD) as record:
        assert (record.done, record.known) == ({"a"}, {"k"})
        assert (tmp_path / FILE).read_bytes() == whole


def test_a_complete_survey_or_another_begins_anew(tmp_path):
    for head, complete in ((HEAD, True), (HEAD, False), ({"by": "2"}, False)):
        with Record(tmp_path, head) as record:
            assert record.done == set()
            record.add(line("a"))
            if complete:
                record.complete({})
    assert names(tmp_path / FILE) == ["a"]


def test_what_another_survey_did_not_finish_is_moved_aside(tmp_path):
    said = []
    for other in ("1", "2", "3"):
        with Record(tmp_path, {"by": other}, said.append) as record:
            assert (record.done, record.known) == (set(), set())
            record.add(line(f"of {other}", (other, {})))
    assert names(tmp_path / FILE) == ["of 3"]
    assert [names(tmp_path / f"results-{number}.jsonl") for number in (1, 2)] == [["of 1"], ["of 2"]]
    assert len(said) == 2
    assert f"{tmp_path / FILE} held 1 result of a survey" in said[0]
    assert f"moved to {tmp_path / 'results-1.jsonl'}" in said[0]
    # Named as before, it goes on.
    (tmp_path / "results-1.jsonl").replace(tmp_path / FILE)
    with Record(tmp_path, {"by": "1"}, said.append) as record:
        assert record.done == {"of 1"}
    assert len(said) == 2


def test_nothing_is_moved_where_nothing_was_found_out(tmp_path):
    for other in ("1", "2"):
        with Record(tmp_path, {"by": other}) as record:
            assert record.done == set()
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (FILE, '{"id": 1}\n'),
        (FILE, '{"schema":"chatlint.survey.metrics/1"}'),
        (FILE, "\n"),
        ("survey.md", "# What people said\n"),
        ("survey.html", "<!doctype html>\n<title>Mine</title>"),
        ("metrics.json", '{"accuracy": 1}'),
    ],
)
def test_error_for_a_file_that_no_survey_wrote(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=f"{name} was not written by a survey"):
        Record(tmp_path, HEAD)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: text}


@pytest.mark.parametrize("name", [FILE, "survey.html"])
def test_error_for_a_file_that_is_none(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match=f"{name} was not written by a survey"):
        Record(tmp_path, HEAD)


def test_one_writer_at_a_time(tmp_path):
    pytest.importorskip("fcntl")
    with Record(tmp_path, HEAD), pytest.raises(UsageError, match="another survey is writing"):
        Record(tmp_path, HEAD)


def test_error_for_a_directory_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        Record(tmp_path / "file", HEAD)
