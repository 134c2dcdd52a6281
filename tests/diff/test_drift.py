"""What changed between two templates: cosmetic or not, and where it shows first."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.config import Settings
from chatlint.diff.drift import SCHEMA, Sameness, compare
from chatlint.diff.prompts import parting
from chatlint.diff.sides import read_side, read_sides
from chatlint.diff.terminal import alike, value_words
from chatlint.errors import TargetError, UsageError
from chatlint.facts import FactChange, fact_changes
from chatlint.pipeline import check
from tests.source.gguf_files import write_gguf

PLAIN = """{%- for m in messages -%}
<|{{ m.role }}|>{{ m.content }}{%- for c in m.tool_calls or [] -%}
<call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>
{%- endfor -%}<|end|>
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}"""


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))


@pytest.fixture
def side(tmp_path):
    def read(text, name="a"):
        path = tmp_path / f"{name}.jinja"
        path.write_text(text)
        return read_side(str(path), Settings())

    return read


@pytest.fixture
def drift(side):
    def compared(first, second):
        found = compare(side(first, "a"), side(second, "b"), Settings())
        (template,) = found.templates
        assert found.sameness is template.sameness
        assert found.exit_code == (template.sameness in ("behavioural", "unknown"))
        return template

    return compared


def test_the_same_template(drift):
    template = drift(PLAIN, PLAIN)
    assert template.sameness is Sameness.SAME
    assert (template.facts, template.findings, template.prompts) == ((), (), ())
    assert template.cases > 250


@pytest.mark.parametrize(
    "other",
    [
        PLAIN.replace("m.content", "(m.content)"),
        PLAIN.replace("for m in messages", "for m  in  messages"),
        "{#- a remark -#}" + PLAIN,
        PLAIN.replace("{%- if add_generation_prompt -%}", "{%- if add_generation_prompt == true -%}"),
        PLAIN.replace("<|end|>", "{{ '<|' + 'end|>' }}"),
    ],
)
def test_another_text_that_does_the_same_is_cosmetic(drift, other):
    template = drift(PLAIN, other)
    assert template.sameness is Sameness.COSMETIC
    assert (template.prompts, template.facts) == ((), ())


def test_a_mark_that_changed_shows_once_with_its_place_and_cases(drift):
    template = drift(PLAIN, PLAIN.replace("<call>", "<do>"))
    (change,) = template.prompts
    assert change.kind == "text"
    assert (change.first.changed, change.second.changed) == ("<call>", "<do>")
    assert (change.first.line, change.first.column) == (3, 1)
    assert change.first.before.endswith("<|assistant|>")
    assert len(change.cases) > 30
    assert change.cases[0] == min(change.cases, key=lambda case: (len(case), case))
    assert ("format", "tool_calls/call_start", "<call>", "<do>") in [
        (one.part, one.path, one.first, one.second) for one in template.facts
    ]


def test_what_is_lost_is_named_by_its_pointer(drift):
    template = drift(
        PLAIN, PLAIN.replace("{{ m.content }}", "{% if m.role != 'tool' %}{{ m.content }}{% endif %}")
    )
    origins = {origin for change in template.prompts for origin in change.first.origins}
    assert "input /messages/2/content" in origins
    assert {one.path for one in template.facts if one.part == "capabilities"} >= {"tool_results"}
    assert any(finding.new for finding in template.findings)


def test_a_refusal_is_a_change(drift):
    refusing = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + PLAIN
    refused = drift(PLAIN, refusing)
    (change,) = [one for one in refused.prompts if one.kind == "refused"]
    assert change.second.reason == "declined: TemplateError: no system"
    accepted = drift(refusing, PLAIN)
    assert {one.kind for one in accepted.prompts} == {"accepted"}
    other = drift(refusing, refusing.replace("no system", "not now"))
    assert {one.kind for one in other.prompts} == {"reason"}


def test_what_a_prefix_cache_keeps(drift):
    lost = drift(PLAIN, "<bos>" + PLAIN).cached_prefix
    assert (lost.kept, lost.part) == (0, 0)
    assert lost.lost > 200
    kept = drift(PLAIN, PLAIN.replace("<|assistant|>{%", "<|assistant|><think>{%")).cached_prefix
    assert (kept.lost, kept.part) == (0, 0)
    assert kept.kept > 100
    part = drift(PLAIN, PLAIN.replace("<|end|>", "<|stop|>")).cached_prefix
    assert part.part > 100


def test_switches_are_tried_on_both_sides(drift):
    thinking = PLAIN.replace("<|assistant|>{%", "<|assistant|>{% if quiet %}</think>{% endif %}{%")
    template = drift(PLAIN, thinking)
    assert {case for change in template.prompts for case in change.cases} >= {"roles/user@kwargs.quiet=true"}
    assert "quiet/effect" in {one.path for one in template.facts if one.part == "switches"}


ENDLESS = "{% for a in range(99999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}"
LOOPING = PLAIN + "{% if tools %}" + ENDLESS + "{% endif %}"


def test_cases_behind_a_bound_hide_none_before_it(drift):
    template = drift(LOOPING, LOOPING.replace("<|end|>", "<|fin|>"))
    assert template.sameness is Sameness.BEHAVIOURAL
    changed = {case for change in template.prompts for case in change.cases}
    assert {"roles/user", "roles/system-user"} <= changed
    assert "tools/one" not in changed
    assert (template.cases > 100, template.unrendered > 100) == (True, True)
    assert template.obstacles == ("more than 200,000 loop iterations and macro calls, or as much other work",)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (LOOPING, "{#- x -#}" + LOOPING),
        (PLAIN, LOOPING),
        (ENDLESS, ENDLESS + "y"),
        ("{#" + "a" * 1_100_000 + "#}" + PLAIN, "{#" + "b" * 1_100_000 + "#}other"),
        ("{% for m in messages %}", "{% if x %}"),
    ],
)
def test_nobody_knows_what_was_not_rendered(drift, first, second):
    template = drift(first, second)
    assert template.sameness is Sameness.UNKNOWN
    assert template.prompts == ()
    assert template.unrendered > 300
    assert template.cases == 0 or PLAIN in first


def test_the_same_text_is_the_same_whatever_can_be_rendered(drift):
    assert drift(LOOPING, LOOPING).sameness is Sameness.SAME
    assert drift("{% if %}", "{% if %}").sameness is Sameness.SAME


def test_what_does_not_compile_any_more_changed(drift):
    template = drift(PLAIN, PLAIN + "{% if %}")
    assert template.sameness is Sameness.BEHAVIOURAL
    assert template.prompts[0].kind == "refused"
    assert template.unrendered < template.cases


def test_other_tokens_are_not_the_same_where_nothing_is_rendered(side):
    first = side("{{ bos_token }}" + ENDLESS)
    tokens = replace(first.templates["default"], special_tokens={"bos_token": "<x>"})
    found = compare(first, replace(first, templates={"default": tokens}), Settings())
    assert (found.sameness, found.exit_code) == (Sameness.UNKNOWN, 1)


def test_special_tokens_count(tmp_path, side):
    first = side("{{ bos_token }}" + PLAIN)
    template = first.templates["default"]
    tokens = replace(template, special_tokens={"bos_token": "<x>"})
    second = replace(first, templates={"default": tokens})
    (found,) = compare(first, second, Settings()).templates
    assert found.sameness is Sameness.BEHAVIOURAL
    assert found.prompts[0].first.origins == ("special bos_token",)


@pytest.fixture
def saved(tmp_path, side):
    def write(text, name):
        side(text, name)
        report = check(str(tmp_path / f"{name}.jinja")).to_dict()
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(report))
        return path

    return write


def test_saved_reports_are_compared_by_their_facts(saved, tmp_path):
    one, other = saved(PLAIN, "one"), saved(PLAIN.replace("<call>", "<do>"), "other")
    found = compare(read_side(str(one), Settings()), read_side(str(other), Settings()), Settings())
    assert found.sameness is Sameness.BEHAVIOURAL
    assert found.templates[0].prompts is None
    same = compare(read_side(str(one), Settings()), read_side(str(one), Settings()), Settings())
    assert (same.sameness, same.exit_code) == (Sameness.SAME, 0)
    mixed = compare(
        read_side(str(one), Settings()), read_side(str(tmp_path / "one.jinja"), Settings()), Settings()
    )
    assert mixed.sameness is Sameness.SAME


def test_reports_on_another_text_have_no_prompts_to_say_that_it_does_the_same(saved):
    """Both say the same of what they were asked; the words of the prompt are not in them."""
    one, other = saved("Be kind.\n" + PLAIN, "one"), saved("Be curt.\n" + PLAIN, "other")
    found = compare(read_side(str(one), Settings()), read_side(str(other), Settings()), Settings())
    assert (found.sameness, found.exit_code) == (Sameness.UNKNOWN, 1)


def test_error_for_what_is_no_report_on_one_target(tmp_path):
    report = check("corpus:chatml").to_dict()

    def written(**changes):
        path = tmp_path / "r.json"
        path.write_text(json.dumps({**report, **changes}))
        return str(path)

    with pytest.raises(UsageError, match="several targets"):
        read_side(written(targets=report["targets"] * 2), Settings())
    with pytest.raises(UsageError, match=r"chatlint\.report/2"):
        read_side(written(schema="chatlint.report/2"), Settings())
    with pytest.raises(TargetError, match="was not checked"):
        read_side(written(targets=[{**report["targets"][0], "status": "failed"}]), Settings())
    assert read_side(written(), Settings()).package is None


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda report: report.update(targets={}), "targets: expected a list, found an object"),
        (
            lambda report: report["targets"][0]["templates"][0].update(findings="none"),
            "targets[0] › templates[0] › findings: expected a list, found a text",
        ),
        (
            lambda report: report["targets"][0]["templates"][0].pop("stops"),
            "targets[0] › templates[0]: `stops` is missing",
        ),
        (
            lambda report: report["targets"][0]["templates"][0]["capabilities"]["tools"].update(support=True),
            "targets[0] › templates[0] › capabilities › tools › support: expected",
        ),
        (lambda report: report["targets"].append(3), "targets[1]: expected an object, found 3"),
        (lambda report: report.pop("targets"), "`target` is missing"),
    ],
)
def test_a_damaged_report_is_no_report(tmp_path, damage, said):
    report = json.loads(json.dumps(check("corpus:chatml").to_dict()))
    damage(report)
    path = tmp_path / "r.json"
    path.write_text(json.dumps(report))
    with pytest.raises(UsageError) as raised:
        read_side(str(path), Settings())
    assert raised.value.message.startswith(f"{path} is not a whole report: {said}")


def test_a_line_of_json_lines_is_a_report(tmp_path):
    report = json.loads(json.dumps(check("corpus:chatml").to_dict()))
    path = tmp_path / "r.jsonl"
    line = {"schema": report["schema"], **report["targets"][0]}
    path.write_text(json.dumps(line))
    assert list(read_side(str(path), Settings()).facts) == ["default"]
    path.write_text(json.dumps({**line, "templates": "x"}))
    with pytest.raises(UsageError, match="templates: expected a list, found a text"):
        read_side(str(path), Settings())
    path.write_text(json.dumps({**line, "later": "x", "notes": []}))
    assert read_side(str(path), Settings()).package is None


def test_templates_without_a_counterpart():
    found = compare(
        read_side("corpus:command-r7b", Settings()),
        read_side("corpus:command-a-reasoning", Settings()),
        Settings(),
    )
    assert (found.only_first, found.only_second) == ((), ()) or found.exit_code == 1
    only = compare(
        read_side("corpus:hermes-named", Settings()), read_side("corpus:hermes-json", Settings()), Settings()
    )
    assert only.only_first == ("tool_use",) or only.only_first
    assert only.sameness is Sameness.BEHAVIOURAL


def test_the_comparison_is_json(side):
    found = compare(side(PLAIN, "a"), side(PLAIN.replace("<call>", "<do>"), "b"), Settings())
    data = json.loads(json.dumps(found.to_dict()))
    assert (data["schema"], data["sameness"]) == (SCHEMA, "behavioural")
    assert data["templates"][0]["prompts"][0]["first"]["changed"] == "<call>"


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_texts_part_where_they_differ(common, one, other):
    at = parting(common + one, common + other)
    assert at >= len(common)
    assert (common + one)[:at] == (common + other)[:at]
    assert (common + one)[at : at + 1] != (common + other)[at : at + 1] or common + one == common + other


facts = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b", ""]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", "name"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(facts, facts)
def test_equal_facts_and_only_these_have_no_changes(one, other):
    assert fact_changes({"stops": {"f": one}}, {"stops": {"f": one}}) == ()
    changes = fact_changes({"stops": {"f": one}}, {"stops": {"f": other}})
    for change in changes:
        assert change.part == "stops"
        assert change.first != change.second or type(change.first) is not type(change.second)
    json.dumps([(change.first, change.second) for change in changes])


def test_a_bare_template_is_read_with_the_tokens_of_the_other_side(tmp_path):
    """A model's directory and the .jinja it was made of are the same thing."""
    text = "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}"
    model = tmp_path / "model"
    model.mkdir()
    config = {"bos_token": "<s>", "eos_token": "</s>", "chat_template": text}
    (model / "tokenizer_config.json").write_text(json.dumps(config))
    bare = tmp_path / "bare.jinja"
    bare.write_text(text)
    for names in ((str(model), str(bare)), (str(bare), str(model))):
        drift = compare(*read_sides(*names, Settings()), Settings())
        assert (drift.sameness, drift.exit_code) == (Sameness.SAME, 0)
        assert drift.notes == (f"{bare} is a bare template: it is read with the special tokens of {model}",)
        assert drift.to_dict()["notes"] == list(drift.notes)
    other = compare(*read_sides(str(bare), str(bare), Settings()), Settings())
    assert (other.sameness, other.notes) == (Sameness.SAME, ())
    bare.write_text(text.replace("<{{", "[{{"))
    assert compare(*read_sides(str(model), str(bare), Settings()), Settings()).exit_code == 1


def refusing(*said):
    return {"limits": [{"message": words, "line": 1, "cases": ["a"]} for words in said]}


def declaring(**files):
    stops = {place: [{"id": number, "text": f"<{number}>"} for number in ids] for place, ids in files.items()}
    return {"stops": {"end_of_turn": [], "declared": stops}}


A, B = "a.gguf#tokenizer.ggml.eos_token_id", "b.Q4.GGUF#tokenizer.ggml.eos_token_id"


@pytest.mark.parametrize(
    ("one", "other", "paths"),
    [
        ({A: [2]}, {B: [2]}, set()),
        ({A: [2]}, {A: [2], B: [2]}, set()),
        ({A: [2]}, {B: [3]}, {"declared/GGUF#tokenizer.ggml.eos_token_id"}),
        ({A: [2]}, {"eos_token": [2], "config.json": [2]}, set()),
        ({A: [2]}, {"eos_token": [2], "config.json": [3]}, None),
        ({"eos_token": [2], "config.json": [2, 3]}, {"eos_token": [2, 3]}, {"declared/eos_token"}),
        ({"config.json": [2]}, {"config.json": [3]}, {"declared/config.json"}),
    ],
)
def test_what_a_file_is_called_is_no_behaviour(one, other, paths):
    for first, second in ((one, other), (other, one)):
        found = {change.path for change in fact_changes(declaring(**first), declaring(**second))}
        places = {"/".join(path.split("/")[:2]) for path in found}
        assert places == paths if paths is not None else places


def test_a_gguf_that_was_renamed_is_the_same(tmp_path):
    pytest.importorskip("gguf")
    one = write_gguf(tmp_path / "one.gguf")
    other = tmp_path / "dir" / "other.gguf"
    other.parent.mkdir()
    other.write_bytes(one.read_bytes())
    for second in (other, other.parent):
        drift = compare(*read_sides(str(one), str(second), Settings()), Settings())
        assert (drift.sameness, drift.templates[0].facts) == (Sameness.SAME, ())


def test_refusals_come_and_go_and_none_becomes_another():
    found = fact_changes(refusing("no tools", "no images"), refusing("no images", "no audio"))
    assert [(one.path, one.first, one.second) for one in found] == [
        ("", "no tools", None),
        ("", None, "no audio"),
    ]
    assert fact_changes(refusing("a", "b"), refusing("b", "a")) == ()


def test_equal_changes_are_said_once_with_all_places():
    changes = [
        FactChange("capabilities", "tools", "raises: declined: no", "yes"),
        FactChange("capabilities", "images", "raises: declined: no", "yes"),
        FactChange("capabilities", "audio", "no", "yes"),
        FactChange("limits", "0/message", "raises: declined: no", "yes"),
    ]
    assert [paths for _, paths in alike(changes)] == [["tools", "images"], ["audio"], ["message"]]


@pytest.mark.parametrize(
    ("value", "said"), [("", '""'), (" ", '" "'), ("a b", "a b"), (" a", '" a"'), (None, "nothing"), (3, "3")]
)
def test_values_in_words(value, said):
    assert value_words(value) == said
