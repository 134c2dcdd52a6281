"""Content-addressed files: compiled templates, facts read from model files, results."""

from chatlint.store.disk import Store

__all__ = ["Store"]
