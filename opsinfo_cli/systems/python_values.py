"""The values of a script while it is read: what is known, what is not, and what two branches leave alike."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

Value: TypeAlias = Any
"""A string, number, None or tuple of Python; a list, set or dictionary (:class:`Ref`); a :class:`Symbol`, a function
of the script, or an :class:`Unread`."""
_LONGEST = 60
"""The longest expression that a message shows whole."""
LARGEST = 20_000
"""Items of a list and characters of a string that are followed."""
_MOST_STEPS = 200_000
"""Statements and expressions that are followed; real scripts take a few thousand."""


@dataclass(frozen=True)
class Symbol:
    """A name that the script imports, or that nothing in it sets: ``mindspore.nn.Dense``."""

    path: str


@dataclass(frozen=True)
class Unread:
    """A value, or a part of a list, that only the running script knows.

    :param text: the expression, or what decides; shortened
    :param is_parameter: whether it is a parameter of a function that nothing in the file calls
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


class Library(NamedTuple):
    """What is known of the library that scripts call.

    :param functions: by name, their parameters in order
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


class TooLong(Exception):
    """More steps than are followed."""


@dataclass(frozen=True)
class Ref:
    """A list, set or dictionary: several names may mean the same one."""

    number: int


@dataclass(frozen=True)
class Function:
    """:param depth: the number of scopes around it
    :param owner: the class of a method
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef
    depth: int
    defaults: tuple[tuple[str, Value], ...] = ()
    owner: str = ""


Scope: TypeAlias = dict[str, Value]
Content: TypeAlias = "list[Value] | set[Value] | dict[Value, Value]"


class State(NamedTuple):
    """:param scopes: variables, the module's first; attributes are there by their path
    :param heap: the content of each list, set and dictionary; replaced when it changes
    """

    scopes: list[Scope]
    heap: dict[int, Content]

    def copy(self) -> State:
        return State([dict(scope) for scope in self.scopes], dict(self.heap))


class Values:
    """The variables of a script at the place that is read."""

    def __init__(self) -> None:
        self.state = State([{}], {})
        self._steps = 0
        self._counter = 0

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooLong

    @contextmanager
    def _inner(self) -> Iterator[None]:
        """A scope of a comprehension or a lambda."""
        self.state.scopes.append({})
        yield
        self.state.scopes.pop()

    def _new(self, content: Content) -> Ref:
        self._counter += 1
        self.state.heap[self._counter] = content
        return Ref(self._counter)

    def _copy_of(self, ref: Ref) -> Any:
        return self.state.heap[ref.number].copy()

    def _replace(self, ref: Ref, content: Content) -> None:
        if len(content) > LARGEST:
            raise TooLong
        self.state.heap[ref.number] = content

    def _items(self, value: Value, node: ast.AST | None) -> list[Value]:
        """Return what a loop over a value gives; what is not known of it is one :class:`Unread`."""
        if isinstance(value, Ref):
            content = self.state.heap[value.number]
            return sorted(content, key=str) if isinstance(content, set) else list(content)
        if isinstance(value, tuple | str):
            return list(value)
        if isinstance(value, Unread):
            return [value]
        return [self._unread(node)] if node is not None else [Unread(0, 0, "")]

    def _plain(self, value: Value) -> Value:
        """Return a value as it is now, lists and sets as tuples."""
        if isinstance(value, Ref):
            content = self.state.heap[value.number]
            return content if isinstance(content, dict) else tuple(self._items(value, None))
        return value

    def _truth(self, value: Value) -> bool | None:
        if isinstance(value, Unread | Symbol | Function):
            return None
        plain = self._plain(value)
        if isinstance(plain, tuple | dict) and not is_whole(plain):
            return True if any(not isinstance(each, Unread) for each in plain) else None
        return bool(plain)

    def _same(self, one: State, other: State) -> bool:
        return one.scopes == other.scopes and one.heap == other.heap

    def _joined(self, states: Sequence[State], node: ast.AST) -> State:
        """Return what all of several states have in common; the rest depends on the branch."""
        first, *others = states
        for other in others:
            for number in first.heap.keys() | other.heap.keys():
                one, two = (state.heap.get(number) for state in (first, other))
                if one is None or two is None:
                    first.heap[number] = one if one is not None else two  # type: ignore[assignment]
                elif one is not two and one != two:
                    first.heap[number] = self._merged(one, two, node)
            self.state = first
            for scope, other_scope in zip(first.scopes, other.scopes, strict=False):
                for name, value in other_scope.items():
                    if name not in scope:
                        scope[name] = value
                    elif scope[name] is not value and scope[name] != value:
                        scope[name] = self._either([scope[name], value], node)
        return first

    def _merged(self, one: Content, two: Content, node: ast.AST) -> Content:
        if isinstance(one, dict) and isinstance(two, dict):
            unread = self._unread(node, "what a branch sets")
            return {key: one[key] if one.get(key) == two.get(key) else unread for key in one.keys() | two.keys()}
        return unknown(one, self._unread(node, _alternatives([shown(one), shown(two)])))

    def _either(self, values: Sequence[Value], node: ast.AST) -> Value:
        """Return the value if all are alike; else one that depends on the branch."""
        plain = [self._plain(value) for value in values]
        if all(each == plain[0] for each in plain):
            return values[0]
        unread = self._unread(node, _alternatives([shown(each) for each in plain]))
        if all(isinstance(value, Ref) for value in values):
            return self._new(unknown(self.state.heap[values[0].number], unread))
        return unread

    def _unread(self, node: Any, text: str | None = None) -> Unread:
        if text is None:
            text = ast.unparse(node).partition("\n")[0]
            text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
        return Unread(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1, text)


def last_name(node: ast.expr) -> str | None:
    """Return ``x`` for ``x`` and for ``module.x``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def is_whole(content: Any) -> bool:
    return not (isinstance(content, list | tuple | set | dict) and any(isinstance(each, Unread) for each in content))


def as_set(items: Sequence[Value]) -> set[Value]:
    return {item for item in items if not isinstance(item, Ref)}


def unknown(content: Content, unread: Unread) -> Content:
    if isinstance(content, dict):
        return {unread: unread}
    return [unread] if isinstance(content, list) else {unread}


def shown(value: Value) -> str:
    """Return a list, or another value, as a message shows it."""
    if isinstance(value, Unread):
        return value.text
    if isinstance(value, Symbol):
        return value.path
    if isinstance(value, tuple | list | set):
        items = sorted(value, key=str) if isinstance(value, set) else value
        if len(items) == 1 and isinstance(items[0], Unread):
            return items[0].text
        first = ", ".join("..." if isinstance(item, Unread) else shown(item) for item in items[:8])
        return f"[{first}{', ...' if len(value) > 8 else ''}]"
    return str(value)


def _alternatives(texts: Sequence[str]) -> str:
    return " or ".join(dict.fromkeys(part for text in texts for part in text.split(" or ")))


def is_static(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(last_name(each) == "staticmethod" for each in node.decorator_list)


def is_text(value: str) -> bool:
    """Return whether a literal can be written: an escape may be half of a character, as in ``"\\ud800"``."""
    return not any("\ud800" <= character <= "\udfff" for character in value)
