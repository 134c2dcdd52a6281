"""The block for a model's README."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from chatlint.config import Settings
from chatlint.pipeline import check_target
from chatlint.report.card import BEGIN, END, card
from chatlint.report.markup import md_cell, md_code, md_prose, md_text


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.cells, self.code, self._in = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self._in.append(tag)
        if tag in ("td", "code"):
            (self.cells if tag == "td" else self.code).append("")

    def handle_endtag(self, tag):
        if tag in self._in:
            self._in.remove(tag)

    def handle_data(self, data):
        if "td" in self._in:
            self.cells[-1] += data
        if "code" in self._in:
            self.code[-1] += data


def rendered(text):
    markdown_it = pytest.importorskip("markdown_it", reason="reads Markdown as GitHub does")
    return Page(markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


@pytest.fixture
def carded(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    return lambda target: card(check_target(target, Settings()))


def test_what_a_reader_wants_to_know(carded):
    text = carded("corpus:qwen3")
    assert text.startswith(BEGIN + "\n## Chat template\n")
    assert text.endswith(END + "\n")
    page = rendered(text)
    facts = dict(zip(page.cells[::2], page.cells[1::2], strict=True))
    assert facts["tools"] == facts["several calls in one turn"] == "yes"
    assert "--tool-call-parser hermes" in next(
        told for name, told in facts.items() if name.startswith("vLLM")
    )
    assert "<|im_end|>" in page.code
    assert any("find_tide" in code for code in page.code)


def test_every_template_of_a_package_has_a_card(carded):
    text = carded("corpus:command-r7b")
    assert re.findall(r"^## Chat template \((\w+)\)$", text, re.M) == ["default", "rag"]


PLAIN = """{%- for m in messages -%}
<|{{ m.role }}|>{{ m.content or '' }}{%- for c in m.tool_calls or [] -%}
<call>{{ c.function | tojson }}</call>
{%- endfor -%}<|end|>
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}"""


def test_flags_that_need_more_say_what(carded, tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text(PLAIN)
    cells = rendered(carded(str(path))).cells
    facts = dict(zip(cells[::2], cells[1::2], strict=True))
    for engine, flags in (
        ("vLLM 0.33", "--enable-auto-tool-choice --tool-call-parser hf"),
        ("SGLang 0.5.23", "--tool-call-parser response_template"),
    ):
        assert facts[engine] == (
            f"{flags}, not by themselves: markers and structure that are new; no parser of {engine} reads it: "
            "put the response template (chatlint export --to response-template) into tokenizer_config.json"
        )
    assert facts["llama.cpp 2026-10"] == "--jinja"
    known = rendered(carded("corpus:qwen3")).cells
    assert not any("not by themselves" in cell for cell in known)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ raise_exception('no') }}", "The template gives no prompt for any of the "),
        (
            "{% for m in messages %}{{ m.a.b.c }}{% endfor %}{{ x.y.z }}",
            "The template gives no prompt for any of the ",
        ),
        ("{#" + "a" * 1_100_000 + "#}", "The template was not evaluated: no conversation could be rendered."),
        ("{% for m in messages %}", "The template does not compile."),
    ],
)
def test_a_card_of_what_gives_no_prompt_claims_nothing(carded, tmp_path, text, said):
    path = tmp_path / "t.jinja"
    path.write_text(text)
    card = carded(str(path))
    assert card.startswith(f"{BEGIN}\n## Chat template\n\n{said}")
    assert re.findall(r"^#+ (.*)", card, re.M) == ["Chat template", "Known limits"]
    assert "<sub>Nothing was rendered (sha256 " in card
    assert "| " not in card


def test_calls_that_could_not_be_asked_for_are_not_known(carded, tmp_path):
    path = tmp_path / "t.jinja"
    endless = "{% for a in range(99999) %}" * 2 + "{% endfor %}" * 2
    path.write_text(PLAIN + "{% if tools %}" + endless + "{% endif %}")
    said = "- no conversation with tool calls could be rendered: what parser they need is not known\n"
    assert said in carded(str(path))
    path.write_text(PLAIN)
    assert said not in carded(str(path))


def test_no_heading_stands_over_nothing(carded, tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text("{% for m in messages %}{{ m.content }}\n{% endfor %}")
    card = carded(str(path))
    assert not re.search(r"^#.*\n\n#", card, re.M)
    assert (
        "### How the model writes\n\nNeither reasoning, nor a whole call, nor the end of a turn was seen.\n"
        in card
    )


def test_limits_are_named(carded, tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text(
        "{% if messages[0].role == 'system' %}{{ raise_exception('No system! <b>') }}{% endif %}"
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    )
    text = carded(str(path))
    assert re.search(r"^- .*refused \(TemplateError: No system! &lt;b\\?>\).*`role-support`", text, re.M)
    assert "it refuses" not in text  # that is said already
    assert "`generation-prompt`" in text
    path.write_text("{% for m in messages %}")
    assert "does not compile" in carded(str(path))


def test_a_hostile_report_stays_text(hostile):
    page = rendered(card(hostile.targets[0]))
    assert {"script", "img", "a", "red"}.isdisjoint(page.tags)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", card(hostile.targets[0]))


EVIL = [
    "`",
    "``",
    "a`b``c",
    " x ",
    "|",
    "a|b`",
    "\\",
    "\\|",
    "<b>",
    "[x](y)",
    "*x* _y_ ~~z~~",
    "&lt;",
    "http://x.y",
    "@me",
    "`|`",
]


@pytest.mark.parametrize("text", EVIL)
def test_texts_are_shown_as_they_are(text):
    assert rendered(f"x {md_code(text)} x").code == [text] or rendered(f"x {md_code(text)} x").code == [
        text.strip()
    ]
    table = rendered(f"| a | b |\n|---|---|\n| {md_cell(text)} | {md_text(text)} |\n")
    assert [cell.strip() for cell in table.cells] == [text.strip(), text.strip()]
    assert "a" not in rendered(f"x {md_text(text)} x").tags


def test_code_in_our_own_sentences():
    assert md_prose("set `a|b` to *x*") == "set `a\\|b` to \\*x\\*"
