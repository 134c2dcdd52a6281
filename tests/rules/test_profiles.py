"""Which rules weigh more in which profile."""

from __future__ import annotations

import chatlint
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


def test_what_only_trainers_need_is_told_to_them(tmp_path) -> None:
    template = tmp_path / "t.jinja"
    template.write_text(
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )

    def told(**settings) -> set[str]:
        report = chatlint.check(template, cache=False, **settings).to_dict()
        return {found["rule"] for found in report["targets"][0]["templates"][0]["findings"]}

    trainers = {"training-mask", "header-markers"}
    assert trainers <= told(profile="training")
    assert not trainers & told()
