"""What a script gives to a library, as far as its text shows it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

Value: TypeAlias = Any
"""A string, number, None or tuple of Python; a list, set or dictionary; a :class:`Symbol` or an :class:`Unread`."""
_LONGEST = 60
"""The longest expression that a message shows whole."""


@dataclass(frozen=True)
class Symbol:
    """A name that the script imports, or that nothing in it sets: ``mindspore.nn.Dense``."""

    path: str


@dataclass(frozen=True)
class Unread:
    """A value, or a part of a list, that only the running script knows.

    :param text: the expression, or what decides; shortened
    :param is_parameter: whether it is a parameter of a function that only hands it on
    """

    line: int
    column: int
    text: str
    is_parameter: bool = False


class Default(str):
    """A string of a list that the library has; equal to the same string of a script."""

    __slots__ = ()


class Test(NamedTuple):
    """A test that decides whether a call runs.

    :param holds: whether it must hold
    :param known: the values of variables and lists in it, by their text
    """

    test: ast.expr
    holds: bool
    known: dict[str, Value]


class Call(NamedTuple):
    """A call that gives values to parameters.

    :param function: its last name; ``dict`` for a dictionary, ``=`` for a variable of the name
    :param arguments: by parameter; a list, set or tuple is a tuple
    :param last_line: where the call ends
    :param tests: what decides whether it runs
    """

    function: str
    arguments: dict[str, Value]
    line: int
    last_line: int
    column: int
    tests: tuple[Test, ...] = ()


class CalledLibrary(NamedTuple):
    """What is known of the library that scripts call.

    :param functions: by name, their parameters in order; they do not change a list that they are given
    :param names: parameters that other calls, dictionaries and variables give as well
    :param constants: lists of the library, or what functions without arguments return
    :param has_symbols: whether an item of a list may be a class or a module
    :param canonical: returns the usual path of a name in the library
    """

    functions: Mapping[str, Sequence[str]] = {}
    names: Collection[str] = ()
    constants: Mapping[str, Sequence[Value]] = {}
    has_symbols: bool = False
    canonical: Callable[[str], str] = str


def last_name(node: ast.AST) -> str:
    """Return ``x`` for ``x`` and for ``module.x``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def unread(node: Any) -> Unread:
    text = ast.unparse(node).partition("\n")[0]
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    return Unread(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1, text)


def shown(value: Value) -> str:
    """Return a list, or another value, as a message shows it."""
    if isinstance(value, Unread):
        return value.text
    if isinstance(value, Symbol):
        return value.path
    if isinstance(value, tuple):
        first = ", ".join("..." if isinstance(item, Unread) else shown(item) for item in value[:8])
        return f"[{first}{', ...' if len(value) > 8 else ''}]"
    return str(value)
