"""Near names, chip names, precision modes: small tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.core.cann.chips import folder_of, suggest
from opsinfo_cli.core.cann.precision_mode import MODES, mode_hint
from opsinfo_cli.near_names import NearNames, did_you_mean, near_names

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


def test_all_names_that_differ_in_case_alone_are_offered() -> None:
    assert NearNames(["Mul", "MUL", "mul"]).of("mUl") == ["MUL", "Mul", "mul"]


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


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("matmulv2", ["MatMulV2"]),
        ("soft", ["Softmax", "SoftmaxV2"]),
        ("mul", ["MatMul", "MatMulV2", "MatMulV3"]),
        ("Ma", []),
        ("Convolution", []),
    ],
)
def test_names_that_contain_the_name_are_suggested_after_the_similar_ones(typed: str, suggested: list[str]) -> None:
    assert NearNames(OPS).suggestions(typed) == suggested


def test_a_name_too_long_to_compare_has_no_similar_ones() -> None:
    assert near_names("a" * 300, ["a" * 299]) == []


def test_names_are_compared_until_the_work_is_too_much_and_look_alikes_found_after_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = [f"model/layer_{number:03}/MatMul" for number in range(100)]
    monkeypatch.setattr("opsinfo_cli.near_names._MOST_WORK", 3 * 100 * 22 * 23)
    near = NearNames(known)
    assert [len(near.of(f"model/layer_{number:04}/MatMul")) for number in (7, 77, 777, 7777)] == [3, 3, 3, 0]
    assert near.is_exhausted
    assert near.of("MODEL/LAYER_OO7/MATMUL") == ["model/layer_007/MatMul"]


@given(st.text("aAbB1lI|0Oo", min_size=1, max_size=10), st.sets(st.text("aAbB1lI|0Oo", max_size=10)))
def test_a_name_that_only_looks_alike_is_suggested_alone(name: str, candidates: set[str]) -> None:
    alike = str.maketrans("li|o", "1110")
    near = near_names(name.swapcase(), {*candidates, name})
    assert {other.lower().translate(alike) for other in near} == {name.lower().translate(alike)}


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
    assert folder_of("ascend910b", ["ascend910"]) is None


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [("ascend91ob", "ascend910b"), ("ascend910c", "ascend910"), ("ascend310", "ascend310p"), ("ascend410", None)],
)
def test_a_soc_name_spelt_wrong_gets_the_near_one_of_its_series(typed: str, suggested: str | None) -> None:
    assert next(iter(suggest(typed, FOLDERS)), None) == suggested


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
    assert MODES.get(name) is None


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("mixed_fp16", "mixed_float16"),
        ("mixed_bf16", "mixed_bfloat16"),
        ("allow_mixed_precision", "allow_mix_precision"),
    ],
)
def test_an_unknown_mode_gets_the_likely_one(typed: str, suggested: str) -> None:
    assert f"`{suggested}`" in mode_hint(typed)


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
        ("mixed_hif8", "ascend910_95", True),
        ("mixed_bfloat16", "ascend960", True),
        ("mixed_hif8", "ascend910b", False),
        ("mixed_float16", "ascend910", True),
    ],
)
def test_a_mode_exists_on_the_documented_chips(name: str, soc: str, has_it: bool) -> None:
    assert MODES[name].is_on(soc) is has_it
