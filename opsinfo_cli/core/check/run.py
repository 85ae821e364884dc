"""One run of checks: find the files, read each, check it by its kind, and narrow the findings to what is asked for.

In the order in which they arise (`files.py`, `kinds.py`, `finding.py`, `checked.py`):

- Asked: what the user wants checked with: targets, modes, models. Context: it, with what the checks of a run share.
- FoundFile: a path that a walk met or the user names, unread. PassedOver: one that is not checked, with the reason.
- ReadFile: its content, and what it is. FileCheck: a row of ``KINDS``: how a kind is recognised, and what checks it.
- FileFindings: what a check returns of one file. FileVerdict: its row in the document: kind, and if accepted.
- Outcome: all findings, verdicts, failures and paths passed over. CheckRun fills it, one for the paths, one for a base.
- Narrowing: which findings are reported, by rules, severity and baseline. Checked: an Outcome after it, for reports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING
from warnings import warn

from ...errors import Refused, UsageFault
from ..cann.chips import chip_folder, known_folders, meant_chip
from ..cann.file_kind import NamedKind
from ..cann.opdef.find import NAMED_IF_LEFT_OUT, SUFFIXES, NotRead, is_source, left_out_of, passed_over_note
from ..cann.target import AnyTargets, Target, targets_of, targets_or_mixlist
from ..cann.targets.chip import may_be_chip
from ..cann.targets.found import FACTS, TargetOptions
from ..change.write_settings import WriteSettings
from ..text.source import Source, read_bytes
from .base import Base, open_base
from .baseline import Baseline, fingerprinted, not_in
from .checked import NO_FILES, Checked, Narrowing
from .compare_base import TreePolicies, compare_libraries, configuration_findings, policy_findings, without_defaults
from .exclude import excluding
from .files import FoundFile, FoundFiles
from .finding import BaseUsed, CheckedKind, FileVerdict, FixKind, Outcome, PassedOver
from .kinds import KINDS, NOT_MARKED, Asked, Context, FileFindings, ReadFile, folders_left_out, kind_of_file
from .mixlist import MixlistTarget, mixlist_targets
from .mode import PLACE, check_modes
from .models import Models, OpenModels
from .referenced_files import LARGEST_OTHER, follow, names_mixlist, not_followed
from .rules import Severity
from .settings_in_scripts import SCRIPTS

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..cann.input_shapes import Shapes
    from ..cann.opdef.reading import Reading

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
    strict: bool = False,
    baseline: Baseline | str | os.PathLike[str] | None = None,
    fix: FixKind | None = None,
    base: str | os.PathLike[str] | None = None,
    soc: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    by_chip: bool = False,
    stdin: bytes | None = None,
    step: Step = lambda done, total: None,
    say: Callable[[str], None] = warn,
    open_models: OpenModels | None = None,
    **settings: Unpack[WriteSettings],
) -> Checked:
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
    :param strict: whether a warning fails the run
    :param baseline: known findings, or their file, which are not returned
    :param fix: which fixes are applied before the files are checked again
    :param base: a folder, or a revision of the checkout: what it has, too, is not returned, and policies are compared
    :param soc: the chips of installs and packages among ``paths`` that are checked; all if empty
    :param exclude: patterns of files and folders that a walk leaves out
    :param by_chip: whether it is reported that sources give an op type different policies on different chips
    :param stdin: the content for the path ``-``
    :param step: called with the number of files and stores done and the total
    :param say: called with what a writer finds on the way
    :param open_models: of the room that reads models; `opsinfo_cli.validate` has it
    :param settings: :class:`.WriteSettings`, for fixes

    :raises OpsinfoError: if a target, model or baseline cannot be read; faults of ``paths`` are in the outcome
    """
    known = Baseline.read(os.fspath(baseline)) if isinstance(baseline, (str, os.PathLike)) else baseline
    narrowing = Narrowing.of(_words(select), _words(ignore), severity, strict, known or Baseline())
    given = [models] if isinstance(models, (str, os.PathLike)) else models
    asked = Asked(
        tuple(readable_targets(targets_of(against))),
        _words(modes),
        opened_models([os.fspath(path) for path in given], shapes, open_models),
        kind,
        follow,
        by_chip,
        open_models,
        _words(exclude),
    )
    texts = [os.fspath(path) for path in paths]
    before = None if base is None else os.fspath(base)
    return check_and_fix(
        texts, asked, narrowing, _words(soc), before, stdin, fix, settings=settings, step=step, say=say
    )


def _words(given: Iterable[str] | str) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def check_and_fix(
    paths: Sequence[str],
    asked: Asked,
    narrowing: Narrowing,
    socs: Sequence[str],
    base: str | None,
    stdin: bytes | None,
    fix: FixKind | None,
    *,
    settings: WriteSettings,
    step: Step,
    say: Callable[[str], None],
) -> Checked:
    """Check, apply fixes if they are asked for, and check again; the arguments are those of :func:`validate`.

    :param asked: what is checked with
    :param narrowing: which findings are reported
    :param settings: how fixes are written
    :raises OpsinfoError: if a chip is unknown, or the base cannot be read
    """
    paths = list(_paths_of(paths, socs))

    def check() -> Checked:
        if base is None:
            return narrowing.narrow(run_checks(paths, asked, stdin, step).outcome)
        with open_base(base, paths) as before:
            run = run_checks(paths, asked, stdin, step, has_base=True)
            return narrowing.narrow(_brought(before, paths, asked, run))

    checked = check()
    if fix is None:
        return checked
    from .fixing import apply_fixes

    return apply_fixes(checked, check, asked, narrowing, fix == "unsafe", settings, say)


def _paths_of(paths: Iterable[str], socs: Sequence[str]) -> Iterator[str]:
    """Yield paths; for one chip of a target, as ``opp@ascend910b``, or the name of a chip, those of its stores.

    :raises UsageFault: if a chip is unknown, or a path has no chips to choose from
    """
    for path in paths:
        root, at, _ = path.rpartition("@")
        names_chip = (at and os.path.exists(root)) or ("/" not in path and chip_folder(path) is not None)
        if path == "-" or (os.path.lexists(path) and not socs) or not (socs or names_chip):
            yield path
            continue
        for target in targets_or_mixlist(path, TargetOptions(), socs, os.environ):
            if not isinstance(target, Target) or not FACTS[target.kind].has_chips:
                raise UsageFault("--soc requires --against", hint="add --against TARGET")
            if target.folders:
                yield from filter(os.path.isdir, target.folders)
            else:
                yield target.path  # sources and inis are checked for all their chips


def readable_targets(targets: Sequence[Target]) -> list[MixlistTarget]:
    """:raises OpsinfoError: if a target cannot be read, before anything is checked"""
    labelled = mixlist_targets(targets)
    for target in labelled:
        _ = target.target.operators
    return labelled


def opened_models(paths: Sequence[str], shapes: Shapes, open_models: OpenModels | None) -> Models | None:
    """:raises OpsinfoError: if a model cannot be read, or a shape fits none"""
    if shapes and not paths:
        raise UsageFault("--shape requires --model", hint="add --model MODEL")
    if not paths:
        return None
    assert open_models is not None
    return open_models(paths, shapes)


def run_checks(
    paths: Sequence[str],
    asked: Asked,
    stdin: bytes | None = None,
    step: Step = lambda done, total: None,
    has_base: bool = False,
) -> CheckRun:
    """Find, read and check files, stores and trees, each once. A path with nothing to check is a failure.

    With ``follow``, files of other kinds that name a mixlist count as found, and are only named.
    """
    run = CheckRun(Context(asked, has_base))
    outcome = run.outcome
    if not paths and not asked.modes:
        outcome.failures.append(UsageFault("nothing to check: no path is given", name="nothing-to-check"))
    if "-" in paths and stdin is not None:
        run.check(ReadFile("-", stdin, asked.kind))
        paths = [path for path in paths if path != "-"]
    found, given = find_files(paths, asked, outcome)
    checked: dict[str, bool] = {}
    for number, each in enumerate(found, 1):
        place = os.path.abspath(each.path)
        if not checked.get(place):  # a file that a tree passed over may be named, too
            checked[place] = run.read_and_check(each)
        step(number, len(found))
    run.check_together()
    run.check_referenced()
    for path, indexes in given:
        if not any(checked[os.path.abspath(found[index].path)] for index in indexes):
            message = "nothing to check: no mixlist, library or store found here"
            hint = (
                "mixlists are found by name (`ops_info*.json`, `*mixlist*.json` ...) or by their lists; -v lists what "
            )
            hint += "was skipped"
            outcome.failures.append(UsageFault(message, name="nothing-to-check", path=path, hint=hint))
    run.finish()
    return run


def _brought(base: Base, paths: Sequence[str], asked: Asked, run: CheckRun) -> Outcome:
    """Return what a checkout has that its base lacks: findings, and policies that are new, changed or removed."""
    in_base = _run_base(base, paths, asked, run)
    outcome = run.outcome
    if in_base.outcome.files:  # what is gone from a path is checked, too
        outcome.failures = [error for error in outcome.failures if error.name != "nothing-to-check"]
    outcome.failures += (error for error in in_base.outcome.failures if isinstance(error, Refused))
    checked = {base.relative(verdict.path) for verdict in in_base.outcome.files}
    known = {each.fingerprint for each in fingerprinted(in_base.outcome.findings, base.relative)}
    here, there = TreePolicies.of(run.context.projects), TreePolicies.of(in_base.context.projects)
    compare_libraries(base, here, there, outcome.files, in_base.outcome.files)
    lacks = partial(not_in, known, base.relative)
    own = []
    for finding in lacks(outcome.findings):
        path = base.relative(finding.path)
        if finding.path in NO_FILES or path in checked or not base.is_same(path):
            own.append(finding)
    news = [*own, *policy_findings(base, here, there), *configuration_findings(base)]
    outcome.base = BaseUsed(base.text, base.commit, len(outcome.findings) - len(own), lacks)
    outcome.findings = without_defaults(news)
    return outcome


def _run_base(base: Base, paths: Sequence[str], asked: Asked, run: CheckRun) -> CheckRun:
    """Check what the base has of the paths, but for files that are the same and depend on no others."""
    given = [path for path in paths if path != "-"]
    sources = [path for project in run.context.projects for path in (*project.main, *project.experimental)]
    base.prepare(given, sources, asked.follow)
    unaffected: dict[str, tuple[Reading, str | None]] = {}
    for project in run.context.projects:
        for path, reading in (*project.main.items(), *project.experimental.items()):
            if base.is_unaffected(base.relative(path)):
                unaffected[base.pair(path)] = reading, run.outcome.trees.get(path)
    context = Context(asked, True, base.root, {path: reading for path, (reading, _) in unaffected.items()})
    of_base = CheckRun(context)
    pairs = map(base.pair, given)
    excludes = excluding(asked.exclude)
    found, _ = find_files(
        [path for path in pairs if os.path.lexists(path)],
        asked,
        of_base.outcome,
        lambda path: excludes(os.path.join(base.head, base.relative(path))),
    )
    for path, (_, top) in unaffected.items():
        of_base.note("opdef", ReadFile(path, b"", top=top and base.pair(top)))
    for each in found:
        depends = each.is_store or asked.follow or each.path.endswith((".ini", *SUFFIXES))
        if os.path.abspath(each.path) not in unaffected and (depends or not base.is_same(base.relative(each.path))):
            of_base.read_and_check(each)
    of_base.check_together()
    of_base.check_referenced()
    return of_base


def find_files(
    paths: Iterable[str], asked: Asked, outcome: Outcome, excludes: Callable[[str], bool] | None = None
) -> tuple[list[FoundFile], list[tuple[str, range]]]:
    """Return the files and stores to check, and for each path that could be searched which of them are its."""
    files = FoundFiles(outcome, excludes=excludes or excluding(asked.exclude), follow=asked.follow)
    given: list[tuple[str, range]] = []
    for path in paths:
        first, failed = len(files.found), len(outcome.failures)
        files.add(path)
        if len(outcome.failures) == failed:
            given.append((path, range(first, len(files.found))))
    outcome.trees.update((each.path, each.top) for each in files.found if each.top is not None)
    return files.found, given


class CheckRun:
    """What one run has read, and what it found."""

    def __init__(self, context: Context) -> None:
        self.asked, self.context = context.asked, context
        self.outcome = Outcome()
        self._together: dict[CheckedKind, list[ReadFile]] = {}
        self._referenced: list[tuple[NamedKind, str]] = []
        self._not_followed: list[str] = []
        self._paths_not_followed = 0
        self._left_out: list[NotRead] = []

    def read_and_check(self, found: FoundFile) -> bool:
        """:returns: whether something was checked, or a failure recorded"""
        try:
            file = self.read(found)
        except Refused as error:
            if may_be_chip(found.path):
                error.hint = error.hint or meant_chip(found.path, known_folders())
            self.outcome.failures.append(error)
            return True
        if file is None:
            return False
        is_script = _extension(found.path) in SCRIPTS
        if self.asked.follow and not file.is_folder and (is_script or file.is_named) and self._follow(file):
            return True
        if found.use == "checked" or kind_of_file(file):
            return self.check(file)
        if self.asked.follow and not is_script and len(file.data) <= LARGEST_OTHER and names_mixlist(file.data):
            self._not_followed.append(found.path)
            return True
        return False

    def read(self, found: FoundFile) -> ReadFile | None:
        """Return a file, or a folder of libraries; None if it is passed over unread.

        :raises Refused: if it cannot be read
        """
        file = ReadFile(found.path, None, self.asked.kind, found.top)
        if found.is_store:
            return file
        if found.use != "checked":
            may_be_source = found.use == "source"
            if may_be_source and (folders := folders_left_out(file) - {"experimental"}):
                may_be_source = False
                if folders <= NAMED_IF_LEFT_OUT and is_source(read_bytes(found.path, found.top)):
                    self._left_out.append(left_out_of(found.path, folders))
            if not may_be_source and not (self.asked.follow and self._is_searched(found.path)):
                return None
        return ReadFile(found.path, read_bytes(found.path, found.top), file.given, found.top)

    def _is_searched(self, path: str) -> bool:
        """Return whether a file of another kind is read, as a script or for the name of a mixlist."""
        if not os.path.isfile(path):
            return False
        if _extension(path) in SCRIPTS or (os.access(path, os.R_OK) and os.path.getsize(path) <= LARGEST_OTHER):
            return True
        reason = "it cannot be read, or is too large to be searched for the names of mixlists"
        self.outcome.passed_over.append(PassedOver(path, reason))
        return False

    def check(self, file: ReadFile) -> bool:
        """Check a file by its kind, or note it where those of its kind are checked together.

        :returns: whether it is checked, or a failure was recorded
        """
        try:
            kind = kind_of_file(file)
            reason = None if kind else file.not_checked()
        except UsageFault as fault:
            if self.asked.follow and _extension(file.path) in SCRIPTS:
                self.outcome.files.append(FileVerdict(file.path, "script", None))  # which names nothing
            else:
                self.outcome.failures.append(fault)
            return True
        if kind is None:
            self.outcome.passed_over.append(PassedOver(file.path, reason or NOT_MARKED))
            return False
        if KINDS[kind].together:
            self.note(kind, file)
        else:
            self._add(kind, KINDS[kind].check([file], self.context))
        return True

    def note(self, kind: CheckedKind, file: ReadFile) -> None:
        """Note a file of a kind that is checked together with the others."""
        self._together.setdefault(kind, []).append(file)

    def check_together(self) -> None:
        for kind in KINDS:
            if files := self._together.pop(kind, None):
                files.sort(key=lambda file: _walked(file.path))
                self._add(kind, KINDS[kind].check(files, self.context))

    def _add(self, kind: CheckedKind, checked: Iterable[FileFindings]) -> None:
        for each in checked:
            if each.failure:
                self.outcome.failures.append(each.failure)
            else:
                self.outcome.add(each.path, each.kind or kind, each.findings, each.accepts)

    def _follow(self, file: ReadFile) -> bool:
        """Note what a script names, and report what is missing.

        :returns: whether it names anything
        """
        socs = list({against.target.soc for against in self.asked.against if against.target.soc})
        outcome = self.outcome
        followed = follow(Source(file.data, file.path, strict=False), file.top, socs)
        if followed is None:
            return False
        if not followed.is_read:
            self._not_followed.append(file.path)
            return True
        self._referenced += followed.targets
        outcome.trees.update((target, followed.top) for _, target in followed.targets)
        outcome.passed_over += followed.passed_over
        self._paths_not_followed += len(followed.passed_over)
        outcome.findings += followed.findings
        outcome.files.append(FileVerdict(file.path, "script", None))
        return True

    def check_referenced(self) -> None:
        """Check the files that scripts name and that have not been checked."""
        checked = {os.path.realpath(verdict.path) for verdict in self.outcome.files}
        for kind, path in self._referenced:
            real = os.path.realpath(path)
            if real not in checked:
                checked.add(real)
                try:
                    data = read_bytes(path, self.outcome.trees.get(path))
                except Refused as error:
                    self.outcome.failures.append(error)
                else:
                    self.check(ReadFile(path, data, kind))

    def finish(self) -> None:
        """Say what was not followed, check the precision modes, once for all files, and note what models left open."""
        asked, outcome = self.asked, self.outcome
        not_read = [*self._left_out]
        for project in self.context.projects:
            not_read += project.reading.not_read
            if not self.context.has_base:  # they are compared with the others only
                not_read += [left_out_of(path, frozenset({"experimental"})) for path in project.experimental]
        if not_read:
            outcome.notes.append(passed_over_note(not_read))
            outcome.passed_over += (PassedOver(each.path, each.reason) for each in not_read)
        outcome.notes += not_followed(self._not_followed, self._paths_not_followed)
        outcome.passed_over += (PassedOver(path, "names a mixlist, and is not read") for path in self._not_followed)
        if asked.modes:
            socs = sorted({against.target.soc for against in asked.against if against.target.soc})
            outcome.add(
                PLACE, "mode", check_modes(asked.modes, socs, {file.kind for file in outcome.files if file.kind})
            )
        outcome.notes += filter(None, (model.pop_note() for model in asked.models or ()))
        outcome.failures += filter(None, (model.fault for model in asked.models or ()))
        outcome.against = list(dict.fromkeys(target.target.text for target in asked.against))


def _walked(path: str) -> list[tuple[bool, str]]:
    """Return a key that sorts paths as a walk meets them: the files of a folder before those below it."""
    *folders, name = path.split("/")
    return [*((True, folder) for folder in folders), (False, name)]


def _extension(path: str) -> str:
    return os.path.splitext(path)[1].lower()
