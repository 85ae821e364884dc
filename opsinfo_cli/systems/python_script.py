"""What a Python script gives to calls, worked out from its syntax tree; the script is never run.

Literals are worked out as Python would: lists and sets that grow, shrink or are passed on, loops over literals,
functions and classes of the file. What only the running script knows is an :class:`Unread` with its place, and so is
what depends on a branch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..core.text.source import Source
from ..errors import Damaged
from .python_expressions import CHANGE, Expressions
from .python_values import (
    Call,
    Function,
    Library,
    Ref,
    Scope,
    State,
    Symbol,
    Test,
    TooLong,
    Unread,
    Value,
    is_static,
    is_whole,
    last_name,
)

_DEEPEST = 12
_LAMBDA = "lambda"
"""The name of a function that has none: no variable can be called so."""
_MOST_RUNS = 8
"""Runs of a function that gives no list itself; what more of them return is not known."""


def calls_of(source: Source, library: Library) -> list[Call]:
    """Return what a script gives to the parameters of a library, in the order in which it would run.

    Functions that the file does not call run after it, with arguments that are not known. Libraries are taken to be
    installed.

    :raises Damaged: if the text is no Python, or is too long or too deep to follow
    """
    script = _Script(library)
    try:
        script.run(ast.parse(source.text))
    except SyntaxError as error:
        message = f"invalid Python: {error.msg}"
        raise Damaged(message, path=source.path, line=error.lineno, column=error.offset) from None
    except RecursionError:
        raise Damaged("an expression is nested too deeply", path=source.path) from None
    except (ValueError, MemoryError) as error:
        raise Damaged(f"cannot parse as Python: {error}", path=source.path) from None
    except TooLong:
        hint = "write the lists into a file of their own"
        raise Damaged("the script is too long to follow its lists", path=source.path, hint=hint) from None
    return script.calls


class _Loop(NamedTuple):
    broken: list[State]
    continued: list[State]


class _Script(Expressions):
    """The statements of a script."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._loops: list[_Loop] = []
        self._returns: list[list[tuple[Value, State]]] = []
        self._running: list[ast.AST] = []
        self._called: set[ast.AST] = set()
        self._defined: list[list[Function]] = [[]]
        self._called_names: set[str] = set()
        self._runs: dict[ast.AST, int] = {}
        self._lambdas: dict[ast.Lambda, ast.FunctionDef] = {}

    def run(self, tree: ast.Module) -> None:
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self._called_names = {_LAMBDA, *(str(last_name(function)) for function in calls)}
        if self._body(tree.body):
            self._finish()
        for name, items in self.library.constants.items():
            value = self.state.scopes[0].get(f"*{name}")
            if value is not None and self._plain(value) != tuple(items):
                self._note("=", {name: value}, tree.body[-1])

    # scopes

    def _finish(self) -> None:
        """Run the functions of the scope that nothing calls, and note its variables of the wanted names."""
        functions = self._defined[-1]
        of_nobody = [each for each in functions if each.node.name not in self._called_names]
        before, calls = self.state.copy(), len(self.calls)
        for function in of_nobody:
            self._run_uncalled(function)
        if not self._same(before, self.state):  # what one changes, the others may see
            del self.calls[calls:]
            for function in of_nobody:
                self._run_uncalled(function)
        for function in functions:
            if function.node not in self._called:
                self._run_uncalled(function)
        for key, value in list(self.state.scopes[-1].items()):
            name = key.rpartition(".")[2]
            if name in self.library.names and name in self._lines:
                self._note("=", {name: value}, self._lines[name])

    def _run_uncalled(self, function: Function) -> None:
        self._called.add(function.node)
        before = self.state.copy()
        self._enter(function, [], {}, function.node, is_asked=False)
        self.state = self._joined([before, self.state], function.node)

    def _enter(
        self,
        function: Function,
        args: list[Value],
        keywords: dict[str, Value],
        place: ast.AST,
        is_asked: bool = True,
    ) -> Value:
        """Run the body of a function, and return what it returns."""
        node = function.node
        scopes = self.state.scopes
        self._runs[node] = self._runs.get(node, 0) + 1
        is_often = self._runs[node] > _MOST_RUNS and not self._mentions(node)
        if is_often or node in self._running or len(self._running) >= _DEEPEST or len(scopes) < function.depth:
            self._called.add(node)
            return self._unread(place)
        self._called.add(node)
        local = self._bound(function, args, keywords, is_asked)
        state = State([*scopes[: function.depth], local], self.state.heap)
        saved, self.state, loops, self._loops = scopes, state, self._loops, []
        self._running.append(node)
        self._returns.append([])
        self._defined.append([])
        if self._body(node.body):
            self._finish()
            self._returns[-1].append((None, self.state))
        self._defined.pop()
        returned = self._returns.pop()
        self._running.pop()
        self._loops = loops
        if not returned:  # it always raises
            self.state = State(saved, self.state.heap)
            return self._unread(place)
        self.state = self._joined([each for _, each in returned], node)
        value = self._either([value for value, _ in returned], node)
        self.state = State([*self.state.scopes[: function.depth], *saved[function.depth :]], self.state.heap)
        is_generator = any(isinstance(each, ast.Yield | ast.YieldFrom | ast.Await) for each in ast.walk(node))
        return self._unread(place) if is_generator else value

    def _lambda(self, node: ast.Lambda) -> Function:
        body = ast.copy_location(ast.Return(node.body), node)
        made = ast.FunctionDef(_LAMBDA, node.args, [body], [])
        self._define(self._lambdas.setdefault(node, ast.copy_location(made, node)))
        function: Function = self._scope.pop(_LAMBDA)
        self._escapes(function)
        return function

    def _escapes(self, function: Function) -> None:
        calls, called = len(self.calls), self._called.copy()
        self._perhaps(lambda: self._enter(function, [], {}, function.node, is_asked=False), function.node)
        del self.calls[calls:]
        self._called = called

    def _mentions(self, node: ast.AST) -> bool:
        """Return whether a function itself gives a list to a call, or may change one."""
        names = {each.arg if isinstance(each, ast.keyword) else getattr(each, "attr", None) for each in ast.walk(node)}
        changes = any(isinstance(each, ast.Delete | ast.AugAssign) for each in ast.walk(node))
        return changes or not names.isdisjoint({*self.library.names, *CHANGE})

    def _bound(self, function: Function, args: list[Value], keywords: dict[str, Value], is_asked: bool) -> Scope:
        """Return the parameters of a call. One that nothing gives has its default, if that is a list or the file calls
        the function."""
        node, arguments = function.node, function.node.args
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        given = dict(zip(names, args, strict=False))
        defaults = dict(function.defaults)
        if not is_asked:
            defaults = {name: value for name, value in defaults.items() if isinstance(value, Ref | tuple)}
        local: Scope = {}
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
            if each is not None:
                parameter = Unread(each.lineno, each.col_offset + 1, each.arg, is_parameter=True)
                local[each.arg] = {**defaults, **keywords, **given}.get(each.arg, parameter)
        if function.owner and not is_asked and names and not is_static(node):
            local[names[0]] = Symbol(f"{function.owner}#0")
        return local

    # statements: each returns whether the next one runs

    def _body(self, statements: Sequence[ast.stmt]) -> bool:
        tests = len(self._tests)
        goes_on = all(self._statement(statement) for statement in statements)
        del self._tests[tests:]
        return goes_on

    def _jumps(self) -> int:
        """Return how many states a return, break or continue has left."""
        loops = sum(len(loop.broken) + len(loop.continued) for loop in self._loops)
        return loops + sum(map(len, self._returns))

    def _known_in(self, test: ast.expr) -> dict[str, Value]:
        """Return the values of the variables and lists in a test, by their text."""
        kinds = (ast.Name, ast.List, ast.Tuple, ast.Set, ast.Constant)
        return {ast.unparse(each): self._plain(self._value(each)) for each in ast.walk(test) if isinstance(each, kinds)}

    def _statement(self, node: ast.stmt) -> bool:
        self._step()
        match node:
            case ast.If():
                return self._branch(node)
            case ast.For() | ast.AsyncFor():
                return self._for(node)
            case ast.While():
                known = self._truth(self._value(node.test))
                return True if known is False else self._again(node, lambda: self._value(node.test))
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    value = self._value(item.context_expr)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, value, node)
                return self._body(node.body)
            case ast.Try():
                return self._try(node)
            case ast.Match():
                self._value(node.subject)
                guards = [case.guard for case in node.cases if case.guard is not None]
                self._perhaps(lambda: self._elements(guards), node)
                return self._any_of([*(case.body for case in node.cases), []], node)
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                self._leave(node)
                return False
        self._simple(node)
        return not (isinstance(node, ast.Expr) and _exits(node.value))

    def _leave(self, node: ast.Return | ast.Raise | ast.Break | ast.Continue) -> None:
        if isinstance(node, ast.Return):
            value = self._value(node.value) if node.value is not None else None
            if self._returns:
                self._returns[-1].append((value, self.state))
        elif isinstance(node, ast.Break | ast.Continue) and self._loops:
            loop = self._loops[-1]
            (loop.broken if isinstance(node, ast.Break) else loop.continued).append(self.state)

    def _simple(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr():
                self._bare.update(_without_use(node.value))
                self._value(node.value)
            case ast.Assign():
                value = self._value(node.value)
                for target in node.targets:
                    self._assign(target, value, node)
            case ast.AnnAssign():
                if node.value is not None:
                    self._assign(node.target, self._value(node.value), node)
            case ast.AugAssign():
                self._augment(node)
            case ast.Delete():
                for target in node.targets:
                    self._delete(target)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(node)
            case ast.ClassDef():
                self._define_class(node)
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Global() | ast.Nonlocal():
                self._scope.update({f"global {name}": True for name in node.names})
            case ast.Assert():
                self._value(node.test)

    def _branch(self, node: ast.If) -> bool:
        known = self._truth(self._value(node.test))
        if known is not None:
            return self._body(node.body if known else node.orelse)
        return self._any_of([node.body, node.orelse], node, node.test)

    def _any_of(self, bodies: Sequence[Sequence[ast.stmt]], node: ast.AST, test: ast.expr | None = None) -> bool:
        """Run each of the bodies from here, and go on with what all of them leave alike.

        After `if x: continue` the other branch is all that the rest of its body has.
        """
        before, ends = self.state, []
        known = self._known_in(test) if test is not None else {}
        survives: list[Test] = []
        jumps = self._jumps()
        for number, body in enumerate(bodies):
            self.state = before.copy()
            if test is not None:
                self._tests.append(Test(test, number == 0, known))
            if self._body(body):
                ends.append(self.state)
                survives += self._tests[-1:]
            if test is not None:
                self._tests.pop()
        if test is not None and len(ends) == 1 and self._jumps() > jumps:
            self._tests += survives
        if ends:
            self.state = self._joined(ends, node)
        return bool(ends)

    def _try(self, node: ast.Try) -> bool:
        before = self.state.copy()
        runs = self._body([*node.body, *node.orelse])
        ends = [self.state] if runs else []
        for handler in node.handlers:
            caught = ast.unparse(handler.type) if handler.type is not None else ""
            if "ImportError" in caught or "ModuleNotFoundError" in caught:
                continue
            self.state = self._joined([before.copy(), *[end.copy() for end in ends]], handler)
            if handler.name:
                self._scope[handler.name] = self._unread(handler)
            if self._body(handler.body):
                ends.append(self.state)
        self.state = self._joined(ends, node) if ends else before
        return self._body(node.finalbody) and bool(ends)

    def _for(self, node: ast.For | ast.AsyncFor) -> bool:
        items = self._items(self._value(node.iter), node.iter)
        if not is_whole(items):
            return self._again(node, lambda: self._assign(node.target, self._unread(node.iter), node))
        loop = _Loop([], [])
        goes_on = True
        for item in items:
            self._loops.append(loop)
            self._assign(node.target, item, node)
            ends = [self.state] if self._body(node.body) else []
            ends += loop.continued
            loop.continued.clear()
            self._loops.pop()
            goes_on = bool(ends)
            if not goes_on:
                break
            self.state = self._joined(ends, node) if len(ends) > 1 else ends[0]
        if goes_on:
            goes_on = self._body(node.orelse)
        ends = [*loop.broken, *([self.state] if goes_on else [])]
        if ends:
            self.state = self._joined(ends, node)
        return bool(ends)

    def _again(self, node: ast.For | ast.AsyncFor | ast.While, begin: Callable[[], Value]) -> bool:
        """Run a loop that may run any number of times, until it changes nothing more."""
        for _ in range(3):
            before = self.state.copy()
            loop = _Loop([], [])
            self._loops.append(loop)
            begin()
            ends = [before, *([self.state] if self._body(node.body) else [])]
            self._loops.pop()
            self.state = self._joined([*ends, *loop.continued, *loop.broken], node)
            if self._same(before, self.state):
                break
        return self._body(node.orelse)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str = "") -> None:
        for decorator in node.decorator_list:
            self._value(decorator)
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args]
        defaults = [*zip(named[len(named) - len(arguments.defaults) :], arguments.defaults, strict=True)]
        defaults += [
            (name, each) for name, each in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if each
        ]
        values = tuple((name.arg, self._value(default)) for name, default in defaults)
        depth = 1 if owner else len(self.state.scopes)
        function = Function(node, depth, values, owner)
        self._defined[-1].append(function)
        if owner:
            self.state.scopes[0][f"{owner}.{node.name}"] = function
        else:
            self._scope[node.name] = function

    def _define_class(self, node: ast.ClassDef) -> None:
        for base in node.bases:
            self._value(base)
        self._scope[node.name] = Symbol(node.name)
        self.state.scopes[0][f"class {node.name}"] = True
        self.state.scopes.append({})
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self._define(statement, node.name)
            else:
                self._statement(statement)
        attributes = self.state.scopes.pop()
        self.state.scopes[0].update({f"{node.name}.{name}": value for name, value in attributes.items()})

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                path = f"{'.' * node.level}{node.module or ''}.{alias.name}"
                self._set(alias.asname or alias.name, self._symbol(path))
            elif alias.asname:
                self._set(alias.asname, self._symbol(alias.name))
            else:
                root = alias.name.partition(".")[0]
                self._set(root, self._symbol(root))


def _without_use(node: ast.expr) -> list[ast.expr]:
    """Return the expressions of a statement whose value nobody uses."""
    match node:
        case ast.BoolOp():
            inner = node.values[-1:]
        case ast.IfExp():
            inner = [node.body, node.orelse]
        case ast.ListComp() | ast.SetComp():
            inner = [node.elt]
        case ast.Await():
            inner = [node.value]
        case _:
            return [node]
    return [found for each in inner for found in _without_use(each)]


def _exits(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in ("exit", "_exit") and not node.keywords
