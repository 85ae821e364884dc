"""One run of checks: find the files, read and check each, then filter the findings by selection and baseline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...errors import Damaged, OpsinfoError, Refused, UsageFault
from .. import rooms
from ..cann.file_kind import (
    OPTION_KINDS,
    FileKind,
    NamedKind,
    foreign_of,
    is_library_name,
    is_marked,
    is_mixlist_name,
    is_option_name,
    kind_of,
    may_be_recognised,
    option_kind,
)
from ..cann.foreign_files import foreign_binary
from ..cann.ini import build_of, is_ini, rank
from ..cann.library import Library, Store
from ..cann.load_order import library_files, load_order
from ..cann.near_names import NearNames
from ..cann.opdef.find import LEFT_OUT, SUFFIXES, is_source, project_of
from ..cann.precision_mode import MODES
from ..cann.repository import Repository
from ..cann.target import AnyTargets, Target, targets_of
from ..cann.targets.table import unknown_kind
from ..text.members import Members, read_members
from ..text.scanner import Document, scan
from ..text.source import Source, read_bytes
from .baseline import Baseline, Known, fingerprinted
from .files import EXTENSIONS, Found, FoundFiles
from .finding import SEVERITIES, FileVerdict, Finding, Outcome, PassedOver
from .follow import LARGEST_OTHER, OTHERS, follow, names_mixlist, not_followed
from .ini import check_inis
from .library import check_library, root_is_no_object
from .mixlist import MixlistReading, MixlistTarget, check_against, check_mixlist, mixlist_targets, names_of
from .mode import PLACE, check_modes
from .options import OptionCheck, OptionFile
from .rules import Severity
from .scripts import SCRIPTS
from .selection import RuleSelection
from .store import check_store, never_built
from .text import bom, faults, unreadable

if TYPE_CHECKING:
    from ..cann.input_shapes import Shapes

Step = Callable[[int, int], None]
"""Called with the number of files and stores done and the total."""


def validate(
    *paths: str | os.PathLike[str],
    against: AnyTargets = None,
    modes: Iterable[str] | str = (),
    models: Iterable[str | os.PathLike[str]] | str | os.PathLike[str] = (),
    shapes: Shapes = MappingProxyType({}),
    kind: NamedKind | None = None,
    follow: bool = False,
    select: Iterable[str] | str = (),
    ignore: Iterable[str] | str = (),
    severity: Severity = "note",
    baseline: str | os.PathLike[str] | None = None,
    by_chip: bool = False,
    stdin: bytes | None = None,
    step: Step = lambda done, total: None,
) -> Outcome:
    """Return all findings on files, stores and trees, the worst first, as ``opsinfo validate``.

    :param against: the targets the mixlists are for, or one
    :param modes: names of the precision modes that they are used with, known or not
    :param models: model files that the mixlists are for; they are judged for every target
    :param shapes: of inputs of the models, by name, as for :meth:`.Graph.read`
    :param kind: of all files; None detects it
    :param follow: whether files that scripts name are checked too
    :param select: codes, beginnings of codes, or names of the only findings to return
    :param ignore: those not to return, also ``CODE:POINTER`` for a place
    :param severity: the least that is returned; errors are in any case
    :param baseline: a file of known findings, which are not returned
    :param by_chip: whether it is reported that sources give an op type different policies on different chips
    :param stdin: the content for the path ``-``
    :param step: called with the number of files and stores done and the total

    :raises OpsinfoError: if a target, model or baseline cannot be read; faults of ``paths`` are in the outcome
    """
    modes = [modes] if isinstance(modes, str) else modes
    models = [models] if isinstance(models, (str, os.PathLike)) else models
    chosen = RuleSelection.of(*([each] if isinstance(each, str) else each for each in (select, ignore)))
    known = None if baseline is None else Baseline.read(os.fspath(baseline))
    narrowing = Narrowing(Repository.around(os.getcwd(), os.environ), chosen, known, severity=severity)
    opened = open_models([os.fspath(path) for path in models], shapes)
    outcome = check_paths(
        [os.fspath(path) for path in paths],
        readable_targets(targets_of(against)),
        list(modes),
        opened,
        kind=kind,
        follow=follow,
        by_chip=by_chip,
        stdin=stdin,
        step=step,
    )
    return narrowing.narrow(outcome).outcome


def readable_targets(targets: Sequence[Target]) -> list[MixlistTarget]:
    """:raises OpsinfoError: if a target cannot be read, before anything is checked"""
    labelled = mixlist_targets(targets)
    for target in labelled:
        _ = target.target.operators
    return labelled


def open_models(paths: Sequence[str], shapes: Shapes) -> list[Any]:
    """Return the models of paths, as :class:`Checker` takes them.

    :raises OpsinfoError: if one cannot be read, or a shape fits none
    """
    if shapes and not paths:
        raise UsageFault("--shape requires --model", hint="add --model MODEL")
    return rooms.model_rules().open_models(paths, shapes) if paths else []


def check_paths(
    paths: Sequence[str],
    against: Sequence[MixlistTarget],
    modes: Sequence[str],
    models: Sequence[Any],
    *,
    kind: NamedKind | None,
    follow: bool,
    by_chip: bool,
    stdin: bytes | None,
    step: Step,
) -> Outcome:
    """Return all findings, as :func:`validate` before it narrows them.

    :param models: as :func:`open_models` returns them
    """
    checker = Checker(against, modes, kind, models, follow, by_chip=by_chip)
    if not paths and not modes:
        checker.failures.append(UsageFault("nothing to check: no path is given", name="nothing-to-check"))
    if "-" in paths and stdin is not None:
        checker.check_named("-", stdin)
        paths = [path for path in paths if path != "-"]
    checker.check_paths(paths, step)
    checker.check_modes()
    checker.outcome.notes += (model.note for model in models if model.note)
    checker.outcome.against = list(dict.fromkeys(target.target.text for target in against))
    return checker.outcome


def find_in_mixlist(
    source: Source,
    against: Sequence[MixlistTarget],
    names: NearNames,
    modes: Sequence[str],
    models: Sequence[Any] = (),
) -> Iterator[Finding]:
    """Yield what is wrong in a mixlist, with its op types for the targets, and with its effect on the models.

    :param names: the op types of the targets: one for all files, and for all passes of their fixes, so that the search
        of near names has one bound
    """
    document = scan(source)
    yield from check_mixlist(document)
    if document.root is not None and against:
        known = [mode for mode in map(MODES.get, modes) if mode]
        reading = MixlistReading(source, document.root)
        yield from check_against(reading, against, names, known, bool(models))
        if models:
            yield from rooms.model_rules().check_models(reading, models, against, known)


@dataclass
class Checker:
    """Collects findings on files and stores; a file that cannot be checked is recorded as a failure.

    :param against: the targets that mixlists are for
    :param modes: names of precision modes, known or not
    :param kind: the kind of all files; None detects it
    :param models: the models that mixlists are for
    :param follow: whether files that scripts name are checked too
    :param by_chip: whether it is reported that sources give an op type different policies on different chips
    """

    against: Sequence[MixlistTarget] = ()
    modes: Sequence[str] = ()
    kind: NamedKind | None = None
    models: Sequence[Any] = ()
    follow: bool = False
    outcome: Outcome = field(default_factory=Outcome)
    _referenced: list[tuple[NamedKind, str]] = field(default_factory=list)
    _not_followed: list[str] = field(default_factory=list)
    by_chip: bool = False
    _builds: dict[tuple[str, str | None], list[Source]] = field(default_factory=dict)
    _sources: list[str] = field(default_factory=list)
    _experimental: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[OpsinfoError]:
        return self.outcome.failures

    @cached_property
    def _names(self) -> NearNames:
        return names_of(self.against)

    def check_paths(self, paths: Iterable[str], step: Step = lambda done, total: None) -> None:
        """Find and check files, stores and trees, each once. A path with nothing to check is a failure.

        With ``follow``, files of other kinds that name a mixlist count as found, and are only named.
        """
        files = FoundFiles(self.outcome)
        if self.follow:
            files.extensions = tuple({*files.extensions, *SCRIPTS, *OTHERS})
        given: list[tuple[str, range]] = []
        for path in paths:
            first, failed = len(files.found), len(self.failures)
            files.add(path)
            if len(self.failures) == failed:
                given.append((path, range(first, len(files.found))))
        checked: dict[str, bool] = {}
        for number, found in enumerate(files.found, 1):
            if found.top is not None:
                self.outcome.trees[found.path] = found.top
            place = os.path.abspath(found.path)
            if not checked.get(place):  # a file that a tree passed over may be named, too
                if found.kind == "store":
                    self.check_folder(found.path)
                checked[place] = found.kind == "store" or self._read(found)
            step(number, len(files.found))
        self.check_builds()
        self._check_sources()
        self._check_referenced()
        self.outcome.notes += not_followed(self._not_followed, self.outcome)
        self.outcome.passed_over += (
            PassedOver(path, "names a mixlist, and is not read") for path in self._not_followed
        )
        for path, indexes in given:
            if not any(checked[os.path.abspath(files.found[index].path)] for index in indexes):
                self.failures.append(_nothing_to_check(path))

    def _read(self, found: Found) -> bool:
        """Read and check a file.

        :returns: whether it was checked, or a failure recorded
        """
        if found.kind == "met" and found.path.endswith(SUFFIXES):
            is_noted = self._note_source(found)
            if is_noted or not self.follow:
                return is_noted
        extension = os.path.splitext(found.path)[1].lower()
        is_only_followed = found.kind == "met" and extension not in EXTENSIONS and not is_option_name(found.path)
        if is_only_followed and not (
            os.path.isfile(found.path) and (extension in SCRIPTS or self._is_small(found.path))
        ):
            return False
        data = self._bytes(found.path)
        if data is None:
            return True
        if self.follow and (extension in SCRIPTS or found.kind == "named") and self._follow_script(found.path, data):
            return True
        if is_only_followed:
            if extension not in SCRIPTS and names_mixlist(data):
                self._not_followed.append(found.path)
            return found.path in self._not_followed
        if found.kind == "named":
            self.check_named(found.path, data, may_be_script=self.follow and extension in SCRIPTS)
            return True
        reason = self.check_file(found.path, data, is_named=False)
        if reason is not None:
            self.outcome.passed_over.append(PassedOver(found.path, reason))
        return reason is None

    def _is_small(self, path: str) -> bool:
        """Return whether a file of another kind is searched for the name of a mixlist."""
        if os.access(path, os.R_OK) and os.path.getsize(path) <= LARGEST_OTHER:
            return True
        reason = "it cannot be read, or is too large to be searched for the names of mixlists"
        self.outcome.passed_over.append(PassedOver(path, reason))
        return False

    def _note_source(self, found: Found) -> bool:
        """Note a file of a tree that is an OpDef source; others are passed over in silence, as most C++ is none.

        :returns: whether it is one
        """
        parts = os.path.relpath(os.path.realpath(found.path), found.top).split("/")[:-1]
        left_out = LEFT_OUT.intersection(parts)
        if left_out - {"experimental"}:
            return False
        data = self._bytes(found.path)
        if data is None or not is_source(data):
            return False
        (self._experimental if left_out else self._sources).append(found.path)
        return True

    def _check_sources(self) -> None:
        """Check the OpDef sources that were noted, those of one project together."""
        if not self._sources and not self._experimental:
            return
        from ..cann.opdef.reading import read_sources
        from .opdef import SourceCheck

        projects: dict[str, tuple[list[str], list[str]]] = {}
        for files, number in ((self._sources, 0), (self._experimental, 1)):
            for file in files:
                project = str(project_of(self.outcome.trees.get(file, file)))
                projects.setdefault(project, ([], []))[number].append(file)
        for project, (main, experimental) in projects.items():
            reading, apart = (read_sources(files, project) for files in (main, experimental))
            targets = [each.target for each in self.against]
            found: dict[str, list[Finding]] = {file: [] for file in main}
            for finding in SourceCheck(reading, apart, targets, self.by_chip).findings():
                found.setdefault(finding.path, []).append(finding)
            for path, findings in found.items():
                self.outcome.add(path, "opdef", findings)
        self._sources.clear()
        self._experimental.clear()

    def _follow_script(self, path: str, data: bytes) -> bool:
        """Note what a script names, and report what is missing.

        :returns: whether it names anything
        """
        socs = list({against.target.soc for against in self.against if against.target.soc})
        followed = follow(Source(data, path, strict=False), self.outcome.trees.get(path), socs)
        if followed is None:
            return False
        if not followed.is_read:
            self._not_followed.append(path)
            return True
        self._referenced += followed.targets
        self.outcome.trees.update((target, followed.top) for _, target in followed.targets)
        self.outcome.passed_over += followed.passed_over
        self.outcome.findings += followed.findings
        self.outcome.files.append(FileVerdict(path, "script", None))
        return True

    def _check_referenced(self) -> None:
        """Check the files that scripts name and that have not been checked."""
        checked = {os.path.realpath(verdict.path) for verdict in self.outcome.files}
        for kind, path in self._referenced:
            real = os.path.realpath(path)
            data = None if real in checked else self._bytes(path)
            checked.add(real)
            if data is not None:
                self.check_file(path, data, kind=kind)

    def check_named(self, path: str, data: bytes, may_be_script: bool = False) -> None:
        """Check a file that the user names; if its kind cannot be detected, record a failure.

        :param may_be_script: whether it is then a script that names nothing
        """
        try:
            self.check_file(path, data)
        except UsageFault as fault:
            if may_be_script:
                self.outcome.files.append(FileVerdict(path, "script", None))
            else:
                self.failures.append(fault)

    def check_file(self, path: str, data: bytes, is_named: bool = True, kind: NamedKind | None = None) -> str | None:
        """Check a file; one of a tree only if its name or text shows its kind. Inis are checked with the others of
        their build.

        :param kind: its kind, if it is not that of all files
        :returns: why it was not checked; None if it was
        :raises UsageFault: if the user names the file, and its kind cannot be detected
        """
        given = kind or self.kind
        if is_named and path.endswith(SUFFIXES) and is_source(data):
            self._sources.append(path)
            return None
        if given in (None, "library") and self._note_ini(path, data):
            return None
        if self._check_options(path, data, is_named, given):
            return None
        if not is_named and (given in OPTION_KINDS or not path.lower().endswith(".json")):
            return _NOT_MARKED
        is_shown = is_named or is_library_name(path) or is_mixlist_name(path)
        try:
            source = Source(data, path)
        except Damaged as error:
            if is_named and given is None and (foreign := foreign_binary(path, data[:64])):
                raise foreign.fault(path) from None
            if is_shown:
                by_name: NamedKind = "library" if is_library_name(path) else "mixlist"
                self.outcome.add(path, given or by_name, [unreadable(error)])
            return None if is_shown else _NOT_MARKED
        if not is_named and not may_be_recognised(source):
            return _NOT_MARKED
        content = read_members(source)
        found: NamedKind | FileKind | None = (given if is_named else None) or kind_of(source, content)
        if (found == "library" or found == "mixlist") and (is_shown or is_marked(source, content)):
            if (given or found) == "library":
                findings: Iterable[Finding] = _check_library(source, content)[1]
            elif self.models and not self.against:
                self.failures.append(UsageFault("--model requires --against for a mixlist", path=path))
                return None
            else:
                findings = find_in_mixlist(source, self.against, self._names, self.modes, self.models)
            self.outcome.add(path, given or found, findings)
            return None
        if is_named:
            raise _unknown_kind(found, source, content)
        foreign = foreign_of(source, content)
        return foreign.message if foreign else _NOT_MARKED

    def _note_ini(self, path: str, data: bytes) -> bool:
        """Note a file that is an ini of opbuild.

        :returns: whether it is one
        """
        if not path.lower().endswith(".ini") or not is_ini(path, data.decode("utf-8", "replace")):
            return False
        try:
            self._builds.setdefault(build_of(path), []).append(Source(data, path))
        except Damaged as error:
            self.outcome.add(path, "ini", [unreadable(error)])
        return True

    def check_builds(self) -> None:
        """Check the inis that were noted, those of one chip and build together."""
        for sources in self._builds.values():
            for path, findings in check_inis(sorted(sources, key=rank)):
                self.outcome.add(path, "ini", findings)
        self._builds.clear()

    def _check_options(self, path: str, data: bytes, is_named: bool, given: NamedKind | None) -> bool:
        """Check a file if it is one of ``OPTION_KINDS``.

        :returns: whether it was checked
        """
        if given not in (None, *OPTION_KINDS) or (given is None and path.lower().endswith(".json")):
            return False
        source = Source(data, path, strict=False)
        kind = option_kind(source.text, path, is_named)
        if given and (kind or is_named):
            kind = given
        if kind is None:
            return False
        self.outcome.add(path, kind, OptionCheck(OptionFile(kind, source), self.against, self.models).findings())
        return True

    def check_folder(self, folder: str) -> None:
        """Check a config directory: its files, and the result of loading them together."""
        try:
            names = load_order(folder, library_files(folder))
        except Refused as error:
            self.failures.append(error)
            return
        paths = [os.path.join(folder, name) for name in names]
        self.outcome.trees.update(dict.fromkeys(paths, self.outcome.trees.get(folder, folder)))
        read = {path: self._library_of_store(path) for path in paths}
        libraries = [library for library, _ in read.values() if library]
        store = Store(libraries, folder)
        together: dict[str, list[Finding]] = {}
        for finding in check_store(store) if len(libraries) == len(read) else ():
            together.setdefault(finding.path, []).append(finding)
        first = len(self.outcome.files)
        for path, (library, findings) in read.items():
            own = [never_built(store, library, finding) for finding in findings] if library else findings
            self.outcome.add(path, "library", own + together.get(path, []))
        accepts = all(verdict.engine_accepts for verdict in self.outcome.files[first:])
        self.outcome.add(folder, "store", [], accepts)

    def check_modes(self) -> None:
        """Check the precision modes, once for all files."""
        if self.modes:
            socs = sorted({against.target.soc for against in self.against if against.target.soc})
            self.outcome.add(PLACE, "mode", check_modes(self.modes, socs, {file.kind for file in self.outcome.files}))

    def _bytes(self, path: str) -> bytes | None:
        try:
            return read_bytes(path, self.outcome.trees.get(path))
        except Refused as error:
            self.failures.append(error)
            return None

    def _library_of_store(self, path: str) -> tuple[Library | None, list[Finding]]:
        """Return a library of a store with its findings; None if its entries cannot be read."""
        data = self._bytes(path)
        if data is None:
            return None, []
        try:
            source = Source(data, path)
            return _check_library(source, read_members(source))
        except Damaged as error:
            return None, [unreadable(error)]


_NOT_MARKED = "neither its name nor its text marks a kind of file that is checked"


def _check_library(source: Source, content: Members | Document) -> tuple[Library | None, list[Finding]]:
    """Check a library.

    :returns: the library; None if the engine could not load its entries at all"""
    if not isinstance(content, Members):
        return None, [*bom(source, fixable=False), *faults(content, fixable=False)]
    if content.members is None:
        return None, [root_is_no_object(source, content)]
    library = Library(source, content.members)
    findings = list(check_library(library, content))
    return (None if any(library.structure_faults()) else library), findings


def _unknown_kind(kind: str | None, source: Source, content: Members | Document) -> UsageFault:
    if kind == "snapshot":
        message = "a snapshot cannot be validated; it is a target for --against"
        hint = "`opsinfo diff` compares it with an install"
        return UsageFault(message, name="wrong-kind", path=source.path, hint=hint)
    hint = f"add --as library, mixlist, {', '.join(OPTION_KINDS[:-1])} or {OPTION_KINDS[-1]}"
    return unknown_kind(source, hint, content)


def _nothing_to_check(path: str) -> UsageFault:
    return UsageFault(
        "nothing to check: no mixlist, library or store found here",
        name="nothing-to-check",
        path=path,
        hint="mixlists are found by name (`ops_info*.json`, `*mixlist*.json` ...) or by their lists; -v lists what "
        "was skipped",
    )


@dataclass(frozen=True)
class Narrowing:
    """Which findings are reported, and which of them fail the run.

    :param baseline: the findings that are known; None if no file of them was given
    :param strict: whether a warning fails
    :param severity: the least that is reported; what fails the run is reported in any case
    """

    repository: Repository
    selection: RuleSelection = field(default_factory=RuleSelection)
    baseline: Baseline | None = None
    strict: bool = False
    severity: Severity = "note"

    def narrow(self, outcome: Outcome) -> CheckResult:
        """Select findings, the worst first, give them fingerprints, which do not depend on the selection, and leave out
        known ones.
        """
        result = CheckResult(replace(outcome), self.repository, self.strict)
        findings = fingerprinted(outcome.findings, result.relative)
        reported = SEVERITIES[: SEVERITIES.index(self.severity) + 1]
        result.selected = [
            finding
            for finding in sorted(findings, key=lambda finding: finding.urgency)
            if (finding.severity in reported or result.fails(finding))
            and self.selection.keeps(finding.rule, finding.pointer)
        ]
        result.outcome.findings = list(result.selected)
        if self.baseline is not None:
            result.baseline = self.baseline.renewed(findings, result.relative)
            known = result.baseline.fingerprints
            result.outcome.findings = [finding for finding in result.selected if finding.fingerprint not in known]
            paths = {result.relative(verdict.path) for verdict in outcome.files}
            result.gone = result.baseline.gone(findings, paths, self.selection, self.repository.root)
        return result


_NO_FILES = frozenset({"-", PLACE})
"""Places of findings that are not files: standard input and the command line."""


@dataclass
class CheckResult:
    """The result of a run of checks, the input of every report format.

    :param outcome: with the findings that are reported
    :param selected: these, and the known ones of the baseline
    :param baseline: the known findings, with the fingerprints of today
    :param gone: entries of the baseline whose finding no longer occurs
    """

    outcome: Outcome
    repository: Repository
    strict: bool = False
    baseline: Baseline = field(default_factory=Baseline)
    selected: list[Finding] = field(default_factory=list)
    gone: list[Known] = field(default_factory=list)
    _relative: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def failures(self) -> list[OpsinfoError]:
        """Errors for files that could not be checked."""
        return self.outcome.failures

    @property
    def known(self) -> int:
        """The number of findings that the baseline hides."""
        return len(self.selected) - len(self.outcome.findings)

    def fails(self, finding: Finding) -> bool:
        return finding.severity == "error" or (self.strict and finding.severity == "warning")

    @property
    def status(self) -> int:
        """The exit status."""
        if self.failures:
            return max(error.exit_code for error in self.failures)
        return int(any(map(self.fails, self.outcome.findings)))

    def is_file(self, path: str) -> bool:
        return path not in _NO_FILES

    def relative(self, path: str) -> str:
        """Return a path as in output for programs; standard input and the command line keep their names."""
        if not self.is_file(path):
            return path
        if path not in self._relative:
            self._relative[path] = self.repository.relative(path)
        return self._relative[path]
