"""CT2xx: what goes wrong while a template runs."""
