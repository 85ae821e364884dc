"""Commands of a shell script as the shell would run them, as far as the text alone shows it, with places.

Arrays, variables with a literal value, and their defaults are replaced. What depends on anything else is unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Generator, Iterator
from itertools import count
from typing import NamedTuple, TypeAlias

_Path: TypeAlias = tuple[int, ...]
"""The blocks around a command, the outermost first: bodies of loops, branches and functions."""
_LONGEST_QUOTE = 5000
_MOST_PARTS = 1500
"""The most words that the value of a variable, or a command, has."""
_MOST_REPLACED = 100_000
"""The most parts of words that are looked at before variables count as unknown."""
_DEEPEST = 100
"""The most blocks around a command that are told apart."""
_MOST_VALUES = 50
"""The most values of a variable, under conditions, that are considered."""
_TOKEN = re.compile(
    r"(?P<blank>(?:[ \t\r]|\\\r?\n)+)"
    r"|(?P<comment>(?<![^\s;&|()])\#[^\n]*)"
    r"|<<-?[ \t]*(?P<quote>[\"']?)(?P<document>\w+)(?P=quote)"
    r"|(?P<redirect>\d?[<>]{1,2}(?:&[\d-]|\|)?|&>>?)"
    r"|(?P<end>[\n;&|()]+)"
    rf"|\\\"(?P<escaped>[^\"\\\n]{{0,{_LONGEST_QUOTE}}})\\\""
    rf"|\$?\"(?P<double>(?:[^\"\\]|\\.){{0,{_LONGEST_QUOTE}}})\""
    rf"|\$?'(?P<single>[^']{{0,{_LONGEST_QUOTE}}})'"
    r"|\\(?P<escape>.)"
    r"|(?P<computed>\$\([^()\n]{0,500}\)|`[^`\n]{0,500}`|\$\{[^{}\n]{0,200}\}|\$\w+|\$[@*\#?!$-]?)"
    r"|(?P<plain>[^\s\"'\\$`;&|()<>\#]+|.)",
    re.DOTALL | re.VERBOSE,
)
_COMPUTED = re.compile(r"\$\([^()\n]{0,500}\)|`[^`\n]{0,500}`|\$\{[^{}\n]{0,200}\}|\$\w+|\$[@*#?!$-]?")
_CLOSES_DOCUMENT = re.compile(r"^\t*(\w+)[ \t]*$", re.MULTILINE)
_FORMATTED = re.compile(r"\{[^{}\n]{0,200}\}|%(?:\([^()\n]{0,99}\))?[a-z]")
"""What a string of Python replaces: ``{name}``, ``%s``."""
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:\[[@*]\])?(?::?[-=]([^${}`]*))?\})")
_LIST = re.compile(r"\$\{(\w+)\[[@*]\]\}")
_ASSIGNS = re.compile(r"(\w+)(\+?)=")
_DECLARES = frozenset({"export", "readonly", "declare", "local", "typeset"})
_OPENS = frozenset({"if", "for", "while", "until", "case", "select"})
_CLOSES = frozenset({"fi", "done", "esac"})
_BRANCHES = frozenset({"else", "elif"})
_BEFORE_COMMAND = frozenset({"then", "do", "else", "elif", "if", "while", "until", "!", "{", "time"})


class WordPart(NamedTuple):
    """A part of a word, without the quotes around it.

    :param value: None if it depends on what the text does not show
    :param computes: the expansion that it is, such as ``$NAME``
    :param is_quoted: whether blanks in it do not divide words
    :param is_default: whether the script may give it another value
    """

    span: tuple[int, int]
    value: str | None
    computes: str = ""
    is_quoted: bool = False
    is_default: bool = False


class ShellWord(NamedTuple):
    parts: tuple[WordPart, ...]

    @property
    def value(self) -> str | None:
        """The text of the word as a program gets it; None if it depends on what is not known."""
        values = [part.value for part in self.parts]
        return None if None in values else "".join(filter(None, values))

    @property
    def begins(self) -> str:
        """What it certainly begins with."""
        known = []
        for part in self.parts:
            if part.value is None:
                break
            known.append(part.value)
        return "".join(known)

    @property
    def span(self) -> tuple[int, int]:
        return self.parts[0].span[0], self.parts[-1].span[1]

    @property
    def is_default(self) -> bool:
        return any(part.is_default for part in self.parts)

    def after(self, length: int) -> ShellWord:
        """Return what follows the first characters of its value; without parts, an empty part at the end."""
        kept = []
        for part in self.parts:
            size = len(part.value or "")
            if length >= size and part.value is not None:
                length -= size
                continue
            if length:
                start, end = part.span
                is_written = end - start == size  # else it is shown where a variable is used
                part = part._replace(span=(start + is_written * length, end), value=(part.value or "")[length:])
                length = 0
            kept.append(part)
        end = self.span[1]
        return ShellWord(tuple(kept) or (WordPart((end, end), ""),))


class ShellCommand(NamedTuple):
    """:param words: after replacement; a value with blanks that is not quoted has become several
    :param is_whole: whether no word may have become others than these
    """

    words: tuple[ShellWord, ...]
    span: tuple[int, int]
    is_whole: bool


class _Value(NamedTuple):
    words: tuple[ShellWord, ...]
    is_list: bool
    is_whole: bool = True


class _Assignment(NamedTuple):
    name: str
    adds: bool
    value: tuple[ShellWord, ...]
    is_list: bool


class _Statement(NamedTuple):
    assigned: tuple[_Assignment, ...]
    words: tuple[ShellWord, ...]
    span: tuple[int, int]
    path: _Path


def commands(text: str, start: int = 0, end: int | None = None, *, is_format: bool = False) -> Iterator[ShellCommand]:
    """Yield the commands of a script, or of a part of a text, and those in its ``$(...)`` and here documents.

    :param is_format: whether ``{name}`` and ``%s`` are replaced by something else, as in strings of Python
    """
    statements = list(_Reader(text, start, len(text) if end is None else end, is_format).statements())
    yield from _Values(statements).commands()


class _Reader:
    """Divides a text into statements."""

    def __init__(
        self, text: str, start: int, end: int, is_format: bool, closes: dict[str, list[re.Match[str]]] | None = None
    ) -> None:
        self._text = text
        self._at, self._end = start, end
        self._is_format = is_format
        self._closes = closes
        """The lines that may end a here document, by its name."""
        self._blocks = count(1)
        self._path: list[int] = []
        """Numbers of blocks; those of functions are negative."""

    def statements(self) -> Iterator[_Statement]:
        words: list[ShellWord] = []
        parts: list[WordPart] = []
        assigned: list[_Assignment] = []
        lists: list[ShellWord] | None = None  # the words of the array that is open
        documents: list[str] = []
        begins, drops = self._at, False
        while self._at < self._end:
            match = _TOKEN.match(self._text, self._at, self._end)
            assert match is not None
            self._at = match.end()
            kind = match.lastgroup or "plain"
            if kind not in ("blank", "comment", "redirect", "end", "document"):
                parts += self._parts(kind, match)
                continue
            opens_list = match[0][0] == "(" and lists is None and bool(parts)
            name = _ASSIGNS.fullmatch(ShellWord(tuple(parts)).begins) if opens_list else None
            if name is not None and len(parts) == 1:
                lists, parts = [], []
                assigned.append(_Assignment(name[1], bool(name[2]), (), True))
                self._at = match.start() + 1
                continue
            if parts:
                word, parts = ShellWord(tuple(parts)), []
                if not drops:
                    (words if lists is None else lists).append(word)
                drops = False
            if lists is not None:
                if kind == "end" and ")" in match[0]:
                    assigned[-1] = assigned[-1]._replace(value=tuple(lists))
                    lists = None
                    self._at = match.start() + match[0].index(")") + 1
                continue
            if kind == "document":
                documents.append(match["document"])
            drops = drops or (kind == "redirect" and match[0][-1] in "<>|")
            if kind == "end":
                yield from self._statement(words, assigned, (begins, match.start()))
                words, assigned, begins, drops = [], [], match.end(), False
                if ";;" in match[0] and self._path:
                    self._path[-1] = next(self._blocks)
                if documents and "\n" in match[0]:
                    begins = yield from self._documents(documents)
        if parts and not drops:
            words.append(ShellWord(tuple(parts)))
        yield from self._statement(words, assigned, (begins, self._end))

    def _parts(self, kind: str, match: re.Match[str]) -> Iterator[WordPart]:
        span = match.span(kind)
        if kind == "computed":
            yield WordPart(span, None, match[0])
        elif kind == "escape":
            yield WordPart(match.span(), match["escape"], is_quoted=True)
        elif kind == "plain":
            yield from self._divided(span, _FORMATTED if self._is_format else None, is_quoted=False)
        else:
            pattern = None if kind == "single" else _COMPUTED
            yield from self._divided(span, _FORMATTED if self._is_format else pattern, is_quoted=True)

    def _divided(self, span: tuple[int, int], pattern: re.Pattern[str] | None, is_quoted: bool) -> Iterator[WordPart]:
        """Yield the parts of a quoted text: literal ones, and those that the shell computes."""
        at, end = span
        for match in pattern.finditer(self._text, at, end) if pattern else ():
            if at < match.start():
                yield WordPart((at, match.start()), self._text[at : match.start()], is_quoted=is_quoted)
            yield WordPart(match.span(), None, match[0], is_quoted)
            at = match.end()
        if at < end or span[0] == end:
            yield WordPart((at, end), self._text[at:end], is_quoted=is_quoted)

    def _documents(self, names: list[str]) -> Generator[_Statement, None, int]:
        """Yield the statements of here documents, each read by itself; return the place after them."""
        if self._closes is None:
            self._closes = {}
            for line in _CLOSES_DOCUMENT.finditer(self._text, self._at, self._end):
                self._closes.setdefault(line[1], []).append(line)
        for name in names:
            lines = self._closes.get(name, [])
            at = bisect_left(lines, self._at, key=re.Match.start)
            if at == len(lines) or lines[at].end() > self._end:
                continue
            close = lines[at]
            inner = _Reader(self._text, self._at, close.start(), self._is_format, self._closes)
            inner._path = [*self._path, next(self._blocks)]
            yield from inner.statements()
            self._at = close.end()
        names.clear()
        return self._at

    def _statement(
        self, words: list[ShellWord], assigned: list[_Assignment], span: tuple[int, int]
    ) -> Iterator[_Statement]:
        """Yield a statement without the keywords before it; they open and close blocks."""
        at = 0
        while at < len(words):
            word = words[at].value
            if word in _OPENS:
                self._path.append(next(self._blocks))
                if word in ("for", "select"):  # its variable has no value that is known
                    assigned = [
                        *assigned,
                        *(_Assignment(each.begins, False, (), True) for each in words[at + 1 : at + 2]),
                    ]
            elif word in _CLOSES or word == "}":
                self._path[-1:] = []
            elif word in _BRANCHES and self._path:
                self._path[-1] = next(self._blocks)
            elif word == "{" or (word == "function" and words[-1].value == "{"):
                self._path.append(-next(self._blocks))
            if word not in _BEFORE_COMMAND:
                break
            at += 1
        rest = words[at:]
        first = rest[0].value if rest else None
        if first in _DECLARES:
            rest = rest[1:]
        elif first in ("read", "getopts", "unset"):
            assigned = [*assigned, *(_Assignment(each.begins, False, (_UNKNOWN,), False) for each in rest[1:])]
        while rest and (name := _ASSIGNS.match(rest[0].begins)):
            value = rest.pop(0).after(name.end())
            assigned.append(_Assignment(name[1], bool(name[2]), (value,), False))
        if words or assigned:
            yield _Statement(tuple(assigned), tuple(rest), span, tuple(self._path[:_DEEPEST]))


_UNKNOWN = ShellWord((WordPart((0, 0), None, "$"),))


class _Values:
    """The values of the variables while the statements run one after the other."""

    def __init__(self, statements: list[_Statement]) -> None:
        self._statements = statements
        self._left = _MOST_REPLACED
        self._given: dict[str, list[tuple[_Path, _Value]]] = {}
        self._counts = counts = Counter(each.name for statement in statements for each in statement.assigned)
        self._once = {
            each.name: each
            for statement in statements
            for each in statement.assigned
            if counts[each.name] == 1 and not statement.path
        }
        """What is assigned once, on the outermost level; a function may be written before it."""

    def commands(self) -> Iterator[ShellCommand]:
        for statement in self._statements:
            for each in statement.assigned:
                self._assign(each, statement.path)
                for word in each.value:
                    yield ShellCommand((word,), word.span, False)
            words: list[ShellWord] = []
            is_whole = True
            for word in statement.words[:_MOST_PARTS]:
                replaced = self._replaced(word, statement.path)
                words += replaced.words
                is_whole = is_whole and replaced.is_whole
            is_whole = is_whole and max(len(words), len(statement.words)) <= _MOST_PARTS
            if words:
                yield ShellCommand(tuple(words[:_MOST_PARTS]), statement.span, is_whole)

    def _assign(self, each: _Assignment, path: _Path) -> None:
        before = self._value(each.name, path) if each.adds else None
        words: list[ShellWord] = []
        is_whole = True
        for word in each.value[:_MOST_PARTS]:
            replaced = self._replaced(word, path, divides=each.is_list)
            words += replaced.words
            is_whole = is_whole and replaced.is_whole
        if each.adds and not each.is_list:
            head = before.words[0].parts if before and before.words else _UNKNOWN.parts
            words = [ShellWord((*head, *(part for word in words for part in word.parts)))]
        elif each.adds:
            words = [*(before.words if before else ()), *words]
            is_whole = is_whole and before is not None and before.is_whole
        size = sum(len(word.parts) for word in words)
        known = _Value(tuple(words), each.is_list, is_whole) if size <= _MOST_PARTS else _Value((_UNKNOWN,), False)
        self._given.setdefault(each.name, []).append((path, known))

    def _value(self, name: str, path: _Path) -> _Value | None:
        """Return the value that a variable has in a block; None if the text does not show it.

        The latest that certainly runs counts; it is a default if a later one, under a condition, is computed.
        """
        given = self._given.get(name)
        if self._left < 0:
            return None
        if given is None:
            once = self._once.get(name)
            if once is None or once.adds:
                return None
            return _Value(once.value, once.is_list) if all(word.value is not None for word in once.value) else None
        later: list[_Value] = []
        for where, value in reversed(given[-_MOST_VALUES:]):
            if path[: len(where)] == where:
                break
            later.append(value)
        else:
            return None
        if min(path[len(where) :], default=0) < 0 and self._counts[name] > 1 + len(later):
            return value._replace(is_whole=False) if value.is_list else None  # what it is when the function is called
        if value.is_list:
            return value if not later else value._replace(words=max((value, *later), key=_size).words, is_whole=False)
        if any(each.words and each.words[0].value is not None for each in later):
            return None
        return value if not later else _as_default(value)

    def _replaced(self, word: ShellWord, path: _Path, divides: bool = True) -> _Value:
        """Return the words that a word becomes.

        :param divides: whether blanks in a value that is not quoted divide it; in an assignment they do not
        """
        only = word.parts[0] if len(word.parts) == 1 else None
        if only is not None and (match := _LIST.fullmatch(only.computes)):
            value = self._value(match[1], path)
            self._left -= _size(value) if value else 0
            return value if value and value.is_list else _Value((word,), True, False)
        is_bare = divides and only is not None and bool(only.computes) and not only.is_quoted
        parts = [each for part in word.parts for each in self._expanded(part, path, is_bare or not divides)]
        words = list(_divided(parts)) if is_bare else [ShellWord(tuple(parts))]
        self._left -= len(parts)
        return _Value(tuple(words), True, not any(each.parts[0].value is None for each in words))

    def _expanded(self, part: WordPart, path: _Path, keeps_places: bool) -> Iterator[WordPart]:
        """Yield what a part becomes, with the place of the part, or with the places in the value."""
        match = _VARIABLE.fullmatch(part.computes)
        name = match and (match[1] or match[2])
        value = self._value(name, path) if name else None
        if match and match[3] is not None and value is None and name not in self._given:
            start = part.span[0] + match.start(3)
            yield WordPart((start, start + len(match[3])), match[3], is_quoted=True, is_default=True)
        elif value is None or value.is_list or not value.words:
            yield part
        else:
            for each in value.words[0].parts:
                yield each._replace(is_quoted=False) if keeps_places else each._replace(span=part.span)


def _size(value: _Value) -> int:
    return len(value.words)


def _as_default(value: _Value) -> _Value:
    words = (ShellWord(tuple(part._replace(is_default=True) for part in word.parts)) for word in value.words)
    return value._replace(words=tuple(words))


def _divided(parts: list[WordPart]) -> Iterator[ShellWord]:
    """Yield the words that parts are, divided at blanks that are not quoted."""
    word: list[WordPart] = []
    for part in parts:
        if part.is_quoted or part.value is None or part.span[1] - part.span[0] != len(part.value):
            word.append(part)
            continue
        for match in re.finditer(r"(\s+)|\S+", part.value):
            if match[1] is None:
                start = part.span[0] + match.start()
                word.append(part._replace(span=(start, start + len(match[0])), value=match[0]))
            elif word:
                yield ShellWord(tuple(word))
                word = []
    if word:
        yield ShellWord(tuple(word))
