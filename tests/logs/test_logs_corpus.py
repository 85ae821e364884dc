"""Real logs of the corpus, against the truth in its PROVENANCE.tsv."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from opsinfo_cli.logs.log import read_log
from opsinfo_cli.logs.points import Facts, run_points
from opsinfo_cli.logs.training_run import TrainingRun, run_evidence


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


CASES = {
    "bf16_skipped/ds-bf16-skipped.log": {"overflow-share": r"fails: 100 % \(40 of 40 steps;"},
    "nan_runs/hf-deepspeed-npu-nan.log.gz": {"losses-are-numbers": "fails: .*at step 60: loss 0.0, grad_norm nan"},
    "nan_runs/mindspeed-bf16-naniter.log.gz": {"losses-are-numbers": "fails: .*at step 50: lm loss NAN, grad norm nan"},
    "meg_nan/meg_nan_count.log": {"losses-are-numbers": "fails: .*2 iterations by the log's own counter.* at step 2:"},
    "log_padded/ds-padded.log": {
        "mixed-precision": r"holds: fp16 \(float16\)",
        "dynamic-scaling": "holds: dynamic",
        "overflow-share": "cannot be told: 16 steps overflowed",
    },
    "ds_wrapped/ds_wrapped_learn.log": {
        "mixed-precision": r"holds: fp16 \(float16\)",
        "overflow-share": "cannot be told: 6 steps overflowed",
    },
    "rlhf_two_engines/rlhf_reduced.log": {"overflow-share": "holds: 0.333 % .1 of 300 steps;.* of 2 engines or runs"},
    "fairseq_collapse/fs_low.log": {"loss-scale": "fails: the scale fell below 1"},
    "mindyolo_sample/mindyolo.log": {
        "overflow-share": r"fails: 100 % of the logged steps \(20 of 20\), a sample of 2000 steps"
    },
    "dllogger/dle-bert.log": {"loss-scale": "fails: the scale fell below 1, to 0.0625"},
    "apex_rises_again/train.log": {
        "mixed-precision": "holds: O1",
        "overflow-share": r"holds: 0.0444 % .4 of 9002 steps;",
        "loss-scale": "holds: start 65536, final 32768, lowest 32768, highest 65536; 4 falls, 3 rises",
    },
    "fairseq_train_json/run.log": {
        "mixed-precision": "holds: fp16",
        "losses-are-numbers": r"holds: all logged losses .2. and gradient norms .2. are numbers",
        "overflow-share": r"fails: 8.26 % .18 or more of 218 steps",
        "loss-scale": "fails: the scale fell below 1, to 0.0002",
    },
    "deepspeed_inner_iter/run.log": {"overflow-share": r"fails: 66.7 % .2 of 3 steps"},
    "smoothed_nan/run.log": {
        "losses-are-numbers": "holds: NaN or infinity in 2 running averages of gradient norms; the first at "
        r"step 10: loss 6.5993, grad_norm 0.3922 .average nan.",
        "loss-scale": "holds: start 65536, final 32768",
    },
    "nan_key_hidden/run.log": {"losses-are-numbers": "fails: .* at step 100: .*grad_norm nan"},
    "bmtrain_iter/run.log": {
        "dynamic-scaling": "holds: dynamic",
        "loss-scale": "fails: the scale fell below 1, to 0.25 .printed as `scale`.",
    },
    "apex_garbled/apex_8ranks.log": {"overflow-share": "cannot be told: 4 steps overflowed"},
}
"""What the points of a small public input say, as a regular expression."""


@pytest.mark.parametrize("name", CASES)
def test_a_small_public_log_has_its_points(corpus: Path, name: str) -> None:
    path = corpus / "cases" / name
    if not path.is_file():
        pytest.skip("this corpus does not hold it")
    (run,) = run_evidence(TrainingRun(name, (str(path),))).runs
    points = {point.name: f"{point.status}: {point.says}" for point in run_points(run.evidence, Facts())}
    for point, says in CASES[name].items():
        assert re.match(says, points[point]), points[point]
    assert "bfloat16" not in points["mixed-precision"] or name.startswith(("bf16", "nan"))
