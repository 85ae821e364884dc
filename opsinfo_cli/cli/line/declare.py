"""Declarations of a command's parameters without click, whose import takes as long as reading a whole library.

:mod:`.reading` reads most lines by these declarations; :mod:`.click_command` makes click commands from them for all
other lines and for help; completion reads them too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


class Choice:
    """A choice of words.

    :param meant: returns the word for an alias, for hints
    """

    def __init__(self, words: Sequence[str], meant: Callable[[str], str | None] | None = None) -> None:
        self.words = words
        self.meant = meant


class FloatRange:
    """A number, not below ``min``, nor above ``max`` if that is given."""

    def __init__(self, min: int, max: int | None = None) -> None:
        self.min = min
        self.max = max


class IntRange(FloatRange):
    """A whole number, not below ``min``."""


class Group:
    """Options that are passed to the command as one frozen value.

    :param keyword: the argument of the command's function
    :param value: a NamedTuple class with a field for each option; options that a command lacks keep its defaults
    """

    def __init__(self, keyword: str, value: Callable[..., Any]) -> None:
        self.keyword = keyword
        self.value = value


class Parameter:
    """An option or an argument, with its words and click's attributes.

    :param group: the group that it belongs to
    :param advanced: whether help lists it under "Advanced"
    :param writes: for an option that names a file to write, the parameters whose file it may replace; else None
    """

    def __init__(
        self,
        words: Sequence[str],
        attributes: dict[str, Any],
        group: Group | None = None,
        advanced: bool = False,
        writes: Sequence[str] | None = None,
    ) -> None:
        self.words = words
        self.attributes = attributes
        self.group = group
        self.advanced = advanced
        self.writes = writes

    @property
    def is_option(self) -> bool:
        return any(word.startswith("-") for word in self.words)

    @property
    def takes_value(self) -> bool:
        """Whether an option is followed by a value."""
        return not (self.attributes.get("is_flag") or self.attributes.get("count"))

    @property
    def metavar(self) -> str:
        return self.attributes.get("metavar") or self.name.upper()

    @property
    def is_command(self) -> bool:
        """Whether the words are those of another program."""
        return "COMMAND" in self.metavar

    @property
    def name(self) -> str:
        """The keyword argument of its value: the word without dashes, if there is one, else the longest."""
        named = next((word for word in self.words if word.isidentifier()), None)
        return named or max(self.words, key=lambda word: word.startswith("--")).lstrip("-").replace("-", "_").lower()


class Command:
    """A function, its parameters, and further attributes of the click command."""

    def __init__(self, name: str, function: Callable[..., Any], attributes: dict[str, Any]) -> None:
        self.name = name
        self.function = function
        self.attributes = attributes
        self.parameters: list[Parameter] = list(reversed(vars(function).get(_DECLARED, ())))

    def call(self, values: Mapping[str, Any]) -> Any:
        """Call the function with the values of its parameters; a group is passed as one value.

        :param values: by parameter name
        :raises UsageFault: if a value is empty, or an output would replace an input
        """
        for each in self.parameters:
            value = values.get(each.name)
            if value == "" or (isinstance(value, tuple) and "" in value and not each.is_command):
                from .outputs import is_empty

                raise is_empty(each.words[0] if each.is_option else each.metavar)
        if any(each.writes is not None and values.get(each.name) for each in self.parameters):
            self._require_apart(values)
        alone: dict[str, Any] = {}
        groups: dict[Group, dict[str, Any]] = {}
        for each in self.parameters:
            if each.name not in values:
                continue
            (groups.setdefault(each.group, {}) if each.group else alone)[each.name] = values[each.name]
        return self.function(**alone, **{group.keyword: group.value(**mine) for group, mine in groups.items()})

    def _require_apart(self, values: Mapping[str, Any]) -> None:
        from .outputs import GivenParameter, require_apart

        given = []
        for each in self.parameters:
            value = values.get(each.name)
            texts = [value] if isinstance(value, str) else value if isinstance(value, tuple) else []
            given.append(GivenParameter(each.words[0], each.name, each.metavar, texts, each.writes))
        require_apart(given)


_DECLARED = "parameters"


def command(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    return lambda function: Command(name, function, attributes)


def option(
    *words: str,
    group: Group | None = None,
    advanced: bool = False,
    writes: Sequence[str] | None = None,
    **attributes: Any,
) -> Callable[[F], F]:
    def declare(function: F) -> F:
        vars(function).setdefault(_DECLARED, []).append(Parameter(words, attributes, group, advanced, writes))
        return function

    return declare


argument = option


def stacked(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return several options as one decorator, shown in this order."""

    def declare(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return declare
