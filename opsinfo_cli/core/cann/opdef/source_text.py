"""Where the parts of a source end: brackets, template lists, items, operands, statements, and heads of definitions.

Nothing is parsed in advance: a source may hold a lot of other code, and bodies are looked at when they are run. A part
is the index of its first word and that after its last.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from .tokens import SourceFault, Token

WordRange = tuple[int, int]

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_LOOK_AHEAD = 5
_LONGEST_TEMPLATE = 80
"""Words of a template's list: a chain of ``<`` must not be followed to its end from each of them."""
_NO_TEMPLATE_ARGUMENT = frozenset(
    (";", "{", "}", "&&", "||", "=", "!", "+", "-", "/", "%", "?", "==", "!=", "<=", ">=", "]", ")")
)
_AFTER_TEMPLATE = frozenset(("(", "{", "::", ")", ",", ";", "]", "}", ""))
"""What follows a template's list in an expression: in ``a < b > c`` there is none."""
_QUALIFIERS = frozenset(
    (
        *("const", "constexpr", "static", "inline", "explicit", "virtual", "mutable", "typename"),
        *("volatile", "friend", "extern", "thread_local"),
    )
)
_NUMBER_TYPES = ("char", "short", "unsigned", "double", "float", "bool", "long", "int", "signed")
"""Of several of these words the first here is what the number may hold at most: ``unsigned short int``."""
_NO_NAME = frozenset(
    (
        *("return", "delete", "new", "throw", "goto", "case", "default", "else", "break", "continue"),
        *("operator", "public", "private", "try", "catch"),
    )
)
_AFTER_PARAMETERS = frozenset(("const", "override", "noexcept", "final"))
ASSIGNMENTS = {"=": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "|=": "|", "&=": "&", "^=": "^"}
_LEVELS = {
    operator: level
    for level, operators in enumerate(
        (" ".join(ASSIGNMENTS), "?", "||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<<", "+ -", "* / %")
    )
    for operator in operators.split()
}
_FROM_THE_RIGHT = 1
"""Assignments and `?` take what is right of the first of them; operators of other levels what is left of the last."""


class TypeText(NamedTuple):
    """``const std::vector<ge::DataType>&``: name ``vector``, one argument, a reference.

    :param name: without namespaces; ``auto`` if it is deduced
    :param is_array: ``const char* chips[]``
    :param is_pointer: what it points to is shared, not copied
    :param is_changeable: a reference without ``const``, to a variable
    :param is_constant: what it declares cannot change; of a pointer it is not enough that what it points to cannot
    """

    name: str
    arguments: tuple[WordRange, ...] = ()
    is_reference: bool = False
    is_pointer: bool = False
    is_array: bool = False
    is_changeable: bool = False
    is_constant: bool = False


NO_TYPE = TypeText("?")
"""The type of a text that is none, which no value has."""


class Declaration(NamedTuple):
    """``T name = value``, ``T name(items)``, ``T name{items}``, ``T name``.

    :param at: the index of the name
    :param opening: ``=``, ``(`` or ``{``; empty without a value
    :param given: the value, or the items
    """

    type: TypeText
    name: str
    at: int
    opening: str
    given: WordRange


class Parameter(NamedTuple):
    """:param default: None without one"""

    type: TypeText
    name: str | None
    default: WordRange | None


class SourceFunction(NamedTuple):
    """:param initializers: of a constructor: what it gives to bases and members
    :param returns: the type that it returns; ``?`` if it is not understood
    :param at: the index of the name
    """

    name: str
    parameters: Sequence[Parameter]
    body: WordRange
    initializers: Sequence[tuple[str, WordRange]]
    returns: TypeText
    at: int


class Class(NamedTuple):
    """
    :param base: empty without one; None for several
    :param at: the index of the name
    """

    name: str
    base: str | None
    body: WordRange
    at: int


class SourceText:
    """
    :ivar words: those of the source, and some empty ones, so that the end needs no checks
    :ivar places: of the words
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
        """:raises SourceFault: if the brackets do not balance"""
        self.words = [token.text for token in tokens]
        self.places = [token.place for token in tokens]
        self._partner: dict[int, int] = {}
        self._operators: dict[WordRange, int | None] = {}
        self._angles: dict[int, int | None] = {}
        open_at: list[int] = []
        for at, word in enumerate(self.words):
            if word in _CLOSING:
                open_at.append(at)
            elif word in (")", "]", "}"):
                if not open_at or _CLOSING[self.words[open_at[-1]]] != word:
                    raise SourceFault(f"`{word}` closes no bracket", self.places[at])
                self._partner[open_at.pop()] = at
        if open_at:
            raise self.fault(f"`{self.words[open_at[-1]]}` is not closed", open_at[-1])
        self.words += [""] * _LOOK_AHEAD
        self.places += [self.places[-1] if self.places else 0] * _LOOK_AHEAD

    def fault(self, reason: str, at: int) -> SourceFault:
        return SourceFault(reason, self.places[at])

    # Brackets and lists

    def after(self, at: int) -> int:
        """Return the index after a word; of an opening bracket that after the closing one."""
        return self._partner.get(at, at) + 1

    def inside(self, at: int) -> WordRange:
        """Return what is between the brackets that begin here.

        :raises SourceFault: if none do
        """
        if at not in self._partner:
            raise self.fault(f"a bracket expected before `{self.words[at]}`", at)
        return at + 1, self._partner[at]

    def after_angles(self, at: int, allowed: Container[str] = ()) -> int | None:
        """Return the index after a template's list that begins here; None if it is the operator ``<``."""
        if at not in self._angles:
            self._angles[at] = self._end_of_angles(at, allowed)
        return self._angles[at]

    def _end_of_angles(self, at: int, allowed: Container[str]) -> int | None:
        depth, end = 0, min(len(self.words), at + _LONGEST_TEMPLATE)
        while at < end:
            word = self.words[at]
            if word == "<":
                depth += 1
            elif word == ">":
                depth -= 1
                if depth == 0:
                    return at + 1
            elif word in ("(", "["):
                at = self._partner[at]
            elif (word in _NO_TEMPLATE_ARGUMENT and word not in allowed) or word.startswith('"'):
                return None
            at += 1
        return None

    def _past(self, at: int, of_types: bool = False) -> int:
        """Return the index after a word, bracket or template's list.

        :param of_types: whether anything may follow a list
        """
        after = self.after_angles(at) if self.words[at] == "<" else None
        if after is not None and (of_types or self.words[after] in _AFTER_TEMPLATE):
            return after
        return self._partner.get(at, at) + 1

    def find(self, start: int, end: int, *words: str) -> int:
        """Return the index of the first of some words outside brackets; ``end`` if there is none."""
        while start < end and self.words[start] not in words:
            start = self._past(start)
        return min(start, end)

    def split(self, start: int, end: int, of_types: bool = False) -> Iterator[WordRange]:
        """Yield the items between commas."""
        while start < end:
            stop = start
            while stop < end and self.words[stop] != ",":
                stop = self._past(stop, of_types)
            if start < stop:
                yield start, min(stop, end)
            start = stop + 1

    def operator(self, start: int, end: int) -> int | None:
        """Return the index of the operator that an expression applies last; None if there is none."""
        key = start, end
        if key not in self._operators:
            self._operators[key] = self._last_operator(start, end)
        return self._operators[key]

    def _last_operator(self, at: int, end: int) -> int | None:
        found, lowest = None, len(_LEVELS)
        has_operand = False
        while at < end:
            word = self.words[at]
            level = _LEVELS.get(word) if has_operand else None
            following = self._past(at)
            if level is not None and following == at + 1:
                if level < lowest or (level == lowest > _FROM_THE_RIGHT):
                    found, lowest = at, level
                has_operand = False
            elif word not in ("++", "--"):
                has_operand = word not in ("!", "~") and (has_operand or word not in _LEVELS)
            at = following
        return found

    def statement_end(self, at: int, end: int) -> int:
        """Return the index after a statement.

        :raises SourceFault: if it is none that is interpreted
        """
        word = self.words[at]
        if word == "try" or self.words[at : at + 2] == ["[", "["]:
            raise self.fault("`try`, or an attribute of a statement, is not interpreted", at)
        if word == "{":
            return self.after(at)
        if word in ("if", "for", "while", "switch"):
            at = self.statement_end(self.after(self.find(at, end, "(")), end)
            is_followed = word == "if" and at < end and self.words[at] == "else"
            return self.statement_end(at + 1, end) if is_followed else at
        if word == "do":
            at = self.statement_end(at + 1, end)
        return min(self.find(at, end, ";") + 1, end)

    def definition_end(self, at: int, end: int) -> int:
        """Return the index after a definition that is not understood: after its ``;``, or its body in braces."""
        while at < end:
            word, at = self.words[at], self.after(at)
            if word == ";" or (word == "{" and self.words[at] not in (";", ",", ")", ".", "(", "=")):
                return at
        return end

    # Types and heads

    def type(self, at: int, end: int) -> tuple[TypeText, int] | None:
        """Return the type that begins here, and the index after it; None if there is none."""
        words, first = self.words, at
        while at < end and words[at] in _QUALIFIERS:
            at += 1
        arguments: tuple[WordRange, ...] = ()
        start = at
        while at < end and words[at] in _NUMBER_TYPES:
            at += 1
        name = min(words[start:at], key=_NUMBER_TYPES.index, default="")
        while not name or (at < end and words[at] == "::"):
            at += words[at] == "::"
            if at >= end or not words[at].isidentifier() or words[at] in _NO_NAME:
                return None
            name, at = words[at], at + 1
            if words[at] == "<" and (after := self.after_angles(at)) is not None and after <= end:
                arguments, at = tuple(self.split(at + 1, after - 1, of_types=True)), after
        around = []
        while at < end and words[at] in ("&", "&&", "*", "const"):
            around.append(words[at])
            at += 1
        is_changeable = "&" in around and "const" not in words[first:at]
        is_reference = "&" in around or "&&" in around
        own = words[first:start] + around  # of a pointer what follows the last `*`
        own = own[len(own) - own[::-1].index("*") :] if "*" in own else own
        is_constant = "const" in own or "constexpr" in words[first:start]
        return TypeText(name, arguments, is_reference, "*" in around, False, is_changeable, is_constant), at

    def whole_type(self, start: int, end: int) -> TypeText:
        """Return the type that a text is; ``?``, which no value has, if it is none."""
        typed = self.type(start, end)
        return typed[0] if typed is not None and typed[1] == end else NO_TYPE

    def declarations(self, at: int, end: int) -> list[Declaration]:
        """Return what a statement declares, which ends with ``;`` at ``end``; nothing if it is another statement."""
        typed = self.type(at, end)
        if typed is None:
            return []
        kind, at = typed
        found: list[Declaration] = []
        while at < end:
            name, name_at, at = self.words[at], at, at + 1
            if found and (kind.is_reference or kind.is_pointer):
                return []  # `T &a, b`: the second is none
            opening = self.words[at]
            if not name.isidentifier() or opening not in ("=", "(", "{", "[", ",", ";"):
                return []
            of, sizes = kind._replace(is_array=opening == "["), list[WordRange]()
            while self.words[at] == "[":
                sizes.append(self.inside(at))
                at = self.after(at)
            opening = self.words[at] if self.words[at] in ("=", "(", "{") else ""
            given = at, at
            if opening == "=":
                given = at + 1, self.find(at + 1, end, ",")
                at = given[1]
            elif opening:
                given, at = self.inside(at), self.after(at)
            if at < end and self.words[at] != ",":
                return []
            if sizes and opening and not self._is_whole(sizes[0], given):
                of = of._replace(name="?")
            found.append(Declaration(of, name, name_at, opening, given))
            at += 1
        return found

    def _is_whole(self, size: WordRange, given: WordRange) -> bool:
        """Return whether an array is given as many items as it has."""
        items = self.inside(given[0]) if self.words[given[0]] == "{" and self.after(given[0]) == given[1] else given
        return size[0] == size[1] or self.words[slice(*size)] == [str(len([*self.split(*items)]))]

    def is_macro(self, at: int) -> bool:
        """Return whether ``name(...)`` is taken for a macro that defines something, and may end without ``;``."""
        following = self.words[self.after(at + 1)]
        return self.words[at].isidentifier() and following.isidentifier() and following not in _AFTER_PARAMETERS

    def declared_name(self, at: int, end: int) -> str | None:
        """Return the name that a text declares which is not understood, if it declares one."""
        stop = self.find(at, end, ";", "=", "(", "{", "[")
        names = [word for word in self.words[at:stop] if word.isidentifier()]
        return names[-1] if names else None

    def function(self, start: int, end: int) -> tuple[SourceFunction, int] | None:
        """Return the function that is defined here, and the index after it; None if there is none."""
        words, at, named = self.words, start, start
        while at < end and words[at] not in (";", "{", "=", "("):
            named = named if words[at] == "<" else at  # of a template with arguments its name
            at = self._past(at, of_types=True)
        if at >= end or words[at] != "(" or at == start or "operator" in words[start:at]:
            return None
        returns = self.whole_type(start, named)
        opening, at = at, self.after(at)
        while words[at] in _AFTER_PARAMETERS or words[at] in ("&", "&&"):
            at = self.after(at + 1) if words[at + 1] == "(" else at + 1
        if words[at] == "->":
            arrow, at = at, self.find(at, end, "{", ";")
            returns = self.whole_type(arrow + 1, at)
        initializers = []
        while words[at] in (":", ",") and at < end:
            at, name = at + 1, ""
            while at < end and words[at] not in ("(", "{"):
                name = words[at] if words[at].isidentifier() else name
                at = self._past(at, of_types=True)
            if at >= end:
                return None
            initializers.append((name, self.inside(at)))
            at = self.after(at)
        if at >= end or words[at] != "{":
            return None
        name = "~" * (words[named - 1] == "~") + words[named]
        parameters = self.parameters(*self.inside(opening))
        return SourceFunction(name, parameters, self.inside(at), initializers, returns, opening - 1), self.after(at)

    def parameters(self, start: int, end: int) -> list[Parameter]:
        return [self._parameter(*part) for part in self.split(start, end, of_types=True)]

    def _parameter(self, start: int, end: int) -> Parameter:
        typed = self.type(start, end)
        if typed is not None:
            kind, at = typed
            name = self.words[at] if at < end and self.words[at].isidentifier() else None
            at += name is not None
            if at == end:
                return Parameter(kind, name, None)
            if self.words[at] == "=":
                return Parameter(kind, name, (at + 1, end))
        return Parameter(NO_TYPE, None, None)  # an array, a pointer to a function, a pack

    def class_(self, at: int, end: int) -> tuple[Class | None, int]:
        """Return the class that is defined behind ``class``, and the index after it; None if it is only declared."""
        name, head = self.words[at], at
        bases = []
        while at < end and self.words[at] not in ("{", ";", "(", "="):
            at += 1
            if self.words[at].isidentifier() and self.words[at + 1] in (",", "{", "<"):
                bases.append(self.words[at])
            if self.words[at] == "<":
                at = (self.after_angles(at) or at + 1) - 1
        if at >= end or self.words[at] != "{":
            return None, self.definition_end(at, end)
        bases = [base for base in bases if base not in ("final", name)]
        base = "" if not bases else bases[0] if len(bases) == 1 else None
        return Class(name, base, self.inside(at), head), self.after(at)

    # Literals

    def string(self, at: int, end: int) -> tuple[str, int]:
        """Return adjacent strings as one, and the index after them.

        :raises SourceFault: if an escape is none that the sources use
        """
        value = ""
        while at < end and self.words[at].endswith('"') and len(self.words[at]) > 1:
            prefix, _, rest = self.words[at].partition('"')
            if prefix.endswith("R"):
                mark, _, content = rest.partition("(")
                value += content[: -len(mark) - 2]
            else:
                try:
                    value += unescaped(rest[:-1])
                except LookupError:
                    raise self.fault(f"an escape in `{self.words[at]}` is not interpreted", at) from None
            at += 1
        return value, at

    def number(self, at: int) -> int | float:
        """:raises SourceFault: if it is none that the sources use"""
        digits = self.words[at].replace("'", "").lower()
        if len(digits) > 80 or "_" in digits:
            raise self.fault("a number that is not understood", at)
        try:
            if digits.startswith(("0x", "0b")):
                return int(digits.rstrip("ulz"), 0)
            if (plain := digits.rstrip("ulz")).isdigit():
                return int(plain, 8 if plain.startswith("0") and len(plain) > 1 else 10)
            return float(digits.rstrip("fl"))
        except ValueError:
            raise self.fault(f"the number `{self.words[at]}` is not understood", at) from None


_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_ESCAPES |= {sign: sign for sign in "\\\"'?"}


def unescaped(text: str) -> str:
    """:raises LookupError: if a character is written as a number, which may be a NUL, or as none that C++ has"""
    return _ESCAPE.sub(lambda match: _ESCAPES[match[1]], text) if "\\" in text else text
