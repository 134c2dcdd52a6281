"""What engines need of a learned format: the names of parsers that read it, a response template, grammars.

    targets.py              every export by name
    writing.py known.py     the format's own writing of a call, held against published formats
    flags.py serving.py     parsers that fit, best first, and what goes wrong with them
    response_template.py response_calls.py      transformers' own way to read, as data
    response_reading.py region_content.py inversion.py      that data read, and held against the format
    turn.py calls.py arguments.py schemas.py objects.py marks.py    a turn as grammar (`grammar.py`)
    gbnf.py lark.py automaton.py structural_tag.py      the grammar in the notations of engines

Nothing here knows a model's name: everything follows from the `OutputFormat`.
"""
