"""What sources call of the C++ library: vectors, maps, strings, iterators and some algorithms.

A call with arguments that do not fit raises one of :data:`_MISFITS`; :func:`method` and :func:`function` make a fault
of it, so that arguments need no checks one by one.
"""

from __future__ import annotations

import math
import operator
import re
import sys
from collections.abc import Callable, Sequence
from typing import cast

from .tokens import SourceFault
from .values import Budget, EnumConstant, Map, Position, Size, Unknown

Arguments = Sequence[object]
_Vector = list[object]
_MISFITS = (TypeError, ValueError, LookupError, ArithmeticError, AssertionError)


def method(value: object, name: str, arguments: Arguments, budget: Budget, place: int) -> object:
    """Return what a method of a vector, map, string or iterator returns.

    :raises SourceFault: if it is not known, or the arguments do not fit
    """
    for kind, methods in _METHODS.items():
        if isinstance(value, kind) and name in methods:
            try:
                return methods[name](value, arguments, lambda steps: budget.spend(steps, place))
            except _MISFITS:
                raise SourceFault(f"the call of `{name}` is not understood", place) from None
    raise SourceFault(f"the method `{name}` is not interpreted", place)


def function(name: str, arguments: Arguments, budget: Budget, place: int) -> object:
    """Return what a function of :data:`FUNCTIONS` returns.

    :raises SourceFault: if the arguments do not fit
    """
    try:
        return FUNCTIONS[name](arguments, lambda steps: budget.spend(steps, place))
    except _MISFITS:
        raise SourceFault(f"the call of `{name}` is not understood", place) from None


Spend = Callable[[int], None]


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError
    return int(value)


def _position(value: object) -> Position:
    if not isinstance(value, Position):
        raise TypeError
    return value


def between(first: object, last: object) -> _Vector:
    """Return the elements between two iterators.

    :raises ValueError: if they are of two containers
    """
    start, end = _position(first), _position(last)
    if start.owner is not end.owner or not 0 <= start.index <= end.index <= len(start.items):
        raise ValueError
    return start.items[start.index : end.index]


def begin(value: object) -> Position:
    if isinstance(value, Map):
        return Position(value, [[key, each] for key, each in sorted(value.items(), key=_by_key)], 0)
    if not isinstance(value, list):
        raise TypeError
    return Position(value, value, 0)


def end(value: object) -> Position:
    position = begin(value)
    return Position(position.owner, position.items, len(position.items))


def _by_key(pair: tuple[object, object]) -> tuple[int, str]:
    """``std::map`` orders numbers by value, and texts by character."""
    return (int(pair[0]), "") if isinstance(pair[0], int) else (0, str(pair[0]))


# Vectors


def _push_back(value: _Vector, given: Arguments, spend: Spend) -> None:
    spend(1)
    value.append(given[0] if len(given) == 1 else list(given))


def _pop_back(value: _Vector, given: Arguments, spend: Spend) -> None:
    value.pop()


def _resize(value: _Vector, given: Arguments, spend: Spend) -> None:
    size = _number(given[0])
    spend(abs(size))
    filler = given[1] if len(given) > 1 else 0
    value[:] = value[:size] + [filler] * (size - len(value))


def _insert(value: _Vector, given: Arguments, spend: Spend) -> None:
    at = _position(given[0])
    if at.owner is not value:
        raise ValueError
    if len(given) == 2:
        new = given[1] if isinstance(given[1], list) else [given[1]]
    elif isinstance(given[1], Position):
        new = between(given[1], given[2])
    else:
        spend(_number(given[1]))
        new = [given[2]] * _number(given[1])
    spend(len(value) + len(new))
    value[at.index : at.index] = list(new)


def _at(value: _Vector, given: Arguments, spend: Spend) -> object:
    index = _number(given[0])
    if index < 0:
        raise IndexError
    return value[index]


_VECTOR: dict[str, Callable[..., object]] = {
    "size": lambda value, given, spend: len(value),
    "empty": lambda value, given, spend: not value,
    "push_back": _push_back,
    "emplace_back": _push_back,
    "pop_back": _pop_back,
    "begin": lambda value, given, spend: begin(value),
    "cbegin": lambda value, given, spend: begin(value),
    "end": lambda value, given, spend: end(value),
    "cend": lambda value, given, spend: end(value),
    "at": _at,
    "front": lambda value, given, spend: value[0],
    "back": lambda value, given, spend: value[-1],
    "data": lambda value, given, spend: value,
    "reserve": lambda value, given, spend: None,
    "shrink_to_fit": lambda value, given, spend: None,
    "clear": lambda value, given, spend: value.clear(),
    "resize": _resize,
    "insert": _insert,
}


# Maps


def _begin_map(value: Map, given: Arguments, spend: Spend) -> Position:
    spend(len(value))
    return begin(value)


def _end_map(value: Map, given: Arguments, spend: Spend) -> Position:
    spend(len(value))
    return end(value)


def _find(value: Map, given: Arguments, spend: Spend) -> Position:
    spend(len(value))
    position = end(value)
    found = [index for index, pair in enumerate(position.items) if cast("_Vector", pair)[0] == given[0]]
    return Position(value, position.items, found[0]) if found else position


def _emplace(value: Map, given: Arguments, spend: Spend) -> None:
    spend(1)
    key, each = given if len(given) == 2 else cast("_Vector", given[0])
    value.setdefault(key, each)


_MAP: dict[str, Callable[..., object]] = {
    "size": lambda value, given, spend: len(value),
    "empty": lambda value, given, spend: not value,
    "count": lambda value, given, spend: int(given[0] in value),
    "contains": lambda value, given, spend: given[0] in value,
    "at": lambda value, given, spend: value[given[0]],
    "find": _find,
    "begin": _begin_map,
    "cbegin": _begin_map,
    "end": _end_map,
    "cend": _end_map,
    "emplace": _emplace,
    "insert": _emplace,
    "clear": lambda value, given, spend: value.clear(),
    "reserve": lambda value, given, spend: None,
}


# Strings


_STRING: dict[str, Callable[..., object]] = {
    "c_str": lambda value, given, spend: value,
    "GetString": lambda value, given, spend: value,
    "data": lambda value, given, spend: value,
    "size": lambda value, given, spend: len(value),
    "length": lambda value, given, spend: len(value),
    "empty": lambda value, given, spend: not value,
}

_METHODS: dict[type, dict[str, Callable[..., object]]] = {list: _VECTOR, Map: _MAP, str: _STRING}

# Functions


def _fill_n(given: Arguments, spend: Spend) -> None:
    start, count = _position(given[0]), _number(given[1])
    spend(abs(count))
    if count < 0 or start.index + count > len(start.items):
        raise ValueError
    start.items[start.index : start.index + count] = [given[2]] * count


def _copy(given: Arguments, spend: Spend) -> None:
    """``copy(first, last, out)``, where ``out`` is an iterator or ``back_inserter(vector)``."""
    values = between(given[0], given[1])
    spend(len(values))
    out = given[2]
    if isinstance(out, list):
        out.extend(values)
        return
    start = _position(out)
    if start.index + len(values) > len(start.items):
        raise ValueError
    start.items[start.index : start.index + len(values)] = values


def _compare(given: Arguments, spend: Spend) -> int:
    left, right = given[:2]
    if not isinstance(left, str) or not isinstance(right, str):
        raise TypeError
    return (left > right) - (left < right)


def _to_string(given: Arguments, spend: Spend) -> str:
    if not isinstance(given[0], int):
        raise TypeError
    return str(int(given[0]))


FUNCTIONS: dict[str, Callable[[Arguments, Spend], object]] = {
    "make_pair": lambda given, spend: list(given),
    "make_tuple": lambda given, spend: list(given),
    "move": lambda given, spend: given[0],
    "forward": lambda given, spend: given[0],
    "ref": lambda given, spend: given[0],
    "cref": lambda given, spend: given[0],
    "back_inserter": lambda given, spend: given[0],
    "begin": lambda given, spend: begin(given[0]),
    "cbegin": lambda given, spend: begin(given[0]),
    "end": lambda given, spend: end(given[0]),
    "cend": lambda given, spend: end(given[0]),
    "fill_n": _fill_n,
    "copy": _copy,
    "strcmp": _compare,
    "to_string": _to_string,
    "min": lambda given, spend: min(_number(given[0]), _number(given[1])),
    "max": lambda given, spend: max(_number(given[0]), _number(given[1])),
}
"""By name without ``std::``; those that call back are in the interpreter."""


def limit(kind: str, name: str) -> object:
    """Return ``std::numeric_limits<kind>::name()``; None if it is not known."""
    if kind in ("float", "double"):
        largest = (2 - 2.0**-23) * 2.0**127 if kind == "float" else sys.float_info.max
        return {"max": largest, "lowest": -largest, "infinity": math.inf}.get(name)
    bits = {"size_t": 64, "int": 32, "unsigned": 32}.get(kind) or int((re.search(r"\d+", kind) or ["0"])[0])
    if bits not in (8, 16, 32, 64):
        return None
    is_signed = kind.startswith("int")
    lowest = -(1 << bits - 1) if is_signed else 0
    return {"max": (1 << bits - is_signed) - 1, "min": lowest, "lowest": lowest}.get(name)


# Operators


def unary(operation: str, value: object, place: int) -> object:
    if isinstance(value, Unknown):
        return value
    if operation == "!" and not isinstance(value, EnumConstant):
        return not value
    if operation in ("-", "+", "~") and isinstance(value, int | float):
        if operation == "~":
            return ~value if isinstance(value, int) else Unknown(SourceFault("`~` of a fraction", place))
        return -value if operation == "-" else value
    return Unknown(SourceFault(f"`{operation}` of this value is not interpreted", place))


def binary(operation: str, left: object, right: object, budget: Budget, place: int) -> object:
    """Return ``left operation right``; unknown if it cannot be worked out or does not fit into 64 bits."""
    for each in (left, right):
        if isinstance(each, Unknown):
            return each
    for each in (left, right):
        if isinstance(each, str | list):
            budget.spend(len(each), place)
    if isinstance(left, Position):
        return _move_iterator(operation, left, right, place)
    if isinstance(left, Size) and isinstance(right, Size) and operation == "/" and right.items:
        return left.items // right.items
    try:
        value = _BINARY[operation](left, right)
    except (*_MISFITS, KeyError):
        return Unknown(SourceFault(f"`{operation}` of these values is not interpreted", place))
    if isinstance(value, int) and abs(value) >> 64:
        return Unknown(SourceFault(f"the result of `{operation}` has more than 64 bits", place))
    return value


def _move_iterator(operation: str, left: Position, right: object, place: int) -> object:
    if isinstance(right, int) and operation in ("+", "-"):
        return Position(left.owner, left.items, left.index + (right if operation == "+" else -right))
    if isinstance(right, Position) and right.owner is left.owner:
        if operation in ("==", "!="):
            return (left.index == right.index) == (operation == "==")
        if operation == "-":
            return left.index - right.index
    return Unknown(SourceFault(f"`{operation}` of iterators is not interpreted", place))


def _divide(left: object, right: object) -> object:
    """C++ rounds towards zero."""
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return cast("float", left) / cast("float", right)


def _remainder(left: object, right: object) -> int:
    return _number(left) - _number(right) * cast("int", _divide(_number(left), _number(right)))


def _add(left: object, right: object) -> object:
    if isinstance(left, EnumConstant) or isinstance(right, EnumConstant) or isinstance(left, list):
        raise TypeError
    return cast("int", left) + cast("int", right)


def _shift(left: object, right: object) -> int:
    if not 0 <= _number(right) < 64:
        raise ValueError
    return _number(left) << _number(right)


def _numbers(compute: Callable[[int, int], object]) -> Callable[[object, object], object]:
    """Return a function that refuses operands that are no numbers."""

    def checked(left: object, right: object) -> object:
        if not isinstance(left, int | float) or not isinstance(right, int | float):
            raise TypeError
        return compute(cast("int", left), cast("int", right))

    return checked


_BINARY: dict[str, Callable[[object, object], object]] = {
    "+": _add,
    "-": _numbers(operator.sub),
    "*": _numbers(operator.mul),
    "/": _divide,
    "%": _remainder,
    "<<": _shift,
    "|": _numbers(operator.or_),
    "&": _numbers(operator.and_),
    "^": _numbers(operator.xor),
    "==": operator.eq,
    "!=": operator.ne,
    "<": _numbers(operator.lt),
    ">": _numbers(operator.gt),
    "<=": _numbers(operator.le),
    ">=": _numbers(operator.ge),
}
