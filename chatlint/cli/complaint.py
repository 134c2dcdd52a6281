"""An error, as a person reads it on standard error."""

from __future__ import annotations

import sys

from chatlint.errors import ChatlintError, UsageError


def unwritable(error: OSError) -> UsageError:
    """What to say where there is no room for the output."""
    return UsageError(f"the output cannot be written: {error}", hint="make room for it")


def complain(error: ChatlintError) -> None:
    """Print what was wrong and what to do about it."""
    from chatlint.report.canvas import canvas_for

    canvas = canvas_for(sys.stderr)
    message = [(word, "") for word in error.message.split(" ")]
    lines = list(canvas.wrap(message, indent="       ", first=[("error:", "error"), (" ", "")]))
    if error.hint:
        hint = [(word, "") for word in error.hint.split(" ")]
        lines += canvas.wrap(hint, indent="          ", first=[("  = help", "strong"), ("  ", "")])
    sys.stderr.write("\n".join(lines) + "\n")
