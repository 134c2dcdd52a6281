"""From a trace to capabilities: what a template can express, by what it rendered.

One module per question; `capabilities.py` asks them all, in the order in which later ones need earlier
answers."""
