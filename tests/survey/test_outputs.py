"""Tables of a survey: counts that add up, pages that hold whatever templates say, and the same page every time."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64decode
from html.parser import HTMLParser

import pytest

from chatlint.config import Profile, Settings
from chatlint.survey.crew import open_crew
from chatlint.survey.outputs import write_outputs
from chatlint.survey.record import FILE, Record
from chatlint.survey.run import run_survey
from chatlint.survey.summary import selected, sentences
from chatlint.survey.tally import tally_of
from chatlint.survey.targets import Named, named_targets
from chatlint.survey.words import percent

from .conftest import CHATTY

HOSTILE = "\x1b[31m<script>alert(1)</script>\"'><img src=x onerror=alert(2)>`|`</td>]]>\u202e\ud800\x00 [x](javascript:x) "


class Page(HTMLParser):
    """Elements, ids and links of a page."""

    VOID = ("meta", "br", "img", "link", "input")

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.scripts, self.attributes = [], [], [], [], set()
        self._script = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        named = dict(attrs)
        self.attributes |= set(named)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if "href" in named else []
        self._script = tag == "script"

    def handle_data(self, data):
        if self._script:
            self.scripts.append(data)
            self._script = False


def result_of(text):
    """A result in which every text is the same."""
    answer = {"support": "partial", "evidence": [text], "note": text}
    found = {
        "rule": text, "code": text, "severity": "error", "confidence": "high", "message": text, "consequence": text,
        "location": {"file": text, "line": 3, "column": 1}, "cases": [text, "b", "c", "d"],
    }  # fmt: skip
    calls = {"section_start": text, "call_start": text, "body": text, "call_end": text, "section_end": text}
    return {
        "sha256": "0" * 64,
        "bytes": 7,
        "capabilities": {"tools": answer, text: answer},
        "findings": [found, {**found, "severity": "info"}],
        "format": {
            "tool_format": text,
            "reasoning": {"start": text, "end": text},
            "tool_calls": calls,
            "saved": {"header": text, "tool_calls": {"members": {"member": text}}},
        },
        "stops": {"end_of_turn": [text]},
        "generation_prompt": {"reasoning": text},
        "tool_result": {"turn": text, "before": text, "after": text},
        "round_trips": {"passed": 1, "failed": 1},
        "limits": [{"message": text, "line": 1, "cases": [text]}],
        "not_evaluated": [{"rule": text, "reason": text}],
    }


@pytest.fixture
def hostile(tmp_path):
    with Record(tmp_path, {}) as record:
        template = {
            "name": HOSTILE,
            "file": HOSTILE,
            "sha256": "0" * 64,
            "key": HOSTILE,
            "result": result_of(HOSTILE),
        }
        record.add({"target": HOSTILE, "status": "checked", "failure": None, "templates": [template]})
        failure = {"stage": "load", "message": HOSTILE, "hint": HOSTILE}
        record.add({"target": HOSTILE + "2", "status": HOSTILE, "failure": failure, "templates": []})
    write_outputs(
        tmp_path / FILE,
        [HOSTILE, HOSTILE + "2"],
        HOSTILE,
        Settings(host=HOSTILE, select=("a", HOSTILE), ignore=(HOSTILE,), severities={HOSTILE: HOSTILE}),
    )
    return tmp_path


def test_a_page_shows_what_templates_say_and_obeys_none_of_it(hostile):
    text = (hostile / "survey.html").read_text()
    page = Page(text)
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert "onerror" not in page.attributes
    assert all(link.startswith("#") for link in page.links)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)


def test_the_policy_allows_one_script_and_nothing_else(hostile):
    text = (hostile / "survey.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1].replace("&#x27;", "'")
    (script,) = Page(text).scripts
    digest = re.search(r"script-src 'sha256-([^']+)'", policy)[1]
    assert b64decode(digest) == hashlib.sha256(script.encode()).digest()
    assert policy.startswith("default-src 'none'")
    assert "://" not in text


def test_markdown_shows_what_templates_say_and_obeys_none_of_it(hostile):
    markdown_it = pytest.importorskip("markdown_it")
    text = (hostile / "survey.md").read_text()
    page = Page(markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    assert not {"script", "img"} & set(page.tags)
    assert set(page.links) == {"survey.html", "metrics.json"}
    assert page.tags.count("table") == 7
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)


def test_metrics_of_hostile_names_are_json(hostile):
    assert json.loads((hostile / "metrics.json").read_text())["targets"] == 2


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    named = named_targets(
        [f"corpus:{name}" for name in ("chatml", "qwen3", "llama-3", "deepseek-v3.1", "harmony")]
    )
    named = (*named, Named("corpus:qwen3", "a copy"), Named("corpus:nothing", "missing"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CHATLINT_CACHE_DIR", str(folder / "store"))
        path = run_survey(named, folder, Settings(), open_crew("", 1))
    return path, [one.name for one in named]


def written(surveyed, names=None):
    path, all_names = surveyed
    write_outputs(path, names or all_names, "Five formats", Settings())
    return {name: (path.parent / name).read_text() for name in ("survey.md", "survey.html", "metrics.json")}


def test_the_counts_add_up(surveyed):
    metrics = json.loads(written(surveyed)["metrics.json"])
    assert (metrics["targets"], metrics["targets_not_judged"], metrics["templates"]) == (7, 1, 5)
    for counts in metrics["capabilities"].values():
        assert sum(counts.values()) == 5
    assert sum(metrics["worst_finding"].values()) == 5
    assert metrics["tool_result_turns"] == {"own": 3, "not shown": 1, "user": 1}
    assert sum(metrics["calls"].values()) == 4
    assert metrics["capabilities"]["tools"] == {
        "yes": 4,
        "partial": 0,
        "no": 1,
        "raises": 0,
        "unknown": 0,
        "does_not_compile": 0,
    }
    for rule in metrics["rules"].values():
        assert rule["templates"] == sum(rule.get(severity, 0) for severity in ("error", "warning", "info"))


@pytest.fixture(scope="module")
def half_known(tmp_path_factory):
    """Two templates that can be evaluated, one without marks; one that does not compile; one without an answer."""
    folder = tmp_path_factory.mktemp("half")
    texts = {
        "marked": CHATTY + "{% if add_generation_prompt %}<|assistant|>{% endif %}",
        "bare": "{% for m in messages %}{{ m.content }}{% endfor %}",
        "broken": "{% for m in messages %}",
        "endless": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    }
    for name, text in texts.items():
        (folder / f"{name}.jinja").write_text(text)
    named = [Named(str(folder / f"{name}.jinja"), name) for name in texts]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CHATLINT_CACHE_DIR", str(folder / "store"))
        path = run_survey(named, folder, Settings(), open_crew("", 1))
    return path, list(texts)


def test_what_is_not_known_is_not_counted_as_none(half_known):
    said = ["".join(sentence) for sentence in sentences(tally_of(half_known[0]))]
    assert said[:3] == [
        "4 targets hold 4 different templates.",
        "2 of them could be evaluated: 1 does not compile, 1 gave no answer.",
        "Of these none show the model the tools it has, none the calls it made.",
    ]
    made = written(half_known)
    assert "\n| string content | all | 2 |  |  |  | 1 | 1 |\n" in made["survey.md"]
    assert "\n| tools | none |  |  | 2 |  | 1 | 1 |\n" in made["survey.md"]
    assert "\nNone was found in 1 template. 2 templates could not be evaluated.\n" in made["survey.md"]
    assert "None was found in 1 template. 2 templates could not be evaluated." in made["survey.html"]
    metrics = json.loads(made["metrics.json"])
    assert (metrics["templates"], metrics["templates_evaluated"]) == (4, 2)
    assert metrics["templates_that_do_not_compile"] == 1
    for counts in (*metrics["capabilities"].values(), metrics["worst_finding"]):
        assert sum(counts.values()) == 4
    for name in ("tool_result_turns", "generation_prompt_leaves_reasoning"):
        assert metrics[name]["unknown"] == 2
        assert sum(metrics[name].values()) == 4


def test_the_share_of_a_fault_is_of_the_templates_in_which_it_was_looked_for(half_known):
    rules = json.loads(written(half_known)["metrics.json"])["rules"]
    assert (rules["syntax"]["templates"], rules["syntax"]["of"]) == (1, 4)
    assert (rules["unbounded-work"]["templates"], rules["unbounded-work"]["of"]) == (1, 3)
    assert (rules["forged-turns"]["templates"], rules["forged-turns"]["of"]) == (1, 2)
    assert "| forged-turns | CT901 | 1 | 2 | 50% |" in written(half_known)["survey.md"]


@pytest.mark.parametrize("kept", [True, False])
def test_a_survey_of_what_cannot_be_evaluated(half_known, tmp_path, monkeypatch, kept):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(half_known[0].parent / "store"))
    named = [Named(str(half_known[0].with_name(f"{name}.jinja")), name) for name in ("broken", "endless")]
    settings = Settings() if kept else Settings(select=("CT4",))
    path = run_survey(named, tmp_path, settings, open_crew("", 1))
    write_outputs(path, ("broken", "endless"), "Nothing", settings)
    said = ["".join(sentence) for sentence in sentences(tally_of(path), settings)]
    assert said[1] == "None of them could be evaluated: 1 does not compile, 1 gave no answer."
    if kept:
        assert said[2] == "Of the templates all have an error, all an error or a warning."
    else:
        assert said[2:] == ["Rules: only CT4.", "No rule could judge any of them."]
    worst = json.loads((tmp_path / "metrics.json").read_text())["worst_finding"]
    assert worst == ({"error": 2} if kept else {"unknown": 2})
    assert "none show" not in (tmp_path / "survey.html").read_text()


def test_a_survey_replaces_what_a_survey_wrote(surveyed, tmp_path):
    """Each of its files is known as one, alone too."""
    path, names = surveyed
    title = "A title " * 100
    (tmp_path / FILE).write_bytes(path.read_bytes())
    write_outputs(tmp_path / FILE, names, title, Settings())
    Record(tmp_path, {}).close()
    for name in ("survey.md", "survey.html", "metrics.json"):
        alone = tmp_path / f"{name} alone"
        alone.mkdir()
        (alone / name).write_bytes((tmp_path / name).read_bytes())
        Record(alone, {}).close()


def test_a_survey_says_which_rules_were_asked(surveyed, tmp_path):
    path, names = surveyed
    settings = Settings(
        select=("CT3", "tools"),
        ignore=("CT9",),
        profile=Profile.TRAINING,
        severities={"no-bos": "info"},
        per_target_ignores={"org/*": ("CT5", "CT6")},
    )
    said = (
        "Rules: only CT3, tools without CT9; org/* without CT5, CT6.",
        "Severities are those of the profile training.",
        "Severities of their own: no-bos = info.",
    )
    assert tuple("".join(sentence) for sentence in selected(settings)) == said
    assert ["".join(one) for one in selected(Settings(ignore=("CT9",)))] == ["Rules: all without CT9."]
    assert list(selected(Settings())) == []
    (tmp_path / FILE).write_bytes(path.read_bytes())
    write_outputs(tmp_path / FILE, names, "Some rules", settings)
    assert json.loads((tmp_path / "metrics.json").read_text())["selection"] == {
        "select": ["CT3", "tools"],
        "ignore": ["CT9"],
        "per_target_ignores": {"org/*": ["CT5", "CT6"]},
        "profile": "training",
        "severities": {"no-bos": "info"},
    }
    text = (tmp_path / "survey.md").read_text()
    assert text.count("Rules: only `CT3`, `tools` without `CT9`; `org/*` without `CT5`, `CT6`.") == 2
    page = (tmp_path / "survey.html").read_text()
    assert page.count("Rules: only ") == 2
    assert "have an error by the rules that were asked" in page
    for name, text in written(surveyed).items():
        assert ("Rules: " in text, "by the rules that were" in text) == (False, False), name


def test_the_same_results_make_the_same_files_whatever_their_order(surveyed, tmp_path):
    path, names = surveyed
    first = written(surveyed)
    head, *lines, last = path.read_text().splitlines(keepends=True)
    other = tmp_path / FILE
    other.write_text(head + "".join(reversed(lines)) + last)
    again = written((other, names))
    # The copy of qwen3 comes first now, without the result, which stands in a later line.
    assert again == first or json.loads(again["metrics.json"]) == json.loads(first["metrics.json"])


def test_every_cell_leads_to_its_evidence(surveyed):
    page = Page(written(surveyed)["survey.html"])
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)
    answers = sum(link.startswith("#q") for link in page.links)
    capabilities = len(tally_of(surveyed[0]).answers)
    assert answers == 5 * capabilities


def test_only_the_named_targets_count(surveyed):
    """The first line with a template may be another target's."""
    metrics = json.loads(written(surveyed, ["a copy"])["metrics.json"])
    assert (metrics["targets"], metrics["templates"]) == (1, 1)
    assert metrics["capabilities"]["tools"]["yes"] == 1


def test_the_page_says_it_in_short(surveyed):
    said = ["".join(sentence) for sentence in sentences(tally_of(surveyed[0]))]
    assert said[0] == "7 targets hold 5 different templates. 1 could not be judged."
    assert said[1].startswith("Of the templates 80% show the model the tools it has")
    text = written(surveyed)["survey.md"]
    assert "| tools | 80% | 4 |  | 1 |  |  |" in text
    assert "the corpus has no entry 'nothing'" in text


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (0, 9, "none"),
        (1, 900, "under 1%"),
        (1, 3, "33%"),
        (999, 1000, "99%"),
        (3, 3, "all"),
        (0, 0, "unknown"),
    ],
)
def test_shares_in_words(part, whole, said):
    assert percent(part, whole) == said


def test_facts_only_says_nothing_that_a_template_says(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    template = tmp_path / "t.jinja"
    template.write_text(
        "Secretsystemtext {% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('Secretrefusal') }}"
        "{% endif %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{{ missing.name }}"
    )
    path = run_survey([Named(str(template), "mine")], tmp_path, Settings(), open_crew("", 1), texts=False)
    write_outputs(path, ["mine"], "Facts", Settings())
    for name in (FILE, "survey.html", "survey.md", "metrics.json"):
        text = (tmp_path / name).read_text()
        assert "Secret" not in text
        assert str(tmp_path) not in text
    (line,) = [json.loads(line) for line in path.read_text().splitlines() if '"target":' in line]
    assert {finding["rule"] for finding in line["templates"][0]["result"]["findings"]}
