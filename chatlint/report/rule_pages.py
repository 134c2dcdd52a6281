"""`docs/rules/`: a page for every rule and an index, made of the rules' docstrings.

python -m chatlint.report.rule_pages docs/rules
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from chatlint.lazy import regex
from chatlint.report.markup import md_prose
from chatlint.rules.catalogue import all_rules
from chatlint.rules.rule import Rule

INDEX = "README.md"
COMMAND = "python -m chatlint.report.rule_pages docs/rules"
_FENCE = regex(r"^```(\S+) (\S+)$", re.M)
_TITLES = {"bad": "Found:", "good": "Right:"}


def rule_pages() -> Mapping[str, str]:
    """The Markdown of each file by its name."""
    pages = {f"{rule.name}.md": _page(rule) for rule in all_rules()}
    return {INDEX: "\n".join(_index()) + "\n", **pages}


def _page(rule: Rule) -> str:
    severities = [f"{severity} in {profile}" for profile, severity in rule.profiles.items()]
    facts = ", ".join([f"**{rule.severity}**", *severities, rule.category, f"since {rule.since}"])
    docstring = _FENCE.sub(_named, rule.docstring.strip())
    return f"{_made(rule)}\n# {rule.name} ({rule.code})\n\n{facts}\n\n{docstring}\n\n[All rules]({INDEX})\n"


def _made(rule: Rule) -> str:
    source = f"chatlint/rules/{rule.category}/{rule.name.replace('-', '_')}.py"
    return f"<!-- Made of {source} by `{COMMAND}`. -->"


def _named(fence: re.Match[str]) -> str:
    """A fence whose name, which is for tests, is a line before it."""
    language, name = fence.groups()
    return f"\n{_TITLES.get(name, f'`{name}`:')}\n\n```{language}"


def _index() -> Iterator[str]:
    rules = all_rules()
    yield f"<!-- Made of the rules' docstrings by `{COMMAND}`. -->"
    yield f"# Rules\n\n{len(rules)} rules. `chatlint rule NAME` shows a page in the terminal; `select` and"
    yield "`ignore` take names, prefixes of codes (`CT4`) and headings (`tools`). A code is never used for"
    yield "another rule.\n"
    for category in dict.fromkeys(rule.category for rule in rules):
        yield f"## {category.replace('_', ' ').capitalize()}\n"
        yield "| code | rule | severity | |\n|---|---|---|---|"
        for rule in rules:
            if rule.category == category:
                link = f"[{rule.name}]({rule.name}.md)"
                yield f"| {rule.code} | {link} | {rule.severity} | {md_prose(rule.summary)} |"
        yield ""


def write_pages(folder: Path) -> None:
    """Write every page into `folder`; pages of rules that are no more go."""
    pages = rule_pages()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/rules"))
