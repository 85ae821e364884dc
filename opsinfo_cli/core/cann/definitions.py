"""Op types that are defined elsewhere than in a library file, a store or an install, as stores like theirs.

Inis of opbuild, OpDef sources, and custom operator packages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from ...errors import UsageFault
from ..text.source import Source
from .chips import folder_of, likeliest_chip, unknown_chip
from .ini import ini_store, inis_in, is_ini, soc_of_ini
from .install import CUSTOM, LoadPriority, is_complete, matching
from .library import Operators, Store
from .load_order import library_files
from .opdef.find import SUFFIXES, is_source

if TYPE_CHECKING:
    from ..document import Unreadable

Kind = Literal["ini", "opdef", "package"]


@dataclass(frozen=True)
class Definitions:
    """The op types of one chip.

    :param soc: None if nothing shows it
    :param unreadable: what could not be read of the sources, of any chip
    """

    kind: Kind
    soc: str | None
    operators: Operators
    unreadable: Sequence[Unreadable] = ()
    version: str | None = None
    core: str = "ai"
    other_engines: dict[str, str] = field(default_factory=dict)


class Chips(NamedTuple):
    """The chips that a path has op types of.

    :param load: returns the op types of one of them
    """

    kind: Kind
    path: str
    socs: Sequence[str]
    load: Callable[[str], Operators]
    unreadable: Sequence[Unreadable] = ()

    @property
    def phrase(self) -> str:
        """The kind in a sentence."""
        return PHRASES[self.kind]

    def of(self, soc: str | None) -> Definitions:
        """Return the op types of one chip.

        :param soc: a folder or product name; None for the only one
        :raises UsageFault: if it is unknown, or not given and there are several
        :raises Refused: if a file cannot be read
        """
        if not self.socs:
            message = f"no chip is declared: no AddConfig in {self.path}"
            raise UsageFault(message, name="no-chip", path=self.path, hint=_if_not_declared())
        if soc is None and len(self.socs) > 1:
            raise UsageFault(
                f"{_WHAT[self.kind]} of {len(self.socs)} chips: {', '.join(self.socs)}",
                name="ambiguous-target",
                path=self.path,
                hint=f"name one, as in {self.path}@{likeliest_chip(self.socs)}",
            )
        chosen = self.socs[0] if soc is None else folder_of(soc, list(self.socs))
        if chosen is None:
            error = unknown_chip(str(soc), self.socs, None, self.path)
            if self.kind == "opdef":
                error.hint = "; ".join(filter(None, [error.hint, _if_not_declared()]))
            raise error
        unread = [each for each in self.unreadable if each.chip in (None, chosen)]
        return Definitions(self.kind, chosen or None, self.load(chosen), unread)


def _if_not_declared() -> str:
    from .opdef_store import NOT_DECLARED

    return NOT_DECLARED


PHRASES = {"ini": "an ini of opbuild", "opdef": "OpDef sources", "package": "a custom operator package"}
_WHAT = {
    "ini": "the folder has inis",
    "opdef": "the sources declare operators",
    "package": "the package has operators",
}


def definition_kind(source: Source) -> Kind | None:
    """Return whether a file is an ini of opbuild or an OpDef source; None if it is neither."""
    if source.path.endswith(SUFFIXES):
        return "opdef" if is_source(source.data) else None
    return "ini" if is_ini(source.path, source.text) else None


def chips_of(path: str) -> Chips | None:
    """Return the chips of an ini, a folder of inis, OpDef sources, or a custom package; None for anything else.

    :raises Refused: if a file cannot be read
    """
    if os.path.isdir(path):
        if is_complete(path):
            return None
        return _chips_of_package(path) or _chips_of_inis(path) or _chips_of_sources(path)
    if path.endswith(SUFFIXES):
        return _chips_of_sources(path)
    if not path.lower().endswith(".ini"):
        return None
    source = Source.read(path)
    if definition_kind(source) is None:
        return None
    return Chips("ini", path, [soc_of_ini(path) or ""], lambda _: ini_store([source]).operators)


def _chips_of_inis(path: str) -> Chips | None:
    inis = inis_in(path)

    def operators(soc: str) -> Operators:
        return ini_store([Source.read(each, path) for each in inis[soc]]).operators

    return Chips("ini", path, sorted(inis), operators) if inis else None


def _chips_of_sources(path: str) -> Chips | None:
    from .opdef_store import OpDefOperators, OpDefStore, read_opdef, unreadable_error

    reading = read_opdef(path)
    if reading is None:
        return None
    declared: dict[str, list[str]] = {}
    for operator in reading.operators:
        declared.setdefault(operator.name, []).extend(operator.chips)

    def operators(soc: str) -> Operators:
        rows = [row for row in reading.rows if row.chip == soc]
        unread = [each for each in reading.unreadable if each.chip in (None, soc)]
        if not rows and unread:
            raise unreadable_error(unread[0], len(unread) - 1)
        return OpDefOperators(OpDefStore(rows), soc, declared, unread)

    chips = {row.chip for row in reading.rows} | {each.chip for each in reading.unreadable if each.chip is not None}
    return Chips("opdef", path, sorted(chips), operators, reading.unreadable)


def _chips_of_package(path: str) -> Chips | None:
    """
    A package is what a project builds (`packages`), what it installs (`vendors`, `vendors/<name>`), or the folder
    `.../tbe/config`.
    """
    inside = f"{CUSTOM['ai']}/config/*"
    patterns = [inside, f"vendors/*/{inside}"]
    above, name = os.path.split(os.path.abspath(path))
    if name == "vendors":
        patterns.append(f"*/{inside}")
    if name == "config" and os.path.basename(above) == "tbe":
        patterns.append("*")
    stores: dict[str, list[tuple[str, str]]] = {}  # chip -> label and folder of each
    for folder in (each for pattern in patterns for each in matching(path, pattern)):
        if os.path.isdir(folder) and library_files(folder):
            parts = os.path.abspath(folder).split("/")[-6:-4]  # <vendor>/op_impl/ai_core/tbe/config/<soc>
            label = "built-in" if "built-in" in parts else f"vendor:{parts[0]}"
            stores.setdefault(os.path.basename(folder), []).append((label, folder))
    rank = {f"vendor:{vendor}": number for number, vendor in enumerate(LoadPriority.read(path).vendors)}

    def operators(soc: str) -> Operators:
        ordered = sorted(stores[soc], key=lambda store: (rank.get(store[0], len(rank)), store))
        return Operators([Store.read(folder, label, path) for label, folder in ordered])

    return Chips("package", path, sorted(stores), operators) if stores else None
