"""Subjects made of a template's text, and of a tokenizer's facts where a rule needs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256

from chatlint.infer.learn import learn
from chatlint.probe.trace import Trace
from chatlint.render.rendered import RenderSettings
from chatlint.rules.subject import Subject
from chatlint.source.directory import TEMPLATE_READERS
from chatlint.source.engine_templates import engine_templates
from chatlint.source.found import Found, Reader
from chatlint.source.package import (
    AddedToken,
    GenerationFacts,
    NamedParser,
    Package,
    PackageFile,
    Target,
    TargetKind,
    Template,
    TemplatePlace,
    TokenizerFacts,
)
from chatlint.verify.roundtrip import round_trips


@contextmanager
def subject_of(
    source: str,
    tokenizer: str = "",
    host: str = "transformers-5.24",
    *,
    learned: bool = True,
    copies: str = "",
    base: str = "",
    named: str = "",
    response_template: str = "",
    named_parsers: str = "",
) -> Iterator[Subject]:
    """A subject with this template. `tokenizer` is JSON: bos, eos, adds_bos, and added_tokens as a list of texts
    whose positions are the ids, of which `plain` are not special, and `end_of_turn` is one; `generation_config` and `config` are ids there. `learned` lets it have an output format and round trips.
    More JSON: `copies` are texts by the file they stand in, `named` further templates by name, `base` a text,
    `response_template` one of tokenizer_config.json, `named_parsers` those of a model card."""
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
    found = [Found("default", source, template.place, Reader.TOKENIZER_FILES)]
    more = [Found(name, text, template.place, Reader.TOKENIZER_FILES) for name, text in _json(named).items()]
    found += more + [
        Found("default", text, TemplatePlace(file), TEMPLATE_READERS[file])
        for file, text in _json(copies).items()
    ]
    package = Package(
        Target(TargetKind.FILE, "chat_template.jinja"),
        (template, *(replace(template, name=one.name, text=one.text) for one in more)),
        copies=tuple(item.template(template.special_tokens) for item in found[1 + len(more) :]),
        template_readers=engine_templates(found, _json(copies), {"chat_template": ""} if copies else {}),
        base=_base(template, json.loads(base)) if base else None,
        tokenizer=facts,
        generation=_generation(tokenizer),
        files=(PackageFile("config.json", "", 2),) if tokenizer else (),
        response_template=json.loads(response_template) if response_template else None,
        named_parsers=tuple(
            NamedParser("README.md", line, **one)
            for line, one in enumerate(json.loads(named_parsers or "[]"), 1)
        ),
    )
    with Trace(template, RenderSettings(host=host)) as trace:
        subject = Subject(package, template, trace)
        if learned and not subject.broken:
            subject.format = learn(trace, subject.syntax)
            subject.round_trips = round_trips(trace, subject.format, subject.syntax)
        yield subject


ASSUMED = {"bos_token": "<bos_token>", "eos_token": "<eos_token>"}


def _json(text: str) -> dict[str, str]:
    return json.loads(text) if text else {}


def _base(template: Template, text: str) -> Package:
    return Package(Target(TargetKind.FILE, "base.jinja"), (replace(template, text=text),))


def _generation(text: str) -> GenerationFacts:
    """The ids in the tokenizer's `generation_config` and `config`, as lists in these files, and the size of
    the model's `vocabulary`."""
    given = json.loads(text) if text else {}
    names = {"generation_config.json": "generation_config", "config.json": "config"}
    ids = {place: tuple(given[name]) for place, name in names.items() if name in given}
    return GenerationFacts(
        ids, "generation_config" in given, True, frozenset(ids), vocabulary=given.get("vocabulary")
    )


def _facts(text: str) -> TokenizerFacts:
    given = json.loads(text)
    plain = given.get("plain", ())
    tokens = tuple(
        AddedToken(index, token, token not in plain) for index, token in enumerate(given["added_tokens"])
    )
    return TokenizerFacts(
        given.get("bos"),
        given.get("eos"),
        given.get("pad"),
        tokens,
        given["adds_bos"],
        given.get("adds_eos"),
        end_of_turn=given.get("end_of_turn"),
    )
