"""CT5xx: reasoning content and thinking switches."""
