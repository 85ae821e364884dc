"""What scripts and configurations say of the compiler: the files that they name, and the options beside them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from ...near_names import NearNames, did_you_mean
from ...opening import first_file, is_below
from ..cann.file_kind import NamedKind
from ..cann.option_files import KEEP_DTYPE
from ..cann.repository import git_root
from ..text.source import Source
from .autofuse import VARIABLE, check_autofuse
from .finding import Finding, PassedOver, at
from .rules import Severity
from .settings import FILE_KINDS, Setting, Settings, check_settings
from .settings_in_scripts import CPP, candidates, folders_of, script_settings, without_variable
from .settings_in_text import NAMES

OTHERS = ("", ".txt", ".md", ".rst", ".yaml", ".yml", ".toml", ".mk", ".cmake", ".bat", ".ps1", ".ipynb", ".conf")
"""Endings of other files that may name a mixlist; they are not read for what they say."""
LARGEST_OTHER = 1 << 20
_MIXLIST = re.compile(
    r"(?:modify_mixlist|mixprecision_list_path|MODIFY_MIXLIST_FILE_PATH)[\"'\]]?[ \t]*[=: ][^\n]*[./]"
)
_MOST_NAMED = 3
_COMPUTED_FOLDER = re.compile(
    r"^[ \t]*(?:cd|pushd)[ \t]+(?!.*(?:dirname|BASH_SOURCE|pwd|PWD))[\"']?[^\s\"']*[$`]|\bos\.chdir\((?!.*__file__)",
    re.MULTILINE,
)
"""A script that changes to a folder which is not known; its relative paths may be anywhere."""
_MAKES = re.compile(
    r"(?:>{1,2}|\btee|[ \t](?:-o|-O|--output))[ \t=]*[\"']?([^\s\"';|&<>()]+)"
    r"|\b(?:cp|mv|ln|sed)[ \t][^\n;|&]{0,500}[ \t][\"']?([^\s\"';|&<>()]+)"
    r"|\bopen\([ \t]*[\"']([^\"'\n]+)[\"'][ \t]*,[ \t]*(?:mode[ \t]*=[ \t]*)?[\"'][wax]"
)
"""How a script writes a file: by redirection, an option for output, a copy, or in Python."""


_MOST_REFERENCES = 1000
"""The most references of one script that are considered."""


def follow(source: Source, top: str | None, socs: Sequence[str] = ()) -> Followed | None:
    """Return what a script names and sets of the engine; None if it does neither.

    :param top: the folder out of which no reference is followed; None: the repository of the script, or the working
        folder if the script is in it, or its folder
    :param socs: SoC folders of the targets
    """
    if not NAMES.search(source.text) or (source.path.endswith(CPP) and "OP_ADD(" in source.text):
        return None
    folder = os.path.dirname(source.path) or "."
    if top is None:
        here = os.path.realpath(os.curdir)
        around = here if is_below(os.path.realpath(folder), here) else folder
        top = git_root(os.path.abspath(folder)) or around
    followed = Followed(source, folder, os.path.realpath(top))
    found = script_settings(source)
    if found is None:
        followed.is_read = False
        return followed if _MIXLIST.search(source.text) else None
    for settings in found:
        followed.findings.extend(check_settings(source, followed.files_of(settings), socs))
        for setting in settings.options:
            if setting.option == VARIABLE:
                followed.findings.extend(check_autofuse(source, setting))
    followed.findings = list(dict.fromkeys(followed.findings))
    is_engine = any(
        settings.options and (settings.is_engine or settings.options[0].option == VARIABLE) for settings in found
    )
    return followed if followed.count or followed.findings or is_engine else None


def names_mixlist(data: bytes) -> bool:
    """Return whether a file of another kind gives an option the path of a mixlist."""
    return b"\0" not in data[:1024] and _MIXLIST.search(data.decode("utf-8", "replace")) is not None


def not_followed(files: Sequence[str], paths: int) -> Iterator[str]:
    """Yield notes on files of other kinds that name a mixlist, and on paths in scripts that were not followed.

    :param paths: how many
    """
    if files:
        more = f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
        what = "file names a mixlist and is" if len(files) == 1 else "files name a mixlist and are"
        yield f"{len(files)} other {what} not read: {', '.join(files[:_MOST_NAMED])}{more}"
    if paths:
        what = "path in a script was" if paths == 1 else "paths in scripts were"
        yield f"{paths} {what} not followed; -v says why"


class Followed:
    """What one script names and sets.

    :ivar top: the folder out of which no reference is followed
    :ivar targets: the files that it names, with their kinds
    :ivar count: how many references there are
    :ivar is_read: False for what is no valid Python
    """

    def __init__(self, source: Source, folder: str, top: str) -> None:
        self.source = source
        self.top = top
        self.targets: list[tuple[NamedKind, str]] = []
        self.findings: list[Finding] = []
        self.passed_over: list[PassedOver] = []
        self.count = 0
        self.is_read = True
        self._folders = list(folders_of(source.text, folder, top))
        self._folder = folder
        self._seen: set[tuple[int, int]] = set()

    def files_of(self, settings: Settings) -> Settings:
        """Follow the files that settings name, and return these; ``--raw_ge_options`` has more, in a file not read."""
        for setting in settings.options:
            if setting.option == "raw_ge_options":
                self._pass_over(setting, "not considered: the options in a file of --raw_ge_options")
                self.count += 1
                settings = settings._replace(is_whole=False)
            kind = FILE_KINDS.get(setting.option)
            written = setting.value or setting.text
            is_computed = setting.value is None and setting.option == "modify_mixlist"
            is_path = is_computed or re.search(r"[./]", written) or (settings.is_whole and written)  # not `=True`
            if kind is None or setting.span in self._seen or not is_path:
                continue
            self._seen.add(setting.span)
            self.count += 1
            if self.count <= _MOST_REFERENCES:
                self._file(kind, setting, is_passed=settings.is_engine or setting.option == "modify_mixlist")
            elif self.count == _MOST_REFERENCES + 1:
                self._pass_over(setting, f"it is after the first {_MOST_REFERENCES} references")
        return settings

    def _file(self, kind: NamedKind, setting: Setting, is_passed: bool) -> None:
        """Note the file that a setting names as one to check, or why there is none.

        :param is_passed: whether the compiler certainly gets it, so that one that is missing is an error
        """
        path = setting.text if setting.value is None else setting.value
        rest = without_variable(path)
        found = first_file(candidates(rest, self._folders))
        if found is not None and is_below(os.path.realpath(found), self.top):
            plain = os.path.normpath(found)
            path = plain if os.path.realpath(plain) == os.path.realpath(found) else found
            self.targets.append((kind, path))
        elif found is not None or os.path.isabs(rest):
            self._pass_over(setting, f"`{path}` is out of this folder")
        elif rest != path or setting.value is None or "$" in path:
            self._pass_over(setting, f"`{path}` depends on a variable")
        elif os.path.basename(path) in self._made:
            self._pass_over(setting, f"`{path}` is made by the script")
        else:
            is_sure = is_passed and not setting.is_default and not self._computes_folders
            severity: Severity = "error" if is_sure else "warning"
            hint = did_you_mean(os.path.basename(path), self._beside)
            if setting.option == "keep_dtype" and not re.search("[./]", path):
                hint = hint or KEEP_DTYPE
            message = f"`{path}` does not exist"
            finding = at("missing-file", self.source, setting.span, message, hint=hint, severity=severity)
            self.findings.append(finding)

    @cached_property
    def _made(self) -> set[str]:
        """The names of the files that the script writes."""
        found = _MAKES.finditer(self.source.text)
        return {os.path.basename(next(filter(None, match.groups()))) for match in found}

    @cached_property
    def _computes_folders(self) -> bool:
        return _COMPUTED_FOLDER.search(self.source.text) is not None

    @cached_property
    def _beside(self) -> NearNames:
        try:
            return NearNames(os.listdir(self._folder))
        except OSError:
            return NearNames([])

    def _pass_over(self, setting: Setting, reason: str) -> None:
        place = f"{self.source.path}:{self.source.place(setting.span[0]).line}"
        self.passed_over.append(PassedOver(place, reason))
