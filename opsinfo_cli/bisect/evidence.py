"""Evidence of the user: op types ranked by an overflow dump, a comparison or a simulation."""

from __future__ import annotations

import csv
import json
import math
import os
import re
from typing import TYPE_CHECKING

from ..errors import Damaged, UsageFault
from ..numerics.tensors import dump_name
from ..text.source import read_bytes

if TYPE_CHECKING:
    from typing import Any

_DUMPED = re.compile(r"(?P<type>[A-Za-z][A-Za-z0-9_]*)\.[^.]+\.\d+(?:\.\d+)+")
"""A dump file as the device writes it: ``OpType.opname.taskid.streamid.timestamp``."""
_WORST = 2.0
"""The score of an overflow; 1 - cosine is not above 2."""


def read_evidence(path: str) -> list[str]:
    """Return op types, the most suspect first.

    :param path: a folder with an overflow dump, a CSV with the columns OpType and CosineSimilarity, or JSON of
        `opsinfo simulate`
    :raises UsageFault: if it is none of these
    :raises Refused: if it cannot be read
    """
    if os.path.isdir(path):
        return _overflowed(path)
    data = read_bytes(path)
    if data.lstrip()[:1] == b"{":
        return _simulated(path, data)
    return _compared(path, data.decode("utf-8-sig", "replace"))


def _overflowed(folder: str) -> list[str]:
    """Return types with the number of their operators in the dump, which contains those that overflowed."""
    operators: dict[str, set[str]] = {}
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            dumped = dump_name(os.path.join(place, name))
            match = _DUMPED.fullmatch(name)
            if dumped is not None:
                operators.setdefault(dumped.type, set()).add(dumped.operator)
            elif match is not None and match["type"].lower() != "opdebug":
                operators.setdefault(match["type"], set()).add(name.split(".")[1])
    if not operators:
        hint = "files are named OpType.opname.taskid.timestamp.output.N.npy, or as the device writes them"
        raise UsageFault("no dumped tensors in this folder", name="no-evidence", path=folder, hint=hint)
    return sorted(operators, key=lambda name: (-len(operators[name]), name))


def _compared(path: str, text: str) -> list[str]:
    """Return types with the worst cosine of their tensors; an overflow is worse than any cosine."""
    rows = csv.reader(text.splitlines())
    header = next(rows, [])
    titles = [_plain(title) for title in header]
    cosine = next((at for at, title in enumerate(titles) if "cosine" in title), None)
    kind = next((at for at, title in enumerate(titles) if title in ("optype", "type")), None)
    if cosine is None or kind is None:
        said = "neither a comparison CSV nor JSON of `opsinfo simulate`"
        hint = "a CSV needs the columns OpType and CosineSimilarity"
        raise UsageFault(said, name="no-evidence", path=path, hint=hint)
    overflow = next((at for at, title in enumerate(titles) if title == "overflow"), None)
    scores: dict[str, float] = {}
    for row in rows:
        score = _score(row, cosine, overflow)
        name = row[kind].strip() if len(row) > kind else ""
        if score is not None and name not in ("", "-", "*", "NaN"):
            scores[name] = max(score, scores.get(name, 0.0))
    return _worst_first(scores)


def _score(row: list[str], cosine: int, overflow: int | None) -> float | None:
    """Return how bad a row is; None: it was not compared, or shows no difference."""
    if overflow is not None and len(row) > overflow and row[overflow].strip().upper() == "YES":
        return _WORST
    try:
        value = float(row[cosine])
    except (ValueError, IndexError):
        return None
    return 1 - value if value < 1 else None  # NaN: there was nothing to compare


def _simulated(path: str, data: bytes) -> list[str]:
    """Return types with the error that each causes alone, from the JSON of `opsinfo simulate`."""
    try:
        types = json.loads(data)["types"]
        return _worst_first({each["type"]: _number(each["error_alone"]) for each in types})
    except (ValueError, KeyError, TypeError):
        hint = "make it with `opsinfo simulate --format json`"
        raise Damaged("not JSON of `opsinfo simulate`", path=path, hint=hint) from None


def _number(value: Any) -> float:
    """Return an error; it is null or text if it is not finite."""
    return float(value) if isinstance(value, (int, float)) else math.inf


def _worst_first(scores: dict[str, float]) -> list[str]:
    return sorted((name for name in scores if scores[name] > 0), key=lambda name: (-scores[name], name))


def _plain(title: str) -> str:
    return re.sub(r"[^a-z]", "", title.lower())
