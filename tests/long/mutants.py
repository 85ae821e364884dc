"""Small changes to a module's source, one at a time, which tests should notice.

A comparison is reversed, `and` and `or` are swapped, a sum, `not`, a small number or a truth value is changed, a
condition is negated, the value of a `return` is dropped, or a call whose value is not used is left out. Annotations,
docstrings and the arguments of ``os.kill`` are not changed: a changed signal might reach a process outside the test.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
Change = Callable[[], str]
"""Changes a node and returns what it did."""


class Mutant(NamedTuple):
    """
    :param lines: of the expression that is changed, and the first of its statement
    :param text: the line before the change
    :param source: the source of the whole module after the change
    """

    line: int
    text: str
    lines: frozenset[int]
    what: str
    source: str


def count(source: str) -> int:
    """Return the number of mutants of a source."""
    return sum(1 for _ in _places(ast.parse(source)))


def mutant(source: str, number: int) -> Mutant:
    """Return one of the mutants of a source, by its number from 0."""
    tree = ast.parse(source)
    node, statement, change = list(_places(tree))[number]
    first = getattr(node, "lineno", statement.lineno)
    lines = frozenset({statement.lineno, *range(first, (getattr(node, "end_lineno", None) or first) + 1)})
    what = change()
    return Mutant(
        first, source.splitlines()[first - 1].strip(), lines, what, ast.unparse(ast.fix_missing_locations(tree))
    )


def _places(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.stmt, Change]]:
    for node, statement, holder in _walk(tree, None, None):
        change = _change(node, holder)
        if change:
            yield node, statement, change
        if isinstance(node, (ast.If, ast.While, ast.IfExp)) and not _is_typing(node.test):
            yield node.test, statement, _negation(node)


def _walk(
    node: ast.AST, statement: ast.stmt | None, holder: list[Any] | None
) -> Iterator[tuple[ast.AST, ast.stmt, list[Any] | None]]:
    """Nodes that may be changed, each with its statement and, for a statement, the list that holds it."""
    if isinstance(node, ast.stmt):
        statement = node
    if statement is not None:
        yield node, statement, holder
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.kill", "TypeVar"):
        return
    if isinstance(node, ast.If) and _is_typing(node.test):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                held = value if isinstance(child, ast.stmt) else None
                yield from _walk(child, statement, held)


def _is_typing(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _change(node: ast.AST, holder: list[Any] | None) -> Change | None:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        return lambda: _swap(node.ops)
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in SWAPS:
        return lambda: _swap_operator(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return lambda: _drop_not(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return lambda: _give(node, not node.value)
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value < 100:
        return lambda: _give(node, int(node.value) + 1)  # type: ignore[arg-type]
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        return lambda: _empty(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and holder is not None:
        return lambda: _leave_out(node, holder)
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _swap(operators: list[ast.cmpop]) -> str:
    before, operators[0] = type(operators[0]), SWAPS[type(operators[0])]()  # type: ignore[call-overload]
    return f"{before.__name__} -> {type(operators[0]).__name__}"


def _swap_operator(node: ast.BinOp | ast.BoolOp | ast.AugAssign) -> str:
    before, node.op = type(node.op), SWAPS[type(node.op)]()  # type: ignore[assignment]
    return f"{before.__name__} -> {type(node.op).__name__}"


def _drop_not(node: ast.UnaryOp) -> str:
    node.op = ast.UAdd()
    node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
    return "not dropped"


def _give(node: ast.Constant, value: Any) -> str:
    before, node.value = node.value, value
    return f"{before} -> {value}"


def _empty(node: ast.Return) -> str:
    node.value = ast.Constant(None)
    return "return emptied"


def _leave_out(node: ast.Expr, holder: list[Any]) -> str:
    what = ast.unparse(node.value)
    holder[holder.index(node)] = ast.Pass()
    return f"left out: {what}"


def _negation(node: ast.If | ast.While | ast.IfExp) -> Change:
    def negate() -> str:
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return "condition negated"

    return negate
