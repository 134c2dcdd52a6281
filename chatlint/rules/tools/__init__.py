"""CT4xx: tools, tool calls and their results."""
