"""`opsinfo diff`: differences between targets and mixlists, in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import AI_910, AI_910B, NN, ONLY_910, Run, library, mixlist, rows, write

SOCS = ("--soc-a", "ascend910", "--soc-b", "ascend910b")


def test_equal_targets_are_exit_0_without_output(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("diff", fixtures / "opp" / NN, fixtures / "opp" / NN)
    assert (ran.code, ran.out) == (0, "")


def test_differences_are_exit_1_and_tab_separated(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("diff", fixtures / "opp", fixtures / "opp", *SOCS)
    assert ran.code == 1
    found = rows(ran)
    assert ["changed", "DynamicRNN", "white", "gray"] in found
    assert ["only_in_a", "GEMM"] in found
    assert ["only_in_b", "SwiGlu"] in found
    assert "\t-\t" not in ran.out


def test_diff_json_keys(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("diff", fixtures / "opp", fixtures / "opp", *SOCS, "--format", "json")
    document = ran.json
    assert ran.code == 1
    assert document["only_in_a"] == ["ArgMaxD", "FillD", "GEMM", "SliceD"]
    assert document["only_in_b"] == sorted(document["only_in_b"])
    changed = {each["name"]: (each["a"], each["b"]) for each in document["changed"]}
    assert changed == {
        "AddN": ("gray", "white"),
        "DynamicRNN": ("white", "gray"),
        "KlDivLossGrad": ("black", "gray"),
        "MaxPool": ("gray", "white"),
        "ReduceSumD": ("black", "gray"),
    }
    counts = document["counts"]
    assert (counts["only_in_a"], counts["only_in_b"], counts["changed"]) == (4, len(document["only_in_b"]), 5)
    assert "sections" not in document


def test_mixlists_change_each_side(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    store = fixtures / "opp" / AI_910B
    one = write(tmp_path / "a.json", mixlist(black_add=["Relu"]))
    other = write(tmp_path / "b.json", mixlist(black_add=["Relu"], white_remove=["Conv2D"]))
    found = rows(opsinfo("diff", store, store, "--mixlist-a", one))
    assert found == [["changed", "Relu", "black", "gray"]]
    both = opsinfo("diff", store, store, "--mixlist-a", one, "--mixlist-b", other)
    assert (both.code, rows(both)) == (1, [["changed", "Conv2D", "white", "gray"]])
    assert opsinfo("diff", store, store, "--mixlist-a", one, "--mixlist-b", one).code == 0


@pytest.mark.parametrize("side", ["--mixlist-a", "--mixlist-b"])
def test_a_refused_mixlist_is_exit_3_without_rows(opsinfo: Run, fixtures: Path, side: str) -> None:
    bad = fixtures / "mixlists/bad/comment-hash.json"
    ran = opsinfo("diff", fixtures / "opp", fixtures / "opp", *SOCS, side, bad)
    assert (ran.code, ran.out) == (3, "")
    assert "comment-hash.json:2" in ran.err


def test_sections_show_differences_inside_entries(opsinfo: Run, tmp_path: Path) -> None:
    a, b = library({"Add": "true", "Mul": None}), library({"Add": "false", "Mul": None})
    b["Mul"]["input0"]["dtype"] = "float32,float16"
    b["Mul"]["heavyOp"] = {"flag": "true"}
    one, other = write(tmp_path / "aic-a-ops-info.json", a), write(tmp_path / "aic-b-ops-info.json", b)
    ran = opsinfo("diff", one, other, "--sections")
    assert ran.code == 1
    assert ["section", "Mul", "input0.dtype", "float16,float32", "float32,float16"] in rows(ran)
    document = opsinfo("diff", one, other, "--sections", "--format", "json").json
    inside = {(each["name"], each["section"], each["key"]): (each["a"], each["b"]) for each in document["sections"]}
    assert inside["Mul", "input0", "dtype"] == ("float16,float32", "float32,float16")
    assert inside["Add", "precision_reduce", "flag"] == ("true", "false")
    assert any(name == "Mul" and section == "heavyOp" for name, section, _ in inside)


def test_differing_sections_count_as_a_difference_with_the_option_only(opsinfo: Run, tmp_path: Path) -> None:
    a, b = library({"Mul": None}), library({"Mul": None})
    b["Mul"]["input0"]["dtype"] = "float32,float16"
    one, other = write(tmp_path / "aic-a-ops-info.json", a), write(tmp_path / "aic-b-ops-info.json", b)
    assert opsinfo("diff", one, other).code == 0
    assert opsinfo("diff", one, other, "--sections").code == 1
    assert opsinfo("diff", one, one, "--sections", "--format", "json").json["sections"] == []


def test_a_mixlist_from_a_difference_closes_it(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    one, other = fixtures / "opp" / AI_910, fixtures / "opp" / AI_910B
    for a, b in ((one, other), (other, one)):
        ran = opsinfo("diff", a, b, "--format", "mixlist")
        assert ran.code == 0, "it generates"
        path = write(tmp_path / "port.json", ran.out)
        assert opsinfo("validate", path, "--format", "json").json["files"][0]["engine_accepts"] is True
        document = opsinfo("diff", a, b, "--mixlist-a", path, "--format", "json").json
        assert document["changed"] == []
        assert document["only_in_b"]


def test_a_mixlist_from_a_difference_has_the_fewest_marks_and_never_the_gray_list(opsinfo: Run, fixtures: Path) -> None:
    content = json.loads(opsinfo("diff", fixtures / "opp", fixtures / "opp", *SOCS, "--format", "mixlist").out)
    assert content == {
        "black-list": {"to-remove": ["KlDivLossGrad", "ReduceSumD"]},
        "white-list": {"to-add": ["AddN", "MaxPool"], "to-remove": ["DynamicRNN"]},
    }


def test_op_types_that_cannot_be_ported_are_counted_on_stderr_and_named_with_v(
    opsinfo: Run, fixtures: Path, tmp_path: Path
) -> None:
    words = ("diff", fixtures / "opp", fixtures / "opp", *SOCS, "--format", "mixlist")
    ran = opsinfo(*words, "-o", tmp_path / "ported.json")
    assert "21 op types of B are not in A and cannot be ported" in ran.err
    assert "SwiGlu" not in ran.err
    assert f"wrote {tmp_path / 'ported.json'}" in ran.err
    ran = opsinfo(*words, "-v")
    for name in ("SwiGlu", "AcmeFlashGelu", "GEMM"):
        assert name in ran.err
        assert name not in ran.out


def test_no_difference_gives_the_empty_mixlist(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("diff", fixtures / "opp" / NN, fixtures / "opp" / NN, "--format", "mixlist")
    assert (ran.code, json.loads(ran.out)) == (0, {})


def test_the_mixlist_of_the_other_side_is_ported_too(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    store = fixtures / "opp" / AI_910B
    path = write(tmp_path / "b.json", mixlist(black_add=["Relu"]))
    ran = opsinfo("diff", store, store, "--mixlist-b", path, "--format", "mixlist")
    assert json.loads(ran.out) == mixlist(black_add=["Relu"])


def test_with_a_mixlist_of_its_own_side_the_difference_is_still_closed(
    opsinfo: Run, fixtures: Path, tmp_path: Path
) -> None:
    store = fixtures / "opp" / AI_910B
    mine = write(tmp_path / "a.json", mixlist(black_add=["Relu"], white_remove=["Conv2D"]))
    port = write(tmp_path / "p.json", opsinfo("diff", store, store, "--mixlist-a", mine, "--format", "mixlist").out)
    assert opsinfo("diff", store, store, "--mixlist-a", port).code == 0


def test_two_mixlists_differ_in_marks(opsinfo: Run, tmp_path: Path) -> None:
    one = write(tmp_path / "a.json", mixlist(black_add=["X", "Z"], white_remove=["Z"]))
    other = write(
        tmp_path / "b.json",
        mixlist(
            white_add=["X"],
            black_add=["Y", "Z"],
        ),
    )
    ran = opsinfo("diff", one, other, "--format", "json")
    changed = {each["name"]: (each["a"], each["b"]) for each in ran.json["changed"]}
    assert changed["X"] == (["black-list.to-add"], ["white-list.to-add"])
    assert (sorted(changed["Z"][0]), changed["Z"][1]) == (
        ["black-list.to-add", "white-list.to-remove"],
        ["black-list.to-add"],
    )
    assert ran.json["only_in_b"] == ["Y"]
    text = opsinfo("diff", one, other)
    assert (text.code, ["only_in_b", "Y"] in rows(text)) == (1, True)


def test_mixlists_of_equal_marks_in_another_order_do_not_differ(opsinfo: Run, tmp_path: Path) -> None:
    one = write(tmp_path / "a.json", '{"black-list":{"to-add":["A","B"]},"white-list":{"to-add":["C"]}}')
    other = write(tmp_path / "b.json", '{"white-list":{"to-add":["C"]},"black-list":{"to-add":["B","A","A"]}}')
    assert opsinfo("diff", one, other).code == 0


@pytest.mark.parametrize("words", [[], ["--format", "json"], ["--format", "mixlist"], ["--sections"]])
def test_a_and_b_must_be_of_the_same_kind(opsinfo: Run, fixtures: Path, words: list[str]) -> None:
    path = fixtures / "mixlists/good/add-black.json"
    assert opsinfo("diff", path, fixtures / "opp-old", *words).code == 2
    assert opsinfo("diff", fixtures / "opp-old", path, *words).code == 2


@pytest.mark.parametrize("words", [["--format", "mixlist"], ["--sections"], ["--mixlist-a"], ["--mixlist-b"]])
def test_options_that_do_not_apply_to_mixlists_are_wrong_usage(opsinfo: Run, fixtures: Path, words: list[str]) -> None:
    path = fixtures / "mixlists/good/add-black.json"
    more = [path] if words[0].startswith("--mixlist") else []
    assert opsinfo("diff", path, path, *words, *more).code == 2


def test_a_target_of_several_chips_asks_which(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("diff", fixtures / "opp", fixtures / "opp")
    assert ran.code == 2
    assert "--soc-a" in ran.err, "diff has no option --soc"


def test_a_store_that_the_engine_refuses_gives_no_partial_rows(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", "{")
    for a, b in ((opp, fixtures / "opp"), (fixtures / "opp", opp)):
        for style in ("text", "json") if a is opp else ("mixlist",):
            words = ("--soc-a", "ascend910b", "--soc-b", "ascend910b", "--format", style)
            ran = opsinfo("diff", a, b, *words)
            assert ran.code == 3
            assert "ops-info-bad.json" in ran.out + ran.err
            assert "AddN" not in ran.out
            assert style == "json" or ran.out == ""


def test_a_damaged_mixlist_is_exit_3(opsinfo: Run, fixtures: Path) -> None:
    good, bad = fixtures / "mixlists/good/add-black.json", fixtures / "mixlists/bad/comment-hash.json"
    assert opsinfo("diff", good, bad).code == 3
    assert opsinfo("diff", bad, good).code == 3


def test_a_file_against_a_store_is_a_comparison_of_libraries(opsinfo: Run, fixtures: Path) -> None:
    assert opsinfo("diff", fixtures / "opp" / ONLY_910, fixtures / "opp" / AI_910).code == 0


def test_the_other_cores_can_be_compared(opsinfo: Run, fixtures: Path) -> None:
    words = ("--soc-a", "ascend910b", "--soc-b", "ascend910b", "--core", "vector")
    assert opsinfo("diff", fixtures / "opp", fixtures / "opp", *words).code == 0


# only what a mixlist names


def test_only_op_types_that_a_mixlist_names_are_compared(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    named = write(tmp_path / "m.json", mixlist(black_add=["AddN", "SwiGlu", "Relu"], white_remove=["MaxPool"]))
    ran = opsinfo("diff", fixtures / "opp", fixtures / "opp", *SOCS, "--only-in", named)
    assert ran.code == 1
    assert rows(ran) == [
        ["changed", "AddN", "gray", "white"],
        ["changed", "MaxPool", "gray", "white"],
        ["only_in_b", "SwiGlu"],
    ]
    document = opsinfo(
        "diff", fixtures / "opp", fixtures / "opp", *SOCS, "--only-in", named, "--sections", "--format", "json"
    ).json
    assert document["counts"] == {"only_in_a": 0, "only_in_b": 1, "changed": 2, "same": 1}
    assert {each["name"] for each in document["sections"]} <= {"AddN", "MaxPool", "Relu"}


def test_if_no_op_type_that_a_mixlist_names_differs_the_exit_status_is_0(
    opsinfo: Run, fixtures: Path, tmp_path: Path
) -> None:
    named = write(tmp_path / "m.json", mixlist(black_add=["Relu"]))
    ran = opsinfo("diff", fixtures / "opp", fixtures / "opp", *SOCS, "--only-in", named)
    assert (ran.code, ran.out) == (0, "")


def test_names_in_neither_target_are_reported(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    named = write(tmp_path / "m.json", mixlist(black_add=["Relu", "NoSuchOperator"]))
    ran = opsinfo("diff", fixtures / "opp", fixtures / "opp", *SOCS, "--only-in", named)
    assert ran.code == 0
    assert "1 op types of the mixlist are in neither target: NoSuchOperator" in ran.err


def test_only_the_names_in_a_mixlist_are_converted(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    named = write(tmp_path / "m.json", mixlist(black_add=["AddN"]))
    ran = opsinfo("diff", fixtures / "opp", fixtures / "opp", *SOCS, "--only-in", named, "--format", "mixlist")
    assert (ran.code, json.loads(ran.out)) == (0, {"white-list": {"to-add": ["AddN"]}})
    assert ran.err == ""


def test_two_mixlists_are_compared_for_the_names_in_a_third(opsinfo: Run, tmp_path: Path) -> None:
    a = write(tmp_path / "a.json", mixlist(black_add=["Add", "Mul"]))
    b = write(tmp_path / "b.json", mixlist(white_add=["Add", "Mul"]))
    named = write(tmp_path / "m.json", mixlist(gray_add=["Mul"]))
    assert rows(opsinfo("diff", a, b, "--only-in", named)) == [
        ["changed", "Mul", "black-list.to-add", "white-list.to-add"]
    ]
    refused = write(tmp_path / "bad.json", mixlist(white_add=["Add"], black_add=["Add"]))
    assert opsinfo("diff", a, b, "--only-in", refused).code == 3
