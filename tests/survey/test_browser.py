"""The page of a survey in a real browser, where one is at hand: it sorts, and its boxes hide columns."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from chatlint.config import Settings
from chatlint.rules.catalogue import all_rules
from chatlint.survey.crew import open_crew
from chatlint.survey.outputs import write_outputs
from chatlint.survey.run import run_survey
from chatlint.survey.targets import named_targets

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")

ASK = """
<script>
const heads = [...document.querySelector(".matrix thead").rows[1].cells];
const rows = () => [...document.querySelector(".matrix tbody").rows];
const shown = () => heads.filter((head) => getComputedStyle(head).display !== "none").map((head) => head.textContent);
const groups = () => [...document.querySelectorAll(".over th[title]")]
  .filter((head) => getComputedStyle(head).display !== "none")
  .map((head) => [head.textContent, head.colSpan]);
const answer = {all: shown(), groups: groups(), cells: rows()[0].cells.length};
heads[1].click();
answer.errors = rows().map((row) => Number(row.cells[1].textContent));
heads[1].click();
answer.reversed = rows().map((row) => Number(row.cells[1].textContent));
for (const name of ["asked", "found"]) {
  const box = document.getElementById("no-" + name);
  box.checked = true;
  answer[name] = {heads: shown(), groups: groups(),
    cells: [...rows()[0].cells].filter((cell) => getComputedStyle(cell).display !== "none").length};
  box.checked = false;
}
document.body.textContent = "answer " + JSON.stringify(answer) + " end";
</script>
"""


def seen(page, **more):
    """The page's elements after its script ran."""
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, **more).stdout


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    named = named_targets([f"corpus:{name}" for name in ("chatml", "qwen3", "llama-3", "hermes-named")])
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CHATLINT_CACHE_DIR", str(folder / "store"))
        path = run_survey(named, folder, Settings(), open_crew("", 1))
    write_outputs(path, [one.name for one in named], "Four formats", Settings())
    return folder / "survey.html"


def test_the_script_runs_under_the_pages_own_policy(page):
    assert re.search(r"<th[^>]* tabindex=\"0\"", seen(page))


def test_the_matrix_sorts_and_hides(page):
    text = page.read_text(encoding="utf-8")
    asking = page.with_name("asking.html")
    asking.write_text(re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", f"{ASK}</body>"))
    answer = json.loads(re.search("answer (.*) end", seen(asking))[1])
    assert answer["errors"] == sorted(answer["errors"], reverse=True)
    assert answer["reversed"] == sorted(answer["errors"])
    assert answer["cells"] == len(answer["all"]) == 4 + sum(span for _, span in answer["groups"])
    asked, found = answer["asked"], answer["found"]
    for part in (asked, found):
        assert part["cells"] == len(part["heads"]) == 4 + sum(span for _, span in part["groups"])
        assert part["heads"][:4] == answer["all"][:4]
    assert found["heads"][4:] + asked["heads"][4:] == answer["all"][4:]
    assert [label for label, _ in found["groups"]] == ["roles", "content", "tools", "reasoning", "turn"]
    assert {rule.name for rule in all_rules()} > set(asked["heads"][4:]) != set()
