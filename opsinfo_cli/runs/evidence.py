"""The evidence of a run, from one log or from one log per rank."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import IO

from .grouping import TrainingRun
from .metric import Metric
from .points import Asked
from .readers import READERS
from .readers.reader import Evidence
from .scan import read_log
from .verdict import RunFound


def run_evidence(
    run: TrainingRun,
    asked: Asked,
    metric: re.Pattern[bytes] | None,
    pick: str,
    stdin: IO[bytes] | None = None,
    seen: Callable[[int], None] | None = None,
) -> RunFound:
    """Read the logs of a run. Of several ranks' logs the most informative is used: a step overflows on all ranks.

    :raises Refused: if a log cannot be read
    """
    logs = [read_log(path, Metric(metric, pick) if metric else None, stdin, seen) for path in run.paths]
    ranks = asked.ranks if len(logs) == 1 else 1
    all_found = [log.evidence(asked.steps, ranks) for log in logs]
    best = min(all_found, key=_telling)
    for found in all_found:
        best.level = best.level or found.level
        best.precision = best.precision or found.precision
        best.scaling = best.scaling or found.scaling
        best.fatal = best.fatal or found.fatal
    values = (log.metric.value for log in logs if log.metric and log.metric.value is not None)
    return RunFound(run.name, run.paths, best, next(values, None))


_ORDER = [reader.name for reader in READERS]


def _telling(found: Evidence) -> tuple[int, int, int]:
    """Return a sort key, best log first: known format, then known steps, then most overflows."""
    known = _ORDER.index(found.format) if found.format in _ORDER else len(_ORDER)
    count = found.count
    return known, -(count.steps or 0) if count else 0, -(count.high if count else 0)
