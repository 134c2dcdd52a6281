"""What is written in a format to see who reads it: a call, and the tools of all that is tried."""

from __future__ import annotations

from chatlint.conversation import Tool
from chatlint.export.writing import Call

LOOK = Call("look", {"city": "Oslo", "days": 3})
TOOLS: tuple[Tool, ...] = (
    {
        "type": "function",
        "function": {
            "name": "look",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "sure": {"type": "boolean"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "where": {"type": "object", "properties": {"zone": {"type": "integer"}}},
                },
            },
        },
    },
    {"type": "function", "function": {"name": "rest", "parameters": {"type": "object", "properties": {}}}},
)
