"""What a command takes, written down in click's words and without click, whose import takes as long as a whole library.

:mod:`.plain` reads most lines by it; :mod:`.clicked` makes click's command of it for all others, help and completion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["Choice", "Command", "FloatRange", "IntRange", "Parameter", "argument", "command", "option"]


class Choice:
    """One of some words.

    :param meant: the word of these that somebody means by another; for hints
    """

    def __init__(self, words: Sequence[str], meant: Callable[[str], str | None] | None = None) -> None:
        self.words = words
        self.meant = meant


class FloatRange:
    """A number, not below ``min``."""

    def __init__(self, min: int) -> None:
        self.min = min


class IntRange(FloatRange):
    """A whole one."""


class Parameter:
    """An option or an argument: its words, and what click is to be told of it."""

    def __init__(self, words: Sequence[str], attributes: dict[str, Any]) -> None:
        self.words = words
        self.attributes = attributes

    @property
    def is_option(self) -> bool:
        return any(word.startswith("-") for word in self.words)

    @property
    def name(self) -> str:
        """The keyword its value is handed over by: the word that says so, else the longest."""
        named = next((word for word in self.words if word.isidentifier()), None)
        return named or max(self.words, key=lambda word: word.startswith("--")).lstrip("-").replace("-", "_").lower()


class Command:
    """A function, what it takes, and what click is to be told of it beyond that."""

    def __init__(self, name: str, function: Callable[..., Any], attributes: dict[str, Any]) -> None:
        self.name = name
        self.function = function
        self.attributes = attributes
        self.parameters: list[Parameter] = list(reversed(vars(function).get(_NOTED, ())))


_NOTED = "parameters"


def command(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    return lambda function: Command(name, function, attributes)


def option(*words: str, **attributes: Any) -> Callable[[F], F]:
    def note(function: F) -> F:
        vars(function).setdefault(_NOTED, []).append(Parameter(words, attributes))
        return function

    return note


argument = option
