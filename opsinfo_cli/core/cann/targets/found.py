"""What a TARGET may be: the text that names it, what lies there, and the op types of one of its chips."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, TypeAlias

from ....errors import Damaged, UsageFault
from ...document import Schema
from ...text.members import read_members
from ...text.source import Source, read_bytes
from ..file_kind import FileKind, kind_of
from ..foreign_files import foreign_binary
from ..install import Core, is_complete, opp_root
from ..library import Operators
from ..snapshot import Edited

if TYPE_CHECKING:
    from ...document import Unreadable
    from ...text.members import Members
    from ...text.scanner import Document
    from ..install import Install
    from ..opdef.find import NotRead

TargetKind: TypeAlias = Literal["library", "snapshot", "store", "install", "ini", "opdef", "package"]


# What a JSON document says of a target, or of a mixlist that stands for one
@dataclass(frozen=True)
class TargetFacts:
    text: Annotated[str, Schema(examples=["ascend910b"])]
    """The target as given."""
    kind: Literal["mixlist", TargetKind]
    """The kind of target."""
    path: str
    """The path of the target; `-` is standard input."""
    soc: Annotated[str | None, Schema(examples=["ascend910b"])]
    """The chip folder; null if unknown."""
    version: Annotated[str | None, Schema(examples=["8.5.0"])]
    """The CANN version; null if unknown."""


class TargetOptions(NamedTuple):
    """Options of the command line that describe a target.

    :param kind: None detects it
    :param soc: the chip of an install
    :param customs: custom operator packages
    :param handed: the content of a target without a file: standard input, a pipe, or a file of a git revision
    """

    kind: FileKind | None = None
    soc: str | None = None
    core: Core = "ai"
    customs: tuple[str, ...] = ()
    handed: bytes | None = None


class Named:
    """What a user names as TARGET; a file is read once for all kinds.

    :ivar is_read: whether there is something to read: a path that exists, or what is handed over
    """

    def __init__(self, text: str, options: TargetOptions, environ: Mapping[str, str]) -> None:
        self.path = text
        self.environ = environ
        self.is_folder = os.path.isdir(text)
        self.handed = options.handed
        self.is_read = self.handed is not None or os.path.lexists(text)
        self._kind = options.kind

    @property
    def is_file(self) -> bool:
        return self.is_read and not self.is_folder

    @cached_property
    def root(self) -> str | None:
        """The OPP root at or under a folder."""
        return opp_root(self.path) if self.is_folder else None

    @cached_property
    def is_complete(self) -> bool:
        """Whether there is more than custom packages in an OPP root at or under a folder."""
        return self.is_folder and is_complete(self.path)

    @cached_property
    def source(self) -> Source:
        """:raises Refused: if the file cannot be read
        :raises UsageFault: if it is a model
        """
        data = read_bytes(self.path) if self.handed is None else self.handed
        try:
            return Source(data, self.path)
        except Damaged:
            if foreign := foreign_binary(self.path, data[:64]):
                raise foreign.fault(self.path) from None
            raise

    @cached_property
    def outcome(self) -> Members | Document:
        return read_members(self.source)

    @cached_property
    def kind(self) -> FileKind | None:
        """The kind of a file, as given, else by its content and name."""
        return self._kind or kind_of(self.source, self.outcome)


@dataclass(eq=False, repr=False)
class OneChip:
    """The op types of one chip, and what else is known of them.

    :ivar read: returns the op types
    :ivar soc: the SoC, if known: of the install or snapshot, or from the folder or name of a file or store
    :ivar core: the engine of its op types: ``ai``, ``vector`` or ``dsa``; ``ai`` for a file or store
    :ivar read_engines: returns op types of other engines: name -> engine
    :ivar source: the one file that all is in
    :ivar unreadable: what could not be read of OpDef sources
    :ivar notes: messages about how it was found
    :ivar not_read: sources that were passed over
    :ivar edited: op types whose policy is not the vendor's, as a snapshot says
    :ivar folders: those of the stores of an install or package, for all cores, whether or not they can be read
    """

    read: Callable[[], Operators]
    soc: str | None = None
    version: str | None = None
    core: str = "ai"
    read_engines: Callable[[], Mapping[str, str]] = dict
    install: Install | None = None
    source: Source | None = None
    unreadable: Sequence[Unreadable] = ()
    notes: Sequence[str] = ()
    not_read: Sequence[NotRead] = ()
    edited: Sequence[Edited] = ()
    folders: Sequence[str] = ()


class Found(NamedTuple):
    """What lies at a path.

    :param list_socs: returns its chips; none if nothing shows them
    :param open: opens one of them, by folder or product name, or the only one (None)
    """

    kind: TargetKind
    path: str
    list_socs: Callable[[], Sequence[str]]
    open: Callable[[str | None], OneChip]

    @property
    def has_chips(self) -> bool:
        """Whether one of several chips can be chosen."""
        return FACTS[self.kind].has_chips


class NotWritten(NamedTuple):
    """Why commands do not change targets of a kind.

    :param instead: what to do instead, as a hint
    :param flag: what sets the flag of an op type in its file, so that the line to change is named; None if that is no
        use, and such a target is wrong usage
    """

    reason: str
    instead: str
    flag: str | None = None


class KindFacts(NamedTuple):
    """
    :param phrase: the kind in a sentence
    :param has_chips: whether one of several chips can be chosen
    :param is_checked: whether `validate` checks its files
    :param not_written: None if commands change its files
    """

    phrase: str
    has_chips: bool = False
    is_checked: bool = True
    not_written: NotWritten | None = None


_IN_THE_SOURCE = (
    "write PrecisionReduceFlag in the source (`opsinfo show TARGET OP --format opdef` prints the lines), "
    "or use a mixlist"
)
FACTS: Mapping[TargetKind, KindFacts] = {
    "library": KindFacts("a library"),
    "snapshot": KindFacts(
        "a snapshot",
        is_checked=False,
        not_written=NotWritten(
            "a snapshot cannot be changed",
            "change the target itself, or a mixlist; `opsinfo snapshot TARGET -o FILE` takes the snapshot again",
        ),
    ),
    "store": KindFacts("a store"),
    "install": KindFacts("an install", has_chips=True),
    "ini": KindFacts(
        "an ini of opbuild",
        has_chips=True,
        not_written=NotWritten(
            "an ini is made by a build, so it is not changed", _IN_THE_SOURCE, "precision_reduce.flag=%s"
        ),
    ),
    "opdef": KindFacts(
        "OpDef sources",
        has_chips=True,
        not_written=NotWritten("opsinfo does not change C++ sources", _IN_THE_SOURCE, "PrecisionReduceFlag(%s)"),
    ),
    "package": KindFacts("a custom operator package", has_chips=True),
}
"""What is said of each kind, and may be done with it."""


def require_no_soc(text: str, soc: str | None) -> None:
    """:raises UsageFault: if a target that names its chip has another option for it"""
    if soc:
        raise UsageFault(f"`{text}` names the chip already", hint="leave out --soc")
