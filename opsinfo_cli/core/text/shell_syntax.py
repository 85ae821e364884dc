"""The grammar of the shell: a script as simple commands, each with the blocks around it.

A block is what may not run, run again, or run in another shell: a branch, a loop, a function, ``( )``, ``$( )``, what
follows ``&&``, ``||`` and ``|``, and what ends with ``|`` or ``&``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from itertools import count
from typing import NamedTuple, TypeAlias

Path: TypeAlias = tuple[int, ...]
"""The blocks around a command, the outermost first."""
_DEEPEST = 40
"""The most commands and expansions around another that are read."""
DECLARES = {**dict.fromkeys(("declare", "typeset", "local"), "-[rx]+"), "export": "-n", "readonly": "(?!)"}
NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
ANY = "*"
"""The name for all variables."""
SPELLED = "="
"""The name for the variables that arithmetics may assign because the value of another says so: ``N=M++; ((N))``."""
_ASSIGNS = re.compile(rf"({NAME.pattern})(\[[^\]\n]{{0,200}}\])?(\+?)=")
_INDEX = re.compile(r"(?<=\w)\[((?:[^\[\]\n]|\[[^\[\]\n]{0,99}\]){0,200})")
_ASSIGNED = re.compile(
    rf"(?<!\w)({NAME.pattern})(?!\w)(?:\[[^\]\n]{{0,99}}\])?(?:\s|\\\n)*(?:\+\+|--|[-+*/%&|^<>:]{{0,2}}=)"
    r"|[+-]{2}(?:\s|\\\n)*(\w+)"
)
"""A name that arithmetics or ``${...}`` assign."""
_ASSIGNMENT = re.compile(r"\+\+|--|<<=|>>=|(?<![=!<>])=(?!=)")
"""The operators of arithmetics that assign."""
_HAS_ARITHMETICS = re.compile(r"\[(?![@*]\])|:(?![-=+?])")
"""What ``${...}`` has that computes: an index, a length."""
_USED = re.compile(r"\$\{?\w+\}?")
_COMPARES = re.compile(r"\s-(?:eq|ne|[lg][te])\s")
_ARITHMETIC = re.compile(r"\(\((?:[^()]|\([^()]{0,200}\)){0,500}\)\)")
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
_EXPANSION = re.compile(rf"\$(?:\{{[^{{}}\n\"'\\$`]*\}}|{NAME.pattern}|[0-9@*\#?!$-])")
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
        """Return what follows the first characters of its value; an empty part at the end if nothing does.

        A part that is a default stays, however little of it does: there may be more.
        """
        kept = []
        for part in self.parts:
            value = part.value or ""
            cut = min(length, len(value))
            length -= cut
            if cut == len(value) and part.value is not None and not part.is_default:
                continue
            if cut:
                start, end = part.span
                is_written = end - start == len(value)  # else it is shown where a variable is used
                part = part._replace(span=(start + is_written * cut, end), value=value[cut:])
            kept.append(part)
        end = self.span[1]
        return ShellWord(tuple(kept) or (WordPart((end, end), ""),))


class Assignment(NamedTuple):
    """:param words: None: what it assigns is not known
    :param is_local: None: as the name is where it is assigned
    :param is_bound: whether the name may not become what is assigned to it later
    """

    name: str
    words: tuple[ShellWord, ...] | None = None
    adds: bool = False
    is_list: bool = False
    is_local: bool | None = None
    is_bound: bool = False


class Statement(NamedTuple):
    """A simple command.

    :param assigned: the assignments in front of the command, or those that the command itself declares
    :param sets: names that its expansions may set
    """

    words: tuple[ShellWord, ...]
    assigned: tuple[Assignment, ...]
    sets: tuple[str, ...]
    span: tuple[int, int]
    path: Path


class Reader:
    """Divides a text into statements.

    :ivar is_sound: whether it is a script, and all of it was understood
    :ivar functions: blocks of functions, with the places of their bodies
    :ivar names: words of the names of functions
    :ivar spelled: the names of ``SPELLED``: those that the text of a word assigns
    :ivar documents: here documents; whether each is a script as it is written
    """

    def __init__(self, text: str, start: int, end: int, is_script: bool, is_format: bool) -> None:
        self.text = text
        self._span = self._at, self._end = start, end
        self._is_script, self._is_format = is_script, is_format
        self.is_sound = is_script
        self.statements: list[Statement] = []
        self.functions: dict[int, tuple[int, int]] = {}
        self.names: set[str] = set()
        self.spelled: set[str] = set()
        self.loops: set[int] = set()
        self.documents: list[tuple[int, int, bool]] = []
        self._opened: list[tuple[str, bool]] = []
        """The last lines of the here documents that begin after this line."""
        self._sets: list[str] = []
        self._path: Path = ()
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

    def _enclose(self, first: int, base: Path) -> None:
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
            if word in ("for", "select") and self._skip(_BLANK) and (name := self._match(NAME)):
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
            start = self._at
            open_brackets = 0 if self._is_at("(") else 1
            while self._skip(_BLANK_LINES):
                open_brackets += self._is_at("(") - self._is_at(")")
                if not self._word().parts:
                    self._at += 1
                if not open_brackets:
                    break
            self._emit([], [], start)
            if self._block(";;&", ";;", ";&", "esac") in ("esac", ""):
                return
        self.is_sound = False

    def _test(self) -> None:
        start = self._at
        spans: list[tuple[int, int]] = []
        while self._skip(_BLANK_LINES):
            word = self._word()
            if word.value == "]]":
                if _COMPARES.search(self.text, start, self._at):
                    for span in spans:
                        self._computes(self.text[slice(*span)])
                self._emit([], [], start)
                return
            if word.parts:
                spans.append(word.span)
            else:
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
        assigned: list[Assignment] = []
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
            elif (not words or words[0].value in DECLARES) and (match := self._match(_ASSIGNS)):
                assigned.append(self._assignment(match))
            else:
                words.append(self._word())
                if words[0].value in DECLARES and len(words) == 1:
                    self._sets += [each.name for each in assigned]
                    assigned = []
        self._emit(words, assigned, start)

    def _emit(self, words: list[ShellWord], assigned: list[Assignment], start: int) -> None:
        if words or assigned or self._sets:
            span = start, self._at
            self.statements.append(Statement(tuple(words), tuple(assigned), tuple(self._sets), span, self._path))
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
        for key, is_script in self._opened:
            lines = self._lines.get(key, [])
            number = bisect_left(lines, self._at)
            self.is_sound = self.is_sound and number < len(lines)
            if number < len(lines) and lines[number] < self._end:
                self.documents.append((self._at, lines[number], is_script))
                self._at = lines[number]
                self._skip(_LINE_OF_NAME)
        self._opened = []

    @cached_property
    def _lines(self) -> dict[str, list[int]]:
        """The places of the lines that may end a here document, by its name; `-NAME` with tabs before it."""
        lines: dict[str, list[int]] = {}
        for line in _LINE_OF_NAME.finditer(self.text, *self._span):
            for key in {line[1], f"-{line[1].lstrip()}"}:
                lines.setdefault(key, []).append(line.start())
        return lines

    def _assignment(self, match: re.Match[str]) -> Assignment:
        self._at = match.end()
        name, index, adds = match.groups()
        self._computes(index or "")
        words: list[ShellWord] = []
        if not self._is_at("("):
            at = self._at
            word = self._word(is_assigned=True)
            words.append(word if word.parts else ShellWord((WordPart((at, at), ""),)))
            return Assignment(name, None if index else tuple(words), bool(adds))
        self._at += 1
        while self._skip(_BLANK_LINES) and not self._is_at(")"):
            if (word := self._word()).parts:
                words.append(word)
                if self.text[word.span[0]] == "[":
                    self._computes(self.text[slice(*word.span)])
            else:
                self.is_sound = False
                self._at += 1
        self._at += 1
        return Assignment(name, tuple(words), bool(adds), is_list=True)

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
        self.spelled |= _assigned(text)
        for index in _INDEX.findall(text):
            self._computes(index)
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
            self._sets += _assigned(text)
            if text[2] == "!" and "=" in text:
                self._sets.append(ANY)
            if _HAS_ARITHMETICS.search(text):
                self._computes(text[2:])
        yield WordPart((start, self._at), None, text, is_quoted)

    def _arithmetic(self) -> bool:
        """Read ``((...))``, if it is here."""
        match = self._match(_ARITHMETIC)
        if match:
            self._at = match.end()
            self._computes(match[0])
        return match is not None

    def _computes(self, text: str) -> None:
        """Note what arithmetics may set: their names if they assign, or if a variable may stand for the operator; any
        name if a variable may stand for it; and what the values of variables assign.
        """
        assigns, expands = _ASSIGNMENT.search(text) is not None, "$" in text or "`" in text
        if names := set(NAME.findall(text)):
            self._sets.append(SPELLED)
        if assigns or expands:
            self._sets += names if assigns else set(NAME.findall(_USED.sub("", text)))
        if assigns and expands:
            self._sets.append(ANY)

    def _substitution(self, size: int, is_quoted: bool, start: int | None = None) -> WordPart:
        """Read the commands in ``$(...)`` or ``<(...)``."""
        start = self._at if start is None else start
        self._at += size
        if self._goes_deeper():
            self._block(")")
        return WordPart((start, self._at), None, self.text[start : self._at][:2], is_quoted)


def _assigned(text: str) -> set[str]:
    """Return the names that a text assigns if it is one of arithmetics or of ``${...}``."""
    return {each[1] or each[2] for each in _ASSIGNED.finditer(text)}
