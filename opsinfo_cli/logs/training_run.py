"""Which logs are one run, and the evidence of a run: a folder with a log per rank, and files that differ in the rank
number, are one if what they print allows it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import IO, NamedTuple

from ..errors import UsageFault
from .evidence import Evidence
from .formats import FORMATS
from .log import Log, read_log
from .metric import Metric
from .reduced import Reduced

_RANK = re.compile(r"(?i)(rank|device|worker)[_-]?\d+")
_ORDER = [kind.name for kind in FORMATS]


class TrainingRun(NamedTuple):
    name: str
    paths: tuple[str, ...]


class RunEvidence(NamedTuple):
    """``metric``: None if no metric was asked for, or none was found. ``reduced``: records of all logs of the run."""

    run: TrainingRun
    evidence: Evidence
    metric: float | None = None
    reduced: Reduced = Reduced()

    @property
    def name(self) -> str:
        return self.run.name


class FoundRuns(NamedTuple):
    """The runs that the logs turned out to be, and what a user should know of that."""

    runs: list[RunEvidence]
    notes: tuple[str, ...]


def runs_of(given: tuple[str, ...]) -> list[TrainingRun]:
    """Return the runs of the given paths.

    :raises UsageFault: if a folder has no file, or a log is given twice
    """
    runs: dict[str, list[str]] = {}
    for path in given:
        if not os.path.isdir(path):
            runs.setdefault(_RANK.sub(r"\1*", path), []).append(path)
            continue
        files = sorted(
            os.path.join(place, name)
            for place, _, names in os.walk(path)
            for name in names
            if not name.startswith(".") and os.path.isfile(os.path.join(place, name))
        )
        if not files:
            raise UsageFault("the folder has no logs", name="no-log", path=path)
        runs.setdefault(path, []).extend(files)
    if [path for paths in runs.values() for path in paths].count("-") > 1:
        raise UsageFault("standard input is given twice", name="same-log")
    known: set[tuple[int, int]] = set()
    for path in (path for paths in runs.values() for path in paths if path != "-"):
        try:
            status = os.stat(path)
        except (OSError, ValueError):  # reported when it is read
            continue
        if (status.st_dev, status.st_ino) in known:
            raise UsageFault("this log is given twice", name="same-log", path=path)
        known.add((status.st_dev, status.st_ino))
    return [TrainingRun(paths[0] if len(paths) == 1 else name, tuple(paths)) for name, paths in runs.items()]


def run_evidence(
    run: TrainingRun,
    steps: int | None = None,
    ranks: int | None = None,
    metric: re.Pattern[bytes] | None = None,
    stdin: IO[bytes] | None = None,
    seen: Callable[[int], None] | None = None,
) -> FoundRuns:
    """Read the logs of a run. Of several ranks' logs the most informative is used: a step overflows on all ranks.

    Logs of different stacks, and logs without a rank in their names that do not fit each other, are runs of their own.
    A file without a known line is none if others have one.

    :param steps: the number of steps, if known
    :param ranks: the number of ranks that print to a log, if known
    :param seen: called with the number of bytes read, for a progress line
    :raises Refused: if a log cannot be read
    """
    logs = []
    for path in run.paths:
        log = read_log(path, Metric(metric) if metric else None, stdin, seen)
        logs.append(_ReadLog(path, log, log.evidence(steps, ranks if len(run.paths) == 1 else 1)))
    known = [log for log in logs if log.evidence.known] or logs
    notes = tuple(
        f"{rank_log.path}: no line of a known log format, so it is no log of the run {run.name}"
        for rank_log in logs
        if rank_log not in known
    )
    reason = _difference(known)
    if reason is None:
        if len(known) > 1:
            notes += (f"{run.name}: {len(known)} logs are read as the ranks of one run",)
        paths = tuple(rank_log.path for rank_log in known)
        name = run.name if len(run.paths) == 1 or len(known) > 1 else paths[0]
        return FoundRuns([_join(TrainingRun(name, paths), known)], notes)
    notes += (f"{run.name}: {len(known)} logs are judged one by one: {reason}",)
    alone = [_ReadLog(path, log, log.evidence(steps, ranks)) for path, log, _ in known]
    return FoundRuns([_join(TrainingRun(rank_log.path, (rank_log.path,)), [rank_log]) for rank_log in alone], notes)


class _ReadLog(NamedTuple):
    path: str
    log: Log
    evidence: Evidence


def _difference(logs: list[_ReadLog]) -> str | None:
    """Return why the logs are not of the ranks of one run; None if they may be."""
    stacks = {log.evidence.format for log in logs if log.evidence.lines and not log.evidence.silent}
    for kind in FORMATS:
        if kind.name in stacks:
            stacks -= set(kind.replaces)
    if len(stacks) > 1:
        return f"their formats differ ({', '.join(sorted(stacks))})"
    if len({_RANK.sub(r"\1*", log.path) for log in logs}) == 1:
        return None
    counts = [log.evidence.count for log in logs]
    steps = [count.steps for count in counts if count.steps]
    if steps and max(steps) - min(steps) > max(1, min(steps) // 100):
        return f"they have {min(steps)} to {max(steps)} steps, and their names have no rank"
    shown = [count for count in counts if count.proof]
    if shown and max(count.low for count in shown) > min(count.high for count in shown):
        return "their overflows differ, and their names have no rank"
    levels = {log.evidence.level for log in logs} - {None}
    return "their levels differ, and their names have no rank" if len(levels) > 1 else None


def _join(run: TrainingRun, logs: list[_ReadLog]) -> RunEvidence:
    def rank(evidence: Evidence) -> tuple[int, int, int]:
        """Known formats first, then the most steps, then the most overflows."""
        known = _ORDER.index(evidence.format) if evidence.format in _ORDER else len(_ORDER)
        return known, -(evidence.count.steps or 0), -evidence.count.high

    best = min((log.evidence for log in logs), key=rank)
    reduced = Reduced()
    for log in logs:
        best.level = best.level or log.evidence.level
        best.precision = best.precision or log.evidence.precision
        best.scaling = best.scaling or log.evidence.scaling
        best.fatal = best.fatal or log.evidence.fatal
        best.losses = best.losses.worse(log.evidence.losses)
        best.zeros = max(best.zeros, log.evidence.zeros)
        best.known = best.known or log.evidence.known
        reduced.include(log.log.reduced)
    metrics = [log.log.metric for log in logs]
    values = (metric.value for metric in metrics if metric and metric.value is not None)
    return RunEvidence(run, best, next(values, None), reduced)
