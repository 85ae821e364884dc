"""Checking files, folders and trees: which rules apply to what, and what the engine makes of each file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..errors import Damaged, OpsinfoError, Refused, UsageFault
from ..model.kind import is_library_name, kind_of
from ..model.library import Library
from ..model.precision_mode import mode_named
from ..model.store import Store, library_files, load_order
from ..text.members import Members, read_members
from ..text.scanner import scan
from ..text.source import Source, read_bytes
from .against import Against, check_against
from .finding import Finding, Outcome, damage
from .library import check_library, root_is_no_object
from .mixlist import Reading, check_mixlist
from .mode import check_modes
from .store import check_store, never_built
from .text import bom, faults

__all__ = ["Checker"]

_SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv"})


@dataclass
class Checker:
    """Collects findings on whatever it is pointed at.

    :param against: the targets mixlists are for
    :param modes: names of precision modes, right or wrong
    :param kind: what files are, where the user says so
    """

    against: list[Against] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)
    kind: str | None = None
    outcome: Outcome = field(default_factory=Outcome)
    unreadable: list[OpsinfoError] = field(default_factory=list)
    saw_mixlist: bool = False

    def path(self, path: str) -> None:
        """A file, a store, or a tree. One that cannot be read is noted and hides nothing."""
        try:
            if os.path.isdir(path):
                self.folder(path)
            else:
                self.file(path, read_bytes(path))
        except Refused as error:
            self.unreadable.append(error)

    def file(self, path: str, data: bytes) -> None:
        """:raises UsageFault: where nothing tells what the file is"""
        try:
            source = Source(data, path)
        except Damaged as error:
            kind = self.kind or ("library" if is_library_name(path) else "mixlist")
            self.outcome.add(path, kind, [damage(error)])
            return
        chosen = self.kind or kind_of(source)
        if chosen == "library":
            self.outcome.add(path, chosen, self._library(source))
        elif chosen == "mixlist":
            self.outcome.add(path, chosen, self._mixlist(source))
        else:
            raise UsageFault(
                "neither the text nor the name tells whether this is a library or a mixlist",
                name="unknown-kind",
                path=path,
                hint="say --as library or --as mixlist",
            )

    def folder(self, path: str) -> None:
        """Every library and mixlist below a folder, by mark or name; the rest is passed over in silence."""
        for folder, folders, names in os.walk(path, onerror=self._cannot_walk):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
            jsons = [name for name in sorted(names) if name.endswith(".json") and len(name) > 5]
            inside = os.path.join(os.path.abspath(folder), "x.json")
            if jsons and (is_library_name(inside) or any(is_library_name(name) for name in jsons)):
                self.store(folder)
            else:
                for name in jsons:
                    self._found(os.path.join(folder, name))

    def store(self, folder: str) -> None:
        """A config directory: its files, and what comes of loading them together."""
        libraries: dict[str, Library] = {}
        findings: dict[str, list[Finding]] = {}
        for name in load_order(folder, library_files(folder)):
            path = os.path.join(folder, name)
            try:
                source = Source(read_bytes(path), path)
                outcome = read_members(source)
                findings[path] = list(self._library(source))
                if isinstance(outcome, Members) and outcome.members is not None:
                    libraries[path] = Library(source, outcome.members)
            except Damaged as error:
                findings[path] = [damage(error)]
            except Refused as error:
                self.unreadable.append(error)
        sound = [library for path, library in libraries.items() if not any(library.structure_faults())]
        store = Store(sound, folder)
        whole = list(check_store(store)) if len(sound) == len(findings) and not _has_bad_flag(findings) else []
        for path, mine in findings.items():
            if path in libraries:
                mine = [
                    never_built(store, library, each) for each in mine for library in sound if library.path == path
                ] or mine
            self.outcome.add(path, "library", [*mine, *(each for each in whole if each.path == path)])
        accepts = all(verdict.engine_accepts for verdict in self.outcome.files[-len(findings) :]) if findings else True
        self.outcome.add(folder, "store", [], accepts and not self.unreadable)

    def modes_given(self) -> None:
        """The precision modes themselves, once for all files."""
        if self.modes:
            socs = sorted({against.target.soc for against in self.against if against.target.soc})
            findings = list(check_modes(self.modes, socs, self.saw_mixlist))
            self.outcome.add("--precision-mode", "mode", findings)

    def _found(self, path: str) -> None:
        """A file met on a walk: taken only where its text or name says what it is."""
        try:
            data = read_bytes(path)
            source = Source(data, path)
        except Damaged:
            return
        except Refused as error:
            self.unreadable.append(error)
            return
        if kind_of(source) in ("library", "mixlist") and source.text.strip() not in ("", "{}"):
            self.file(path, data)

    def _cannot_walk(self, error: OSError) -> None:
        said = error.strerror or str(error)
        self.unreadable.append(Refused(said, name="unreadable", path=str(error.filename)))

    def _library(self, source: Source) -> Iterator[Finding]:
        outcome = read_members(source)
        if not isinstance(outcome, Members):
            yield from bom(source)
            yield from faults(outcome)
        elif outcome.members is None:
            yield root_is_no_object(source, outcome)
        else:
            yield from check_library(Library(source, outcome.members), outcome)

    def _mixlist(self, source: Source) -> Iterator[Finding]:
        self.saw_mixlist = True
        document = scan(source)
        yield from check_mixlist(document)
        if document.root is not None and self.against:
            modes = [mode for mode in map(mode_named, self.modes) if mode]
            yield from check_against(Reading(source, document.root), self.against, modes)


def _has_bad_flag(findings: dict[str, list[Finding]]) -> bool:
    return any(finding.rule.name == "bad-flag" for mine in findings.values() for finding in mine)
