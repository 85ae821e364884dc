"""The points of a run, the agreement of runs and the comparison with high precision: each status with its text."""

from __future__ import annotations

from typing import Any

import pytest

from opsinfo_cli.runs.count import Count
from opsinfo_cli.runs.evidence import Evidence
from opsinfo_cli.runs.points import Facts, percent, run_points, share_of
from opsinfo_cli.runs.scale import advise, judge_scale

DYNAMIC = Evidence("apex", scaling="dynamic")


def counted(low: int, high: int, steps: int | None = 1000, calibrating: int = 0, **more: Any) -> Evidence:
    """A log of dynamic scaling with a count."""
    proof = more.pop("proof", "messages")
    count = Count(low, high, steps, calibrating, "flags", proof=proof, doubt=more.pop("doubt", None), notes=("odd",))
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


RANKS = "[--ranks N supplies the number of ranks that print to the log]"
NO_PROOF = (
    "cannot be told: the log has no overflow, and nothing shows that this run would print one [log the loss scale or "
    "the skipped steps and train again; `docs/soundness.md` lists what each stack prints]"
)
LOWER = "[only the initial calibration exceeds the limit: start with a lower scale, or train longer]"
SHARES = {
    "below the limit": (
        counted(4, 4, calibrating=1),
        "holds: 0.4 % (4 of 1000 steps; flags), the limit is 0.5 %; 0.3 % without the 1 of the initial calibration; "
        "odd",
    ),
    "bounds below the limit": (
        counted(3, 4),
        "holds: 0.3 % (3 or more of 1000 steps; flags), the limit is 0.5 %; odd",
    ),
    "the limit": (counted(5, 5), "fails: 0.5 % (5 of 1000 steps; flags), the limit is 0.5 %; odd"),
    "the limit without the calibration": (
        counted(6, 6, 1001, 1),
        "fails: 0.599 % (6 of 1001 steps; flags), the limit is 0.5 %; 0.5 % without the 1 of the initial calibration; "
        "odd",
    ),
    "above the limit by calibration only": (
        counted(5, 5, calibrating=1),
        "fails: 0.5 % (5 of 1000 steps; flags), the limit is 0.5 %; 0.4 % without the 1 of the initial calibration; "
        f"odd {LOWER}",
    ),
    "nothing but calibration": (
        counted(10, 10, 10, 10),
        "fails: 100 % (10 of 10 steps; flags), the limit is 0.5 %; odd",
    ),
    "one step beside the calibration": (
        counted(3, 3, 4, 3),
        "fails: 75 % (3 of 4 steps; flags), the limit is 0.5 %; 0 % without the 3 of the initial calibration; odd "
        f"{LOWER}",
    ),
    "bounds around the limit": (counted(4, 5), f"cannot be told: 4 to 5 of 1000 steps; odd {RANKS}"),
    "wide bounds": (counted(1, 8), f"cannot be told: 1 to 8 of 1000 steps; odd {RANKS}"),
    "wide bounds, unknown steps": (counted(1, 8, None), f"cannot be told: 1 to 8 steps; odd {RANKS}"),
    "unknown steps": (
        counted(5, 5, None),
        "cannot be told: 5 steps overflowed; the log does not show of how many; odd "
        "[--steps N supplies the number of optimizer steps]",
    ),
    "unknown scaling": (
        counted(1, 1, scaling=None),
        "cannot be told: 1 of 1000 steps overflowed; whether all are printed depends on the scaling "
        "[--loss-scale supplies it]",
    ),
    "unknown scaling and steps": (
        counted(1, 1, None, scaling=None),
        "cannot be told: 1 steps overflowed; whether all are printed depends on the scaling [--loss-scale supplies it]",
    ),
    "no proof": (counted(0, 0, proof=None), NO_PROOF),
    "no count": (DYNAMIC, NO_PROOF),
    "unknown format, known scaling": (Evidence("unknown", scaling="dynamic"), NO_PROOF),
    "known format, unknown scaling": (Evidence("apex"), NO_PROOF),
    "unknown format and scaling": (
        Evidence("unknown"),
        "not measurable: the log has no message of a known format; torch.amp, for example, prints no overflow",
    ),
    "sampled": (counted(2, 900, doubt="sampled"), "not measurable: sampled"),
    "sampled, as many falls as overflows": (
        fallen(counted(2, 900, doubt="sampled"), 8.0, 4.0, 2.0),
        "not measurable: sampled",
    ),
    "sampled, more falls than overflows": (
        fallen(counted(2, 900, doubt="sampled"), 16.0, 4.0, 2.0),
        "not measurable: sampled; falls of the scale prove at least 3",
    ),
    "sampled, falls above the limit": (
        fallen(counted(2, 900, doubt="sampled"), 64.0, 2.0),
        "fails: 0.5 % (5 or more of 1000 steps; flags), the limit is 0.5 %; odd",
    ),
    "falls that are no doubt": (
        fallen(counted(2, 2), 64.0, 2.0),
        "holds: 0.2 % (2 of 1000 steps; flags), the limit is 0.5 %; odd",
    ),
    "bfloat16": (counted(9, 9, precision="bfloat16"), "not measurable: bfloat16 runs print no overflow"),
    "static": (counted(4, 4, scaling="static"), "not measurable: with a static loss scale overflows are not printed"),
    "static, and above the limit": (
        counted(5, 5, scaling="static"),
        "fails: 0.5 % (5 of 1000 steps; flags), the limit is 0.5 %; odd",
    ),
}


@pytest.mark.parametrize(("found", "expected"), SHARES.values(), ids=SHARES)
def test_the_share_of_overflowed_steps(found: Evidence, expected: str) -> None:
    assert point("overflow-share", found) == expected


def test_a_share_is_at_most_the_whole_run() -> None:
    assert share_of(fallen(counted(1, 10, 3, doubt="sampled"), 64.0, 2.0)) == (1.0, None, None)
    assert share_of(counted(20, 22, 21)) == (20 / 21, 1.0, None)


def test_the_share_of_a_log_without_steps_or_proof_is_unknown() -> None:
    for found in (DYNAMIC, counted(1, 1, None), counted(1, 1, proof=None)):
        assert share_of(found) == (None, None, None)


def test_a_percentage_has_three_significant_digits() -> None:
    assert [percent(share) for share in (0.00125, 0.5, 0.123456)] == ["0.125 %", "50 %", "12.3 %"]


UNKNOWN_SCALING = "[--loss-scale dynamic or --loss-scale VALUE supplies it]"
DETECTS_NOTHING = "[the guide requires dynamic scaling; with static scaling overflows are not detected]"
BFLOAT = "holds: bfloat16 has float32's range and needs no loss scaling"
OPTIONS = {
    "a level of the log": (Evidence("x", level="O2"), Facts(amp="O1"), "holds: O2 (float16), from the log"),
    "a level that is stated": (Evidence("x"), Facts(amp="bf16"), "holds: bf16 (bfloat16), from --amp"),
    "an unknown level": (Evidence("x", level="own"), Facts(), "holds: own (float16), from the log"),
    "a precision beside the level": (
        Evidence("x", level="O2", precision="bfloat16"),
        Facts(),
        "holds: O2 (bfloat16), from the log",
    ),
    "all reduced": (
        Evidence("x", level="O3"),
        Facts(),
        "holds: O3 (float16), from the log; everything is reduced, including batch norm",
    ),
    "nothing reduced": (Evidence("x"), Facts(amp="O0"), "fails: O0 is not mixed precision (--amp)"),
    "no level": (
        Evidence("x"),
        Facts(),
        "cannot be told: the log (x) prints neither level nor mode [--amp LEVEL supplies it]",
    ),
}


@pytest.mark.parametrize(("found", "facts", "expected"), OPTIONS.values(), ids=OPTIONS)
def test_the_level_of_mixed_precision(found: Evidence, facts: Facts, expected: str) -> None:
    assert point("mixed-precision", found, facts) == expected


SCALINGS = {
    "dynamic in the log": (DYNAMIC, Facts(loss_scale="64"), "holds: dynamic, from the log"),
    "dynamic as stated": (Evidence("x"), Facts(loss_scale="dynamic"), "holds: dynamic, from --loss-scale"),
    "static in the log": (
        Evidence("x", scaling="static", static_scale=128.0),
        Facts(loss_scale="dynamic"),
        f"fails: static (128), from the log {DETECTS_NOTHING}",
    ),
    "static in the log, without a value": (
        Evidence("x", scaling="static"),
        Facts(),
        f"fails: static, from the log {DETECTS_NOTHING}",
    ),
    "static as stated": (
        Evidence("x"),
        Facts(loss_scale="64"),
        f"fails: static (64), from --loss-scale {DETECTS_NOTHING}",
    ),
    "nothing": (
        Evidence("x"),
        Facts(),
        f"cannot be told: the log (x) does not show how the loss is scaled {UNKNOWN_SCALING}",
    ),
    "nothing, but expected": (
        Evidence("x"),
        Facts(expect_dynamic=True),
        "fails: the log shows no dynamic loss scaling, which --expect requires",
    ),
    "a stated bfloat16": (Evidence("x"), Facts(amp="bf16"), BFLOAT),
    "a level of bfloat16": (Evidence("x", level="bf16", scaling="static"), Facts(amp="O1"), BFLOAT),
    "bfloat16, but expected": (
        Evidence("x", precision="bfloat16"),
        Facts(expect_dynamic=True),
        "fails: the log shows no dynamic loss scaling, which --expect requires",
    ),
}


@pytest.mark.parametrize(("found", "facts", "expected"), SCALINGS.values(), ids=SCALINGS)
def test_how_the_loss_is_scaled(found: Evidence, facts: Facts, expected: str) -> None:
    assert point("dynamic-scaling", found, facts) == expected


UNPRINTED = "cannot be told: the log prints no loss scale"
MOVED = "holds: start 8, final 4, lowest 4, highest 8; 1 falls, 0 rises"
MOVES = {
    "no values and no overflow": (counted(0, 0), "holds: no overflow lowered it; the log prints no values"),
    "no values and an overflow": (counted(1, 1), UNPRINTED),
    "no values and no proof": (counted(0, 0, proof=None), UNPRINTED),
    "no values and no count": (DYNAMIC, UNPRINTED),
    "no values and unknown scaling": (counted(0, 0, scaling=None), UNPRINTED),
    "a value": (
        fallen(Evidence("x", scaling="dynamic"), 0.5),
        "holds: start 0.5, final 0.5, lowest 0.5, highest 0.5; 0 falls, 0 rises",
    ),
    "a fall": (fallen(Evidence("x", scaling="dynamic"), 8.0, 4.0), MOVED),
    "static": (fallen(Evidence("x", scaling="static"), 8.0, 4.0), "not measurable: the loss scale is static"),
    "bfloat16": (
        fallen(Evidence("x", precision="bfloat16"), 1.0),
        "not measurable: bfloat16 runs have no loss scale",
    ),
    "bfloat16 and a fall": (fallen(Evidence("x", precision="bfloat16"), 8.0, 4.0), MOVED),
    "an aborted run": (
        Evidence("x", fatal="minimum"),
        "fails: the run aborted: minimum [an operator overflows at every scale: find it with a dump and "
        "`opsinfo numerics`]",
    ),
}


@pytest.mark.parametrize(("found", "expected"), MOVES.values(), ids=MOVES)
def test_the_scale_of_a_run(found: Evidence, expected: str) -> None:
    assert point("loss-scale", found) == expected


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


def test_a_run_that_fell_from_its_floor_and_one_that_began_at_it() -> None:
    floor = Evidence("x", floor=2.0)
    assert judge_scale(fallen(floor, 2.0, 4.0))[0] == "holds"
    assert judge_scale(fallen(floor, 2.0))[1] == "the scale fell to its floor of 2 and stayed there"


def at_floor(*values: float, floor: float) -> Evidence:
    found = Evidence("x", floor=floor)
    for at, value in enumerate(values):
        found.scale.add(at, value)
    return found


@pytest.mark.parametrize(
    ("values", "floor", "status", "reason"),
    [
        ((4.0, 2.0, 1.0), 1.0, "fails", "the scale fell to its floor of 1 and stayed there"),
        ((4.0, 2.0, 1.0, 2.0), 1.0, "fails", "the scale fell to its floor of 1 once"),
        ((4.0, 2.0, 1.0), 0.0, "holds", "start 4, final 1, lowest 1, highest 4; 2 falls, 0 rises"),
        ((4.0, 0.5), 0.0, "fails", "the scale fell below 1, to 0.5"),
        ((0.01, 0.001), 1e-4, "holds", "start 0.01, final 0.001, lowest 0.001, highest 0.01; 1 falls, 0 rises"),
        ((1.0,), 1.0, "holds", "start 1, final 1, lowest 1, highest 1; 0 falls, 0 rises"),
        ((), 1.0, "cannot be told", "the log prints no loss scale"),
        ((4.0, float("nan")), 1.0, "fails", "the scale was not a number 1 times"),
    ],
    ids=["at the floor", "once at the floor", "no floor", "below 1", "small floor", "constant", "no scale", "NaN"],
)
def test_a_scale_gets_its_verdict_and_reason(values: tuple[float, ...], floor: float, status: str, reason: str) -> None:
    assert judge_scale(at_floor(*values, floor=floor))[:2] == (status, reason)


@pytest.mark.parametrize(("calibrating", "initial"), [(1, None), (2, 256.0), (3, 256.0)])
def test_a_lower_start_is_advised_if_the_descent_took_more_than_one_overflow(
    calibrating: int, initial: float | None
) -> None:
    found = at_floor(1024.0, 512.0, 256.0, floor=0.0)
    found.at_is_step = True
    found.count = Count(calibrating, calibrating, 1000, calibrating, "", proof="x")
    assert advise(found, 0.005).initial == initial
