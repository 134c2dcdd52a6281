"""CT9xx: what input can do to the structure of a prompt."""
