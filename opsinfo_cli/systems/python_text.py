"""Lists in Python source, read from the syntax tree; the code is never run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

from ..core.text.source import Source
from ..errors import Damaged
from .vocabulary import Loss, loss_of

_LONGEST = 60
"""The longest expression that a message shows whole."""
_COPIES = frozenset({"list", "set", "tuple", "sorted", "frozenset"})


class PythonName(NamedTuple):
    """A string in a list.

    :param constant: the known constant it comes from, such as ``DEFAULT_OP_BLOCK_LIST``; None if it is a literal
    """

    text: str
    constant: str | None = None


class Unread(NamedTuple):
    """A part of a list that only the running script knows.

    :param text: the expression, shortened
    """

    line: int
    column: int
    text: str


class PythonList(NamedTuple):
    """A list of a script: its strings, each once, and what could not be read of it."""

    names: dict[PythonName, None]
    unread: dict[Unread, None]

    def __or__(self, other: PythonList) -> PythonList:
        return PythonList({**self.names, **other.names}, {**self.unread, **other.unread})


_EMPTY = PythonList({}, {})


def named_lists(
    source: Source,
    names: frozenset[str],
    constants: Mapping[str, list[str]] | None = None,
    nodes: frozenset[str] = frozenset(),
    classes: bool = False,
) -> tuple[dict[str, list[PythonName]], tuple[Loss, ...]]:
    """Return the strings last assigned to each of ``names``, or passed as a keyword argument of that name.

    Follows sums, copies, unpacking, ``+=``, ``append``, ``extend`` and variables of the same file. What is computed in
    another way is in a loss, with its place.

    :param constants: library constants that the text may use, or functions without arguments that return them
    :param classes: whether an item may be a class, as ``nn.Dense``
    :param nodes: the lists of nodes, which may be computed whole
    :raises Damaged: if the text is not valid Python, or nothing of any list can be read
    """
    script = _Script(names, constants or {}, classes)
    statements = [node for node in ast.walk(_tree(source)) if isinstance(node, ast.stmt | ast.Call)]
    try:
        for node in sorted(statements, key=lambda node: (node.lineno, node.col_offset)):
            script.read(node)
    except RecursionError:
        raise _too_deep(source) from None
    lists = {name: read for name, read in script.variables.items() if name in names}
    unread = [(name, part) for name, read in lists.items() for part in read.unread]
    needed = [(name, part) for name, part in unread if name not in nodes]
    if needed and not any(read.names for read in lists.values()):
        name, part = needed[0]
        message = f"`{name}` is not a list of strings that can be read without running the script"
        hint = "write the names out as a list of strings"
        raise Damaged(message, path=source.path, line=part.line, column=part.column, hint=hint)
    message = "the script computes these parts of its lists, so they were not read"
    details = [f"{name} ({source.path}:{part.line}:{part.column}: `{part.text}`)" for name, part in unread]
    losses = loss_of("unread", message, [name for name, _ in unread], details)
    message = "several calls of the script are given such a list, and only that of the last one was read"
    details = [f"{name} ({source.path}:{part.line}:{part.column}: `{part.text}`)" for name, part in script.replaced]
    losses += loss_of("unread", message, [name for name, _ in script.replaced], details)
    return {name: list(read.names) for name, read in lists.items()}, losses


class _Script:
    """The lists of strings in a script, by variable, after the statements read so far.

    A list has each string once: one that is added to itself again and again would take all memory.

    :ivar replaced: the lists of calls before the last one, by name
    """

    def __init__(self, names: frozenset[str], constants: Mapping[str, list[str]], classes: bool) -> None:
        self.names = names
        self.classes = classes
        self.constants = constants
        self.variables: dict[str, PythonList] = {}
        self.replaced: list[tuple[str, Unread]] = []
        self._passed: dict[str, tuple[PythonList, Unread]] = {}

    def read(self, node: ast.stmt | ast.Call) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._assign(_last_name(target), node.value)
        elif isinstance(node, ast.AugAssign):
            self._extend(_last_name(node.target), node.value)
        elif isinstance(node, ast.Call):
            for keyword in node.keywords:
                self._assign(keyword.arg, keyword.value)
                self._pass(keyword.arg, keyword.value)
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
            names, unread = self._list(value)
            self.variables[name] = PythonList(dict(names), dict(unread))

    def _pass(self, name: str | None, value: ast.expr) -> None:
        """Note the list that an earlier call was given, if this one is given another."""
        if name not in self.names or name not in self.variables:
            return
        passed, earlier = self.variables[name], self._passed.get(name)
        if earlier and earlier[0] != passed:
            self.replaced.append((name, earlier[1]))
        copied = PythonList(dict(passed.names), dict(passed.unread))
        self._passed[name] = copied, next(iter(_unread(value).unread))

    def _extend(self, name: str | None, value: ast.expr) -> None:
        if name is not None and (name in self.names or name in self.variables):
            own, more = self.variables.setdefault(name, PythonList({}, {})), self._list(value)
            own.names.update(more.names)  # in place: a script may append a thousand times
            own.unread.update(more.unread)

    def _list(self, value: ast.expr) -> PythonList:
        if isinstance(value, ast.List | ast.Set | ast.Tuple):
            parts = [self._item(item) for item in value.elts]
            names = {name: None for part in parts for name in part.names}
            return PythonList(names, {unread: None for part in parts for unread in part.unread})
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.BitOr):
            return self._list(value.left) | self._list(value.right)
        variable = _last_name(value)
        if variable is not None and variable in self.constants:
            return PythonList({PythonName(text, variable): None for text in self.constants[variable]}, {})
        if variable is not None and variable in self.variables:
            return self.variables[variable]
        if isinstance(value, ast.Call):
            function = _last_name(value.func)
            if function is not None and function in self.constants and not value.args and not value.keywords:
                return PythonList({PythonName(text, function): None for text in self.constants[function]}, {})
            if function in _COPIES and len(value.args) <= 1 and not value.keywords:
                return self._list(value.args[0]) if value.args else _EMPTY
            if function == "copy" and isinstance(value.func, ast.Attribute) and not value.args:
                return self._list(value.func.value)
        return _unread(value)

    def _item(self, item: ast.expr) -> PythonList:
        if isinstance(item, ast.Starred):
            return self._list(item.value)
        if isinstance(item, ast.Constant) and isinstance(item.value, str) and _is_text(item.value):
            return PythonList({PythonName(item.value): None}, {})
        if self.classes and isinstance(item, ast.Attribute | ast.Name):
            return PythonList({PythonName(ast.unparse(item)): None}, {})
        return _unread(item)


def _unread(value: ast.expr) -> PythonList:
    text = ast.unparse(value)
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    return PythonList({}, {Unread(value.lineno, value.col_offset + 1, text): None})


class Registered(NamedTuple):
    """A call such as ``amp.register_half_function(torch, "bmm")``."""

    function: str
    module: str
    name: str


def calls(source: Source, functions: frozenset[str]) -> tuple[list[Registered], tuple[Loss, ...]]:
    """Return the calls in order; those whose name the script computes are in a loss.

    :raises Damaged: if the text is not valid Python, or no name of any call can be read
    """
    found: list[Registered] = []
    computed: list[tuple[str, ast.Call]] = []
    for node in ast.walk(_tree(source)):
        function = _last_name(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or function not in functions:
            continue
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        module, name, *_ = [
            *node.args,
            *(keywords[key] for key in _ARGUMENTS[len(node.args) :] if key in keywords),
            None,
            None,
        ]
        if (
            isinstance(name, ast.Constant)
            and isinstance(name.value, str)
            and _is_text(name.value)
            and module is not None
        ):
            try:
                found.append(Registered(str(function), ast.unparse(module), name.value))
            except RecursionError:
                raise _too_deep(source) from None
        else:
            computed.append((str(function), node))
    if computed and not found:
        function, call = computed[0]
        message = f"`{function}` is not called with a name that can be read without running the script"
        hint = "write the names out as strings"
        raise Damaged(message, path=source.path, line=call.lineno, column=call.col_offset + 1, hint=hint)
    message = "the script computes the names of these calls, so they were not read"
    details = [f"{function} ({source.path}:{call.lineno}:{call.col_offset + 1})" for function, call in computed]
    return found, loss_of("unread", message, [function for function, _ in computed], details)


_ARGUMENTS = ("module", "name")
"""Those of APEX' functions (apex/amp/amp.py)."""


def _too_deep(source: Source) -> Damaged:
    return Damaged("an expression is nested too deeply", path=source.path)


def _last_name(node: ast.expr) -> str | None:
    """Return ``x`` for ``x`` and for ``module.x``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _is_text(value: str) -> bool:
    """Return whether a literal can be written: an escape may be half of a character, as in ``"\\ud800"``."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _tree(source: Source) -> ast.Module:
    try:
        return ast.parse(source.text)
    except SyntaxError as error:
        message = f"invalid Python: {error.msg}"
        raise Damaged(message, path=source.path, line=error.lineno, column=error.offset) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Damaged(f"cannot parse as Python: {error}", path=source.path) from None
