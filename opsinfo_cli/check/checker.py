"""The checker of single files and stores: applies the rules, and records whether the engine accepts each file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import Damaged, OpsinfoError, Refused, UsageFault
from ..model.file_kind import is_library_name, is_marked, is_mixlist_name, kind_of
from ..model.library import Library, Store, library_files, load_order
from ..model.precision_mode import mode_named
from ..text.members import Members, read_members
from ..text.scanner import Document, scan
from ..text.source import Source, read_bytes
from .finding import Finding, Outcome, damage
from .library import check_library, root_is_no_object
from .mixlist import Reading, check_mixlist
from .mixlist_operators import MixlistTarget, check_against
from .mode import check_modes
from .store import check_store, never_built
from .text import bom, faults

if TYPE_CHECKING:
    from .model import CheckedModel


@dataclass
class Checker:
    """Collects findings on files and stores; a file that cannot be checked is recorded as a failure.

    :param against: the targets that mixlists are for
    :param modes: names of precision modes, known or not
    :param kind: the kind of all files; None detects it
    :param models: the models that mixlists are for
    """

    against: list[MixlistTarget] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)
    kind: str | None = None
    models: list[CheckedModel] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Outcome)
    saw_mixlist: bool = False

    @property
    def failures(self) -> list[OpsinfoError]:
        return self.outcome.failures

    def alone(self) -> Checker:
        """Return a checker with the same settings and no findings."""
        return Checker(self.against, self.modes, self.kind, self.models)

    def given(self, path: str, data: bytes) -> None:
        """Check a given file; if its kind cannot be detected, record a failure."""
        try:
            self.file(path, data)
        except UsageFault as fault:
            self.failures.append(fault)

    def found(self, path: str, data: bytes) -> bool:
        """Check a file of a tree if its name or text shows that it is a mixlist or a library.

        :returns: whether it was checked
        """
        by_name = is_library_name(path) or is_mixlist_name(path)
        try:
            source = Source(data, path)
        except Damaged as error:
            if by_name:
                self._damaged(path, error)
            return by_name
        outcome = read_members(source)
        kind = kind_of(source, outcome)
        if kind not in ("library", "mixlist") or not (by_name or is_marked(source, outcome)):
            return False
        self._source(self.kind or kind, source, outcome)
        return True

    def file(self, path: str, data: bytes) -> None:
        """Check a file.

        :raises UsageFault: if the kind of the file cannot be detected
        """
        try:
            source = Source(data, path)
        except Damaged as error:
            self._damaged(path, error)
            return
        outcome = read_members(source)
        kind = self.kind or kind_of(source, outcome)
        if kind in ("library", "mixlist"):
            self._source(kind, source, outcome)
        elif kind == "snapshot":
            said = "a snapshot cannot be validated; it is a target for --against"
            hint = "`opsinfo diff` compares it with an install"
            raise UsageFault(said, name="wrong-kind", path=path, hint=hint)
        else:
            raise UsageFault(
                "neither text nor name shows whether this is a library or a mixlist",
                name="unknown-kind",
                path=path,
                hint="add --as library or --as mixlist",
            )

    def _source(self, kind: str, source: Source, outcome: Members | Document) -> None:
        findings = _library(source, outcome)[1] if kind == "library" else self.mixlist(source)
        self.outcome.add(source.path, kind, findings)

    def _damaged(self, path: str, error: Damaged) -> None:
        kind = self.kind or ("library" if is_library_name(path) else "mixlist")
        self.outcome.add(path, kind, [damage(error)])

    def store(self, folder: str) -> None:
        """Check a config directory: its files, and the result of loading them together."""
        try:
            names = load_order(folder, library_files(folder))
        except Refused as error:
            self.failures.append(error)
            return
        read = {path: self._read(path) for path in (os.path.join(folder, name) for name in names)}
        libraries = [library for library, _ in read.values() if library]
        store = Store(libraries, folder)
        together: dict[str, list[Finding]] = {}
        for finding in check_store(store) if len(libraries) == len(read) else ():
            together.setdefault(finding.path, []).append(finding)
        first = len(self.outcome.files)
        for path, (library, findings) in read.items():
            mine = [never_built(store, library, each) for each in findings] if library else findings
            self.outcome.add(path, "library", mine + together.get(path, []))
        accepts = all(verdict.engine_accepts for verdict in self.outcome.files[first:])
        self.outcome.add(folder, "store", [], accepts)

    def modes_given(self) -> None:
        """Check the precision modes, once for all files."""
        if self.modes:
            socs = sorted({against.target.soc for against in self.against if against.target.soc})
            self.outcome.add("--precision-mode", "mode", check_modes(self.modes, socs, self.saw_mixlist))

    def _bytes(self, path: str) -> bytes | None:
        try:
            return read_bytes(path)
        except Refused as error:
            self.failures.append(error)
            return None

    def _read(self, path: str) -> tuple[Library | None, list[Finding]]:
        """Return a library of a store with its findings; None if its entries cannot be read."""
        data = self._bytes(path)
        if data is None:
            return None, []
        try:
            source = Source(data, path)
            return _library(source, read_members(source))
        except Damaged as error:
            return None, [damage(error)]

    def mixlist(self, source: Source) -> Iterator[Finding]:
        """Check a mixlist, and its op types against the targets."""
        self.saw_mixlist = True
        document = scan(source)
        yield from check_mixlist(document)
        if document.root is not None and self.against:
            modes = [mode for mode in map(mode_named, self.modes) if mode]
            reading = Reading(source, document.root)
            yield from check_against(reading, self.against, modes)
            if self.models:
                from .model import check_models

                yield from check_models(reading, self.models, self.against, modes)


def _library(source: Source, outcome: Members | Document) -> tuple[Library | None, list[Finding]]:
    """Check a library.

    :returns: the library; None if the engine could not load its entries at all"""
    if not isinstance(outcome, Members):
        return None, [*bom(source, fixable=False), *faults(outcome, fixable=False)]
    if outcome.members is None:
        return None, [root_is_no_object(source, outcome)]
    library = Library(source, outcome.members)
    findings = list(check_library(library, outcome))
    return (None if any(library.structure_faults()) else library), findings
