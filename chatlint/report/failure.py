"""Why there is no prompt, in one line."""

from __future__ import annotations

from chatlint.render.rendered import FailureKind, RenderFailure

_WORDS = {
    FailureKind.DECLINED: "the template declines this conversation",
    FailureKind.FAULT: "the template breaks on this conversation",
    FailureKind.SYNTAX: "the template does not compile",
    FailureKind.BOUND: "rendering was stopped at a bound",
    FailureKind.HOST: "the host refuses this conversation",
}


def failure_text(failure: RenderFailure) -> str:
    """What happened, at which line, and what the exception says."""
    place = f" (line {failure.line})" if failure.line else ""
    said = failure.message
    if failure.kind is FailureKind.FAULT and failure.exception:
        said = f"{failure.exception}: {said}"
    return f"{_WORDS[failure.kind]}{place}: {said}"
