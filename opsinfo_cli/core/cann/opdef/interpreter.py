"""Runs the statements of constructors.

A value that cannot be worked out is :class:`~.values.Unknown` and harmless until it is used where the policy depends on
it: as a condition, a flag, a chip, a configuration. There, and wherever code that is not read could have changed the
operator, the run ends with a :class:`~.tokens.Fault`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from . import standard, syntax
from .definition import AICore, Attribute, Collective, Config, Ignored, OpDefinition, Port
from .tokens import Fault
from .values import (
    Budget,
    Cell,
    Constant,
    Element,
    Functions,
    Map,
    MapElement,
    Position,
    Scope,
    Size,
    Unknown,
    Variable,
)

MOST_STEPS = 500_000
"""Expressions and statements of one source. The most that one of 1,500 real sources takes are 23,000."""

MISSING = "is not defined in the project"
"""The end of a reason for which a header that is not in the project may be the cause."""

_PARTS = (Port, Config, AICore, Attribute, Collective, Ignored)
_VECTORS = frozenset(("vector", "array", "initializer_list", "deque", "list", "set", "unordered_set"))
_MAPS = frozenset(("map", "unordered_map"))
_TEXTS = frozenset(("string", "AscendString", "string_view"))
_TUPLES = frozenset(("pair", "tuple", "ScalarVar"))
_NUMBERS = frozenset((*syntax.INTEGERS, "char", "bool", "float", "double"))
_ENUMERATIONS = frozenset(
    ("ge", "Option", "DataType", "Format", "FollowType", "DependScope", "ScalarType", "FormatCheckOption")
)
_OPTIONS = frozenset(("IGNORE", "OPTIONAL", "REQUIRED", "DYNAMIC", "VIRTUAL"))


@dataclass(slots=True, eq=False, repr=False)
class Instance:
    """An object of a class that the sources define.

    :param scope: its members
    :param definition: what an object of a class that derives from ``OpDef`` sets
    """

    name: str
    scope: Scope
    definition: OpDefinition | None = None


class Returned:
    """A function ends with this value."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


Flow = Returned | str | None
"""How a statement ends: None to go on, ``break``, ``continue``, or with a value."""


class Interpreter:
    """The definitions of one source, and the objects that they make.

    :ivar registrations: ``OP_ADD`` and ``REGISTER_OP_AICORE_CONFIG``, in order
    """

    def __init__(self, definitions: Iterable[syntax.Definition]) -> None:
        self._budget = Budget(MOST_STEPS)
        self._classes: dict[str, list[syntax.ClassDefinition]] = {}
        self._aliases: dict[str, syntax.TypeName] = {}
        self._statics: dict[str, Scope] = {}
        self._configs: list[Config] = []
        self._undecided: list[Fault] = []
        self.registrations: list[syntax.Register] = []
        self._globals = Scope({}, None)
        self._define(definitions, self._globals)

    def construct_operator(self, registration: syntax.Register) -> tuple[OpDefinition, list[Config]]:
        """Return what the constructor of an op type sets, and the configurations that it declares.

        :raises Fault: if it cannot be worked out
        """
        self._configs = []
        alias = self._aliases.get(registration.name)
        name = alias.name if alias else registration.name
        if name not in self._classes:
            before = [fault for fault in self._undecided if fault.place < registration.place]
            raise before[-1] if before else Fault(f"the class `{name}` {MISSING}", registration.place)
        instance = self._instantiate(name, [registration.name], False, registration.place)
        if instance.definition is None:
            raise Fault(f"the class `{name}` does not derive from `OpDef`", registration.place)
        instance.definition.name = registration.name
        return instance.definition, self._configs

    # Definitions

    def _define(self, definitions: Iterable[syntax.Definition], scope: Scope) -> dict[str, syntax.TypeName]:
        """Add what a namespace or class defines to its scope: first all functions, because they may be used earlier.

        :return: the types of variables
        """
        variables: list[syntax.Declare] = []
        for item in definitions:
            self._budget.spend(1, item.place)
            match item:
                case syntax.FunctionDefinition():
                    self._add_function(item, scope)
                case syntax.ClassDefinition():
                    if all(other.place != item.place for other in self._classes.setdefault(item.name, [])):
                        self._classes[item.name].append(item)
                case syntax.Alias():
                    self._aliases[item.name] = item.type
                case syntax.Enumeration():
                    self._enumerate(item, scope)
                case syntax.Register():
                    self.registrations.append(item)
                case syntax.Undecided():
                    if scope.parent is not None:
                        raise item.fault
                    self._undecided.append(item.fault)
                case syntax.Declare():
                    variables.append(item)
                case syntax.Block():
                    variables += [each for each in item.statements if isinstance(each, syntax.Declare)]
                case syntax.Unparsed(name=str() as name):
                    scope.cells.setdefault(name, Cell(Unknown(item.fault)))
        given: set[str] = set()
        for item in variables:
            known = scope.cells.get(item.name)
            if known is not None and isinstance(known.value, Functions):
                continue  # the declaration of a function
            has_value = item.value is not None or bool(item.items)
            if item.name in given and has_value:  # in two namespaces, which are not kept apart
                scope.set(item.name, Unknown(Fault(f"`{item.name}` is defined more than once", item.place)))
                continue
            given |= {item.name} if has_value else set()
            try:
                self._declare(item, scope)
            except Fault as fault:
                scope.set(item.name, Unknown(fault))
        return {item.name: item.type for item in variables}

    def _add_function(self, item: syntax.FunctionDefinition, scope: Scope) -> None:
        cell = scope.cells.get(item.name)
        if cell is None or not isinstance(cell.value, Functions):
            scope.set(item.name, Functions([item], scope))
        elif all(other.place != item.place for other in cell.value.definitions):
            cell.value.definitions.append(item)

    def _enumerate(self, item: syntax.Enumeration, scope: Scope) -> None:
        value: object = -1
        for name, expression in item.members:
            one_more = standard.binary("+", value, 1, self._budget, item.place)
            value = one_more if expression is None else self._evaluate(expression, scope)
            known = scope.cells.get(name)
            if known is not None and known.value != value:
                value = Unknown(Fault(f"`{name}` is defined more than once", item.place))
            scope.set(name, value)

    def _class(self, name: str, place: int) -> syntax.ClassDefinition:
        """:raises Fault: if there is none, or more than one"""
        found = self._classes.get(name, [])
        if len(found) != 1:
            defined = f"is defined {len(found)} times" if found else MISSING
            raise Fault(f"the class `{name}` {defined}", place)
        return found[0]

    def _static_scope(self, name: str, place: int) -> Scope:
        """Return the members of a class without an object of it."""
        if name not in self._statics:
            scope = self._statics[name] = Scope({}, self._globals)
            self._define(self._class(name, place).body.definitions, scope)
        return self._statics[name]

    # Objects

    def _instantiate(self, name: str, items: Sequence[object], is_braced: bool, place: int) -> Instance:
        self._budget.spend(10, place)
        definition = self._class(name, place)
        instance = Instance(name, Scope({}, self._globals))
        instance.scope.set("this", instance)
        types: dict[str, syntax.TypeName] = {}
        for base in definition.bases:
            if base == "OpDef":
                instance.definition = OpDefinition(name)
            else:
                above = self._class(base, definition.place)
                if "OpDef" in above.bases:
                    instance.definition = OpDefinition(name)
                elif above.bases:
                    raise Fault(f"the base classes of `{base}` are not followed", definition.place)
                types |= self._define(above.body.definitions, instance.scope)
        types |= self._define(definition.body.definitions, instance.scope)
        for each in (name, *definition.bases):  # without an own constructor that of a base, which `using` inherits
            constructors = instance.scope.cells.get(each)
            if constructors is not None and isinstance(constructors.value, Functions):
                self._construct_members(instance, constructors.value, [Cell(item) for item in items], types, place)
                return instance
        for member, item in zip(types, items, strict=False):
            instance.scope.set(member, self._converted(types[member], item, place))
        return instance

    def _construct_members(
        self,
        instance: Instance,
        constructors: Functions,
        given: list[Variable],
        types: dict[str, syntax.TypeName],
        place: int,
    ) -> None:
        """Run a constructor: those of bases first, then its initializers, then its body."""
        constructor = self._chosen(constructors, given, place)
        scope = self._bound(constructor, constructors.scope, given, place)
        begun = {name for name, _ in constructor.initializers}
        for base in self._class(constructor.name, place).bases:
            cell = instance.scope.cells.get(base)
            if cell is not None and isinstance(cell.value, Functions) and base not in begun:
                self._construct_members(instance, cell.value, [], types, place)
        for name, items in constructor.initializers:
            cell = instance.scope.cells.get(name)
            if cell is not None and isinstance(cell.value, Functions):
                self._construct_members(
                    instance, cell.value, [self._variable(item, scope) for item in items], types, place
                )
            elif name in types:
                values = [self._evaluate(item, scope) for item in items]
                instance.scope.set(name, self._constructed(types[name], values, False, constructor.place))
        self._run(constructor.body.statements, scope)

    def _constructed(self, kind: syntax.TypeName, items: list[object], is_braced: bool, place: int) -> object:
        """Return ``T(items)`` or ``T{items}``."""
        kind = self._resolved(kind)
        if kind.name == "OpAICoreConfig":
            return self._config(items, place)
        if kind.name in _VECTORS:
            return self._vector(kind, items, is_braced, place)
        if kind.name in _MAPS:
            return self._converted(kind, items if is_braced or not items else items[0], place)
        if kind.name in self._classes:
            if len(items) == 1 and isinstance(items[0], Instance) and items[0].name == kind.name:
                return self._copied(items[0], place)
            return self._instantiate(kind.name, items, is_braced, place)
        if kind.name in _TUPLES:
            return [self._copied(item, place) for item in items]
        if kind.name in _TEXTS and not items:
            return ""
        if kind.name in _NUMBERS and not items:
            return False if kind.name == "bool" else 0
        if len(items) == 1:
            return self._converted(kind, items[0], place)
        return Unknown(Fault(f"a value of the type `{kind.name}` is not interpreted", place))

    def _config(self, items: list[object], place: int) -> object:
        if not items:
            return Config(place=place)
        if isinstance(items[0], Config | Unknown):
            return self._copied(items[0], place)
        return Config.of_chip(place)

    def _vector(self, kind: syntax.TypeName, items: list[object], is_braced: bool, place: int) -> object:
        """Return a vector by the constructor that C++ chooses.

        In braces it is the list of the elements, unless these have another type: ``vector<DataType>{3, DT_INT8}`` is
        three times the dtype.
        """
        first = items[0] if items else None
        is_counted = isinstance(first, int) and not isinstance(first, bool) and kind.name == "vector"
        is_repeated = len(items) == 2 and is_counted and (not is_braced or isinstance(items[1], Constant))
        if is_repeated or (is_counted and len(items) == 1 and not is_braced):
            assert isinstance(first, int)
            self._budget.spend(abs(first), place)
            return [items[1] if len(items) == 2 else 0] * first
        if len(items) == 2 and isinstance(first, Position):
            found = standard.between(first, items[1])
            self._budget.spend(len(found), place)
            return found
        if kind.name == "array" and not items and len(kind.arguments) == 2:
            size = self._evaluate(kind.arguments[1].expression, self._globals)
            if not isinstance(size, int):
                return size
            self._budget.spend(abs(size), place)
            return [0] * size
        if not is_braced and len(items) == 1:
            return self._converted(kind, first, place)
        return self._converted(kind, items, place)

    def _resolved(self, kind: syntax.TypeName) -> syntax.TypeName:
        for _ in range(8):
            alias = self._aliases.get(kind.name)
            if alias is None or alias.name == kind.name:
                break
            kind = alias._replace(is_array=kind.is_array, is_pointer=kind.is_pointer)
        return kind

    def _converted(self, kind: syntax.TypeName, value: object, place: int) -> object:
        """Return a copy of a value as one of a type: of what braces give as what they begin."""
        kind = self._resolved(kind)
        if isinstance(value, Unknown) or kind.is_pointer:
            return value
        if kind.name == "OpAICoreConfig":
            return self._config(value if isinstance(value, list) else [value], place)
        if kind.is_array or (kind.name in _VECTORS and isinstance(value, list)):
            return self._elements(kind, value, place)
        if kind.name in _MAPS and isinstance(value, list):
            return self._map(kind, value, place)
        if kind.name in self._classes and not isinstance(value, Instance):
            return self._instantiate(kind.name, value if isinstance(value, list) else [value], True, place)
        if kind.name in syntax.INTEGERS and isinstance(value, float):
            return int(value)
        return self._copied(value, place)

    def _elements(self, kind: syntax.TypeName, value: object, place: int) -> object:
        if not isinstance(value, list):
            return value
        element = kind.arguments[0].type if kind.arguments else None
        is_nested = element is not None and (element.name in (*_VECTORS, *_TUPLES) or element.name in self._classes)
        if len(value) == 1 and isinstance(value[0], list) and not is_nested and not kind.is_array:
            value = value[0]  # `{{...}}` and `{vector}`
        if element is not None and is_nested:
            self._budget.spend(len(value), place)
            return [self._converted(element, each, place) for each in value]
        return self._copied(value, place)

    def _map(self, kind: syntax.TypeName, pairs: list[object], place: int) -> Map:
        self._budget.spend(len(pairs), place)
        key, element = (argument.type for argument in kind.arguments[:2])
        found = Map((), lambda: self._constructed(element, [], False, place))
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                raise Fault("a pair expected", place)
            found[self._converted(key, pair[0], place)] = self._converted(element, pair[1], place)
        return found

    def _copied(self, value: object, place: int) -> object:
        """Return what ``T x = value`` holds: a copy that does not change with the value."""
        if isinstance(value, list):
            self._budget.spend(len(value), place)
            return [self._copied(each, place) if isinstance(each, list) else each for each in value]
        if isinstance(value, Map):
            self._budget.spend(len(value), place)
            return Map(((key, self._copied(each, place)) for key, each in value.items()), value.default)
        if isinstance(value, _PARTS):
            self._budget.spend(value.size if isinstance(value, Config) else 1, place)
            return value.copy()
        if isinstance(value, Instance):
            if value.definition is not None:
                raise Fault("an operator is copied", place)
            return self._copied_instance(value, place)
        return value

    def _copied_instance(self, value: Instance, place: int) -> Instance:
        twin = Instance(value.name, Scope({}, value.scope.parent))
        for name, cell in value.scope.cells.items():
            each = cell.value
            if isinstance(each, Functions):
                twin.scope.set(name, Functions(each.definitions, twin.scope))
            else:
                twin.scope.set(name, twin if name == "this" else self._copied(each, place))
        return twin

    # Functions

    def _chosen(self, functions: Functions, given: Sequence[Variable], place: int) -> syntax.FunctionDefinition:
        """Return the overload for some arguments.

        :raises Fault: if there is none, or it cannot be told
        """
        fitting = [each for each in functions.definitions if _takes(each.parameters, len(given))]
        if len(fitting) > 1:
            fitting = [each for each in fitting if self._fits(each.parameters, given)]
        if len(fitting) != 1:
            what = "no function" if not fitting else "more than one function"
            raise Fault(f"{what} `{functions.definitions[0].name}` takes these arguments", place)
        return fitting[0]

    def _fits(self, parameters: list[syntax.Parameter], given: Sequence[Variable]) -> bool:
        return all(
            self._has_kind(self._resolved(parameter.type), cell.value)
            for parameter, cell in zip(parameters, given, strict=False)
        )

    def _has_kind(self, kind: syntax.TypeName, value: object) -> bool:
        """Return whether a value may be given for a parameter of a type; True if the type is not known here."""
        if isinstance(value, Instance):
            return kind.name in (value.name, "OpDef") or not (self._is_known(kind.name) or kind.name == "Config")
        if kind.name == "OpDef":
            return False
        if kind.name in ("OpAICoreConfig", "OpAICoreDef", "OpParamDef", "OpAttrDef"):
            wanted = {"OpAICoreConfig": Config, "OpAICoreDef": AICore, "OpParamDef": Port, "OpAttrDef": Attribute}
            return isinstance(value, wanted[kind.name])
        if isinstance(value, list):
            return not (kind.name in _NUMBERS or kind.name in _TEXTS)
        if isinstance(value, Constant | int | float):
            return kind.name not in _VECTORS and kind.name not in _TEXTS and kind.name not in _MAPS
        return True

    def _is_known(self, name: str) -> bool:
        return name in self._classes or name in _VECTORS or name in _MAPS or name in _TEXTS or name in _NUMBERS

    def _bound(
        self, function: syntax.FunctionDefinition, parent: Scope, given: Sequence[Variable], place: int
    ) -> Scope:
        """Return the scope of a body, with its parameters."""
        scope = Scope({}, parent)
        for at, parameter in enumerate(function.parameters):
            if parameter.name is None:
                continue
            if at >= len(given):
                assert parameter.default is not None
                scope.set(parameter.name, self._evaluate(parameter.default, parent))
            elif parameter.is_reference and not isinstance(given[at].value, list):
                scope.cells[parameter.name] = given[at]
            elif parameter.is_reference:
                scope.cells[parameter.name] = self._as_reference(parameter.type, given[at], place)
            else:
                scope.set(parameter.name, self._converted(parameter.type, given[at].value, place))
        return scope

    def _as_reference(self, kind: syntax.TypeName, given: Variable, place: int) -> Variable:
        """Return the variable itself, or of braces for an object of a class a new one."""
        kind = self._resolved(kind)
        if kind.name in self._classes or kind.name in _MAPS:
            return Cell(self._converted(kind, given.value, place))
        return given

    def _apply(self, functions: Functions, given: Sequence[Variable], place: int) -> object:
        self._budget.spend(1, place)
        function = self._chosen(functions, given, place)
        scope = self._bound(function, functions.scope, given, place)
        flow = self._run(function.body.statements, scope)
        return flow.value if isinstance(flow, Returned) else None

    # Statements

    def _run(self, statements: Iterable[syntax.Statement], scope: Scope) -> Flow:
        for statement in statements:
            flow = self._execute(statement, scope)
            if flow is not None:
                return flow
        return None

    def _execute(self, statement: syntax.Statement, scope: Scope) -> Flow:
        self._budget.spend(1, statement.place)
        return self._STATEMENTS[type(statement)](self, statement, scope)

    def _declare(self, statement: syntax.Declare, scope: Scope) -> None:
        if statement.value is not None and statement.is_reference:
            scope.cells[statement.name] = self._variable(statement.value, scope)
            return
        if statement.value is not None:
            value = self._converted(statement.type, self._evaluate(statement.value, scope), statement.place)
        else:
            items = [self._evaluate(item, scope) for item in statement.items]
            value = self._constructed(statement.type, items, statement.is_braced, statement.place)
        if isinstance(value, Config):
            value.variable, value.place = statement.name, statement.place
            self._configs.append(value)
        scope.set(statement.name, value)

    def _unpack(self, statement: syntax.Unpack, scope: Scope) -> None:
        value = self._evaluate(statement.value, scope)
        if not isinstance(value, list) or len(value) != len(statement.names):
            raise Fault("the value has other parts than the names", statement.place)
        for at, name in enumerate(statement.names):
            scope.cells[name] = Element(value, at) if statement.is_reference else Cell(value[at])

    def _evaluate_statement(self, statement: syntax.Evaluate, scope: Scope) -> None:
        self._evaluate(statement.expression, scope)

    def _return(self, statement: syntax.Return, scope: Scope) -> Flow:
        return Returned(None if statement.value is None else self._evaluate(statement.value, scope))

    def _jump(self, statement: syntax.Jump, scope: Scope) -> Flow:
        return statement.word

    def _throw(self, statement: syntax.Throw, scope: Scope) -> Flow:
        raise Fault("an exception is thrown", statement.place)

    def _if(self, statement: syntax.If, scope: Scope) -> Flow:
        if self._holds(statement.condition, scope):
            return self._execute(statement.then, Scope({}, scope))
        return self._execute(statement.otherwise, Scope({}, scope)) if statement.otherwise else None

    def _holds(self, condition: syntax.Expression, scope: Scope) -> bool:
        """:raises Fault: if it cannot be told"""
        value = self._evaluate(condition, scope)
        if isinstance(value, Unknown):
            raise value.fault
        if isinstance(value, bool | int | float):
            return bool(value)
        raise Fault("the condition is not understood", condition.place)

    def _loop(self, statement: syntax.Loop, scope: Scope) -> Flow:
        scope = Scope({}, scope)
        if statement.first is not None:
            self._execute(statement.first, scope)
        runs_first = statement.runs_first
        while runs_first or statement.condition is None or self._holds(statement.condition, scope):
            runs_first = False
            flow = self._execute(statement.body, Scope({}, scope))
            if flow == "break":
                break
            if isinstance(flow, Returned):
                return flow
            for step in statement.steps:
                self._evaluate(step, scope)
        return None

    def _for_each(self, statement: syntax.ForEach, scope: Scope) -> Flow:
        values = self._evaluate(statement.values, scope)
        if isinstance(values, Unknown):
            raise values.fault
        if isinstance(values, Map):
            self._budget.spend(len(values), statement.place)
            values = standard.begin(values).items
        if not isinstance(values, list):
            raise Fault("what the loop runs over is not understood", statement.place)
        for at in range(len(values)):
            inner = Scope({}, scope)
            if len(statement.names) > 1:
                for name, part in zip(statement.names, _parts(values[at], statement), strict=True):
                    inner.set(name, part)
            elif statement.is_reference:
                inner.cells[statement.names[0]] = Element(values, at)
            else:
                inner.set(statement.names[0], self._copied(values[at], statement.place))
            flow = self._execute(statement.body, inner)
            if flow == "break":
                break
            if isinstance(flow, Returned):
                return flow
        return None

    def _switch(self, statement: syntax.Switch, scope: Scope) -> Flow:
        value = self._evaluate(statement.value, scope)
        start = default = None
        for label, at in statement.labels:
            if label is None:
                default = at
            elif start is None:
                each = self._evaluate(label, scope)
                if isinstance(value, Unknown) or isinstance(each, Unknown):
                    raise Fault("the `switch` is not understood", statement.place)
                start = at if each == value else None
        start = default if start is None else start
        flow = None if start is None else self._run(statement.statements[start:], Scope({}, scope))
        return None if flow == "break" else flow

    def _block(self, statement: syntax.Block, scope: Scope) -> Flow:
        return self._run(statement.statements, Scope({}, scope) if statement.is_scope else scope)

    def _unparsed(self, statement: syntax.Unparsed, scope: Scope) -> Flow:
        raise statement.fault

    _STATEMENTS: ClassVar[dict[type, Callable[[Interpreter, Any, Scope], Flow]]] = {
        syntax.Declare: _declare,
        syntax.Unpack: _unpack,
        syntax.Evaluate: _evaluate_statement,
        syntax.Return: _return,
        syntax.Jump: _jump,
        syntax.Throw: _throw,
        syntax.If: _if,
        syntax.Loop: _loop,
        syntax.ForEach: _for_each,
        syntax.Switch: _switch,
        syntax.Block: _block,
        syntax.Unparsed: _unparsed,
    }

    # Expressions

    def _evaluate(self, node: syntax.Expression, scope: Scope) -> object:
        self._budget.spend(1, node.place)
        return self._EXPRESSIONS[type(node)](self, node, scope)

    def _literal(self, node: syntax.Literal, scope: Scope) -> object:
        return node.value

    def _name(self, node: syntax.Name, scope: Scope) -> object:
        cell = self._named(node, scope)
        if cell is not None:
            return cell.value
        name = node.parts[-1]
        is_framework = name.startswith(("DT_", "FORMAT_")) or name in _OPTIONS
        if is_framework or (len(node.parts) > 1 and node.parts[-2] in _ENUMERATIONS):
            return Constant(name)
        return Unknown(Fault(f"`{'::'.join(node.parts)}` {MISSING}", node.place))

    def _named(self, node: syntax.Name, scope: Scope) -> Variable | None:
        """Return the variable of a name. Namespaces are not kept apart, but those of the framework and of C++ are."""
        if len(node.parts) > 1:
            if node.parts[0] in ("ge", "std"):
                return None
            if node.parts[-2] in self._classes:
                return self._static_scope(node.parts[-2], node.place).find(node.parts[-1])
        return scope.find(node.parts[-1])

    def _braces(self, node: syntax.Braces, scope: Scope) -> object:
        return [self._evaluate(item, scope) for item in node.items]

    def _index(self, node: syntax.Index, scope: Scope) -> object:
        return self._element(node, scope).value

    def _element(self, node: syntax.Index, scope: Scope) -> Variable:
        container = self._evaluate(node.object, scope)
        index = self._evaluate(node.inside, scope)
        for each in (container, index):
            if isinstance(each, Unknown):
                return Cell(each)
        if isinstance(container, Map):
            if index not in container:
                self._budget.spend(1, node.place)
                container[index] = container.default()
            return MapElement(container, index)
        if isinstance(container, list) and isinstance(index, int) and 0 <= index < len(container):
            return Element(container, index)
        return Cell(Unknown(Fault("the index is outside the vector, or it is none", node.place)))

    def _member(self, node: syntax.Member, scope: Scope) -> object:
        return self._member_variable(node, scope).value

    def _member_variable(self, node: syntax.Member, scope: Scope) -> Variable:
        value = self._evaluate(node.object, scope)
        if isinstance(value, Position) and node.name in ("first", "second") and value.index < len(value.items):
            value = value.items[value.index]
        if isinstance(value, list) and node.name in ("first", "second") and len(value) == 2:
            return Element(value, int(node.name == "second"))
        if isinstance(value, Instance):
            cell = value.scope.find(node.name)
            if cell is not None:
                return cell
        if isinstance(value, Unknown):
            return Cell(value)
        return Cell(Unknown(Fault(f"the member `{node.name}` is not interpreted", node.place)))

    def _unary(self, node: syntax.Unary, scope: Scope) -> object:
        value = self._evaluate(node.operand, scope)
        if node.operator == "*" and isinstance(value, Position):
            if not 0 <= value.index < len(value.items):
                return Unknown(Fault("the iterator is at no element", node.place))
            return value.items[value.index]
        if node.operator in ("*", "&"):
            return value
        return standard.unary(node.operator, value, node.place)

    def _step(self, node: syntax.Step, scope: Scope) -> object:
        variable = self._variable(node.operand, scope)
        before = variable.value
        after = standard.binary("+", before, node.by, self._budget, node.place)
        self._store(variable, after, node.place)
        return after if node.is_before else before

    def _binary(self, node: syntax.Binary, scope: Scope) -> object:
        if node.operator in ("&&", "||"):
            left = self._holds(node.left, scope)
            return left if left == (node.operator == "||") else self._holds(node.right, scope)
        left_value, right_value = self._evaluate(node.left, scope), self._evaluate(node.right, scope)
        return standard.binary(node.operator, left_value, right_value, self._budget, node.place)

    def _assign(self, node: syntax.Assign, scope: Scope) -> object:
        value = self._evaluate(node.value, scope)
        variable = self._variable(node.target, scope)
        if node.operator:
            value = standard.binary(node.operator, variable.value, value, self._budget, node.place)
        else:
            value = self._copied(value, node.place)
        before = variable.value
        if isinstance(before, Config) and isinstance(value, Config):
            value.variable, value.place = before.variable, before.place
            self._configs = [value if each is before else each for each in self._configs]
        elif isinstance(before, Config | AICore | Port):
            raise Fault("what is assigned to a part of the operator is not understood", node.place)
        self._store(variable, value, node.place)
        return value

    def _store(self, variable: Variable, value: object, place: int) -> None:
        try:
            variable.value = value
        except (LookupError, TypeError):
            raise Fault("the assignment is not understood", place) from None

    def _conditional(self, node: syntax.Conditional, scope: Scope) -> object:
        return self._evaluate(node.then if self._holds(node.condition, scope) else node.otherwise, scope)

    def _lambda(self, node: syntax.Lambda, scope: Scope) -> object:
        inner = Scope({}, scope)
        for words in node.captures:
            match words:
                case ["="]:
                    names = set(node.function.body.words)
                case [name] if name.isidentifier() and name != "this":
                    names = {name}
                case [] | ["&"] | ["&", _] | ["this"]:
                    continue
                case _:
                    return Unknown(Fault(f"the capture `{' '.join(words)}` is not interpreted", node.place))
            for name in sorted(names):
                value = self._local(name, scope)
                if value is not None and ["&", name] not in node.captures:
                    inner.set(name, self._copied(value.value, node.place))
        return Functions([node.function], inner)

    def _local(self, name: str, scope: Scope) -> Variable | None:
        """Return a variable of the function that runs; members and globals are not captured."""
        inner: Scope | None = scope
        while inner is not None and inner is not self._globals and "this" not in inner.cells:
            if name in inner.cells:
                return inner.cells[name]
            inner = inner.parent
        return None

    def _variable(self, node: syntax.Expression, scope: Scope) -> Variable:
        """Return what an expression refers to; a new variable for one that only has a value."""
        if isinstance(node, syntax.Name):
            return self._named(node, scope) or Cell(self._evaluate(node, scope))
        if isinstance(node, syntax.Index):
            return self._element(node, scope)
        if isinstance(node, syntax.Member):
            return self._member_variable(node, scope)
        if isinstance(node, syntax.Unary) and node.operator == "*":
            value = self._evaluate(node.operand, scope)
            if isinstance(value, Position) and 0 <= value.index < len(value.items):
                return Element(value.items, value.index)
        return Cell(self._evaluate(node, scope))

    # Calls

    def _call(self, node: syntax.Call, scope: Scope) -> object:
        if isinstance(node.function, syntax.Member):
            return self._call_member(node, node.function, scope)
        if not isinstance(node.function, syntax.Name):
            function = self._evaluate(node.function, scope)
            return self._call_value(function, node, "the value", scope)
        return self._call_name(node, node.function, scope)

    def _given(self, node: syntax.Call, scope: Scope) -> list[Variable]:
        return [self._variable(item, scope) for item in node.items]

    def _call_name(self, node: syntax.Call, name: syntax.Name, scope: Scope) -> object:
        last = name.parts[-1]
        cell = self._named(name, scope)
        if cell is not None:
            return self._call_value(cell.value, node, f"`{last}`", scope)
        if last == "sizeof":
            value = self._evaluate(node.items[0], scope) if node.items else None
            return Size(len(value) if isinstance(value, list) else 1)
        this = scope.find("this")
        operator = this.value if this is not None and len(name.parts) == 1 else None
        if isinstance(operator, Instance) and operator.definition and last in OpDefinition.METHODS:
            return self._call_operator(operator, last, self._given(node, scope), node.place)
        if self._is_type(last):
            items = [self._evaluate(item, scope) for item in node.items]
            return self._constructed(syntax.TypeName(last, name.arguments), items, node.is_braced, node.place)
        given = self._given(node, scope)
        if name.parts[-2:-1] == ("numeric_limits",) and len(name.arguments) == 1:
            value = standard.limit(name.arguments[0].type.name, last)
            return (
                Unknown(Fault(f"`{'::'.join(name.parts)}` is not interpreted", node.place)) if value is None else value
            )
        if last == "get" and len(name.arguments) == 1 and len(given) == 1:
            return self._part(given[0].value, self._evaluate(name.arguments[0].expression, scope), node.place)
        if last in ("for_each", "transform"):
            return self._call_back(last, [each.value for each in given], node.place)
        if last in standard.FUNCTIONS and name.parts[:-1] in ((), ("std",)):
            return self._standard(lambda: standard.function(last, _values(given), self._budget, node.place), given)
        return _not_read(f"`{'::'.join(name.parts)}` {MISSING}", given, node.place)

    def _is_type(self, name: str) -> bool:
        return (
            name in ("OpAICoreConfig", "DataType", "Format")
            or name in _TUPLES
            or name in self._aliases
            or self._is_known(name)
        )

    def _call_value(self, function: object, node: syntax.Call, name: str, scope: Scope) -> object:
        given = self._given(node, scope)
        if isinstance(function, Functions):
            return self._apply(function, given, node.place)
        reason = function.fault.reason if isinstance(function, Unknown) else f"{name} is no function"
        return _not_read(reason, given, node.place)

    def _call_member(self, node: syntax.Call, member: syntax.Member, scope: Scope) -> object:
        value = self._evaluate(member.object, scope)
        given = self._given(node, scope)
        if isinstance(value, _PARTS):
            return self._call_part(value, member.name, given, node.place)
        if isinstance(value, Instance):
            cell = value.scope.cells.get(member.name)
            if cell is not None and isinstance(cell.value, Functions):
                return self._apply(cell.value, given, node.place)
            if value.definition is not None:
                return self._call_operator(value, member.name, given, node.place)
        if isinstance(value, Unknown):
            return _not_read(value.fault.reason, given, node.place)
        return self._standard(
            lambda: standard.method(value, member.name, _values(given), self._budget, node.place), [Cell(value), *given]
        )

    def _call_operator(self, instance: Instance, name: str, given: list[Variable], place: int) -> object:
        """Call a method of ``OpDef``. One that is not known, of an older or newer version, has no effect."""
        assert instance.definition is not None
        try:
            found = instance.definition.call(name, _values(given), place)
        except (LookupError, TypeError, ValueError):
            raise Fault(f"the call of `{name}` is not understood", place) from None
        return instance if found is None else found

    def _call_part(
        self,
        part: Port | Config | AICore | Attribute | Collective | Ignored,
        name: str,
        given: list[Variable],
        place: int,
    ) -> object:
        for each in given:
            if isinstance(each.value, list | Config):
                self._budget.spend(each.value.size if isinstance(each.value, Config) else len(each.value), place)
        try:
            return part.call(name, _values(given), place)
        except (LookupError, TypeError, ValueError):
            raise Fault(f"the call of `{name}` is not understood", place) from None

    def _call_back(self, name: str, given: list[object], place: int) -> object:
        """``for_each(first, last, f)`` and ``transform(first, last, out, f)``."""
        function = given[-1] if given else None
        if not isinstance(function, Functions) or len(given) != (3 if name == "for_each" else 4):
            raise Fault(f"the call of `{name}` is not understood", place)
        first, last = given[0], given[1]
        try:
            values = standard.between(first, last)
        except (TypeError, ValueError):
            raise Fault(f"the call of `{name}` is not understood", place) from None
        assert isinstance(first, Position)
        results = [self._apply(function, [Element(first.items, first.index + at)], place) for at in range(len(values))]
        if name == "transform":
            results_position = standard.begin(results)
            standard.function("copy", [results_position, standard.end(results), given[2]], self._budget, place)
        return None

    def _part(self, value: object, index: object, place: int) -> object:
        """``std::get<index>(value)``."""
        if isinstance(value, Unknown):
            return value
        if isinstance(value, list) and isinstance(index, int) and 0 <= index < len(value):
            return value[index]
        return Unknown(Fault("the call of `get` is not understood", place))

    def _standard(self, call: Callable[[], object], given: Sequence[Variable]) -> object:
        """Return the result of a call of the C++ library; unknown, as what it may have changed, if it fails."""
        for each in given:
            if isinstance(each.value, Unknown):
                return _poisoned(each.value.fault, given)
        try:
            return call()
        except Fault as fault:
            return _poisoned(fault, given)

    _EXPRESSIONS: ClassVar[dict[type, Callable[[Interpreter, Any, Scope], object]]] = {
        syntax.Literal: _literal,
        syntax.Name: _name,
        syntax.Braces: _braces,
        syntax.Call: _call,
        syntax.Member: _member,
        syntax.Index: _index,
        syntax.Unary: _unary,
        syntax.Step: _step,
        syntax.Binary: _binary,
        syntax.Assign: _assign,
        syntax.Conditional: _conditional,
        syntax.Lambda: _lambda,
    }


def _takes(parameters: list[syntax.Parameter], count: int) -> bool:
    required = sum(1 for each in parameters if each.default is None)
    return required <= count <= len(parameters)


def _parts(value: object, statement: syntax.ForEach) -> list[object]:
    if not isinstance(value, list) or len(value) != len(statement.names):
        raise Fault("an element of the loop has other parts than the names", statement.place)
    return value


def _values(given: Iterable[Variable]) -> list[object]:
    return [each.value for each in given]


def _not_read(reason: str, given: Sequence[Variable], place: int) -> Unknown:
    """Return the result of a function that is not read.

    :raises Fault: if it is given a part of the operator, or a function that may change one
    """
    for each in given:
        value = each.value
        if isinstance(value, (*_PARTS, Functions)) or (isinstance(value, Instance) and value.definition is not None):
            raise Fault(reason, place)
    return _poisoned(Fault(reason, place), given)


def _poisoned(fault: Fault, given: Sequence[Variable]) -> Unknown:
    """Return an unknown value, and make vectors unknown that the call may have changed."""
    for each in given:
        value = each.value
        if isinstance(value, Position):
            value = value.owner
        if isinstance(value, list):
            value[:] = [Unknown(fault)]
        elif isinstance(value, Map):
            value.clear()
            value.default = lambda: Unknown(fault)
    return Unknown(fault)
