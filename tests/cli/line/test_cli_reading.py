"""Lines that are read without click are read as click reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opsinfo_cli.cli.line.reading import command_first, failure_options, read_line, read_words

from opsinfo_cli.cli.app import COMMANDS, declared
from opsinfo_cli.cli.line.click_command import click_command
from opsinfo_cli.cli.line.declare import Choice, Command
from opsinfo_cli.errors import UsageFault

DECLARED: list[Command] = [declared(name) for name in COMMANDS]
PLAIN = [each for each in DECLARED if not each.attributes]

ODD = ["", "-", "--", "-x", "--nothing", "-qv", "-ofile", "--color=", "--format=", "3", "-1", "a=b", "\udcff", "名"]


def values_of(command: Command, words: list[str]) -> dict[str, Any] | None:
    """The values for the command; None if click must read the line."""
    reading = read_words(command, words)
    return reading.values if reading.is_plain else None


def said_by_click(command: Command, words: list[str]) -> dict[str, Any] | None:
    """The values from click; None if it refuses the line or handles it."""
    try:
        return dict(click_command.__wrapped__(command).make_context(command.name, list(words)).params)
    except (click.ClickException, click.exceptions.Exit, UsageFault):
        return None


@st.composite
def lines(draw: Callable[..., Any]) -> tuple[Command, list[str]]:
    """A command with some of its words, in any order."""
    command = draw(st.sampled_from(DECLARED))
    own = [word for each in command.parameters for word in each.words if word.startswith("-")]
    kinds = [each.attributes.get("type") for each in command.parameters]
    values = ["add", "x.json", *(word for kind in kinds if isinstance(kind, Choice) for word in kind.words)]
    pairs = st.tuples(st.sampled_from(own), st.sampled_from(values))
    word = st.sampled_from([*own, *values])
    piece = st.one_of(
        word.map(lambda one: [one]),
        st.sampled_from(values).map(lambda one: [one]),
        pairs.map(list),
        pairs.map(lambda pair: ["=".join(pair)]),
        st.sampled_from(ODD).map(lambda one: [one]),
    )
    return command, [word for some in draw(st.lists(piece, max_size=7)) for word in some]


@given(lines())
def test_a_plain_line_is_read_as_click_reads_it(line: tuple[Command, list[str]]) -> None:
    command, words = line
    values = values_of(command, words)
    if values is not None:
        assert values == said_by_click(command, words)


@pytest.mark.parametrize("command", PLAIN, ids=lambda command: command.name)
def test_a_line_with_its_operands_and_every_option_is_plain(command: Command) -> None:
    words = ["a"] * len([each for each in command.parameters if not each.is_option])
    words = ["bash"] if command.name == "completion" else words
    for each in command.parameters:
        kind, get = each.attributes.get("type"), each.attributes.get
        if not each.is_option or not get("expose_value", True) or not (kind is None or isinstance(kind, Choice)):
            continue
        value = kind.words[0] if kind else "x"
        has_value = not (get("is_flag") or get("count"))
        words += [each.words[0], value, f"{_long(each.words)}={value}"] if has_value else [each.words[0]]
    values = values_of(command, words)
    assert values is not None
    assert values == said_by_click(command, words)


def _long(words: Any) -> str:
    return next(word for word in words if word.startswith("--"))


@pytest.mark.parametrize(
    "words",
    [
        ["a", "--help"],
        ["a", "--version"],
        ["a", "b"],
        ["a", "--on"],
        ["a", "--on", "blue"],
        ["a", "--format=yaml"],
        ["a", "--quiet=yes"],
        ["a", "--soc", "--quiet"],
        ["--", "a"],
        ["a", "-qv"],
        ["a", "-ox.html"],
        ["a", "--forma", "json"],
    ],
    ids=" ".join,
)
def test_a_line_that_is_not_plain_is_left_to_click(words: list[str]) -> None:
    command = next(each for each in DECLARED if each.name == "list")
    assert values_of(command, words) is None


def test_numbers_and_files_of_defaults_are_left_to_click() -> None:
    left = {each.name: values_of(each, ["a"]) for each in DECLARED if each not in PLAIN}
    assert left == {"validate": None, "numerics": None}
    move = next(each for each in DECLARED if each.name == "move")
    assert values_of(move, ["a", "Add", "--to", "black", "--wait", "1"]) is None


@pytest.mark.parametrize(
    ("words", "moved"),
    [
        (["-q", "list", "opp"], ["list", "-q", "opp"]),
        (["--format", "json", "-v", "list"], ["list", "--format", "json", "-v"]),
        (["--format=json", "list"], ["list", "--format=json"]),
        (["-qv", "list"], ["list", "-qv"]),
        (["--wait", "3", "-n", "move", "a"], ["move", "--wait", "3", "-n", "a"]),
        (["list", "-q"], ["list", "-q"]),
        (["-q"], ["-q"]),
        (["--version", "list"], ["--version", "list"]),
        (["--match", "x", "list"], ["--match", "x", "list"]),
        (["help", "list"], ["list", "--help"]),
        (["help"], ["--help"]),
        (["-q", "help", "list"], ["list", "--help"]),
        ([], []),
    ],
    ids=lambda words: " ".join(words),
)
def test_options_before_the_command_are_moved_after_it(words: list[str], moved: list[str]) -> None:
    assert command_first(words) == moved


@pytest.mark.parametrize(
    ("words", "format"),
    [
        (["list", "opp", "--format", "json", "--nothing"], "json"),
        (["list", "--format=json", "--on", "blue"], "json"),
        (["frobnicate", "--format", "json"], "json"),
        (["list", "--", "--format=json"], "text"),
        (["list", "--format", "html"], "text"),
        ([], "text"),
    ],
    ids=lambda words: " ".join(words),
)
def test_a_failure_is_json_if_the_line_requests_json(words: list[str], format: str) -> None:
    assert failure_options(words).format == format


def test_an_unknown_option_is_skipped_and_the_rest_is_read() -> None:
    reading = read_line(["show", "opp", "--nothing", "--soc", "ascend910b", "Add"])
    assert not reading.understood
    assert reading.values["soc"] == "ascend910b"
    assert reading.operands == ["opp", "Add"]
