"""CT8xx: what input can do to the structure of a prompt."""
