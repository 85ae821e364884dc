"""The points of a run, the agreement of runs and the comparison with high precision: each status with its text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from log_reading import evidence_of

from opsinfo_cli.logs.count import Overflows
from opsinfo_cli.logs.evidence import Evidence
from opsinfo_cli.logs.points import Facts, Share, percent, run_points, share_of
from opsinfo_cli.logs.scale import advise

DYNAMIC = Evidence("apex", scaling="dynamic")


def counted(low: int, high: int, steps: int | None = 1000, calibrating: int = 0, **more: Any) -> Evidence:
    """A log of dynamic scaling with a count."""
    proof = more.pop("proof", "messages")
    count = Overflows(
        low, high, steps, calibrating, "flags", proof=proof, doubt=more.pop("doubt", None), notes=("odd",)
    )
    found = Evidence(**{"format": "apex", "scaling": "dynamic", **more})
    found.count = count
    return found


def fallen(found: Evidence, *scales: float) -> Evidence:
    for at, scale in enumerate(scales):
        found.scale.add(at, scale)
    return found


def point(name: str, found: Evidence, facts: Facts | None = None) -> str:
    (shown,) = (each for each in run_points(found, facts or Facts()) if each.name == name)
    return f"{shown.status}: {shown.says}" + (f" [{shown.hint}]" if shown.hint else "")


def test_what_the_user_says_of_the_scaling_counts_for_norms_that_recover() -> None:
    lines = [f"{{'loss': 1.2, 'grad_norm': {norm}, 'learning_rate': 1e-05, 'epoch': 0.1}}" for norm in ("inf", "0.5")]
    found = evidence_of(*lines)
    assert point("losses-are-numbers", found).endswith("--loss-scale dynamic]")
    assert point("losses-are-numbers", found, Facts(loss_scale="dynamic")).startswith(
        "holds: NaN or infinity in 1 of 2"
    )
    assert point("losses-are-numbers", found, Facts(amp="bf16")).endswith("`opsinfo numerics`]")
    never = evidence_of(*reversed(lines))
    assert point("losses-are-numbers", never, Facts(loss_scale="dynamic")).startswith("fails")


POINTS = json.loads((Path(__file__).parent / "points.json").read_text("utf-8"))
"""What each point says: of an apex log with a count (low, high, steps, calibrating), or of other evidence."""


@pytest.mark.parametrize("asked", [pytest.param(each, id=f"{each['point']}: {each['name']}") for each in POINTS])
def test_a_point_has_its_status_and_words(asked: dict[str, Any]) -> None:
    given = {"format": "apex", **asked["evidence"]}
    scales, count = given.pop("scales", ()), given.pop("count", None)
    more = {name: given.pop(name) for name in ("proof", "doubt", "logged", "even") if name in given}
    found = Evidence(**given)
    if count:
        low, high, steps, calibrating = count
        named = {"notes": ("odd",), "proof": "messages", **more}
        found.count = Overflows(low, high, steps, calibrating, "flags", **named)
    fallen(found, *map(float, scales))
    assert point(asked["point"], found, Facts(**asked.get("facts", {}))) == asked["says"]


def test_a_share_is_at_most_the_whole_run() -> None:
    assert share_of(fallen(counted(1, 10, 3, doubt="sampled"), 64.0, 2.0)) == Share(1.0, None, None)
    assert share_of(counted(20, 22, 21)) == Share(20 / 21, 1.0, None)


def test_the_share_of_a_log_without_steps_or_proof_is_unknown() -> None:
    for found in (DYNAMIC, counted(1, 1, None), counted(1, 1, proof=None)):
        assert share_of(found) == Share(None, None, None)


def test_a_percentage_has_three_significant_digits() -> None:
    assert [percent(share) for share in (0.00125, 0.5, 0.123456)] == ["0.125 %", "50 %", "12.3 %"]


def probed(low: int, steps: int | None, calibrating: int = 0) -> Evidence:
    """A scale that rose, and a count."""
    return fallen(counted(low, low, steps, calibrating, floor=0.0), 4.0, 8.0)


@pytest.mark.parametrize(
    ("found", "limit", "window"),
    [
        (probed(2, 100), 0.02, 100),  # one in 50 steps; two of them are 100 steps
        (probed(2, 200), 0.02, 200),  # half the limit
        (probed(2, 202), 0.02, None),  # less than half the limit
        (probed(10, 750), 0.02, 200),  # twice 75
        (probed(4, 100), 0.02, 100),  # at the limit twice 50, which is longer than twice 25
        (probed(10, 300), 0.005, 500),  # 400 by the limit
        (probed(10, 3000), 0.005, 1000),  # 600
        (probed(10, 100), 0.001, 2000),
        (probed(4, 102, 2), 0.02, 100),  # one in 50 steps after calibration
        (probed(1, 100), 0.5, None),
        (probed(3, 100, 2), 0.5, None),  # one after calibration
        (probed(2, None), 0.02, None),
    ],
)
def test_the_advised_window_is_1_2_or_5_times_a_power_of_ten(found: Evidence, limit: float, window: int | None) -> None:
    advice = advise(found, limit)
    assert (advice.window, advice.growth_factor) == (window, 2.0 if window else None)


def test_advice_names_its_reasons() -> None:
    later = "after calibration one step in 50 overflows; a longer growth window reduces that"
    assert advise(probed(2, 100), 0.02).reasons == (later,)
    lower = fallen(counted(2, 2, calibrating=2), 8.0, 4.0, 2.0)
    first = "the first 2 overflows only lower the scale; the median after them is 2"
    assert advise(lower, 0.005) == (advice := advise(lower, 0.5))
    assert (advice.initial, advice.growth_factor, advice.window, advice.reasons) == (2.0, 2.0, None, (first,))
    assert advise(fallen(Evidence("x"), 8.0, 4.0), 0.005).reasons == ()


def test_a_start_of_one_is_advised() -> None:
    assert advise(fallen(counted(2, 2, calibrating=2, floor=0.0), 4.0, 2.0, 1.0), 0.005).initial == 1.0


@pytest.mark.parametrize(("at_is_step", "initial"), [(True, 512.0), (False, 256.0)])
def test_the_last_scale_counts_up_to_the_last_step_if_the_log_prints_steps(at_is_step: bool, initial: float) -> None:
    """The scale is 256 for 398 steps, then 512 for the last 600."""
    found = counted(2, 2, calibrating=2)
    found.at_is_step = at_is_step
    for at, scale in ((0, 1024.0), (1, 512.0), (2, 256.0), (400, 512.0)):
        found.scale.add(at, scale)
    assert advise(found, 0.005).initial == initial


def test_no_start_is_advised_if_the_scale_settles_where_it_started() -> None:
    assert advise(fallen(counted(2, 2, calibrating=2), 8.0, 4.0, 8.0), 0.005).initial is None


@pytest.mark.parametrize(("calibrating", "initial"), [(1, None), (2, 256.0), (3, 256.0)])
def test_a_lower_start_is_advised_if_the_descent_took_more_than_one_overflow(
    calibrating: int, initial: float | None
) -> None:
    found = fallen(Evidence("x", floor=0.0), 1024.0, 512.0, 256.0)
    found.at_is_step = True
    found.count = Overflows(calibrating, calibrating, 1000, calibrating, "", proof="x")
    assert advise(found, 0.005).initial == initial
