"""`opsinfo list`: operators with their policy, filtered, with and without a mixlist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import AI_910B, LEGACY, MATH, NN, Run, names, rows


def test_rows_off_a_terminal_are_name_policy_library_policy_place_marks_without_header(
    opsinfo: Run, fixtures: Path
) -> None:
    ran = opsinfo("list", fixtures / MATH_OF_OPP)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        f"Cholesky\twhite\twhite\t{fixtures / MATH_OF_OPP}:2\t-",
        f"IsFinite\twhite\twhite\t{fixtures / MATH_OF_OPP}:60\t-",
        f"STFT\twhite\twhite\t{fixtures / MATH_OF_OPP}:108\t-",
        f"UnfoldGrad\twhite\twhite\t{fixtures / MATH_OF_OPP}:190\t-",
    ]


MATH_OF_OPP = Path("opp") / MATH


def test_every_place_points_at_the_key_of_the_operator(opsinfo: Run, fixtures: Path) -> None:
    for name, _, _, place, _ in rows(opsinfo("list", fixtures / "opp", "--soc", "ascend910b")):
        path, _, line = place.rpartition(":")
        assert Path(path).read_text("utf-8").split("\n")[int(line) - 1].strip().startswith(f'"{name}"')


def test_paths_are_as_given(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("list", f"./opp/{AI_910B}/../ascend910b", "--match", "IndexFill", cwd=fixtures)
    assert rows(ran)[0][3].startswith(f"./opp/{AI_910B}/../ascend910b/aic-ascend910b-ops-info-nn.json:")


@pytest.mark.parametrize(("wanted", "count"), [(["black"], 10), (["white"], 15), (["gray"], 15)])
def test_only_operators_on_a_list(opsinfo: Run, fixtures: Path, wanted: list[str], count: int) -> None:
    ran = opsinfo(
        "list", fixtures / "opp", "--soc", "ascend910b", *(word for each in wanted for word in ("--on", each))
    )
    assert {row[1] for row in rows(ran)} == set(wanted)
    assert len(rows(ran)) == count


def test_repeated_lists_and_globs_are_combined(opsinfo: Run, fixtures: Path) -> None:
    target = (fixtures / "opp", "--soc", "ascend910b")
    both = opsinfo("list", *target, "--on", "black", "--on", "white")
    assert {row[1] for row in rows(both)} == {"black", "white"}
    globbed = opsinfo("list", *target, "--match", "MatMul*", "--match", "Log")
    assert names(globbed) == ["Log", "MatMul", "MatMulV2", "MatMulV3"]


def test_a_glob_with_a_capital_letter_is_case_sensitive_and_any_glob_matches_whole_names(
    opsinfo: Run, fixtures: Path
) -> None:
    target = ("list", fixtures / "opp", "--soc", "ascend910b")
    every = names(opsinfo(*target))
    assert names(opsinfo(*target, "--match", "matmul*")) == [each for each in every if each.startswith("MatMul")]
    assert names(opsinfo(*target, "--match", "Matmul*")) == []
    assert names(opsinfo(*target, "--match", "*MatMul")) == [each for each in every if each.endswith("MatMul")]
    assert names(opsinfo(*target, "--match", "matmu")) == []


def test_names_are_sorted(opsinfo: Run, fixtures: Path) -> None:
    for soc in ("ascend910", "ascend910b"):
        found = names(opsinfo("list", fixtures / "opp", "--soc", soc))
        assert found == sorted(found)


def test_a_mixlist_over_a_library(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/good/several-operators.json"
    ran = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--mixlist", path)
    found = {row[0]: (row[1], row[2], row[4]) for row in rows(ran)}
    assert found["SoftmaxV2"] == ("black", "gray", "black-list.to-add")
    assert found["Pow"] == ("gray", "black", "black-list.to-remove")
    assert found["Conv2D"] == ("gray", "white", "white-list.to-remove")
    assert found["L2Loss"] == ("white", "black", "white-list.to-add")
    assert found["Relu"] == ("gray", "gray", "-")


def test_several_marks_are_comma_separated(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/good/add-gray-remove-white.json"
    ran = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--mixlist", path, "--match", "Conv2D")
    assert set(rows(ran)[0][4].split(",")) == {"gray-list.to-add", "white-list.to-remove"}


def test_lists_are_those_after_the_mixlist(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/good/several-operators.json"
    ran = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--mixlist", path, "--on", "black")
    assert {"SoftmaxV2", "LayerNorm"} <= set(names(ran))
    assert "Pow" not in names(ran)


def test_every_good_mixlist_of_the_fixtures_gives_its_policies(opsinfo: Run, fixtures: Path) -> None:
    cases = [
        case for case in json.loads((fixtures / "mixlists/CASES.json").read_text("utf-8")) if case["engine_accepts"]
    ]
    for case in cases[::4]:
        path = fixtures / "mixlists" / case["file"]
        ran = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--mixlist", path)
        found = {row[0]: row[1] for row in rows(ran)}
        assert {name: found[name] for name in case["policies"]} == case["policies"], case["file"]


def test_a_lone_mixlist_lists_its_marks_with_the_policy_only_if_an_addition_decides(
    opsinfo: Run, fixtures: Path
) -> None:
    path = fixtures / "mixlists/good/several-operators.json"
    found = {row[0]: row[1:] for row in rows(opsinfo("list", path))}
    assert set(found) == {"SoftmaxV2", "LayerNorm", "Pow", "BiasAdd", "L2Loss", "Conv2D"}
    assert found["SoftmaxV2"] == ["black", "-", f"{path}:4", "black-list.to-add"]
    assert found["Conv2D"] == ["-", "-", f"{path}:17", "white-list.to-remove"]
    document = opsinfo("list", path, "--format", "json").json
    policies = {each["name"]: (each["policy"], each["library_policy"]) for each in document["operators"]}
    assert policies["Conv2D"] == (None, None)
    assert policies["L2Loss"] == ("white", None)
    assert document["counts"] == {"white": 2, "black": 2, "gray": 0}


def test_against_fills_the_policies_of_a_lone_mixlist(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/good/several-operators.json"
    ran = opsinfo("list", path, "--against", fixtures / "opp" / AI_910B)
    found = {row[0]: row[1:3] for row in rows(ran)}
    assert found["Conv2D"] == ["gray", "white"]
    assert found["Pow"] == ["gray", "black"]


def test_against_an_install_of_several_chips_requires_the_chip(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/good/add-gray-alone.json"
    ran = opsinfo("list", path, "--against", fixtures / "opp", "--soc", "ascend910b", "--format", "json")
    assert ran.code == 0, ran.out
    assert ran.json["operators"][0]["policy"] == "white"


def test_names_that_the_target_lacks_are_reported_on_stderr_only(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/good/unknown-look-alike.json"
    ran = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--mixlist", path)
    assert ran.code == 0
    assert "MatMu1V2" in ran.err
    assert "MatMulV2" in ran.err
    assert "MatMu1V2" not in ran.out


@pytest.mark.parametrize("style", ["text", "json"])
def test_a_refused_mixlist_lists_nothing(opsinfo: Run, fixtures: Path, style: str) -> None:
    for name in ("contradiction-add-black-add-white", "comment-hash"):
        path = fixtures / f"mixlists/bad/{name}.json"
        ran = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--mixlist", path, "--format", style)
        assert ran.code == 3
        assert "AddN" not in ran.out
        assert f"{name}.json:" in ran.err, "the findings go to stderr"
        assert (ran.out == "") is (style == "text")


def test_a_lone_refused_mixlist_is_refused(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("list", fixtures / "mixlists/bad/comment-hash.json")
    assert (ran.code, ran.out) == (3, "")
    assert "comment-hash.json:2" in ran.err


def test_json_keys(opsinfo: Run, fixtures: Path) -> None:
    document = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--format", "json").json
    assert document["schema_version"] == 1
    assert document["command"] == "list"
    assert document["total"] == len(document["operators"]) == 40
    assert document["counts"] == {"white": 15, "black": 10, "gray": 15}
    assert set(document["other_stores"]) == {"vector", "dsa"}
    by_name = {each["name"]: each for each in document["operators"]}
    assert by_name["AddN"]["store"] == "vendor:acme"
    assert by_name["Add"]["store"] == "built-in"
    assert by_name["AddN"]["also_in"] == [
        {"file": str(fixtures / "opp" / LEGACY), "line": 32, "policy": "gray", "store": "built-in"}
    ]
    assert by_name["AddN"]["shadowed"] == []
    assert by_name["IndexFill"]["file"] == str(fixtures / "opp" / NN)
    assert by_name["IndexFill"]["shadowed"] == [
        {"file": str(fixtures / "opp" / LEGACY), "line": 684, "policy": "gray", "store": "built-in"}
    ]
    assert by_name["UnfoldGrad"]["file"] == str(fixtures / "opp" / MATH)


def test_counts_are_of_the_rows_shown_and_total_is_not(opsinfo: Run, fixtures: Path) -> None:
    document = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--match", "MatMul*", "--format", "json").json
    assert document["counts"] == {"white": 2, "black": 0, "gray": 1}
    assert document["total"] == 40


def test_store_is_null_if_the_path_does_not_show_it(opsinfo: Run, fixtures: Path) -> None:
    for target in (fixtures / "opp" / AI_910B, fixtures / "opp" / NN):
        document = opsinfo("list", target, "--format", "json").json
        assert {each["store"] for each in document["operators"]} == {None}
