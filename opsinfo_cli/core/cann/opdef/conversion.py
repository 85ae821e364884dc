"""What a value becomes as one of a C++ type: in a declaration, an argument, a cast, the braces of a container.

Read are numbers, texts, constants of the framework, vectors, maps, classes of the source, and ``OpAICoreConfig``. Any
other type is code that is not read (a fault), because it may do anything with the value. A number that not all types of
its kind hold is unknown: ``uint8_t`` wraps around. A copy never changes with its original.
"""

from __future__ import annotations

from collections.abc import Callable

from . import standard
from .definitions import Definitions, Instance
from .op_definition import CoreConfig, Part
from .source_text import TypeText
from .values import Array, EnumConstant, Map, Position, StepBudget, String, Unknown, Value

_SIGNED = frozenset(("int", "long", "int32_t", "int64_t"))
_UNSIGNED = frozenset(("unsigned", "size_t", "uint32_t", "uint64_t"))
NUMBERS = _SIGNED | _UNSIGNED | {"bool", "float", "double", "short", "char", "int8_t", "int16_t", "uint8_t", "uint16_t"}
NOT_HELD = NUMBERS - _SIGNED - _UNSIGNED | {"reference_wrapper"}
"""Elements that do not keep the value they are given: numbers that become others, other names of a variable."""
_VECTORS = frozenset(("vector", "array", "initializer_list"))
_MAPS = frozenset(("map", "unordered_map"))
_STRINGS = frozenset(("string", "AscendString", "string_view"))
_ENUMERATIONS = frozenset(("DataType", "Format"))
TYPES = NUMBERS | _VECTORS | _MAPS | _STRINGS | _ENUMERATIONS | {"OpAICoreConfig"}
"""Names that are types of the framework or of C++, so that ``name(...)`` and ``name{...}`` make a value of one."""


class Conversion:
    """
    :param instantiate: makes an object of a class of the source, of arguments, at a place
    :param evaluate: gives the value of an expression of a namespace
    """

    def __init__(
        self,
        definitions: Definitions,
        budget: StepBudget,
        instantiate: Callable[[str, list[Value], int], Instance],
        evaluate: Callable[[int, int], Value],
    ) -> None:
        self._definitions = definitions
        self._text = definitions.text
        self._budget = budget
        self._instantiate = instantiate
        self._evaluate = evaluate

    def is_class(self, kind: TypeText) -> bool:
        """Return whether a type is a class of the source."""
        kind = self._definitions.resolve(kind)
        return kind.name in self._definitions.classes and not kind.is_pointer

    def is_type(self, name: str) -> bool:
        return name in TYPES or name in self._definitions.aliases or name in self._definitions.classes

    def construct(self, kind: TypeText, items: list[Value], is_braced: bool, at: int) -> Value:
        """Return ``T(items)`` or ``T{items}``."""
        kind = self._definitions.resolve(kind)
        if kind.is_array:
            raise self._text.fault("an array without values is not interpreted", at)
        if self.is_class(kind):
            return self._instantiate(kind.name, items, self._text.places[at])
        if kind.name == "OpAICoreConfig":
            return self._config(items, at)
        if kind.name in _VECTORS:
            return self._vector(kind, items, is_braced, at)
        if kind.name in _MAPS:
            return self.convert(kind, items if is_braced or not items else items[0], at)
        if len(items) == 1:
            return self.convert(kind, items[0], at)
        if not items and kind.name in _STRINGS:
            return String()
        if not items and kind.name in NUMBERS:
            return self.number(kind.name, 0, at)
        if not items and kind.name in _ENUMERATIONS:
            return None  # no constant, until one is assigned
        raise self._text.fault(f"a value of the type `{kind.name}` is not interpreted", at)

    def is_of(self, kind: TypeText, value: Value) -> bool:
        """Return whether a value is an object of a class."""
        return isinstance(value, Instance) and self._definitions.resolve(kind).name == value.name

    def convert(self, kind: TypeText, value: Value, at: int) -> Value:
        """Return a copy of a value as one of a type, ``T x = value``."""
        kind = self._definitions.resolve(kind)
        if isinstance(value, Unknown):
            return value
        if kind.is_array and isinstance(value, list):
            if self.is_class(kind):
                raise self._text.fault("an array of objects is not interpreted", at)
            return Array(self.convert(kind._replace(is_array=False), each, at) for each in value)
        if kind.is_pointer:
            if isinstance(value, int | float | list):
                raise self._text.fault("a value as a pointer is not interpreted", at)
            return value
        if self.is_class(kind) and not isinstance(value, Instance):
            return self._instantiate(kind.name, value if isinstance(value, list) else [value], self._text.places[at])
        if isinstance(value, bool | int | float) and kind.name in NUMBERS:
            return self.number(kind.name, value, at)
        if kind.name == "OpAICoreConfig" and isinstance(value, list | CoreConfig):
            return self._config(value if isinstance(value, list) else [value], at)
        if kind.name in _VECTORS and isinstance(value, list):
            return self._elements(kind, value, at)
        if kind.name in _MAPS and isinstance(value, list):
            return self._map(kind, value, at)
        is_constant = (isinstance(value, EnumConstant) and kind.name not in NUMBERS) or value is None
        if isinstance(value, str) and not is_constant and kind.name in _STRINGS:
            return String(value)
        if (
            kind.name == "auto"
            or (is_constant and (kind.name in TYPES or kind.name in self._definitions.parameters))
            or (isinstance(value, Map) and kind.name in _MAPS)
        ):
            return self.copy(value, at)
        raise self._text.fault(f"a value of the type `{kind.name}` is not interpreted", at)

    def copy(self, value: Value, at: int) -> Value:
        """Return what ``auto x = value`` holds: a copy that does not change with the value."""
        if isinstance(value, Array):
            raise self._text.fault("a pointer to an array is not interpreted", at)
        if isinstance(value, list):
            self._spend(len(value), at)
            return [self.copy(each, at) for each in value]
        if isinstance(value, Map):
            self._spend(len(value), at)
            return Map(((key, self.copy(each, at)) for key, each in value.items()), value.default)
        if isinstance(value, CoreConfig):
            self._spend(value.size, at)
            return value.copy()
        if isinstance(value, Part | Instance):
            raise self._text.fault("the copy of an object is not interpreted", at)
        return value

    def number(self, kind: str, value: float, at: int) -> Value:
        """Return a number as one of a type; unknown if it may not fit, which it must in the smallest ``int``."""
        if kind in ("float", "double"):
            return float(value)
        if kind == "bool" and isinstance(value, int):
            return bool(value)
        lowest = -(1 << 31) if kind in _SIGNED else 0
        if isinstance(value, int) and kind in _SIGNED | _UNSIGNED and lowest <= value < 1 << 31:
            return int(value)
        return self._unread(f"this number as `{kind}`", at)

    def _spend(self, steps: int, at: int) -> None:
        self._budget.spend(steps, self._text.places[at])

    def _unread(self, what: str, at: int) -> Unknown:
        return Unknown(self._text.fault(f"{what} is not interpreted", at))

    def _config(self, items: list[Value], at: int) -> Value:
        if items and isinstance(items[0], CoreConfig | Unknown):
            return self.copy(items[0], at)
        place = self._text.places[at]
        return CoreConfig.of_chip(place) if items else CoreConfig(place=place)

    # Vectors and maps

    def _vector(self, kind: TypeText, items: list[Value], is_braced: bool, at: int) -> Value:
        """Return a vector by the constructor that C++ chooses.

        In braces it is the list of the elements, unless these have another type: ``vector<DataType>{3, DT_INT8}`` is
        three times the dtype.
        """
        first = items[0] if items else None
        if isinstance(first, int) and not isinstance(first, bool) and kind.name == "vector":
            is_repeated = len(items) == 2 and (not is_braced or isinstance(items[1], EnumConstant))
            if is_repeated or (len(items) == 1 and not is_braced):
                return self._repeated(kind, items[1] if is_repeated else None, first, at)
        if len(items) == 2 and isinstance(first, Position) and kind.arguments:
            return self._elements(kind, standard.between(first, items[1], self._text.places[at]), at)
        if kind.name == "array" and not items and len(kind.arguments) == 2:
            size = self._evaluate(*kind.arguments[1])
            return self._repeated(kind, None, size, at) if isinstance(size, int) else size
        return self.convert(kind, first if not is_braced and len(items) == 1 else items, at)

    def _repeated(self, kind: TypeText, value: Value, count: int, at: int) -> Value:
        self._spend(abs(count), at)
        element = self._argument_type(kind, 0)
        if value is None and element is not None:
            value = self.construct(element, [], True, at)
        return self._elements(kind, [value] * count, at)

    def _elements(self, kind: TypeText, values: list[Value], at: int) -> Value:
        """Return a vector of copies."""
        element = self._argument_type(kind, 0)
        if element is None:  # deduced, which braces around a vector, or iterators, would make another
            if kind.name != "array" and not all(isinstance(each, EnumConstant | int) for each in values):
                raise self._text.fault("a vector without the type of its elements is not interpreted", at)
            return self.copy(values, at)
        if kind.name == "array" and self._evaluate(*kind.arguments[-1]) != len(values):
            return self._unread("an array with fewer items than its size", at)
        if not values and self.is_class(element):  # one that is added later would have to be made
            return self._unread(f"a vector of `{element.name}`", at)
        if element.name in NOT_HELD and not element.is_pointer:
            raise self._text.fault(f"a vector of `{element.name}` is not interpreted", at)
        is_nested = element.name in _VECTORS or self.is_class(element)
        if len(values) == 1 and isinstance(values[0], list):
            if is_nested or not values[0]:
                raise self._text.fault("braces around one vector are not interpreted", at)
            values = values[0]  # `{{...}}` and `{vector}`
        return [self.convert(element, each, at) for each in values]

    def _map(self, kind: TypeText, pairs: list[Value], at: int) -> Value:
        self._spend(len(pairs), at)
        key_type, element = self._argument_type(kind, 0), self._argument_type(kind, 1)
        if key_type is None or element is None or key_type.name not in _STRINGS:
            raise self._text.fault("a map of these types is not interpreted", at)
        of: TypeText = element
        found = Map((), lambda: self.construct(of, [], False, at))
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                raise self._text.fault("a pair expected", at)
            key = self.convert(key_type, pair[0], at)
            if not isinstance(key, String):
                raise self._text.fault("a key that is not known", at)
            found.setdefault(key, self.convert(element, pair[1], at))
        return found

    def _argument_type(self, kind: TypeText, index: int) -> TypeText | None:
        """Return an argument of a template."""
        typed = self._text.type(*kind.arguments[index]) if index < len(kind.arguments) else None
        return self._definitions.resolve(typed[0]) if typed else None
