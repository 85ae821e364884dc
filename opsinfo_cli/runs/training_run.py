"""Which logs are one run, and the evidence of a run: a folder with a log per rank, and files that differ in the rank
number, are one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import IO, NamedTuple

from ..errors import UsageFault
from .evidence import Evidence
from .formats import FORMATS
from .log import read_log
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


def runs_of(given: tuple[str, ...]) -> list[TrainingRun]:
    """Return the runs of the given paths.

    :raises UsageFault: if a folder has no file, or a log is given twice
    """
    runs: dict[str, list[str]] = {}
    for path in given:
        if os.path.isdir(path):
            runs.setdefault(path, []).extend(_files_in(path))
        else:
            runs.setdefault(_RANK.sub(r"\1*", path), []).append(path)
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


def _files_in(folder: str) -> list[str]:
    files = sorted(
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if not name.startswith(".") and os.path.isfile(os.path.join(place, name))
    )
    if not files:
        raise UsageFault("the folder has no logs", name="no-log", path=folder)
    return files


def run_evidence(
    run: TrainingRun,
    steps: int | None = None,
    ranks: int | None = None,
    metric: re.Pattern[bytes] | None = None,
    pick: str = "last",
    stdin: IO[bytes] | None = None,
    seen: Callable[[int], None] | None = None,
) -> RunEvidence:
    """Read the logs of a run. Of several ranks' logs the most informative is used: a step overflows on all ranks.

    :param steps: the number of steps, if known
    :param ranks: the number of ranks that print to a log, if known
    :param seen: called with the number of bytes read, for a progress line
    :raises Refused: if a log cannot be read
    """
    logs = [read_log(path, Metric(metric, pick) if metric else None, stdin, seen) for path in run.paths]
    all_evidence = [log.evidence(steps, ranks if len(logs) == 1 else 1) for log in logs]
    best = min(all_evidence, key=_informative)
    for evidence in all_evidence:
        best.level = best.level or evidence.level
        best.precision = best.precision or evidence.precision
        best.scaling = best.scaling or evidence.scaling
        best.fatal = best.fatal or evidence.fatal
    reduced = Reduced()
    for log in logs:
        reduced.include(log.reduced)
    best.known = any(evidence.known for evidence in all_evidence)
    values = (log.metric.value for log in logs if log.metric and log.metric.value is not None)
    return RunEvidence(run, best, next(values, None), reduced)


def _informative(evidence: Evidence) -> tuple[int, int, int]:
    """Return a sort key, best log first: known format, then known steps, then most overflows."""
    known = _ORDER.index(evidence.format) if evidence.format in _ORDER else len(_ORDER)
    return known, -(evidence.count.steps or 0), -evidence.count.high
