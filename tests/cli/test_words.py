"""A command line is read as typer reads it, or left to typer."""

from __future__ import annotations

import contextlib

import pytest
import typer.main
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.cli.app import COMMANDS, found
from chatlint.cli.declared import Group, Option, parameters
from chatlint.cli.plain import command_line
from chatlint.cli.words import read_words

EVERY = {name: one for name in COMMANDS if not isinstance(one := found(name), Group)}
for above in ("corpus", "cache"):
    EVERY |= {f"{above} {name}": one for name, one in found(above).commands.items()}
LINE = typer.main.get_command(command_line({name: found(name) for name in COMMANDS}))


def read_by_typer(name, words):
    """What typer gives the parameters; None where it complains or shows help."""
    command = LINE
    for part in name.split():
        command = command.commands[part]
    with contextlib.suppress(SystemExit, typer.Exit, typer._click.exceptions.ClickException):
        return command.make_context("chatlint", list(words)).params
    return None


def given_values(values):
    """Typer gives several texts as a tuple, and none at all as None."""
    return {
        name: list(value) or None if isinstance(value, list | tuple) else value
        for name, value in values.items()
    }


ODD = ["--", "-x", "--nope", "", "-j4", "-vv", "--color", "--offline=1", "--format=", "-h"]
PLAIN = ["a", "corpus:qwen3", "-", "b c", "x=y"]


def spelled(told, is_flag):
    return st.sampled_from([[told]] if is_flag else [[told, "1"], [f"{told}=1"], [told, "-"], [told, "--x"]])


@st.composite
def lines(draw):
    """A command with words of which most are in order."""
    name = draw(st.sampled_from(sorted(EVERY)))
    options = [one for one in parameters(EVERY[name]) if isinstance(one.told, Option)]
    own = [spelled(told, one.is_flag) for one in options for told in one.told.names]
    plain = st.sampled_from([[word] for word in PLAIN])
    parts = draw(st.lists(st.one_of(plain, *own), max_size=4))
    parts += draw(st.sampled_from([*[[]] * 20, *([[odd]] for odd in ODD)]))
    return name, [word for part in draw(st.permutations(parts)) for word in part]


@given(lines())
@settings(max_examples=300)
def test_words_are_read_as_typer_reads_them(line):
    name, words = line
    ours = read_words(EVERY[name], words)
    if ours is not None:
        theirs = read_by_typer(name, words)
        assert theirs is not None
        assert given_values(ours) == given_values(theirs)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("check", ["corpus:qwen3"]),
        ("check", ["a", "--format", "json", "b", "--output=sarif=c", "--output", "junit=d", "-j", "2", "-v"]),
        ("check", ["-", "--fix", "--fail-on=never"]),
        ("export", ["corpus:qwen3", "--to", "vllm"]),
        ("diff", ["a", "b", "--offline"]),
        ("rules", []),
        ("corpus list", ["--format", "json"]),
        ("lock", ["--check"]),
    ],
)
def test_common_lines_need_no_typer(name, words):
    ours = read_words(EVERY[name], words)
    assert ours is not None
    assert given_values(ours) == given_values(read_by_typer(name, words))


@pytest.mark.parametrize(
    "words",
    [[], [""], ["a", "--nope"], ["a", "--form", "json"], ["a", "--format"], ["a", "-h"], ["a", "-j2"]],
)
def test_the_rest_is_left_to_typer(words):
    assert read_words(EVERY["check"], words) is None
