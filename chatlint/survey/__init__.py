"""Many targets: judged on several processes or machines, none of them able to spoil the others."""

from chatlint.survey.each import judge_each

__all__ = ["judge_each"]
