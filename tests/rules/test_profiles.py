"""Which rules weigh more in which profile."""

from __future__ import annotations

from chatlint.config import Profile
from chatlint.rules.catalogue import all_rules
from chatlint.rules.finding import Severity

TRAINING = {
    "prefix-break": Severity.WARNING,
    "training-mask": Severity.WARNING,
    "pad-is-turn-end": Severity.WARNING,
}
SECURITY = {
    "unbounded-work": Severity.ERROR,
    "content-gated-text": Severity.ERROR,
    "hidden-text": Severity.ERROR,
    "forged-turns": Severity.WARNING,
}


def weighed(profile: Profile) -> dict[str, Severity]:
    return {rule.name: rule.profiles[profile] for rule in all_rules() if profile in rule.profiles}


def test_training_weighs_what_a_model_learns() -> None:
    assert TRAINING.items() <= weighed(Profile.TRAINING).items()


def test_security_weighs_what_strangers_write() -> None:
    assert SECURITY.items() <= weighed(Profile.SECURITY).items()


def test_serving_is_what_rules_say_themselves() -> None:
    assert weighed(Profile.SERVING) == {}
