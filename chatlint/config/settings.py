"""The settings of a check: one `Settings`, from `chatlint.toml`, the command line or a caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from chatlint.errors import UsageError
from chatlint.records import dataclass, field, names_of, replace
from chatlint.render.rendered import DEFAULT_HOST

if TYPE_CHECKING:
    from chatlint.config.expected import Expected
    from chatlint.conversation import JSON
    from chatlint.probe.own import OwnConversation


class FailOn(StrEnum):
    """The least severity that makes a check fail (exit 1); `never` silences only that."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"


class Profile(StrEnum):
    """What a template is judged for. The rules are the same in every profile; some of their findings weigh
    more or less."""

    SERVING = "serving"
    """A server that talks to the model."""
    TRAINING = "training"
    """Prompts that a model is trained on: stable prefixes, masks, padding."""
    SECURITY = "security"
    """Templates and input of strangers."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to check. `select` and `ignore` hold names of rules, code prefixes (`CT4`) or headings
    (`tools`); none selected is all.

    `template` is the path of another template to judge with the target's tokens, `special_tokens` the path of
    a JSON file with the tokens of a bare template, `base` a target of which this one ought to be a copy.
    `untrusted` renders local files in a worker process, too. `profile` says what for.

    A gate: `severities` gives rules, by name, another severity; `per_target_ignores` ignores rules for
    targets that fit a glob; `require` names capabilities that must be there; `expect` is the path of a saved
    report that must still hold, `probes` that of a folder of own conversations, `baseline` that of accepted
    findings. `config` is the file that set it, `engines` are other template engines to compare with.
    `expected` and `conversations` are what stands in the files: results depend on that, not on where it
    stands.
    """

    host: str = DEFAULT_HOST
    fail_on: FailOn = FailOn.ERROR
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    revision: str | None = None
    offline: bool = False
    template: str | None = None
    special_tokens: str | None = None
    base: str | None = None
    untrusted: bool = False
    cache: bool = True
    profile: Profile = Profile.SERVING
    severities: Mapping[str, str] = field(default_factory=dict)
    per_target_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    require: tuple[str, ...] = ()
    expect: str | None = None
    probes: str | None = None
    baseline: str | None = None
    config: str | None = None
    engines: tuple[str, ...] = ()
    expected: Expected | None = None
    conversations: tuple[OwnConversation, ...] = ()

    def to_dict(self) -> dict[str, JSON]:
        """As the report states them: where things stand, not what stands there."""
        values = {name: getattr(self, name) for name in names_of(self)}
        return {name: _plain(value) for name, value in values.items() if name not in _CONTENTS}

    def for_target(self, target: str, file: str = "") -> Settings:
        """The settings for a target: with the rules that `per_target_ignores` ignores there, and what is
        expected of it alone. A glob fits a target as it is written, a model on the Hub also without revision
        or file, and the path of a template's `file` in it."""
        if self.expected is not None:
            self = replace(self, expected=self.expected.of_target(target))
        if not self.per_target_ignores:
            return self
        more = tuple(
            rule
            for glob, rules in self.per_target_ignores.items()
            if glob_fits(glob, target, file)
            for rule in rules
        )
        return replace(self, ignore=(*self.ignore, *more), per_target_ignores={})


def glob_fits(glob: str, target: str, file: str = "") -> bool:
    """Whether a glob fits a target, or a template's file in it (see `Settings.for_target`)."""
    names = {target, target.partition("@")[0], target.partition(":")[0], f"{target.rstrip('/')}/{file}"}
    names |= {name.removeprefix("./") for name in names}
    return any(fnmatchcase(name, glob.removeprefix("./")) for name in names)


_CONTENTS = frozenset(("expected", "conversations"))


def _plain(value: object) -> JSON:
    if isinstance(value, tuple):
        return [str(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in value.items()}
    return value if isinstance(value, bool) or value is None else str(value)


def fail_on(name: str) -> FailOn:
    """The threshold of that name. Raises UsageError with the names there are."""
    try:
        return FailOn(name)
    except ValueError:
        raise UsageError(f"no severity {name!r} to fail on", hint=nearest(name, tuple(FailOn))) from None


def profile(name: str) -> Profile:
    """The profile of that name. Raises UsageError with the names there are."""
    try:
        return Profile(name)
    except ValueError:
        raise UsageError(f"no profile {name!r}", hint=nearest(name, tuple(Profile))) from None


def nearest(name: str, known: Iterable[str]) -> str:
    """What to say to somebody who wrote `name` and may have meant one of `known`."""
    import difflib

    known = [str(one) for one in known]
    close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
