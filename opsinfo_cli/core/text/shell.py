"""Commands of a shell script as the shell would run them, as far as the text alone shows it, with places.

A word has a value only if bash would give it no other. Three things decide that:

- The blocks of ``shell_syntax``. A value that is assigned in a block is known inside that block; outside, the block may
  or may not have run. In a loop, later commands of its body may have run before; in a function, any command outside of
  it may have. The variables that a function sets, its locals aside, may have been set before any command.
- ``DECLARES``: the builtins that assign, with the options that leave a value as it is written.
- ``_SETS``: the builtins that may set the names in their text, or any name if a part of that text is not known.

What a command sets is decided by its words as they are written; one whose name comes of a variable that the script
assigns may set anything, unless the variable has a value that does not. A command that comes from outside of the
script (``$LAUNCHER``, ``$(which atc)``) counts as a program, which sets nothing, and a number from there as a number.

A script that is not understood as a whole has no values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .shell_syntax import ANY, DECLARES, NAME, SPELLED, Assignment, Path, Reader, ShellWord, Statement, WordPart

_MOST_PARTS = 1500
"""The most words that the value of a variable, or a command, has."""
_MOST_VALUES = 50
"""The most assignments before another of the same name among which ``local`` is looked for."""
_MOST_REPLACED = 100_000
"""The most parts of words, and assignments, that are looked at before variables count as unknown."""
_SETS = {
    **dict.fromkeys(("eval", "source", ".", "trap", "read", "readarray", "mapfile", "getopts", "unset", "let"), ""),
    **dict.fromkeys(("alias", "builtin", "command", "coproc", "enable"), ""),
    "printf": "-v",
    "wait": "-[nf]*p",
}
"""Each with the option, among the first arguments, without which it sets nothing."""
_WAIT_OPTION = re.compile(r"wait(?: +-\w+)* +-[nf]*p|[=(\"']-[nf]*p")
"""What a script has if ``wait`` may be given ``-p``, as written or by a variable."""
_LONGEST_OPTIONS = 8
"""The most letters of options before a name in the same word: ``-raNAME``."""
_READS_AGAIN = frozenset({"eval", "ssh", "xargs"})
"""Commands that divide their words once more."""
_AT_ANY_TIME = re.compile("DEBUG|ERR|RETURN")
"""Traps that run between commands."""
_OWN = re.compile(
    r"_|BASH\w*|COLUMNS|COMP_\w*|COPROC\w*|DIRSTACK|EPOCH\w*|E?UID|FUNCNAME|GROUPS|HISTCMD|LINENO|LINES|MAPFILE|OLDPWD"
    r"|OPTARG|OPTIND|PIPESTATUS|PPID|PWD|S?RANDOM|REPLY|SECONDS|SHELLOPTS|SHLVL"
)
"""Variables that the shell itself sets."""
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:(:?)[-=]([^}]*))?\})")
_USED = re.compile(r"\$\{?!?([@*]|\w+)")
_LIST = re.compile(r"\$\{(\w+)\[([@*])\]\}")
_DIVIDES = re.compile(r"[*?\[ \t\n]")
_SPECIAL = re.compile(r"[^\w./:=,@%+-]")
"""What a shell that reads a word once more may not keep."""


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


_NOTHING = _Value((), False)
"""The value of what was taken for an assignment, and is none."""


def commands(text: str, start: int = 0, end: int | None = None, *, is_format: bool = False) -> Iterator[ShellCommand]:
    """Yield the commands of a script, or of a part of a text, and those in its ``$(...)`` and here documents.

    In a part, which may be a string, variables have no values but their defaults, and ``\"`` is a quote.

    :param is_format: whether ``{name}`` and ``%s`` are replaced by something else, as in strings of Python
    """
    is_script = end is None
    parts = [(start, len(text) if end is None else end, is_script)]
    while parts:
        start, end, is_script = parts.pop()
        reader = Reader(text, start, end, is_script, is_format)
        yield from sorted(_Values(reader).commands(), key=lambda each: each.span)
        parts += reversed(reader.documents)


@dataclass
class _Event:
    """An assignment.

    :ivar at: its number in the order in which they would run
    :ivar function: the block of the function that it is in; 0 if it is in none
    :ivar value: None if it is not known, or not yet
    """

    at: int
    path: Path
    given: Assignment
    function: int
    is_local: bool
    value: _Value | None = None

    def as_written(self) -> _Value | None:
        words = self.given.words
        return _Value(words, self.given.is_list) if words and all(map(_is_known, words)) else None


class _Values:
    """The values of the variables while the statements run one after the other."""

    def __init__(self, reader: Reader) -> None:
        self._text, self._functions, self._loops = reader.text, reader.functions, reader.loops
        self._is_sound = reader.is_sound
        self._left = _MOST_REPLACED
        self._own: dict[str, int] = {}
        """Where the names that one expansion of a command sets have the values that it sees."""
        self._names, self._spelled = reader.names, reader.spelled
        self._calls = {
            block
            for block, (start, end) in self._functions.items()
            if not self._names.isdisjoint(re.findall(r"\w+", self._text[start:end]))
        }
        """Functions that may call themselves."""
        self._setting = {*self._names, *DECLARES, *_SETS}
        """Commands that may set variables."""
        self._events: dict[str, list[_Event]] = {}
        self._plan: list[tuple[Statement, int, list[_Event]]] = []
        at = 0
        for statement in reader.statements:
            function = self._function(statement.path)
            events = []
            for number, given in enumerate(self._effects(statement, function > 0), at):
                before = self._events.setdefault(given.name, [])
                latest = next((each for each in reversed(before[-_MOST_VALUES:]) if each.is_local), None)
                is_local = given.is_local
                if is_local is None:
                    is_local = (
                        latest is not None and latest.function == function and _is_in(statement.path, latest.path)
                    )
                events.append(_Event(number, statement.path, given, function, is_local))
            for event in events:
                self._events[event.given.name].append(event)
            self._plan.append((statement, at, events))
            at += len(events)
        self._is_sound = self._is_sound and "PS4" not in self._events  # with `set -x` it computes at any time

    def _function(self, path: Path) -> int:
        return next((block for block in reversed(path) if block in self._functions), 0)

    def _effects(self, statement: Statement, is_in_function: bool) -> Iterator[Assignment]:
        """Yield what a statement assigns, or may assign: the tables at the top."""
        yield from map(Assignment, statement.sets)
        if not statement.words:
            yield from statement.assigned
            return
        first, *others = (word.value for word in statement.words)
        is_call = first is None or first[:1] == "-" or first in self._names
        if first in DECLARES:
            options = "".join(each for each in others if each and each[0] in "-+")
            is_known = re.fullmatch(f"(?:{DECLARES[first]})*", options) and (first != "local" or is_in_function)
            is_known = is_known and not is_call
            self._is_sound = self._is_sound and ("n" not in options or first == "export")
            is_bound = first == "readonly" or (first != "export" and not {*"-x"}.issuperset(options))
            is_local = (is_in_function and "g" not in options) if first not in ("export", "readonly") else None
            flags = is_local, is_bound
            for each in statement.assigned:
                yield Assignment(each.name, each.words if is_known else None, each.adds, each.is_list, *flags)
            for word in statement.words[1:]:
                value = word.value
                if value is None:
                    yield Assignment(ANY)
                elif first == "readonly" and NAME.fullmatch(value):
                    itself = ShellWord((WordPart(word.span, None, f"${value}", is_quoted=True),))
                    yield Assignment(value, (itself,), False, False, *flags)
                elif value[:1] not in ("-", "+") and not (first == "export" and NAME.fullmatch(value)):
                    yield from (Assignment(name, None, False, False, *flags) for name in NAME.findall(value))
            if "i" in options:
                yield Assignment(SPELLED, is_bound=True)
        elif is_call or first in _SETS:
            yield from (Assignment(each.name) for each in statement.assigned)
        if is_call:
            named = (re.fullmatch(rf"({NAME.pattern})(?:\+?=.*)?", each or "", re.DOTALL) for each in others)
            yield from (Assignment(match[1]) for match in named if match)
            runs = first is None and not (is_in_function and statement.words[0].parts[0].computes == "$@")
            if runs or (None in others and others[0] in {*DECLARES, *_SETS}):  # run() { "$@"; }; run let "$N"
                yield Assignment(ANY)
        is_of_process = first == "wait" and not _WAIT_OPTION.search(self._text)  # `wait $!`
        if first in _SETS and not is_of_process and _may_set(statement.words[1:], _SETS[first]):
            text = self._text[slice(*statement.span)]
            names = {*NAME.findall(text)}
            for value in others:
                if value and value[0] == "-":
                    starts = range(2, 2 + _LONGEST_OPTIONS)
                    names |= {match[0] for start in starts if (match := NAME.match(value, start))}
            yield from (Assignment(name, is_bound=first == "trap") for name in sorted(names))
            if first == "let":
                yield Assignment(SPELLED)
            if None in others or first in ("source", "."):
                yield Assignment(ANY, is_bound=first == "trap" and _AT_ANY_TIME.search(text) is not None)

    def commands(self) -> Iterator[ShellCommand]:
        for statement, at, events in self._plan:
            self._own = {name: at for name, many in Counter(statement.sets).items() if statement.words and many == 1}
            at += len(statement.sets)
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
            if words and not self._sets_anything(words[0], statement.words[0]):
                for event in events[len(statement.sets) :]:
                    event.value = _NOTHING if event.given.name == ANY else event.value
            if words:
                if words[0].value in _READS_AGAIN:
                    words, is_whole = [_read_again(word) for word in words], False
                is_whole = is_whole and words[0].value not in self._names
                yield ShellCommand(tuple(words[:_MOST_PARTS]), statement.span, is_whole)

    def _sets_anything(self, command: ShellWord, written: ShellWord) -> bool:
        """Return whether a command that comes of a variable may be one that sets variables.

        One that is not known sets none if the script assigns nothing that it comes of: it is a program. ``$@`` and the
        like may be assigned by ``set``.
        """
        if command.value is not None:
            return command.value in self._setting
        sources = {name for part in written.parts for name in _USED.findall(part.computes)}
        return any(name in self._events or not NAME.match(name) for name in sources)

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

    def _value(self, name: str, at: int, path: Path) -> _Value | None:
        """Return the value that a variable has at a place; None if the text does not show it.

        The latest that certainly runs counts; it is a default if others, which are not known, may run after it.
        """
        events = self._events.get(name, [])
        anything = self._events.get(ANY, [])
        spelled = self._events.get(SPELLED, []) if name in self._spelled else []
        self._left -= len(events) + len(anything) + len(spelled)
        if self._left < 0 or not self._is_sound or _OWN.fullmatch(name):
            return None
        anything = [*anything, *spelled]
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
            if each.function not in (0, *path):  # A=1; f() { A=2; }; f; use $A
                return is_called or not each.is_local
            if each.at < at:  # A=1; if ...; then A=2; fi; use $A
                return is_called or each.at > found.at
            # A=1; f() { use $A; }; A=2; f, or a loop or a recursion that comes back to the use
            recurs = each.function in self._calls and not each.is_local
            return is_called or recurs or (loop is not None and _is_in(each.path, loop))

        if any(each.given.is_bound and each.at < found.at for each in (*events, *anything)):
            return None
        others = (each for each in (*events, *anything) if each is not found and each.value is not _NOTHING)
        following = list(filter(may_follow, others))
        later = [each.value or each.as_written() for each in following]
        if not later:
            return found.value
        lists = [found.value, *(each for each in later if each and each.is_list)]
        if found.value.is_list:
            words = max((each.words for each in lists), key=len)
            return _Value(_as_default(words), True, is_whole=False)
        is_other = any(each and (each.is_list or _is_known(each.words[0])) for each in later)
        return None if is_other else _Value(_as_default(found.value.words), False)

    def _replaced(self, word: ShellWord, at: int, path: Path, divides: bool = True) -> _Value:
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

    def _expanded(self, part: WordPart, at: int, path: Path, divides: bool, is_bare: bool) -> Iterator[WordPart]:
        """Yield what a part becomes, with the place of the part, or with the places in the value.

        :param is_bare: whether it is all of a word
        """
        match = _VARIABLE.fullmatch(part.computes)
        name, default = (match[1] or match[2], match[4]) if match else ("", None)
        if match and default is not None and part.computes[match.start(4) - 1] == "=":
            at = self._own.get(name, at)
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


def _may_set(arguments: tuple[ShellWord, ...], option: str) -> bool:
    """Return whether the first arguments may have an option: they do if one is not known, and may be it."""
    for word in arguments if option else ():
        value = word.value
        if value is None:
            known = "".join(part.value or "" for part in word.parts)
            is_divided = any(part.value is None and not part.is_quoted for part in word.parts)
            return is_divided or re.fullmatch(r"-?[\w\[\]]*", known) is not None
        if re.match(option, value):
            return True
        if value[:1] != "-":
            return False
    return not option


def _is_known(word: ShellWord) -> bool:
    return word.value is not None


def _is_in(path: Path, block: Path) -> bool:
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
