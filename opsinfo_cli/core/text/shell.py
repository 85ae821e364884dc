"""Commands of a shell script as the shell would run them, as far as the text alone shows it, with places.

A word has a value only if bash would give it no other. Three tables say what decides that:

- Blocks. A branch, a loop, a function, ``( )``, ``$( )``, what follows ``&&``, ``||`` and ``|``, and what ends
  with ``|`` or ``&``: what is assigned in a block is known inside it, and may have been assigned outside it. In a loop
  what stands below may have run before; in a function, all that stands elsewhere. What a function assigns, but for its
  locals, may have been assigned anywhere.
- ``_DECLARES``: the builtins that assign, with the options that leave a value as it is written.
- ``_SETS``: the builtins that may set the names in their text, or any if a part of it is not known.

A script that is not understood as a whole has no values.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, TypeAlias

_Path: TypeAlias = tuple[int, ...]
"""The blocks around a command, the outermost first."""
_MOST_PARTS = 1500
"""The most words that the value of a variable, or a command, has."""
_MOST_VALUES = 50
"""The most assignments before another of the same name among which ``local`` is looked for."""
_MOST_REPLACED = 100_000
"""The most parts of words, and assignments, that are looked at before variables count as unknown."""
_DEEPEST = 40
"""The most commands and expansions around another that are read."""
_DECLARES = {**dict.fromkeys(("declare", "typeset", "local"), "-[rx]+"), "export": "-n", "readonly": "(?!)"}
_SETS = {
    **dict.fromkeys(("eval", "source", ".", "trap", "read", "readarray", "mapfile", "getopts", "unset", "let"), ""),
    **dict.fromkeys(("alias", "builtin", "command", "coproc", "enable"), ""),
    "printf": "-v",
    "wait": "-p",
}
"""Each with the option without which it sets nothing."""
_READS_AGAIN = frozenset({"eval", "ssh", "xargs"})
"""Commands that divide their words once more."""
_AT_ANY_TIME = re.compile("DEBUG|ERR|RETURN")
"""Traps that run between commands."""
_ANY = "*"
"""The name for all variables."""
_OWN = re.compile(
    r"_|BASH\w*|COLUMNS|COMP_\w*|COPROC\w*|DIRSTACK|EPOCH\w*|E?UID|FUNCNAME|GROUPS|HISTCMD|LINENO|LINES|MAPFILE|OLDPWD"
    r"|OPTARG|OPTIND|PIPESTATUS|PPID|PWD|S?RANDOM|REPLY|SECONDS|SHELLOPTS|SHLVL"
)
"""Variables that the shell itself sets."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_ASSIGNS = re.compile(rf"({_NAME.pattern})(\[[^\]\n]{{0,200}}\])?(\+?)=")
_COUNTS = re.compile(
    rf"({_NAME.pattern})(?:\[[^\]\n]{{0,99}}\])?\s?(?:\+\+|--|[-+*/%&|^<>:]{{0,2}}=)|[+-]{{2}}\s?(\w+)"
)
"""What sets a name in arithmetics and in ``${...}``."""
_ARITHMETIC = re.compile(r"\(\((?:[^()\n]|\([^()\n]{0,200}\)){0,500}\)\)")
_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)*(?:\#[^\n]*)?")
_BLANK_LINES = re.compile(r"(?:[ \t\r\n]|\\\r?\n|\#[^\n]*)*")
_OPERATOR = re.compile(r"\n|;;&|;[;&]?|&&|\|\||\|&?|&(?!>)|\)")
_REDIRECT = re.compile(r"(?:\d+|\{(\w+)\})?(<<<|<<-?|<>|[<>]&|>>|>\||[<>](?!\())|&>>?")
_DOCUMENT = re.compile(r"[ \t]*([\"'\\]?)([\w.-]+)[\"']?")
_RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|time|[{}!]|\[\[)(?=[\s;&|()<>`]|$)"
)
_BRACKETS = re.compile(r"[ \t]*\([ \t]*\)")
_LINE_OF_NAME = re.compile(r"^(\t*[\w.-]+)\r?$", re.MULTILINE)
_PLAIN = re.compile(r"[^\s\"'\\$`;&|()<>]+|.", re.DOTALL)
_QUOTED = re.compile(r"[^\"'\\$`}]+|.", re.DOTALL)
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_INNER_QUOTE = re.compile(r"\\\"([^\"\\\n]*)\\\"")
_EXPANSION = re.compile(rf"\$(?:\{{[^{{}}\n\"'\\$`]*\}}|{_NAME.pattern}|[0-9@*\#?!$-])")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:(:?)[-=]([^}]*))?\})")
_LIST = re.compile(r"\$\{(\w+)\[([@*])\]\}")
_DIVIDES = re.compile(r"[*?\[ \t\n]")
_SPECIAL = re.compile(r"[^\w./:=,@%+-]")
"""What a shell that reads a word once more may not keep."""
_GLOB = re.compile(r"[*?]|\[.+\]", re.DOTALL)
_FORMATTED = re.compile(r"\{[^{}\n]{0,200}\}|%(?:\([^()\n]{0,99}\))?[a-z]")
"""What a string of Python replaces: ``{name}``, ``%s``."""


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
    :param is_whole: whether no word may have become others than these; an option whose value is not known is one word
    """

    words: tuple[ShellWord, ...]
    span: tuple[int, int]
    is_whole: bool


class _Value(NamedTuple):
    words: tuple[ShellWord, ...]
    is_list: bool
    is_whole: bool = True


class _Assignment(NamedTuple):
    """:param words: None: what it assigns is not known
    :param is_bound: whether the name may not become what is assigned to it later
    """

    name: str
    words: tuple[ShellWord, ...] | None = None
    adds: bool = False
    is_list: bool = False
    is_local: bool = False
    is_bound: bool = False


class _Statement(NamedTuple):
    """A simple command.

    :param assigned: what stands before the command, or is declared by it
    :param sets: names that its expansions may set
    """

    words: tuple[ShellWord, ...]
    assigned: tuple[_Assignment, ...]
    sets: tuple[str, ...]
    span: tuple[int, int]
    path: _Path


def commands(text: str, start: int = 0, end: int | None = None, *, is_format: bool = False) -> Iterator[ShellCommand]:
    """Yield the commands of a script, or of a part of a text, and those in its ``$(...)`` and here documents.

    In a part, which may be a string, variables have no values but their defaults, and ``\"`` is a quote.

    :param is_format: whether ``{name}`` and ``%s`` are replaced by something else, as in strings of Python
    """
    is_script = end is None
    parts = [(start, len(text) if end is None else end, is_script)]
    while parts:
        start, end, is_script = parts.pop()
        reader = _Reader(text, start, end, is_script, is_format)
        yield from sorted(_Values(reader).commands(), key=lambda each: each.span)
        parts += reversed(reader.documents)


class _Reader:
    """Divides a text into statements.

    :ivar is_sound: whether it is a script, and all of it was understood
    :ivar functions: blocks of functions, with the places of their bodies
    :ivar names: words of the names of functions
    :ivar documents: here documents; whether each is a script as it is written
    """

    def __init__(self, text: str, start: int, end: int, is_script: bool, is_format: bool) -> None:
        self.text = text
        self._at, self._end = start, end
        self._is_script, self._is_format = is_script, is_format
        self.is_sound = is_script
        self.statements: list[_Statement] = []
        self.functions: dict[int, tuple[int, int]] = {}
        self.names: set[str] = set()
        self.loops: set[int] = set()
        self.documents: list[tuple[int, int, bool]] = []
        self._opened: list[tuple[str, bool]] = []
        """The last lines of the here documents that begin after this line."""
        self._lines: dict[str, list[int]] = {}
        self._sets: list[str] = []
        self._path: _Path = ()
        self._depth = 0
        self._blocks = count(1)
        self._is_unclosed = False
        """Whether a quote had no end: those after it are plain characters, as it is."""
        while self._at < end:
            self._list()

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.match(self.text, self._at, self._end)

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        """Go past what matches here; return whether there is more of the text."""
        self._at = match.end() if (match := self._match(pattern)) else self._at
        self.is_sound = self.is_sound and not (self._opened and pattern is _BLANK_LINES)
        return self._at < self._end

    def _is_at(self, *texts: str) -> bool:
        return self._at < self._end and self.text.startswith(texts, self._at)

    def _goes_deeper(self) -> bool:
        if self._depth >= _DEEPEST:
            self._at, self.is_sound = self._end, False
        return self._depth < _DEEPEST

    def _list(self, *closers: str) -> str:
        """Read commands up to one of these, and return it; "" at the end of the text."""
        base = self._path
        first = part = len(self.statements)
        awaits = is_chosen = False  # after an operator: whether a command must follow, and `||` or `|` came before
        while self._skip(_BLANK):
            reserved = self._match(_RESERVED)
            for closer in closers:
                if reserved[0] == closer if reserved else self._is_at(closer):
                    self._at += len(closer)
                    self._path = base
                    return closer
            operator = self._match(_OPERATOR)
            if operator is None:
                self._command()
                awaits = False
                continue
            self._at = operator.end()
            if operator[0] in ("&&", "||", "|", "|&"):
                if operator[0] in ("|", "|&"):
                    self._enclose(part, base)
                if operator[0] != "&&" or is_chosen or self._path == base:
                    self._path = (*base, next(self._blocks))
                is_chosen = is_chosen or operator[0] != "&&"
                part, awaits = len(self.statements), True
                continue
            if operator[0] == "&":
                self._enclose(first, base)
            elif operator[0] == "\n":
                self._documents()
            elif operator[0] != ";":
                self.is_sound = False
            if operator[0] != "\n" or not awaits:
                self._path, is_chosen = base, False
                first = part = len(self.statements)
        self._path = base
        self.is_sound = self.is_sound and not closers
        return ""

    def _enclose(self, first: int, base: _Path) -> None:
        """Put the statements since the first into a block."""
        block = next(self._blocks)
        for number, each in enumerate(self.statements[first:], first):
            self.statements[number] = each._replace(path=(*base, block, *each.path[len(base) :]))

    def _block(self, *closers: str) -> str:
        self._path = (*self._path, next(self._blocks))
        closer = self._list(*closers)
        self._path = self._path[:-1]
        return closer

    def _command(self) -> None:
        if not self._goes_deeper():
            return
        self._depth += 1
        start = self._at
        reserved = self._match(_RESERVED)
        word = reserved[0] if reserved else ""
        self._at += len(word)
        if word in ("if", "while", "until", "for", "select"):
            self._compound(word)
        elif word == "{":
            self._list("}")
        elif word == "case":
            self._case()
        elif word == "[[":
            self._test()
        elif word == "function" and self._skip(_BLANK) and (name := self._match(_PLAIN)):
            self._at = name.end()
            self._function(name[0])
        elif word:
            self.is_sound = self.is_sound and word in ("!", "time")
        elif self._arithmetic():
            self._emit([], [], start)
        elif self._is_at("("):
            self._at += 1
            self._block(")")
        else:
            self._simple()
        self._depth -= 1

    def _compound(self, word: str) -> None:
        """Read a condition or a loop after its first word."""
        outer = self._path
        self._path = (*outer, next(self._blocks))
        if word == "if":
            while (closer := self._list("then", "elif", "else", "fi")) not in ("fi", ""):
                if closer != "then":
                    self._path = (*outer, next(self._blocks))
        else:
            self.loops.add(self._path[-1])
            if word in ("for", "select") and self._skip(_BLANK) and (name := self._match(_NAME)):
                self._sets.append(name[0])
                self._at = name.end()
                self._emit([], [], name.start())
            self._list("do")
            self._list("done")
        self._path = outer

    def _case(self) -> None:
        if self._skip(_BLANK):
            self._word()
        if not self._skip(_BLANK_LINES) or not self._is_at("in"):
            self.is_sound = False
            return
        self._at += 2
        self._emit([], [], self._at)
        while self._skip(_BLANK_LINES):
            if (reserved := self._match(_RESERVED)) and reserved[0] == "esac":
                self._at = reserved.end()
                return
            open_brackets = 0 if self._is_at("(") else 1
            while self._skip(_BLANK_LINES):
                open_brackets += self._is_at("(") - self._is_at(")")
                if not self._word().parts:
                    self._at += 1
                if not open_brackets:
                    break
            if self._block(";;&", ";;", ";&", "esac") in ("esac", ""):
                return
        self.is_sound = False

    def _test(self) -> None:
        start = self._at
        while self._skip(_BLANK_LINES):
            word = self._word()
            if word.value == "]]":
                self._emit([], [], start)
                return
            if not word.parts:
                self._at += 1
        self.is_sound = False

    def _function(self, name: str) -> None:
        """Read the body of a function."""
        outer, block = self._path, next(self._blocks)
        self.names.update(re.findall(r"\w+", name))
        self._skip(_BRACKETS)
        self._path = (*outer, block)
        start = self._at
        if self._skip(_BLANK_LINES):
            self._command()
        self.functions[block] = start, self._at
        self._path = outer

    def _simple(self) -> None:
        start = self._at
        words: list[ShellWord] = []
        assigned: list[_Assignment] = []
        while self._skip(_BLANK):
            if self._is_at("<(", ">("):
                words.append(ShellWord((self._substitution(2, False),)))
            elif redirect := self._match(_REDIRECT):
                self._redirect(redirect)
            elif self._is_at("(") and len(words) == 1 and not assigned and self._match(_BRACKETS):
                self._function(words[0].value or "")
                return
            elif self._is_at(*"\n;&|()"):
                self.is_sound = self.is_sound and not self._is_at("(")
                break
            elif (not words or words[0].value in _DECLARES) and (match := self._match(_ASSIGNS)):
                assigned.append(self._assignment(match))
            else:
                words.append(self._word())
                if words[0].value in _DECLARES and len(words) == 1:
                    self._sets += [each.name for each in assigned]
                    assigned = []
        self._emit(words, assigned, start)

    def _emit(self, words: list[ShellWord], assigned: list[_Assignment], start: int) -> None:
        if words or assigned or self._sets:
            span = start, self._at
            self.statements.append(_Statement(tuple(words), tuple(assigned), tuple(self._sets), span, self._path))
            self._sets = []

    def _redirect(self, redirect: re.Match[str]) -> None:
        self._at = redirect.end()
        self._sets += [redirect[1]] if redirect[1] else []
        if redirect[2] not in ("<<", "<<-"):
            self._skip(_BLANK)
            self._word()
        elif document := self._match(_DOCUMENT):
            self._at = document.end()
            self._opened.append((redirect[2][2:] + document[2], bool(document[1])))

    def _documents(self) -> None:
        """Go past the here documents that begin here."""
        if self._opened and not self._lines:
            for line in _LINE_OF_NAME.finditer(self.text, self._at, self._end):
                for key in {line[1], f"-{line[1].lstrip()}"}:
                    self._lines.setdefault(key, []).append(line.start())
        for key, is_script in self._opened:
            lines = self._lines.get(key, [])
            number = bisect_left(lines, self._at)
            self.is_sound = self.is_sound and number < len(lines)
            if number < len(lines) and lines[number] < self._end:
                self.documents.append((self._at, lines[number], is_script))
                self._at = lines[number]
                self._skip(_LINE_OF_NAME)
        self._opened = []

    def _assignment(self, match: re.Match[str]) -> _Assignment:
        self._at = match.end()
        name, index, adds = match.groups()
        words: list[ShellWord] = []
        if not self._is_at("("):
            at = self._at
            word = self._word(is_assigned=True)
            words.append(word if word.parts else ShellWord((WordPart((at, at), ""),)))
            return _Assignment(name, None if index else tuple(words), bool(adds))
        self._at += 1
        while self._skip(_BLANK_LINES) and not self._is_at(")"):
            if (word := self._word()).parts:
                words.append(word)
            else:
                self.is_sound = False
                self._at += 1
        self._at += 1
        return _Assignment(name, tuple(words), bool(adds), is_list=True)

    def _word(self, is_assigned: bool = False) -> ShellWord:
        """Read a word; it has no parts if none is here."""
        start = self._at
        parts: list[WordPart] = []
        while self._at < self._end and not self._is_at(*" \t\r\n;&|()<>"):
            at = self._at
            if self._is_at("\\"):
                parts += self._escaped()
            elif self._is_at("'", '"'):
                parts += self._quotes()
            elif self._is_at("$", "`"):
                parts += self._computed(is_quoted=False)
            elif plain := self._match(_PLAIN):
                self._at = plain.end()
                parts += self._literal(at, is_quoted=False)
        text = self.text[start : self._at]
        if text[:1] == "~" or (is_assigned and ":~" in text):
            return ShellWord(tuple(part._replace(value=None) for part in parts))
        for number, part in enumerate(parts):
            value = "" if part.is_quoted else part.value or ""
            if ("{" in value and "}" in text) or (not is_assigned and _GLOB.search(value)):
                parts[number] = part._replace(value=None)
        return ShellWord(tuple(parts))

    def _literal(self, start: int, is_quoted: bool) -> Iterator[WordPart]:
        """Yield the parts of a text that was read: literal ones, and those that are formatted."""
        at, end = start, self._at
        for match in _FORMATTED.finditer(self.text, at, end) if self._is_format else ():
            if at < match.start():
                yield WordPart((at, match.start()), self.text[at : match.start()], is_quoted=is_quoted)
            yield WordPart(match.span(), None, match[0], is_quoted)
            at = match.end()
        if at < end or start == end:
            yield WordPart((at, end), self.text[at:end], is_quoted=is_quoted)

    def _escaped(self) -> Iterator[WordPart]:
        """Read what a backslash outside of quotes begins."""
        start = self._at
        if not self._is_script and (quote := self._match(_INNER_QUOTE)):
            end, self._end = self._end, quote.end(1)
            self._at = quote.start(1)
            yield from self._until("") or ()
            self._at, self._end = quote.end(), end
            return
        self._at = min(start + 2, self._end)
        value = self.text[start + 1 : self._at]
        if value != "\n":
            yield WordPart((start, self._at), value if self._is_script else None, is_quoted=True)

    def _quotes(self) -> list[WordPart]:
        """Read what is in quotes; the quote itself if they have no end."""
        start = self._at
        kept = len(self.statements), len(self.documents)
        self._at += 1
        parts: list[WordPart] | None = None
        if not self._is_unclosed and self.text[start] == '"':
            parts = self._until('"')
        elif not self._is_unclosed and (end := self.text.find("'", self._at, self._end)) >= 0:
            self._at = end
            parts = list(self._literal(start + 1, is_quoted=True))
            if not self._is_script and re.search(r"[$`\\]", self.text[start:end]):
                parts = [part._replace(value=None) for part in parts]
            self._at += 1
        if parts is None:
            self._is_unclosed, self.is_sound = True, False
            self._at = start + 1
            del self.statements[kept[0] :], self.documents[kept[1] :]
            parts = [WordPart((start, start + 1), self.text[start])]
        return parts or [WordPart((start + 1, start + 1), "", is_quoted=True)]

    def _until(self, closer: str, is_quoted: bool = True) -> list[WordPart] | None:
        """Read a text as in double quotes up to a character; None if it is not there."""
        parts: list[WordPart] = []
        while self._at < self._end:
            start = self._at
            if closer and self._is_at(closer):
                self._at += 1
                return parts
            if self._is_at("$", "`"):
                parts += self._computed(is_quoted=True)
            elif closer == "}" and self._is_at('"', *"'"[is_quoted:]):
                parts += self._quotes()
            elif self._is_at("\\"):
                self._at = min(start + 2, self._end)
                value = self.text[start : self._at]
                if value != "\\\n":
                    value = value[1:] if value[1:] in ("$", "`", '"', "\\") else value
                    parts.append(WordPart((start, self._at), value if self._is_script else None, is_quoted=True))
            elif plain := self._match(_QUOTED):
                self._at = plain.end()
                parts += self._literal(start, is_quoted=True)
        return None if closer else parts

    def _computed(self, is_quoted: bool) -> Iterator[WordPart]:
        """Read what ``$`` or a backtick begins."""
        start = self._at
        if backticks := self._match(_BACKTICKS):
            if "\\" not in backticks[1]:
                end, self._end = self._end, backticks.end(1)
                self._at += 1
                if self._goes_deeper():
                    self._block()
                self._end = end
            self._at = backticks.end()
        elif self._is_at("$("):
            self._at += 1
            if not self._arithmetic():
                yield self._substitution(1, is_quoted, start)
                return
        elif expansion := self._match(_EXPANSION):
            self._at = expansion.end()
        elif self._is_at("${") and self._goes_deeper():
            self._depth += 1
            self._at += 2
            self.is_sound = self._until("}", is_quoted) is not None and self.is_sound
            self._depth -= 1
        elif not is_quoted and (ansi := self._match(_ANSI)):
            self._at = ansi.end()
            yield WordPart(ansi.span(1), None if "\\" in ansi[1] else ansi[1], is_quoted=True)
            return
        else:
            self.is_sound = self.is_sound and not self._is_at("$[", "`")
            self._at += 1
            if is_quoted or not self._is_at('"'):
                yield WordPart((start, self._at), self.text[start : self._at], is_quoted=is_quoted)
            return
        text = self.text[start : self._at]
        if text.startswith("${"):
            self._sets += [each[1] or each[2] for each in _COUNTS.finditer(text)]
        yield WordPart((start, self._at), None, text, is_quoted)

    def _arithmetic(self) -> bool:
        """Read ``((...))``, if it is here."""
        match = self._match(_ARITHMETIC)
        if match:
            self._at = match.end()
            self._sets += [each[1] or each[2] for each in _COUNTS.finditer(match[0])]
        return match is not None

    def _substitution(self, size: int, is_quoted: bool, start: int | None = None) -> WordPart:
        """Read the commands in ``$(...)`` or ``<(...)``."""
        start = self._at if start is None else start
        self._at += size
        if self._goes_deeper():
            self._block(")")
        return WordPart((start, self._at), None, self.text[start : self._at][:2], is_quoted)


@dataclass
class _Event:
    """An assignment.

    :ivar at: its number in the order in which they would run
    :ivar function: the block of the function that it is in; 0 if it is in none
    :ivar value: None if it is not known, or not yet
    """

    at: int
    path: _Path
    given: _Assignment
    function: int
    is_local: bool
    value: _Value | None = None

    def as_written(self) -> _Value | None:
        words = self.given.words
        return _Value(words, self.given.is_list) if words and all(map(_is_known, words)) else None


class _Values:
    """The values of the variables while the statements run one after the other."""

    def __init__(self, reader: _Reader) -> None:
        self._text, self._functions, self._loops = reader.text, reader.functions, reader.loops
        self._is_sound = reader.is_sound
        self._left = _MOST_REPLACED
        self._names = reader.names
        self._calls = {
            block
            for block, (start, end) in self._functions.items()
            if not self._names.isdisjoint(re.findall(r"\w+", self._text[start:end]))
        }
        """Functions that may call themselves."""
        self._events: dict[str, list[_Event]] = {}
        self._plan: list[tuple[_Statement, int, list[_Event]]] = []
        at = 0
        for statement in reader.statements:
            function = self._function(statement.path)
            events = []
            for number, given in enumerate(self._effects(statement, function > 0), at):
                before = self._events.setdefault(given.name, [])
                latest = next((each for each in reversed(before[-_MOST_VALUES:]) if each.is_local), None)
                is_local = given.is_local or (
                    latest is not None and latest.function == function and _is_in(statement.path, latest.path)
                )
                events.append(_Event(number, statement.path, given, function, is_local))
            for event in events:
                self._events[event.given.name].append(event)
            self._plan.append((statement, at, events))
            at += len(events)

    def _function(self, path: _Path) -> int:
        return next((block for block in reversed(path) if block in self._functions), 0)

    def _effects(self, statement: _Statement, is_in_function: bool) -> Iterator[_Assignment]:
        """Yield what a statement assigns, or may assign: the tables at the top."""
        yield from map(_Assignment, statement.sets)
        if not statement.words:
            yield from statement.assigned
            return
        first, *others = (word.value for word in statement.words)
        is_call = first is None or first[:1] == "-" or first in self._names
        if first in _DECLARES:
            options = "".join(each for each in others if each and each[0] in "-+")
            is_known = re.fullmatch(f"(?:{_DECLARES[first]})*", options) and (first != "local" or is_in_function)
            is_known = is_known and not is_call
            self._is_sound = self._is_sound and ("n" not in options or first == "export")
            is_bound = first == "readonly" or (first != "export" and not {*"-x"}.issuperset(options))
            is_local = is_in_function and first not in ("export", "readonly") and "g" not in options
            flags = is_local, is_bound
            for each in statement.assigned:
                yield _Assignment(each.name, each.words if is_known else None, each.adds, each.is_list, *flags)
            for word in statement.words[1:]:
                value = word.value
                if value is None:
                    yield _Assignment(_ANY)
                elif first == "readonly" and _NAME.fullmatch(value):
                    itself = ShellWord((WordPart(word.span, None, f"${value}", is_quoted=True),))
                    yield _Assignment(value, (itself,), False, False, *flags)
                elif value[:1] not in ("-", "+") and not (first == "export" and _NAME.fullmatch(value)):
                    yield from (_Assignment(name, None, False, False, *flags) for name in _NAME.findall(value))
        elif is_call or first in _SETS:
            yield from (_Assignment(each.name) for each in statement.assigned)
        if is_call:
            names = (re.fullmatch(rf"({_NAME.pattern})(?:\+?=.*)?", each or "", re.DOTALL) for each in others)
            yield from (_Assignment(match[1]) for match in names if match)
        option = _SETS.get(first or "")
        if option is not None and any((each or "").startswith(option) for each in others):
            text = self._text[slice(*statement.span)]
            yield from (_Assignment(name, is_bound=first == "trap") for name in _NAME.findall(text))
            if None in others or first in ("source", "."):
                yield _Assignment(_ANY, is_bound=first == "trap" and _AT_ANY_TIME.search(text) is not None)

    def commands(self) -> Iterator[ShellCommand]:
        for statement, at, events in self._plan:
            for each in statement.assigned:
                for word in each.words or ():
                    yield ShellCommand((word,), word.span, False)
            words: list[ShellWord] = []
            is_whole = True
            for word in statement.words[:_MOST_PARTS]:
                replaced = self._replaced(word, at, statement.path)
                words += replaced.words
                is_whole = is_whole and replaced.is_whole
            is_whole = is_whole and max(len(words), len(statement.words)) <= _MOST_PARTS
            for event in events:
                event.value = self._assigned(event, at if statement.words else event.at)
            if words:
                if words[0].value in _READS_AGAIN:
                    words, is_whole = [_read_again(word) for word in words], False
                is_whole = is_whole and words[0].value not in self._names
                yield ShellCommand(tuple(words[:_MOST_PARTS]), statement.span, is_whole)

    def _assigned(self, event: _Event, at: int) -> _Value | None:
        given = event.given
        if given.words is None:
            return None
        before = self._value(given.name, at, event.path) if given.adds else None
        if given.adds and (before is None or before.is_list != given.is_list):
            return None
        words = list(before.words) if before else []
        is_whole = before is None or before.is_whole
        for word in given.words[:_MOST_PARTS]:
            replaced = self._replaced(word, at, event.path, divides=given.is_list)
            words += replaced.words
            is_whole = is_whole and replaced.is_whole
        if not given.is_list:
            words = [ShellWord(tuple(part for word in words for part in word.parts))]
        is_small = sum(len(word.parts) for word in words) <= _MOST_PARTS >= len(given.words)
        return _Value(tuple(words), given.is_list, is_whole) if is_small else None

    def _value(self, name: str, at: int, path: _Path) -> _Value | None:
        """Return the value that a variable has at a place; None if the text does not show it.

        The latest that certainly runs counts; it is a default if others, which are not known, may run after it.
        """
        events = self._events.get(name, [])
        anything = self._events.get(_ANY, [])
        self._left -= len(events) + len(anything)
        if self._left < 0 or not self._is_sound or _OWN.fullmatch(name):
            return None
        found = next((each for each in reversed(events) if each.at < at and _is_in(path, each.path)), None)
        if found is None and len(events) == 1 and not events[0].path and self._function(path):
            below = events[0].as_written()  # it is assigned below the function that uses it
            return below and below._replace(words=_as_default(below.words))
        if found is None or found.value is None:
            return None
        entered = path[len(found.path) :]
        is_called = self._function(entered) > 0
        loop = next((path[: path.index(block) + 1] for block in entered if block in self._loops), None)

        def may_follow(each: _Event) -> bool:
            if each.function not in (0, *path):
                return is_called or not each.is_local
            if each.at < at:
                return is_called or each.at > found.at
            recurs = each.function in self._calls and not each.is_local
            return is_called or recurs or (loop is not None and _is_in(each.path, loop))

        if any(each.given.is_bound and each.at < found.at for each in (*events, *anything)):
            return None
        following = [each for each in (*events, *anything) if each is not found and may_follow(each)]
        later = [each.value or each.as_written() for each in following]
        if not later:
            return found.value
        lists = [found.value, *(each for each in later if each and each.is_list)]
        if found.value.is_list:
            words = max((each.words for each in lists), key=len)
            return _Value(_as_default(words), True, is_whole=False)
        is_other = any(each and (each.is_list or _is_known(each.words[0])) for each in later)
        return None if is_other else _Value(_as_default(found.value.words), False)

    def _replaced(self, word: ShellWord, at: int, path: _Path, divides: bool = True) -> _Value:
        """Return the words that a word becomes.

        :param divides: whether blanks in a value that is not quoted divide it; in an assignment they do not
        """
        only = word.parts[0] if len(word.parts) == 1 else WordPart((0, 0), None)
        if match := _LIST.fullmatch(only.computes):
            value = self._value(match[1], at, path) if divides else None
            if value is None or not value.is_list or not self._keeps(value, only.is_quoted, match[2]):
                return _Value((word,), True, False)
            self._left -= len(value.words)
            return value
        is_bare = divides and bool(only.computes) and not only.is_quoted
        parts = [each for part in word.parts for each in self._expanded(part, at, path, divides, is_bare)]
        self._left -= len(parts)
        words = list(_divided(parts)) if is_bare else [ShellWord(tuple(parts))]
        return _Value(tuple(words), True, not any(each.parts[0].value is None for each in words))

    def _keeps(self, value: _Value, is_quoted: bool, sign: str) -> bool:
        """Return whether an array becomes its words."""
        if is_quoted:
            return sign == "@"
        return "IFS" not in self._events and not any(
            each.value is None or not each.value or _DIVIDES.search(each.value) for each in value.words
        )

    def _expanded(self, part: WordPart, at: int, path: _Path, divides: bool, is_bare: bool) -> Iterator[WordPart]:
        """Yield what a part becomes, with the place of the part, or with the places in the value.

        :param is_bare: whether it is all of a word
        """
        match = _VARIABLE.fullmatch(part.computes)
        name, default = (match[1] or match[2], match[4]) if match else ("", None)
        value = self._value(name, at, path)
        may_divide = divides and not part.is_quoted
        if value is None or value.is_list:
            events = self._events.get(name)
            if match is None or default is None or default[:1] == "~" or (events and events[0].at < at):
                yield part
            else:
                start = part.span[0] + match.start(4)
                span = start, start + len(default)
                yield WordPart(span, default, is_quoted=not may_divide, is_default=True)
            return
        parts = value.words[0].parts
        text = "".join(each.value or "" for each in parts)
        divider = re.compile(r"[*?\[]") if is_bare else _DIVIDES
        is_other = may_divide and ("IFS" in self._events or divider.search(text))
        if is_other or (match and match[3] and not text):  # `${NAME:-default}` of one that is empty
            yield part
        else:
            for each in parts:
                yield each._replace(is_quoted=False) if is_bare or not divides else each._replace(span=part.span)


def _is_known(word: ShellWord) -> bool:
    return word.value is not None


def _is_in(path: _Path, block: _Path) -> bool:
    return path[: len(block)] == block


def _as_default(words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
    return tuple(ShellWord(tuple(part._replace(is_default=True) for part in word.parts)) for word in words)


def _read_again(word: ShellWord) -> ShellWord:
    """Return a word of which nothing is known if the command that gets it would read it otherwise."""
    return ShellWord(
        tuple(part._replace(value=None) if _SPECIAL.search(part.value or "") else part for part in word.parts)
    )


def _divided(parts: list[WordPart]) -> Iterator[ShellWord]:
    """Yield the words that parts are, divided at blanks that are not quoted."""
    word: list[WordPart] = []
    for part in parts:
        if part.is_quoted or part.value is None:
            word.append(part)
            continue
        is_written = part.span[1] - part.span[0] == len(part.value)
        for match in re.finditer(r"([ \t\n]+)|[^ \t\n]+", part.value):
            if match[1] is None:
                start = part.span[0] + match.start()
                span = (start, start + len(match[0])) if is_written else part.span
                word.append(part._replace(span=span, value=match[0]))
            elif word:
                yield ShellWord(tuple(word))
                word = []
    if word:
        yield ShellWord(tuple(word))
