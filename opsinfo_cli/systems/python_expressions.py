"""Expressions and assignments of a script, worked out as Python would."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .python_values import (
    LARGEST,
    Call,
    Function,
    Library,
    Ref,
    Scope,
    Symbol,
    Test,
    Unread,
    Value,
    Values,
    as_set,
    is_static,
    is_text,
    is_whole,
    last_name,
    unknown,
)


class Expressions(Values):
    """:ivar calls: what the script gives to parameters of the library"""

    def __init__(self, library: Library) -> None:
        super().__init__()
        self.library = library
        self.calls: list[Call] = []
        self._tests: list[Test] = []
        self._lines: dict[str, ast.stmt] = {}
        self._bare: set[ast.expr] = set()

    @abstractmethod
    def _enter(
        self, function: Function, args: list[Value], keywords: dict[str, Value], place: ast.AST, is_asked: bool = True
    ) -> Value:
        """Run the body of a function of the script, and return what it returns."""

    @abstractmethod
    def _lambda(self, node: ast.Lambda) -> Function:
        """Return the function that a lambda makes."""

    @abstractmethod
    def _escapes(self, function: Function) -> None:
        """Take what a function changes as not known: whoever has it may call it."""

    def _perhaps(self, run: Callable[[], Value], node: ast.AST) -> Value:
        """Return what may run gives; what it changes depends on the branch."""
        before = self.state.copy()
        value = run()
        self.state = self._joined([before, self.state], node)
        return value

    # assignments

    @property
    def _scope(self) -> Scope:
        return self.state.scopes[-1]

    def _set(self, name: str, value: Value) -> None:
        scope = self.state.scopes[0] if f"global {name}" in self._scope else self._scope
        for key in [key for key in scope if key.startswith(f"{name}.")]:
            del scope[key]
        scope[name] = value

    def _assign(self, target: ast.expr, value: Value, node: ast.stmt) -> None:
        match target:
            case ast.Name():
                self._set(target.id, value)
                self._lines[target.id] = node
            case ast.Attribute():
                self._set_attribute(target, value)
                self._lines[target.attr] = node
                if target.attr in self.library.functions:
                    self._note(target.attr, {"value": value, "owner": ast.unparse(target.value)}, node)
            case ast.Subscript():
                self._set_item(target, value, node)
            case ast.Starred():
                self._assign(target.value, self._unread(target), node)
            case ast.Tuple() | ast.List():
                items = self._items(value, target)
                is_plain = is_whole(items) and len(items) == len(target.elts)
                for number, each in enumerate(target.elts):
                    is_alone = is_plain and not isinstance(each, ast.Starred)
                    self._assign(each, items[number] if is_alone else self._unread(each), node)

    def _set_attribute(self, target: ast.Attribute, value: Value) -> None:
        if target.attr in self.library.constants:
            self.state.scopes[0][f"*{target.attr}"] = value
            return
        owner = self._value(target.value)
        if isinstance(owner, Symbol):
            self.state.scopes[0][f"{owner.path}.{target.attr}"] = value
        elif isinstance(target.value, ast.Name):
            self._scope[f"{target.value.id}.{target.attr}"] = value

    def _set_item(self, target: ast.Subscript, value: Value, node: ast.stmt) -> None:
        owner = self._value(target.value)
        if not isinstance(owner, Ref):
            return
        content = self._copy_of(owner)
        key = self._key(target.slice)
        if isinstance(content, dict) and not isinstance(key, Unread | slice):
            content[key] = value
            if key in self.library.names:
                self._note("dict", {key: value}, node)
        elif isinstance(content, list) and isinstance(key, slice) and key == slice(None):
            content[:] = self._items(value, node)
        elif isinstance(content, list) and isinstance(key, int | slice) and is_whole(content):
            try:
                content[key] = self._items(value, node) if isinstance(key, slice) else value
            except (IndexError, ValueError):
                content = [self._unread(target)]
        else:
            content = unknown(content, self._unread(target))
        self._replace(owner, content)

    def _augment(self, node: ast.AugAssign) -> None:
        owner, other = self._value(node.target), self._value(node.value)
        name = {ast.Add: "extend", ast.BitOr: "update", ast.Sub: "difference_update"}.get(type(node.op))
        name = {ast.BitAnd: "intersection_update", ast.BitXor: "symmetric_difference_update"}.get(type(node.op), name)
        is_set = isinstance(owner, Ref) and not isinstance(self.state.heap[owner.number], list)
        if isinstance(owner, Ref) and name is not None and is_set == (name != "extend"):
            self._method(owner, name, [other], node)
        else:
            self._assign(node.target, self._sum(owner, other, node.op, node), node)

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._scope.pop(target.id, None)
        if not isinstance(target, ast.Subscript):
            return
        owner = self._value(target.value)
        if not isinstance(owner, Ref):
            return
        content = self._copy_of(owner)
        key = self._key(target.slice)
        try:
            if isinstance(key, Unread) or not (is_whole(content) or key == slice(None)):
                raise TypeError
            del content[key]
        except (IndexError, KeyError, TypeError):
            content = unknown(content, self._unread(target))
        self._replace(owner, content)

    # expressions

    def _value(self, node: ast.expr) -> Value:
        self._step()
        match node:
            case ast.Constant():
                return self._literal(node)
            case ast.List() | ast.Set() | ast.Tuple() | ast.Dict():
                return self._display(node)
            case ast.Name():
                return self._named(node)
            case ast.Attribute():
                return self._attribute(self._value(node.value), node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                return self._sum(self._value(node.left), self._value(node.right), node.op, node)
            case ast.BoolOp():
                return self._bool(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare(ops=[operation], comparators=[other]):
                return self._compared(self._value(node.left), self._value(other), operation, node)
            case ast.Compare(comparators=[other, *others]):
                self._elements([node.left, other])
                self._perhaps(lambda: self._elements(others), node)
                return self._unread(node)
            case ast.IfExp():
                return self._conditional(node)
            case ast.Subscript():
                return self._item(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case ast.JoinedStr():
                return self._joined_text(node)
            case ast.NamedExpr():
                value = self._value(node.value)
                self._set(node.target.id, value)
                return value
            case ast.Lambda():
                return self._lambda(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._value(child)
        return self._unread(node)

    def _literal(self, node: ast.Constant) -> Value:
        value = node.value
        is_known = is_text(value) if isinstance(value, str) else value is None or isinstance(value, int | float)
        return value if is_known else self._unread(node)

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self._value(node.operand)
        truth = self._truth(value)
        if isinstance(node.op, ast.Not) and truth is not None:
            return not truth
        return -value if isinstance(node.op, ast.USub) and isinstance(value, int) else self._unread(node)

    def _display(self, node: ast.List | ast.Set | ast.Tuple | ast.Dict) -> Value:
        if isinstance(node, ast.Dict):
            return self._dictionary(node)
        items = self._elements(node.elts)
        if isinstance(node, ast.Tuple):
            return tuple(items)
        return self._new(items if isinstance(node, ast.List) else as_set(items))

    def _elements(self, nodes: Sequence[ast.expr]) -> list[Value]:
        items: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items += self._items(self._value(node.value), node.value)
            else:
                value = self._value(node)
                is_class = isinstance(value, Symbol) and not self.library.has_symbols
                items.append(self._unread(node) if is_class else value)
        return items

    def _dictionary(self, node: ast.Dict) -> Value:
        content: dict[Value, Value] = {}
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            value = self._value(value_node)
            if key_node is None:
                inner = self.state.heap.get(value.number) if isinstance(value, Ref) else None
                unread = self._unread(value_node)
                content.update(inner if isinstance(inner, dict) else {unread: unread})
                continue
            key = self._value(key_node)
            content[key] = value
            if isinstance(key, str) and key in self.library.names:
                self._note("dict", {key: value}, value_node)
        return self._new(content)

    def _named(self, node: ast.Name) -> Value:
        if node.id == "__name__":
            return "__main__"
        for scope in reversed(self.state.scopes):
            if node.id in scope:
                value = scope[node.id]
                break
        else:
            value = self._symbol(node.id)
        return self._constant(value)

    def _constant(self, value: Value) -> Value:
        """Return the list of the library that a symbol names, if it is one."""
        name = value.path.rpartition(".")[2] if isinstance(value, Symbol) else ""
        if name not in self.library.constants:
            return value
        scope = self.state.scopes[0]
        if f"*{name}" not in scope:
            scope[f"*{name}"] = self._new(list(self.library.constants[name]))
        return scope[f"*{name}"]

    def _symbol(self, path: str) -> Symbol:
        return Symbol(self.library.canonical(path))

    def _attribute(self, owner: Value, node: ast.Attribute) -> Value:
        if isinstance(owner, Symbol):
            path, scope = owner.path, self.state.scopes[0]
            for known in (path, path.partition("#")[0]):
                if f"{known}.{node.attr}" in scope:
                    return scope[f"{known}.{node.attr}"]
            return self._unread(node) if "#" in path else self._constant(self._symbol(f"{path}.{node.attr}"))
        if isinstance(node.value, ast.Name):
            for scope in reversed(self.state.scopes):
                if f"{node.value.id}.{node.attr}" in scope:
                    return scope[f"{node.value.id}.{node.attr}"]
        if isinstance(owner, Ref) and node.attr in CHANGE:  # a method without its call: whoever has it may call it
            self._may_change(owner, node)
        is_constant = isinstance(owner, Unread) and node.attr in self.library.constants
        return self._constant(Symbol(node.attr)) if is_constant else self._unread(node)

    def _sum(self, one: Value, other: Value, operation: ast.operator, node: ast.AST) -> Value:
        """Return what an operator gives: sums and repetitions of lists and texts, algebra of sets, numbers."""
        if isinstance(operation, ast.Add):
            if isinstance(one, str) and isinstance(other, str):
                return self._small(one + other, node)
            if isinstance(one, int) and isinstance(other, int):
                return one + other
            kinds = [list if isinstance(each, Ref) else type(each) for each in (one, other)]
            kind = next((each for each in kinds if each in (list, tuple)), None)
            if kind is None or any(each not in (kind, Unread) for each in kinds):
                return self._unread(node)
            items = [*self._items(one, node), *self._items(other, node)]
            if len(items) > LARGEST:
                return self._unread(node)
            return tuple(items) if kind is tuple else self._new(items)
        methods = {ast.BitOr: "union", ast.Sub: "difference", ast.BitAnd: "intersection"}
        name = methods.get(type(operation), "symmetric_difference" if isinstance(operation, ast.BitXor) else None)
        if name is not None:
            if isinstance(one, Unread) and isinstance(other, Ref) and name == "union":
                one, other = other, one
            if isinstance(one, Ref) and isinstance(self.state.heap[one.number], set):
                return self._method(one, name, [other], node)
        if isinstance(operation, ast.Mult) and isinstance(one, int):
            one, other = other, one
        if isinstance(operation, ast.Mult) and isinstance(one, Ref) and isinstance(other, int):
            items = self._items(one, node)
            return self._new(items * other) if len(items) * other <= LARGEST else self._unread(node)
        if isinstance(one, int) and isinstance(other, int) and isinstance(operation, ast.Sub):
            return one - other
        return self._unread(node)

    def _small(self, value: Value, node: ast.AST) -> Value:
        return self._unread(node) if isinstance(value, str) and len(value) > LARGEST else value

    def _conditional(self, node: ast.IfExp) -> Value:
        known = self._truth(self._value(node.test))
        if known is not None:
            return self._value(node.body if known else node.orelse)
        before = self.state.copy()
        one, after = self._value(node.body), self.state
        self.state = before
        other = self._value(node.orelse)
        self.state = self._joined([after, self.state], node)
        return self._either([one, other], node)

    def _bool(self, node: ast.BoolOp) -> Value:
        """Return the first value that decides, or the last; operands after one of unknown value may not run."""
        first, *others = node.values
        is_or = isinstance(node.op, ast.Or)
        value = self._value(first)
        truth = self._truth(value)
        if truth is is_or or not others:
            return value
        rest = ast.copy_location(ast.BoolOp(node.op, others), node)
        if truth is not None:
            return self._bool(rest)
        decided = self._perhaps(lambda: self._bool(rest), node)
        return is_or if decided is is_or else self._unread(node)

    def _compared(self, one: Value, other: Value, operation: ast.cmpop, node: ast.AST) -> Value:
        if isinstance(operation, ast.In | ast.NotIn):
            if isinstance(one, Unread) or isinstance(other, Unread | Symbol):
                return self._unread(node)
            if isinstance(one, str) and isinstance(other, str):
                has = one in other
            else:
                items = self._items(other, node)
                has = one in items
                if not has and not is_whole(items):
                    return self._unread(node)
            return has is isinstance(operation, ast.In)
        if any(isinstance(each, Unread | Symbol | Function) for each in (one, other)):
            return self._unread(node)
        if not (is_whole(self._plain(one)) and is_whole(self._plain(other))):
            return self._unread(node)
        same = self._plain(one) == self._plain(other)
        match operation:
            case ast.Eq() | ast.Is():
                return same
            case ast.NotEq() | ast.IsNot():
                return not same
        if not (isinstance(one, int) and isinstance(other, int)):
            return self._unread(node)
        less = one < other
        match operation:
            case ast.Lt():
                return less
            case ast.LtE():
                return less or same
            case ast.Gt():
                return not less and not same
        return not less

    def _key(self, node: ast.expr) -> Value:
        """Return an index or a key; a slice if all of it is known."""
        if not isinstance(node, ast.Slice):
            value = self._value(node)
            return value if isinstance(value, str | int) else self._unread(node)
        parts = [None if each is None else self._value(each) for each in (node.lower, node.upper, node.step)]
        if any(not (part is None or isinstance(part, int)) for part in parts):
            return self._unread(node)
        return slice(*parts)

    def _item(self, node: ast.Subscript) -> Value:
        owner, key = self._value(node.value), self._key(node.slice)
        content = self.state.heap[owner.number] if isinstance(owner, Ref) else owner
        if isinstance(key, Unread) or not isinstance(content, list | tuple | str | dict):
            return self._unread(node)
        if key == slice(None) and isinstance(content, list):
            return self._new(list(content))
        try:
            if not is_whole(content) and not (isinstance(content, dict) and key in content):
                return self._unread(node)
            value = content[key]
        except (LookupError, TypeError, ValueError):
            return self._unread(node)
        return self._new(value) if isinstance(value, list) else value

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        element = ast.Tuple([node.key, node.value], ast.Load()) if isinstance(node, ast.DictComp) else node.elt
        with self._inner():
            if isinstance(node, ast.GeneratorExp):  # it runs when, and as far as, its items are taken
                items = self._perhaps(lambda: self._generated(element, node.generators), node)
            else:
                items = self._generated(element, node.generators)
        if isinstance(node, ast.DictComp):
            return self._unread(node)
        return self._new(as_set(items) if isinstance(node, ast.SetComp) else items)

    def _generated(self, element: ast.expr, generators: Sequence[ast.comprehension]) -> list[Value]:
        if not generators:
            return [self._value(element)]
        first = generators[0]
        items = self._items(self._value(first.iter), first.iter)
        if is_whole(items):
            return [each for item in items for each in self._round(element, generators, item)]
        unread = self._unread(first.iter)
        self._perhaps(lambda: self._round(element, generators, unread), first.iter)
        return [unread]

    def _round(self, element: ast.expr, generators: Sequence[ast.comprehension], item: Value) -> list[Value]:
        """Return what a comprehension gives for one item of its first loop."""
        first, *others = generators
        self._assign(first.target, item, ast.Pass(lineno=first.iter.lineno, col_offset=first.iter.col_offset))
        passes = self._truth(self._bool(ast.BoolOp(ast.And(), first.ifs))) if first.ifs else True
        if passes is None:
            self._perhaps(lambda: self._generated(element, others), first.iter)
            return [self._unread(first.iter)]
        return self._generated(element, others) if passes else []

    def _joined_text(self, node: ast.JoinedStr) -> Value:
        parts = []
        for each in node.values:
            is_plain = isinstance(each, ast.Constant) or (each.format_spec is None and each.conversion == -1)  # type: ignore[attr-defined]
            value = self._value(each if isinstance(each, ast.Constant) else each.value)  # type: ignore[attr-defined]
            if not is_plain or not isinstance(value, str | int):
                return self._unread(node)
            parts.append(str(value))
        return self._small("".join(parts), node)

    # calls

    def _call(self, node: ast.Call) -> Value:
        name = last_name(node.func) or ""
        owner = self._value(node.func.value) if isinstance(node.func, ast.Attribute) else None
        args = self._elements_of_call(node.args)
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self._value(keyword.value)
            if keyword.arg in self.library.names and isinstance(value, Symbol) and not self.library.has_symbols:
                value = self._unread(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Ref) and isinstance(inner := self.state.heap[value.number], dict):
                keywords.update({key: each for key, each in inner.items() if isinstance(key, str)})
        chosen = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if isinstance(chosen, ast.BoolOp | ast.IfExp) and (chosen is node.func or name in CHANGE):
            for each in ast.walk(chosen):
                self._may_change(self._value(each) if isinstance(each, ast.Name) else None, node)
        if isinstance(owner, Ref):
            return self._method(owner, name, args, node, keywords)
        if isinstance(owner, str):
            return self._text_method(owner, name, args, node)
        if name in self.library.constants and not args and not keywords:
            return self._new(list(self.library.constants[name]))
        function = self._attribute(owner, node.func) if isinstance(node.func, ast.Attribute) else self._value(node.func)
        if isinstance(function, Function):
            return self._call_function(function, owner, args, keywords, node)
        if isinstance(function, Symbol) and f"class {function.path}" in self.state.scopes[0]:
            return self._construct(function, args, keywords, node)
        built = self._built_in(function, args, keywords, node) if isinstance(function, Symbol) else None
        if built is not None:
            return built
        self._note_call(name, args, keywords, node)
        is_change = (node in self._bare and name not in _HARMLESS) or name in ("getattr", "partial")
        is_change |= isinstance(function, Symbol) and function.path.startswith(("list.", "set.", "dict.", "operator."))
        for argument in args:
            is_changed = isinstance(argument, Ref) and is_change and name not in self.library.functions
            if is_changed or (isinstance(argument, Function) and name in ("map", "filter", "reduce")):
                self._may_change(argument, node)
        return self._unread(node)

    def _may_change(self, value: Value, node: ast.AST) -> None:
        """Take as not known from here a list, set or dictionary, or what a function changes."""
        if isinstance(value, Ref):
            self._replace(value, unknown(self.state.heap[value.number], self._unread(node)))
        elif isinstance(value, Function):
            self._escapes(value)

    def _elements_of_call(self, nodes: Sequence[ast.expr]) -> list[Value]:
        values: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values += self._items(self._value(node.value), node.value)
            else:
                values.append(self._value(node))
        return values

    def _call_function(
        self, function: Function, owner: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        before = len(self.calls)
        if function.owner and isinstance(owner, Symbol) and not is_static(function.node):
            args = [owner, *args]
        value = self._enter(function, args, keywords, node)
        noted = {name for call in self.calls[before:] for name in call.arguments if call.function != "="}
        left = {name: value for name, value in keywords.items() if name not in noted}
        self._note_call(function.node.name, [], left, node)
        return value

    def _construct(self, function: Symbol, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Symbol:
        self._counter += 1
        made = Symbol(f"{function.path}#{self._counter}")
        begin = self.state.scopes[0].get(f"{function.path}.__init__")
        if isinstance(begin, Function):
            self._call_function(begin, made, args, keywords, node)
        else:
            self._note_call(function.path, args, keywords, node)
        return made

    def _built_in(self, function: Symbol, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        """Return what a function of Python gives; None if it is another one."""
        path = function.path
        if path == "dict" and not args:
            self._note_call("dict", [], keywords, node)
            return self._new(dict(keywords))
        if keywords and path in ("sorted", "max", "min", "sum"):
            return self._unread(node)
        items = self._items(args[0], node) if args else []
        match path:
            case "list" | "sorted" | "copy.copy" | "copy.deepcopy" | "reversed" if len(args) <= 1:
                content = self.state.heap[args[0].number] if args and isinstance(args[0], Ref) else None
                if path.startswith("copy") and isinstance(content, dict | set):
                    return self._new(content.copy())
                if path == "sorted":
                    items = sorted(items, key=str)
                return self._new(items[::-1] if path == "reversed" else list(items))
            case "set" | "frozenset" if len(args) <= 1:
                return self._new(as_set(items))
            case "tuple" if len(args) <= 1:
                return tuple(items)
            case "dict.fromkeys" if args:
                return self._new(list(dict.fromkeys(items)))
            case "set.union" | "frozenset.union" | "set.difference" | "set.intersection" if args:
                return self._method(self._new(as_set(items)), path.partition(".")[2], args[1:], node)
            case "itertools.chain" | "itertools.chain.from_iterable":
                lists = self._items(args[0], node) if path.endswith("iterable") and args else args
                return self._new([item for each in lists for item in self._items(each, node)])
            case "sum" if len(args) == 2:
                return self._new([item for each in items for item in self._items(each, node)])
            case "len" if args:
                return len(items) if is_whole(items) else self._unread(node)
            case "enumerate" if len(args) == 1 and is_whole(items):
                return self._new(list(enumerate(items)))
            case "zip" if all(is_whole(self._items(each, node)) for each in args):
                return self._new(list(zip(*(self._items(each, node) for each in args), strict=False)))
            case "range" if args and all(isinstance(each, int) for each in args):
                numbers = range(*args[:3])
                return self._new(list(numbers)) if len(numbers) <= LARGEST else self._unread(node)
            case "str" if len(args) == 1 and isinstance(args[0], str | int):
                return str(args[0])
            case "any" | "all" if args:
                truths = [self._truth(item) for item in items]
                decisive = path == "any"
                return decisive if decisive in truths else self._unread(node) if None in truths else not decisive
        return None

    def _text_method(self, text: str, name: str, args: list[Value], node: ast.AST) -> Value:
        given = [self._items(each, node) if isinstance(each, Ref) else each for each in args]
        if name not in _TEXT_METHODS or not all(isinstance(each, str | int | list | tuple) for each in given):
            return self._unread(node)
        if name == "replace" and len(given) > 1 and len(text) * (len(str(given[1])) + 1) > LARGEST:
            return self._unread(node)
        try:
            value = getattr(text, name)(*given)
        except (TypeError, ValueError):
            return self._unread(node)
        return self._new(value) if isinstance(value, list) else self._small(value, node)

    def _method(
        self, owner: Ref, name: str, args: list[Value], node: ast.AST, keywords: Mapping[str, Value] = {}
    ) -> Value:
        """Return what a method of a list, set or dictionary gives, and change it as Python would."""
        content = self._copy_of(owner)
        if isinstance(content, dict):
            return self._dictionary_method(owner, content, name, args, node, keywords)
        if name not in (_LIST_METHODS if isinstance(content, list) else _SET_METHODS):
            self._may_change(owner if name in _SPECIAL else None, node)
            return self._unread(node)
        given = [self._items(each, node) if name in _TAKE_ITEMS else each for each in args]
        is_given = all(is_whole(each) if isinstance(each, list) else not isinstance(each, Unread) for each in given)
        if name in _SHRINK:
            is_known = is_given
        else:
            is_known = name in _GROW or (is_given and is_whole(content))
        try:
            if not is_known or keywords.keys() - {"key", "reverse"} or (name == "pop" and isinstance(content, set)):
                raise TypeError
            if name == "insert" and not isinstance(args[0], int):
                name, given = "append", given[1:]
            if name == "sort":
                content.sort(key=str)
                value = None
            else:
                value = getattr(content, name)(*given)
        except (TypeError, ValueError, LookupError):
            value, content = self._unread(node), unknown(content, self._unread(node))
            if name in _PURE:
                return value
        if name not in _PURE:
            self._replace(owner, content)
        return self._new(value) if isinstance(value, list | set) else value

    def _dictionary_method(
        self,
        owner: Ref,
        content: dict[Value, Value],
        name: str,
        args: list[Value],
        node: ast.AST,
        keywords: Mapping[str, Value],
    ) -> Value:
        is_known = is_whole(content) and not any(isinstance(each, Unread) for each in args)
        match name, args:
            case "get", [str() | int() as key, *rest] if is_known or key in content:
                return content.get(key, rest[0] if rest else None)
            case (("keys" | "values" | "items"), []):
                return self._new([*getattr(content, name)()])
            case "copy", []:
                return self._new(content)
            case "update", _ if len(args) <= 1:
                inner = self.state.heap[args[0].number] if args and isinstance(args[0], Ref) else {}
                unread = self._unread(node)
                is_known = isinstance(inner, dict) and not (args and not isinstance(args[0], Ref))
                more = {**(inner if is_known else {unread: unread}), **keywords}  # type: ignore[dict-item]
                for key, value in more.items():
                    if isinstance(key, str) and key in self.library.names:
                        self._note("dict", {key: value}, node)
                self._replace(owner, {**content, **more})
                return None
            case (("pop" | "setdefault"), [str() | int() as key, *rest]) if is_known:
                value = content.get(key, rest[0] if rest else None)
                if name == "pop":
                    content.pop(key, None)
                else:
                    content.setdefault(key, value)
                self._replace(owner, content)
                return value
            case "clear", []:
                self._replace(owner, {})
                return None
        if name not in ("get", "keys", "values", "items", "copy"):
            self._replace(owner, unknown(content, self._unread(node)))
        return self._unread(node)

    # notes

    def _note_call(self, name: str, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST) -> None:
        parameters = self.library.functions.get(name, ())
        given = {**dict(zip(parameters, args, strict=False)), **keywords}
        wanted = {key: value for key, value in given.items() if key in parameters or key in self.library.names}
        if wanted:
            self._note(name, wanted, node)

    def _note(self, function: str, arguments: Mapping[str, Value], node: Any) -> None:
        plain = {name: self._plain(value) for name, value in arguments.items()}
        last = node.end_lineno or node.lineno
        call = Call(function, plain, node.lineno, last, node.col_offset + 1, tuple(self._tests))
        if call not in self.calls[-50:]:
            self.calls.append(call)


_GROW = frozenset({"append", "add", "extend", "update", "insert", "copy", "clear", "union", "sort", "reverse"})
"""Methods that are known whatever a list or their arguments have."""
_SHRINK = frozenset({"remove", "discard", "difference", "difference_update"})
"""Methods that are known if their arguments are."""
_PURE = frozenset({"copy", "union", "difference", "intersection", "symmetric_difference", "index", "count"})
_TAKE_ITEMS = frozenset(
    {
        "extend", "update", "union", "difference", "difference_update", "intersection", "intersection_update",
        "symmetric_difference", "symmetric_difference_update",
    }
)  # fmt: skip
_LIST_METHODS = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "copy", "index", "count", "sort", "reverse"}
)
_SET_METHODS = _TAKE_ITEMS - {"extend"} | {"add", "discard", "remove", "pop", "clear", "copy"}
CHANGE = (_LIST_METHODS | _SET_METHODS | {"setdefault", "popitem"}) - _PURE
"""Methods that change a list, set or dictionary."""
_SPECIAL = frozenset({"__delitem__", "__setitem__", "__iadd__", "__ior__", "__isub__", "__iand__", "__ixor__"})
_TEXT_METHODS = frozenset(
    {
        "split", "rsplit", "splitlines", "strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize",
        "replace", "startswith", "endswith", "join", "removeprefix", "removesuffix",
    }
)  # fmt: skip
_HARMLESS = frozenset({"print", "pprint", "info", "debug", "warning", "error", "log", "write", "writelines", "dump"})
"""Functions that do not change a list that they are given."""
