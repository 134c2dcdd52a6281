"""What a host gives a template, as plain values: for those who compare it, or give it to another engine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from chatlint.conversation import JSON, Conversation
from chatlint.render.hosts import Refusal, host_named, prepare, refuse, special_tokens
from chatlint.render.inputs import Root
from chatlint.render.rendered import RenderRequest, RenderSettings

if TYPE_CHECKING:
    from chatlint.render.shaping import Manners
    from chatlint.source.package import Template


def untraced(conversation: Conversation) -> dict[str, Root]:
    """The roots of a conversation as they are: nothing of them is traced."""
    roots: dict[str, object] = {"messages": list(conversation.messages)}
    if conversation.tools is not None:
        roots["tools"] = list(conversation.tools)
    if conversation.documents is not None:
        roots["documents"] = list(conversation.documents)
    roots.update(conversation.template_kwargs)
    return {name: Root(value, value, {}) for name, value in roots.items()}  # type: ignore[arg-type]


def plain_variables(
    template: Template, settings: RenderSettings, request: RenderRequest, manners: Manners | None = None
) -> dict[str, JSON] | None:
    """The variables of a render, as plain JSON. None where the host refuses the request, and where it
    continues a message, which is not a matter of variables alone."""
    host = host_named(settings.host)
    if request.continue_final_message:
        return None
    try:
        refuse(host, request)
        tokens = special_tokens(host, template)
        roots = untraced(request.conversation)
        prepared = prepare(host, template, request, roots, tokens, manners, settings.now)
    except Refusal:
        return None
    variables: dict[str, JSON] = json.loads(json.dumps(prepared.variables))
    return variables
