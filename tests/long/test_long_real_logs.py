"""Real training logs against a truth that is counted without the package.

The logs are not part of the project. ``OPSINFO_LOGS`` names a folder that holds each one of ``real_logs.tsv`` as
``<owner>+<repository>/<path>``.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from log_truths import TRUTHS, scales

from opsinfo_cli.logs.evidence import Evidence
from opsinfo_cli.logs.log import read_log
from opsinfo_cli.logs.points import Facts, run_points

FOLDER = os.environ.get("OPSINFO_LOGS")
pytestmark = pytest.mark.skipif(not FOLDER, reason="OPSINFO_LOGS is not set")

with (Path(__file__).parent / "real_logs.tsv").open(encoding="utf-8") as table:
    ROWS = list(csv.DictReader(table, delimiter="\t"))


def number(text: str) -> int | None:
    return None if text == "-" else int(text)


each_log = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['repository']}/{row['path']}")


def log_of(row: dict[str, str]) -> Path:
    path = Path(FOLDER or "", row["repository"].replace("/", "+"), row["path"])
    if not path.is_file():
        pytest.skip(f"not in OPSINFO_LOGS: {row['repository']} {row['path']}")
    return path


def evidence_of(path: Path) -> Evidence:
    return read_log(str(path)).evidence()


@each_log
def test_the_bounds_contain_the_truth_and_are_narrow(row: dict[str, str]) -> None:
    path = log_of(row)
    truth = TRUTHS[row["truth"]](path.read_bytes(), int(row["ranks"]))
    assert truth == (number(row["overflows"]), number(row["steps"]))
    found = evidence_of(path)
    (share,) = (point for point in run_points(found, Facts()) if point.name == "overflow-share")
    overflows, steps = truth
    assert (found.scaling or "-") == row["scaling"]
    if overflows is None:
        assert share.status in ("cannot be told", "not measurable")
        return
    assert found.count.low <= overflows <= found.count.high
    assert found.count.is_narrow
    if steps is None:
        assert share.status == "cannot be told"
    else:
        assert share.status in ("holds", "fails")
        assert abs((found.count.steps or 0) - steps) <= max(1, steps * 0.01)


@each_log
def test_the_scale_is_the_one_that_the_log_prints(row: dict[str, str]) -> None:
    """A configured scale comes before those of messages."""
    path = log_of(row)
    printed = scales(row["truth"], path.read_bytes())
    found = evidence_of(path).scale
    if not printed:
        assert found.falls == found.rises == 0 or row["truth"] == "nothing"
        return
    assert (found.final, found.lowest) == (printed[-1], min(printed))
    assert found.highest == max([*printed, found.start or 0])
