"""Names in the source text of other systems."""

from __future__ import annotations

import ast
import re


def python_lists(text: str) -> dict[str, list[str]]:
    """Module-level lists and sets of strings, or of dotted names, by variable; ``A | B`` joined."""
    found: dict[str, list[str]] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = _items(node.value, found)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if (
                isinstance(function, ast.Attribute)
                and function.attr == "extend"
                and isinstance(function.value, ast.Name)
            ):
                found[function.value.id] += _items(node.value.args[0], found)
    return found


def _items(value: ast.expr, known: dict[str, list[str]]) -> list[str]:
    if isinstance(value, ast.BinOp):
        return _items(value.left, known) + _items(value.right, known)
    if isinstance(value, ast.Name):
        return known.get(value.id, [])
    if isinstance(value, ast.Call) and value.args:  # APEX: compat.filter_attrs(MODULE, [...])
        return _items(value.args[-1], known)
    if not isinstance(value, ast.List | ast.Set | ast.Tuple):
        return []
    return [_item(item) for item in value.elts]


def _item(item: ast.expr) -> str:
    if isinstance(item, ast.Tuple):  # APEX's banned functions have a message
        return _item(item.elts[0])
    return str(item.value) if isinstance(item, ast.Constant) else ast.unparse(item)


def quoted(text: str) -> list[str]:
    return re.findall(r'"([^"]+)"', text)
