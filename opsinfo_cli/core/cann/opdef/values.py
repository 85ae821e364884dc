"""What expressions of C++ are worth. Numbers, booleans, strings and vectors are those of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .syntax import FunctionDefinition
from .tokens import SourceFault


class EnumConstant(str):
    """A constant of an enumeration of the framework, by its last name: ``DT_FLOAT``, ``REQUIRED``."""

    __slots__ = ()


@dataclass(slots=True, eq=False, repr=False)
class Unknown:
    """A value that cannot be worked out; it matters only where it is used.

    :param fault: why
    """

    fault: SourceFault


@dataclass(slots=True, eq=False, repr=False)
class Cell:
    """A variable: a reference shares that of what it refers to."""

    value: object


@dataclass(slots=True, eq=False, repr=False)
class Element:
    """An element of a vector, as a variable.

    :param place: of what refers to it, which may be left behind when the vector shrinks
    """

    container: list[object]
    index: int
    place: int

    @property
    def value(self) -> object:
        if self.index >= len(self.container):
            return Unknown(SourceFault("the element that is referred to is gone", self.place))
        return self.container[self.index]

    @value.setter
    def value(self, value: object) -> None:
        self.container[self.index] = value


@dataclass(slots=True, eq=False, repr=False)
class MapElement:
    """An element of a map, as a variable.

    :param place: of what refers to it, which may be left behind when the map shrinks
    """

    container: dict[object, object]
    key: object
    place: int

    @property
    def value(self) -> object:
        if self.key not in self.container:
            return Unknown(SourceFault("the element that is referred to is gone", self.place))
        return self.container[self.key]

    @value.setter
    def value(self, value: object) -> None:
        self.container[self.key] = value


Variable = Cell | Element | MapElement


@dataclass(slots=True, eq=False, repr=False)
class Scope:
    """The names of a block, a body, an object or a namespace."""

    cells: dict[str, Variable]
    parent: Scope | None

    def find(self, name: str) -> Variable | None:
        scope: Scope | None = self
        while scope is not None:
            cell = scope.cells.get(name)
            if cell is not None:
                return cell
            scope = scope.parent
        return None

    def set(self, name: str, value: object) -> None:
        self.cells[name] = Cell(value)


@dataclass(slots=True, eq=False, repr=False)
class Functions:
    """All functions of a name in a namespace or class.

    :param scope: where their bodies look up names
    """

    definitions: list[FunctionDefinition]
    scope: Scope


@dataclass(slots=True, eq=False, repr=False)
class Position:
    """An iterator: a position in a vector, or in the pairs of a map.

    :param owner: the vector or map
    """

    owner: object
    items: list[object]
    index: int


@dataclass(slots=True, eq=False, repr=False)
class Size:
    """``sizeof``: only a ratio of two is a number here.

    :param items: of the array
    """

    items: int


class Map(dict[object, object]):
    """``std::map``.

    :ivar default: makes the value of a key that ``map[key]`` does not find
    """

    def __init__(self, pairs: Iterable[tuple[object, object]], default: Callable[[], object]) -> None:
        super().__init__(pairs)
        self.default = default


class Budget:
    """What the statements of a source may cost: steps, and elements of vectors and texts that they make."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def spend(self, steps: int, place: int) -> None:
        """:raises SourceFault: if nothing is left"""
        self._left -= steps
        if self._left < 0:
            raise SourceFault("the statements take too many steps", place)
