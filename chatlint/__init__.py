"""chatlint: lints and conformance-tests the chat templates of language models.

    package  = chatlint.load("path/to/model")
    template = package.template("default")
    prompt   = chatlint.render_prompt(template, [{"role": "user", "content": "Hello"}])
    report   = chatlint.check("path/to/model")
    message  = chatlint.learn_format(template).parser().parse("what the model wrote")

Names are imported from their rooms when they are first used, so `import chatlint` costs next to nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
"""Type checkers know the name; `typing` takes longer to import than all that is here."""

if TYPE_CHECKING:
    from chatlint.config import FailOn as FailOn
    from chatlint.config import Profile as Profile
    from chatlint.config import Settings as Settings
    from chatlint.conversation import Conversation as Conversation
    from chatlint.detect.capability import Capability as Capability
    from chatlint.detect.capability import Support as Support
    from chatlint.errors import ChatlintError as ChatlintError
    from chatlint.errors import InternalError as InternalError
    from chatlint.errors import NoTemplateError as NoTemplateError
    from chatlint.errors import TargetError as TargetError
    from chatlint.errors import TemplateError as TemplateError
    from chatlint.errors import UsageError as UsageError
    from chatlint.export.targets import export_format as export_format
    from chatlint.parse.events import ArgumentsDelta as ArgumentsDelta
    from chatlint.parse.events import ContentDelta as ContentDelta
    from chatlint.parse.events import EndOfTurn as EndOfTurn
    from chatlint.parse.events import ReasoningDelta as ReasoningDelta
    from chatlint.parse.events import ToolCallEnd as ToolCallEnd
    from chatlint.parse.events import ToolCallStart as ToolCallStart
    from chatlint.parse.formats import OutputFormat as OutputFormat
    from chatlint.parse.parser import OutputParser as OutputParser
    from chatlint.pipeline import check as check
    from chatlint.pipeline import learn_format as learn_format
    from chatlint.render.rendered import RenderSettings as RenderSettings
    from chatlint.render.renderer import render_prompt as render_prompt
    from chatlint.rules.finding import Finding as Finding
    from chatlint.rules.finding import Severity as Severity
    from chatlint.source.load import load as load
    from chatlint.source.package import Package as Package
    from chatlint.source.package import Template as Template
    from chatlint.text import Computed as Computed
    from chatlint.text import Input as Input
    from chatlint.text import Literal as Literal
    from chatlint.text import Prompt as Prompt
    from chatlint.text import Span as Span
    from chatlint.text import Special as Special
    from chatlint.verdict import Report as Report
    from chatlint.verdict import TargetReport as TargetReport
    from chatlint.verdict import TemplateReport as TemplateReport

_ROOMS = {
    "config": ("FailOn", "Profile", "Settings"),
    "conversation": ("Conversation",),
    "detect.capability": ("Capability", "Support"),
    "errors": (
        "ChatlintError",
        "InternalError",
        "NoTemplateError",
        "TargetError",
        "TemplateError",
        "UsageError",
    ),
    "parse.events": (
        "ArgumentsDelta",
        "ContentDelta",
        "EndOfTurn",
        "ReasoningDelta",
        "ToolCallEnd",
        "ToolCallStart",
    ),
    "export.targets": ("export_format",),
    "parse.formats": ("OutputFormat",),
    "parse.parser": ("OutputParser",),
    "pipeline": ("check", "learn_format"),
    "render.rendered": ("RenderSettings",),
    "render.renderer": ("render_prompt",),
    "rules.finding": ("Finding", "Severity"),
    "source.load": ("load",),
    "source.package": ("Package", "Template"),
    "text": ("Computed", "Input", "Literal", "Prompt", "Span", "Special"),
    "verdict": ("Report", "TargetReport", "TemplateReport"),
}
_HOME = {name: f"chatlint.{room}" for room, names in _ROOMS.items() for name in names}

__all__ = sorted(["__version__", *_HOME])


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'chatlint' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
