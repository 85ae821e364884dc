"""The compiler's options in the text of shell scripts and of inis."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

from .settings import KINDS, MODE_OPTIONS, OPTIONS, Setting, Settings

NAMES = re.compile("|".join(OPTIONS))
"""What a text has that sets an option."""
_OPTION = re.compile(
    rf"(?:(?<![\w-])(?P<dashes>--?)|(?P<ge>\bge\.(?:exec\.)?)|(?<![\w.-]))(?P<option>{'|'.join(OPTIONS)})\b[\"']?"
    r"(?(dashes)(?:=|(?:[ \t]|\\\r?\n)+)|[ \t]*[=:][ \t]*)"
    r"(?:\"(?P<double>[^\"\n]{0,999})\"|'(?P<single>[^'\n]{0,999})'"
    r"|(?P<bare>(?:\$\{[^}\n]{0,99}\}|\$\([^)\n]{0,99}\)|\{[^}\n]{0,99}\}|[^\s\"',;}{\\|&<>()])*))",
)
_LINE = re.compile(r"[^\\\n]*(?:\\(?:\r?\n|.)[^\\\n]*)*\n?", re.DOTALL)
"""A line with those that continue it."""
_PIECE = re.compile(
    r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"|'[^']*'|\\.|(?P<comment>(?<!\S)#[^\n]*)|(?P<end>[;&|\n]+)|[^\"'\\;&|#\n]+|.",
    re.DOTALL,
)
_SECTION = re.compile(r"[ \t]*\[([^\]\n]*)\]")
_FIRST_OPTION = re.compile(r"\s[\"']?--?[a-zA-Z]")
_COMPILER = re.compile(r"(?:^|[\s/\"'=`({])(atc|aoe)(?:\.bin)?(?=[\s\"'])")
"""A program that has these options; with a variable before it, as in ``${install_path}/bin/atc``."""
_OPTION_NEXT = re.compile(r"[\"']?(?:[ \t]|\\\r?\n)+[\"']?--?[a-zA-Z]")
_VARIABLE_WORD = re.compile(r"\s[\"']?[$`]")
_PRINTS = re.compile(r"\s*(?:echo|printf)\b")
_LITE_SECTIONS = frozenset({"ascend_context", "acl_option_cfg_param"})
"""Sections of MindSpore Lite whose ``precision_mode`` is that of the engine."""
_ASSIGNED = re.compile(
    r"(?<![\w$-])(\w+)\+?=|\bfor[ \t]+(\w+)[ \t]+in\b|\bgetopts[ \t]+\S+[ \t]+(\w+)|\bread[ \t]+([\w \t-]+)"
)
_LITERAL = re.compile(
    r"^(?:(?:export|readonly|declare)[ \t]+)?(\w+)=(?:\"([^\"$`\\\n]*)\"|'([^'\n]*)'|([^\s\"'$`\\;&|()<>#]*))"
    r"[ \t\r]*(?:;|#.*)?$",
    re.MULTILINE,
)
_BLOCK = re.compile(r"(?:^|[;&|(]|\b(?:then|do|else))[ \t]*(?:(if|for|while|until|case|select)|(fi|done|esac))\b", re.M)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


def text_settings(text: str, is_shell: bool) -> Iterator[Settings]:
    """Yield what each command of a file sets, then what each section sets apart from commands.

    :param is_shell: whether a name with ``=`` sets a variable of the script, and not an option
    """
    expand: Expand = _Variables(text).expand if is_shell else str
    sections = [_Section("")]
    for line in _LINE.finditer(text):
        if match := _SECTION.match(line[0]):
            sections.append(_Section(match[1].strip()))
        if not NAMES.search(line[0]) or line[0].lstrip().startswith(";"):
            continue
        commands = _Commands(line[0])
        by_command: dict[int, list[Setting]] = {}
        for match in _OPTION.finditer(line[0]):
            command = commands.at(match.start())
            if command is None:
                continue
            setting = _setting(match, line.start(), expand)
            if match["dashes"]:
                by_command.setdefault(command, []).append(setting)
            elif not is_shell or setting.option in KINDS:  # others are variables of the script
                sections[-1].add(setting, match["ge"] is not None)
        for command, settings in by_command.items():
            yield Settings(settings, *_compiler_of(commands[command]))
    modes = [each for section in sections for each in section.modes]
    for section in sections:
        if section.modes or len(modes) != 1:
            yield Settings(section.settings, section.has_modes)
        elif section.settings:  # one without a mode has that of the others, if they have only one
            yield Settings([*section.settings, *modes], is_engine=True)


Expand: TypeAlias = Callable[[str], "str | None"]
"""Returns a value with its variables replaced; None if it depends on others."""


class _Section:
    """A section of an ini; the start of the file has no name.

    :ivar has_modes: whether modes in it are the engine's
    """

    def __init__(self, name: str) -> None:
        self.settings: list[Setting] = []
        self.has_modes = name in _LITE_SECTIONS

    def add(self, setting: Setting, is_ge: bool) -> None:
        self.settings.append(setting)
        self.has_modes = self.has_modes or (is_ge and setting.option in MODE_OPTIONS)

    @property
    def modes(self) -> list[Setting]:
        return [each for each in self.settings if each.option in MODE_OPTIONS] if self.has_modes else []


def command_in(text: str, start: int, end: int) -> Settings:
    """Return the options in a string of a program that holds a command line, as it is written in the text.

    A part in braces, or with ``%``, is a variable.
    """
    part = text[start:end]
    settings = [_setting(match, start, _expand_in_string) for match in _OPTION.finditer(part) if match["dashes"]]
    return Settings(settings, is_engine=_compiler_of(part)[0])


def _setting(match: re.Match[str], offset: int, expand: Expand) -> Setting:
    group = next(name for name in ("double", "single", "bare") if match[name] is not None)
    written, (start, end) = match[group], match.span(group)
    value = written if group == "single" else expand(written)
    return Setting(OPTIONS[match["option"]], value, written, (offset + start, offset + end))


def _expand_in_string(text: str) -> str | None:
    """Return a value in a string of Python; None if it has a variable: braces, or ``%``."""
    return None if re.search(r"[${}%`]", text) else text


class _Commands:
    """The commands of a line and of those that continue it, and its comments."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._starts = [0]
        self._comments: set[int] = set()
        for piece in _PIECE.finditer(line):
            if piece["comment"] is not None:
                self._comments.add(len(self._starts))
                self._starts.append(piece.start())
            elif piece["end"] is not None:
                self._starts.append(piece.end())

    def at(self, offset: int) -> int | None:
        """Return the number of the command at an offset; None in a comment."""
        number = bisect_right(self._starts, offset) - 1
        return None if number in self._comments else number

    def __getitem__(self, number: int) -> str:
        return self._line[slice(*[*self._starts, len(self._line)][number : number + 2])]


def _compiler_of(command: str) -> tuple[bool, bool]:
    """Return whether a command runs the compiler, once, and whether all of its options are written here.

    They are not if a word of it is a variable, or if it is a string, which may be put together from parts. For aoe it
    is not known whether it needs a mode.
    """
    found = list(_COMPILER.finditer(command))
    if len(found) != 1 or _PRINTS.match(command):
        return False, False
    program, first = found[0], _FIRST_OPTION.search(command)
    if first is None or (program.end() > first.start() and not _OPTION_NEXT.match(command, program.end())):
        return False, False
    before, after = command[: program.end()], command[program.end() :]
    is_string = before.count('"') % 2 or before.count("'") % 2
    return True, program[1] == "atc" and not is_string and not _VARIABLE_WORD.search(after)


class _Variables:
    """The variables of a shell script that have one value, a literal, from an assignment that always runs."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _values(self) -> dict[str, str]:
        assigned = Counter[str]()
        for match in _ASSIGNED.finditer(self._text):
            assigned.update(next(filter(None, match.groups())).split())
        opens = [(match.start(), 1 if match[1] else -1) for match in _BLOCK.finditer(self._text)]
        places, depths = [0, *(place for place, _ in opens)], [0, *accumulate(step for _, step in opens)]
        return {
            match[1]: match[2] or match[3] or match[4] or ""
            for match in _LITERAL.finditer(self._text)
            if assigned[match[1]] == 1 and depths[bisect_right(places, match.start()) - 1] == 0
        }

    def expand(self, text: str) -> str | None:
        """Return a value with its variables replaced; None if it depends on others."""
        values = self._values if "$" in text else {}
        done = _VARIABLE.sub(lambda match: values.get(match[1] or match[2], "$"), text)
        return None if re.search(r"[$`]", done) else done
