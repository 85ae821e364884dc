"""Lists that live in Python source: read as syntax, never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..errors import Damaged
from ..text.source import Source

__all__ = ["calls", "named_lists", "python_list"]


def named_lists(source: Source, names: frozenset[str]) -> dict[str, list[str]]:
    """Strings assigned to one of ``names``, or given as a keyword of that name; of several the last.

    :raises Damaged: where the text is no Python, or a list holds more than strings
    """
    found: dict[str, list[str]] = {}
    for node in ast.walk(_tree(source)):
        if isinstance(node, ast.Assign):
            pairs = [(target.id, node.value) for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.Call):
            pairs = [(keyword.arg or "", keyword.value) for keyword in node.keywords]
        else:
            continue
        for name, value in pairs:
            if name in names and isinstance(value, ast.List | ast.Set | ast.Tuple):
                found[name] = [_string(source, name, item) for item in value.elts]
    return found


def calls(source: Source, functions: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """(function, module, name) of every call such as ``amp.register_half_function(torch, "bmm")``, in order.

    :raises Damaged: where the text is no Python
    """
    for node in ast.walk(_tree(source)):
        if not isinstance(node, ast.Call) or len(node.args) != 2:
            continue
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        name = node.args[1]
        if function in functions and isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield function, ast.unparse(node.args[0]), name.value


def python_list(names: list[str], brackets: str = "[]") -> str:
    """A literal, one name to a line; an empty set has no literal of its own."""
    if not names:
        return "set()" if brackets == "{}" else brackets
    return brackets[0] + "\n" + "".join(f"    {_quoted(name)},\n" for name in names) + brackets[1]


def _quoted(name: str) -> str:
    import json

    return json.dumps(name, ensure_ascii=False)


def _tree(source: Source) -> ast.Module:
    try:
        return ast.parse(source.text)
    except SyntaxError as error:
        said = f"not Python: {error.msg}"
        raise Damaged(said, path=source.path, line=error.lineno, column=error.offset) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Damaged(f"not Python that can be read: {error}", path=source.path) from None


def _string(source: Source, name: str, item: ast.expr) -> str:
    if isinstance(item, ast.Constant) and isinstance(item.value, str):
        return item.value
    said = f"`{name}` must hold plain strings"
    raise Damaged(said, path=source.path, line=item.lineno, column=item.col_offset + 1)
