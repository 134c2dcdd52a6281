"""A running server, asked whether its prompts are those of the template: `server` finds out what it is and
what it offers, `prompts` asks it for prompts, `run` compares, `terminal` shows."""

from chatlint.serve_check.run import check_server

__all__ = ["check_server"]
