"""`opsinfo matrix`: operators by target."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import AI_910, AI_910B, NN, Run, library, mixlist, names, rows, write


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    one = write(tmp_path / "aic-a-ops-info.json", library({"Add": "true", "Mul": None, "Same": "false"}))
    other = write(tmp_path / "aic-b-ops-info.json", library({"Add": "false", "Same": "false", "Sub": None}))
    return one, other


def test_each_target_has_a_column_with_a_dash_for_missing_operators(opsinfo: Run, two: tuple[Path, Path]) -> None:
    ran = opsinfo("matrix", *two)
    assert ran.code == 0
    assert rows(ran) == [
        ["Add", "white", "black"],
        ["Mul", "gray", "-"],
        ["Same", "black", "black"],
        ["Sub", "-", "gray"],
    ]
    assert ran.err == "4 operators in 2 targets, 3 differ\n"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("--differing",), ["Add", "Mul", "Sub"]),
        (("--on", "black"), ["Add", "Same"]),
        (("--on", "black", "--differing"), ["Add"]),
        (("--on", "white", "--on", "gray"), ["Add", "Mul", "Sub"]),
        (("--match", "S*"), ["Same", "Sub"]),
        (("--match", "S*", "--match", "Add", "--differing"), ["Add", "Sub"]),
        (("--match", "Nothing"), []),
    ],
    ids=lambda value: " ".join(value),
)
def test_rows_can_be_filtered(opsinfo: Run, two: tuple[Path, Path], words: tuple[str, ...], shown: list[str]) -> None:
    assert names(opsinfo("matrix", *two, *words)) == shown


def test_an_install_has_a_column_for_each_chip(opsinfo: Run, fixtures: Path) -> None:
    opp = fixtures / "opp"
    document = opsinfo("matrix", opp, "--format", "json").json
    assert [each["soc"] for each in document["targets"]] == ["ascend910", "ascend910b"]
    assert [each["counts"]["white"] for each in document["targets"]] == [6, 15]
    found = {each["name"]: each for each in document["operators"]}
    assert found["DynamicRNN"] == {"name": "DynamicRNN", "policies": ["white", "gray"], "differs": True}
    assert found["SwiGlu"]["policies"][0] is None
    assert (document["total"], document["differing"]) == (44, 30)


def test_chips_can_be_chosen_for_all_and_for_one(opsinfo: Run, fixtures: Path) -> None:
    opp = fixtures / "opp"
    both = opsinfo("matrix", opp, "--soc", "ascend910b", "--soc", "ascend910").out
    assert opsinfo("matrix", f"{opp}@ascend910b", f"{opp}@ascend910").out == both
    assert opsinfo("matrix", opp / AI_910, opp / AI_910B, "--match", "GEMM").out == "GEMM\twhite\t-\n"
    ran = opsinfo("matrix", f"{opp}@ascend999")
    assert (ran.code, ran.out) == (2, "")
    assert "ascend999" in ran.err


def test_a_path_with_an_at_sign_is_a_path(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "aic-x@y-ops-info.json", library({"Add": "true"}))
    assert opsinfo("matrix", path).out == "Add\twhite\n"


def test_a_mixlist_acts_on_every_column(opsinfo: Run, two: tuple[Path, Path], tmp_path: Path) -> None:
    marks = write(tmp_path / "m.json", mixlist(white_add=["Add"]))
    assert rows(opsinfo("matrix", *two, "--mixlist", marks))[0] == ["Add", "white", "white"]
    refused = write(tmp_path / "bad.json", mixlist(white_add=["Add"], black_add=["Add"]))
    assert opsinfo("matrix", *two, "--mixlist", refused).code == 3


def test_a_mixlist_is_refused_as_a_column(opsinfo: Run, two: tuple[Path, Path], fixtures: Path) -> None:
    ran = opsinfo("matrix", two[0], fixtures / "mixlists/good/add-black.json", "--format", "json")
    assert ran.code == 2
    assert "--mixlist" in ran.json["error"]["hint"]


def test_one_unreadable_target_leaves_no_rows(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    broken = write(tmp_path / "aic-z-ops-info.json", "{")
    ran = opsinfo("matrix", fixtures / "opp" / NN, broken)
    assert (ran.code, ran.out) == (3, "")
    assert str(broken) in ran.err


def test_seventeen_copies_are_seventeen_columns(opsinfo: Run, two: tuple[Path, Path]) -> None:
    ran = opsinfo("matrix", *[two[0]] * 17)
    assert {len(row) for row in rows(ran)} == {18}


def test_the_real_chips_side_by_side(opsinfo: Run, corpus: Path) -> None:
    document = opsinfo(
        "matrix", corpus / "cann-910" / "opp" / AI_910, corpus / "cann-910b" / "opp", "--format", "json"
    ).json
    assert [each["counts"] for each in document["targets"]] == [
        {"white": 33, "black": 85, "gray": 495},
        {"white": 380, "black": 95, "gray": 721},
    ]
    assert (document["total"], document["differing"]) == (1234, 17 + 38 + 621)
