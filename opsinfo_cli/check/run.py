"""Checking files, folders and trees: which rules apply to what, and what the engine makes of each file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..errors import Damaged, OpsinfoError, Refused, UsageFault
from ..model.kind import is_library_name, kind_of
from ..model.library import Library, members_of
from ..model.precision_mode import mode_named
from ..model.store import Store, library_files, load_order
from ..model.target import Target
from ..text.members import Members
from ..text.scanner import scan
from ..text.source import Source, read_bytes
from .against import Against, check_against
from .finding import Finding, Outcome, damage
from .library import check_library, root_is_no_object
from .mixlist import Reading, check_mixlist
from .mode import check_modes
from .store import check_store, never_built
from .text import bom, faults
from .tree import Step, check_paths

__all__ = ["Checker", "validate"]


@dataclass
class Checker:
    """Collects findings on whatever it is pointed at; what cannot be checked is kept as a failure.

    :param against: the targets mixlists are for
    :param modes: names of precision modes, right or wrong
    :param kind: what files are, where the user says so
    """

    against: list[Against] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)
    kind: str | None = None
    outcome: Outcome = field(default_factory=Outcome)
    saw_mixlist: bool = False

    @property
    def failures(self) -> list[OpsinfoError]:
        return self.outcome.failures

    def paths(self, paths: list[str], step: Step = lambda done, total: None) -> None:
        """Files, stores and trees. One that cannot be read is noted and hides nothing."""
        check_paths(self, paths, step)

    def path(self, path: str) -> None:
        self.paths([path])

    def alone(self) -> Checker:
        """One like this that has found nothing yet."""
        return Checker(self.against, self.modes, self.kind)

    def given(self, path: str, data: bytes) -> None:
        """A file that was named; where nothing tells what it is, that is noted."""
        try:
            self.file(path, data)
        except UsageFault as fault:
            self.failures.append(fault)

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
            self.outcome.add(path, chosen, _library(source)[1])
        elif chosen == "mixlist":
            self.outcome.add(path, chosen, self.mixlist(source))
        elif chosen == "snapshot":
            hint = "`opsinfo diff` compares it with an install"
            raise UsageFault("a snapshot is what --against reads", name="wrong-kind", path=path, hint=hint)
        else:
            raise UsageFault(
                "neither the text nor the name tells whether this is a library or a mixlist",
                name="unknown-kind",
                path=path,
                hint="add --as library or --as mixlist",
            )

    def store(self, folder: str) -> None:
        """A config directory: its files, and what comes of loading them together."""
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
        """The precision modes themselves, once for all files."""
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
        """A library of a store with its findings; None where its entries cannot be read."""
        data = self._bytes(path)
        if data is None:
            return None, []
        try:
            return _library(Source(data, path))
        except Damaged as error:
            return None, [damage(error)]

    def mixlist(self, source: Source) -> Iterator[Finding]:
        """Everything that can be said of a mixlist, its op types held against the targets."""
        self.saw_mixlist = True
        document = scan(source)
        yield from check_mixlist(document)
        if document.root is not None and self.against:
            modes = [mode for mode in map(mode_named, self.modes) if mode]
            yield from check_against(Reading(source, document.root), self.against, modes)


def validate(
    *paths: str | os.PathLike[str],
    against: Iterable[str | Target] = (),
    modes: Iterable[str] = (),
    kind: str | None = None,
    stdin: bytes | None = None,
    step: Step = lambda done, total: None,
) -> Outcome:
    """Everything that can be said of files, stores and trees, as ``opsinfo validate`` does.

    :param against: the targets mixlists are for, as on the command line or opened by :meth:`.Target.open`
    :param modes: names of the precision modes they are used with, right or wrong
    :param kind: ``library`` or ``mixlist``, where files do not tell
    :param stdin: what the path ``-`` stands for
    :param step: hears how many of how many files and stores are done

    :raises OpsinfoError: where a target cannot be read; what is wrong with ``paths`` is in the outcome
    """
    targets = [Against(Target.open(each) if isinstance(each, str) else each) for each in against]
    for target in targets:
        _ = target.operators  # a target that cannot be read must be said before anything is found against it
    checker = Checker(targets, list(modes), kind)
    rest = [os.fspath(each) for each in paths]
    if "-" in rest and stdin is not None:
        checker.given("-", stdin)
        rest = [path for path in rest if path != "-"]
    checker.paths(rest, step)
    checker.modes_given()
    return checker.outcome


def _library(source: Source) -> tuple[Library | None, list[Finding]]:
    """A library and its findings; None where the engine could not load its entries at all."""
    outcome = members_of(source)
    if not isinstance(outcome, Members):
        return None, [*bom(source, mends=False), *faults(outcome, mends=False)]
    if outcome.members is None:
        return None, [root_is_no_object(source, outcome)]
    library = Library(source, outcome.members)
    findings = list(check_library(library, outcome))
    return (None if any(library.structure_faults()) else library), findings
