"""Engines behind one Protocol: the real ones where they are installed, programs and servers that pose as them
elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from chatlint.config import Settings
from chatlint.conversation import Conversation
from chatlint.engines import process
from chatlint.engines.engine import EngineAbsent, EngineFailed, Job, Outcome
from chatlint.engines.find import ENGINES, known, open_engine
from chatlint.engines.huggingface_js import PLACE as JS_PLACE
from chatlint.engines.llama_cpp import PLACE as LLAMA_PLACE
from chatlint.engines.outcomes import outcomes
from chatlint.errors import UsageError
from chatlint.probe.case import Observation
from chatlint.render.rendered import FIXED_CLOCK
from chatlint.rules.divergence import difference
from chatlint.rules.run import run
from chatlint.rules.selection import Selection
from chatlint.text import Prompt
from tests.rules.subjects import subject_of

USER = ({"role": "user", "content": "Walnut <b>"},)
ECHO = "{% for m in messages %}\n  {% if true %}\n[{{ m.content }}]\n  {% endif %}\n{% endfor %}\n{{ tools is defined }}"


def job(**variables):
    given = {"messages": list(USER), "tools": None, **variables}
    return Job(given, Conversation(USER), True)


def opened(name, monkeypatch=None):
    try:
        return open_engine(name, FIXED_CLOCK)
    except EngineAbsent as reason:
        pytest.skip(f"{name}: {reason}")


# -- minijinja -----------------------------------------------------------------------------------------------


def test_minijinja_is_set_up_as_careful_hosts_do():
    engine = opened("minijinja")
    assert engine.version[0].isdigit()
    source = ECHO + "{{ messages[0] | tojson }} {{ 'ab'.title() }} {{ strftime_now('%d %b %Y') }}"
    (outcome,) = engine.render_all(source, [job()])
    assert outcome == Outcome('[Walnut <b>]\nFalse{"role": "user", "content": "Walnut <b>"} Ab 14 Mar 2026')


def test_stock_minijinja_escapes_and_bare_minijinja_does_not_trim():
    stock, bare = opened("minijinja-stock"), opened("minijinja-bare")
    (outcome,) = stock.render_all("{{ messages[0].content | tojson }}", [job()])
    assert outcome.text == '"Walnut \\u003cb\\u003e"'
    assert bare.render_all(ECHO, [job()]) != stock.render_all(ECHO, [job()])


def test_each_job_fails_for_itself():
    engine = opened("minijinja")
    source = "{{ raise_exception('no thanks') if x else 'fine' }}"
    fine, refused = engine.render_all(source, [job(x=False), job(x=True)])
    assert fine == Outcome("fine")
    assert refused.text is None
    assert "no thanks" in refused.error


def test_a_template_that_it_cannot_read_fails_every_job():
    engine = opened("minijinja")
    found = engine.render_all("{% generation %}x{% endgeneration %}", [job(), job()])
    assert [one.text for one in found] == [None, None]
    assert "unknown statement generation" in found[0].error


def test_a_hostile_template_ends():
    engine = opened("minijinja")
    source = "{% for a in range(99999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}"
    (outcome,) = engine.render_all(source, [job()])
    assert "fuel" in outcome.error


# -- @huggingface/jinja --------------------------------------------------------------------------------------


def test_the_real_javascript_engine():
    engine = opened("huggingface-js")
    source = "{{ messages[0].content }} {{ 2.0 }} {{ true }} {{ strftime_now('%d %b %Y') }}"
    fine, broken = engine.render_all(source, [job(), job(messages=None)])
    assert fine == Outcome("Walnut <b> 2.0 true 14 Mar 2026")
    assert broken.text is None
    assert broken.error


PACKAGE = """
exports.Template = class {
  constructor(source) { if (source.includes("broken")) throw new Error("cannot read"); this.source = source; }
  render(variables) {
    if (variables.x) throw new Error("no " + variables.x);
    return this.source + ("tools" in variables) + new Date().getFullYear();
  }
};
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of the same name, for node to find."""
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    folder = tmp_path / "node_modules" / "@huggingface" / "jinja"
    (folder / "dist").mkdir(parents=True)
    (folder / "dist" / "index.cjs").write_text(PACKAGE)
    facts = {"name": "@huggingface/jinja", "version": "9.9.9", "main": "./dist/index.cjs"}
    (folder / "package.json").write_text(json.dumps(facts))
    monkeypatch.delenv(JS_PLACE, raising=False)
    return tmp_path


def test_the_package_is_found_from_the_working_directory(package, monkeypatch):
    monkeypatch.chdir(package)
    engine = open_engine("huggingface-js", FIXED_CLOCK)
    assert engine.version == "9.9.9"
    assert engine.render_all("t:", [job(), job(x="thanks")]) == (
        Outcome("t:false2026"),
        Outcome(None, "no thanks"),
    )
    assert engine.render_all("broken", [job()]) == (Outcome(None, "cannot read"),)


@pytest.mark.parametrize("inside", ["", "node_modules/@huggingface/jinja"])
def test_the_package_is_found_where_the_variable_says(package, monkeypatch, inside):
    monkeypatch.setenv(JS_PLACE, str(package / inside))
    assert open_engine("huggingface-js", FIXED_CLOCK).version == "9.9.9"


def test_what_to_install_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv(JS_PLACE, str(tmp_path))
    with pytest.raises(EngineAbsent, match="npm install @huggingface/jinja"):
        open_engine("huggingface-js", FIXED_CLOCK)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineAbsent, match=r"install Node\.js"):
        open_engine("huggingface-js", FIXED_CLOCK)


# -- llama.cpp -----------------------------------------------------------------------------------------------

FAKE = f"""#!{sys.executable}
import json, sys
options, template = dict(zip(sys.argv[2:6:2], sys.argv[3:7:2])), sys.argv[6]
variables = json.load(open(options["--json"]))
if "tools" in variables:
    sys.exit("error: no tools here")
open(options["--output"], "w").write(open(template).read() + variables["messages"][0]["content"])
"""


@pytest.mark.skipif(os.name != "posix", reason="the program is a script")
def test_a_program_of_llama_cpp(tmp_path, monkeypatch):
    program = tmp_path / "test-chat-template"
    program.write_text(FAKE)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv(LLAMA_PLACE, str(program))
    engine = open_engine("llama.cpp", FIXED_CLOCK)
    assert engine.render_all("\ud800", [job()])[0].text is None  # no UTF-8 has it
    assert engine.render_all("t\n", [job(), job(tools=[])]) == (
        Outcome("t\nWalnut <b>"),
        Outcome(None, "error: no tools here"),
    )


def test_a_server_of_llama_cpp(httpserver, monkeypatch):
    httpserver.expect_request("/props").respond_with_json({"chat_template": "t", "build_info": "b9000"})
    httpserver.expect_request("/apply-template", method="POST").respond_with_json({"prompt": "p"})
    monkeypatch.setenv(LLAMA_PLACE, httpserver.url_for(""))
    engine = open_engine("llama.cpp", FIXED_CLOCK)
    assert (engine.version, engine.host) == ("b9000", "llama.cpp")
    assert engine.render_all("t\n", [job()]) == (Outcome("p"),)
    with pytest.raises(EngineFailed, match="another template"):
        engine.render_all("other", [job()])


def test_llama_cpp_is_absent_unless_it_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv(LLAMA_PLACE, raising=False)
    with pytest.raises(EngineAbsent, match=LLAMA_PLACE):
        open_engine("llama.cpp", FIXED_CLOCK)
    monkeypatch.setenv(LLAMA_PLACE, str(tmp_path / "none"))
    with pytest.raises(EngineAbsent, match="no program"):
        open_engine("llama.cpp", FIXED_CLOCK)


# -- programs ------------------------------------------------------------------------------------------------


def program(code):
    return process.ask_program([sys.executable, "-c", code], {"a": "\ud800"})


def test_programs_are_bounded(monkeypatch):
    monkeypatch.setattr(process, "ENGINE_SECONDS", 0.5)
    monkeypatch.setattr(process, "ENGINE_ANSWER_BYTES", 1000)
    with pytest.raises(EngineFailed, match="did not finish"):
        program("import time; time.sleep(60)")
    with pytest.raises(EngineFailed, match="more than 1,000 bytes"):
        program("import sys\nwhile True: sys.stdout.write('x' * 1000)")


@pytest.mark.skipif(os.name != "posix", reason="the program is started by another")
def test_what_a_program_starts_ends_with_it(monkeypatch):
    monkeypatch.setattr(process, "ENGINE_SECONDS", 0.5)
    started = time.monotonic()
    with pytest.raises(EngineFailed, match="did not finish"):
        process.ask_program(["/bin/sh", "-c", "sleep 30; true"], {})
    assert time.monotonic() - started < 20


def test_of_what_a_program_says_the_last_is_kept():
    ran = process.run_program(
        [sys.executable, "-c", "import sys; sys.stderr.write('x' * 3_000_000 + ' the end'); print(5)"]
    )
    assert (ran.answer.strip(), ran.code) == (b"5", 0)
    assert ran.words.endswith(" the end")
    assert len(ran.words) == 300


def test_last_words_of_a_program_that_breaks():
    with pytest.raises(EngineFailed, match="status 3: out of luck"):
        program("import sys; print('out of luck', file=sys.stderr); sys.exit(3)")
    with pytest.raises(EngineFailed, match="cannot be run"):
        process.ask_program(["/no/such/program"], {})


@pytest.mark.parametrize("answer", [{}, {"results": []}, {"results": [1]}, {"results": [{}]}])
def test_answers_of_another_shape(answer):
    with pytest.raises(EngineFailed, match="another shape"):
        outcomes(answer, 1)


def test_names():
    assert known(["minijinja", "minijinja", "llama.cpp"]) == ("minijinja", "llama.cpp")
    with pytest.raises(UsageError, match="no engine 'minjinja'") as error:
        known(["minjinja"])
    assert "'minijinja'" in error.value.hint
    assert len(ENGINES) == len(set(ENGINES))


# -- the rule ------------------------------------------------------------------------------------------------


def divergences(source, *engines, monkeypatch=None):
    with subject_of(source, learned=False) as subject:
        subject.settings = replace(Settings(), engines=engines)
        judged = run(subject, Selection(select=("engine-divergence",)))
        assert not judged.failures
        return judged


GOOD = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content if m.content is string else '' }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)

PARTING = [
    (GOOD, None, None),
    (GOOD + "{{ 1e20 }}", "info", "writes numbers in another way"),
    (GOOD + "{% generation %}{% endgeneration %}", "error", "cannot use the template"),
    (GOOD + "{% for m in messages if m.role == 'system' %}{{ 'ab'.rsplit('a') | length }}{% endfor %}", "warning", "no method named rsplit"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "severity", "words"), PARTING)
def test_what_minijinja_does_otherwise_is_explained(source, severity, words):
    opened("minijinja")
    findings = divergences(source, "minijinja").findings
    if severity is None:
        assert findings == ()
        return
    (found,) = [one for one in findings if one.severity == severity]
    assert words in found.message
    assert found.message.startswith("minijinja ")
    assert found.hosts == ("minijinja",)


OURS = "<|user|>{}<|end|>"
TEXTS = [
    ("None", "", "none", "is `None` in Python only"),
    ("None", "null", "none", "is `None` in Python only"),
    ("True", "true", "booleans", "is `True` in Python only"),
    ("2.0", "2", "numbers", "numbers in another way"),
    ("1e+20", "100000000000000000000.0", "numbers", "numbers in another way"),
    ("['a', 'b']", '["a", "b"]', "containers", "is Python's in Python only"),
    ("{'a': 1}", '{"a": 1}', "containers", "is Python's in Python only"),
    ('"<b>"', '"\\u003cb\\u003e"', "escapes", "`tojson` escapes"),
    ("a\n\nb", "a\nb", "blanks", "the blanks around tags"),
    ("Walnut", "walnut", "text", "writes 'walnut' for 'Walnut'"),
]


@pytest.mark.parametrize(("ours", "theirs", "key", "words"), TEXTS)
def test_differences_are_explained(ours, theirs, key, words):
    observation = Observation(None, Prompt(OURS.format(ours), ()), None)
    assert difference(observation, Outcome(OURS.format(ours))) is None
    found = difference(observation, Outcome(OURS.format(theirs)))
    assert found.key == key
    assert words in found.message
    assert found.start >= len("<|user|>")


def test_the_first_difference_is_shown():
    opened("minijinja-stock")
    source = GOOD.replace("m.content if", "(m.content ~ '<x>') | tojson if")
    (found,) = divergences(source, "minijinja-stock").findings
    (evidence,) = found.evidence
    assert evidence.text[evidence.start : evidence.end] == "<"
    assert "\\\\u003cx" in evidence.note
    assert "`tojson` escapes" in found.message


def test_a_failure_without_a_line_is_laid_to_what_is_known_to_fail(package, monkeypatch):
    monkeypatch.setenv(JS_PLACE, str(package))
    source = GOOD + "\n{{ 'ab'.rsplit('a') | length }}{# broken #}"
    (found,) = divergences(source, "huggingface-js").findings
    assert found.severity == "error"
    assert "cannot read (`.rsplit()` is known to fail there)" in found.message
    assert found.location.line == 3


def test_absent_engines_are_not_evaluated_and_others_are(monkeypatch):
    monkeypatch.delenv(LLAMA_PLACE, raising=False)
    opened("minijinja")
    judged = divergences(GOOD + "{{ 1e20 }}", "llama.cpp", "minijinja")
    assert [one.rule for one in judged.findings] == ["engine-divergence"]
    ((rule, reason),) = judged.unevaluated
    assert rule == "engine-divergence"
    assert reason.startswith("llama.cpp: set CHATLINT_LLAMA_CPP")


def test_nothing_is_said_where_no_engine_was_asked_for():
    judged = divergences(GOOD + "{{ none }}")
    assert judged.findings == judged.unevaluated == ()


def test_engines_of_the_program_are_packaged():
    import chatlint.engines

    folder = Path(chatlint.engines.__file__).parent
    assert {"minijinja_program.py", "huggingface_js.cjs"} <= {one.name for one in folder.iterdir()}
