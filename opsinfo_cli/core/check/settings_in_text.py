"""The compiler's options in the text of shell scripts, of inis, and of other files that have command lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

from ..text.shell import ShellCommand, commands
from ..text.shell_syntax import ShellWord
from .settings import COMPILERS, FILE_KINDS, LITE_MODES, MODE_OPTIONS, OPTIONS, PADDLE_LITE, Program, Setting, Settings

NAMES = re.compile("|".join(OPTIONS))
"""What a text has that sets an option."""
CONVERTER = re.compile(r"\bconverter_lite\b[^|;&]{1,2000}--modelFile\b")
"""What a text has that runs MindSpore Lite's converter."""
_OPTION = re.compile(r"--?([A-Za-z]\w*)(=?)")
_DASHED = re.compile(rf"(?<![\w-])--?(?:{'|'.join(OPTIONS)})\b")
_SET = re.compile(
    rf"(?<![\w.$-])(?P<ge>ge\.(?:exec\.)?)?(?P<option>{'|'.join(OPTIONS)})\b[\"']?[ \t]*[=:][ \t]*"
    r"(?:\"(?P<double>[^\"\n]{0,999})\"|'(?P<single>[^'\n]{0,999})'"
    r"|(?P<bare>(?:\$\{[^}\n]{0,99}\}|\$\([^)\n]{0,99}\)|\{[^}\n]{0,99}\}|[^\s\"',;}{\\|&<>()])*))",
)
"""An option that is set outside of commands: in a line of an ini, a variable, a pair of JSON."""
_LINE = re.compile(r"[^\\\n]*(?:\\(?:\r?\n|.)[^\\\n]*)*\n?", re.DOTALL)
"""A line with those that continue it."""
_SECTION = re.compile(r"[ \t]*\[([^\]\n]*)\]")
_COMMENT = re.compile(r"^[ \t]*;|(?<!\S)#", re.MULTILINE)
_STRING = re.compile(r"\"((?:[^\"\\\n]|\\.){0,2000})\"")
_RUNS_NOTHING = frozenset(
    ("echo", "printf", "grep", "egrep", "rg", "find", "which", "type", "ls", "cat", "rm", "cp", "mv", "pgrep", "pkill")
)
"""Programs for which the name of a compiler is text, a file or a process."""
_RUN_BY_FIND = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
LITE_SECTIONS = frozenset({"ascend_context", "acl_option_cfg_param"})
"""Sections of MindSpore Lite whose ``precision_mode`` is that of the engine, in Lite's words."""


def text_settings(text: str, is_shell: bool) -> Iterator[Settings]:
    """Yield what each command of a file sets, then what each section sets apart from commands.

    :param is_shell: whether variables are those of a shell, and a name with ``=`` sets one of them, and not an option
    """
    if is_shell:
        for command in commands(text):
            yield from command_settings(text, command)
    sections = [_Section("")]
    for line in _LINE.finditer(text):
        if match := _SECTION.match(line[0]):
            sections.append(_Section(match[1].strip()))
        if not NAMES.search(line[0]) and not CONVERTER.search(line[0]):
            continue
        if (
            not is_shell
            and (_DASHED.search(line[0]) or CONVERTER.search(line[0]))
            and not line[0].lstrip().startswith(";")
        ):
            for command in commands(text, *line.span()):
                yield from command_settings(text, command)
        comment = _COMMENT.search(line[0])
        for match in _SET.finditer(text, line.start(), line.start() + comment.start() if comment else line.end()):
            option = OPTIONS[match["option"]]
            is_variable = match["option"].startswith(PADDLE_LITE) or option == "AUTOFUSE_FLAGS"
            if not is_shell or match["ge"] or option in FILE_KINDS or is_variable:
                sections[-1].add(match)
    modes = [each for section in sections for each in section.modes]
    for section in sections:
        if section.modes or len(modes) != 1:
            yield Settings(section.settings, section.has_modes, program=section.program)
        elif section.settings:  # one without a mode has that of the others, if they have only one
            yield Settings([*section.settings, *modes], is_engine=True)


def string_settings(text: str, start: int, end: int) -> Iterator[Settings]:
    """Yield the options in a string of a program: of a command line, or of a context of Paddle Lite.

    A part in braces, or with ``%``, is a variable.
    """
    if _DASHED.search(text, start, end) or CONVERTER.search(text, start, end):
        for command in commands(text, start, end, is_format=True):
            for settings in command_settings(text, command):
                yield settings._replace(is_whole=False)
    if text.find(PADDLE_LITE, start, end) >= 0:
        section = _Section("")
        for match in _SET.finditer(text, start, end):
            section.add(match)
        yield Settings(section.settings, section.has_modes, program=section.program)


def cpp_settings(text: str) -> Iterator[Settings]:
    """Yield the options in each string of a source in C++."""
    for match in _STRING.finditer(text):
        yield from string_settings(text, *match.span(1))


def command_settings(text: str, command: ShellCommand, is_nested: bool = False) -> Iterator[Settings]:
    """Yield the options of a command, and of the commands that its words are: ``bash -c "atc ..."``.

    Of atc, aoe and converter_lite all options are taken, of other programs those of ``OPTIONS``.
    """
    program, words = _program(command)
    options = []
    for number, word in enumerate(words):
        match = _OPTION.match(word.begins)
        if match is None or (program is None and match[1] not in OPTIONS):
            if not is_nested and re.search(r"\s", word.begins) and _DASHED.search(text, *word.span):
                for inner in commands(text, *word.span):
                    for settings in command_settings(text, inner, is_nested=True):
                        yield settings._replace(is_whole=False)
            continue
        following = words[number + 1] if number + 1 < len(words) else None
        if match[2]:
            options.append(_setting(match[1], word.after(match.end()), text))
        elif following is not None and not following.begins.startswith("-"):
            options.append(_setting(match[1], following, text))
    is_whole = program == "atc" and command.is_whole
    yield Settings(options, is_engine=program in COMPILERS, is_whole=is_whole, program=program)


def _program(command: ShellCommand) -> tuple[Program | None, tuple[ShellWord, ...]]:
    """Return the compiler that a command runs, and the words after it; other programs may come before it."""
    is_text = False
    for number, word in enumerate(command.words[:-1]):
        end = word.parts[-1].value or ""  # of one whose beginning is a variable: ``${install_path}/bin/atc``
        name = (word.value or end).rpartition("/")[2].removesuffix(".bin")
        is_text = (is_text or name in _RUNS_NOTHING) and name not in _RUN_BY_FIND
        known: Program | None = next((each for each in get_args(Program) if each == name), None)
        if known and not is_text and _OPTION.match(command.words[number + 1].begins or "-v"):
            return known, command.words[number + 1 :]
    return None, command.words


def _setting(name: str, word: ShellWord, text: str) -> Setting:
    start, end = span = word.span
    value = None if word.is_default and not word.value else word.value  # one that may be empty, or not
    return Setting(OPTIONS.get(name, name), value, text[start:end], span, word.is_default)


class _Section:
    """A section of an ini; the start of the file has no name.

    :ivar has_modes: whether modes in it are the engine's
    """

    def __init__(self, name: str) -> None:
        self.settings: list[Setting] = []
        self.program: Program | None = None
        self._is_lite = self.has_modes = name in LITE_SECTIONS

    def add(self, match: re.Match[str]) -> None:
        option, kind = (
            OPTIONS[match["option"]],
            next(each for each in ("double", "single", "bare") if match[each] is not None),
        )
        written, is_engine = match[kind], match["ge"] is not None
        value = None if kind != "single" and re.search(r"[$`{]", written) else written
        if value and self._is_lite and not is_engine and option == "precision_mode":
            value = LITE_MODES.get(value, value)
        self.settings.append(Setting(option, value, written, match.span(kind)))
        if match["option"].startswith(PADDLE_LITE):
            self.program, is_engine = "paddle-lite", True
        self.has_modes = self.has_modes or (is_engine and option in MODE_OPTIONS)

    @property
    def modes(self) -> list[Setting]:
        return [each for each in self.settings if each.option in MODE_OPTIONS] if self.has_modes else []
