"""Where a script mentions a name, and what each mention does to the list that the name means."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import TypeAlias

from .python_values import CalledLibrary, last_name

Name: TypeAlias = "tuple[ast.AST, str]"
"""A name and the scope that has it: a module, class, function or generator."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.Lambda, ast.ClassDef, ast.GeneratorExp)
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
PURE = frozenset({"copy", "index", "count", "union", "difference", "intersection", "symmetric_difference"})
"""Methods that leave a list or set as it is."""
CHANGES = frozenset(
    {
        "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "add", "discard", "update",
        "difference_update", "intersection_update", "symmetric_difference_update",
    }
)  # fmt: skip
TAKE_ITEMS = frozenset(
    {
        "extend", "update", "union", "difference", "difference_update", "intersection", "intersection_update",
        "symmetric_difference", "symmetric_difference_update",
    }
)  # fmt: skip
_READERS = frozenset(
    {"list", "tuple", "set", "frozenset", "sorted", "len", "print", "str", "repr", "any", "all", "enumerate", "zip"}
)
_READING_METHODS = frozenset({"join", "info", "debug", "warning", "error", "write", "dump", "dumps", "deepcopy"})
"""Functions and methods that neither change nor keep a list that they are given."""
_BY_NAME = frozenset({"getattr", "setattr", "delattr", "attrgetter", "methodcaller", "vars", "__dict__"})
_DYNAMIC = frozenset(
    {
        "exec", "eval", "globals", "locals", "__builtins__", "builtins", "__main__", "__globals__", "__closure__",
        "__defaults__", "__kwdefaults__", "f_globals", "f_locals", "f_back", "gi_frame", "_getframe", "currentframe",
        "get_referrers", "get_objects", "ctypes",
    }
)  # fmt: skip
"""What may give or set any name."""
_OPERATOR_METHODS = frozenset(
    f"__{prefix}{name}__" for prefix in ("", "r", "i") for name in ("add", "or", "and", "sub", "xor", "mul", "mod")
) | {"__eq__", "__ne__", "__contains__", "__format__", "__matmul__", "__rmatmul__"}


class Mentions:
    """The names of a script.

    :ivar parents: by node
    :ivar functions: by name, and classes
    :ivar of: every mention of a name
    :ivar attributes: every mention of an attribute, or of a key or attribute in a string
    :ivar dynamic: what may change any name
    :ivar reflected: what may change any attribute
    :ivar stars: imports of names that are not known
    """

    def __init__(self, tree: ast.Module, library: CalledLibrary) -> None:
        self.tree = tree
        self.library = library
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.functions: dict[str, list[ast.AST]] = {}
        self.of: dict[Name, list[ast.AST]] = {}
        self.attributes: dict[str, list[ast.AST]] = {}
        self.dynamic: ast.AST | None = None
        self.reflected: ast.AST | None = None
        self.stars: list[ast.stmt] = []
        self._bound: dict[ast.AST, set[str]] = {}
        self._shared: dict[ast.AST, set[str]] = {}
        self._visited: set[tuple[ast.AST, str]] = set()
        for node in self.parents:
            if isinstance(node, ast.alias) and node.name == "*":
                self.stars.append(self.statement(node))
            names = self._shared if isinstance(node, ast.Global | ast.Nonlocal) else self._bound
            names.setdefault(self.scope(node), set()).update(_names_set(node))
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                self.functions.setdefault(node.name, []).append(node)
        for node in self.parents:
            for name in {node.id} if isinstance(node, ast.Name) else _names_set(node):
                scope = self.scope(node)
                self.of.setdefault(self.name(name, scope), []).append(node)
                if isinstance(scope, ast.ClassDef):  # before it is set there, a name in a class is that outside of it
                    self.of.setdefault(self.name(name, self.scope(scope)), []).append(node)
            self._look(node)

    def _look(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute():
                self.attributes.setdefault(node.attr, []).append(node)
            case ast.Subscript(slice=ast.Constant(value=str() as key)):
                self.attributes.setdefault(key, []).append(node)
        name = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        last = node.name.rpartition(".")[2] if isinstance(node, ast.alias) else last_name(node)
        is_method = isinstance(node, ast.Attribute) and last in ("eval", "exec")  # such as model.eval()
        call = self.parents[node]
        arguments = call.args if isinstance(call, ast.Call) and call.func is node else []
        is_import = last in ("import_module", "__import__") and "__" in "".join(map(ast.unparse, arguments))
        is_import |= isinstance(node, ast.ImportFrom) and node.module == "__main__"
        is_import |= last == "modules" and not (isinstance(call, ast.Call) and call.func is node)  # such as sys.modules
        is_vars = last == "vars" and isinstance(call, ast.Call) and not arguments
        if name in _DYNAMIC or (last in _DYNAMIC and not is_method) or is_import or is_vars:
            self.dynamic = self.dynamic or self.whole(node)
        elif last in _BY_NAME:
            keys = [str(each.value) for each in arguments if isinstance(each, ast.Constant)]
            for key in keys:
                self.attributes.setdefault(key, []).append(node)
            self.reflected = self.reflected if keys else self.reflected or self.whole(node)

    # scopes

    def scope(self, node: ast.AST) -> ast.AST:
        """Return the scope in which a node runs; decorators and defaults run outside of their function."""
        while node is not self.tree:
            child, node = node, self.parents[node]
            if isinstance(node, ast.arguments) and not isinstance(child, ast.arg):  # a default
                node = self.parents[node]
            elif isinstance(node, _SCOPES) and child not in _outside(node):
                break
        return node

    def name(self, name: str, scope: ast.AST) -> Name:
        """Return the name that is meant in a scope; of the module if none sets it."""
        is_first = True
        while scope is not self.tree:
            is_here = is_first or not isinstance(scope, ast.ClassDef)
            if is_here and name in self._bound.get(scope, ()) and name not in self._shared.get(scope, ()):
                break
            scope, is_first = self.scope(scope), False
        return scope, name

    def is_set(self, name: Name) -> bool:
        return any(
            not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) for node in self.of.get(name, ())
        )

    # places

    def whole(self, node: ast.AST) -> ast.AST:
        """Return the whole expression, or else statement, that mentions a name."""
        while isinstance(parent := self.parents.get(node), ast.expr | ast.keyword):
            node = parent
        return node if isinstance(node, ast.expr | ast.stmt) else self.statement(node)

    def statement(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Return a node and those around it up to its scope."""
        scope = self.scope(node)
        while node is not scope:
            yield node
            node = self.parents[node]

    def block(self, node: ast.AST) -> tuple[ast.AST, str]:
        """Return the sequence of statements that a statement is in."""
        parent = self.parents[node]
        return parent, next(
            (key for key, value in ast.iter_fields(parent) if isinstance(value, list) and node in value), ""
        )

    def is_before(self, one: ast.AST, other: ast.AST) -> bool:
        """Return whether a statement has always run, once, when another one begins."""
        blocks = {self.block(each) for each in self.above(other)}
        return position(one) < position(other) and self.block(one) in blocks

    def replaced(self, function: str) -> ast.AST | None:
        """Return what sets the name of a function of the library to something else."""
        names = [each for (_, name), nodes in self.of.items() if name == function for each in nodes]
        for each in (*names, *self.attributes.get(function, ())):
            is_load = isinstance(getattr(each, "ctx", None), ast.Load)
            if isinstance(each, ast.Name | ast.Attribute) and (not is_load or last_name(each) != function):
                return self.whole(each)
        return None

    # what becomes of a list

    def change(self, node: ast.AST) -> ast.stmt | None:
        """Return the statement that sets a name, or changes its list, if it is of a kind that is understood."""
        parent = self.parents[node]
        match parent:
            case ast.Assign(targets=[_]) | ast.AugAssign() if node is not parent.value:
                return parent
            case ast.AnnAssign() if parent.target is node:
                return parent
            case ast.Subscript() if parent.value is node and not isinstance(parent.ctx, ast.Load):
                statement = self.parents[parent]
                if isinstance(statement, ast.Delete) or (
                    isinstance(statement, ast.Assign) and len(statement.targets) == 1
                ):
                    return statement
            case ast.Attribute() if parent.attr in CHANGES:
                call = self.parents[parent]
                statement = self.parents[call]
                if isinstance(call, ast.Call) and call.func is parent and isinstance(statement, ast.Expr):
                    return statement
        return None

    def is_read(self, node: ast.AST) -> bool:
        """Return whether the place of a list leaves it as it is, and keeps no second way to it."""
        parent = self.parents[node]
        match parent:
            case ast.BinOp() | ast.Compare() | ast.AugAssign() | ast.FormattedValue():
                is_value = not isinstance(parent, ast.AugAssign) or parent.value is node
                return is_value and self.functions.keys().isdisjoint(_OPERATOR_METHODS)
            case ast.Starred() | ast.Expr():
                return isinstance(getattr(node, "ctx", None), ast.Load)
            case ast.Subscript():
                return isinstance(parent.ctx, ast.Load) and parent.value is node
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                return parent.iter is node
            case ast.If() | ast.While() | ast.Assert() | ast.UnaryOp():
                return True
            case ast.IfExp():
                return parent.test is node or self.is_read(parent)
            case ast.BoolOp():
                return self.is_read(parent)
            case ast.Attribute():
                call = self.parents[parent]
                is_called = isinstance(call, ast.Call) and call.func is parent
                return is_called and parent.attr in PURE and isinstance(parent.ctx, ast.Load)
            case ast.Assign(targets=[ast.Name() as target]) if parent.value is node:
                name = self.name(target.id, self.scope(target))
                return all(each is target or self.is_read(each) for each in self.of[name])
            case ast.Dict():
                keys = [key for key, value in zip(parent.keys, parent.values, strict=True) if value is node]
                is_given = all(isinstance(key, ast.Constant) and key.value in self.library.names for key in keys)
                return is_given and self.use_of_dictionary(parent) is None
            case ast.keyword():
                call = self.parents[parent]
                return parent.arg is None or (isinstance(call, ast.Call) and self._leaves_argument(call, parent.arg))
            case ast.Call():
                return parent.func is not node and self._leaves_argument(parent, None)
        return False

    def _leaves_argument(self, call: ast.Call, argument: str | None) -> bool:
        """Return whether a call leaves an argument, or those without a name, as it is."""
        name = last_name(call.func)
        if name in self.functions:
            return argument is not None and all(self.leaves(each, argument) for each in self.functions[name])
        if name in self.library.functions or argument in self.library.names:
            return True
        readers = _READERS if isinstance(call.func, ast.Name) else _READING_METHODS | TAKE_ITEMS
        is_of_class = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in ("list", "set", "dict")
        return name in readers and not is_of_class and not any(name in bound for bound in self._bound.values())

    def leaves(self, function: ast.AST, argument: str) -> bool:
        if isinstance(function, ast.ClassDef):
            makers = [each for each in function.body if isinstance(each, _FUNCTIONS) and each.name == "__init__"]
            return bool(makers) and self.leaves(makers[0], argument)
        if (function, argument) in self._visited:
            return True
        self._visited.add((function, argument))
        mentions = self.of.get((function, argument), [])
        is_left = bool(mentions) and all(isinstance(each, ast.arg) or self.is_read(each) for each in mentions)
        self._visited.discard((function, argument))
        return is_left

    # what reaches a list by another way than its name

    def use_of_key(self, name: str, but: ast.AST | None = None) -> ast.AST | None:
        """Return what takes out a list again that was given as a key or attribute."""
        for node in self.attributes.get(name, ()):
            parent = self.parents[node]
            is_given = isinstance(parent, ast.Assign) and parent.targets == [node]  # a list of its own
            if node is not but and not is_given and (isinstance(node, ast.Name) or not self.is_read(node)):
                return self.whole(node)
        return None

    def use_of_dictionary(self, node: ast.expr) -> ast.AST | None:
        """Return what may change the lists of a dictionary after it is made."""
        if (node, "") in self._visited:
            return None
        whole: ast.AST = node
        while isinstance(self.parents[whole], ast.Dict | ast.List | ast.Tuple | ast.Call | ast.keyword):
            whole, inner = self.parents[whole], whole
            if isinstance(whole, ast.Call) and (whole.func is inner or last_name(whole.func) in {*self.functions, ""}):
                return whole
        self._visited.add((node, ""))
        statement = self.parents[whole]
        keys = [str(each.value) for each in ast.walk(node) if isinstance(each, ast.Constant)]
        found = next((use for key in keys if key in self.library.names and (use := self.use_of_key(key))), None)
        match statement:
            case ast.Assign(targets=[ast.Attribute() as target]):
                found = found or self.use_of_key(target.attr, target)
            case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
                mentions = self.of[self.name(target.id, self.scope(target))]
                kept = [each for each in mentions if each is not target and not self._leaves_dictionary(each)]
                found = self.whole(kept[0]) if kept else found
            case ast.Expr() | ast.withitem():
                pass
            case _:
                found = self.whole(node)
        self._visited.discard((node, ""))
        return found

    def _leaves_dictionary(self, node: ast.AST) -> bool:
        parent = self.parents[node]
        match parent:
            case ast.Subscript(slice=ast.Constant(), ctx=ast.Store()) | ast.keyword(arg=None):
                return True
            case ast.Call() | ast.keyword():
                call = parent if isinstance(parent, ast.Call) else self.parents[parent]
                name = last_name(call.func) if isinstance(call, ast.Call) and call.func is not node else ""
                return name not in {"", "copy", "ChainMap", *vars(builtins), *self.functions}
        return False


def parameters_of(function: ast.AST) -> list[str]:
    """Return the names of the parameters of a function, those that have a place first."""
    arguments = getattr(function, "args", None)
    named = [] if arguments is None else [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [each.arg for each in named]


def position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _outside(scope: ast.AST) -> list[ast.AST]:
    return [*getattr(scope, "decorator_list", ()), *getattr(scope, "bases", ()), *getattr(scope, "keywords", ())]


def _names_set(node: ast.AST) -> set[str]:
    """Return the names that a node sets, or takes from another scope."""
    match node:
        case ast.Name() if not isinstance(node.ctx, ast.Load):
            return {node.id}
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.arg():
            return {node.arg}
        case ast.alias():
            return {(node.asname or node.name).partition(".")[0]}
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
            return {node.name} if node.name else set()
        case ast.MatchMapping():
            return {node.rest} if node.rest else set()
        case ast.Global() | ast.Nonlocal():
            return set(node.names)
    return set()
