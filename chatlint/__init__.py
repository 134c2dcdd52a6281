"""chatlint: lints and conformance-tests the chat templates of language models."""

__version__ = "0.1.0"
