"""Lists in Python source, read from the syntax tree; the code is never run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..errors import Damaged
from ..text.source import Source

_COPIES = frozenset({"list", "set", "tuple", "sorted", "frozenset"})


class PythonName(NamedTuple):
    """A string in a list.

    :param constant: the known constant it comes from, such as ``DEFAULT_OP_BLOCK_LIST``; None if it is a literal
    """

    text: str
    constant: str | None = None


def named_lists(
    source: Source, names: frozenset[str], constants: Mapping[str, list[str]] | None = None
) -> dict[str, list[PythonName]]:
    """Return the strings last assigned to each of ``names``, or passed as a keyword argument of that name.

    Follows sums, copies, unpacking, ``+=``, ``append``, ``extend`` and variables of the same file.

    :param constants: library constants that the text may use
    :raises Damaged: if the text is not valid Python, or a list is computed in another way
    """
    script = _Script(source, names, constants or {})
    nodes = [node for node in ast.walk(_tree(source)) if isinstance(node, ast.stmt | ast.Call)]
    try:
        for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
            script.read(node)
    except RecursionError:
        raise _too_deep(source) from None
    return {name: list(strings) for name, strings in script.variables.items() if name in names}


class _Script:
    """The lists of strings in a script, by variable, after the statements read so far.

    A list has each string once: one that is added to itself again and again would take all memory.
    """

    def __init__(self, source: Source, names: frozenset[str], constants: Mapping[str, list[str]]) -> None:
        self.path = source.path
        self.names = names
        self.constants = constants
        self.variables: dict[str, dict[PythonName, None]] = {}

    def read(self, node: ast.stmt | ast.Call) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._assign(_last_name(target), node.value)
        elif isinstance(node, ast.AugAssign):
            self._extend(_last_name(node.target), node.value)
        elif isinstance(node, ast.Call):
            for keyword in node.keywords:
                self._assign(keyword.arg, keyword.value)
            if isinstance(node.func, ast.Attribute) and len(node.args) == 1:
                value = node.args[0]
                if node.func.attr in ("append", "add"):
                    value = ast.copy_location(ast.List([value]), value)
                if node.func.attr in ("append", "add", "extend", "update"):
                    self._extend(_last_name(node.func.value), value)

    def _assign(self, name: str | None, value: ast.expr) -> None:
        if name is None or (isinstance(value, ast.Constant) and value.value is None):
            return
        if name not in self.names or _last_name(value) != name:  # f(name=name) passes a list on
            self._add(name, {}, value)

    def _extend(self, name: str | None, value: ast.expr) -> None:
        if name is not None and (name in self.names or name in self.variables):
            self._add(name, self.variables.get(name, {}), value)

    def _add(self, name: str, strings: dict[PythonName, None], value: ast.expr) -> None:
        """Set a variable to strings and those of an expression; only a wanted list may not be computed otherwise."""
        try:
            strings.update(dict.fromkeys(self._strings(name, value)))
            self.variables[name] = strings
        except Damaged:
            if name in self.names:
                raise
            self.variables.pop(name, None)

    def _strings(self, name: str, value: ast.expr) -> Iterable[PythonName]:
        if isinstance(value, ast.List | ast.Set | ast.Tuple):
            return [string for item in value.elts for string in self._item(name, item)]
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.BitOr):
            return [*self._strings(name, value.left), *self._strings(name, value.right)]
        variable = _last_name(value)
        if variable is not None and variable in self.constants:
            return [PythonName(text, variable) for text in self.constants[variable]]
        if variable is not None and variable in self.variables:
            return self.variables[variable]
        if isinstance(value, ast.Call):
            function = _last_name(value.func)
            if function in _COPIES and len(value.args) <= 1 and not value.keywords:
                return self._strings(name, value.args[0]) if value.args else []
            if function == "copy" and isinstance(value.func, ast.Attribute) and not value.args:
                return self._strings(name, value.func.value)
        raise self._computed(name, value)

    def _item(self, name: str, item: ast.expr) -> Iterable[PythonName]:
        if isinstance(item, ast.Starred):
            return self._strings(name, item.value)
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            return [PythonName(item.value)]
        raise self._computed(name, item)

    def _computed(self, name: str, value: ast.expr) -> Damaged:
        return Damaged(
            f"`{name}` is not a list of strings that can be read without running the script",
            path=self.path,
            line=value.lineno,
            column=value.col_offset + 1,
            hint="write the names out as a list of strings",
        )


def calls(source: Source, functions: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (function, module, name) for every call such as ``amp.register_half_function(torch, "bmm")``, in order.

    :raises Damaged: if the text is not valid Python
    """
    for node in ast.walk(_tree(source)):
        if not isinstance(node, ast.Call) or len(node.args) != 2:
            continue
        function, name = _last_name(node.func), node.args[1]
        if function in functions and isinstance(name, ast.Constant) and isinstance(name.value, str):
            try:
                module = ast.unparse(node.args[0])
            except RecursionError:
                raise _too_deep(source) from None
            yield str(function), module, name.value


def _too_deep(source: Source) -> Damaged:
    return Damaged("an expression is nested too deeply", path=source.path)


def _last_name(node: ast.expr) -> str | None:
    """Return ``x`` for ``x`` and for ``module.x``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _tree(source: Source) -> ast.Module:
    try:
        return ast.parse(source.text)
    except SyntaxError as error:
        message = f"invalid Python: {error.msg}"
        raise Damaged(message, path=source.path, line=error.lineno, column=error.offset) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Damaged(f"cannot parse as Python: {error}", path=source.path) from None
