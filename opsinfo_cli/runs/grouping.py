"""Group logs into runs: a folder with a log per rank is one run, and so are files that differ in the rank number."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from ..errors import UsageFault

_RANK = re.compile(r"(?i)(rank|device|worker)[_-]?\d+")


class TrainingRun(NamedTuple):
    name: str
    paths: tuple[str, ...]


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
            stat = os.stat(path)
        except (OSError, ValueError):  # reported when it is read
            continue
        if (stat.st_dev, stat.st_ino) in known:
            raise UsageFault("this log is given twice", name="same-log", path=path)
        known.add((stat.st_dev, stat.st_ino))
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
