"""What the namespaces and classes of a source define: functions, variables, classes, aliases, constants, registrations.

Nothing is run here: bodies are looked at when they are called, and a variable is :class:`Lazy` until it is used.
Namespaces are not kept apart, because names are looked up by their last part. A name that means several things is
unknown. Of several functions of one name that which takes as many arguments is called, if it is the only one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from .op_definition import OpDefinition
from .source_text import NO_TYPE, Class, Declaration, SourceFunction, SourceText, TypeText, WordRange
from .tokens import NotDefined, SourceFault, Token
from .values import Functions, Scope, StepBudget, Unknown, Value

IS_MISSING = "is not defined in the project"
_NOT_OF_CLASSES = frozenset(("operator", "virtual", "override", "~"))


class Lazy(NamedTuple):
    """A variable of a namespace, which is evaluated when it is used."""

    declaration: Declaration


@dataclass(slots=True, eq=False, repr=False)
class Instance:
    """An object of a class that the sources define.

    :param scope: its members
    :param operator: what an object of a class that derives from ``OpDef`` sets
    """

    name: str
    scope: Scope
    operator: OpDefinition | None = None


class Registration(NamedTuple):
    """``OP_ADD(name)``, or ``REGISTER_OP_AICORE_CONFIG(name, chip, function)``, which declares a chip.

    :param chip: None for ``OP_ADD``
    """

    name: str
    chip: str | None
    place: int


class Definitions:
    """
    :ivar scope: what namespaces define
    :ivar classes: by name; None if there are two of it, or it has another meaning, too
    :ivar spaces: names of the namespaces and enumerations that the source defines
    :ivar parameters: names of types that templates are given, which a constant of the framework may be
    :ivar registrations: in order
    """

    def __init__(self, tokens: Sequence[Token], budget: StepBudget) -> None:
        """:raises SourceFault: if the brackets do not balance"""
        self.text = SourceText(tokens)
        self.scope = Scope()
        self.classes: dict[str, Class | None] = {}
        self.aliases: dict[str, TypeText] = {}
        self.spaces = {""}
        self.parameters: set[str] = set()
        self.registrations: list[Registration] = []
        self._budget = budget
        self._unclear: set[str] = set()
        """Names in definitions that are not understood."""
        self._imported: set[str] = set()
        """Names of other namespaces, by ``using std::max;``."""

    def add(self, part: WordRange, scope: Scope) -> list[Declaration]:
        """Add what a namespace or class defines to its scope; return its variables.

        The body of a class is read once for each object: what is not of the scope, as a class in it, is added the first
        time only.
        """
        variables: list[Declaration] = []
        before = set(scope)
        at, end = part
        while at < end:
            at = self._definition(at, end, scope, variables)
        if scope is self.scope:
            for name in scope.keys() & self._unclear:
                scope[name] = Unknown(SourceFault(f"the definition of `{name}` is not understood", self.text.places[0]))
        others = set(scope) - before  # functions, constants, and what is not understood
        given: set[str] = set()
        for each in variables:
            if self._is_declared_before(each, scope):
                continue
            if each.name in others | self._unclear or (each.name in given and each.opening):  # in two namespaces
                scope[each.name] = Unknown(self.text.fault(f"`{each.name}` is defined more than once", each.at))
                continue
            given |= {each.name} if each.opening else set()
            head = self.head(each)
            is_own = scope is not self.scope and "static" not in head
            if is_own or (each.opening and each.type.is_constant and "template" not in head):
                scope[each.name] = Lazy(each)
            elif each.opening == "(":  # a function that is only declared
                scope[each.name] = Unknown(NotDefined(f"`{each.name}` {IS_MISSING}", self.text.places[each.at]))
            else:
                reason = f"`{each.name}` is no constant with a value, so that other code may change it"
                scope[each.name] = Unknown(self.text.fault(reason, each.at))
        return variables

    def _is_declared_before(self, declared: Declaration, scope: Scope) -> bool:
        """Return whether this declares a function that is defined, too: one with the same types."""
        functions = scope.get(declared.name)
        if declared.opening != "(" or not isinstance(functions, Functions):
            return False
        types = [each.type.name for each in self.text.parameters(*declared.given)]
        return types in [[each.type.name for each in other.parameters] for other in functions.definitions]

    def tell_apart(self, types: Set[str]) -> None:
        """Make names unknown that mean several things, because namespaces are not kept apart.

        :param types: names of types of the framework and of C++
        """
        self.aliases = {name: kind for name, kind in self.aliases.items() if kind.name != name}
        meanings = Counter([*self.scope, *self.aliases, *self.classes, *self._imported])
        several = {name for name, count in meanings.items() if count > 1}
        for name in several | types & (self.aliases.keys() | self.classes.keys()):
            if name in self.aliases or name in types:
                self.aliases[name] = NO_TYPE
            if name in self.classes:
                self.classes[name] = None
            if name in self.scope:
                self.scope[name] = Unknown(SourceFault(f"`{name}` is defined more than once", self.text.places[0]))

    def head(self, declaration: Declaration | SourceFunction) -> list[str]:
        """Return the words of a declaration before its name."""
        words, start = self.text.words, declaration.at
        while start > max(0, declaration.at - 50) and words[start - 1] not in (";", "{", "}", ":"):
            start -= 1
        return words[start : declaration.at]

    def class_of(self, name: str, place: int) -> Class:
        """:raises SourceFault: if there is none, or more than one, or it is not interpreted"""
        if name not in self.classes:
            raise NotDefined(f"the class `{name}` {IS_MISSING}", place)
        of = self.classes[name]
        if of is None:
            raise SourceFault(f"`{name}` is defined more than once", place)
        words = self.text.words[slice(*of.body)]
        inherited = words[words.index("using") :][1:4:2] if "using" in words else []
        is_inheriting = inherited == [of.base, of.base] and (name, "(") not in pairwise(words)  # and has no constructor
        if of.base is None or not _NOT_OF_CLASSES.isdisjoint(words) or (inherited and not is_inheriting):
            reason = "a class with several bases, operators, virtual functions, a destructor, or `using`"
            raise SourceFault(f"{reason} is not interpreted", self.text.places[of.at])
        return of

    def resolve(self, kind: TypeText) -> TypeText:
        """Return what an alias stands for, and any other type as it is."""
        alias = self.aliases.get(kind.name)
        if alias is None:
            return kind
        return alias._replace(is_array=kind.is_array, is_pointer=kind.is_pointer or alias.is_pointer)

    def _definition(self, at: int, end: int, scope: Scope, variables: list[Declaration]) -> int:
        """Add one definition; return the index after it."""
        text, words = self.text, self.text.words
        word, following = words[at], words[at + 1]
        self._budget.spend(1, text.places[at])
        if word in ("public", "private", "protected") and following == ":":
            return at + 2
        if word == "inline" and following == "namespace":
            pass
        elif word == "namespace" or (word == "extern" and following.startswith('"') and words[at + 2] == "{"):
            head, at = at + 1, text.find(at, end, "{", ";")
            if at < end and words[at] == "{":
                self.spaces.update(words[head:at])
                inner, stop = text.inside(at)
                while inner < stop:
                    inner = self._definition(inner, stop, scope, variables)
        elif word == "extern" and following.startswith('"'):
            return at + 2
        elif word == "template":
            after = text.after_angles(at + 1, allowed=("=",)) or at + 2
            if words[after] in ("class", "struct"):
                return text.definition_end(after, end)  # its arguments would decide what it is
            self.parameters.update(words[i + 1] for i in range(at, after) if words[i] in ("typename", "class"))
            return after
        elif word == "using":
            return self._alias(at, end)
        elif word in ("class", "struct"):
            found, after = text.class_(at + 1, end)
            is_with_object = words[after].isidentifier() and words[after + 1] in (";", "=", "{", ",")
            if found and (is_with_object or scope is not self.scope):
                raise text.fault("a class in a class, or with an object of it, is not interpreted", after)
            if found:
                is_one = self.classes.get(found.name, found) == found  # the body of a class is read for each object
                self.classes[found.name] = found if is_one else None
            return after
        elif word == "enum":
            head, at = at + 1, text.find(at, end, "{", ";")
            if at < end and words[at] == "{":
                self.spaces.update(words[head:at][:2])  # `enum class Name : type`
                self._constants(text.inside(at), scope)
        elif word == "typedef":
            after = text.definition_end(at, end)
            self.aliases[text.declared_name(at, after) or ""] = NO_TYPE
            return after
        elif word in ("static_assert", "friend"):
            return text.definition_end(at, end)
        elif following == "(" and word in ("OP_ADD", "REGISTER_OP_AICORE_CONFIG"):
            chip = words[at + 4] if word != "OP_ADD" else None
            self.registrations.append(Registration(words[at + 2], chip, text.places[at + 2]))
            return text.after(at + 1)
        elif following == "(" and text.is_macro(at) and word not in self.classes:
            return text.after(at + 1)
        elif word not in ("[", ";", "{", "}", "("):
            return self._function_or_variable(at, end, scope, variables)
        return text.after(at)

    def _function_or_variable(self, at: int, end: int, scope: Scope, variables: list[Declaration]) -> int:
        found = self.text.function(at, end)
        if found is not None:
            function, after = found
            others = scope.setdefault(function.name, Functions([], scope))
            if isinstance(others, Functions) and all(other.at != function.at for other in others.definitions):
                others.definitions.append(function)
            return after
        stop = self.text.find(at, end, ";")
        declared = self.text.declarations(at, stop)
        variables += declared
        if declared:
            return stop + 1
        after = self.text.definition_end(at, end)
        if self.text.words[after - 3 : after - 1] in (["=", "delete"], ["=", "default"]):
            return after
        unknown = Unknown(self.text.fault("a definition that is not understood", at))
        scope[self.text.declared_name(at, after) or ""] = unknown
        stop = after if self.text.words[at] == "union" else self.text.find(at, after, ";", "=", "{")
        named = set(self.text.words[at:stop])  # it may define each of them
        if scope is self.scope:
            self._unclear |= named
        else:
            scope.update(dict.fromkeys(named & self.scope.keys(), unknown))
        return after

    def _alias(self, at: int, end: int) -> int:
        """Note ``using name = type;``; return the index after it.

        A reference, a template, and what has two meanings is a type that is not read.
        """
        stop = self.text.find(at, end, ";")
        if self.text.words[at + 1] != "namespace" and self.text.words[at + 2] != "=":
            self._imported.add(self.text.words[stop - 1])
        if self.text.words[at + 2] == "=":
            name, kind = self.text.words[at + 1], self.text.whole_type(at + 3, stop)
            is_one = self.aliases.get(name, kind) == kind and self.text.words[at - 1] != ">"  # no template
            self.aliases[name] = NO_TYPE if kind.is_reference or not is_one else kind
        return stop + 1

    def _constants(self, part: WordRange, scope: Scope) -> None:
        """Add the constants of an enumeration; one that is given more than a plain number is unknown."""
        value: Value = -1
        for first, stop in self.text.split(*part):
            name = self.text.words[first]
            if stop - first == 3 and self.text.words[first + 2].isdecimal():
                value = self.text.number(first + 2)
            elif stop - first == 1 and isinstance(value, int):
                value += 1
            else:
                value = Unknown(self.text.fault(f"the value of `{name}` is not understood", first))
            if name in scope and scope[name] != value:
                value = Unknown(self.text.fault(f"`{name}` is defined more than once", first))
            scope[name] = value
