"""Scripts: what each of their commands sets, and where the files are that they name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from ...errors import Refused, UsageFault, join_some
from ...opening import first_file, is_below
from ..text.source import Source, read_bytes
from .settings import COMPILERS, Setting, Settings
from .settings_in_python import python_settings
from .settings_in_text import cpp_settings, text_settings
from .settings_of_lite import lite_as_atc

SHELL = (".sh", ".bash")
CPP = (".cc", ".cpp", ".cxx", ".h", ".hpp")
SCRIPTS = (*SHELL, ".ini", ".cfg", ".config", ".py", *CPP)
"""Endings of the files that are read."""
_MOST_FOLDERS = 20
"""The most changes of folder of one script that are considered."""
_CHANGE_FOLDER = re.compile(r"^[ \t]*(?:cd|pushd)[ \t]+[\"']?([\w./-]+)", re.MULTILINE)
_LEADING_VARIABLE = re.compile(r"^(?:\$\w+|\$\{[^}]*\}|\$\([^)]*\)|\{[^}]*\}|~)/")
_SHEBANG = re.compile(r"#!.*\b(?:ba|da|z)?sh\b")
_AT_LINE = re.compile(r"(.*):(\d{1,9})", re.DOTALL)
_COMMAND_LINE = "--atc"


def script_settings(source: Source) -> list[Settings] | None:
    """Return what each command, section or object of a script sets; None for what is no valid Python.

    The reader is chosen by the file's ending, or its first line.
    """
    if source.path.endswith(".py"):
        return python_settings(source)
    if source.path.endswith(CPP):
        return list(cpp_settings(source.text))
    is_shell = source.path.endswith(SHELL) or _SHEBANG.match(source.text) is not None
    return list(text_settings(source.text, is_shell))


def without_variable(path: str) -> str:
    """Return a path whose first folder is computed as one that is relative: ``$DIR/a.json`` as ``./a.json``."""
    return _LEADING_VARIABLE.sub("./", re.sub("[\"']", "", path))


def folders_of(text: str, folder: str, top: str) -> Iterator[str]:
    """Yield the folders that a path of a script may be relative to: the working folder, its own, those above, and those
    that it changes to.

    :param folder: that of the script
    :param top: the folder above which nothing is searched
    """
    here = os.path.realpath(os.curdir)
    if here == top or is_below(here, top):
        yield os.curdir
    above, absolute = folder, os.path.realpath(folder)
    below = dict.fromkeys(match[1] for match in _CHANGE_FOLDER.finditer(text))
    while True:
        yield above
        yield from (os.path.join(above, name) for name in islice(below, _MOST_FOLDERS))
        if absolute in (top, "/"):
            return
        above, absolute = os.path.join(above, ".."), os.path.dirname(absolute)


def candidates(path: str, folders: list[str]) -> Iterator[str]:
    """Yield where a file may be; a path that begins with ``../`` may be meant for a folder below that of the script."""
    if os.path.isabs(path):
        yield path
        return
    for tail in dict.fromkeys((path, re.sub(r"^(\.\.?/)+", "", path))):
        yield from (os.path.join(folder, tail) for folder in folders)


@dataclass(frozen=True)
class AtcCommand:
    """One command of atc, aoe or MindSpore Lite's converter: all that it sets, however it is written.

    >>> command = read_atc("atc --model=m.onnx --framework=5 --soc_version=$SOC --keep_dtype=keep.cfg")
    >>> command.value("framework"), command.value("soc_version"), command.value("output")
    ('5', None, None)
    >>> [setting.option for setting in command.unknown]
    ['soc_version']
    >>> command.path("keep_dtype")  # where it is, or as it is written if it is nowhere
    'keep.cfg'

    :param source: of the text that it is written in; ``place(setting.span[0])`` is the place of a value
    :param settings: its options, by the names that atc has for them, without dashes; of equal ones the last counts
    """

    source: Source
    settings: Settings

    def value(self, option: str) -> str | None:
        """Return the value of an option; None if it is not given, is empty, or is not known: see ``unknown``."""
        setting = self.settings.last(option)
        return setting.value if setting else None

    def path(self, option: str) -> str | None:
        """Return the path that an option names, from the working folder: one that the text names relative to the folder
        of the script, to one above it, or to one that it changes to, is looked for there. None as for :meth:`value`;
        a path whose first folder is computed is known if the rest of it is found.
        """
        setting = self.settings.last(option)
        if setting is None:
            return None
        written = setting.text if setting.value is None else setting.value
        found = first_file(candidates(without_variable(written), self._folders))
        return os.path.normpath(found) if found else setting.value

    @property
    def unknown(self) -> list[Setting]:
        """The options whose values depend on what the text does not show, the last of each."""
        last = {setting.option: setting for setting in self.settings.options}
        return [setting for setting in last.values() if setting.value is None]

    @property
    def is_whole(self) -> bool:
        """Whether it certainly has no other options: no word of it is a variable that is not known."""
        return self.settings.is_whole

    @property
    def line(self) -> int:
        """The line of its first option."""
        return self.source.place(min(setting.span[0] for setting in self.settings.options)).line

    @cached_property
    def _folders(self) -> list[str]:
        if self.source.path == _COMMAND_LINE:
            return [os.curdir]
        return list(folders_of(self.source.text, os.path.dirname(self.source.path) or ".", "/"))


def read_atc(text: str) -> AtcCommand:
    """Return the command of ``--atc FILE[:LINE]|COMMAND``.

    FILE is a script in shell or Python, or any text with command lines; LINE is needed if it has several commands.
    COMMAND is a command line, with or without the word atc.

    :raises UsageFault: if there is no command of atc, or there are several and no line names one; the hint lists them
    :raises OpsinfoError: if the file, or the configuration of MindSpore Lite's converter, cannot be read
    """
    match = _AT_LINE.fullmatch(text)
    path, line = (match[1], int(match[2])) if match and not os.path.isfile(text) else (text, None)
    if not os.path.isfile(path):
        if not re.search(r"\s|^-", text):
            raise Refused(f"no such file: {text}", hint="give a script that runs atc, or the command itself in quotes")
        line = None
        command = f"atc {text}" if text.lstrip().startswith("-") else text
        source = Source(command.encode("utf-8", "surrogateescape"), _COMMAND_LINE, strict=False)
        found = list(text_settings(source.text, is_shell=True))
    else:
        source = Source(read_bytes(path), path, strict=False)
        found = script_settings(source) or []
    commands: dict[tuple[tuple[int, int], ...], AtcCommand] = {}
    for settings in found:
        if settings.program in (*COMPILERS, "converter_lite") and settings.options:
            spans = tuple(setting.span for setting in settings.options)
            if spans not in commands or settings.is_whole:
                commands[spans] = AtcCommand(source, settings)
    chosen = _chosen(list(commands.values()), source.path, line)
    return _of_lite(chosen) if chosen.settings.program == "converter_lite" else chosen


def _of_lite(command: AtcCommand) -> AtcCommand:
    """Return a command of MindSpore Lite's converter as one of atc, with what its configuration sets."""
    config, path = "", command.path("configFile")
    if path is not None:
        if not os.path.isfile(path):
            message = f"no such file: {path}, the --configFile of the command"
            raise Refused(message, path=command.source.path, line=command.line)
        config = Source(read_bytes(path), path, strict=False).text
    return AtcCommand(command.source, lite_as_atc(command.settings, config))


def _chosen(commands: list[AtcCommand], path: str, line: int | None) -> AtcCommand:
    """Return the command on a line, or the only one."""
    places = [f"{path}:{command.line}" for command in commands]
    if not commands:
        raise UsageFault(f"no command of atc with options: {path}", hint="opsinfo reads `atc --model=... --...`")
    if line is not None:
        for command in commands:
            lines = [command.source.place(setting.span[0]).line for setting in command.settings.options]
            if min(lines) - 1 <= line <= max(lines) + 1:
                return command
        raise UsageFault(f"no command of atc at line {line}: {path}", hint=f"it has {join_some(places, 10)}")
    if len(commands) > 1:
        raise UsageFault(f"{path} has {len(commands)} commands of atc", hint=f"name one: {join_some(places, 10)}")
    return commands[0]
