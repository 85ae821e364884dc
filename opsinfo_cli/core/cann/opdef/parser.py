"""Tokens to statements and definitions. Bodies are parsed when they are run: a source may hold a lot of other code."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from functools import cached_property
from typing import ClassVar, TypeVar

from . import syntax
from .tokens import SourceFault, Token
from .values import Unknown

UNDECIDED = "#!"
"""The beginning of a token that stands for text under a condition that the sources do not decide; then the reason."""

_LONGEST_TEMPLATE = 80
"""Words of a template's list: a chain of ``<`` must not be followed to its end from each of them."""
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_NO_TEMPLATE_ARGUMENT = frozenset(
    (";", "{", "}", "&&", "||", "=", "!", "+", "-", "/", "%", "?", "==", "!=", "<=", ">=", "]", ")")
)
_QUALIFIERS = frozenset(
    (
        *("const", "constexpr", "static", "inline", "explicit", "virtual", "mutable", "typename"),
        *("volatile", "friend", "extern", "thread_local"),
    )
)
_NUMBER_TYPES = frozenset(("unsigned", "signed", "long", "short", "int", "char", "double", "float", "bool"))
_NO_TYPE = frozenset(
    (
        *("return", "delete", "new", "throw", "goto", "case", "default", "else", "break", "continue"),
        *("operator", "public", "private"),
    )
)
_AFTER_PARAMETERS = frozenset(("const", "override", "noexcept", "final"))
_CASTS = frozenset(("static_cast", "const_cast", "reinterpret_cast", "dynamic_cast"))
_LEVELS = {
    operator: level
    for level, operators in enumerate(("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<<", "+ -", "* / %"), start=1)
    for operator in operators.split()
}
_ASSIGNMENTS = {"=": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "|=": "|", "&=": "&", "^=": "^"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_LITERALS = {"true": True, "false": False, "nullptr": None}

_Result = TypeVar("_Result")


class _Text:
    """Tokens between two others, parsed on demand: a :class:`~.syntax.Fragment`."""

    def __init__(self, parser: Parser, start: int, end: int) -> None:
        self._parser, self._start, self._end = parser, start, end

    @property
    def words(self) -> list[str]:
        return self._parser.texts[self._start : self._end]

    @cached_property
    def statements(self) -> list[syntax.Statement]:
        return self._parser.at(self._start, self._end, self._parser.block)

    @cached_property
    def definitions(self) -> list[syntax.Definition]:
        return self._parser.at(self._start, self._end, self._parser.definitions)

    @cached_property
    def expression(self) -> syntax.Expression:
        """:raises SourceFault: if it is none"""
        return self._parser.at(self._start, self._end, self._parser.whole_expression)

    @cached_property
    def type(self) -> syntax.TypeName:
        """:raises SourceFault: if it is none"""
        return self._parser.at(self._start, self._end, self._parser.type_name)


class Parser:
    """:ivar texts: the words of the tokens"""

    def __init__(self, tokens: list[Token]) -> None:
        """:raises SourceFault: if the brackets do not balance"""
        self.texts = [token.text for token in tokens]
        self._places = [token.place for token in tokens]
        self._partner = _match_brackets(tokens)
        self._at, self._end = 0, len(tokens)
        self._angles: dict[int, int | None] = {}

    def whole(self) -> syntax.Fragment:
        return _Text(self, 0, len(self.texts))

    def at(self, start: int, end: int, parse: Callable[[], _Result]) -> _Result:
        """Return what ``parse`` makes of some of the tokens."""
        before = self._at, self._end
        self._at, self._end = start, end
        try:
            return parse()
        finally:
            self._at, self._end = before

    def _inside(self, parse: Callable[[], _Result]) -> _Result:
        """Return what ``parse`` makes of the text between the brackets that begin here, and go past them."""
        opening, closing = self._at, self._partner[self._at]
        self._at = closing + 1
        return self.at(opening + 1, closing, parse)

    # Words

    @property
    def _text(self) -> str:
        return self.texts[self._at] if self._at < self._end else ""

    @property
    def _place(self) -> int:
        return self._places[min(self._at, len(self._places) - 1)] if self._places else 0

    def _peek(self, ahead: int = 1) -> str:
        return self.texts[self._at + ahead] if self._at + ahead < self._end else ""

    def _next(self) -> str:
        text = self._text
        self._at += 1
        return text

    def _takes(self, *texts: str) -> bool:
        """Go past the word if it is one of these."""
        if self._text not in texts or self._at >= self._end:
            return False
        self._at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._takes(text):
            raise self._fault(f"`{text}` expected before `{self._text}`" if self._text else f"`{text}` expected")

    def _fault(self, reason: str) -> SourceFault:
        if self._text.startswith(UNDECIDED):
            reason = self._text[len(UNDECIDED) :]
        return SourceFault(reason, self._place)

    def _after_bracket(self, at: int) -> int:
        return self._partner[at] + 1

    def _skip_statement(self) -> None:
        """Go past the next ``;``, or past a body in braces."""
        while self._at < self._end:
            text = self._text
            if text in _CLOSING:
                self._at = self._after_bracket(self._at)
                if text == "{" and self._text not in (";", ",", ")", ".", "(", "="):
                    return
            elif self._next() == ";":
                return

    def _after_angles(self, at: int) -> int | None:
        """Return the index after a template's list that begins at ``at``; None if it is the operator ``<``."""
        if at not in self._angles:
            self._angles[at] = self._end_of_angles(at)
        after = self._angles[at]
        return None if after is None or after > self._end else after

    def _end_of_angles(self, at: int, allowed: Container[str] = ()) -> int | None:
        depth, end = 0, min(len(self.texts), at + _LONGEST_TEMPLATE)
        while at < end:
            text = self.texts[at]
            if text == "<":
                depth += 1
            elif text == ">":
                depth -= 1
                if depth == 0:
                    return at + 1
            elif text in ("(", "["):
                at = self._partner[at]
            elif (text in _NO_TEMPLATE_ARGUMENT and text not in allowed) or text.startswith('"'):
                return None
            at += 1
        return None

    def _template_arguments(self, start: int, end: int) -> tuple[syntax.Fragment, ...]:
        found, at, begun, depth = [], start + 1, start + 1, 0
        while at < end:
            text = self.texts[at]
            if text in ("(", "["):
                at = self._partner[at]
            elif text == "<":
                depth += 1
            elif at == end - 1 or (text == "," and depth == 0):
                if at > begun:
                    found.append(_Text(self, begun, at))
                begun = at + 1
            elif text == ">":
                depth -= 1
            at += 1
        return tuple(found)

    # Namespaces and classes

    def definitions(self) -> list[syntax.Definition]:
        found: list[syntax.Definition] = []
        while self._at < self._end:
            found += self._definition()
        return found

    def _definition(self) -> Iterator[syntax.Definition]:
        text, following = self._text, self._peek()
        if text.startswith(UNDECIDED):
            yield syntax.Undecided(self._fault(""), self._place)
            self._at += 1
        elif text in (";", "}") or (text in ("public", "private", "protected") and following == ":"):
            self._at += 1 if text in (";", "}") else 2
        elif text == "namespace" or (text == "inline" and following == "namespace"):
            yield from self._namespace()
        elif text == "extern" and following.startswith('"'):
            self._at += 2
            if self._text == "{":
                yield from self._inside(self.definitions)
        elif text == "template":
            self._at = self._end_of_angles(self._at + 1, allowed=("=",)) or self._at + 1
        elif text == "[" and following == "[":
            self._at = self._after_bracket(self._at)
        elif text == "using":
            yield from self._using()
        elif text in ("class", "struct"):
            yield from self._class()
        elif text == "enum":
            yield from self._enumeration()
        elif text in ("typedef", "static_assert", "friend", "union"):
            self._skip_statement()
        elif following == "(" and text in ("OP_ADD", "REGISTER_OP_AICORE_CONFIG"):
            chip = self._peek(4) if text != "OP_ADD" else None
            yield syntax.Register(self._peek(2), chip, self._places[self._at + 2])
            self._at = self._after_bracket(self._at + 1)
        elif following == "(" and self._is_macro():
            self._at = self._after_bracket(self._at + 1)
        else:
            yield self._function() or self.statement()

    def _is_macro(self) -> bool:
        """Return whether the call here ends without ``;``, as those of macros that define something may."""
        after = self._after_bracket(self._at + 1)
        return after < self._end and (self.texts[after].isidentifier() and self.texts[after] not in _AFTER_PARAMETERS)

    def _namespace(self) -> Iterator[syntax.Definition]:
        """Yield what a namespace defines: names are looked up by their last part, so namespaces need not be kept."""
        while self._at < self._end and self._text not in ("{", ";"):
            self._at += 1
        if self._text == "{":
            yield from self._inside(self.definitions)

    def _using(self) -> Iterator[syntax.Definition]:
        place = self._place
        if self._peek(2) == "=":
            name = self._peek()
            self._at += 3
            with suppress(SourceFault):  # the name is unknown where it is used
                yield syntax.Alias(name, self.type_name(), place)
        self._skip_statement()

    def _class(self) -> Iterator[syntax.Definition]:
        self._at += 1
        name, place = self._text, self._place
        bases: list[str] = []
        while self._at < self._end and self._text not in ("{", ";", "(", "="):
            self._at += 1
            if self._text.isidentifier() and self._peek() in (",", "{", "<"):
                bases.append(self._text)
            if self._text == "<":
                self._at = (self._after_angles(self._at) or self._at + 1) - 1
        if self._text == "{":
            opening = self._at
            self._at = self._after_bracket(opening)
            bases = [base for base in bases if base not in ("final", name)]
            yield syntax.ClassDefinition(name, bases, _Text(self, opening + 1, self._partner[opening]), place)
        else:
            self._skip_statement()

    def _enumeration(self) -> Iterator[syntax.Definition]:
        place = self._place
        while self._at < self._end and self._text not in ("{", ";"):
            self._at += 1
        if self._text == "{":
            with suppress(SourceFault):  # its names are unknown where they are used
                yield syntax.Enumeration(self._inside(self._members), place)

    def _members(self) -> list[tuple[str, syntax.Expression | None]]:
        members: list[tuple[str, syntax.Expression | None]] = []
        while self._at < self._end:
            name = self._next()
            members.append((name, self._assignment() if self._takes("=") else None))
            if self._at < self._end:
                self._expect(",")
        return members

    def _function(self) -> syntax.FunctionDefinition | None:
        """Return the function that is defined here; None for anything else, at the same place."""
        at = self._at
        while at < self._end and self.texts[at] not in (";", "{", "=", "("):
            after = self._after_angles(at) if self.texts[at] == "<" else None
            at = after or (self._after_bracket(at) if self.texts[at] == "[" else at + 1)
        if at >= self._end or self.texts[at] != "(" or at == self._at:
            return None
        name_at, closing = at - 1, self._partner[at]
        if self.texts[name_at] == "operator":
            return None
        begun, self._at = self._at, closing + 1
        while self._text in _AFTER_PARAMETERS or self._text in ("&", "&&"):
            self._at += 1
            if self._text == "(":
                self._at = self._after_bracket(self._at)
        if self._text == "->":
            while self._at < self._end and self._text not in ("{", ";"):
                self._at += 1
        try:
            initializers = self._initializers() if self._text == ":" else []
        except SourceFault:
            initializers, self._at = [], self._end
        if self._text != "{":
            self._at = begun
            return None
        body = self._body()
        parameters = self.at(at + 1, closing, self._parameters)
        name = ("~" if self.texts[name_at - 1] == "~" else "") + self.texts[name_at]
        return syntax.FunctionDefinition(name, parameters, body, initializers, self._places[name_at])

    def _body(self) -> syntax.Fragment:
        """Return the text between brackets, which are here, and go past them."""
        opening = self._at
        self._at = self._after_bracket(opening)
        return _Text(self, opening + 1, self._partner[opening])

    def _initializers(self) -> list[tuple[str, list[syntax.Expression]]]:
        found = []
        while self._takes(":", ","):
            name = self._next()
            while self._takes("::"):
                name = self._next()
            if self._text == "<":
                self._at = self._after_angles(self._at) or self._at + 1
            if self._text not in ("(", "{"):
                raise self._fault(f"`{self._text}` is not understood after `{name}`")
            found.append((name, self._items()))
        return found

    def _parameters(self) -> list[syntax.Parameter]:
        found: list[syntax.Parameter] = []
        while self._at < self._end:
            if not self._takes(","):
                found.append(self._parameter())
        return found

    def _parameter(self) -> syntax.Parameter:
        try:
            kind, is_reference = self._type_of_variable()
            name = self._next() if self._text.isidentifier() else None
            while self._text == "[":
                self._at = self._after_bracket(self._at)
            default = self._assignment() if self._takes("=") else None
            if self._at < self._end and self._text != ",":
                raise self._fault(f"`{self._text}` is not understood in a parameter")
        except SourceFault:  # a pointer to a function, a pack: no value has such a type here
            while self._at < self._end and self._text != ",":
                self._at = self._after_bracket(self._at) if self._text in _CLOSING else self._at + 1
            return syntax.Parameter(syntax.TypeName("?"), None, False, None)
        return syntax.Parameter(kind, name, is_reference, default)

    # Statements

    def block(self) -> list[syntax.Statement]:
        found = []
        while self._at < self._end:
            found.append(self.statement())
        return found

    def statement(self) -> syntax.Statement:
        """Return the next statement; one that is not understood is :class:`~.syntax.Unparsed`."""
        begun = self._at
        try:
            return self._statement()
        except SourceFault as fault:
            name = self._declared_name(begun)
            self._at = begun
            self._skip_statement()
            return syntax.Unparsed(fault, name, fault.place)

    def _declared_name(self, at: int) -> str | None:
        """Return the last name before ``=``, ``(``, ``{``, ``[`` or ``;``: what the text declares, if it declares."""
        name = None
        while at < self._end and self.texts[at] not in (";", "=", "(", "{", "["):
            if self.texts[at] == "<":
                at = (self._after_angles(at) or at + 1) - 1
            elif self.texts[at].isidentifier():
                name = self.texts[at]
            at += 1
        return name

    def _statement(self) -> syntax.Statement:
        text, place = self._text, self._place
        if text.startswith(UNDECIDED):
            raise self._fault("")
        parse = self._KEYWORDS.get(text)
        if parse is not None:
            self._at += 1
            return parse(self, place)
        if text == ";":
            self._at += 1
            return syntax.Block([], False, place)
        if text == "{":
            return syntax.Block(self._body().statements, True, place)
        declared = self._declaration()
        if declared is not None:
            return declared
        expression = self._assignment()
        statements: list[syntax.Statement] = [syntax.Evaluate(expression, place)]
        while self._takes(","):
            statements.append(syntax.Evaluate(self._assignment(), place))
        self._expect(";")
        return statements[0] if len(statements) == 1 else syntax.Block(statements, False, place)

    def _return(self, place: int) -> syntax.Statement:
        value = None if self._text == ";" else self._assignment()
        self._expect(";")
        return syntax.Return(value, place)

    def _break(self, place: int) -> syntax.Statement:
        word = self.texts[self._at - 1]
        self._expect(";")
        return syntax.Jump(word, place)

    def _throw(self, place: int) -> syntax.Statement:
        self._skip_statement()
        return syntax.Throw(place)

    def _ignored(self, place: int) -> syntax.Statement:
        """Go past ``using``, ``typedef`` and ``static_assert`` in a body: they run nothing."""
        self._skip_statement()
        return syntax.Block([], False, place)

    def _if(self, place: int) -> syntax.Statement:
        self._takes("constexpr")
        condition = self._condition()
        then = self.statement()
        otherwise = self.statement() if self._takes("else") else None
        return syntax.If(condition, then, otherwise, place)

    def _condition(self) -> syntax.Expression:
        """Return the expression in the parentheses that begin here."""
        if self._text != "(":
            raise self._fault("`(` expected")
        return self._inside(self.whole_expression)

    def _while(self, place: int) -> syntax.Statement:
        condition = self._condition()
        return syntax.Loop(None, condition, [], self.statement(), False, place)

    def _do(self, place: int) -> syntax.Statement:
        body = self.statement()
        self._expect("while")
        condition = self._condition()
        self._expect(";")
        return syntax.Loop(None, condition, [], body, True, place)

    def _for(self, place: int) -> syntax.Statement:
        if self._text != "(":
            raise self._fault("`(` expected")
        start, end = self._at + 1, self._partner[self._at]
        self._at = end + 1
        colon, semicolons, at = None, [], start
        while at < end:  # outside inner brackets
            if self.texts[at] == ";":
                semicolons.append(at)
            elif self.texts[at] == ":" and colon is None:
                colon = at
            at = self._after_bracket(at) if self.texts[at] in _CLOSING else at + 1
        if len(semicolons) == 2:
            first = self.at(start, semicolons[0] + 1, self.statement)
            condition = None
            if semicolons[1] > semicolons[0] + 1:
                condition = self.at(semicolons[0] + 1, semicolons[1], self.whole_expression)
            steps = self.at(semicolons[1] + 1, end, self._list)
            return syntax.Loop(first, condition, steps, self.statement(), False, place)
        if colon is None:
            raise SourceFault("a `for` that is not understood", place)
        declared = self.texts[start:colon]
        if "[" in declared:
            names = [word for word in declared[declared.index("[") :] if word.isidentifier()]
        else:
            names = [word for word in declared if word.isidentifier()][-1:]
        values = self.at(colon + 1, end, self.whole_expression)
        is_reference = "&" in declared or "&&" in declared
        return syntax.ForEach(names, is_reference, values, self.statement(), place)

    def _switch(self, place: int) -> syntax.Statement:
        value = self._condition()
        if self._text != "{":
            raise self._fault("`{` expected")
        labels: list[tuple[syntax.Expression | None, int]] = []
        statements: list[syntax.Statement] = []

        def parse() -> None:
            while self._at < self._end:
                if self._takes("case"):
                    labels.append((self._conditional(), len(statements)))
                    self._expect(":")
                elif self._text == "default" and self._peek() == ":":
                    self._at += 2
                    labels.append((None, len(statements)))
                else:
                    statements.append(self.statement())

        self._inside(parse)
        return syntax.Switch(value, labels, statements, place)

    _KEYWORDS: ClassVar[dict[str, Callable[[Parser, int], syntax.Statement]]] = {
        "return": _return,
        "break": _break,
        "continue": _break,
        "throw": _throw,
        "using": _ignored,
        "typedef": _ignored,
        "static_assert": _ignored,
        "if": _if,
        "for": _for,
        "while": _while,
        "do": _do,
        "switch": _switch,
    }

    def _declaration(self) -> syntax.Statement | None:
        """Return the variables that are declared here; None, at the same place, if the text declares none."""
        begun, place = self._at, self._place
        try:
            kind, is_reference = self._type_of_variable()
        except SourceFault:
            self._at = begun
            return None
        if self._text == "[" and kind.name == "auto":
            names = [word for word in self._body().words if word.isidentifier()]
            self._expect("=")
            value = self._assignment()
            self._expect(";")
            return syntax.Unpack(names, is_reference, value, place)
        if not self._text.isidentifier() or self._peek() not in ("=", "(", "{", ";", ",", "["):
            self._at = begun
            return None
        declared: list[syntax.Statement] = [self._declarator(kind, is_reference)]
        while self._takes(","):
            declared.append(self._declarator(kind, self._takes("&")))
        self._expect(";")
        return declared[0] if len(declared) == 1 else syntax.Block(declared, False, place)

    def _declarator(self, kind: syntax.TypeName, is_reference: bool) -> syntax.Declare:
        place, name = self._place, self._next()
        if self._text == "[":
            kind = syntax.TypeName(kind.name, kind.arguments, is_array=True)
        while self._text == "[":
            self._at = self._after_bracket(self._at)
        if self._takes("="):
            return syntax.Declare(kind, name, is_reference, self._assignment(), [], False, place)
        is_braced = self._text == "{"
        items = self._items() if is_braced or self._text == "(" else []
        return syntax.Declare(kind, name, is_reference, None, items, is_braced, place)

    def _type_of_variable(self) -> tuple[syntax.TypeName, bool]:
        """Return a type, and whether it is a reference."""
        kind = self.type_name()
        is_reference = False
        while self._text in ("&", "&&", "*", "const"):
            kind = kind._replace(is_pointer=kind.is_pointer or self._text == "*")
            is_reference |= self._next() in ("&", "&&")
        return kind, is_reference

    def type_name(self) -> syntax.TypeName:
        """:raises SourceFault: if there is none"""
        has_qualifier = False
        while self._text in _QUALIFIERS:
            has_qualifier = True
            self._at += 1
        if self._text in _NUMBER_TYPES:
            name = self._next()
            while self._text in _NUMBER_TYPES:
                name = self._next()
            return syntax.TypeName(name)
        if not self._text.isidentifier() or self._text in _NO_TYPE:
            raise self._fault("a type expected" if has_qualifier else f"`{self._text}` is no type")
        name = self._next()
        arguments: tuple[syntax.Fragment, ...] = ()
        while True:
            after = self._after_angles(self._at) if self._text == "<" else None
            if after is not None:
                arguments = self._template_arguments(self._at, after)
                self._at = after
            if not self._takes("::"):
                break
            if not self._text.isidentifier():
                raise self._fault("a name expected after `::`")
            name = self._next()
        while self._text == "const":
            self._at += 1
        return syntax.TypeName(name, arguments)

    # Expressions

    def whole_expression(self) -> syntax.Expression:
        expression = self._assignment()
        if self._at < self._end:
            raise self._fault(f"`{self._text}` is not understood after an expression")
        return expression

    def _items(self) -> list[syntax.Expression]:
        """Return the expressions between the brackets that begin here, and go past them."""
        return self._inside(self._list)

    def _list(self) -> list[syntax.Expression]:
        found = []
        while self._at < self._end:
            is_undecided = self._text.startswith(UNDECIDED)  # it may include the comma
            found.append(self._assignment())
            if self._at < self._end and not self._takes(",") and not (is_undecided or self._text.startswith(UNDECIDED)):
                raise self._fault(f"`{self._text}` is not understood in a list")
        return found

    def _assignment(self) -> syntax.Expression:
        target = self._conditional()
        operator = _ASSIGNMENTS.get(self._text)
        if operator is None or self._at >= self._end:
            return target
        place = self._place
        self._at += 1
        return syntax.Assign(operator, target, self._assignment(), place)

    def _conditional(self) -> syntax.Expression:
        condition, place = self._binary(1), self._place
        if not self._takes("?"):
            return condition
        then = self._assignment()
        self._expect(":")
        return syntax.Conditional(condition, then, self._assignment(), place)

    def _binary(self, least: int) -> syntax.Expression:
        left = self._unary()
        while self._at < self._end:
            operator, place = self._text, self._place
            level = _LEVELS.get(operator, 0)
            if level < least:
                break
            self._at += 1
            left = syntax.Binary(operator, left, self._binary(level + 1), place)
        return left

    def _unary(self) -> syntax.Expression:
        text, place = self._text, self._place
        if text in ("!", "-", "+", "~", "*", "&"):
            self._at += 1
            return syntax.Unary(text, self._unary(), place)
        if text in ("++", "--"):
            self._at += 1
            return syntax.Increment(1 if text == "++" else -1, self._unary(), True, place)
        return self._postfix(self._primary())

    def _postfix(self, value: syntax.Expression) -> syntax.Expression:
        while self._at < self._end:
            text, place = self._text, self._place
            if text in (".", "->"):
                self._at += 1
                self._takes("template")
                if not self._text.isidentifier():
                    raise self._fault(f"a name expected after `{text}`")
                value = syntax.Member(value, self._text, self._place)
                self._at += 1
                after = self._after_angles(self._at) if self._text == "<" else None
                if after is not None and self.texts[after : after + 1] == ["("]:
                    self._at = after
            elif text == "(":
                place = value.place if isinstance(value, syntax.Member | syntax.Name) else place
                value = syntax.Call(value, self._items(), False, place)
            elif text == "{" and isinstance(value, syntax.Name):
                value = syntax.Call(value, self._items(), True, value.place)
            elif text == "[":
                value = syntax.Index(value, self._inside(self.whole_expression), place)
            elif text in ("++", "--"):
                self._at += 1
                value = syntax.Increment(1 if text == "++" else -1, value, False, place)
            elif text == "...":
                raise self._fault("a pack of arguments is not interpreted")
            else:
                break
        return value

    def _primary(self) -> syntax.Expression:
        text, place = self._text, self._place
        if text == "":
            raise self._fault("an expression expected")
        if text.startswith(UNDECIDED):
            self._at += 1
            return syntax.Literal(Unknown(SourceFault(text[len(UNDECIDED) :], place)), place)
        if text == "(":
            return self._parentheses()
        if text == "{":
            return syntax.Braces(self._items(), place)
        if text == "[":
            return self._lambda()
        if text[0].isdigit() or (text[0] == "." and text[1:2].isdigit()):
            self._at += 1
            return syntax.Literal(_number(text, place), place)
        if text[0] == "'" and len(text) > 2:
            self._at += 1
            return syntax.Literal(_unescape(text[1:-1]), place)
        if text.endswith('"') and len(text) > 1:
            return self._string()
        if text in _LITERALS:
            self._at += 1
            return syntax.Literal(_LITERALS[text], place)
        if text in _CASTS:
            return self._cast()
        if text == "::":
            self._at += 1
        if not self._text.isidentifier() or self._text in _NO_TYPE:
            raise self._fault(f"`{text}` is not understood")
        return self._name()

    def _parentheses(self) -> syntax.Expression:
        """Return what is in parentheses; of the cast ``(T)x`` it is ``x``."""
        opening, closing = self._at, self._partner[self._at]
        self._at = closing + 1
        inside = self.texts[opening + 1 : closing]
        begins_operand = self._text[:1].isidentifier() or self._text[:1].isdigit() or self._text[:1] == '"'
        if begins_operand and inside and all(word.isidentifier() or word in ("::", "*") for word in inside):
            return self._unary()
        return self.at(opening + 1, closing, self.whole_expression)

    def _string(self) -> syntax.Expression:
        """Return adjacent strings as one."""
        place, value = self._place, ""
        while self._text.endswith('"') and len(self._text) > 1:
            prefix, _, rest = self._next().partition('"')
            if prefix.endswith("R"):
                mark, _, content = rest.partition("(")
                value += content[: -len(mark) - 2]
            else:
                value += _unescape(rest[:-1])
        return syntax.Literal(value, place)

    def _cast(self) -> syntax.Expression:
        """Return ``static_cast<T>(x)`` as the call ``T(x)`` for numbers, else as ``x``."""
        place = self._place
        self._at += 1
        after = self._after_angles(self._at) if self._text == "<" else None
        if after is None or self.texts[after : after + 1] != ["("]:
            raise self._fault("a cast that is not understood")
        words = self.texts[self._at + 1 : after - 1]
        self._at = after
        items = self._items()
        if len(items) > 1:
            raise SourceFault("a cast that is not understood", place)
        value = items[0] if items else syntax.Literal(None, place)
        if words and words[-1] in syntax.INTEGERS:
            return syntax.Call(syntax.Name((words[-1],), (), place), [value], False, place)
        return value

    def _lambda(self) -> syntax.Expression:
        place = self._place
        captures: list[list[str]] = [[]]
        for word in self._body().words:
            if word == ",":
                captures.append([])
            else:
                captures[-1].append(word)
        parameters = self._inside(self._parameters) if self._text == "(" else []
        while self._at < self._end and self._text not in ("{", ";"):
            self._at += 1
        if self._text != "{":
            raise self._fault("`{` expected")
        function = syntax.FunctionDefinition("lambda", parameters, self._body(), [], place)
        return syntax.Lambda(captures, function, place)

    def _name(self) -> syntax.Expression:
        parts: list[str] = []
        arguments: tuple[syntax.Fragment, ...] = ()
        while True:
            place = self._place
            if not self._text.isidentifier():
                raise self._fault("a name expected after `::`")
            parts.append(self._next())
            after = self._after_angles(self._at) if self._text == "<" else None
            if after is not None and self.texts[after : after + 1] and self.texts[after] in ("(", "{", "::"):
                arguments = self._template_arguments(self._at, after)
                self._at = after
            if not self._takes("::"):
                return syntax.Name(tuple(parts), arguments, place)


def _match_brackets(tokens: list[Token]) -> dict[int, int]:
    """Return the index of the closing bracket of each opening one.

    :raises SourceFault: if one has no partner
    """
    partner: dict[int, int] = {}
    open_at: list[int] = []
    for at, (text, place) in enumerate(tokens):
        if text in _CLOSING:
            open_at.append(at)
        elif text in (")", "]", "}"):
            if not open_at or _CLOSING[tokens[open_at[-1]].text] != text:
                raise SourceFault(f"`{text}` closes no bracket", place)
            partner[open_at.pop()] = at
    if open_at:
        raise SourceFault(f"`{tokens[open_at[-1]].text}` is not closed", tokens[open_at[-1]].place)
    return partner


def _number(text: str, place: int) -> int | float:
    """:raises SourceFault: if it is none that the sources use"""
    digits = text.replace("'", "").lower()
    if len(digits) > 80:
        raise SourceFault("the number is too long", place)
    try:
        if digits.startswith(("0x", "0b")):
            return int(digits.rstrip("ulz"), 0)
        if digits.rstrip("ulz").isdigit():
            octal = digits.startswith("0") and len(digits.rstrip("ulz")) > 1
            return int(digits.rstrip("ulz"), 8 if octal else 10)
        return float(digits.rstrip("fl"))
    except ValueError:
        raise SourceFault(f"the number `{text}` is not understood", place) from None


def _unescape(text: str) -> str:
    return re.sub(r"\\(.?)", lambda match: _ESCAPES.get(match[1], match[1].strip("\r\n")), text, flags=re.DOTALL)
