"""Other engines that run chat templates, behind one Protocol: what do they make of the same variables?

`engine` has the Protocol, `process` runs an engine's program within bounds, `minijinja`, `huggingface_js` and
`llama_cpp` are the engines, `find` opens one by name. None is needed; what is absent says how to get it.
"""
