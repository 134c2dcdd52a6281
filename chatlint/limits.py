"""Every bound in one place. Templates, model files and model outputs are hostile until proven otherwise."""

from __future__ import annotations

TEMPLATE_SOURCE_CHARACTERS = 1_048_576
"""Longest template source that is compiled; real ones stay under 120,000."""

RENDER_TICKS = 200_000
"""Loop iterations and macro calls of one render; real templates need fewer than 300 on a probe."""

RENDER_OUTPUT_CHARACTERS = 20_000_000
"""Longest prompt, and longest string on the way to it."""

NESTING = 100
"""Deepest container, in a conversation or built by a template."""

RENDER_SECONDS = 2.0
"""CPU time of one render in this process; real ones need a thousandth of it."""

RENDER_VALUES = 1_000_000
"""Most values of a container that a template builds, prints, compares or sorts."""

RENDER_INTEGER_BITS = 65_536
"""Largest integer that a template may compute."""

COMPILE_TOKENS = 60_000
"""Most tokens of a template that is compiled; real ones stay under 9,000."""

SWITCHES = 64
"""Variables of a template's own that are tried; real ones have fewer than 30."""

RULE_CAUSES = 200
"""Most findings of one rule on one template; a template that is mended begins with fewer."""

WORKER_SECONDS = 3.0
"""Wall time of one case in a worker process before it is killed."""

WORKER_FAILURES = 3
"""Worker processes that one template may bring down before it is rendered no further."""

WORKER_MEMORY_BYTES = 768 * 1024 * 1024
"""Address space of a worker process, where the system can limit it."""

TEMPLATE_FILE_BYTES = 16 * 1024 * 1024
"""Largest template file, or standard input, that is read."""

TEMPLATES = 256
"""Most templates that are taken from one place: a file's list, or a directory's files."""

JSON_FILE_BYTES = 64 * 1024 * 1024
"""Largest JSON file that is read whole; real tokenizer configurations stay under 4 MB."""

CONFIG_BYTES = 1024 * 1024
"""Largest configuration file or baseline that is read."""

IGNORES = 100
"""Comments of a template to chatlint that are read."""

IGNORE_TRIAL_CHARACTERS = 1_000_000
"""How much of a template is cut into tags to see which of its comments change the prompt."""

OWN_CONVERSATIONS = 1_000
"""Most conversations of a user's own folder that are rendered."""

OWN_CONVERSATION_BYTES = 4 * 1024 * 1024
"""Largest conversation of a user's own, and largest prompt it is compared with."""

TOKENIZER_HEAD_BYTES = 256 * 1024 * 1024
"""How far into a `tokenizer.json` its head is looked for; real heads end before 2 MB."""

TOKENIZER_MEMBER_CHARACTERS = 16 * 1024 * 1024
"""Longest member of that head."""

PIPE_SECONDS = 3.0
"""How long the first byte of a named pipe is waited for."""

LIST_BYTES = 64 * 1024 * 1024
"""Longest list of a survey's targets."""

LIST_LINES = 1_000_000
"""Most lines in it; a survey keeps all names of its targets in memory."""

JOBS = 1_000
"""Most processes that may be asked for; more than there are cores help only where the Hub is waited for."""

FOLDER_FILES = 10_000
"""Most files of one directory that are looked at."""

TRACE_SECONDS = 3.0
"""CPU time of all renders of one template; an ordinary one needs a tenth of a second."""

TRACE_CHARACTERS = 4_000_000
"""All prompts of one template together, for what the probes say; real ones stay under 300,000."""

TRACE_BOUND_FAILURES = 3
"""Cases that may hit a bound before a template is asked no further."""

FIX_SECONDS = 8.0
"""CPU time of trying fixes of one template; most need less than one."""

GGUF_KEYS = 65_536
"""Most metadata pairs of a GGUF."""

GGUF_KEY_BYTES = 65_535
"""Longest key, as ggml has it."""

GGUF_STRING_BYTES = 16 * 1024 * 1024
"""Longest string value."""

GGUF_ARRAY_ITEMS = 4_194_304
"""Longest array; the largest vocabularies have some 300,000 tokens."""

GGUF_KEPT_BYTES = 64 * 1024 * 1024
"""Longest vocabulary that is kept, in bytes of its token texts."""

GGUF_SECTION_BYTES = 256 * 1024 * 1024
"""How far into a file its metadata may reach."""

GGUF_FILES = 32
"""Most GGUFs of one directory that are read; more are named, not read."""

HUB_SECONDS = 180.0
"""Wall time of reading one Hub target, whatever the network does."""

HUB_WAIT_SECONDS = 10.0
"""How long a Hub may be silent before it counts as unreachable."""

HUB_FILES = 20_000
"""Most files of a Hub repository that are looked at, of those that may matter."""

HUB_WHOLE_BYTES = 1024 * 1024
"""Largest `tokenizer.json` that is fetched whole; of larger ones the head is."""

HUB_RANGE_BYTES = 3 * 1024 * 1024
"""How much of a large `tokenizer.json` is asked for at a time; real heads end before 2 MB."""

GRAMMAR_RULES = 20_000
"""Most rules of an exported grammar; eighty tools with eight parameters each need some 2,000."""

RESPONSE_PATTERN_CHARACTERS = 2_000
"""Longest pattern of a package's response template that is tried; real ones stay under 200."""

FINDING_CHARACTERS = 2_000
"""A text of a finding, or the place in a prompt that it shows; the rest is cut off."""

EXPORT_MARK_CHARACTERS = 10_000
"""Marks of a format together, for it to be exported; real ones stay under 1,000."""

SCAN_MARK_CHARACTERS = 5_000
"""Marks that one text of an exported grammar may end at, together; eighty names of tools stay under 2,000."""

ENGINE_SECONDS = 20.0
"""Wall time of another engine, for all cases of one template."""

ENGINE_ANSWER_BYTES = 64 * 1024 * 1024
"""Longest answer of another engine, all prompts of one template together."""

SERVER_SECONDS = 10.0
"""How long a server that the user named may be silent."""

SERVER_ANSWER_BYTES = 8 * 1024 * 1024
"""Longest answer of such a server."""

SERVE_CHECK_SECONDS = 60.0
"""Wall time of asking one server everything."""
