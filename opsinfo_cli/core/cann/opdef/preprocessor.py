"""Directives: macros, conditions, and includes of files inside the folder.

System headers are not read. A condition about a macro that no file defines is up to the build, so the text under it
becomes one token that nobody understands: whatever uses it is unreadable, and says why.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ....errors import Refused
from .find import MOST_FILES, read_source
from .runner import value_of
from .source_text import UNDECIDED
from .tokens import Directive, SourceFault, SourceMap, Token, lex

MOST_TOKENS = 300_000
"""Of one source with its includes, macros expanded. The largest of 1,500 real sources has 46,000."""
DEEPEST_INCLUDE = 8
DEEPEST_CONDITION = 64
MOST_INCLUDES = 100

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
    """:param parameters: None for one without parentheses"""

    parameters: list[str] | None
    body: list[Token]


@dataclass(eq=False, repr=False)
class Group:
    """A condition that is open.

    :param is_read: whether the text here is read
    :param was_read: whether this group or one before it under the condition is read
    :param undecided: whether the build chooses the group
    """

    is_read: bool
    was_read: bool
    undecided: bool = False


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


OF_CANN = ("register/", "graph/", "exe_graph/", "external/", "tiling/", "aclnn/", "acl/")
"""The beginnings of includes that CANN provides."""


@dataclass(eq=False, repr=False)
class Preprocessor:
    """The tokens of one source.

    :param searches: whether an include that is not beside the file is looked for in the whole project, which takes time
    :param assumed: macros of the build, and whether they are assumed to be defined
    :param undecided: macros that conditions ask for and no file defines
    :param missing: names of local includes that were not found, and their places
    """

    files: Files
    searches: bool = False
    assumed: Mapping[str, bool] = field(default_factory=dict)
    undecided: set[str] = field(default_factory=set)
    missing: list[tuple[str, int]] = field(default_factory=list)
    _macros: dict[str, Macro] = field(default_factory=dict)
    _included: set[str] = field(default_factory=set)
    _budget: int = MOST_TOKENS

    def run(self, path: str) -> list[Token]:
        """:raises Refused: if the file cannot be read
        :raises SourceFault: if macros expand without end, or a condition is not closed
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
                elif any(group.undecided for group in groups):
                    found += _registrations(part)
            elif part.word.startswith(("if", "el")) or part.word == "endif":
                if part.word.startswith("if"):
                    if len(groups) >= DEEPEST_CONDITION:
                        raise SourceFault(f"more than {DEEPEST_CONDITION} conditions in each other", part.place)
                    groups.append(Group(False, not is_read))
                elif not groups:
                    raise SourceFault(f"`#{part.word}` without `#if`", part.place)
                found += self._change(groups, part, parts[at + 1 : at + 2], path)
            elif is_read and part.rest:
                if part.word == "define":
                    self._define(part.rest[0], part.rest[1:])
                elif part.word == "undef":
                    self._macros.pop(part.rest[0].text, None)
                elif part.word == "include" and part.rest[0].text.startswith('"'):
                    found += self._include(part, path, depth)
        if groups:
            raise SourceFault("`#if` without `#endif`", parts[-1].place if isinstance(parts[-1], Directive) else 0)
        return found

    # Conditions

    def _change(
        self, groups: list[Group], directive: Directive, following: list[list[Token] | Directive], path: str
    ) -> list[Token]:
        """Begin a group, go on to the next one, or end it; return a mark if the build decides whether it is read."""
        group = groups[-1]
        if directive.word == "endif":
            groups.pop()
        elif group.was_read:
            group.is_read = False
        else:
            value: bool | None
            if directive.word == "ifndef" and _defines_first(following, directive):
                value = not self._is_defined(directive)  # the guard of a header, or a default
            else:
                value = directive.word == "else" or self._condition(directive, path)
            group.is_read, group.was_read, group.undecided = bool(value), value is not False, value is None
            if value is None:
                text = " ".join(["#" + directive.word, *(token.text for token in directive.rest)])[:100]
                return [Token(f"{UNDECIDED}`{text}`: no file of the project decides it", directive.place)]
        return []

    def _is_defined(self, directive: Directive) -> bool:
        return bool(directive.rest) and directive.rest[0].text in self._macros

    def _condition(self, directive: Directive, path: str) -> bool | None:
        """Return whether a condition holds; None if it depends on what only the build defines."""
        if directive.word.endswith("def"):
            known = True if self._is_defined(directive) else self._assumption(directive.rest[:1])
            return known if known is None or directive.word in ("ifdef", "elifdef") else not known
        try:
            value = value_of(self._expand(self._replace_defined(directive.rest, path)))
        except SourceFault:
            return None
        return bool(value) if isinstance(value, int) else None

    def _assumption(self, name: list[Token]) -> bool | None:
        """Return whether a macro that no file defines is assumed to be defined; None if nothing is assumed."""
        self.undecided.update(token.text for token in name)
        return self.assumed.get(name[0].text) if name else None

    def _replace_defined(self, tokens: list[Token], path: str) -> list[Token]:
        """Return a condition with 1 for ``defined(X)`` if X is defined, and with 1 or 0 for ``__has_include``.

        A file that the project does not have counts as missing, as it does where only the project is built.
        """
        found: list[Token] = []
        waiting = iter(tokens)
        for token in waiting:
            if token.text not in ("defined", "__has_include"):
                found.append(token)
                continue
            name = next(waiting, token)
            if name.text == "(":
                name = next(waiting, token)
                while name.text != ")" and next(waiting, _CLOSE).text != ")":
                    pass
            if token.text == "defined":
                known = True if name.text in self._macros else self._assumption([name])
                found.append(Token("undecided" if known is None else str(int(known)), token.place))
            else:
                is_there = name.text.startswith('"') and self._header(name.text, path) is not None
                found.append(Token(str(int(is_there)), token.place))
        return found

    # Other directives

    def _define(self, name: Token, body: list[Token]) -> None:
        if name.text == "OP_ADD":
            return  # the registry's own header, or a stand-in for it
        parameters = None
        if body and body[0].text == "(" and body[0].place == name.place + len(name.text):
            closing = next((at for at, token in enumerate(body) if token.text == ")"), None)
            if closing is None:
                return
            parameters = [token.text for token in body[1:closing] if token.text != ","]
            body = body[closing + 1 :]
        self._macros[name.text] = Macro(parameters, body)

    def _include(self, directive: Directive, path: str, depth: int) -> list[Token]:
        name = directive.rest[0].text.strip('"')
        header = self._header(name, path)
        if header is None:
            self.missing.append((name, directive.place))
            return []
        if header in self._included:
            return []
        if depth >= DEEPEST_INCLUDE or len(self._included) >= MOST_INCLUDES:
            raise SourceFault(
                f"more than {MOST_INCLUDES} includes, or {DEEPEST_INCLUDE} in each other", directive.place
            )
        self._included.add(header)
        return self._read(self.files.header(header) or [], header, depth + 1)

    def _header(self, name: str, path: str) -> str | None:
        """Return the path of an include of a file; None if the project does not have it."""
        name = name.strip('"')
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if self.files.header(beside) is not None:
            return beside
        header = self.files.find(name) if self.searches else None
        return None if header is None or self.files.header(header) is None else header

    # Macros

    def _expand(self, tokens: list[Token], busy: frozenset[str] = frozenset()) -> list[Token]:
        """Return tokens with their macros expanded.

        :param busy: macros that are being expanded: they do not expand in their own text
        """
        found: list[Token] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            at += 1
            macro = self._macros.get(token.text)
            if macro is None or token.text in busy:
                found.append(token)
            elif macro.parameters is None:
                body = [each if each.place != _NOWHERE else Token(each.text, token.place) for each in macro.body]
                found += self._expand(body, busy | {token.text})
            elif at < len(tokens) and tokens[at].text == "(":
                arguments, at = _arguments(tokens, at)
                body = _substitute(macro.parameters, macro.body, arguments)
                found += self._expand(body, busy | {token.text})
            else:
                found.append(token)
        self._budget -= len(tokens)
        if self._budget < 0:
            raise SourceFault(
                f"more than {MOST_TOKENS:,} words with includes and macros", tokens[0].place if tokens else 0
            )
        return found


def _defines_first(parts: list[list[Token] | Directive], condition: Directive) -> bool:
    """Return whether the text under ``#ifndef X`` begins with ``#define X``."""
    first = parts[0] if parts else None
    return (
        isinstance(first, Directive)
        and first.word == "define"
        and bool(first.rest)
        and bool(condition.rest)
        and (first.rest[0].text == condition.rest[0].text)
    )


def _registrations(tokens: list[Token]) -> list[Token]:
    """Return the registrations in a text that is not read, so that their op types can be named as unreadable."""
    found: list[Token] = []
    for at, token in enumerate(tokens):
        if token.text == "OP_ADD" and [each.text for each in tokens[at + 1 : at + 4 : 2]] == ["(", ")"]:
            found += [*tokens[at : at + 4], Token(";", token.place)]
    return found


def _arguments(tokens: list[Token], at: int) -> tuple[list[list[Token]], int]:
    """Return what a macro is given between the parentheses at ``at``, and the index after them.

    Only parentheses protect a comma.
    """
    arguments: list[list[Token]] = [[]]
    depth = 0
    while at < len(tokens):
        token = tokens[at]
        depth += (token.text == "(") - (token.text == ")")
        at += 1
        if depth == 0:
            break
        if token.text == "," and depth == 1:
            arguments.append([])
        elif depth > 1 or token.text != "(":
            arguments[-1].append(token)
    return arguments, at


def _substitute(parameters: list[str], body: list[Token], arguments: list[list[Token]]) -> list[Token]:
    """Return the text of a macro with its arguments, ``#`` and ``##`` done."""
    given = dict(zip(parameters, arguments, strict=False))
    if parameters and parameters[-1] == "...":
        rest = arguments[len(parameters) - 1 :]
        given["__VA_ARGS__"] = [
            token
            for index, each in enumerate(rest)
            for token in ([Token(",", each[0].place if each else 0)] if index else []) + each
        ]
    found: list[Token] = []
    at = 0
    while at < len(body):
        token = body[at]
        following = body[at + 1].text if at + 1 < len(body) else ""
        if token.text == "#" and following in given:
            text = " ".join(each.text for each in given[following]).replace("\\", "\\\\").replace('"', '\\"')
            found.append(Token(f'"{text}"', token.place))
            at += 2
        elif token.text == "##" and found and following:
            right = given.get(following, [body[at + 1]])
            left = found.pop()
            found += [Token(left.text + (right[0].text if right else ""), left.place), *right[1:]]
            at += 2
        else:
            found += given.get(token.text, [token])
            at += 1
        if len(found) > MOST_TOKENS:
            break  # the caller refuses it
    return found


_CLOSE = Token(")", 0)
