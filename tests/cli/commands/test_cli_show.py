"""`opsinfo show`: one operator, why it is on its list, and where its entries are."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import AI_910B, LEGACY, NN, Run, entry, write


def test_show_prints_policy_reason_place_and_other_entries(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("show", fixtures / "opp", "--soc", "ascend910b", "IndexFill")
    assert ran.code == 0
    assert 'precision_reduce.flag "true"' in ran.out
    assert f"{fixtures / 'opp' / NN}:189" in ran.out
    assert "built-in" in ran.out
    shadowed = next(line for line in ran.out.splitlines() if "shadowed" in line)
    assert f"{fixtures / 'opp' / LEGACY}:684" in shadowed
    assert "gray" in shadowed
    assert len(ran.out.splitlines()) <= 24, "on one screen"


def test_show_names_the_store_that_decides_and_the_one_it_falls_through_to(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("show", fixtures / "opp", "--soc", "ascend910b", "AddN")
    assert "vendor:acme" in ran.out
    also = next(line for line in ran.out.splitlines() if "also in" in line)
    assert f"{fixtures / 'opp' / LEGACY}:32" in also


def test_show_with_a_mixlist_prints_the_effect_of_its_marks(opsinfo: Run, fixtures: Path) -> None:
    target = (fixtures / "opp", "--soc", "ascend910b")
    path = fixtures / "mixlists/good/several-operators.json"
    ran = opsinfo("show", *target, "Conv2D", "Relu", "--mixlist", path)
    assert str(path) in ran.out
    document = opsinfo("show", *target, "Conv2D", "--mixlist", path, "--format", "json").json
    shown = document["operators"][0]
    assert (shown["policy"], shown["library_policy"], shown["marks"]) == ("gray", "white", ["white-list.to-remove"])
    gray = opsinfo("show", *target, "Conv2D", "--mixlist", fixtures / "mixlists/good/add-gray-alone.json")
    assert "changes nothing" in gray.out


def test_show_with_a_refused_mixlist_shows_nothing(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/bad/contradiction-add-black-add-white.json"
    ran = opsinfo("show", fixtures / "opp", "--soc", "ascend910b", "Conv2D", "--mixlist", path)
    assert (ran.code, ran.out) == (3, "")
    assert path.name in ran.err


def test_show_json_keys(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("show", fixtures / "opp", "--soc", "ascend910b", "IndexFill", "AddN", "--format", "json")
    index, add = ran.json["operators"]
    assert (index["name"], add["name"]) == ("IndexFill", "AddN"), "in the order asked for"
    assert index["shadowed"][0]["policy"] == "gray"
    assert add["also_in"][0]["store"] == "built-in"
    assert index["inputs"][0]["dtypes"] == ["float16", "float32", "bfloat16", "int64"]
    assert (index["can_be_black"], index["can_be_white"]) == ("yes", "yes")


@pytest.mark.parametrize(
    ("op", "black", "white"),
    [
        ("AvgPoolGradD", "no", "yes"),
        ("CTCLossV2", "yes", "no"),
        ("MatMulV2", "kernel", "kernel"),
        ("IndexFill", "yes", "yes"),
    ],
)
def test_show_reports_whether_black_or_white_is_possible(
    opsinfo: Run, fixtures: Path, op: str, black: str, white: str
) -> None:
    target = (fixtures / "opp", "--soc", "ascend910b", op)
    shown = opsinfo("show", *target, "--format", "json").json["operators"][0]
    assert (shown["can_be_black"], shown["can_be_white"]) == (black, white)
    text = opsinfo("show", *target).out
    assert ("not possible" in text) is (black == "no")


def test_show_reports_if_the_kernel_decides(opsinfo: Run, tmp_path: Path) -> None:
    tensor = {"name": "x", "paramType": "required"}
    content = {"Free": {"dynamicFormat": {"flag": "true"}, "input0": tensor, "output0": {**tensor, "name": "y"}}}
    path = write(tmp_path / "aic-x-ops-info.json", content)
    shown = opsinfo("show", path, "Free", "--format", "json").json["operators"][0]
    assert (shown["can_be_black"], shown["can_be_white"]) == ("kernel", "kernel")
    assert "kernel" in opsinfo("show", path, "Free").out


def test_show_of_standard_input(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("show", "-", "IndexFill", "--as", "library", input=(fixtures / "opp" / NN).read_bytes())
    assert ran.code == 0
    assert "IndexFill" in ran.out


@pytest.mark.parametrize(
    ("word", "near"),
    [("MatMu1V2", "MatMulV2"), ("matmulv2", "MatMulV2"), ("SotfmaxV2", "SoftmaxV2"), ("Rlu", "Relu")],
)
def test_an_unknown_operator_gives_the_near_names(opsinfo: Run, fixtures: Path, word: str, near: str) -> None:
    ran = opsinfo("show", fixtures / "opp", "--soc", "ascend910b", word)
    assert (ran.code, ran.out) == (2, "")
    assert f"`{near}`" in ran.err
    failed = opsinfo("show", fixtures / "opp", "--soc", "ascend910b", word, "--format", "json").json
    assert near in failed["error"]["hint"]


def test_every_unknown_operator_is_named_with_its_own_near_name(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("show", fixtures / "opp", "--soc", "ascend910b", "MatMu1V2", "Relu", "SotfmaxV2")
    assert ran.code == 2
    assert "MatMu1V2" in ran.err
    assert "SotfmaxV2" in ran.err
    assert "`MatMulV2`" in ran.err
    assert "`SoftmaxV2`" in ran.err


def test_a_name_far_from_all_gives_no_near_name(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("show", fixtures / "opp", "--soc", "ascend910b", "QuantumEntanglement")
    assert ran.code == 2
    assert "did you mean" not in ran.err


def test_an_operator_of_another_core_is_reported_with_its_core(opsinfo: Run, fixtures: Path) -> None:
    import json

    vector = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--core", "dsa", "--format", "json")
    name = json.loads(vector.out)["operators"][0]["name"]
    assert opsinfo("show", fixtures / "opp", "--soc", "ascend910b", "--core", "dsa", name).code == 0
    assert opsinfo("show", fixtures / "opp", "--soc", "ascend910b", name).code == 2


def test_a_mixlist_cannot_be_shown(opsinfo: Run, fixtures: Path) -> None:
    assert opsinfo("show", fixtures / "mixlists/good/add-black.json", "SoftmaxV2").code == 2


def test_show_of_a_store_that_the_engine_refuses(opsinfo: Run, opp: Path) -> None:
    write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", {"X": {**entry(), "precision_reduce": {"flag": "no"}}})
    ran = opsinfo("show", opp, "--soc", "ascend910b", "Relu")
    assert (ran.code, ran.out) == (3, "")
    assert "ops-info-bad.json" in ran.err


def test_show_requires_an_operator(opsinfo: Run, fixtures: Path) -> None:
    assert opsinfo("show", fixtures / "opp" / NN).code == 2
