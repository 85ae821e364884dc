"""What the OpDef sources of a folder say: rows as opbuild would write them, and what could not be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ...errors import Refused
from ..policy import Policy
from .find import is_experimental, read_bytes
from .tokens import Place

Entry = Mapping[str, Mapping[str, str]]
"""Section -> key -> value, as in a library."""


class Length(NamedTuple):
    """The number of words in one line of a port.

    :param port: ``input0``
    :param name: of the port, ``x``
    :param key: ``dtype``, ``format`` or ``unknownshape_format``
    """

    port: str
    name: str
    key: str
    words: int
    place: Place


@dataclass(frozen=True)
class Row:
    """One op type on one chip: a section of ``aic-<chip>-ops-info.ini``, and the entry that the script makes of it.

    :param name: the op type
    :param chip: as written in ``AddConfig``; opbuild makes it the name of the file, case included
    :param file: with ``line``, what decides the policy: the call of ``PrecisionReduceFlag`` (or ``ExtendCfgInfo``) in
        force, or the ``AddConfig`` without one, which makes it white (without a configuration) or gray (with one)
    :param by_default: white only because ``AddConfig("chip")`` or ``OpAICoreConfig("chip")`` sets the flag
    :param declared: the ``AddConfig`` in force
    """

    name: str
    chip: str
    file: str
    line: int
    by_default: bool
    declared: Place

    @cached_property
    def entry(self) -> Entry:
        """The entry in a library. Without its dtype and format lines if :attr:`columns_unread` says why."""
        return {}

    @cached_property
    def policy(self) -> Policy:
        """:raises BadFlag: if ``ExtendCfgInfo`` wrote a flag that the engine refuses"""
        return Policy.of(self.entry)

    @property
    def columns_unread(self) -> str | None:
        """Why columns could not be read, with file and line; the policy holds nevertheless."""
        return None

    @property
    def misaligned(self) -> list[Length]:
        """The lengths of all plain columns if they differ: opbuild then drops all dtype and format lines of the row."""
        return []

    @property
    def misaligned_unknown_shape(self) -> list[Length]:
        """``unknownshape_format`` lines of another length than the dtypes: the engine refuses the whole store."""
        return []

    @property
    def is_experimental(self) -> bool:
        """Whether the source is in a folder ``experimental``, which is a build of its own."""
        return is_experimental(self.file)


@dataclass(frozen=True)
class Unreadable:
    """An op type, or a file (then ``name`` is None), that could not be read.

    :param line: 1-based
    """

    name: str | None
    file: str
    line: int
    reason: str


@dataclass(frozen=True)
class Unpassed:
    """An ``OpAICoreConfig`` that is filled and never given to ``AddConfig``: nothing of it has an effect.

    :param name: the op type
    :param variable: the name of the configuration
    :param line: where it is declared
    :param policy: what it would have set; None if it only sets other keys
    :param flag: the call that set the policy
    """

    name: str
    variable: str
    file: str
    line: int
    policy: Policy | None
    flag: Place | None


class Registration(NamedTuple):
    """One ``OP_ADD``. Of several of one op type in a library, opbuild uses the first for all."""

    name: str
    place: Place


@dataclass
class Reading:
    """:param files: the sources, as given"""

    files: list[str]
    rows: list[Row] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    unpassed: list[Unpassed] = field(default_factory=list)
    registrations: list[Registration] = field(default_factory=list)


def read_sources(files: Iterable[str | Path], project: str | Path | None = None) -> Reading:
    """Read OpDef sources, as :func:`~opsinfo_cli.model.opdef.find.find_sources` finds them.

    What cannot be read is in the answer; nothing is raised for the content of a file.

    :param project: the folder that local includes may lead into; by default that of each file
        (:func:`~opsinfo_cli.model.opdef.find.project_of`)
    """
    reading = Reading([str(file) for file in files])
    for file in reading.files:
        try:
            text = read_bytes(file).decode("utf-8", "replace")
        except Refused as error:
            reading.unreadable.append(Unreadable(None, file, 1, error.message))
            continue
        for match in re.finditer(r"\bOP_ADD\s*\(\s*(\w+)", text):
            line = text.count("\n", 0, match.start()) + 1
            reading.registrations.append(Registration(match[1], Place(file, line)))
            reading.unreadable.append(Unreadable(match[1], file, line, "constructors are not interpreted yet"))
    return reading
