"""Directives: macros, conditions, and includes of files inside the folder.

System headers are not read. A condition about a macro that no file defines, or about a header of CANN, depends on the
build. It raises :class:`Undecided`, and the caller reads the source once for each answer.

Macros are replaced as the standard says (https://eel.is/c++draft/cpp.replace). Not done: the arguments of a macro do
not reach over a directive; ``#include`` of a macro, ``#error`` and all of ``#pragma`` but ``once`` have no effect;
``__LINE__``, ``__FILE__`` and ``__VA_OPT__`` are names that nobody defines; and what a build defines over the macros
of the sources (``-D``) is not known.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from ....errors import Refused
from .find import MOST_FILES, read_source
from .runner import value_of
from .tokens import Directive, SourceFault, SourceMap, Token, lex, with_blanks

MOST_TOKENS = 300_000
"""Of one source with its includes, macros expanded. The largest of 1,500 real sources has 46,000."""
DEEPEST_INCLUDE = 8
DEEPEST_CONDITION = 64
DEEPEST_MACRO = 200
MOST_INCLUDES = 400

_KNOWN = {
    "__cplusplus": "201703L",
    "__GNUC__": "12",
    "__linux__": "1",
    "NULL": "nullptr",
    **{f"INT{bits}_MAX": f"{(1 << bits - 1) - 1}" for bits in (8, 16, 32, 64)},
    **{f"INT{bits}_MIN": f"( - {1 << bits - 1} )" for bits in (8, 16, 32, 64)},
    **{f"UINT{bits}_MAX": f"{(1 << bits) - 1}U" for bits in (8, 16, 32, 64)},
    "INT_MAX": "2147483647",
    "INT_MIN": "( - 2147483648 )",
    "UINT_MAX": "4294967295U",
    "FLT_MAX": "3.402823466e+38",
    "FLT_MIN": "1.175494351e-38",
    "FLT_EPSILON": "1.192092896e-07",
}
"""Macros of the compiler and of the headers of C, as words between blanks."""
_NOWHERE = -1
"""The place of these words: in a text they are where the name of the macro is."""


class Macro(NamedTuple):
    """
    :param parameters: None for one without parentheses
    :param is_variadic: whether the last parameter takes all arguments that are left
    """

    parameters: list[str] | None
    body: list[Token]
    is_variadic: bool = False


@dataclass(eq=False, repr=False)
class Group:
    """A condition that is open.

    :param is_read: whether the text here is read
    :param was_read: whether this group or one before it under the condition is read
    """

    is_read: bool
    was_read: bool


class Undecided(Exception):
    """A condition that no file of the project decides, and about which nothing is assumed.

    :param question: what it asks: ``defining `X```
    """

    def __init__(self, question: str, place: int) -> None:
        super().__init__(question)
        self.question = question
        self.place = place


class Files:
    """Files of a project as directives and tokens, each read once for all sources.

    :ivar places: of all of them
    """

    def __init__(self, project: str) -> None:
        self._project = project
        self.places = SourceMap()
        self._parts: dict[str, list[list[Token] | Directive] | None] = {}
        self._by_name: dict[str, list[str]] | None = None

    def parts(self, path: str) -> list[list[Token] | Directive]:
        """Return the tokens and directives of a source.

        :raises Refused: if it cannot be read
        """
        text = read_source(path).decode("utf-8-sig", "replace")
        return list(lex(text, self.places.add(path, text)))

    def header(self, path: str) -> list[list[Token] | Directive] | None:
        """Return those of a header; None if it is outside the project, or cannot be read."""
        if path not in self._parts:
            try:
                text = read_source(path, self._project).decode("utf-8-sig", "replace") if os.path.isfile(path) else None
            except Refused:
                text = None
            self._parts[path] = None if text is None else list(lex(text, self.places.add(path, text)))
        return self._parts[path]

    def find(self, name: str) -> str | None:
        """Return the only file of the project whose path ends with the name of an include.

        A build finds it in a folder that its scripts name (``-I``). Headers of CANN are not looked for: what they
        define is known here.
        """
        name = os.path.normpath(name)
        if name.startswith(("..", "/", *OF_CANN)):
            return None
        if self._by_name is None:
            self._by_name, seen = {}, 0
            for parent, folders, files in os.walk(self._project):
                folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
                seen += len(files)
                if seen > MOST_FILES:  # too large to be a project
                    break
                for file in files:
                    if file.endswith((".h", ".hpp", ".inc")):
                        self._by_name.setdefault(file, []).append(os.path.join(parent, file))
        found = [path for path in self._by_name.get(os.path.basename(name), []) if path.endswith(f"/{name}")]
        return found[0] if len(found) == 1 else None


HAS_INCLUDE = "__has_include"
OF_CANN = ("register/", "graph/", "exe_graph/", "external/", "tiling/", "aclnn/", "acl/")
"""The beginnings of includes that CANN provides."""


@dataclass(eq=False, repr=False)
class Preprocessor:
    """The tokens of one source.

    :param assumed: the answers to questions that no file decides
    :param missing: names of local includes that were not found, and their places
    """

    files: Files
    assumed: Mapping[str, bool] = field(default_factory=dict)
    missing: list[tuple[str, int]] = field(default_factory=list)
    _macros: dict[str, Macro] = field(default_factory=dict)
    _once: set[str] = field(default_factory=set)
    """Headers with ``#pragma once``."""
    _open: set[str] = field(default_factory=set)
    """Headers that are being read: one that includes itself has a guard."""
    _includes: int = 0
    _budget: int = MOST_TOKENS

    def run(self, path: str) -> list[Token]:
        """:raises Refused: if the file cannot be read
        :raises SourceFault: if macros expand without end, or a condition is not closed
        :raises Undecided: if the build decides a condition
        """
        for name, text in _KNOWN.items():
            self._macros[name] = Macro(None, [Token(word, _NOWHERE) for word in text.split()])
        return self._read(self.files.parts(path), path, 0)

    def _read(self, parts: list[list[Token] | Directive], path: str, depth: int) -> list[Token]:
        found: list[Token] = []
        groups: list[Group] = []
        for at, part in enumerate(parts):
            is_read = all(group.is_read for group in groups)
            if not isinstance(part, Directive):
                if is_read:
                    found += self._expand(part)
            elif part.word.startswith(("if", "el")) or part.word == "endif":
                if part.word.startswith("if"):
                    if len(groups) >= DEEPEST_CONDITION:
                        raise SourceFault(f"more than {DEEPEST_CONDITION} conditions in each other", part.place)
                    groups.append(Group(False, not is_read))
                elif not groups:
                    raise SourceFault(f"`#{part.word}` without `#if`", part.place)
                self._change(groups, part, parts[at + 1 : at + 2], path)
            elif is_read and part.rest:
                if part.word == "define":
                    self._define(part.rest[0], part.rest[1:])
                elif part.word == "undef":
                    self._macros.pop(part.rest[0].text, None)
                elif part.word == "pragma" and part.rest[0].text == "once":
                    self._once.add(path)
                elif part.word == "pragma" and part.rest[0].text.endswith("_macro"):
                    raise SourceFault(f"`{part.rest[0].text}` is not interpreted", part.place)
                elif part.word == "include":
                    found += self._include(part, path, depth)
        if groups:
            raise SourceFault("`#if` without `#endif`", parts[-1].place if isinstance(parts[-1], Directive) else 0)
        return found

    # Conditions

    def _change(
        self, groups: list[Group], directive: Directive, following: list[list[Token] | Directive], path: str
    ) -> None:
        """Begin a group, go on to the next one, or end it."""
        group = groups[-1]
        if directive.word == "endif":
            groups.pop()
        elif group.was_read:
            group.is_read = False
        elif directive.word == "ifndef" and _defines_first(following, directive):
            group.is_read = group.was_read = not self._is_defined(directive)  # the guard of a header, or a default
        else:
            group.is_read = group.was_read = directive.word == "else" or self._condition(directive, path)

    def _is_defined(self, directive: Directive) -> bool:
        return bool(directive.rest) and directive.rest[0].text in self._macros

    def _condition(self, directive: Directive, path: str) -> bool:
        """:raises Undecided: if it depends on what only the build defines"""
        if directive.word.endswith("def"):
            known = self._is_defined(directive)
            if not known:
                known = self._answer(f"defining `{directive.rest[0].text if directive.rest else ''}`", directive.place)
            return known if directive.word in ("ifdef", "elifdef") else not known
        questions: list[str] = []
        value: object = None
        with suppress(SourceFault):
            tokens = self._expand(self._replace_defined(directive.rest, path, questions))
            value = value_of([each if _is_known(each.text) else Token("undecided", each.place) for each in tokens])
        if isinstance(value, int):
            return bool(value)
        text = " ".join(token.text for token in directive.rest)[:100]
        return self._answer(questions[0] if questions else f"fulfilling `{text}`", directive.place)

    def _answer(self, question: str, place: int) -> bool:
        if question not in self.assumed:
            raise Undecided(question, place)
        return self.assumed[question]

    def _replace_defined(self, tokens: list[Token], path: str, questions: list[str]) -> list[Token]:
        """Return a condition with 1 or 0 for ``defined(X)`` and ``__has_include``, as far as they are decided.

        A header of CANN or of the standard library may be there or not. Any other one that the project does not have
        counts as missing, as it does where only the project is built. What is not decided is added to the questions.
        """
        found: list[Token] = []
        waiting = tokens[::-1]
        while waiting:
            token = waiting.pop()
            if token.text not in ("defined", HAS_INCLUDE):
                found.append(token)
                continue
            is_call = waiting and waiting[-1].text == "("
            name = _arguments(waiting)[0][0] if is_call else [waiting.pop()] if waiting else []
            text = "".join(each.text for each in name)
            known = text in self._macros if token.text == "defined" else self._header(text, path) is not None
            question = f"{'defining' if token.text == 'defined' else 'having'} `{text}`"
            is_open = token.text == "defined" or text.startswith(("<", *(f'"{each}' for each in OF_CANN)))
            if not known and is_open and question not in self.assumed:
                questions.append(question)
                found.append(Token("undecided", token.place))
            else:
                found.append(Token(str(int(known or self.assumed.get(question, False))), token.place))
        return found

    # Other directives

    def _define(self, name: Token, body: list[Token]) -> None:
        if name.text == "OP_ADD":
            return  # the registry's own header, or a stand-in for it
        parameters, is_variadic = None, False
        if body and body[0].text == "(" and body[0].place == name.place + len(name.text):
            closing = next((at for at, token in enumerate(body) if token.text == ")"), None)
            if closing is None:
                return
            words = [token.text for token in body[1:closing]]
            is_variadic = words[-1:] == ["..."]
            if is_variadic and words[-2:-1] in ([], [","]):  # else it has a name, which is an extension: `args...`
                words[-1] = "__VA_ARGS__"
            parameters = [word for word in words if word not in (",", "...")]
            body = body[closing + 1 :]
        self._macros[name.text] = Macro(parameters, body, is_variadic)

    def _include(self, directive: Directive, path: str, depth: int) -> list[Token]:
        text = "".join(each.text for each in directive.rest)
        header = self._header(text, path)
        if header is None:
            if text.startswith('"'):
                self.missing.append((text.strip('"'), directive.place))
            return []
        if header in self._once | self._open:
            return []
        self._includes += 1
        if depth >= DEEPEST_INCLUDE or self._includes > MOST_INCLUDES:
            raise SourceFault(
                f"more than {MOST_INCLUDES} includes, or {DEEPEST_INCLUDE} in each other", directive.place
            )
        self._open.add(header)
        found = self._read(self.files.header(header) or [], header, depth + 1)
        self._open.remove(header)
        return found

    def _header(self, name: str, path: str) -> str | None:
        """Return the path of an include of a file, ``"name"`` or ``<name>``; None if the project does not have it."""
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name.strip('"')))
        if name.startswith('"') and self.files.header(beside) is not None:
            return beside
        header = self.files.find(name.strip('"<>'))
        return None if header is None or self.files.header(header) is None else header

    # Macros

    def _expand(self, tokens: list[Token]) -> list[Token]:
        """Return tokens with their macros replaced.

        What a macro becomes is looked at again with the tokens after it; the names that it came of are hidden in it.
        """
        self._spend(tokens)
        found: list[Token] = []
        waiting = tokens[::-1]
        while waiting:
            token = waiting.pop()
            macro = self._macros.get(token.text)
            if macro is None or token.text in token.hidden:
                found.append(token)
                continue
            if len(token.hidden) >= DEEPEST_MACRO:
                raise SourceFault(f"more than {DEEPEST_MACRO} macros in each other", token.place)
            hidden = token.hidden | {token.text}
            body = macro.body
            if macro.parameters is not None:
                if not waiting or waiting[-1].text != "(":
                    found.append(token)
                    continue
                arguments, closing = _arguments(waiting)
                hidden = token.hidden & closing.hidden | {token.text}
                body = self._substitute(macro, macro.parameters, arguments)
            self._spend(body)
            waiting += [
                Token(each.text, token.place if each.place == _NOWHERE else each.place, each.hidden | hidden)
                for each in reversed(body)
            ]
        return found

    def _spend(self, tokens: list[Token]) -> None:
        self._budget -= len(tokens)
        if self._budget < 0:
            raise SourceFault(f"more than {MOST_TOKENS:,} words with includes and macros", tokens[0].place)

    def _substitute(self, macro: Macro, parameters: list[str], arguments: list[list[Token]]) -> list[Token]:
        """Return the text of a macro with its arguments, ``#`` and ``##`` done.

        An argument is expanded first, but beside ``#`` and ``##``.
        """
        if macro.is_variadic:
            last = len(parameters) - 1
            arguments = [*arguments[:last], _joined(arguments[last:])]
        given = dict(zip(parameters, arguments, strict=False))
        expanded: dict[str, list[Token]] = {}
        pieces: list[list[Token]] = []
        body, at = macro.body, 0
        while at < len(body):
            token = body[at]
            before = body[at - 1].text if at else ""
            following = body[at + 1].text if at + 1 < len(body) else ""
            at += 1
            if token.text == "##":
                continue
            piece = [token]
            if token.text == "#" and following in given:
                text = with_blanks(given[following], self.files.places)
                if text is not None:  # else the blanks are not known, and `#` is left, which nobody understands
                    text = text.replace("\\", "\\\\").replace('"', '\\"')
                    piece = [Token(f'"{text}"', token.place)]
                following = body[at + 1].text if at + 1 < len(body) else ""
                at += 1
            elif token.text in given:
                piece = given[token.text]
                if "##" not in (before, following):
                    if token.text not in expanded:
                        expanded[token.text] = self._expand(piece)
                    piece = expanded[token.text]
            if before == "##" and pieces:
                left = pieces.pop()
                is_rest = macro.is_variadic and token.text == parameters[-1]
                if is_rest and [each.text for each in left] == [","]:  # an extension: the comma goes with the rest
                    piece = left + piece if piece else []
                else:
                    piece = _pasted(left, piece)
            self._spend(piece)
            pieces.append(piece)
        return [token for piece in pieces for token in piece]


def _is_known(word: str) -> bool:
    """Return whether a word of a condition has a value: a name that no macro replaces is up to the build."""
    return not word.isidentifier() or word in ("true", "false")


def _defines_first(parts: list[list[Token] | Directive], condition: Directive) -> bool:
    """Return whether the text under ``#ifndef X`` begins with ``#define X``.

    Then it is the guard of a header, which no build defines, or a default. A build that defines another value
    (``-DX=2``) is not known here, as one that defines any other word of the source; what the source says counts.
    """
    first = parts[0] if parts else None
    return (
        isinstance(first, Directive)
        and first.word == "define"
        and bool(first.rest)
        and bool(condition.rest)
        and (first.rest[0].text == condition.rest[0].text)
    )


def _arguments(waiting: list[Token]) -> tuple[list[list[Token]], Token]:
    """Take the arguments of a macro from the end of reversed tokens, which is ``(``; return them and the last token,
    which is ``)`` if there is one. Only parentheses protect a comma.
    """
    arguments: list[list[Token]] = [[]]
    token = waiting.pop()
    depth = 1
    while waiting:
        token = waiting.pop()
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            break
        if token.text == "," and depth == 1:
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments, token


def _joined(arguments: list[list[Token]]) -> list[Token]:
    """Return the arguments of ``...`` with the commas between them."""
    found: list[Token] = []
    for index, each in enumerate(arguments):
        place = each[0].place if each else 0
        found += [*([Token(",", place)] if index else []), *each]
    return found


def _pasted(left: list[Token], right: list[Token]) -> list[Token]:
    """Return ``left ## right``; an empty argument is nothing."""
    if not left or not right:
        return left + right
    return [*left[:-1], Token(left[-1].text + right[0].text, left[-1].place), *right[1:]]
