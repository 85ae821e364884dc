"""References from scripts and configurations to mixlists and the files beside them, for ``validate --follow``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from ..model.near_names import NearNames, did_you_mean
from ..model.repository import git_root
from ..opening import is_below
from ..text.source import Source
from .finding import Finding, PassedOver, at

SCRIPTS = (".sh", ".ini", ".cfg")
"""Endings of the files that are searched for references."""
KINDS = {
    "modify_mixlist": "mixlist",
    "mixprecision_list_path": "mixlist",
    "HUAWEI_ASCEND_NPU_MODIFY_MIXLIST_FILE_PATH": "mixlist",
    "keep_dtype": "keep_dtype",
    "customize_dtypes": "customize_dtypes",
    "customizeDtypes": "customize_dtypes",
    "op_precision_mode": "op_precision",
    "raw_ge_options": "raw_ge_options",
}
"""The kind of file that an option names: of atc, GE (``ge.exec.modify_mixlist``), MindSpore Lite, Paddle Lite."""
_REFERENCE = re.compile(
    r"^[ \t]*[#;].*$"
    rf"|(?P<dashes>--)?(?:\bge\.(?:exec\.)?|(?<![\w.-])|(?<=--))(?P<option>{'|'.join(KINDS)})\b[\"']?"
    r"(?:[ \t]*[=:][ \t]*|(?(dashes)[ \t]+|(?!)))"
    r"(?:\"(?P<double>[^\"\n]{0,999})\"|'(?P<single>[^'\n]{0,999})'"
    r"|(?P<bare>(?:\$\{[^}\n]{0,99}\}|\$\([^)\n]{0,99}\)|[^\s\"',;}\\|&<>()])+))",
    re.MULTILINE,
)
_CHANGE_FOLDER = re.compile(r"^[ \t]*(?:cd|pushd)[ \t]+[\"']?([\w./-]+)", re.MULTILINE)
_VARIABLE = re.compile(r"^(?:\$\w+|\$\{[^}]*\}|\$\([^)]*\)|~)/")


class Reference(NamedTuple):
    """A path in a script.

    :param kind: the kind of the file: mixlist, one of ``OPTION_KINDS``, or ``raw_ge_options``, which has references
    :param span: of the path
    """

    kind: str
    path: str
    span: tuple[int, int]


def references(text: str) -> Iterator[Reference]:
    """Yield the paths that options name in a script; words that are no path are left out."""
    for match in _REFERENCE.finditer(text):
        group = match.lastgroup
        if group in ("double", "single", "bare") and re.search(r"[./]", match[group]):
            yield Reference(KINDS[match["option"]], match[group], match.span(group))


class Followed(NamedTuple):
    """The outcome for one script.

    :param top: the folder out of which no reference is followed
    :param targets: the files that it names, with their kinds
    """

    top: str
    targets: list[tuple[str, str]]
    findings: list[Finding]
    passed_over: list[PassedOver]


_MOST_REFERENCES = 1000
_MOST_FOLDERS = 20
"""The most references and changes of folder of one script that are considered."""


def follow(source: Source, top: str | None) -> Followed | None:
    """Return what a script names; None if it names nothing.

    :param top: the folder out of which no reference is followed; None: the repository of the script, or its folder
    """
    if not re.search("|".join(KINDS), source.text):
        return None
    folder = os.path.dirname(source.path) or "."
    top = os.path.realpath(top or git_root(os.path.abspath(folder)) or folder)
    folders = list(_folders(source.text, folder, top))
    followed = Followed(top, [], [], [])
    beside = NearNames(_names_in(folder))
    for number, (kind, path, span) in enumerate(references(source.text)):
        place = f"{source.path}:{source.place(span[0]).line}"
        if number == _MOST_REFERENCES:
            followed.passed_over.append(PassedOver(place, f"it is after the first {number} references"))
            break
        rest = _VARIABLE.sub("./", path)
        found = next(filter(os.path.isfile, _candidates(rest, folders)), None)
        if found is not None and is_below(os.path.realpath(found), top):
            plain = os.path.normpath(found)
            followed.targets.append((kind, plain if os.path.realpath(plain) == os.path.realpath(found) else found))
        elif found is not None or os.path.isabs(rest):
            followed.passed_over.append(PassedOver(place, f"`{path}` is out of this folder"))
        elif rest != path or "$" in path:
            followed.passed_over.append(PassedOver(place, f"`{path}` depends on a variable"))
        else:
            hint = did_you_mean(os.path.basename(path), beside)
            followed.findings.append(at("missing-file", source, span, f"`{path}` does not exist", hint=hint))
    return followed if any(followed[1:]) else None


def _names_in(folder: str) -> Iterator[str]:
    with suppress(OSError):
        yield from os.listdir(folder)


def _folders(text: str, folder: str, top: str) -> Iterator[str]:
    """Yield the folders that a path of a script may be relative to: its own, those above, and those it changes to."""
    above, absolute = folder, os.path.realpath(folder)
    below = dict.fromkeys(match[1] for match in _CHANGE_FOLDER.finditer(text))
    while True:
        yield above
        yield from (os.path.join(above, name) for name in islice(below, _MOST_FOLDERS))
        if absolute in (top, "/"):
            return
        above, absolute = os.path.join(above, ".."), os.path.dirname(absolute)


def _candidates(path: str, folders: list[str]) -> Iterator[str]:
    """Yield where a file may be; a path that begins with ``../`` may be meant for a folder below that of the script."""
    if os.path.isabs(path):
        yield path
        return
    for tail in dict.fromkeys((path, re.sub(r"^(\.\.?/)+", "", path))):
        yield from (os.path.join(folder, tail) for folder in folders)
