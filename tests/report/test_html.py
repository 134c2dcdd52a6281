"""The page: one file without a script, every prompt whole and coloured by origin."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from chatlint import check
from chatlint.config import Settings
from chatlint.probe.trace import Trace
from chatlint.report import REPORTERS
from chatlint.report.canvas import Canvas
from chatlint.report.html_prompts import Asked, coloured
from chatlint.report.prompt import origin_style
from chatlint.source.load import load
from chatlint.verdict import Report

VOID = {"meta", "br", "img", "input", "link"}


class Page(HTMLParser):
    """The elements of a page; complains where they do not nest."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.ids, self.links, self.text = [], [], [], [], []
        self.styled = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        assert not any(name.startswith("on") for name in given), given
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        if tag not in VOID:
            self.open.append((tag, given.get("class", "")))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if ("style", "") not in self.open:
            self.text.append(data)
            classes = [kind for tag, kind in self.open if tag in ("a", "span")]
            self.styled.append((classes[-1] if classes else "", data, ("i", "") in self.open))


def page_of(report):
    return Page(REPORTERS["html"](report, Canvas()))


@pytest.mark.parametrize("target", ["corpus:qwen3", "corpus:harmony", "corpus:command-r7b"])
def test_a_page_is_whole(target, tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path))
    report = check(target)
    page = page_of(report)
    assert "script" not in page.tags
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids), "every link leads to a place"
    text = "".join(page.text)
    for template in report.targets[0].templates:
        assert all(finding.message.replace("`", "") in text for finding in template.findings)
        assert all(line.strip() in text for line in template.template.text.splitlines())


def test_the_fixed_report_has_everything(report):
    text = "".join(page_of(report).text)
    for said in (
        "models/theirs has no chat template",
        "processor_config.json",
        "double-bos",
        "system must come first",
        "as it was trained",
    ):
        assert said in text


def test_a_hostile_report_stays_text(hostile):
    page = page_of(hostile)
    assert {"script", "img", "input"}.isdisjoint(page.tags)
    assert "]]></script></pre><img src=x onerror=y>\"'&" in "".join(page.text)
    assert all(link.startswith("#") for link in page.links)


@pytest.mark.parametrize("case", ["roles/system-user", "calls/one-result", "reasoning/followed"])
def test_every_character_has_the_colour_of_its_origin(case):
    with Trace(load("corpus:qwen3").templates[0]) as trace:
        prompt = trace.ask(trace.case_of(case)).prompt
    middle = len(prompt.text) // 2
    html = "".join(coloured(prompt, 0, len(prompt.text), (middle, middle + 7), "t0"))
    page = Page(f"<pre>{html}</pre>")
    shown = [(kind, data) for kind, data, newline_sign in page.styled if not newline_sign]
    assert "".join(data for _, data in shown) == prompt.text
    expected = [
        (origin_style(span.origin), character) for span in prompt.spans for character in prompt.piece(span)
    ]
    assert [(kind, character) for kind, data in shown for character in data] == expected


def test_the_place_is_marked():
    with Trace(load("corpus:chatml").templates[0]) as trace:
        prompt = trace.ask(trace.case_of("roles/system-user")).prompt
    start = prompt.text.index("Walnut") if "Walnut" in prompt.text else 5
    html = "".join(coloured(prompt, 0, len(prompt.text), (start, start + 6), "t0"))
    marked = html[html.index("<mark>") : html.rindex("</mark>")]
    assert prompt.text[start : start + 6] in "".join(Page(f"<pre>{marked}</mark></pre>").text)


def test_a_case_that_nobody_knows_has_no_prompt(report):
    target = report.targets[0]
    with Asked(Settings(cache=False), target, target.templates[0]) as asked:
        assert asked.prompt("calls/one") is not None
        assert asked.prompt("no/such-case") is None
        assert asked.prompt("") is None


def test_a_finding_of_another_host_is_asked_there(report):
    target = report.targets[0]
    with Asked(Settings(cache=False), target, target.templates[0]) as asked:
        here, there = (asked.prompt("calls/one", hosts) for hosts in ((), ("transformers-4.57",)))
        assert here is not None
        assert there is not None
        assert "None" not in here.text
        assert "None" in asked.prompt("calls/one@content=null", ("transformers-4.57",)).text
        assert asked.prompt("calls/one", ("no-such-host",)) is None


def test_a_template_that_does_not_compile_has_a_page(tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text("{% for m in messages %}")
    text = "".join(page_of(check(str(path), cache=False)).text)
    assert "does not compile" in text or "Unexpected end of template" in text


def test_many_targets_have_an_index(report):
    page = page_of(Report(Settings(), report.targets * 2))
    assert [link for link in page.links if link in ("#t0", "#t1", "#t2", "#t3")] == [
        "#t0",
        "#t1",
        "#t2",
        "#t3",
    ]
