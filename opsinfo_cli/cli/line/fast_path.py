"""Lines in which nothing is left to say: their options are known, spelled out and take what they are given.

Whatever is more than that, or wrong, or asks for help, is click's to read and to explain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ...typed import TYPE_CHECKING
from .declare import Choice, Command, Parameter
from .main import COMMANDS

if TYPE_CHECKING:
    from typing import Any

__all__ = ["declared", "plain_call", "values_of"]


def plain_call(words: list[str]) -> Callable[[], int] | None:
    """What a line asks for; None where it is not plain."""
    if not words or words[0] not in COMMANDS:
        return None
    command = declared(words[0])
    values = values_of(command, words[1:])
    return None if values is None else partial(command.function, **values)


def declared(name: str) -> Command:
    """A command by its name, from its own module."""
    package = __package__.rpartition(".")[0]
    found: Command = __import__(f"{package}.commands.{name}", fromlist=["command"]).command  # importlib is slower
    return found


def values_of(command: Command, words: list[str]) -> dict[str, Any] | None:
    """What click would hand to the function of a command; None where click must look at the line itself."""
    if not command.attributes.keys() <= {"short_help"}:
        return None
    options = [each for each in command.parameters if each.is_option]
    arguments = [each for each in command.parameters if not each.is_option]
    values = {each.name: _unsaid(each) for each in options if each.attributes.get("expose_value", True)}
    known = {word: each for each in options if each.name in values for word in each.words if word.startswith("-")}
    operands: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-" or not word.startswith("-"):
            operands.append(word)
        elif not _take(word, rest, known, values):
            return None
    if any(each.attributes.get("required") and values[each.name] in (None, ()) for each in options):
        return None
    return values if _share_out(operands, arguments, values) else None


def _unsaid(option: Parameter) -> Any:
    get = option.attributes.get
    if get("is_flag"):
        return False
    if get("count"):
        return 0
    return () if get("multiple") else get("default")


def _take(word: str, rest: Iterator[str], known: dict[str, Parameter], values: dict[str, Any]) -> bool:
    """Take an option, and its value where it has one; False where click must."""
    name, equals, value = word.partition("=")
    option = known.get(name)
    if option is None or (equals and not name.startswith("--")):
        return False
    get = option.attributes.get
    if get("is_flag") or get("count"):
        values[option.name] = values[option.name] + 1 if get("count") else True
        return not equals
    if not equals:
        value = next(rest, "-")
    if value.startswith("-") or not _is_taken(value, option):
        return False
    values[option.name] = (*values[option.name], value) if get("multiple") else value
    return True


def _is_taken(value: str, parameter: Parameter) -> bool:
    """Whether a value needs neither a look nor another type."""
    kind = parameter.attributes.get("type")
    return kind is None or (isinstance(kind, Choice) and value in kind.words)


def _share_out(operands: list[str], arguments: list[Parameter], values: dict[str, Any]) -> bool:
    """Give every argument its operands; the last may take all that are left. False where that does not come out."""
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
