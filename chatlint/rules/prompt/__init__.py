"""CT3xx: turns, roles, content and the generation prompt."""
