"""Runs constructors from the words of a source: declarations, calls, own functions, conditions and loops.

A value that cannot be worked out is :class:`~.values.Unknown` and harmless until it is used where the policy depends on
it: as a condition, a flag, a chip, a configuration. There, and wherever code that is not read could have changed the
operator, the run ends with a :class:`~.tokens.SourceFault`. What cannot touch the operator is stepped over: an argument
or a statement that names no part of it, nothing that holds one and no function of the source; what it names is unknown.
Other names of a variable are followed only where they are references; pointers and the like (:class:`Untraced`), and
C++ that real sources do not use, are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from . import standard
from .definition import FLAGS, CoreConfig, OpDefinition, Part
from .source_text import ASSIGNMENTS, UNDECIDED, Class, Declaration, SourceFunction, SourceText, TypeText, unescaped
from .tokens import NotDefined, SourceFault, Token
from .values import Array, EnumConstant, Functions, Map, Operand, Position, Scope, StepBudget, Unknown, Value, Variable
from .words import PARAM_TYPES

MOST_STEPS = 500_000
"""Expressions and statements of one source. The most that one of 1,800 real sources takes are 35,000."""
DEEPEST_BASES = 8

_MISSING = "is not defined in the project"

_INTEGERS = frozenset(
    (
        *("int", "long", "short", "unsigned", "size_t"),
        *("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"),
    )
)
_NUMBERS = _INTEGERS | {"char", "bool", "float", "double"}
_UNSIGNED = frozenset(("unsigned", "size_t", "uint32_t", "uint64_t"))
_NARROW = frozenset(("short", "char", "int8_t", "int16_t", "uint8_t", "uint16_t"))
"""Their values wrap around, which is not interpreted."""
_VECTORS = frozenset(("vector", "array", "initializer_list", "deque", "list"))
_MAPS = frozenset(("map", "unordered_map"))
_OTHER_CONTAINERS = frozenset(
    ("set", "unordered_set", "multiset", "unordered_multiset", "multimap", "unordered_multimap", "valarray", "optional")
)
_TEXTS = frozenset(("string", "AscendString", "string_view"))
_TUPLES = frozenset(("pair", "tuple", "ScalarVar"))
_TYPES = _NUMBERS | _VECTORS | _MAPS | _TEXTS | _TUPLES | {"OpAICoreConfig", "DataType", "Format"}
_ENUMERATIONS = frozenset(
    ("ge", "Option", "DataType", "Format", "FollowType", "DependScope", "ScalarType", "FormatCheckOption")
)
_CASTS = frozenset(("static_cast", "const_cast", "reinterpret_cast", "dynamic_cast"))
_LITERALS = {"true": True, "false": False, "nullptr": None}
_NEVER_STEPPED_OVER = frozenset(
    (
        *OpDefinition.METHODS,
        *FLAGS,
        *("AddConfig", "ExtendCfgInfo", "this", "return", "throw", "goto", "break", "continue"),
    )
)


@dataclass(slots=True, eq=False, repr=False)
class Instance:
    """An object of a class that the sources define.

    :param scope: its members
    :param definition: what an object of a class that derives from ``OpDef`` sets
    """

    name: str
    scope: Scope
    definition: OpDefinition | None = None


class Untraced(SourceFault):
    """Something may be changed under another name that is not followed: nothing after it is certain."""


class Lazy(NamedTuple):
    """A constant of a namespace, which is evaluated when it is used."""

    declaration: Declaration


class Registration(NamedTuple):
    """``OP_ADD(name)``, or ``REGISTER_OP_AICORE_CONFIG(name, chip, function)``, which declares a chip.

    :param chip: None for ``OP_ADD``
    """

    name: str
    chip: str | None
    place: int


class Returned(NamedTuple):
    """A function ends with this value."""

    value: Operand


Flow = Returned | str | None
"""How a statement ends: None to go on, ``break``, ``continue``, or with a value."""


def value_of(tokens: Sequence[Token]) -> Value:
    """Return the value of an expression that names nothing of a source, of a condition of the preprocessor.

    There all numbers are of 64 bits, and have a sign unless one of them is written without.
    """
    runner = Runner([])
    runner.text = SourceText(tokens)
    runner.signed_bits = 0 if any(each.text[0].isdigit() and "u" in each.text.lower() for each in tokens) else 63
    return runner.value(0, len(tokens), Scope())


class Runner:
    """The definitions of one source, and the objects that they make.

    :ivar registrations: in order
    :ivar signed_bits: those of all numbers, where they are known to have a sign; else 0
    """

    signed_bits = 0

    def __init__(self, tokens: Sequence[Token]) -> None:
        """:raises SourceFault: if the brackets do not balance"""
        self.text = SourceText(tokens)
        self.registrations: list[Registration] = []
        self._budget = StepBudget(MOST_STEPS)
        self._classes: dict[str, list[Class]] = {}
        self._aliases: dict[str, TypeText] = {}
        self._statics: dict[str, Scope] = {}
        self._configs: list[CoreConfig] = []
        self._undecided: list[SourceFault] = []
        self._globals = Scope()
        variables = self._define(0, len(tokens), self._globals)
        if any("const" not in self._head(each) and "constexpr" not in self._head(each) for each in variables):
            for name in list(self._globals):  # one that changes may change what others begin with
                self._variable(name, self._globals, 0)

    def construct_operator(self, registration: Registration) -> tuple[OpDefinition, list[CoreConfig]]:
        """Return what the constructor of an op type sets, and the configurations that it declares.

        :raises SourceFault: if it cannot be worked out
        """
        self._configs = []
        alias = self._aliases.get(registration.name)
        name = alias.name if alias else registration.name
        if name not in self._classes:
            before = [fault for fault in self._undecided if fault.place < registration.place]
            raise before[-1] if before else NotDefined(f"the class `{name}` {_MISSING}", registration.place)
        instance = self._instantiate(name, [registration.name], registration.place)
        if instance.definition is None:
            raise SourceFault(f"the class `{name}` does not derive from `OpDef`", registration.place)
        instance.definition.name = registration.name
        return instance.definition, self._configs

    def _spend(self, steps: int, at: int) -> None:
        self._budget.spend(steps, self.text.places[at])

    # Definitions

    def _define(self, at: int, end: int, scope: Scope) -> list[Declaration]:
        """Add what a namespace or class defines to its scope; return its variables.

        Those of a namespace are evaluated when they are used, those of an object by its constructor. The body of a
        class is read once for each object: what is not of the scope, as a class in it, is added the first time only.
        """
        variables: list[Declaration] = []
        while at < end:
            at = self._definition(at, end, scope, variables)
        given: set[str] = set()
        for each in variables:
            if isinstance(scope.get(each.name), Functions):
                continue  # the declaration of a function
            if each.name in given and each.opening:  # in two namespaces, which are not kept apart
                scope[each.name] = Unknown(self.text.fault(f"`{each.name}` is defined more than once", each.at))
                continue
            given |= {each.name} if each.opening else set()
            head = self._head(each)
            if not each.opening and ("extern" in head or ("static" in head and scope is not self._globals)):
                scope[each.name] = Unknown(self.text.fault(f"the value of `{each.name}` is defined elsewhere", each.at))
            else:
                scope[each.name] = Lazy(each)
        return variables

    def _definition(self, at: int, end: int, scope: Scope, variables: list[Declaration]) -> int:
        """Add one definition; return the index after it."""
        text, words = self.text, self.text.words
        word, following = words[at], words[at + 1]
        self._spend(1, at)
        if word.startswith(UNDECIDED):
            if scope is not self._globals:
                raise text.fault("", at)
            self._undecided.append(text.fault("", at))
        elif word in ("public", "private", "protected") and following == ":":
            return at + 2
        elif word == "inline" and following == "namespace":
            pass
        elif word == "namespace" or (word == "extern" and following.startswith('"') and words[at + 2] == "{"):
            at = text.find(at, end, "{", ";")  # names are looked up by their last part
            if at < end and words[at] == "{":
                inner, stop = text.inside(at)
                while inner < stop:
                    inner = self._definition(inner, stop, scope, variables)
        elif word == "extern" and following.startswith('"'):
            return at + 2
        elif word == "template":
            return text.after_angles(at + 1, allowed=("=",)) or at + 2
        elif word in ("using", "typedef"):
            return self._alias(at, end)
        elif word in ("class", "struct"):
            found, after = text.class_(at + 1, end)
            if found and self.text.words[after].isidentifier() and self.text.words[after + 1] in (";", "=", "{", ","):
                raise text.fault("an object that is declared with its class is not interpreted", after)
            if found and all(other.at != found.at for other in self._classes.setdefault(found.name, [])):
                self._classes[found.name].append(found)
            return after
        elif word == "enum":
            at = text.find(at, end, "{", ";")
            if at < end and words[at] == "{":
                self._enumerate(*text.inside(at), scope)
        elif word in ("static_assert", "friend", "union"):
            return text.definition_end(at, end)
        elif following == "(" and word in ("OP_ADD", "REGISTER_OP_AICORE_CONFIG"):
            chip = words[at + 4] if word != "OP_ADD" else None
            self.registrations.append(Registration(words[at + 2], chip, text.places[at + 2]))
            return text.after(at + 1)
        elif following == "(" and word.isidentifier() and words[text.after(at + 1)].isidentifier():
            return text.after(at + 1)  # a macro that defines something may end without `;`
        elif word not in ("[", ";", "{", "}", "("):
            return self._function_or_variable(at, end, scope, variables)
        return text.after(at)

    def _function_or_variable(self, at: int, end: int, scope: Scope, variables: list[Declaration]) -> int:
        found = self.text.function(at, end)
        if found is not None:
            function, after = found
            others = scope.get(function.name)
            if not isinstance(others, Functions):
                scope[function.name] = Functions([function], scope)
            elif all(other.at != function.at for other in others.definitions):
                others.definitions.append(function)
            return after
        stop = self.text.find(at, end, ";")
        declared = self.text.declarations(at, stop)
        variables += declared
        if declared:
            return stop + 1
        after = self.text.definition_end(at, end)
        name = self.text.declared_name(at, after)
        if name is not None:
            scope.setdefault(name, Unknown(self.text.fault(f"the definition of `{name}` is not understood", at)))
        return after

    def _head(self, declaration: Declaration) -> list[str]:
        """Return the words of a declaration before its name."""
        words, start = self.text.words, declaration.at
        while start > max(0, declaration.at - 50) and words[start - 1] not in (";", "{", "}", ":"):
            start -= 1
        return words[start : declaration.at]

    def _alias(self, at: int, end: int) -> int:
        """Note ``using name = type;`` or ``typedef type name;``; return the index after it."""
        stop = self.text.find(at, end, ";")
        if self.text.words[at] == "typedef":
            if (typed := self.text.type(at + 1, stop)) is not None and typed[1] == stop - 1:
                self._aliases[self.text.words[stop - 1]] = typed[0]
        elif self.text.words[at + 2] == "=" and (typed := self.text.type(at + 3, stop)) is not None:
            self._aliases[self.text.words[at + 1]] = typed[0]
        return stop + 1

    def _enumerate(self, start: int, end: int, scope: Scope) -> None:
        value: Value = -1
        for first, stop in self.text.split(start, end):
            name = self.text.words[first]
            if self.text.words[first + 1] == "=" and first + 1 < stop:
                value = self._value_or_unknown(first + 2, stop, scope)
            else:
                value = standard.binary("+", value, 1, self._budget, self.text.places[first])
            if name in scope and scope[name] != value:
                value = Unknown(self.text.fault(f"`{name}` is defined more than once", first))
            scope[name] = value

    def _class(self, name: str, place: int) -> Class:
        """:raises SourceFault: if there is none, or more than one"""
        found = self._classes.get(name, [])
        if len(found) != 1:
            if not found:
                raise NotDefined(f"the class `{name}` {_MISSING}", place)
            raise SourceFault(f"the class `{name}` is defined {len(found)} times", place)
        return found[0]

    # Objects

    def _instantiate(self, name: str, items: Sequence[Value], place: int) -> Instance:
        self._budget.spend(10, place)
        instance = Instance(name, Scope(self._globals))
        instance.scope["this"] = instance
        members: dict[str, Declaration] = {}
        self._add_members(instance, self._class(name, place), members)
        for each in (name, *self._class(name, place).bases):  # one of a base is inherited by `using`
            constructors = instance.scope.get(each)
            if isinstance(constructors, Functions):
                self._construct_members(instance, constructors, items, members, place)
                return instance
        if items:
            raise SourceFault(f"the class `{name}` has no constructor", place)
        return instance

    def _add_members(self, instance: Instance, of: Class, members: dict[str, Declaration], depth: int = 0) -> None:
        """Add what a class and its bases define, those of the bases first."""
        for base in of.bases:
            if base == "OpDef":
                instance.definition = OpDefinition(instance.name)
            elif depth >= DEEPEST_BASES:
                raise self.text.fault(f"more than {DEEPEST_BASES} base classes in each other", of.at)
            else:
                self._add_members(instance, self._class(base, self.text.places[of.at]), members, depth + 1)
        own = self._define(*of.body, instance.scope)
        destructor = instance.scope.get(f"~{of.name}")
        is_active = isinstance(destructor, Functions) and any(
            each.body[0] < each.body[1] for each in destructor.definitions
        )
        if is_active or "operator" in self.text.words[slice(*of.body)]:
            reason = "a class with operators, or a destructor, is not interpreted"
            raise Untraced(reason, self.text.places[of.at])
        members |= {each.name: each for each in own}
        for each in own:
            self._variable(each.name, instance.scope, each.at)

    def _construct_members(
        self,
        instance: Instance,
        constructors: Functions,
        given: Sequence[Operand],
        members: dict[str, Declaration],
        place: int,
    ) -> None:
        """Run a constructor: those of bases first, then its initializers, then its body."""
        constructor = self._choose(constructors, given, place)
        scope = self._bind(constructor, constructors.scope, given, place)
        begun = {name for name, _ in constructor.initializers}
        for base in self._class(constructor.name, place).bases:
            own = instance.scope.get(base)
            if isinstance(own, Functions) and base not in begun:
                self._construct_members(instance, own, [], members, place)
        for name, (start, end) in constructor.initializers:
            own = instance.scope.get(name)
            if isinstance(own, Functions):
                self._construct_members(instance, own, self._items(start, end, scope), members, place)
            elif name in members:
                if members[name].type.is_reference:
                    raise Untraced("a member that is a reference is not interpreted", self.text.places[start])
                values = [_plain(each) for each in self._items(start, end, scope)]
                instance.scope[name] = self._construct(members[name].type, values, False, start - 1)
        self._run(*constructor.body, scope)

    def _declare(self, declared: Declaration, scope: Scope) -> None:
        """Add a variable with its value."""
        value: Operand
        if declared.type.is_reference:
            if declared.opening != "=":
                fault = SourceFault("a reference without `=` is not interpreted", self.text.places[declared.at])
                raise fault if declared.given[0] == declared.given[1] else Untraced(fault.reason, fault.place)
            value = self._evaluate(*declared.given, scope)
            if isinstance(value, Unknown):
                raise Untraced(value.fault.reason, value.fault.place)
            scope[declared.name] = value
            return
        if declared.opening == "=":
            given = self._evaluate(*declared.given, scope)
            value = self._convert(declared.type, self._copied(declared.type.name, given, declared.at), declared.at)
        else:
            given = self._items(*declared.given, scope)
            items = [self._copied(declared.type.name, each, declared.at) for each in given]
            value = self._construct(declared.type, items, declared.opening == "{", declared.at)
        if isinstance(value, CoreConfig):
            value.variable, value.place = declared.name, self.text.places[declared.at]
            self._configs.append(value)
        scope[declared.name] = value

    def _copied(self, type_name: str, given: Operand, at: int) -> Value:
        """Return the value of a variable. ``auto`` of an item of a ``std::vector<bool>`` is the item itself.
        Source: https://eel.is/c++draft/vector.bool

        :raises SourceFault: if it may be such an item
        """
        value = _plain(given)
        is_item = isinstance(given, Variable) and isinstance(given.container, list)
        if type_name == "auto" and is_item and isinstance(value, bool):
            raise self.text.fault("a bool that `auto` takes out of a vector is not interpreted", at)
        return value

    def _construct(self, kind: TypeText, items: list[Value], is_braced: bool, at: int) -> Value:
        """Return ``T(items)`` or ``T{items}``."""
        kind = self._resolve(kind)
        if kind.name == "OpAICoreConfig":
            return self._config(items, at)
        if kind.name in _VECTORS:
            return self._vector(kind, items, is_braced, at)
        if kind.name in _MAPS:
            return self._convert(kind, items if is_braced or not items else items[0], at)
        if kind.name in self._classes:
            return self._instantiate(kind.name, items, self.text.places[at])
        if kind.name in _TUPLES:
            return [self._copy(item, at) for item in items]
        if not items and kind.name in _TEXTS | _NUMBERS:
            return "" if kind.name in _TEXTS else self._number(kind.name, 0, at)
        if len(items) == 1:
            return self._convert(kind, items[0], at)
        return Unknown(self.text.fault(f"a value of the type `{kind.name}` is not interpreted", at))

    def _config(self, items: list[Value], at: int) -> Value:
        if items and isinstance(items[0], CoreConfig | Unknown):
            return self._copy(items[0], at)
        place = self.text.places[at]
        return CoreConfig.of_chip(place) if items else CoreConfig(place=place)

    def _vector(self, kind: TypeText, items: list[Value], is_braced: bool, at: int) -> Value:
        """Return a vector by the constructor that C++ chooses.

        In braces it is the list of the elements, unless these have another type: ``vector<DataType>{3, DT_INT8}`` is
        three times the dtype.
        """
        if (fault := self._unread_elements(kind, at)) is not None:
            return Unknown(fault)
        first = items[0] if items else None
        if isinstance(first, int) and not isinstance(first, bool) and kind.name == "vector":
            is_repeated = len(items) == 2 and (not is_braced or isinstance(items[1], EnumConstant))
            if is_repeated or (len(items) == 1 and not is_braced):
                self._spend(abs(first), at)
                return self._repeated(kind, items[1] if is_repeated else None, first, at)
        if len(items) == 2 and isinstance(first, Position):
            try:
                found = standard.between(first, items[1])
            except (AttributeError, TypeError, ValueError):
                return Unknown(self.text.fault("the iterators are not of one vector", at))
            self._spend(len(found), at)
            return found
        if kind.name == "array" and not items and len(kind.arguments) == 2:
            size = self.value(*kind.arguments[1], self._globals)
            if not isinstance(size, int):
                return size
            self._spend(abs(size), at)
            return self._repeated(kind, None, size, at)
        return self._convert(kind, first if not is_braced and len(items) == 1 else items, at)

    def _unread_elements(self, kind: TypeText, at: int) -> SourceFault | None:
        element = kind if kind.is_array else self._argument_type(kind, 0)
        if element is None or element.name not in _NARROW | {"reference_wrapper"}:
            return None
        return self.text.fault(f"a vector of `{element.name}` is not interpreted", at)

    def _repeated(self, kind: TypeText, value: Value, count: int, at: int) -> list[Value]:
        element = self._argument_type(kind, 0)
        if value is None and element is not None:
            value = self._construct(element, [], True, at)
        return [self._copy(value, at) for _ in range(count)]

    def _resolve(self, kind: TypeText) -> TypeText:
        for _ in range(8):
            alias = self._aliases.get(kind.name)
            if alias is None or alias.name == kind.name:
                break
            kind = alias._replace(is_array=kind.is_array, is_pointer=kind.is_pointer)
        return kind

    def _argument_type(self, kind: TypeText, index: int) -> TypeText | None:
        """Return an argument of a template."""
        typed = self.text.type(*kind.arguments[index]) if index < len(kind.arguments) else None
        return self._resolve(typed[0]) if typed else None

    def _convert(self, kind: TypeText, value: Value, at: int) -> Value:
        """Return a copy of a value as one of a type: of what braces give as what they begin."""
        kind = self._resolve(kind)
        if isinstance(value, Unknown) or kind.is_pointer:
            return value
        if kind.name == "OpAICoreConfig":
            return self._config(value if isinstance(value, list) else [value], at)
        if isinstance(value, bool | int | float) and kind.name in _NUMBERS:
            return self._number(kind.name, value, at)
        if isinstance(value, list) and (kind.is_array or kind.name in _VECTORS):
            element = self._argument_type(kind, 0)
            if (fault := self._unread_elements(kind, at)) is not None:
                return Unknown(fault)
            if kind.is_array:
                return Array(self._copy(each, at) for each in value)
            is_nested = element is not None and element.name in {*_VECTORS, *_TUPLES, *self._classes}
            if len(value) == 1 and isinstance(value[0], list) and not is_nested:
                value = value[0]  # `{{...}}` and `{vector}`
            if element is not None and is_nested:
                self._spend(len(value), at)
                return [self._convert(element, each, at) for each in value]
        elif isinstance(value, list) and kind.name in _MAPS:
            return self._map(kind, value, at)
        elif kind.name in self._classes and not isinstance(value, Instance):
            return self._instantiate(kind.name, value if isinstance(value, list) else [value], self.text.places[at])
        elif isinstance(value, list) and kind.name in _OTHER_CONTAINERS:
            return Unknown(self.text.fault(f"a value of the type `{kind.name}` is not interpreted", at))
        return self._copy(value, at)

    def _number(self, kind: str, value: float, at: int) -> Value:
        """Return a number as one of a type; unknown if it may not fit."""
        if kind in ("float", "double"):
            return float(value)
        if kind == "bool" and isinstance(value, int):
            return bool(value)
        largest = 1 << (62 if "64" in kind or kind in ("size_t", "long") else 31)
        is_negative = value < 0 and kind in _UNSIGNED
        if isinstance(value, float) or kind in _NARROW or is_negative or abs(value) >= largest:
            return Unknown(self.text.fault(f"this number as `{kind}` is not interpreted", at))
        return int(value)

    def _map(self, kind: TypeText, pairs: list[Value], at: int) -> Value:
        self._spend(len(pairs), at)
        key_type, element = self._argument_type(kind, 0), self._argument_type(kind, 1)
        if key_type is None or element is None:
            return Unknown(self.text.fault("a map without the types of its keys and values is not interpreted", at))
        of: TypeText = element
        found = Map((), lambda: self._construct(of, [], False, at))
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                raise self.text.fault("a pair expected", at)
            if element.name in _NARROW:
                return self._number(element.name, 0, at)
            key = self._convert(key_type, pair[0], at)
            if not isinstance(key, Hashable):
                return Unknown(self.text.fault("a map with such keys is not interpreted", at))
            found[key] = self._convert(element, pair[1], at)
        return found

    def _copy(self, value: Value, at: int) -> Value:
        """Return what ``T x = value`` holds: a copy that does not change with the value."""
        if isinstance(value, Array):
            raise self.text.fault("a pointer to an array is not interpreted", at)
        if isinstance(value, list):
            self._spend(len(value), at)
            return [self._copy(each, at) for each in value]
        if isinstance(value, Map):
            self._spend(len(value), at)
            return Map(((key, self._copy(each, at)) for key, each in value.items()), value.default)
        if isinstance(value, Part):
            self._spend(value.size if isinstance(value, CoreConfig) else 1, at)
            return value.copy()
        if isinstance(value, Instance):
            raise self.text.fault("the copy of an object is not interpreted", at)
        return value

    # Functions

    def _choose(self, functions: Functions, given: Sequence[Operand], place: int) -> SourceFunction:
        """:raises SourceFault: if there is none, or it cannot be told"""
        fitting = [
            each
            for each in functions.definitions
            if sum(parameter.default is None for parameter in each.parameters) <= len(given) <= len(each.parameters)
        ]
        if len(fitting) != 1:
            what = "no function" if not fitting else "more than one function"
            raise SourceFault(f"{what} `{functions.definitions[0].name}` takes these arguments", place)
        return fitting[0]

    def _bind(self, function: SourceFunction, parent: Scope, given: Sequence[Operand], place: int) -> Scope:
        """Return the scope of a body, with its parameters."""
        scope = Scope(parent)
        for index, parameter in enumerate(function.parameters):
            if parameter.name is None:
                continue
            if index >= len(given):
                assert parameter.default is not None
                scope[parameter.name] = self.value(*parameter.default, parent)
                continue
            kind = self._resolve(parameter.type)
            value = self._copied(kind.name, given[index], function.at)
            begins_object = isinstance(value, list) and (kind.name in self._classes or kind.name in _MAPS)
            if parameter.type.is_reference and not begins_object:
                scope[parameter.name] = given[index]
            else:
                scope[parameter.name] = self._convert(kind, value, function.at)
        return scope

    def _apply(self, functions: Functions, given: Sequence[Operand], place: int) -> Operand:
        self._budget.spend(1, place)
        function = self._choose(functions, given, place)
        flow = self._run(*function.body, self._bind(function, functions.scope, given, place))
        if not isinstance(flow, Returned):
            return None  # of a function without a value
        words = self.text.words
        if "&" in (words[function.at - 1], words[function.body[0] - 2]):
            if isinstance(flow.value, Unknown):
                raise Untraced(flow.value.fault.reason, flow.value.fault.place)
            return flow.value
        if not _NARROW.isdisjoint((words[function.at - 1], words[function.body[0] - 2])):
            raise self.text.fault("a function that returns a small number is not interpreted", function.at)
        return self._copy(_plain(flow.value), function.at)

    # Statements

    def _run(self, at: int, end: int, scope: Scope) -> Flow:
        while at < end:
            flow, at = self._statement(at, end, scope)
            if flow is not None:
                return flow
        return None

    def _statement(self, at: int, end: int, scope: Scope) -> tuple[Flow, int]:
        """Run a statement; return how it ends, and the index after it."""
        self._spend(1, at)
        word = self.text.words[at]
        run = self._KEYWORDS.get(word)
        if word.startswith(UNDECIDED):
            raise self.text.fault("", at)
        if run is not None:
            return run(self, at, end, scope), self.text.statement_end(at, end)
        if word == ";":
            return None, at + 1
        if word == "{":
            return self._run(*self.text.inside(at), Scope(scope)), self.text.after(at)
        if word in ("case", "default"):
            return None, self.text.find(at, end, ":") + 1
        stop = self.text.find(at, end, ";")
        if word == "return":
            return Returned(self._evaluate(at + 1, stop, scope) if stop > at + 1 else None), stop
        if word in ("break", "continue"):
            return word, stop
        if word == "throw":
            raise self.text.fault("an exception is thrown", at)
        if word in ("while", "do", "try"):
            raise self.text.fault(f"`{word}` is not interpreted", at)
        if word in ("using", "typedef"):
            return None, self._alias(at, end)
        if word != "static_assert":
            try:
                self._simple_statement(at, stop, scope)
                if stop == end:
                    raise self.text.fault("`;` expected", at)
            except SourceFault as fault:
                self._step_over(fault, at, stop, scope)
        return None, stop + 1

    def _simple_statement(self, at: int, stop: int, scope: Scope) -> None:
        """Run declarations, or expressions."""
        declared = self.text.declarations(at, stop)
        if declared and "static" in self.text.words[at : declared[0].at] and "const" not in self._head(declared[0]):
            raise Untraced("a static variable is not interpreted", self.text.places[at])
        for each in declared:
            self._declare(each, scope)
        if not declared:
            for part in self.text.split(at, stop):
                self._evaluate(*part, scope)

    def _step_over(self, fault: SourceFault, start: int, end: int, scope: Scope) -> Unknown:
        """Go past text that is not understood: what it names is unknown from then on.

        :raises SourceFault: if it may change the operator
        """
        words = self.text.words[start:end]
        named = [each for word in words if (each := self._variable(word, scope, start)) is not None]
        if (
            self._budget.left < 0
            or isinstance(fault, Untraced)
            or any(word in _NEVER_STEPPED_OVER or word.startswith(UNDECIDED) for word in words)
            or any(_reaches(each.value) for each in named)
        ):
            raise fault
        unknown = _poison(fault, named)
        for declared in self.text.declarations(start, end):
            scope[declared.name] = unknown
        return unknown

    def _if(self, at: int, end: int, scope: Scope) -> Flow:
        opening = self.text.find(at, end, "(")
        then = self.text.after(opening)
        otherwise = self.text.statement_end(then, end)
        if self._holds(*self.text.inside(opening), scope):
            return self._statement(then, end, Scope(scope))[0]
        if otherwise < end and self.text.words[otherwise] == "else":
            return self._statement(otherwise + 1, end, Scope(scope))[0]
        return None

    def _holds(self, start: int, end: int, scope: Scope) -> bool:
        """:raises SourceFault: if it cannot be told"""
        return self._truth(self.value(start, end, scope), start)

    def _truth(self, value: Value, at: int) -> bool:
        if isinstance(value, Unknown):
            raise value.fault
        if isinstance(value, bool | int):
            return bool(value)
        raise self.text.fault("the condition is not understood", at)

    def _for(self, at: int, end: int, scope: Scope) -> Flow:
        start, stop = self.text.inside(at + 1)
        body, inner = self.text.after(at + 1), Scope(scope)
        first = self.text.find(start, stop, ";")
        if first == stop:
            return self._for_each(start, stop, body, end, scope)
        second = self.text.find(first + 1, stop, ";")
        self._statement(start, first + 1, inner)
        return self._loop((first + 1, second), (second + 1, stop), body, end, inner)

    def _loop(self, condition: tuple[int, int], step: tuple[int, int], body: int, end: int, scope: Scope) -> Flow:
        while condition[0] == condition[1] or self._holds(*condition, scope):
            flow = self._statement(body, end, Scope(scope))[0]
            if flow == "break":
                break
            if isinstance(flow, Returned):
                return flow
            for part in self.text.split(*step):
                self._evaluate(*part, scope)
        return None

    def _for_each(self, start: int, stop: int, body: int, end: int, scope: Scope) -> Flow:
        colon = self.text.find(start, stop, ":")
        declared = self.text.words[start:colon]
        if colon == stop or "[" in declared:
            raise self.text.fault("a `for` that is not understood", start)
        is_reference, name = "&" in declared or "&&" in declared, declared[-1]
        values = self.value(colon + 1, stop, scope)
        if isinstance(values, Unknown):
            raise values.fault
        pairs = values if isinstance(values, Map) else None
        if pairs is not None:
            if is_reference and "const" not in declared:
                raise self.text.fault("a loop that may change a map is not interpreted", start)
            values = standard.begin(pairs).items
        if not isinstance(values, list):
            raise self.text.fault("what the loop runs over is not understood", start)
        for index in range(len(values)):
            if index >= len(values):
                raise self.text.fault("the loop shortens what it runs over", start)
            inner = Scope(scope)
            item = Variable(values, index, self.text.places[start])
            if is_reference:
                inner[name] = item
            else:
                inner[name] = self._copy(self._copied(declared[-2], item, start), start)
            flow = self._statement(body, end, inner)[0]
            if pairs is not None:
                self._spend(len(pairs), start)
                if is_reference and values != standard.begin(pairs).items:
                    raise self.text.fault("the loop changes what it runs over", start)
            if flow == "break":
                break
            if isinstance(flow, Returned):
                return flow
        return None

    def _switch(self, at: int, end: int, scope: Scope) -> Flow:
        value = self.value(*self.text.inside(at + 1), scope)
        start, stop = self.text.inside(self.text.after(at + 1))
        chosen, at = stop, start
        while at < stop:
            word = self.text.words[at]
            if word not in ("case", "default"):
                at = self.text.statement_end(at, stop)
                continue
            colon = self.text.find(at, stop, ":")
            if word == "default":
                chosen = at
            else:
                label = self.value(at + 1, colon, scope)
                is_chosen = standard.binary("==", value, label, self._budget, self.text.places[at])
                if isinstance(is_chosen, Unknown):
                    raise self.text.fault("the `switch` is not understood", start - 1)
                if is_chosen:
                    chosen = at
                    break
            at = colon + 1
        flow = self._run(chosen, stop, Scope(scope))
        return None if flow == "break" else flow

    _KEYWORDS: ClassVar[dict[str, Callable[[Runner, int, int, Scope], Flow]]] = {
        "if": _if,
        "for": _for,
        "switch": _switch,
    }

    # Expressions

    def value(self, start: int, end: int, scope: Scope) -> Value:
        return _plain(self._evaluate(start, end, scope))

    def _value_or_unknown(self, start: int, end: int, scope: Scope) -> Value:
        try:
            return self.value(start, end, scope)
        except SourceFault as fault:
            return self._step_over(fault, start, end, scope)

    def _items(self, start: int, end: int, scope: Scope) -> list[Operand]:
        """Return the values, or variables, of a list; what is not understood is unknown."""
        words, found = self.text.words, list[Operand]()
        for first, stop in self.text.split(start, end):
            if stop - first == 3 and words[first] == "ge" and words[first + 1] == "::":
                found.append(EnumConstant(words[first + 2]))
                continue
            try:
                found.append(self._evaluate(first, stop, scope))
            except SourceFault as fault:
                found.append(self._step_over(fault, first, stop, scope))
        self._spend(len(found), start)
        return found

    def _evaluate(self, start: int, end: int, scope: Scope) -> Operand:
        """Return the value of an expression, or the variable that it refers to."""
        self._spend(1 + (end - start >> 3), start)  # its operator is looked for
        if start >= end:
            raise self.text.fault("an expression expected", start)
        at = self.text.operator(start, end)
        if at is not None:
            return self._binary(start, at, end, scope)
        value, after = self._unary(start, end, scope)
        if after < end:
            raise self.text.fault(f"`{self.text.words[after]}` is not understood", after)
        return value

    def _binary(self, start: int, at: int, end: int, scope: Scope) -> Operand:
        word = self.text.words[at]
        if word in ASSIGNMENTS:
            return self._assign(self._evaluate(start, at, scope), ASSIGNMENTS[word], at, end, scope)
        if word == "?":
            raise self.text.fault("`?` is not interpreted", at)
        if word in ("&&", "||"):
            left = self.value(start, at, scope)
            if isinstance(left, Unknown) and "(" not in self.text.words[at:end]:  # the right side calls nothing
                right = self.value(at + 1, end, scope)
                return left if isinstance(right, Unknown) or self._truth(right, at) != (word == "||") else right
            left_holds = self._truth(left, start)
            return left_holds if left_holds == (word == "||") else self._holds(at + 1, end, scope)
        left, right = self.value(start, at, scope), self.value(at + 1, end, scope)
        return standard.binary(word, left, right, self._budget, self.text.places[at], self.signed_bits)

    def _assign(self, target: Operand, operation: str, at: int, end: int, scope: Scope) -> Operand:
        value = self.value(at + 1, end, scope)
        before = _plain(target)
        if operation:
            value = standard.binary(operation, before, value, self._budget, self.text.places[at])
        else:
            value = self._copy(value, at)
        if isinstance(before, CoreConfig) and isinstance(value, CoreConfig):
            before.ports, before.settings = value.ports, value.settings  # in place: references see it
            before.origin, before.is_passed = value, False
            return target
        if isinstance(before, list) and isinstance(value, list):
            before[:] = value  # as above
            return target
        if isinstance(before, Part | Instance | Map):
            raise self.text.fault("an assignment to this object is not interpreted", at)
        return self._give(target, value, at)

    def _give(self, target: Operand, value: Value, at: int) -> Operand:
        """Give a variable a value, as one of the type that it holds."""
        before = _plain(target)
        if isinstance(value, bool | int | float):
            if isinstance(before, bool | int | float):
                value = self._number(type(before).__name__, value, at)
            elif value not in (0, 1):
                value = Unknown(self.text.fault("the assignment of a value of another type is not interpreted", at))
        if not isinstance(target, Variable) or not _store(target, value):
            raise self.text.fault("the assignment is not understood", at)
        return target

    def _unary(self, at: int, end: int, scope: Scope) -> tuple[Operand, int]:
        word = self.text.words[at]
        if word in ("!", "-"):
            value, after = self._unary(at + 1, end, scope)
            return standard.unary(word, _plain(value), self.text.places[at]), after
        if word in ("*", "&"):
            value, after = self._unary(at + 1, end, scope)
            plain = _plain(value)
            if isinstance(plain, Functions | Unknown if word == "&" else Instance):
                return value, after
            raise Untraced(f"the use of `{word}` is not interpreted", self.text.places[at])
        if word in ("++", "--"):
            value, after = self._unary(at + 1, end, scope)
            return self._increment(value, word, at), after
        return self._postfix(*self._primary(at, end, scope), end, scope)

    def _increment(self, target: Operand, word: str, at: int) -> Operand:
        value = standard.binary(word[0], _plain(target), 1, self._budget, self.text.places[at])
        return self._give(target, value, at)

    def _postfix(self, value: Operand, at: int, end: int, scope: Scope) -> tuple[Operand, int]:
        words = self.text.words
        while at < end:
            word = words[at]
            if word in (".", "->"):
                at += 1 + (words[at + 1] == "template")
                name_at, at = at, at + 1
                if words[at] == "<" and (after := self.text.after_angles(at)) is not None and words[after] == "(":
                    at = after
                if words[at] == "(":
                    value = self._call_member(value, name_at, at, scope)
                    at = self.text.after(at)
                else:
                    value = self._member(_plain(value), name_at)
            elif word == "(":
                value = self._call_value(_plain(value), at, "the value", at, scope)
                at = self.text.after(at)
            elif word == "[":
                value = self._element(_plain(value), at, scope)
                at = self.text.after(at)
            elif word in ("++", "--"):
                before = _plain(value)
                self._increment(value, word, at)
                value, at = before, at + 1
            elif word == "...":
                raise self.text.fault("a pack of arguments is not interpreted", at)
            else:
                break
        return value, at

    def _primary(self, at: int, end: int, scope: Scope) -> tuple[Operand, int]:
        word = self.text.words[at]
        if at >= end:
            raise self.text.fault("an expression expected", at)
        if word.startswith(UNDECIDED):
            return Unknown(self.text.fault("", at)), at + 1
        if word == "(":
            return self._evaluate(*self.text.inside(at), scope), self.text.after(at)
        if word == "{":
            items = self._items(*self.text.inside(at), scope)
            return [self._copy(_plain(each), at) for each in items], self.text.after(at)
        if word == "[":
            return self._lambda(at, end, scope)
        if word[0].isdigit() or (word[0] == "." and word[1:2].isdigit()):
            return self.text.number(at), at + 1
        if word[0] == "'" and len(word) > 2:
            return unescaped(word[1:-1]), at + 1
        if word.endswith('"') and len(word) > 1:
            return self.text.string(at, end)
        if word in _LITERALS:
            return _LITERALS[word], at + 1
        if word in _CASTS:
            return self._cast(at, scope)
        return self._name(at + (word == "::"), end, scope)

    def _cast(self, at: int, scope: Scope) -> tuple[Operand, int]:
        """Return ``static_cast<T>(x)`` as the call ``T(x)`` for numbers, else as ``x``."""
        opening = self.text.after_angles(at + 1)
        if opening is None or self.text.words[opening] != "(":
            raise self.text.fault("a cast that is not understood", at)
        items = self._items(*self.text.inside(opening), scope)
        if len(items) != 1:
            raise self.text.fault("a cast that is not understood", at)
        to = self.text.words[opening - 2]
        value = self._convert(TypeText(to), _plain(items[0]), at) if to in _NUMBERS else items[0]
        return value, self.text.after(opening)

    def _lambda(self, at: int, end: int, scope: Scope) -> tuple[Value, int]:
        words = self.text.words
        opening = self.text.after(at)
        parameters = self.text.parameters(*self.text.inside(opening)) if words[opening] == "(" else []
        body = self.text.find(opening, end, "{")
        if body == end:
            raise self.text.fault("`{` expected", opening)
        for start, stop in self.text.split(*self.text.inside(at)):
            capture = words[start:stop]
            if capture != ["this"] and (capture[0] != "&" or len(capture) > 2):
                raise self.text.fault(f"the capture `{' '.join(capture)}` is not interpreted", at)
        function = SourceFunction("lambda", parameters, self.text.inside(body), (), at)
        return Functions([function], Scope(scope)), self.text.after(body)

    # Names

    def _variable(self, name: str, scope: Scope, at: int) -> Variable | None:
        """Return the variable of a name; None if there is none."""
        holder = scope.holder(name)
        if holder is None:
            return None
        value = holder[name]
        if isinstance(value, Lazy):
            holder[name] = Unknown(self.text.fault(f"`{name}` is defined by itself", at))
            try:
                self._declare(value.declaration, holder)
            except Untraced:
                raise
            except SourceFault as fault:
                holder[name] = Unknown(fault)
            value = holder[name]
        return value if isinstance(value, Variable) else Variable(holder, name, self.text.places[at])

    def _look_up(self, parts: Sequence[str], scope: Scope, at: int) -> Variable | None:
        """Return the variable of a name. Namespaces are not kept apart, but those of the framework and of C++ are."""
        if len(parts) > 1:
            if parts[0] in ("ge", "std"):
                return None
            name = parts[-2]
            if name in self._classes:
                if name not in self._statics:  # the members of a class without an object of it
                    self._statics[name] = Scope(self._globals)
                    self._define(*self._class(name, self.text.places[at]).body, self._statics[name])
                scope = self._statics[name]
        return self._variable(parts[-1], scope, at)

    def _name(self, at: int, end: int, scope: Scope) -> tuple[Operand, int]:
        """Return what a name stands for, or what its call returns."""
        words, parts = self.text.words, list[str]()
        arguments: tuple[tuple[int, int], ...] = ()
        while True:
            if at >= end or not words[at].isidentifier():
                raise self.text.fault(f"`{words[at]}` is not understood", at)
            parts.append(words[at])
            name_at, at = at, at + 1
            after = self.text.after_angles(at) if words[at] == "<" else None
            if after is not None and after <= end and (after == end or words[after] in ("(", "{", "::")):
                arguments, at = tuple(self.text.split(at + 1, after - 1, of_types=True)), after
            if at >= end or words[at] != "::":
                break
            at += 1
        if at < end and words[at] in ("(", "{"):
            return self._call_name(parts, arguments, name_at, at, scope), self.text.after(at)
        found = self._look_up(parts, scope, name_at)
        if found is not None:
            return found, at
        name = parts[-1]
        is_framework = name.startswith(("DT_", "FORMAT_")) or name in PARAM_TYPES
        if is_framework or (len(parts) > 1 and parts[-2] in _ENUMERATIONS):
            return EnumConstant(name), at
        if name in ("goto", "new", "delete", "operator", "try"):
            raise self.text.fault(f"`{name}` is not understood", name_at)
        return Unknown(NotDefined(f"`{'::'.join(parts)}` {_MISSING}", self.text.places[name_at])), at

    def _element(self, container: Value, at: int, scope: Scope) -> Operand:
        return self._at(container, self.value(*self.text.inside(at), scope), at, inserts=True)

    def _at(self, container: Value, index: Value, at: int, inserts: bool = False) -> Operand:
        if isinstance(container, Unknown):
            return container
        if isinstance(index, Unknown):
            raise index.fault
        if isinstance(container, Map) and isinstance(index, Hashable):
            if index not in container and inserts:
                self._spend(1, at)
                container[index] = container.default()
            if index in container:
                return Variable(container, index, self.text.places[at])
        if isinstance(container, list) and isinstance(index, int) and 0 <= index < len(container):
            return Variable(container, index, self.text.places[at])
        raise self.text.fault("the index is outside the vector, or it is none", at)

    def _member(self, value: Value, at: int) -> Operand:
        name = self.text.words[at]
        if isinstance(value, Position) and name in ("first", "second") and value.index < len(value.items):
            owner, value = value.owner, value.items[value.index]
            if isinstance(owner, Map) and isinstance(value, list):
                return value[0] if name == "first" else Variable(owner, value[0], self.text.places[at])
        if isinstance(value, list) and name in ("first", "second") and len(value) == 2:
            return Variable(value, int(name == "second"), self.text.places[at])
        if isinstance(value, Instance) and (found := self._variable(name, value.scope, at)) is not None:
            return found
        if isinstance(value, Unknown):
            return value
        raise self.text.fault(f"the member `{name}` is not interpreted", at)

    # Calls

    def _call_name(
        self, parts: Sequence[str], arguments: Sequence[tuple[int, int]], at: int, opening: int, scope: Scope
    ) -> Operand:
        last, place = parts[-1], self.text.places[at]
        found = self._look_up(parts, scope, at)
        if found is not None:
            if "this" in (scope.holder(last) or ()) and not isinstance(found.value, Functions):
                raise NotDefined(f"`{last}` {_MISSING}", place)
            return self._call_value(found.value, opening, f"`{last}`", at, scope)
        given = self._items(*self.text.inside(opening), scope)
        this = scope.holder("this")
        operator = this["this"] if this is not None and len(parts) == 1 else None
        if isinstance(operator, Instance) and operator.definition and last in OpDefinition.METHODS:
            return self._call_operator(operator, last, given, place)
        if last in _TYPES or last in self._aliases or last in self._classes:
            is_braced = self.text.words[opening] == "{"
            return self._construct(TypeText(last, tuple(arguments)), [_plain(each) for each in given], is_braced, at)
        if len(arguments) == 1 and (parts[-2:-1] == ["numeric_limits"] or (last == "get" and len(given) == 1)):
            return self._of_template(parts, arguments[0], given, at)
        if last == "for_each":
            self._for_each_of([_plain(each) for each in given], place)
            return None
        if last in ("move", "forward") and len(given) == 1:
            return self._moved(given[0])
        if last in standard.FUNCTIONS and parts[:-1] in ([], ["std"]):
            return self._call_library(lambda plain: standard.function(last, plain, self._budget, place), given, at)
        return self._pass_over(NotDefined(f"`{'::'.join(parts)}` {_MISSING}", place), given)

    def _of_template(
        self, parts: Sequence[str], argument: tuple[int, int], given: Sequence[Operand], at: int
    ) -> Operand:
        """Return ``numeric_limits<T>::max()`` and the like, and ``get<N>(tuple)``."""
        if parts[-1] != "get":
            value = standard.limit(self.text.words[argument[1] - 1], parts[-1])
            return Unknown(self.text.fault(f"`{'::'.join(parts)}` is not interpreted", at)) if value is None else value
        whole, index = _plain(given[0]), self.value(*argument, self._globals)
        if isinstance(whole, list) and isinstance(index, int) and 0 <= index < len(whole):
            return Variable(whole, index, self.text.places[at])
        if isinstance(whole, Unknown):
            return whole
        raise self.text.fault("the call of `get` is not understood", at)

    def _moved(self, value: Operand) -> Operand:
        """Return a copy of what is moved away, which leaves a vector, map or text in a state that is not known."""
        plain = _plain(value)
        if not isinstance(value, Variable) or not isinstance(plain, list | Map | str):
            return value
        plain = self._copy(plain, 0)
        _poison(SourceFault("it was moved away", value.place), [value])
        return plain

    def _call_value(self, function: Value, opening: int, name: str, at: int, scope: Scope) -> Operand:
        given = self._items(*self.text.inside(opening), scope)
        if isinstance(function, Functions):
            return self._apply(function, given, self.text.places[at])
        place = self.text.places[at]
        if isinstance(function, Unknown):
            return self._pass_over(function.fault.at(place), given)
        return self._pass_over(SourceFault(f"{name} is no function", place), given)

    def _call_member(self, value: Operand, at: int, opening: int, scope: Scope) -> Operand:
        name, place, held = self.text.words[at], self.text.places[at], value
        given = self._items(*self.text.inside(opening), scope)
        value = _plain(held)
        if isinstance(value, Part):
            plain = [_plain(each) for each in given]
            for each in plain:
                if isinstance(each, list | CoreConfig):
                    self._spend(each.size if isinstance(each, CoreConfig) else len(each), at)
            try:
                return value.call(name, plain, place)
            except (LookupError, TypeError, ValueError):
                raise self.text.fault(f"the call of `{name}` is not understood", at) from None
        if isinstance(value, Instance):
            function = value.scope.get(name)
            if isinstance(function, Functions):
                return self._apply(function, given, place)
            if value.definition is None or name in value.scope:
                raise NotDefined(f"`{name}` {_MISSING}", place)
            return self._call_operator(value, name, given, place)
        if isinstance(value, Unknown):
            return self._pass_over(value.fault.at(place), given)
        if name in ("at", "front", "back") and isinstance(value, list | Map) and len(given) == (name == "at"):
            index = _plain(given[0]) if given else 0 if name == "front" else len(value) - 1
            return self._at(value, index, at)
        return self._call_library(
            lambda plain: standard.method(value, name, plain, self._budget, place), given, at, held
        )

    def _call_operator(self, instance: Instance, name: str, given: Sequence[Operand], place: int) -> Value:
        """Call a method of ``OpDef``. One that is not known, of an older or newer version, has no effect."""
        assert instance.definition is not None
        try:
            found = instance.definition.call(name, [_plain(each) for each in given], place)
        except (LookupError, TypeError, ValueError):
            raise SourceFault(f"the call of `{name}` is not understood", place) from None
        return instance if found is None else found

    def _for_each_of(self, given: list[Value], place: int) -> None:
        """``for_each(first, last, f)``."""
        function = given[-1] if given else None
        if not isinstance(function, Functions) or len(given) != 3:
            raise SourceFault("the call of `for_each` is not understood", place)
        try:
            count = len(standard.between(given[0], given[1]))
        except (AttributeError, TypeError, ValueError):
            raise SourceFault("the call of `for_each` is not understood", place) from None
        first = given[0]
        assert isinstance(first, Position)
        if isinstance(first.owner, Map):
            raise SourceFault("a loop that may change a map is not interpreted", place)
        for index in range(count):
            self._apply(function, [Variable(first.items, first.index + index, place)], place)

    def _call_library(
        self, call: Callable[[list[Value]], Value], given: Sequence[Operand], at: int, of: Operand = None
    ) -> Value:
        """Return the result of a call of the C++ library; unknown, as what it may have changed, if it fails."""
        plain = [_plain(each) for each in given]
        if self.text.words[at] not in standard.OF_CONTAINERS:
            plain = [self._copy(each, at) for each in plain]
        fault = next((each.fault for each in plain if isinstance(each, Unknown)), None)
        if fault is None:
            try:
                return call(plain)
            except SourceFault as raised:
                fault = raised
        if any(isinstance(_plain(each), Functions | Instance) for each in (of, *given)):
            raise fault
        return _poison(fault, [of, *given])

    def _pass_over(self, fault: SourceFault, given: Sequence[Operand]) -> Unknown:
        """Return the result of a function that is not read.

        :raises SourceFault: if it is given a part of the operator, or a function that may change one
        """
        if any(_reaches(_plain(each)) for each in given):
            raise fault
        return _poison(fault, given)


def _plain(value: Operand) -> Value:
    """Return the value of a variable, and any other value as it is."""
    return value.value if isinstance(value, Variable) else value


def _store(variable: Variable, value: Value) -> bool:
    """Give a variable a value; return whether it is still there."""
    try:
        variable.set(value)
    except (LookupError, TypeError):
        return False
    return True


def _reaches(value: Value) -> bool:
    """Return whether a part of the operator can be changed through a value."""
    if isinstance(value, Position):
        value = value.owner
    if isinstance(value, list | Map):
        return any(map(_reaches, value.values() if isinstance(value, Map) else value))
    return isinstance(value, Part | Functions | Instance)


def _poison(fault: SourceFault, values: Iterable[Operand]) -> Unknown:
    """Return an unknown value, and make unknown what a call may have changed: variables, vectors and maps."""
    unknown = Unknown(fault)
    for each in values:
        value = _plain(each)
        if isinstance(each, Variable):
            _store(each, unknown)
        if isinstance(value, Position):
            value = value.owner
        if isinstance(value, list):
            _poison(fault, value)
            value[:] = [unknown]
        elif isinstance(value, Map):
            _poison(fault, value.values())
            value.clear()
            value.default = lambda: unknown
    return unknown
