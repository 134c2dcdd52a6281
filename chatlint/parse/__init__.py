"""The output format, and the one machine that reads with it. No Jinja, no I/O."""
