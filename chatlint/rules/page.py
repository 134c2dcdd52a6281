"""A rule's page: its docstring, read into sections and examples.

Headings: `What it does`, `Why is this bad`, `Example`, and where there is more to say than the finding does,
`Fix`. The example holds a template that the rule finds (```` ```jinja bad ````), one that nothing finds (````
```jinja good ````), and for rules about a package what is in it: ```` ```json tokenizer.json ```` (facts
about tokens), `copies` (templates by file), `named` (templates by name), `base` (a template),
`response_template` (that of the tokenizer's files), `named_parsers` (those of a model card). What a rule
makes of the user's wishes needs those: ```` ```toml chatlint.toml ````, `expected` (facts of a saved report),
`reference` (a conversation and its prompt)."""

from __future__ import annotations

import re

from chatlint.lazy import regex
from chatlint.records import dataclass

_FENCE = regex(r"^```(\S+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
_HEADING = regex(r"^## (.+)\n", re.M)


@dataclass(frozen=True, slots=True)
class Example:
    """A fenced block of a page: `jinja` named `bad` or `good`, or `json` named as the file that it is."""

    language: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """What `chatlint rule NAME` shows. `sections` are (heading, Markdown) in the order of the page."""

    summary: str
    sections: tuple[tuple[str, str], ...]
    examples: tuple[Example, ...]

    def section(self, heading: str) -> str:
        """The Markdown under a heading, "" where the page has none."""
        return dict(self.sections).get(heading, "")

    def example(self, name: str) -> str:
        """The text of the example of that name. Raises KeyError if there is none."""
        return next((example.text for example in self.examples if example.name == name), "") or _missing(name)


def _missing(name: str) -> str:
    raise KeyError(f"the page has no example {name!r}")


def read_page(docstring: str) -> Page:
    """A page from a rule module's docstring."""
    summary, _, rest = docstring.partition("\n")
    _, *parts = _HEADING.split(rest)
    sections = tuple(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))
    examples = tuple(Example(*match.groups(default="")) for match in _FENCE.finditer(docstring))
    return Page(summary, sections, examples)
