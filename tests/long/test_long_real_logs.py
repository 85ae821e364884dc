"""Real training logs against a truth that is counted without the package.

The logs are not part of the project. ``OPSINFO_LOGS`` names a folder that holds each one of ``real_logs.tsv`` as
``<owner>+<repository>/<path>``.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from log_truths import TRUTHS

from opsinfo_cli.runs.evidence import run_evidence
from opsinfo_cli.runs.grouping import TrainingRun
from opsinfo_cli.runs.points import Asked, run_points

FOLDER = os.environ.get("OPSINFO_LOGS")
pytestmark = pytest.mark.skipif(not FOLDER, reason="OPSINFO_LOGS is not set")

with (Path(__file__).parent / "real_logs.tsv").open(encoding="utf-8") as table:
    ROWS = list(csv.DictReader(table, delimiter="\t"))


def number(text: str) -> int | None:
    return None if text == "-" else int(text)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['repository']}/{row['path']}")
def test_the_bounds_contain_the_truth_and_are_narrow(row: dict[str, str]) -> None:
    path = Path(FOLDER or "", row["repository"].replace("/", "+"), row["path"])
    if not path.is_file():
        pytest.skip(f"not in OPSINFO_LOGS: {row['repository']} {row['path']}")
    truth = TRUTHS[row["truth"]](path.read_bytes(), int(row["ranks"]))
    assert truth == (number(row["overflows"]), number(row["steps"]))
    found = run_evidence(TrainingRun(path.name, (str(path),)), Asked(), None, "last").evidence
    (share,) = (point for point in run_points(found, Asked()) if point.name == "overflow-share")
    overflows, steps = truth
    assert (found.scaling or "-") == row["scaling"]
    if overflows is None:
        assert share.status in ("cannot be told", "not measurable")
        return
    assert found.count is not None
    assert found.count.low <= overflows <= found.count.high
    assert found.count.is_narrow
    if steps is None:
        assert share.status == "cannot be told"
    else:
        assert share.status in ("holds", "fails")
        assert abs((found.count.steps or 0) - steps) <= max(1, steps * 0.01)
