"""Runs the statements of constructors.

A value that cannot be worked out is :class:`~.values.Unknown` and harmless until it is used where the policy depends on
it: as a condition, a flag, a chip, a configuration. There, and wherever code that is not read could have changed the
operator, the run ends with a :class:`~.tokens.SourceFault`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from . import standard, syntax
from .definition import AICore, Attribute, CoreConfig, OpDefinition, Part, Port
from .tokens import SourceFault
from .values import (
    Budget,
    Cell,
    Element,
    EnumConstant,
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


class Returned(NamedTuple):
    """A function ends with this value."""

    value: object


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
        self._configs: list[CoreConfig] = []
        self._undecided: list[SourceFault] = []
        self.registrations: list[syntax.Register] = []
        self._globals = Scope({}, None)
        self._define(definitions, self._globals)

    def construct_operator(self, registration: syntax.Register) -> tuple[OpDefinition, list[CoreConfig]]:
        """Return what the constructor of an op type sets, and the configurations that it declares.

        :raises SourceFault: if it cannot be worked out
        """
        self._configs = []
        alias = self._aliases.get(registration.name)
        name = alias.name if alias else registration.name
        if name not in self._classes:
            before = [fault for fault in self._undecided if fault.place < registration.place]
            raise before[-1] if before else SourceFault(f"the class `{name}` {MISSING}", registration.place)
        instance = self._instantiate(name, [registration.name], registration.place)
        if instance.definition is None:
            raise SourceFault(f"the class `{name}` does not derive from `OpDef`", registration.place)
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
                scope.set(item.name, Unknown(SourceFault(f"`{item.name}` is defined more than once", item.place)))
                continue
            given |= {item.name} if has_value else set()
            try:
                self._declare(item, scope)
            except SourceFault as fault:
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
                value = Unknown(SourceFault(f"`{name}` is defined more than once", item.place))
            scope.set(name, value)

    def _class(self, name: str, place: int) -> syntax.ClassDefinition:
        """:raises SourceFault: if there is none, or more than one"""
        found = self._classes.get(name, [])
        if len(found) != 1:
            defined = f"is defined {len(found)} times" if found else MISSING
            raise SourceFault(f"the class `{name}` {defined}", place)
        return found[0]

    # Objects

    def _instantiate(self, name: str, items: Sequence[object], place: int) -> Instance:
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
                    raise SourceFault(f"the base classes of `{base}` are not followed", definition.place)
                types |= self._define(above.body.definitions, instance.scope)
        types |= self._define(definition.body.definitions, instance.scope)
        for each in (name, *definition.bases):  # without an own constructor that of a base, which `using` inherits
            constructors = instance.scope.cells.get(each)
            if constructors is not None and isinstance(constructors.value, Functions):
                self._construct_members(instance, constructors.value, [Cell(item) for item in items], types, place)
                return instance
        for member, item in zip(types, items, strict=False):
            instance.scope.set(member, self._convert(types[member], item, place))
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
        constructor = self._choose(constructors, given, place)
        scope = self._bind(constructor, constructors.scope, given, place)
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
                instance.scope.set(name, self._construct(types[name], values, False, constructor.place))
        self._run(constructor.body.statements, scope)

    def _construct(self, kind: syntax.TypeName, items: list[object], is_braced: bool, place: int) -> object:
        """Return ``T(items)`` or ``T{items}``."""
        kind = self._resolve(kind)
        if kind.name == "OpAICoreConfig":
            return self._config(items, place)
        if kind.name in _VECTORS:
            return self._vector(kind, items, is_braced, place)
        if kind.name in _MAPS:
            return self._convert(kind, items if is_braced or not items else items[0], place)
        if kind.name in self._classes:
            if len(items) == 1 and isinstance(items[0], Instance) and items[0].name == kind.name:
                return self._copy(items[0], place)
            return self._instantiate(kind.name, items, place)
        if kind.name in _TUPLES:
            return [self._copy(item, place) for item in items]
        if kind.name in _TEXTS and not items:
            return ""
        if kind.name in _NUMBERS and not items:
            return False if kind.name == "bool" else 0
        if len(items) == 1:
            return self._convert(kind, items[0], place)
        return Unknown(SourceFault(f"a value of the type `{kind.name}` is not interpreted", place))

    def _config(self, items: list[object], place: int) -> object:
        if not items:
            return CoreConfig(place=place)
        if isinstance(items[0], CoreConfig | Unknown):
            return self._copy(items[0], place)
        return CoreConfig.of_chip(place)

    def _vector(self, kind: syntax.TypeName, items: list[object], is_braced: bool, place: int) -> object:
        """Return a vector by the constructor that C++ chooses.

        In braces it is the list of the elements, unless these have another type: ``vector<DataType>{3, DT_INT8}`` is
        three times the dtype.
        """
        first = items[0] if items else None
        is_counted = isinstance(first, int) and not isinstance(first, bool) and kind.name == "vector"
        is_repeated = len(items) == 2 and is_counted and (not is_braced or isinstance(items[1], EnumConstant))
        if is_repeated or (is_counted and len(items) == 1 and not is_braced):
            assert isinstance(first, int)
            self._budget.spend(abs(first), place)
            return [items[1] if len(items) == 2 else 0] * first
        if len(items) == 2 and isinstance(first, Position):
            try:
                found = standard.between(first, items[1])
            except (TypeError, ValueError):
                return Unknown(SourceFault("the iterators are not of one vector", place))
            self._budget.spend(len(found), place)
            return found
        if kind.name == "array" and not items and len(kind.arguments) == 2:
            size = self._evaluate(kind.arguments[1].expression, self._globals)
            if not isinstance(size, int):
                return size
            self._budget.spend(abs(size), place)
            return [0] * size
        if not is_braced and len(items) == 1:
            return self._convert(kind, first, place)
        return self._convert(kind, items, place)

    def _resolve(self, kind: syntax.TypeName) -> syntax.TypeName:
        for _ in range(8):
            alias = self._aliases.get(kind.name)
            if alias is None or alias.name == kind.name:
                break
            kind = alias._replace(is_array=kind.is_array, is_pointer=kind.is_pointer)
        return kind

    def _convert(self, kind: syntax.TypeName, value: object, place: int) -> object:
        """Return a copy of a value as one of a type: of what braces give as what they begin."""
        kind = self._resolve(kind)
        if isinstance(value, Unknown) or kind.is_pointer:
            return value
        if kind.name == "OpAICoreConfig":
            return self._config(value if isinstance(value, list) else [value], place)
        if kind.is_array or (kind.name in _VECTORS and isinstance(value, list)):
            if not isinstance(value, list):
                return value
            element = kind.arguments[0].type if kind.arguments else None
            is_nested = element is not None and (element.name in (*_VECTORS, *_TUPLES) or element.name in self._classes)
            if len(value) == 1 and isinstance(value[0], list) and not is_nested and not kind.is_array:
                value = value[0]  # `{{...}}` and `{vector}`
            if element is not None and is_nested:
                self._budget.spend(len(value), place)
                return [self._convert(element, each, place) for each in value]
            return self._copy(value, place)
        if kind.name in _MAPS and isinstance(value, list):
            self._budget.spend(len(value), place)
            if len(kind.arguments) < 2:
                return Unknown(SourceFault("a map without the types of its keys and values is not interpreted", place))
            key_type, element = kind.arguments[0].type, kind.arguments[1].type
            found = Map((), lambda: self._construct(element, [], False, place))
            for pair in value:
                if not isinstance(pair, list) or len(pair) != 2:
                    raise SourceFault("a pair expected", place)
                key = self._convert(key_type, pair[0], place)
                if not isinstance(key, Hashable):
                    return Unknown(SourceFault("a map with such keys is not interpreted", place))
                found[key] = self._convert(element, pair[1], place)
            return found
        if kind.name in self._classes and not isinstance(value, Instance):
            return self._instantiate(kind.name, value if isinstance(value, list) else [value], place)
        if kind.name in syntax.INTEGERS and isinstance(value, float):
            return int(value)
        return self._copy(value, place)

    def _copy(self, value: object, place: int) -> object:
        """Return what ``T x = value`` holds: a copy that does not change with the value."""
        if isinstance(value, list):
            self._budget.spend(len(value), place)
            return [self._copy(each, place) if isinstance(each, list) else each for each in value]
        if isinstance(value, Map):
            self._budget.spend(len(value), place)
            return Map(((key, self._copy(each, place)) for key, each in value.items()), value.default)
        if isinstance(value, Part):
            self._budget.spend(value.size if isinstance(value, CoreConfig) else 1, place)
            return value.copy()
        if isinstance(value, Instance):
            if value.definition is not None:
                raise SourceFault("an operator is copied", place)
            twin = Instance(value.name, Scope({}, value.scope.parent))
            for name, cell in value.scope.cells.items():
                if isinstance(cell.value, Functions):
                    twin.scope.set(name, Functions(cell.value.definitions, twin.scope))
                else:
                    twin.scope.set(name, twin if name == "this" else self._copy(cell.value, place))
            return twin
        return value

    # Functions

    def _choose(self, functions: Functions, given: Sequence[Variable], place: int) -> syntax.FunctionDefinition:
        """:raises SourceFault: if there is none, or it cannot be told"""
        fitting = [
            each
            for each in functions.definitions
            if sum(parameter.default is None for parameter in each.parameters) <= len(given) <= len(each.parameters)
        ]
        if len(fitting) > 1:
            fitting = [
                each
                for each in fitting
                if all(
                    self._has_kind(self._resolve(parameter.type), variable.value)
                    for parameter, variable in zip(each.parameters, given, strict=False)
                )
            ]
        if len(fitting) != 1:
            what = "no function" if not fitting else "more than one function"
            raise SourceFault(f"{what} `{functions.definitions[0].name}` takes these arguments", place)
        return fitting[0]

    def _has_kind(self, kind: syntax.TypeName, value: object) -> bool:
        """Return whether a value may be given for a parameter of a type; True if the type is not known here."""
        if isinstance(value, Instance):
            return kind.name in (value.name, "OpDef") or not (self._is_known(kind.name) or kind.name == "Config")
        if kind.name == "OpDef":
            return False
        if kind.name in ("OpAICoreConfig", "OpAICoreDef", "OpParamDef", "OpAttrDef"):
            wanted = {"OpAICoreConfig": CoreConfig, "OpAICoreDef": AICore, "OpParamDef": Port, "OpAttrDef": Attribute}
            return isinstance(value, wanted[kind.name])
        if isinstance(value, list):
            return not (kind.name in _NUMBERS or kind.name in _TEXTS)
        if isinstance(value, EnumConstant | int | float):
            return kind.name not in _VECTORS and kind.name not in _TEXTS and kind.name not in _MAPS
        return True

    def _is_known(self, name: str) -> bool:
        return name in self._classes or name in _VECTORS or name in _MAPS or name in _TEXTS or name in _NUMBERS

    def _bind(self, function: syntax.FunctionDefinition, parent: Scope, given: Sequence[Variable], place: int) -> Scope:
        """Return the scope of a body, with its parameters."""
        scope = Scope({}, parent)
        for at, parameter in enumerate(function.parameters):
            if parameter.name is None:
                continue
            if at >= len(given):
                assert parameter.default is not None
                scope.set(parameter.name, self._evaluate(parameter.default, parent))
                continue
            kind, value = self._resolve(parameter.type), given[at].value
            begins_object = isinstance(value, list) and (kind.name in self._classes or kind.name in _MAPS)
            if parameter.is_reference and not begins_object:
                scope.cells[parameter.name] = given[at]
            else:
                scope.set(parameter.name, self._convert(kind, value, place))
        return scope

    def _apply(self, functions: Functions, given: Sequence[Variable], place: int) -> object:
        self._budget.spend(1, place)
        function = self._choose(functions, given, place)
        scope = self._bind(function, functions.scope, given, place)
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
        match statement:
            case syntax.Evaluate():
                self._evaluate(statement.expression, scope)
            case syntax.Declare():
                self._declare(statement, scope)
            case syntax.Unpack():
                value = self._evaluate(statement.value, scope)
                if not isinstance(value, list) or len(value) != len(statement.names):
                    raise SourceFault("the value has other parts than the names", statement.place)
                for at, name in enumerate(statement.names):
                    reference = Element(value, at, statement.place)
                    scope.cells[name] = reference if statement.is_reference else Cell(value[at])
            case syntax.Block():
                return self._run(statement.statements, Scope({}, scope) if statement.is_scope else scope)
            case syntax.If():
                chosen = statement.then if self._holds(statement.condition, scope) else statement.otherwise
                return None if chosen is None else self._execute(chosen, Scope({}, scope))
            case syntax.Loop():
                return self._loop(statement, scope)
            case syntax.ForEach():
                return self._for_each(statement, scope)
            case syntax.Switch():
                return self._switch(statement, scope)
            case syntax.Return():
                return Returned(None if statement.value is None else self._evaluate(statement.value, scope))
            case syntax.Jump():
                return statement.word
            case syntax.Throw():
                raise SourceFault("an exception is thrown", statement.place)
            case syntax.Unparsed():
                raise statement.fault
        return None

    def _declare(self, statement: syntax.Declare, scope: Scope) -> None:
        if statement.value is not None and statement.is_reference:
            scope.cells[statement.name] = self._variable(statement.value, scope)
            return
        if statement.value is not None:
            value = self._convert(statement.type, self._evaluate(statement.value, scope), statement.place)
        else:
            items = [self._evaluate(item, scope) for item in statement.items]
            value = self._construct(statement.type, items, statement.is_braced, statement.place)
        if isinstance(value, CoreConfig):
            value.variable, value.place = statement.name, statement.place
            self._configs.append(value)
        scope.set(statement.name, value)

    def _holds(self, condition: syntax.Expression, scope: Scope) -> bool:
        """:raises SourceFault: if it cannot be told"""
        value = self._evaluate(condition, scope)
        if isinstance(value, Unknown):
            raise value.fault
        if isinstance(value, bool | int | float):
            return bool(value)
        raise SourceFault("the condition is not understood", condition.place)

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
            raise SourceFault("what the loop runs over is not understood", statement.place)
        for at in range(len(values)):
            if at >= len(values):
                raise SourceFault("the loop shortens what it runs over", statement.place)
            inner = Scope({}, scope)
            if len(statement.names) > 1:
                parts = values[at]
                if not isinstance(parts, list) or len(parts) != len(statement.names):
                    raise SourceFault("an element of the loop has other parts than the names", statement.place)
                for name, part in zip(statement.names, parts, strict=True):
                    inner.set(name, part)
            elif statement.is_reference:
                inner.cells[statement.names[0]] = Element(values, at, statement.place)
            else:
                inner.set(statement.names[0], self._copy(values[at], statement.place))
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
                    raise SourceFault("the `switch` is not understood", statement.place)
                start = at if each == value else None
        start = default if start is None else start
        flow = None if start is None else self._run(statement.statements[start:], Scope({}, scope))
        return None if flow == "break" else flow

    # Expressions

    def _evaluate(self, node: syntax.Expression, scope: Scope) -> object:
        self._budget.spend(1, node.place)
        match node:
            case syntax.Name():
                return self._name(node, scope)
            case syntax.Literal():
                return node.value
            case syntax.Call():
                return self._call(node, scope)
            case syntax.Braces():
                return [self._evaluate(item, scope) for item in node.items]
            case syntax.Member():
                return self._member(node, scope).value
            case syntax.Index():
                return self._element(node, scope).value
            case syntax.Unary():
                return self._unary(node, scope)
            case syntax.Increment():
                variable = self._variable(node.operand, scope)
                before = variable.value
                after = standard.binary("+", before, node.by, self._budget, node.place)
                self._store(variable, after, node.place)
                return after if node.is_before else before
            case syntax.Binary():
                return self._binary(node, scope)
            case syntax.Assign():
                return self._assign(node, scope)
            case syntax.Conditional():
                chosen = node.then if self._holds(node.condition, scope) else node.otherwise
                return self._evaluate(chosen, scope)
            case syntax.Lambda():
                return self._lambda(node, scope)

    def _name(self, node: syntax.Name, scope: Scope) -> object:
        cell = self._look_up(node, scope)
        if cell is not None:
            return cell.value
        name = node.parts[-1]
        is_framework = name.startswith(("DT_", "FORMAT_")) or name in _OPTIONS
        if is_framework or (len(node.parts) > 1 and node.parts[-2] in _ENUMERATIONS):
            return EnumConstant(name)
        return Unknown(SourceFault(f"`{'::'.join(node.parts)}` {MISSING}", node.place))

    def _look_up(self, node: syntax.Name, scope: Scope) -> Variable | None:
        """Return the variable of a name. Namespaces are not kept apart, but those of the framework and of C++ are."""
        if len(node.parts) > 1:
            if node.parts[0] in ("ge", "std"):
                return None
            name = node.parts[-2]
            if name in self._classes:
                if name not in self._statics:  # the members of a class without an object of it
                    members = self._statics[name] = Scope({}, self._globals)
                    self._define(self._class(name, node.place).body.definitions, members)
                return self._statics[name].find(node.parts[-1])
        return scope.find(node.parts[-1])

    def _element(self, node: syntax.Index, scope: Scope) -> Variable:
        container = self._evaluate(node.object, scope)
        index = self._evaluate(node.inside, scope)
        for each in (container, index):
            if isinstance(each, Unknown):
                return Cell(each)
        if isinstance(container, Map) and isinstance(index, Hashable):
            if index not in container:
                self._budget.spend(1, node.place)
                container[index] = container.default()
            return MapElement(container, index, node.place)
        if isinstance(container, list) and isinstance(index, int) and 0 <= index < len(container):
            return Element(container, index, node.place)
        return Cell(Unknown(SourceFault("the index is outside the vector, or it is none", node.place)))

    def _member(self, node: syntax.Member, scope: Scope) -> Variable:
        value = self._evaluate(node.object, scope)
        if isinstance(value, Position) and node.name in ("first", "second") and value.index < len(value.items):
            value = value.items[value.index]
        if isinstance(value, list) and node.name in ("first", "second") and len(value) == 2:
            return Element(value, int(node.name == "second"), node.place)
        if isinstance(value, Instance):
            cell = value.scope.find(node.name)
            if cell is not None:
                return cell
        if isinstance(value, Unknown):
            return Cell(value)
        return Cell(Unknown(SourceFault(f"the member `{node.name}` is not interpreted", node.place)))

    def _unary(self, node: syntax.Unary, scope: Scope) -> object:
        value = self._evaluate(node.operand, scope)
        if node.operator == "*" and isinstance(value, Position):
            if not 0 <= value.index < len(value.items):
                return Unknown(SourceFault("the iterator is at no element", node.place))
            return value.items[value.index]
        if node.operator in ("*", "&"):
            return value
        return standard.unary(node.operator, value, node.place)

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
            value = self._copy(value, node.place)
        before = variable.value
        if isinstance(before, CoreConfig) and isinstance(value, CoreConfig):
            value.variable, value.place = before.variable, before.place
            self._configs = [value if each is before else each for each in self._configs]
        elif isinstance(before, CoreConfig | AICore | Port):
            raise SourceFault("what is assigned to a part of the operator is not understood", node.place)
        self._store(variable, value, node.place)
        return value

    def _store(self, variable: Variable, value: object, place: int) -> None:
        try:
            variable.value = value
        except (LookupError, TypeError):
            raise SourceFault("the assignment is not understood", place) from None

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
                    return Unknown(SourceFault(f"the capture `{' '.join(words)}` is not interpreted", node.place))
            for name in sorted(names):
                value = self._local(name, scope)
                if value is not None and ["&", name] not in node.captures:
                    inner.set(name, self._copy(value.value, node.place))
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
            return self._look_up(node, scope) or Cell(self._evaluate(node, scope))
        if isinstance(node, syntax.Index):
            return self._element(node, scope)
        if isinstance(node, syntax.Member):
            return self._member(node, scope)
        if isinstance(node, syntax.Unary) and node.operator == "*":
            value = self._evaluate(node.operand, scope)
            if isinstance(value, Position) and 0 <= value.index < len(value.items):
                return Element(value.items, value.index, node.place)
        return Cell(self._evaluate(node, scope))

    # Calls

    def _call(self, node: syntax.Call, scope: Scope) -> object:
        if isinstance(node.function, syntax.Member):
            return self._call_member(node, node.function, scope)
        if not isinstance(node.function, syntax.Name):
            function = self._evaluate(node.function, scope)
            return self._call_value(function, node, "the value", scope)
        return self._call_name(node, node.function, scope)

    def _arguments(self, node: syntax.Call, scope: Scope) -> list[Variable]:
        return [self._variable(item, scope) for item in node.items]

    def _call_name(self, node: syntax.Call, name: syntax.Name, scope: Scope) -> object:
        last = name.parts[-1]
        cell = self._look_up(name, scope)
        if cell is not None:
            return self._call_value(cell.value, node, f"`{last}`", scope)
        if last == "sizeof":
            value = self._evaluate(node.items[0], scope) if node.items else None
            return Size(len(value) if isinstance(value, list) else 1)
        this = scope.find("this")
        operator = this.value if this is not None and len(name.parts) == 1 else None
        if isinstance(operator, Instance) and operator.definition and last in OpDefinition.METHODS:
            return self._call_operator(operator, last, self._arguments(node, scope), node.place)
        if (
            last in ("OpAICoreConfig", "DataType", "Format")
            or last in _TUPLES
            or last in self._aliases
            or self._is_known(last)
        ):
            items = [self._evaluate(item, scope) for item in node.items]
            return self._construct(syntax.TypeName(last, name.arguments), items, node.is_braced, node.place)
        given = self._arguments(node, scope)
        if name.parts[-2:-1] == ("numeric_limits",) and len(name.arguments) == 1:
            value = standard.limit(name.arguments[0].type.name, last)
            if value is None:
                return Unknown(SourceFault(f"`{'::'.join(name.parts)}` is not interpreted", node.place))
            return value
        if last == "get" and len(name.arguments) == 1 and len(given) == 1:
            whole, index = given[0].value, self._evaluate(name.arguments[0].expression, scope)
            if isinstance(whole, Unknown):
                return whole
            if isinstance(whole, list) and isinstance(index, int) and 0 <= index < len(whole):
                return whole[index]
            return Unknown(SourceFault("the call of `get` is not understood", node.place))
        if last in ("for_each", "transform"):
            return self._call_back(last, [each.value for each in given], node.place)
        if last in standard.FUNCTIONS and name.parts[:-1] in ((), ("std",)):
            return self._call_library(lambda: standard.function(last, _values(given), self._budget, node.place), given)
        return _pass_over(f"`{'::'.join(name.parts)}` {MISSING}", given, node.place)

    def _call_value(self, function: object, node: syntax.Call, name: str, scope: Scope) -> object:
        given = self._arguments(node, scope)
        if isinstance(function, Functions):
            return self._apply(function, given, node.place)
        reason = function.fault.reason if isinstance(function, Unknown) else f"{name} is no function"
        return _pass_over(reason, given, node.place)

    def _call_member(self, node: syntax.Call, member: syntax.Member, scope: Scope) -> object:
        value = self._evaluate(member.object, scope)
        given = self._arguments(node, scope)
        if isinstance(value, Part):
            for each in given:
                if isinstance(each.value, list | CoreConfig):
                    steps = each.value.size if isinstance(each.value, CoreConfig) else len(each.value)
                    self._budget.spend(steps, node.place)
            try:
                return value.call(member.name, _values(given), node.place)
            except (LookupError, TypeError, ValueError):
                raise SourceFault(f"the call of `{member.name}` is not understood", node.place) from None
        if isinstance(value, Instance):
            cell = value.scope.cells.get(member.name)
            if cell is not None and isinstance(cell.value, Functions):
                return self._apply(cell.value, given, node.place)
            if value.definition is not None:
                return self._call_operator(value, member.name, given, node.place)
        if isinstance(value, Unknown):
            return _pass_over(value.fault.reason, given, node.place)
        return self._call_library(
            lambda: standard.method(value, member.name, _values(given), self._budget, node.place), [Cell(value), *given]
        )

    def _call_operator(self, instance: Instance, name: str, given: list[Variable], place: int) -> object:
        """Call a method of ``OpDef``. One that is not known, of an older or newer version, has no effect."""
        assert instance.definition is not None
        try:
            found = instance.definition.call(name, _values(given), place)
        except (LookupError, TypeError, ValueError):
            raise SourceFault(f"the call of `{name}` is not understood", place) from None
        return instance if found is None else found

    def _call_back(self, name: str, given: list[object], place: int) -> object:
        """``for_each(first, last, f)`` and ``transform(first, last, out, f)``."""
        function = given[-1] if given else None
        if not isinstance(function, Functions) or len(given) != (3 if name == "for_each" else 4):
            raise SourceFault(f"the call of `{name}` is not understood", place)
        first, last = given[0], given[1]
        try:
            values = standard.between(first, last)
        except (TypeError, ValueError):
            raise SourceFault(f"the call of `{name}` is not understood", place) from None
        assert isinstance(first, Position)
        results = [
            self._apply(function, [Element(first.items, first.index + at, place)], place) for at in range(len(values))
        ]
        if name == "transform":
            results_position = standard.begin(results)
            standard.function("copy", [results_position, standard.end(results), given[2]], self._budget, place)
        return None

    def _call_library(self, call: Callable[[], object], given: Sequence[Variable]) -> object:
        """Return the result of a call of the C++ library; unknown, as what it may have changed, if it fails."""
        for each in given:
            if isinstance(each.value, Unknown):
                return _poison(each.value.fault, given)
        try:
            return call()
        except SourceFault as fault:
            return _poison(fault, given)


def _values(given: Iterable[Variable]) -> list[object]:
    return [each.value for each in given]


def _pass_over(reason: str, given: Sequence[Variable], place: int) -> Unknown:
    """Return the result of a function that is not read.

    :raises SourceFault: if it is given a part of the operator, or a function that may change one
    """
    for each in given:
        value = each.value
        if isinstance(value, Part | Functions) or (isinstance(value, Instance) and value.definition is not None):
            raise SourceFault(reason, place)
    return _poison(SourceFault(reason, place), given)


def _poison(fault: SourceFault, given: Sequence[Variable]) -> Unknown:
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
