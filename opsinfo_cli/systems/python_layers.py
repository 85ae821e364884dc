"""Whether a statement of a script runs for every layer of a TensorRT network."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from .python_mentions import LOOPS, Mentions, position
from .python_values import last_name

_MAKERS = re.compile(r"create_network|network_from_\w+|NetworkFrom\w+")
"""Functions of TensorRT and Polygraphy that return a network."""
_PATHS = ((ast.For, "body"), (ast.If, "body"), (ast.If, "orelse"))


def limit_of(names: Mentions, layer: ast.expr, node: ast.stmt) -> ast.AST | None:
    """Return what keeps a statement from every layer but tests of the layer itself; None if nothing does."""
    above = list(names.above(node))
    loops = [each for each in above if isinstance(each, LOOPS)]
    loop = loops[0] if len(loops) == 1 else None
    if not isinstance(layer, ast.Name) or not isinstance(loop, ast.For):
        return node
    scope = names.scope(node)
    inside = above[: above.index(loop)]
    blocks = [names.block(each) for each in inside]
    if other := next((each for each, key in blocks if (type(each), key) not in _PATHS), None):
        return names.whole(other)
    tests = [each for each in inside if isinstance(each, ast.If)]
    for each in ast.walk(loop):
        if isinstance(each, ast.For | ast.AsyncFor | ast.While) and each is not loop and each.orelse:
            return each  # whose `else` may leave this loop
        if not isinstance(each, ast.Break | ast.Continue | ast.Return) or names.scope(each) is not scope:
            continue
        own_loop = next(one for one in names.above(each) if isinstance(one, LOOPS))
        if isinstance(each, ast.Return) or (own_loop is loop and isinstance(each, ast.Break)):
            return each
        if own_loop is loop and position(each) < position(node):
            test = names.parents[each]
            if not isinstance(test, ast.If) or names.block(test) not in blocks or each is not test.body[-1]:
                return each
            if test.orelse:
                return test
            tests.append(test)
    for test in tests:
        if not any(isinstance(each, ast.Name) and each.id == layer.id for each in ast.walk(test.test)):
            return test.test
    return None if _is_of_all(names, loop, layer.id, node) else loop.iter


def _is_of_all(names: Mentions, loop: ast.For, layer: str, node: ast.stmt) -> bool:
    """Return whether a loop goes over all layers, and sets the name of the layer alone."""
    builtin = (
        names.name(name, names.scope(node)) for name in ("list", "tuple", "reversed", "enumerate", "range", "len")
    )
    if any(names.is_set(name) for name in builtin):
        return False
    of_layer = _stores(names, layer, loop)
    match loop.target, loop.iter:
        case ast.Tuple(elts=[_, target]), ast.Call(func=ast.Name(id="enumerate"), args=[over, *_]):
            pass
        case ast.Name(id=number), ast.Call(func=ast.Name(id="range"), args=[count], keywords=[]) if number != layer:
            get = loop.body[0]
            if not isinstance(get, ast.Assign) or get.targets != of_layer or len(_stores(names, number, loop)) != 1:
                return False
            match get.value:
                case (
                    ast.Call(func=ast.Attribute(value=over, attr="get_layer"), args=[ast.Name(id=index)])
                    | ast.Subscript(value=over, slice=ast.Name(id=index))
                ) if index == number:
                    text = ast.unparse(over)
                    is_count = ast.unparse(count) in (f"{text}.num_layers", f"len({text})")
                    return is_count and _is_network(names, over)
            return False
        case target, over:
            pass
    while isinstance(over, ast.Call) and last_name(over.func) in ("list", "tuple", "reversed") and len(over.args) == 1:
        (over,) = over.args
    return of_layer == [target] and isinstance(over, ast.Name | ast.Attribute) and _is_network(names, over)


def _stores(names: Mentions, name: str, loop: ast.For) -> list[ast.AST]:
    """Return what sets or deletes a name in a loop."""
    mentions = names.of[names.name(name, names.scope(loop))]
    stores = [each for each in mentions if not isinstance(getattr(each, "ctx", None), ast.Load)]
    return [each for each in stores if loop in names.above(each)]


def _is_network(names: Mentions, node: ast.AST, seen: Collection[str] = ()) -> bool:
    """Return whether an expression is a whole network, as far as the script shows where it comes from."""
    if isinstance(node, ast.Constant):
        return node.value is None
    if isinstance(node, ast.Call):
        function = node.func.func if isinstance(node.func, ast.Call) else node.func  # NetworkFromOnnxPath(PATH)()
        return bool(_MAKERS.fullmatch(last_name(function))) and last_name(function) not in names.functions
    text = last_name(node)
    if "net" not in text.lower():
        return False
    if isinstance(node, ast.Name):
        mentions = names.of[names.name(text, names.scope(node))]
    else:
        mentions = [each for each in names.attributes.get(text, ()) if isinstance(each, ast.Attribute)]
    for each in mentions if text not in seen else ():
        if isinstance(each, ast.arg) or isinstance(getattr(each, "ctx", None), ast.Load):
            continue
        setter = names.parents[each]
        setter = names.parents[setter] if isinstance(setter, ast.Tuple) else setter
        value = setter.context_expr if isinstance(setter, ast.withitem) else getattr(setter, "value", None)
        is_bound = isinstance(setter, ast.Assign | ast.AnnAssign | ast.withitem) and value is not None
        if not is_bound or not _is_network(names, value, (*seen, text)):  # type: ignore[arg-type]
            return False
    return True
