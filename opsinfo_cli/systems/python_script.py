"""What a Python script gives to calls, worked out from its syntax tree; the script is never run.

A list is read only if every mention of its name is understood: it is set or changed by one of a few statements that
always run, once, before the list is used, or its place leaves it as it is. Any other mention makes it an
:class:`Unread`: an alias, a branch, a loop or a function that may change or keep it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..core.text.source import Source
from ..errors import Damaged
from .python_layers import limit_of
from .python_mentions import LOOPS, PURE, TAKE_ITEMS, Mentions, Name, parameters_of, position
from .python_values import Call, CalledLibrary, Symbol, Test, Unread, Value, last_name, unread

_MOST_STEPS = 100_000
"""Expressions that are worked out; real scripts take a few hundred."""
_LARGEST = 20_000
"""Items of a list, and characters of a text."""
_COPIES: dict[str, type] = {
    "list": list, "copy.copy": list, "copy.deepcopy": list, "set": set, "frozenset": set, "tuple": tuple,
    "sorted": list,
}  # fmt: skip
_OPERATORS = {ast.BitOr: "union", ast.Sub: "difference", ast.BitAnd: "intersection", ast.BitXor: "symmetric_difference"}
_GROW = frozenset({"append", "add", "extend", "update", "insert", "copy", "clear", "union"})
"""Methods that are known whatever a list or their arguments have."""


def calls_of(source: Source, library: CalledLibrary) -> list[Call]:
    """Return what a script gives to the parameters of a library, in the order of the text.

    :raises Damaged: if the text is no Python, or is too long or too deep to follow
    """
    try:
        return _ListReader(ast.parse(source.text), library).calls()
    except SyntaxError as error:
        message = f"invalid Python: {error.msg}"
        raise Damaged(message, path=source.path, line=error.lineno, column=error.offset) from None
    except RecursionError:
        raise Damaged("an expression is nested too deeply", path=source.path) from None
    except (ValueError, MemoryError) as error:
        raise Damaged(f"cannot parse as Python: {error}", path=source.path) from None
    except _TooLong:
        hint = "write the lists into a file of their own"
        raise Damaged("the script is too long to follow its lists", path=source.path, hint=hint) from None


class _TooLong(Exception):
    """More steps than are followed."""


class _Items(NamedTuple):
    """A list, set or tuple."""

    kind: type
    items: tuple[Value, ...]


class _ListReader:
    def __init__(self, tree: ast.Module, library: CalledLibrary) -> None:
        self.tree = tree
        self.library = library
        self.mentions = Mentions(tree, library)
        self._known: dict[tuple[Name, ast.AST, bool, bool], Value] = {}
        self._steps = 0

    def calls(self) -> list[Call]:
        calls = [call for node in ast.walk(self.tree) for call in self._given(node)]
        return sorted(calls, key=lambda call: (call.line, call.column))

    def _given(self, node: ast.AST) -> Iterable[Call]:
        names, library = self.mentions, self.library
        match node:
            case ast.Call():
                yield from self._of_call(node)
            case ast.Dict():
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in library.names:
                        yield self._kept("dict", {str(key.value): value}, value, names.use_of_dictionary(node))
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str() as key))]) if key in library.names:
                yield self._kept("dict", {key: node.value}, node, names.use_of_key(key, node.targets[0]))
            case ast.Assign(targets=[ast.Attribute() as target]):
                if target.attr in library.functions:
                    limit = limit_of(names, target.value, node)
                    arguments = {"value": self._value(node.value), "owner": ast.unparse(target.value)}
                    arguments["limit"] = None if limit is None else unread(limit)
                    yield self._call(target.attr, arguments, node)
                elif target.attr in library.names:
                    reason = names.reflected or names.use_of_key(target.attr, target)
                    yield self._kept("=", {target.attr: node.value}, node, reason)
            case ast.Module() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for name in sorted(library.names):
                    yield from self._of_variable((node, name), isinstance(node, ast.ClassDef))
                if node is self.tree:
                    yield from map(self._of_constant, [each for each in library.constants if self._changes(each)])

    def _of_call(self, node: ast.Call) -> Iterable[Call]:
        name = last_name(node.func)
        parameters = self.library.functions.get(name)
        replaced = self.mentions.replaced(name) if parameters is not None else None
        functions = self.mentions.functions.get(name, ())
        is_own = parameters is None or bool(functions) or replaced is not None
        if parameters is None and len(functions) == 1 and isinstance(node.func, ast.Name):
            parameters = () if getattr(functions[0], "decorator_list", ()) else parameters_of(functions[0])
        stars = [number for number, each in enumerate(node.args) if isinstance(each, ast.Starred)]
        placed = [*node.args[: stars[0]], *[node.args[stars[0]]] * len(parameters or ())] if stars else node.args
        arguments = dict(zip(parameters or (), placed, strict=False))
        arguments |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        known = self.library.functions.get(name, ())
        if not stars and all(keyword.arg for keyword in node.keywords):  # what it is not given is None
            arguments |= {
                key: ast.Constant(None) for key in self.library.names if key in known and key not in arguments
            }
        arguments = {key: arg for key, arg in arguments.items() if key in known or key in self.library.names}
        if not arguments:
            return
        if is_own:
            reason = self.mentions.use_of_dictionary(node) if name == "dict" else replaced
            if not all(self.mentions.leaves(each, key) for each in functions for key in arguments):
                reason = node
            if isinstance(self.mentions.parents[node], ast.Assign | ast.AnnAssign):
                uses = [self.mentions.reflected, *map(self.mentions.use_of_key, arguments)]
                reason = next((use for use in (reason, *uses) if use is not None), None)
            yield self._kept(name, arguments, node, reason)
        else:
            yield self._call(name, {key: self._argument(arg) for key, arg in arguments.items()}, node)

    def _of_variable(self, name: Name, is_class: bool) -> Iterable[Call]:
        names = [node for node in self.mentions.of.get(name, ()) if isinstance(node, ast.Name)]
        places = [node for node in names if not isinstance(node.ctx, ast.Load) and self.mentions.scope(node) is name[0]]
        if places:
            value = self._named(name, places[-1], is_end=True)
            reason = self.mentions.use_of_key(name[1]) or self.mentions.reflected if is_class else None
            place = self.mentions.statement(places[-1])
            yield self._call("=", {name[1]: value if reason is None else unread(reason)}, place)

    def _of_constant(self, name: str) -> Call:
        changes = self._changes(name)
        value = self._named((self.tree, f"*{name}"), changes[-1], is_end=True)
        return self._call("=", {name: value}, self.mentions.statement(changes[-1]))

    def _kept(self, function: str, arguments: dict[str, ast.expr], node: ast.AST, reason: ast.AST | None) -> Call:
        """Return a call that may use a list later: whatever changes it until then, or reaches it, makes it unread."""
        values = {key: self._argument(value, is_kept=True) for key, value in arguments.items()}
        if reason is not None:
            values = {key: value if value is None else unread(reason) for key, value in values.items()}
        return self._call(function, values, node)

    def _argument(self, node: ast.expr, is_kept: bool = False) -> Value:
        value = self._value(node, is_kept)
        return unread(node) if isinstance(value, Symbol) and not self.library.has_symbols else value

    def _call(self, function: str, values: dict[str, Value], node: Any) -> Call:
        plain = {key: value.items if isinstance(value, _Items) else value for key, value in values.items()}
        last = node.end_lineno or node.lineno
        return Call(function, plain, node.lineno, last, node.col_offset + 1, tuple(self._tests(node)))

    def _tests(self, node: ast.AST) -> list[Test]:
        """Return what decides whether a statement runs: `if` around it, and those before it that leave."""
        tests: list[tuple[ast.If, bool]] = []
        above = list(self.mentions.above(self.mentions.statement(node)))
        for each in (each for each in above if isinstance(each, ast.stmt)):
            parent, key = self.mentions.block(each)
            before = getattr(parent, key)[: getattr(parent, key).index(each)]
            for other in reversed(before):
                if isinstance(other, ast.If) and _leaves(other.body) != _leaves(other.orelse):
                    tests.append((other, _leaves(other.orelse)))
            if isinstance(parent, ast.If) and ast.unparse(parent.test) != "__name__ == '__main__'":
                tests.append((parent, key == "body"))
        return [Test(each.test, holds, self._known_in(each.test)) for each, holds in reversed(tests)]

    def _known_in(self, test: ast.expr) -> dict[str, Value]:
        """Return the values of the variables and lists in a test, by their text."""
        kinds = (ast.Name, ast.List, ast.Tuple, ast.Set, ast.Constant)
        values = {ast.unparse(each): self._value(each) for each in ast.walk(test) if isinstance(each, kinds)}
        return {key: value.items if isinstance(value, _Items) else value for key, value in values.items()}

    # lists by name

    def _changes(self, constant: str) -> list[ast.AST]:
        """Return where a script mentions a list of the library so that it may be changed."""
        return [each for each in self._mentions_of(constant) if not self.mentions.is_read(each)]

    def _mentions_of(self, constant: str) -> list[ast.AST]:
        found = list(self.mentions.attributes.get(constant, ()))
        for node in self.mentions.parents:
            if isinstance(node, ast.alias) and node.name == constant:
                name = self.mentions.name(node.asname or node.name, self.mentions.scope(node))
                found += [each for each in self.mentions.of[name] if not isinstance(each, ast.alias)]
        unset = self.mentions.of.get((self.tree, constant), [])
        found += unset if not self.mentions.is_set((self.tree, constant)) else []
        calls = [each for each in found if isinstance(self.mentions.parents[each], ast.Call)]
        called = {each for each in calls if self.mentions.parents[each].func is each}  # type: ignore[attr-defined]
        return [each for each in dict.fromkeys(found) if each not in called]

    def _named(self, name: Name, mention: ast.AST, is_kept: bool = False, is_end: bool = False) -> Value:
        """Return the value of a name where the statement of a mention begins.

        :param is_kept: whether it must not change later, too
        :param is_end: whether its value at the end of its scope is asked for
        """
        place = name[0] if is_end else self.mentions.statement(mention)
        is_inner = not is_end and self.mentions.scope(mention) is not name[0]
        key = (name, place, is_kept, is_inner)
        if key not in self._known:
            self._known[key] = unread(self.mentions.whole(mention))  # of a list that is made of itself
            self._known[key] = self._worked_out(name, place, is_kept, is_inner)
        return self._known[key]

    def _worked_out(self, name: Name, place: ast.AST, is_kept: bool, is_inner: bool) -> Value:
        names, (scope, text) = self.mentions, name
        constant = text[1:] if text.startswith("*") else None
        mentions = names.of[name] if constant is None else self._mentions_of(constant)
        reason = names.dynamic or (names.reflected if constant is not None else None)
        if reason is not None:
            return unread(reason)
        changes: list[ast.stmt] = []
        for each in mentions:
            if isinstance(each, ast.arg):
                function = names.parents[names.parents[each]]
                arguments = function.args  # type: ignore[attr-defined]
                defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
                is_handed_on = names.leaves(function, text) and all(isinstance(one, ast.Constant) for one in defaults)
                return Unread(each.lineno, each.col_offset + 1, text, is_parameter=is_handed_on)
            change = names.change(each)
            if change is not None and names.scope(change) is scope:
                changes.append(change)
            elif change is not None or not names.is_read(each):
                return unread(names.whole(each))
        for star in names.stars if changes and scope is self.tree else ():
            if position(star) > min(map(position, changes)):
                return unread(star)
        return self._after(sorted(dict.fromkeys(changes), key=position), name, place, is_kept, is_inner)

    def _after(self, changes: list[ast.stmt], name: Name, place: ast.AST, is_kept: bool, is_inner: bool) -> Value:
        """Return what statements make of a name until a place: those that always run before it, once."""
        names, (scope, text) = self.mentions, name
        while place is not scope and names.scope(place) is not scope:
            place = names.statement(names.scope(place))
        later = [each for each in changes if place is not scope and position(each) > position(place)]
        if later and (is_inner or is_kept):
            if len(changes) > 1 or not is_inner:
                return unread(later[0])
            place, later = scope, []  # set once, after the function that uses it
        before = [each for each in changes if each is not place and each not in later]
        binds = [number for number, each in enumerate(before) if _bound(each) and self._runs(each, place, scope)]
        value: Value = unread(place) if place is not scope else None
        if text.startswith("*") and not binds:
            value = _Items(list, tuple(self.library.constants[text[1:]]))
        elif not binds:
            return self._depends(before[0], scope) if before else unread(changes[0] if changes else place)
        loops = {each for each in names.above(place) if isinstance(each, LOOPS)} if place is not scope else set()
        loops -= set(names.above(before[binds[-1]])) if binds else set()
        for each in changes:
            if not loops.isdisjoint(names.above(each)):
                return unread(each)
        for each in before[binds[-1] :] if binds else before:
            if not self._runs(each, place, scope):
                return self._depends(each, scope)
            bound = _bound(each)
            value = self._value(bound, is_kept=True) if bound is not None else self._changed(value, each)
        return value

    def _depends(self, statement: ast.AST, scope: ast.AST) -> Unread:
        """Return what decides whether a statement runs."""
        parent = self.mentions.parents.get(statement, scope)
        return unread(statement if parent is scope or not hasattr(parent, "lineno") else parent)

    def _runs(self, statement: ast.stmt, place: ast.AST, scope: ast.AST) -> bool:
        if place is scope:
            return self.mentions.parents[statement] is scope
        return self.mentions.is_before(statement, place)

    def _changed(self, value: Value, node: ast.stmt) -> Value:
        """Return what a statement makes of a list."""
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute() as function, args=args, keywords=[])):
                return self._method(value, function.attr, [self._value(each) for each in args], node, is_change=True)
            case ast.AugAssign():
                other = self._value(node.value)
                if isinstance(value, _Items) and value.kind is list and isinstance(node.op, ast.Add):
                    return self._method(value, "extend", [other], node, is_change=True)
                return self._operation(value, other, node.op, node)
            case ast.Assign(targets=[ast.Subscript() as target]) | ast.Delete(targets=[ast.Subscript() as target]):
                key = self._key(target.slice)
                is_list = isinstance(value, _Items) and value.kind is list
                if not is_list or not (key == slice(None) or _is_whole(value)):
                    return unread(node)
                items = list(value.items)
                with suppress(IndexError, ValueError, TypeError):
                    if isinstance(node, ast.Delete):
                        del items[key]
                    else:
                        new = self._value(node.value)
                        items[key] = self._items(new, node) if isinstance(key, slice) else self._item(new, node)
                    return _Items(list, tuple(items))
        return unread(node)

    # expressions

    def _value(self, node: ast.expr, is_kept: bool = False) -> Value:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _TooLong
        match node:
            case ast.Constant(value=value):
                is_half = isinstance(value, str) and any("\ud800" <= each <= "\udfff" for each in value)
                return value if value is None or (isinstance(value, str | int) and not is_half) else unread(node)
            case ast.Name() | ast.Attribute():
                return self._mentioned(node, is_kept)
            case ast.List() | ast.Set() | ast.Tuple():
                kind = list if isinstance(node, ast.List) else set if isinstance(node, ast.Set) else tuple
                return _made(kind, self._elements(node.elts), node)
            case ast.Call():
                return self._called(node)
            case ast.BinOp():
                return self._operation(self._value(node.left), self._value(node.right), node.op, node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
                return -number
            case ast.Subscript():
                value, key = self._value(node.value), self._key(node.slice)
                if isinstance(value, _Items) and value.kind is not set and _is_whole(value):
                    with suppress(IndexError, ValueError, TypeError):
                        found = value.items[key]
                        return _made(value.kind, found, node) if isinstance(key, slice) else found
            case ast.ListComp(
                generators=[ast.comprehension(target=ast.Name() as target) as loop], elt=ast.Name() as item
            ):
                if item.id == target.id:
                    return self._filtered(node, target.id, loop)
        return unread(node)

    def _elements(self, nodes: Sequence[ast.expr]) -> list[Value]:
        items: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items += self._items(self._value(node.value), node.value)
            else:
                items.append(self._item(self._value(node), node))
        return items

    def _item(self, value: Value, node: ast.AST) -> Value:
        is_item = not isinstance(value, _Items) and (self.library.has_symbols or not isinstance(value, Symbol))
        return value if is_item else unread(node)

    def _items(self, value: Value, node: ast.AST) -> tuple[Value, ...]:
        """Return what a loop over a value gives; what is not known of it is one :class:`Unread`."""
        if isinstance(value, _Items | str):
            return value.items if isinstance(value, _Items) else tuple(value)
        return (value if isinstance(value, Unread) else unread(node),)

    def _mentioned(self, node: ast.Name | ast.Attribute, is_kept: bool) -> Value:
        names = self.mentions
        if isinstance(node, ast.Attribute):
            owner = self._value(node.value)
            if node.attr not in self.library.constants:
                return self._symbol(f"{owner.path}.{node.attr}") if isinstance(owner, Symbol) else unread(node)
            symbol: Value = Symbol(node.attr)
        else:
            symbol = self._meant(node)
        constant = symbol.path.rpartition(".")[2] if isinstance(symbol, Symbol) else None
        if constant in self.library.constants:
            return self._named((self.tree, f"*{constant}"), node, is_kept)
        if symbol is not None or not isinstance(node, ast.Name):
            return symbol
        return self._named(names.name(node.id, names.scope(node)), node, is_kept)

    def _symbol(self, path: str) -> Symbol:
        return Symbol(self.library.canonical(path))

    def _meant(self, node: ast.Name) -> Symbol | Unread | None:
        """Return the module or class that a name means; None if it is a variable."""
        name = self.mentions.name(node.id, self.mentions.scope(node))
        paths: set[Symbol] = set()
        if not self.mentions.is_set(name):
            return self._symbol(node.id)
        for each in self.mentions.of[name]:
            if isinstance(each, ast.alias):
                of = self.mentions.parents[each]
                path = f"{'.' * of.level}{of.module or ''}.{each.name}" if isinstance(of, ast.ImportFrom) else each.name
                paths.add(self._symbol(path if isinstance(of, ast.ImportFrom) or each.asname else node.id))
            elif isinstance(each, ast.ClassDef):
                paths.add(Symbol(each.name))
            elif not isinstance(each, ast.Name) or not isinstance(each.ctx, ast.Load):
                return unread(self.mentions.whole(each)) if paths else None
        return paths.pop() if len(paths) == 1 else unread(node)

    def _operation(self, one: Value, other: Value, operation: ast.operator, node: ast.AST) -> Value:
        """Return what an operator gives: sums of lists and texts, algebra of sets."""
        if isinstance(operation, ast.Add):
            if isinstance(one, str) and isinstance(other, str) and len(one) + len(other) <= _LARGEST:
                return one + other
            kinds = {each.kind for each in (one, other) if isinstance(each, _Items)}
            if (
                len(kinds) == 1
                and kinds <= {list, tuple}
                and all(isinstance(each, _Items | Unread) for each in (one, other))
            ):
                return _made(kinds.pop(), (*self._items(one, node), *self._items(other, node)), node)
        method = _OPERATORS.get(type(operation))
        if method == "union" and isinstance(one, Unread):
            one, other = other, one
        is_set = (
            isinstance(one, _Items)
            and one.kind is set
            and (isinstance(other, Unread) or getattr(other, "kind", 0) is set)
        )
        return self._method(one, method, [other], node) if method and is_set else unread(node)

    def _key(self, node: ast.expr) -> Any:
        """Return an index; a slice if all of it is known; else None."""
        if not isinstance(node, ast.Slice):
            value = self._value(node)
            return value if isinstance(value, int) else None
        parts = [None if each is None else self._value(each) for each in (node.lower, node.upper, node.step)]
        return slice(*parts) if all(part is None or isinstance(part, int) for part in parts) else None

    def _filtered(self, node: ast.ListComp, name: str, loop: ast.comprehension) -> Value:
        """Return the items of a known list that are, or are not, among others."""
        items = self._items(self._value(loop.iter), loop.iter)
        for test in loop.ifs:
            match test:
                case ast.Compare(left=ast.Name(id=left), ops=[operation], comparators=[other]) if left == name:
                    others = self._value(other)
                case _:
                    return unread(node)
            is_list = isinstance(operation, ast.In | ast.NotIn) and isinstance(others, _Items) and _is_whole(others)
            is_text = isinstance(operation, ast.Eq | ast.NotEq) and isinstance(others, str)
            if not (is_list or is_text) or any(isinstance(each, Unread) for each in items):
                return unread(node)
            among = others.items if is_list else (others,)
            items = tuple(each for each in items if (each in among) is isinstance(operation, ast.In | ast.Eq))
        return _made(list, items, node)

    def _called(self, node: ast.Call) -> Value:
        """Return what a method, a copy or a function of the library gives."""
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            return unread(node)
        values = [self._value(each) for each in node.args]
        if isinstance(node.func, ast.Attribute):
            owner = self._value(node.func.value)
            if isinstance(owner, _Items) and node.func.attr in PURE:
                return self._method(owner, node.func.attr, values, node)
            if isinstance(owner, str) and node.func.attr == "split" and all(isinstance(each, str) for each in values):
                return _made(list, owner.split(*values), node)
        name = last_name(node.func)
        is_own = name in self.mentions.functions or self.mentions.replaced(name) is not None
        if name in self.library.constants and not values and not is_own:
            return _Items(list, tuple(self.library.constants[name]))
        function = self._value(node.func)
        path = function.path if isinstance(function, Symbol) else ""
        kind = _COPIES.get(path)
        if kind is None or len(values) > 1:
            return unread(node)
        items = self._items(values[0], node) if values else ()
        if path.startswith("copy.") or (path == "sorted" and any(isinstance(each, Unread) for each in items)):
            return values[0] if path.startswith("copy.") else _made(list, items, node)
        return _made(kind, sorted(items, key=str) if path == "sorted" else items, node)

    def _method(self, owner: Value, name: str, args: list[Value], node: ast.AST, is_change: bool = False) -> Value:
        """Return what a method gives, or what it makes of its list, as Python would."""
        if not isinstance(owner, _Items) or not all(
            isinstance(each, _Items | str | int | Unread | Symbol) for each in args
        ):
            return owner if isinstance(owner, Unread) and name in _GROW and name != "clear" else unread(node)
        given = [self._items(each, node) if name in TAKE_ITEMS else self._item(each, node) for each in args]
        flat = [item for each in given for item in (each if isinstance(each, tuple) else (each,))]
        if name not in _GROW and not (_is_whole(owner) and not any(isinstance(each, Unread) for each in flat)):
            return unread(node)
        changed = list(owner.items) if owner.kind is list else set(owner.items)
        try:
            value = getattr(changed, name)(*given) if owner.kind is not tuple else None
        except (AttributeError, TypeError, ValueError, LookupError):
            return unread(node)
        if name == "pop" and owner.kind is set:
            return unread(node)
        value = changed if is_change else value
        return _made(owner.kind, value, node) if isinstance(value, list | set) else value


def _made(kind: type, items: Iterable[Value], node: ast.AST) -> Value:
    items = sorted(items, key=str) if isinstance(items, set) else dict.fromkeys(items) if kind is set else items
    made = _Items(kind, tuple(items))
    return made if len(made.items) <= _LARGEST else unread(node)


def _is_whole(value: _Items) -> bool:
    return not any(isinstance(each, Unread) for each in value.items)


def _bound(node: ast.stmt) -> ast.expr | None:
    """Return what a statement sets a name to."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    is_bound = isinstance(node, ast.Assign | ast.AnnAssign) and not isinstance(target, ast.Subscript)
    return node.value if is_bound else None  # type: ignore[attr-defined]


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Break | ast.Continue)
