"""Runs constructors from the words of a source: declarations, calls, own functions, conditions and loops.

What is not known never decides a policy. It has two kinds, with a rule each:

- A **value** that cannot be worked out is :class:`~.values.Unknown`, with the reason. It is harmless until it is a
  condition, a loop's range, a flag, a chip, a configuration or the name of a port: there the reason is raised as a
  :class:`~.tokens.SourceFault`. In a column or an attribute only this part is unreadable.
- **Code** that is not read, or not understood, raises a :class:`~.tokens.SourceFault`, which ends the op type: a
  function that the project does not have, a type from a header of the system, a statement that real sources do not use.
  Passed over is an argument, or a statement that is only the call of a function, if it names nothing but what
  namespaces define (:meth:`Runner._pass_over`): it is given nothing that it could change. Its value is unknown. A
  variable of a namespace that is no constant is unknown from the start, because any code may change it.

References are followed: an expression gives the :class:`~.values.Variable` that it refers to (``Operand``), and whoever
wants its value asks :func:`~.values.plain`. The programs of ``opdef_programs.txt`` hold these rules against a compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import NamedTuple

from . import standard
from .conversion import NOT_HELD, TYPES, Conversion
from .definitions import IS_MISSING, Definitions, Instance, Lazy, Registration
from .op_definition import CoreConfig, OpDefinition, Part
from .source_text import ASSIGNMENTS, Declaration, SourceFunction, TypeText
from .tokens import NotDefined, SourceFault, Token
from .values import (
    EnumConstant,
    Functions,
    Map,
    Operand,
    Position,
    Scope,
    StepBudget,
    String,
    Unknown,
    Value,
    Variable,
    plain,
)
from .words import PARAM_TYPES

MOST_STEPS = 500_000
"""Expressions and statements of one source. The most that one of 5,300 real sources takes are 13,000."""

_FRAMEWORK = frozenset(
    ("ge", "Option", "DataType", "Format", "FollowType", "DependScope", "ScalarType", "FormatCheckOption")
)
_LOOKS = frozenset(("size", "empty", "begin", "end"))
"""Methods of a vector that make no objects."""
_LITERALS = {"true": True, "false": False, "nullptr": None}
_CHANGES = frozenset((*ASSIGNMENTS, "++", "--"))
_NOT_INTERPRETED = frozenset(
    (
        *("while", "do", "try", "break", "continue"),
        *("typedef", "struct", "class", "union", "enum", "template", "extern"),
    )
)


class Returned(NamedTuple):
    """A function ends with this value."""

    value: Operand


def value_of(tokens: Sequence[Token]) -> Value:
    """Return the value of an expression that names nothing of a source, of a condition of the preprocessor."""
    return Runner(tokens).value(0, len(tokens), Scope())


def _holds_objects(value: Value) -> bool:
    return isinstance(value, list) and any(isinstance(each, Instance) for each in value)


class Runner:
    """The definitions of one source, and the objects that they make."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        """:raises SourceFault: if the brackets do not balance"""
        self._budget = StepBudget(MOST_STEPS)
        self._definitions = Definitions(tokens, self._budget)
        self._text = self._definitions.text
        self._globals = self._definitions.scope
        self._configs: list[CoreConfig] = []
        self._statics: dict[int, object] = {}
        """What constants of functions, which begin once, began with, by their places."""
        self._conversion = Conversion(
            self._definitions,
            self._budget,
            self._instantiate,
            lambda start, end: self.value(start, end, self._globals),
        )

    def define(self) -> list[Registration]:
        """Read all definitions; return the registrations, in order.

        :raises SourceFault: if a definition may change others and is not understood
        """
        self._definitions.add((0, len(self._text.places)), self._globals)
        self._definitions.tell_apart(TYPES)
        return self._definitions.registrations

    def construct_operator(self, registration: Registration) -> tuple[OpDefinition, list[CoreConfig]]:
        """Return what the constructor of an op type sets, and the configurations that it declares.

        :raises SourceFault: if it cannot be worked out
        """
        self._configs = []
        name = self._definitions.resolve(TypeText(registration.name)).name
        if name not in self._definitions.classes:
            raise NotDefined(f"the class `{name}` {IS_MISSING}", registration.place)
        instance = self._instantiate(name, [registration.name], registration.place)
        if instance.operator is None:
            raise SourceFault(f"the class `{name}` does not derive from `OpDef`", registration.place)
        instance.operator.name = registration.name
        return instance.operator, self._configs

    def _spend(self, steps: int, at: int) -> None:
        self._budget.spend(steps, self._text.places[at])

    def _pass_over(self, fault: SourceFault, start: int, end: int, scope: Scope) -> Unknown:
        """Return the value of an argument, or a call, that is not understood: see above.

        :raises SourceFault: if it names what it may change
        """
        self._spend(0, start)  # the fault may be that nothing is left
        for word in self._text.words[start:end]:
            if word in OpDefinition.METHODS or scope.holder(word) not in (None, self._globals):
                raise fault
        return Unknown(fault)

    # Objects

    def _instantiate(self, name: str, items: Sequence[Operand], place: int) -> Instance:
        """Return an object of a class: its base is made first, then its variables in order, then its constructor runs.

        An object of a class with a base is one of each: functions of a base find the names that the base has.
        """
        of = self._definitions.class_of(name, place)
        self._budget.spend(10 + (of.body[1] - of.body[0] >> 3), place)
        instance = Instance(name, Scope(self._globals))
        instance.scope["this"] = instance
        variables = self._definitions.add(of.body, instance.scope)
        constructors = instance.scope.get(of.name)
        if isinstance(constructors, Unknown):
            raise constructors.fault
        of_base, body, scope = items, (0, 0), instance.scope  # without a constructor that of the base is inherited
        initializers: dict[str, tuple[int, int]] = {}
        if isinstance(constructors, Functions):
            constructor = self._choose(constructors, items, place)
            body, initializers = constructor.body, dict(constructor.initializers)
            scope = self._bind(constructor, instance.scope, items, place)
            given_to_base = initializers.pop(of.base or "", (0, 0))
            of_base = self._items(*given_to_base, scope)
        if of.base == "OpDef":
            instance.operator = OpDefinition(name)
        elif of.base:
            base = self._instantiate(of.base, of_base, place)
            instance.scope.parent, instance.operator = base.scope, base.operator
            if isinstance(constructors, Functions) and self._names_member(base, constructor, given_to_base):
                raise SourceFault("a name of the base class in what it is given is not interpreted", place)
        elif constructors is None and items:
            raise SourceFault(f"the class `{name}` has no constructor", place)
        for each in variables:
            if each.name not in initializers:
                self._variable(each.name, instance.scope, each.at)
                continue
            start, end = initializers.pop(each.name)
            if each.type.is_reference:
                raise self._text.fault("a member that is a reference is not interpreted", start)
            instance.scope[each.name] = self._construct(
                each.type, self._items(start, end, scope), self._text.words[start - 1] == "{", start - 1
            )
        for other, (start, _) in initializers.items():
            raise self._text.fault(f"the initializer `{other}` is not understood", start)
        self._run(*body, scope)
        return instance

    def _names_member(self, base: Instance, constructor: SourceFunction, given: tuple[int, int]) -> bool:
        """Return whether what a constructor gives to a base, or takes by default, has a name of the base."""
        parts = [given, *(each.default for each in constructor.parameters if each.default)]
        words = {word for part in parts for word in self._text.words[slice(*part)]}
        return any(base.scope.holder(word) not in (None, self._globals) for word in words - {"this"})

    # Variables

    def _declare(self, declared: Declaration, scope: Scope) -> None:
        """Add a variable with its value."""
        if declared.type.is_reference:
            if declared.opening != "=":
                raise self._text.fault("a reference without `=` is not interpreted", declared.at)
            referred = self._evaluate(*declared.given, scope)
            if isinstance(referred, Unknown):
                raise referred.fault
            if "move" in self._text.words[slice(*declared.given)]:
                raise self._text.fault("a reference to what is moved is not interpreted", declared.at)
            scope[declared.name] = self._refer(declared.type, referred, declared.at)
            return
        if declared.opening == "=":
            value = self._conversion.convert(declared.type, self.value(*declared.given, scope), declared.at)
        elif declared.opening == "(" and self._may_be_function(declared):
            raise self._text.fault("what may be the declaration of a function is not interpreted", declared.at)
        else:
            items = self._items(*declared.given, scope)
            value = self._construct(declared.type, items, declared.opening == "{", declared.at)
        if isinstance(value, CoreConfig):
            value.variable, value.place = declared.name, self._text.places[declared.at]
            self._configs.append(value)
        scope[declared.name] = value

    def _may_be_function(self, declared: Declaration) -> bool:
        """Return whether ``T x(...)`` may declare a function: it is given nothing, or a type."""
        start, end = declared.given
        return start == end or self._conversion.is_type(self._text.words[start])

    def _construct(self, kind: TypeText, given: Sequence[Operand], is_braced: bool, at: int) -> Value:
        """Return ``T(given)`` or ``T{given}``."""
        if self._conversion.is_class(kind):
            return self._instantiate(self._definitions.resolve(kind).name, given, self._text.places[at])
        return self._conversion.construct(kind, [plain(each) for each in given], is_braced, at)

    def _refer(self, kind: TypeText, given: Operand, at: int) -> Operand:
        """Return what ``T& x = given`` refers to.

        - A part of the operator, an object or a function is itself.
        - A variable is itself, if that is certain: ``const T&`` of a number, or of a text that is no ``std::string``,
          may be a copy of another type.
        - Any other value is made one of the type.
        """
        value = plain(given)
        is_shared = isinstance(value, Unknown | Part | Instance | Functions)
        if self._conversion.is_class(kind) and is_shared and not self._conversion.is_of(kind, value):
            raise self._text.fault("an object as one of another class is not interpreted", at)
        if kind.is_changeable and not is_shared and not isinstance(given, Variable):
            raise self._text.fault("what a conversion gives to a reference is not interpreted", at)
        if is_shared or kind.is_changeable:
            return given
        if not isinstance(given, Variable):
            return self._conversion.convert(kind, value, at)
        if kind.name != "auto" and (isinstance(value, int | float) or type(value) is str):
            raise self._text.fault("a reference that may be a copy is not interpreted", at)
        return given

    def _take(self, kind: TypeText, given: Operand, at: int) -> Operand:
        """Return what a parameter, or the variable of a loop, is."""
        return self._refer(kind, given, at) if kind.is_reference else self._conversion.convert(kind, plain(given), at)

    # Functions

    def _choose(self, functions: Functions, given: Sequence[Operand], place: int) -> SourceFunction:
        """:raises SourceFault: if there is none, or it cannot be told"""
        fitting = [
            each
            for each in functions.definitions
            if sum(parameter.default is None for parameter in each.parameters) <= len(given) <= len(each.parameters)
        ]
        self._budget.spend(len(functions.definitions), place)
        values = [plain(each) for each in given]
        name = functions.definitions[0].name
        if len(values) == 1 and isinstance(values[0], Instance) and values[0].name == name:
            raise SourceFault("the copy of an object is not interpreted", place)
        types = [parameter.type.name for each in functions.definitions for parameter in each.parameters]
        if "initializer_list" in types and len(functions.definitions) > 1:
            raise SourceFault("an overload of an `initializer_list` is not interpreted", place)
        if len(fitting) != 1:
            what = "no function" if not fitting else "more than one function"
            raise SourceFault(f"{what} `{name}` takes these arguments", place)
        return fitting[0]

    def _bind(self, function: SourceFunction, parent: Scope, given: Sequence[Operand], place: int) -> Scope:
        """Return the scope of a body, with its parameters."""
        scope = Scope(parent)
        for index, parameter in enumerate(function.parameters):
            kind = parameter.type
            if index < len(given):
                operand = given[index]
            else:
                assert parameter.default is not None
                operand = self.value(*parameter.default, parent)
            scope[parameter.name or ""] = self._take(kind, operand, function.at)
        return scope

    def _apply(self, functions: Functions, given: Sequence[Operand], place: int) -> Value:
        self._budget.spend(1, place)
        function = self._choose(functions, given, place)
        self._check_template(function, given, place)
        returned = self._run(*function.body, self._bind(function, functions.scope, given, place))
        if returned is None:
            return None  # of a function without a value
        if function.returns.is_reference:
            raise self._text.fault("a function that returns a reference is not interpreted", function.at)
        return self._conversion.convert(function.returns, plain(returned.value), function.at)

    def _check_template(self, function: SourceFunction, given: Sequence[Operand], place: int) -> None:
        """:raises SourceFault: if what the function makes depends on the types that it is given, which are not kept"""
        head = self._definitions.head(function)
        if "template" not in head:
            return
        values = [plain(each) for each in given]
        items = [item for each in values for item in (each if isinstance(each, list) else [each])]
        of_types = sum(word in ("typename", "class") for word in head)
        if head[: head.index(">")].count(",") >= of_types:
            raise SourceFault("a template of values is not interpreted", place)
        parameters = {after for word, after in pairwise(head) if word in ("typename", "class")}
        if not parameters.isdisjoint((*self._definitions.classes, *self._definitions.aliases)):
            raise SourceFault("a template whose type has the name of another is not interpreted", place)
        if any(isinstance(each, bool | float) for each in items) or not NOT_HELD.isdisjoint(head):
            raise SourceFault("a template that is given a `bool`, or a small number, is not interpreted", place)

    # Statements

    def _run(self, at: int, end: int, scope: Scope) -> Returned | None:
        """Run statements until one of them ends the function."""
        while at < end:
            returned, at = self._statement(at, end, scope)
            if returned is not None:
                return returned
        return None

    def _statement(self, at: int, end: int, scope: Scope) -> tuple[Returned | None, int]:
        """Run a statement; return what ends the function, and the index after it."""
        self._spend(1, at)
        word = self._text.words[at]
        if word in ("if", "for", "switch"):
            after = self._text.statement_end(at, end)
            self._spend(after - at >> 3, at)
            run = {"if": self._if, "for": self._for, "switch": self._switch}[word]
            return run(at, end, scope), after
        if word == ";":
            return None, at + 1
        if word == "{":
            return self._run(*self._text.inside(at), Scope(scope)), self._text.after(at)
        if word in ("case", "default"):
            return None, self._text.find(at, end, ":") + 1
        stop = self._text.find(at, end, ";")
        self._spend(stop - at >> 3, at)
        if word == "return":
            return Returned(self._evaluate(at + 1, stop, scope) if stop > at + 1 else None), stop
        if word == "throw":
            raise self._text.fault("an exception is thrown", at)
        is_alias = self._text.words[at : at + 3 : 2] == ["using", "="]
        if is_alias or word in _NOT_INTERPRETED:
            raise self._text.fault(f"`{word}` is not interpreted", at)
        if stop == end:
            raise self._text.fault("`;` expected", at)
        if word != "static_assert":
            self._simple_statement(at, stop, scope)
        return None, stop + 1

    def _simple_statement(self, at: int, stop: int, scope: Scope) -> None:
        """Run declarations, or expressions."""
        declared = self._text.declarations(at, stop)
        head = self._text.words[at : declared[0].at] if declared else []
        is_static = "static" in head
        if "thread_local" in head or (
            is_static and not all(each.type.is_constant or each.type.is_array for each in declared)
        ):
            raise self._text.fault("a static variable is not interpreted", at)
        for each in declared:
            self._declare(each, scope)
            if is_static and self._statics.setdefault(each.at, scope[each.name]) != scope[each.name]:
                raise self._text.fault("a static variable that begins with several values is not interpreted", at)
        if declared:
            return
        typed = self._text.type(at, stop)
        if typed and self._conversion.is_type(typed[0].name) and self._text.words[typed[1] : stop : 2] == ["(", ")"]:
            raise self._text.fault("a declaration in parentheses is not interpreted", at)  # `T(x);`
        try:
            for part in self._text.split(at, stop):
                value = self._evaluate(*part, scope)
                if isinstance(value, Unknown):
                    raise value.fault
        except SourceFault as fault:
            if not self._is_call(at, stop):
                raise
            self._pass_over(fault, at, stop, scope)

    def _is_call(self, at: int, stop: int) -> bool:
        """Return whether a statement is nothing but the call of a function: ``space::name(...)`` or ``name<T>(...)``.

        ``name(...)`` may be a macro of a header that is not read, which may be anything, if the source has no such
        name.
        """
        words, start = self._text.words, at
        while words[at + 1] == "::":
            at += 2
        after = self._text.after_angles(at + 1) if words[at + 1] == "<" else None
        opening = after or (at + 1 if at > start or words[at] in self._globals else stop)
        return words[opening] == "(" and self._text.after(opening) == stop

    def _if(self, at: int, end: int, scope: Scope) -> Returned | None:
        opening = self._text.find(at, end, "(")
        then = self._text.after(opening)
        otherwise = self._text.statement_end(then, end)
        if self._holds(*self._text.inside(opening), scope):
            return self._statement(then, end, Scope(scope))[0]
        if otherwise < end and self._text.words[otherwise] == "else":
            return self._statement(otherwise + 1, end, Scope(scope))[0]
        return None

    def _holds(self, start: int, end: int, scope: Scope) -> bool:
        """:raises SourceFault: if it cannot be told"""
        value = self.value(start, end, scope)
        if isinstance(value, Unknown):
            raise value.fault
        if isinstance(value, bool | int):
            return bool(value)
        raise self._text.fault("the condition is not understood", start)

    def _for(self, at: int, end: int, scope: Scope) -> Returned | None:
        start, stop = self._text.inside(at + 1)
        body, inner = self._text.after(at + 1), Scope(scope)
        first = self._text.find(start, stop, ";")
        if first == stop:
            return self._for_each(start, stop, body, end, scope)
        second = self._text.find(first + 1, stop, ";")
        self._statement(start, first + 1, inner)
        while first + 1 == second or self._holds(first + 1, second, inner):
            returned = self._statement(body, end, Scope(inner))[0]
            if returned is not None:
                return returned
            for part in self._text.split(second + 1, stop):
                self._evaluate(*part, inner)
        return None

    def _for_each(self, start: int, stop: int, body: int, end: int, scope: Scope) -> Returned | None:
        """``for (declared : values)``."""
        colon = self._text.find(start, stop, ":")
        typed = self._text.type(start, colon)
        if colon == stop or typed is None or typed[1] != colon - 1:
            raise self._text.fault("a `for` that is not understood", start)
        kind, name = typed[0], self._text.words[colon - 1]
        values = self.value(colon + 1, stop, scope)
        if isinstance(values, Unknown):
            raise values.fault
        if not isinstance(values, list):
            raise self._text.fault("what the loop runs over is not understood", start)
        for index in range(len(values)):
            if index >= len(values):
                raise self._text.fault("the loop shortens what it runs over", start)
            inner = Scope(scope)
            inner[name] = self._take(kind, Variable(values, index, self._text.places[start]), start)
            returned = self._statement(body, end, inner)[0]
            if returned is not None:
                return returned
        return None

    def _switch(self, at: int, end: int, scope: Scope) -> Returned | None:
        """Run from the label that is chosen to a ``return`` or to the end; ``break`` is not interpreted."""
        value = self.value(*self._text.inside(at + 1), scope)
        start, stop = self._text.inside(self._text.after(at + 1))
        chosen, at = stop, start
        while at < stop:
            word = self._text.words[at]
            if word not in ("case", "default"):
                first, at = at, self._text.statement_end(at, stop)
                if not {"case", "default"}.isdisjoint(self._text.words[first:at]):
                    raise self._text.fault("a label inside a statement is not interpreted", first)
                continue
            colon = self._text.find(at, stop, ":")
            if word == "default":
                chosen = at
            else:
                label = self.value(at + 1, colon, scope)
                is_chosen = standard.binary("==", value, label, self._budget, self._text.places[at])
                if isinstance(is_chosen, Unknown):
                    raise self._text.fault("the `switch` is not understood", start - 1)
                if is_chosen:
                    chosen = at
                    break
            at = colon + 1
        return self._run(chosen, stop, Scope(scope))

    # Expressions

    def value(self, start: int, end: int, scope: Scope) -> Value:
        return plain(self._evaluate(start, end, scope))

    def _items(self, start: int, end: int, scope: Scope) -> list[Operand]:
        """Return the values, or variables, of a list; what is not understood is unknown."""
        words, found, changed = self._text.words, list[Operand](), False
        for first, stop in self._text.split(start, end):
            if stop - first == 3 and words[first] == "ge" and words[first + 1] == "::":
                found.append(EnumConstant(words[first + 2]))
                continue
            changed |= words[first] != "[" and not _CHANGES.isdisjoint(words[first:stop])
            try:
                found.append(self._evaluate(first, stop, scope))
            except SourceFault as fault:
                found.append(self._pass_over(fault, first, stop, scope))
        self._spend(len(found), start)
        configs = [value for each in found if isinstance(value := plain(each), CoreConfig)]
        if len(found) > 1 and (changed or len(set(map(id, configs))) < len(configs)):
            raise self._text.fault("items that change what others beside them are, are not interpreted", start)
        return found

    def _evaluate(self, start: int, end: int, scope: Scope) -> Operand:
        """Return the value of an expression, or the variable that it refers to."""
        self._spend(1 + (end - start >> 3), start)  # its operator is looked for
        if start >= end:
            raise self._text.fault("an expression expected", start)
        at = self._text.operator(start, end)
        if at is not None:
            return self._binary(start, at, end, scope)
        value, after = self._unary(start, end, scope)
        if after < end:
            raise self._text.fault(f"`{self._text.words[after]}` is not understood", after)
        return value

    def _binary(self, start: int, at: int, end: int, scope: Scope) -> Operand:
        word = self._text.words[at]
        if word in ASSIGNMENTS:
            value = self.value(at + 1, end, scope)  # before its target, since C++17
            return self._assign(self._evaluate(start, at, scope), ASSIGNMENTS[word], value, at)
        if word == "?":
            raise self._text.fault("`?` is not interpreted", at)
        if word in ("&&", "||"):
            left_holds = self._holds(start, at, scope)
            return left_holds if left_holds == (word == "||") else self._holds(at + 1, end, scope)
        left, right = self.value(start, at, scope), self.value(at + 1, end, scope)
        if "operator" in self._globals and not (isinstance(left, int | float) and isinstance(right, int | float)):
            raise self._text.fault("an operator of the source is not interpreted", at)
        return standard.binary(word, left, right, self._budget, self._text.places[at])

    def _assign(self, target: Operand, operation: str, value: Value, at: int) -> Operand:
        before = plain(target)
        if self._text.words[at + 1] == "{":
            raise self._text.fault("an assignment of braces is not interpreted", at)
        if operation:
            value = standard.binary(operation, before, value, self._budget, self._text.places[at])
        else:
            value = self._conversion.copy(value, at)
        if isinstance(before, CoreConfig) and isinstance(value, CoreConfig):
            before.ports, before.settings = value.ports, value.settings  # in place: references see it
            before.origin, before.is_passed = value, False
            return target
        if isinstance(before, Part | Instance | Map) or _holds_objects(before):
            raise self._text.fault("an assignment to this object is not interpreted", at)
        if isinstance(before, list) and isinstance(value, list):
            before[:] = value  # as above
            return target
        return self._give(target, value, at)

    def _give(self, target: Operand, value: Value, at: int) -> Operand:
        """Give a variable a value, as one of the type that it holds."""
        before = plain(target)
        if isinstance(before, String) and isinstance(value, str):
            value = String(value)
        if isinstance(value, bool | int | float):
            if isinstance(before, bool | int | float) and (value >= 0 or isinstance(before, float)):
                value = self._conversion.number(type(before).__name__, value, at)
            else:
                value = Unknown(self._text.fault("the assignment of a value of another type is not interpreted", at))
        if not isinstance(target, Variable):
            raise self._text.fault("the assignment is not understood", at)
        target.set(value)
        return target

    def _unary(self, at: int, end: int, scope: Scope) -> tuple[Operand, int]:
        word = self._text.words[at]
        if word in ("!", "-"):
            value, after = self._unary(at + 1, end, scope)
            return standard.unary(word, plain(value), self._text.places[at]), after
        if word in ("*", "&"):
            value, after = self._unary(at + 1, end, scope)
            if isinstance(plain(value), Functions | Unknown if word == "&" else Instance):
                return value, after
            raise self._text.fault(f"the use of `{word}` is not interpreted", at)
        if word in ("++", "--"):
            value, after = self._unary(at + 1, end, scope)
            return self._increment(value, word, at), after
        return self._postfix(*self._primary(at, end, scope), end, scope)

    def _increment(self, target: Operand, word: str, at: int) -> Operand:
        value = standard.binary(word[0], plain(target), 1, self._budget, self._text.places[at])
        return self._give(target, value, at)

    def _postfix(self, value: Operand, at: int, end: int, scope: Scope) -> tuple[Operand, int]:
        words = self._text.words
        while at < end:
            word = words[at]
            if word in (".", "->"):
                at += 1 + (words[at + 1] == "template")
                name_at, at = at, at + 1
                if words[at] == "<" and (after := self._text.after_angles(at)) is not None and words[after] == "(":
                    self._give_types(tuple(self._text.split(at + 1, after - 1, of_types=True)), name_at)
                    at = after
                if words[at] == "(":
                    value = self._call_member(value, name_at, at, scope)
                    at = self._text.after(at)
                else:
                    value = self._member(plain(value), name_at)
            elif word == "(":
                value = self._call_value(plain(value), at, at, scope)
                at = self._text.after(at)
            elif word == "[":
                value = self._element(plain(value), at, scope)
                at = self._text.after(at)
            elif word in ("++", "--"):
                before = plain(value)
                self._increment(value, word, at)
                value, at = before, at + 1
            elif word == "...":
                raise self._text.fault("a pack of arguments is not interpreted", at)
            else:
                break
        return value, at

    def _primary(self, at: int, end: int, scope: Scope) -> tuple[Operand, int]:
        word = self._text.words[at]
        if at >= end:
            raise self._text.fault("an expression expected", at)
        if word == "(":
            return self._evaluate(*self._text.inside(at), scope), self._text.after(at)
        if word == "{":
            items = self._items(*self._text.inside(at), scope)
            return [self._conversion.copy(plain(each), at) for each in items], self._text.after(at)
        if word == "[":
            return self._lambda(at, end, scope)
        if word[0].isdigit() or (word[0] == "." and word[1:2].isdigit()):
            return self._text.number(at), at + 1
        if word.endswith('"') and len(word) > 1:
            self._spend(len(word) >> 3, at)
            return self._text.string(at, end)
        if word in _LITERALS:
            return _LITERALS[word], at + 1
        if word == "static_cast":
            return self._cast(at, scope)
        return self._name(at, end, scope)

    def _cast(self, at: int, scope: Scope) -> tuple[Operand, int]:
        """Return ``static_cast<T>(x)`` as the call ``T(x)`` for numbers, else as ``x``."""
        opening = self._text.after_angles(at + 1)
        if opening is None or self._text.words[opening] != "(":
            raise self._text.fault("a cast that is not understood", at)
        items = self._items(*self._text.inside(opening), scope)
        kind = self._text.whole_type(at + 2, opening - 1)
        if len(items) != 1 or kind.is_reference or kind.is_pointer:
            raise self._text.fault("a cast that is not understood", at)
        value = plain(items[0])
        if isinstance(value, EnumConstant) and kind.name != "bool":
            return value, self._text.after(opening)  # the constant of a number is cast back before it is compared
        return self._construct(kind, items, False, at), self._text.after(opening)

    def _lambda(self, at: int, end: int, scope: Scope) -> tuple[Value, int]:
        words = self._text.words
        opening = self._text.after(at)
        self._spend(self._text.after(opening) - at >> 3, at)
        parameters = self._text.parameters(*self._text.inside(opening)) if words[opening] == "(" else []
        body = self._text.find(opening, end, "{")
        if body == end:
            raise self._text.fault("`{` expected", opening)
        for start, stop in self._text.split(*self._text.inside(at)):
            capture = words[start:stop]
            if capture != ["this"] and (capture[0] != "&" or len(capture) > 2):
                raise self._text.fault(f"the capture `{' '.join(capture)}` is not interpreted", at)
        arrow = self._text.find(opening, body, "->")
        returns = self._text.whole_type(arrow + 1, body) if arrow < body else TypeText("auto")
        function = SourceFunction("lambda", parameters, self._text.inside(body), (), returns, at)
        names, known = Scope(self._globals), scope  # what is declared later is another variable
        while known is not self._globals and known.parent is not None:
            for name in known.keys() - names.keys():
                names[name] = self._variable(name, known, at)
            known = known.parent
        return Functions([function], names), self._text.after(body)

    # Names

    def _variable(self, name: str, scope: Scope, at: int) -> Variable | None:
        """Return the variable of a name; None if there is none."""
        holder = scope.holder(name)
        if holder is None:
            return None
        value = holder[name]
        if isinstance(value, Lazy):
            holder[name] = Unknown(self._text.fault(f"`{name}` is defined by itself", at))
            try:
                self._declare(value.declaration, holder)
            except SourceFault as fault:
                holder[name] = Unknown(fault)
                if holder is not self._globals:  # the value of a constant there can change nothing
                    raise
            value = holder[name]
        return value if isinstance(value, Variable) else Variable(holder, name, self._text.places[at])

    def _look_up(self, parts: Sequence[str], scope: Scope, at: int) -> Variable | None:
        """Return the variable of a name. Namespaces of the source are not kept apart; what is in others is not there.

        :raises SourceFault: for a name of a namespace that an inner scope has, too
        """
        if len(parts) > 1:
            if not self._definitions.spaces.issuperset(parts[:-1]):
                return None
            if parts[-1] in self._globals and scope.holder(parts[-1]) is not self._globals:
                raise self._text.fault(f"`{'::'.join(parts)}` is not interpreted", at)
        return self._variable(parts[-1], scope, at)

    def _name(self, at: int, end: int, scope: Scope) -> tuple[Operand, int]:
        """Return what a name stands for, or what its call returns."""
        words, arguments = self._text.words, tuple[tuple[int, int], ...]()
        parts = [""] * (words[at] == "::")
        at += len(parts)
        while True:
            if at >= end or not words[at].isidentifier():
                raise self._text.fault(f"`{words[at]}` is not understood", at)
            parts.append(words[at])
            name_at, at = at, at + 1
            after = self._text.after_angles(at) if words[at] == "<" else None
            if after is not None and after <= end and (after == end or words[after] in ("(", "{", "::")):
                arguments, at = tuple(self._text.split(at + 1, after - 1, of_types=True)), after
            if at >= end or words[at] != "::":
                break
            at += 1
        if at < end and words[at] in ("(", "{"):
            return self._call_name(parts, arguments, name_at, at, scope), self._text.after(at)
        found = self._look_up(parts, scope, name_at)
        if found is not None:
            return found, at
        name = parts[-1]
        is_framework = name.startswith(("DT_", "FORMAT_")) or name in PARAM_TYPES
        if is_framework or (len(parts) > 1 and parts[-2] in _FRAMEWORK):
            return EnumConstant(name), at
        if name in ("goto", "new", "delete", "operator", "try"):
            raise self._text.fault(f"`{name}` is not understood", name_at)
        return Unknown(NotDefined(f"`{'::'.join(parts)}` {IS_MISSING}", self._text.places[name_at])), at

    def _element(self, container: Value, at: int, scope: Scope) -> Operand:
        """Return the variable of ``container[index]``; a map makes it if there is none."""
        index = self.value(*self._text.inside(at), scope)
        if isinstance(container, Unknown):
            return container
        if isinstance(index, Unknown):
            raise index.fault
        if isinstance(container, Map) and isinstance(index, Hashable):
            if index not in container:
                self._spend(1, at)
                container[index] = container.default()
            return Variable(container, index, self._text.places[at])
        if isinstance(container, list) and isinstance(index, int) and 0 <= index < len(container):
            return Variable(container, index, self._text.places[at])
        raise self._text.fault("the index is outside the vector, or it is none", at)

    def _member(self, value: Value, at: int) -> Operand:
        name = self._text.words[at]
        if isinstance(value, Position) and name in ("first", "second") and value.index < len(value.items):
            owner, pair = value.owner, value.items[value.index]
            if isinstance(owner, Map) and isinstance(pair, list):
                return pair[0] if name == "first" else Variable(owner, pair[0], self._text.places[at])
        if isinstance(value, Instance) and value.scope.holder(name) is not self._globals:
            found = self._variable(name, value.scope, at)
            if found is not None:
                return found
        if isinstance(value, Unknown):
            return value
        raise self._text.fault(f"the member `{name}` is not interpreted", at)

    # Calls

    def _give_types(self, arguments: Sequence[tuple[int, int]], at: int) -> None:
        """Give types to a template, which may make values of them."""
        types = [self._definitions.resolve(self._text.whole_type(*each)) for each in arguments]
        if any(each.name in NOT_HELD for each in types):
            raise self._text.fault("a template that is given a small number is not interpreted", at)

    def _call_name(
        self, parts: Sequence[str], arguments: Sequence[tuple[int, int]], at: int, opening: int, scope: Scope
    ) -> Operand:
        last, place = parts[-1], self._text.places[at]
        found = self._look_up(parts, scope, at)
        if found is not None:
            self._give_types(arguments, at)
            if "this" in (scope.holder(last) or ()) and not isinstance(found.value, Functions):
                raise NotDefined(f"`{last}` {IS_MISSING}", place)  # a method that is only declared
            return self._call_value(found.value, opening, at, scope)
        given = self._items(*self._text.inside(opening), scope)
        this = scope.holder("this")
        instance = this["this"] if this is not None and len(parts) == 1 else None
        if isinstance(instance, Instance) and instance.operator and last in OpDefinition.METHODS:
            return self._call_part(instance.operator, last, given, place) or instance
        if last in TYPES or last in self._definitions.aliases or last in self._definitions.classes:
            is_braced = self._text.words[opening] == "{"
            return self._construct(TypeText(last, tuple(arguments)), given, is_braced, at)
        if len(arguments) == 1 and (parts[-2:-1] == ["numeric_limits"] or (last == "get" and len(given) == 1)):
            return self._of_template(parts, arguments[0], given, at)
        if last == "for_each":
            self._apply_to_each([plain(each) for each in given], place)
            return None
        if last in ("move", "forward") and len(given) == 1:
            return self._moved(given[0])
        if last in standard.FUNCTIONS and parts[:-1] in ([], ["std"]):
            self._give_types(arguments, at)
            return self._call_library(lambda items: standard.function(last, items, self._budget, place), given, at)
        raise NotDefined(f"`{'::'.join(parts)}` {IS_MISSING}", place)

    def _of_template(
        self, parts: Sequence[str], argument: tuple[int, int], given: Sequence[Operand], at: int
    ) -> Operand:
        """Return ``numeric_limits<T>::max()`` and the like, and ``get<N>(array)``."""
        if parts[-1] != "get":
            of = [word for word in self._text.words[slice(*argument)] if word not in ("std", "::")]
            value = standard.limit(of[0], parts[-1]) if len(of) == 1 else None
            return Unknown(self._text.fault(f"`{'::'.join(parts)}` is not interpreted", at)) if value is None else value
        whole, index = plain(given[0]), self.value(*argument, self._globals)
        if isinstance(whole, list) and isinstance(index, int) and 0 <= index < len(whole):
            return Variable(whole, index, self._text.places[at])
        if isinstance(whole, Unknown):
            return whole
        raise self._text.fault("the call of `get` is not understood", at)

    def _moved(self, value: Operand) -> Operand:
        """Return a copy of what is moved away, which leaves a vector, map or text in a state that is not known."""
        moved = plain(value)
        if not isinstance(value, Variable) or not isinstance(moved, list | Map | str):
            return value
        value.set(Unknown(SourceFault("it was moved away", value.place)))
        return moved

    def _call_value(self, function: Value, opening: int, at: int, scope: Scope) -> Operand:
        given = self._items(*self._text.inside(opening), scope)
        place = self._text.places[at]
        if isinstance(function, Functions):
            return self._apply(function, given, place)
        if isinstance(function, Unknown):
            raise function.fault.at(place)
        raise self._text.fault(f"`{self._text.words[at]}` is no function", at)

    def _call_member(self, of: Operand, at: int, opening: int, scope: Scope) -> Operand:
        name, place = self._text.words[at], self._text.places[at]
        given = self._items(*self._text.inside(opening), scope)
        value = plain(of)
        if isinstance(value, Part):
            return self._call_part(value, name, given, place)
        if isinstance(value, Instance):
            holder = value.scope.holder(name)
            function = holder[name] if holder is not None and holder is not self._globals else None
            if isinstance(function, Functions):
                return self._apply(function, given, place)
            if value.operator is None or function is not None:
                raise NotDefined(f"`{name}` {IS_MISSING}", place)
            return self._call_part(value.operator, name, given, place) or value
        if isinstance(value, Unknown):
            raise value.fault.at(place)
        if _holds_objects(value) and name not in _LOOKS:
            raise SourceFault(f"`{name}` of a vector of objects is not interpreted", place)
        if self._text.words[opening + 1] == "{":
            raise SourceFault(f"braces that are given to `{name}` are not interpreted", place)
        return self._call_library(lambda items: standard.method(value, name, items, self._budget, place), given, at)

    def _call_part(self, part: Part | OpDefinition, name: str, given: Sequence[Operand], place: int) -> Part | None:
        """Call a method of the operator or a part of it. One that is not known, of another version, has no effect."""
        items = [plain(each) for each in given]
        for each in items:
            if isinstance(each, list | CoreConfig):
                self._budget.spend(each.size if isinstance(each, CoreConfig) else len(each), place)
        try:
            return part.call(name, items, place)
        except (LookupError, TypeError, ValueError):
            raise SourceFault(f"the call of `{name}` is not understood", place) from None

    def _apply_to_each(self, given: list[Value], place: int) -> None:
        """``for_each(first, last, f)``."""
        if len(given) != 3 or not isinstance(given[2], Functions):
            raise SourceFault("the call of `for_each` is not understood", place)
        count = len(standard.between(given[0], given[1], place))
        assert isinstance(given[0], Position)
        for index in range(given[0].index, given[0].index + count):
            self._apply(given[2], [Variable(given[0].items, index, place)], place)

    def _call_library(self, call: Callable[[list[Value]], Value], given: Sequence[Operand], at: int) -> Value:
        """:raises SourceFault: if an argument is not known, or does not fit"""
        items = [plain(each) for each in given]
        if self._text.words[at] not in standard.ITERATORS:
            items = [self._conversion.copy(each, at) for each in items]
        for each in items:
            if isinstance(each, Unknown):
                raise each.fault
        return call(items)
