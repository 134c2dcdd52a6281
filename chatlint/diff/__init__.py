"""Behavioural drift: what two templates do otherwise, and a lock that holds a template to what it does."""

from chatlint.diff.drift import Drift, Sameness, compare

__all__ = ["Drift", "Sameness", "compare"]
