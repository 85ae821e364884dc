"""What sources call of the C++ library: vectors, maps, strings, iterators and some algorithms; operators.

A call with arguments that do not fit raises one of :data:`_MISFITS`; :func:`method` and :func:`function` make a fault
of it, so that arguments need no checks one by one.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

from .tokens import SourceFault
from .values import Arguments, EnumConstant, Map, Position, StepBudget, String, Unknown, Value

Spend = Callable[[int], None]
_MISFITS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)


def method(value: Value, name: str, arguments: Arguments, budget: StepBudget, place: int) -> Value:
    """Return what a method of a vector, map, string or iterator returns.

    :raises SourceFault: if it is not known, or the arguments do not fit
    """
    call = _METHODS.get(type(value), {}).get(name)
    if call is None:
        raise SourceFault(f"the method `{name}` is not interpreted", place)
    return _called(name, lambda spend: call(value, arguments, spend), budget, place)


def function(name: str, arguments: Arguments, budget: StepBudget, place: int) -> Value:
    """Return what a function of :data:`FUNCTIONS` returns.

    :raises SourceFault: if the arguments do not fit
    """
    return _called(name, lambda spend: FUNCTIONS[name](arguments, spend), budget, place)


def _called(name: str, call: Callable[[Spend], Value], budget: StepBudget, place: int) -> Value:
    try:
        return call(lambda steps: budget.spend(steps, place))
    except _MISFITS:
        raise SourceFault(f"the call of `{name}` is not understood", place) from None


def _integer(value: Value) -> int:
    if not isinstance(value, int) or value < 0:
        raise TypeError
    return int(value)


def between(first: Value, last: Value, place: int) -> list[Value]:
    """Return the elements between two iterators.

    :raises SourceFault: if they are not of one vector
    """
    if not isinstance(first, Position) or not isinstance(last, Position) or first.owner is not last.owner:
        raise SourceFault("the iterators are not of one vector", place)
    if isinstance(first.owner, Map) or not 0 <= first.index <= last.index <= len(first.items):
        raise SourceFault("the iterators are not of one vector", place)
    return first.items[first.index : last.index]


def begin(value: Value) -> Position:
    if not isinstance(value, list):
        raise TypeError
    return Position(value, value, 0)


def end(value: Value) -> Position:
    position = begin(value)
    return position.at(len(position.items))


def _end_of_map(value: Map, given: Arguments, spend: Spend) -> Position:
    """Return what :func:`_find` returns without a key."""
    spend(len(value))
    pairs: list[Value] = [[key, each] for key, each in value.items()]
    return Position(value, pairs, len(pairs))


def _element(value: Value) -> Value:
    """Return what is put into a vector. Its type is not kept: of numbers only those fit that all types hold."""
    if isinstance(value, float) or (isinstance(value, int) and not -(1 << 31) <= value < 1 << 31):
        raise TypeError
    return int(value) if isinstance(value, int) else value


def _repeated(value: Value, count: int) -> list[Value]:
    if not isinstance(value, int | str):
        raise TypeError  # each element would have to be a copy
    return [_element(value)] * count


def _push_back(value: list[Value], given: Arguments, spend: Spend) -> None:
    spend(1)
    (new,) = given
    value.append(_element(new))


def _resize(value: list[Value], given: Arguments, spend: Spend) -> None:
    size = _integer(given[0])
    spend(abs(size))
    if size < 0:
        raise TypeError
    value[:] = value[:size] + _repeated(given[1] if len(given) > 1 else 0, size - len(value))


def _find(value: Map, given: Arguments, spend: Spend) -> Position:
    position = _end_of_map(value, given, spend)
    return position.at(list(value).index(given[0])) if given[0] in value else position


def _bytes(value: str, given: Arguments, spend: Spend) -> int:
    if not value.isascii():
        raise ValueError  # the compiler's character set decides it
    return len(value)


_OF_ALL: dict[str, Callable[..., Value]] = {
    "size": lambda value, given, spend: len(value),
    "empty": lambda value, given, spend: not value,
}
_METHODS: dict[type, dict[str, Callable[..., Value]]] = {
    list: _OF_ALL
    | {
        "begin": lambda value, given, spend: begin(value),
        "cbegin": lambda value, given, spend: begin(value),
        "end": lambda value, given, spend: end(value),
        "cend": lambda value, given, spend: end(value),
        "reserve": lambda value, given, spend: None,
        "clear": lambda value, given, spend: value.clear(),
        "push_back": _push_back,
        "emplace_back": _push_back,
        "resize": _resize,
    },
    Map: _OF_ALL
    | {
        "clear": lambda value, given, spend: value.clear(),
        "count": lambda value, given, spend: int(given[0] in value),
        "end": _end_of_map,
        "find": _find,
    },
    String: _OF_ALL | {"size": _bytes, "c_str": lambda value, given, spend: str(value)},
}


def _fill_n(given: Any, spend: Spend) -> None:
    start, count = given[0], _integer(given[1])
    spend(abs(count))
    if isinstance(start.owner, Map):
        raise TypeError
    if count < 0 or start.index + count > len(start.items):
        raise ValueError
    start.items[start.index : start.index + count] = _repeated(given[2], count)


class Comparison(int):
    """What ``strcmp`` returns: only whether it is 0 is known."""


def _compare(given: Arguments, spend: Spend) -> int:
    left, right = given[:2]
    if not isinstance(left, str) or not isinstance(right, str):
        raise TypeError
    return Comparison(left != right)


FUNCTIONS: dict[str, Callable[[Arguments, Spend], Value]] = {
    "begin": lambda given, spend: begin(given[0]),
    "cbegin": lambda given, spend: begin(given[0]),
    "end": lambda given, spend: end(given[0]),
    "cend": lambda given, spend: end(given[0]),
    "fill_n": _fill_n,
    "strcmp": _compare,
    "to_string": lambda given, spend: String(_integer(given[0])),
}
"""By name without ``std::``; those that call back are in the runner."""
ITERATORS = frozenset(("begin", "cbegin", "end", "cend"))
"""Those that need the vector itself, and no copy of it."""


def limit(kind: str, name: str) -> Value:
    """Return ``std::numeric_limits<kind>::name()``; None if it is not known."""
    if kind in ("float", "double"):
        largest = (2 - 2.0**-23) * 2.0**127 if kind == "float" else sys.float_info.max
        return {"max": largest, "lowest": -largest, "infinity": math.inf}.get(name)
    if kind not in _BITS:
        return None
    is_signed = kind.startswith("int")
    lowest = -(1 << _BITS[kind] - 1) if is_signed else 0
    return {"max": (1 << _BITS[kind] - is_signed) - 1, "min": lowest, "lowest": lowest}.get(name)


_BITS = {"int": 32, "unsigned": 32, "size_t": 64}
_BITS |= {f"{kind}{bits}_t": bits for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


# Operators


def unary(operation: str, value: Value, place: int) -> Value:
    if isinstance(value, Unknown):
        return value
    if operation == "!" and isinstance(value, int):
        return not value
    if operation == "-" and isinstance(value, int | float):
        return -value
    return Unknown(SourceFault(f"`{operation}` of this value is not interpreted", place))


def binary(operation: str, left: Value, right: Value, budget: StepBudget, place: int) -> Value:
    """Return ``left operation right``; unknown if it cannot be worked out.

    The types of numbers are not kept: in C++ a negative number, or a result that no ``int`` holds, may be another.
    """
    for each in (left, right):
        if isinstance(each, Unknown):
            return each
        if isinstance(each, str | list):
            budget.spend(len(each), place)
    fault = SourceFault(f"`{operation}` of these values is not interpreted", place)
    if any(isinstance(each, int | float) and each < 0 for each in (left, right)):
        return Unknown(fault)
    try:
        value = _BINARY[operation](left, right)
    except (*_MISFITS, KeyError):
        return Unknown(fault)
    if isinstance(value, int) and value >> 31 and operation != "/":
        return Unknown(fault)
    return value


def _add(left: Any, right: Any) -> Value:
    if isinstance(left, Position):
        if isinstance(left.owner, Map):
            raise TypeError  # its order is another
        return left.at(left.index + _integer(right))
    if isinstance(left, EnumConstant | list) or isinstance(right, EnumConstant):
        raise TypeError
    return String(left + right) if isinstance(left, str) else left + right


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, Position):
        if left.owner is not right.owner or len(left.items) != len(right.items):
            raise ValueError
        return bool(left.index == right.index)
    if isinstance(left, Comparison) and right == 0 and isinstance(right, int):
        return not left
    are_strings = String in (type(left), type(right)) and {type(left), type(right)} <= {String, str}
    are_constants = isinstance(left, EnumConstant) and left.partition("_")[0] == str(right).partition("_")[0]
    if not are_strings and (type(left) is not type(right) or not (isinstance(left, int | None) or are_constants)):
        raise TypeError
    return bool(left == right)


def _multiply(left: Any, right: Any) -> Value:
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        raise TypeError
    return left * right


def _divide(left: Any, right: Any) -> Value:
    """No operand is negative, so that C++ rounds as Python does."""
    return left // right if isinstance(left, int) and isinstance(right, int) else left / right


def _of_numbers(compute: Callable[[Any, Any], Value]) -> Callable[[Value, Value], Value]:
    """Return a function that refuses operands that are no numbers."""

    def checked(left: Value, right: Value) -> Value:
        if not isinstance(left, int) or not isinstance(right, int) or Comparison in (type(left), type(right)):
            raise TypeError
        return compute(int(left), int(right))

    return checked


_BINARY: dict[str, Callable[[Any, Any], Value]] = {
    "+": _add,
    "-": operator.sub,
    "*": _multiply,
    "/": _divide,
    "|": _of_numbers(operator.or_),
    "&": _of_numbers(operator.and_),
    "^": _of_numbers(operator.xor),
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _of_numbers(operator.lt),
    ">": _of_numbers(operator.gt),
    "<=": _of_numbers(operator.le),
    ">=": _of_numbers(operator.ge),
}
