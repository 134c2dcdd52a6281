"""Subjects made of a template's text, and of a tokenizer's facts where a rule needs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from chatlint.probe.trace import Trace
from chatlint.render.rendered import RenderSettings
from chatlint.rules.subject import Subject
from chatlint.source.package import (
    AddedToken,
    GenerationFacts,
    Package,
    PackageFile,
    Target,
    TargetKind,
    Template,
    TemplatePlace,
    TokenizerFacts,
)


@contextmanager
def subject_of(source: str, tokenizer: str = "", host: str = "transformers-5.24") -> Iterator[Subject]:
    """A subject with this template. `tokenizer` is JSON: bos, eos, adds_bos, and added_tokens as a list of texts
    whose positions are the ids."""
    facts = _facts(tokenizer) if tokenizer else TokenizerFacts()
    given = {"bos_token": facts.bos, "eos_token": facts.eos} if tokenizer else ASSUMED
    template = Template(
        "default",
        source,
        sha256(source.encode()).hexdigest(),
        TemplatePlace("chat_template.jinja"),
        {name: text for name, text in given.items() if text},
        special_tokens_assumed=not tokenizer,
    )
    package = Package(
        Target(TargetKind.FILE, "chat_template.jinja"),
        (template,),
        tokenizer=facts,
        generation=GenerationFacts(),
        files=(PackageFile("config.json", "", 2),) if tokenizer else (),
    )
    with Trace(template, RenderSettings(host=host)) as trace:
        yield Subject(package, template, trace)


ASSUMED = {"bos_token": "<bos_token>", "eos_token": "<eos_token>"}


def _facts(text: str) -> TokenizerFacts:
    given = json.loads(text)
    tokens = tuple(AddedToken(index, token, True) for index, token in enumerate(given["added_tokens"]))
    return TokenizerFacts(given.get("bos"), given.get("eos"), None, tokens, given["adds_bos"])
