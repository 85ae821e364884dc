"""Read a line by the declarations of its command, without click.

A line is *plain* if every option in it is known, spelled out and has a value that needs no conversion. Then the command
is called directly. click reads all other lines, and prints help and errors for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..shared.common_options import EVERYWHERE, OutputOptions
from .declare import Choice, Command, Parameter
from .table import COMMANDS, declared

if TYPE_CHECKING:
    from typing import Any


class LineReading(NamedTuple):
    """The outcome of reading a line.

    :param command: None if the line names no known command
    :param values: by parameter name, including defaults; values that were not understood have their default
    :param operands: the words that belong to no option
    :param understood: whether every option and its value were recognised
    :param is_plain: whether nothing is missing, so that the command can be called
    """

    command: Command | None
    values: dict[str, Any]
    operands: list[str]
    understood: bool
    is_plain: bool


def read_line(words: list[str]) -> LineReading:
    """Read a line whose command comes first; see :func:`command_first`."""
    if words and words[0] in COMMANDS:
        command = declared(words[0])
        return read_words(command, words[1:])
    return read_words(EVERYWHERE, words)._replace(command=None, is_plain=False)


def command_first(words: list[str]) -> list[str]:
    """Move common options after the command, and turn `help COMMAND` into `COMMAND --help`.

    >>> command_first(["-q", "--format", "json", "list", "opp"])
    ['list', '-q', '--format', 'json', 'opp']
    """
    known = {word: each for each in EVERYWHERE.parameters for word in each.words}
    at = 0
    while at < len(words) and words[at].startswith("-"):
        name, equals, _ = words[at].partition("=")
        option = known.get(name)
        if option is not None:
            at += 2 if option.takes_value and not equals else 1
        elif _are_flags(name, known):
            at += 1
        else:
            return words
    if at >= len(words):
        return words
    if words[at] == "help":
        return [*words[at + 1 :], "--help"]
    return [words[at], *words[:at], *words[at + 1 :]]


def _are_flags(word: str, known: dict[str, Parameter]) -> bool:
    """Return whether a word is several short flags, such as ``-qv``."""
    options = [known.get(f"-{letter}") for letter in word[1:]]
    return bool(options) and all(option is not None and not option.takes_value for option in options)


def read_words(command: Command, words: list[str]) -> LineReading:
    """Read the words after a command."""
    options = [each for each in command.parameters if each.is_option]
    arguments = [each for each in command.parameters if not each.is_option]
    values = {each.name: _default(each) for each in options if each.attributes.get("expose_value", True)}
    known = {word: each for each in options for word in each.words if word.startswith("-")}
    operands: list[str] = []
    understood = True
    rest = iter(words)
    for word in rest:
        if word == "--":
            understood = False
            operands.extend(rest)
        elif word == "-" or not word.startswith("-"):
            operands.append(word)
        elif not _take(word, rest, known, values):
            understood = False
    missing = any(each.attributes.get("required") and values.get(each.name) in (None, ()) for each in options)
    complete = _share_out(operands, arguments, values) and not missing
    plain = understood and complete and not command.attributes
    return LineReading(command, values, operands, understood, plain)


def _default(option: Parameter) -> Any:
    get = option.attributes.get
    if get("is_flag"):
        return False
    if get("count"):
        return 0
    return () if get("multiple") else get("default")


def _take(word: str, rest: Iterator[str], known: dict[str, Parameter], values: dict[str, Any]) -> bool:
    """Take an option and its value.

    :returns: False if click must read the line
    """
    name, equals, value = word.partition("=")
    option = known.get(name)
    if option is None or (equals and not name.startswith("--")):
        return False
    get = option.attributes.get
    if not option.takes_value:
        if option.name not in values:
            return False
        values[option.name] = values[option.name] + 1 if get("count") else True
        return not equals
    if not equals:
        value = next(rest, "-")
    if option.name not in values or value.startswith("-") or not _is_taken(value, option):
        return False
    values[option.name] = (*values[option.name], value) if get("multiple") else value
    return True


def _is_taken(value: str, parameter: Parameter) -> bool:
    """Return whether a value needs no conversion and the parameter allows it."""
    kind = parameter.attributes.get("type")
    return kind is None or (isinstance(kind, Choice) and value in kind.words)


def _share_out(operands: list[str], arguments: list[Parameter], values: dict[str, Any]) -> bool:
    """Assign operands to arguments; the last argument may take all that remain.

    :returns: False if operands are missing, left over or not allowed
    """
    for each in arguments:
        takes_all = each.attributes.get("nargs") == -1
        mine = operands if takes_all else operands[:1]
        if not mine and each.attributes.get("required", not takes_all):
            return False
        if not all(_is_taken(value, each) for value in mine):
            return False
        values[each.name] = tuple(mine) if takes_all else next(iter(mine), None)
        operands = operands[len(mine) :]
    return not operands


def failure_options(words: list[str]) -> OutputOptions:
    """Return how to print the failure of a line: as JSON if the line requests it, even if the line is wrong.

    :param words: a line whose command comes first
    """
    values = read_line(words).values
    format_, color = values.get("format", "text"), values.get("color", "auto")
    return OutputOptions(format="json" if format_ == "json" else "text", color=color)
