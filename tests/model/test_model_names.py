"""Near names, SoC names, precision modes: small tables."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations_with_replacement, cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.model.install import folder_of, suggest
from opsinfo_cli.model.near_names import NearNames, did_you_mean, distance, near_names
from opsinfo_cli.model.precision_mode import MODES, mode_named

OPS = ["Add", "AddN", "Bias", "BiasAdd", "BatchMatMul", "MatMul", "MatMulV2", "MatMulV3", "SoftmaxV2", "Softmax", "Log"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("MatMu1V2", "MatMulV2"),
        ("matmulv2", "MatMulV2"),
        ("Matmul", "MatMul"),
        ("MATMULV3", "MatMulV3"),
        ("MatMluV2", "MatMulV2"),
        ("SoftMaxV2", "SoftmaxV2"),
        ("SoftmxV2", "SoftmaxV2"),
        ("S0ftmaxV2", "SoftmaxV2"),
        ("BatchMatmull", "BatchMatMul"),
        ("Addd", "Add"),
        ("log", "Log"),
    ],
)
def test_the_likely_name_comes_first(typed: str, meant: str) -> None:
    assert near_names(typed, OPS)[0] == meant


@pytest.mark.parametrize(
    "typed",
    ["Zzz", "Convolution", "X", "", "LayerNormGradGrad", "\u4e2d\u6587"],
    ids=["Zzz", "Convolution", "X", "empty", "LayerNormGradGrad", "Chinese"],
)
def test_no_name_is_suggested_if_all_are_far(typed: str) -> None:
    assert near_names(typed, OPS) == []
    assert did_you_mean(typed, OPS) is None


def test_no_other_name_is_suggested_if_only_case_differs() -> None:
    assert near_names("matmulv2", OPS) == ["MatMulV2"]


def test_at_most_three_names_are_suggested() -> None:
    assert len(near_names("MatMulV9", [f"MatMulV{digit}" for digit in range(8)])) == 3


def test_a_change_of_case_and_a_look_alike_are_nearer_than_any_other_step() -> None:
    assert distance("a", "A") < distance("a", "b")
    assert distance("l", "1") < distance("l", "x")
    assert distance("ab", "ba") == distance("ab", "a") == 1
    assert distance("Add", "Add") == 0


@pytest.mark.parametrize("pair", [("MatMul", "matMlu"), ("", "abc"), ("Softmax", "S0ftmaxx"), ("Pow", "Log")])
def test_the_distance_is_the_same_both_ways_and_a_limit_only_cuts_it_short(pair: tuple[str, str]) -> None:
    a, b = pair
    assert distance(a, b) == distance(b, a)
    assert distance(a, b, 10) == distance(a, b)
    assert distance(a, b, 0.5) > 0.5


NAMES = st.text("aAbB1lI|0Oo", max_size=10)


def nearest_of_all(name: str, candidates: set[str]) -> list[str]:
    reach = min(3.0, max(1.0, len(name) / 3))
    far = [(0.3 if each.lower() == name.lower() else distance(name, each), each) for each in candidates]
    near = sorted(each for each in far if each[0] <= reach)
    if near and near[0][0] < 1:
        near = [each for each in near if each[0] < 1]
    return [each for _, each in near[:3]]


@given(st.sets(NAMES, min_size=20, max_size=150), st.lists(NAMES, max_size=10))
def test_names_that_are_skipped_are_never_near(candidates: set[str], asked: list[str]) -> None:
    known = NearNames(candidates)
    for name in (*asked, *(f"{each[1:]}a" for each in sorted(candidates)[:5])):
        assert known.of(name) == nearest_of_all(name, candidates)


STEPS: list[Callable[[str, int], str]] = [
    lambda name, at: name[:at] + name[at + 1 :],
    lambda name, at: f"{name[:at]}x{name[at:]}",
    lambda name, at: f"{name[:at]}x{name[at + 1 :]}",
    lambda name, at: name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
]


@pytest.mark.heavy
@pytest.mark.parametrize("front", ["", "Y" * 33, "Y" * 90], ids=["short", "long", "longer than what is looked at"])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_near_names_equal_those_of_a_full_search(front: str, steps: int) -> None:
    pick = random.Random(steps)
    candidates = {front + "".join(pick.choices("abcdefgh", k=length)) for length in (8, 9, 10, 11) for _ in range(60)}
    known = NearNames(candidates)
    for taken in islice(cycle(combinations_with_replacement(STEPS, steps)), 60):
        name = pick.choice(sorted(candidates))
        for step in pick.sample(taken, steps):
            name = step(name, len(front) + pick.randrange(len(name) - len(front)))
        assert known.of(name) == nearest_of_all(name, candidates)


@pytest.mark.parametrize(("a", "b", "limit"), [("abcdef", "yzcdef", 2), ("xMatMul", "MatMul", 1), ("Add", "Odd", 1)])
def test_a_distance_that_is_the_limit_is_found_though_it_is_reached_early(a: str, b: str, limit: int) -> None:
    assert distance(a, b, limit) == limit


def plain_distance(a: str, b: str) -> float:
    """The textbook definition, without band, limit or common prefixes."""
    rows = [[float(i + j) if not i * j else 0.0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            x, y = a[i - 1], b[j - 1]
            cheap = x.lower() == y.lower() or any(x in group and y in group for group in ("1lI|i", "0OoQ", "8B", "6b"))
            ways = [rows[i - 1][j - 1] + (0.0 if x == y else 0.3 if cheap else 1.0)]
            ways += [rows[i - 1][j] + 1, rows[i][j - 1] + 1]
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                ways.append(rows[i - 2][j - 2] + 1)
            rows[i][j] = min(ways)
    return rows[-1][-1]


@given(NAMES, NAMES, st.sampled_from([1e9, 3.0, 2.0, 1.0]))
def test_the_distance_equals_the_textbook_definition(a: str, b: str, limit: float) -> None:
    far = plain_distance(a, b)
    assert distance(a, b, limit) == pytest.approx(far) if far < limit + 0.05 else distance(a, b, limit) > limit


FOLDERS = ["ascend310p", "ascend910", "ascend910_93", "ascend910b"]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("ascend910b", "ascend910b"),
        ("Ascend910B", "ascend910"),
        ("ASCEND910B", "ascend910"),
        ("Ascend910B1", "ascend910b"),
        ("ascend910b4", "ascend910b"),
        ("Ascend910B4-1", "ascend910b"),
        ("Ascend910_9391", "ascend910_93"),
        ("Ascend910_93", "ascend910_93"),
        ("Ascend910A", "ascend910"),
        ("Ascend910ProB", "ascend910"),
        ("Ascend910PremiumA", "ascend910"),
        ("Ascend910", "ascend910"),
        ("Ascend310P3", "ascend310p"),
        ("Ascend310P", "ascend310p"),
        ("Ascend310B1", None),
        ("Ascend999", None),
        ("", None),
    ],
)
def test_a_soc_name_finds_its_folder(name: str, folder: str | None) -> None:
    assert folder_of(name, FOLDERS) == folder


def test_the_old_910b_is_not_confused_with_the_a2() -> None:
    assert folder_of("Ascend910B", ["ascend910b"]) is None


def test_a_soc_name_spelt_wrong_gets_the_near_one() -> None:
    assert suggest("ascend91ob", FOLDERS)[0] == "ascend910b"


V1 = {
    "force_fp16",
    "allow_fp32_to_fp16",
    "allow_mix_precision",
    "allow_mix_precision_fp16",
    "must_keep_origin_dtype",
    "force_fp32",
    "cube_fp16in_fp32out",
    "allow_fp32_to_bf16",
    "allow_mix_precision_bf16",
}
V2 = {"fp16", "mixed_float16", "origin", "cube_fp16in_fp32out", "mixed_bfloat16", "cube_hif8", "mixed_hif8"}
MIXED = {
    "allow_mix_precision",
    "allow_mix_precision_fp16",
    "mixed_float16",
    "allow_mix_precision_bf16",
    "mixed_bfloat16",
    "mixed_hif8",
}


def test_the_modes_are_those_that_the_api_accepts() -> None:
    assert {name for name, mode in MODES.items() if "v1" in mode.options} == V1
    assert {name for name, mode in MODES.items() if "v2" in mode.options} == V2


@pytest.mark.parametrize("name", ["force_lowerprecision", "allow_fp32_to_lowprecision", "mixed", "", "FP16"])
def test_no_other_mode_is_known(name: str) -> None:
    assert mode_named(name) is None


def test_a_mixlist_is_accepted_with_mixed_modes_only() -> None:
    assert {name for name, mode in MODES.items() if mode.is_mixed} == MIXED


@pytest.mark.parametrize(
    ("name", "soc", "has_it"),
    [
        ("mixed_bfloat16", "ascend910b", True),
        ("mixed_bfloat16", "ascend910_93", True),
        ("mixed_bfloat16", "ascend910", False),
        ("allow_mix_precision_bf16", "ascend310p", False),
        ("allow_fp32_to_bf16", "ascend950", True),
        ("mixed_hif8", "ascend950", True),
        ("mixed_hif8", "ascend910b", False),
        ("mixed_float16", "ascend910", True),
    ],
)
def test_a_mode_exists_on_the_documented_chips(name: str, soc: str, has_it: bool) -> None:
    socs = MODES[name].socs
    assert (socs is None or soc in socs) is has_it


@pytest.mark.parametrize(
    ("name", "other", "steps"),
    [
        ("Add", "Add", 0),
        ("Add", "ADd", 0.3),
        ("add", "ADD", 0.9),
        ("Add1", "Addl", 0.3),
        ("Cast_", "cast-", 0.6),
        ("Add", "Adx", 1),
        ("Add", "AddN", 1),
        ("Add", "dAd", 1),
        ("Add", "addN", 1.3),
        ("Add", "Mul", 3),
    ],
)
def test_a_change_of_case_or_to_a_look_alike_is_three_tenths_of_a_step(name: str, other: str, steps: float) -> None:
    assert distance(name, other) == distance(other, name) == pytest.approx(steps)
