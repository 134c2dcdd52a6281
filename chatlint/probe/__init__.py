"""Probes ask a template questions; a trace remembers the answers.

`catalogue.py` reads the probes (data, in `probes/`), `axes.py` varies their conversations, `trace.py`
renders a case when it is asked for and never twice, `reading.py` says what became of a value in a prompt.
"""
