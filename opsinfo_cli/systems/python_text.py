"""The lists that a Python script gives to a library."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from ..core.text.source import Source
from ..errors import Damaged, UsageFault
from .list_text import chosen_line
from .python_script import calls_of
from .python_values import Call, CalledLibrary, Symbol, Unread, Value, shown
from .vocabulary import Loss, Scope, loss_of


class PythonList(NamedTuple):
    """A list of a script: what is known of it, each once, and what is not."""

    items: tuple[str | Symbol, ...]
    unread: tuple[Unread, ...]


def is_python(source: Source) -> bool:
    """Return whether a text is a Python script, by its name or an import."""
    return source.path.endswith(".py") or re.search(r"^\s*(?:import|from) \w", source.text, re.MULTILINE) is not None


def python_lists(
    source: Source, library: CalledLibrary, of_nodes: Collection[str] = ()
) -> tuple[dict[str, PythonList], tuple[Loss, ...]]:
    """Return the lists that a script gives to the parameters of a library, and what of them was not read.

    A call of a function of the library decides before other calls, these before dictionaries and variables of the
    name. Two calls that are given different lists need a line.

    :param of_nodes: parameters that are lists of node names
    :raises Damaged: if the text is not valid Python, or nothing of any list can be read
    """
    given: dict[str, list[tuple[Call, Value]]] = {}
    left_out: dict[str, Call] = {}
    for call in calls_of(source, library):
        for name, value in call.arguments.items():
            if value is None and call.function in library.functions:
                left_out[name] = call
            elif value is not None and (name in library.names or name in library.constants):
                given.setdefault(name, []).append((call, value))
    for name in left_out.keys() & given.keys():  # a variable or dictionary that no call gets
        if all(call.function in _OTHERS for call, _ in given[name]):
            text = f"line {left_out[name].line} calls {left_out[name].function} without `{name}`"
            given[name] = [(call, Unread(call.line, call.column, text)) for call, _ in given[name]]
    line = chosen_line(source)
    if line is not None:
        lines = sorted({str(call.line) for calls in given.values() for call, _ in calls}, key=int)
        given = {
            name: [each for each in calls if each[0].line <= line <= each[0].last_line] for name, calls in given.items()
        }
        given = {name: calls for name, calls in given.items() if calls}
        if not given:
            hint = f"lists are given in {'lines ' if len(lines) > 1 else 'line '}{', '.join(lines)}" if lines else None
            raise UsageFault(f"line {line} gives no list", path=source.path, hint=hint)
    lists = {name: _decided(calls, library) for name, calls in given.items()}
    losses = unread_losses(source, [(name, each) for name, found in lists.items() for each in found.unread], of_nodes)
    needed = [(name, each) for name, found in lists.items() if name not in of_nodes for each in found.unread]
    if needed and not any(found.items for found in lists.values()):
        name, unread = needed[0]
        message = f"`{name}` cannot be read without running the script: {unread.text}"
        hint = "write the names out as a list of strings, or give the line of a call as FILE:LINE"
        raise Damaged(message, path=source.path, line=unread.line, column=unread.column, hint=hint)
    return lists, losses


def unread_losses(
    source: Source, parts: Iterable[tuple[str, Unread]], of_nodes: Collection[str] = ()
) -> tuple[Loss, ...]:
    """Return what was not read of lists, by the name of the list."""
    losses: tuple[Loss, ...] = ()
    message = "only the running script knows these parts of its lists, so they were not read"
    scopes: tuple[Scope, Scope] = ("operator", "node")
    parts = list(parts)
    for scope in scopes:
        of_scope = [(name, each) for name, each in parts if (name in of_nodes) is (scope == "node")]
        details = [f"{name} ({source.path}:{each.line}:{each.column}: {each.text})" for name, each in of_scope]
        losses += tuple(
            replace(loss, scope=scope) for loss in loss_of("unread", message, [name for name, _ in of_scope], details)
        )
    return losses


_OTHERS = {"dict": 2, "=": 3}


def _decided(calls: list[tuple[Call, Value]], library: CalledLibrary) -> PythonList:
    """Return the list of the calls that decide."""

    def rank(call: Call, value: Value) -> int:
        if isinstance(value, Unread) and value.is_parameter:
            return 4
        return 0 if call.function in library.functions else _OTHERS.get(call.function, 1)

    best = min(rank(*each) for each in calls)
    lists: dict[object, tuple[PythonList, Call]] = {}
    for call, value in calls:
        if rank(call, value) == best:
            found = _list_of(call, value)
            lists.setdefault((found.items, tuple(each.text for each in found.unread)), (found, call))
    if len(lists) == 1:
        return next(iter(lists.values()))[0]
    places = [f"{shown(found.items + found.unread)} in line {call.line}" for found, call in lists.values()]
    last = list(lists.values())[-1][1]
    return PythonList(
        (), (Unread(last.line, last.column, f"the script gives {len(lists)} lists: {', '.join(places)}"),)
    )


def _list_of(call: Call, value: Value) -> PythonList:
    """Return the items of a value that are names; what is none was not read."""
    values = value if isinstance(value, tuple) else (value if isinstance(value, Unread) else [value],)
    items = dict.fromkeys(each for each in values if isinstance(each, str | Symbol))
    others = [each for each in values if not isinstance(each, str | Symbol)]
    unread = [each if isinstance(each, Unread) else Unread(call.line, call.column, shown(each)) for each in others]
    return PythonList(tuple(items), tuple(dict.fromkeys(unread)))
