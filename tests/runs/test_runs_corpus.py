"""Real logs of the corpus, against the truth in its PROVENANCE.tsv."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from opsinfo_cli.runs.log import read_log
from opsinfo_cli.runs.points import Facts, run_points


def measured(status: str, doubt: str | None) -> str:
    """The word of PROVENANCE.tsv for a status of the share."""
    if doubt:
        return "sampled"
    return {"holds": "measured", "fails": "measured", "cannot be told": "unknown"}.get(status, status)


def test_every_real_log_has_the_counts_of_its_provenance(corpus: Path) -> None:
    table = corpus / "logs" / "PROVENANCE.tsv"
    if not table.is_file():
        pytest.skip("this corpus holds no logs")
    with table.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    assert rows
    for row in rows:
        path = corpus / "logs" / row["file"]
        found = read_log(str(path)).evidence()
        (share,) = (point for point in run_points(found, Facts()) if point.name == "overflow-share")
        count = found.count
        assert found.scaling == row["scaling"].split()[0], row["file"]
        assert measured(share.status, count.doubt) in row["status"], row["file"]
        if row["low"]:
            assert (count.low, count.high) == (int(row["low"]), int(row["high"])), row["file"]
        digits = re.search(r"\d+", row["steps"] or "")
        if digits:
            assert count.steps == pytest.approx(int(digits[0]), rel=0.01), row["file"]
