"""Template and conversation to prompt: byte for byte what the host renders, every character with its
origin, bounded.

`renderer` opens renderers (`local` in this process, `worker` in another); `hosts` prepare conversations, for
servers after `shaping` has rewritten them in the `manners` that the server finds out; `trace` explains how
origins survive a template; `syntax` tells what a template does without running it.
"""
