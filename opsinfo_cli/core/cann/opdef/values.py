"""What expressions of C++ are worth. Numbers, booleans and vectors are those of Python.

A value has no type beside: that of a number is its type in Python (``bool``, ``int``, ``float``), and what is assigned
to a variable becomes one of it. So an operation whose result C++ gives another type than Python does (``true & true``)
has to convert it, and one whose type depends on what is not evaluated (``a ? b : c``) is not interpreted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from .source_text import SourceFunction
from .tokens import SourceFault

Value: TypeAlias = object
"""The value of an expression, never a :class:`Variable`. mypy cannot tell them apart; a fixture of the tests can."""
Operand: TypeAlias = "Value | Variable"
"""A value, or the variable that an expression refers to; :func:`plain` makes a value of it."""


class EnumConstant(str):
    """A constant of an enumeration of the framework, by its last name: ``DT_FLOAT``, ``REQUIRED``."""

    __slots__ = ()


class String(str):
    """``std::string``, which ``==`` compares by its text. A plain ``str`` is what ``const char*`` points to."""

    __slots__ = ()


class Array(list[object]):
    """``T name[]``, which a copy would make a pointer to it."""


class Unknown(NamedTuple):
    """A value that cannot be worked out; it matters only where it is used.

    :param fault: why
    """

    fault: SourceFault


class Variable(NamedTuple):
    """What a name or a reference stands for: a name of a scope, an element of a vector or of a map.

    :param place: of what refers to it, which may be left behind when a vector shrinks
    """

    container: Scope | list[object] | Map
    key: object
    place: int

    @property
    def value(self) -> object:
        try:
            return self.container[self.key]  # type: ignore[index, call-overload]
        except LookupError:
            return Unknown(SourceFault("the element that is referred to is gone", self.place))

    def set(self, value: object) -> None:
        """Do nothing if the element is gone: what follows finds it unknown."""
        with suppress(LookupError):
            self.container[self.key] = value  # type: ignore[index, call-overload]


class Scope(dict[str, object]):
    """The names of a block, a body, an object or a namespace, with their values; of a reference its variable."""

    def __init__(self, parent: Scope | None = None) -> None:
        super().__init__()
        self.parent = parent

    def holder(self, name: str) -> Scope | None:
        """Return the scope that has a name, this one or the nearest around it."""
        scope: Scope | None = self
        while scope is not None and name not in scope:
            scope = scope.parent
        return scope


@dataclass(slots=True, eq=False, repr=False)
class Functions:
    """All functions of a name in a namespace or class.

    :param scope: where their bodies look up names
    """

    definitions: list[SourceFunction]
    scope: Scope


@dataclass(slots=True, eq=False, repr=False)
class Position:
    """An iterator: a position in a vector, or in the pairs of a map.

    :param owner: the vector or map
    """

    owner: object
    items: list[object]
    index: int

    def at(self, index: int) -> Position:
        return Position(self.owner, self.items, index)


class Map(dict[object, object]):
    """``std::map``.

    :ivar default: makes the value of a key that ``map[key]`` does not find
    """

    def __init__(self, pairs: Iterable[tuple[object, object]], default: Callable[[], object]) -> None:
        super().__init__(pairs)
        self.default = default


@dataclass(eq=False, repr=False)
class StepBudget:
    """What the statements of a source may cost: steps, and elements of vectors and texts that they make."""

    left: int

    def spend(self, steps: int, place: int) -> None:
        """:raises SourceFault: if nothing is left"""
        self.left -= steps
        if self.left < 0:
            raise SourceFault("the statements take too many steps", place)


Arguments = Sequence[Value]


def plain(value: Operand) -> Value:
    """Return the value of a variable, and any other value as it is."""
    return value.value if isinstance(value, Variable) else value
