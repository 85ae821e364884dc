"""`opsinfo diff`: differences between targets and mixlists, and the table of many targets, in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import AI_910, AI_910B, NN, ONLY_910, Run, library, mixlist, names, rows, write


@pytest.fixture
def chips(fixtures: Path) -> tuple[str, str]:
    """The old chip and the new one."""
    return f"{fixtures}/opp@ascend910", f"{fixtures}/opp@ascend910b"


def test_equal_targets_are_exit_0_without_output(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("diff", fixtures / "opp" / NN, fixtures / "opp" / NN)
    assert (ran.code, ran.out) == (0, "")


def test_differences_are_exit_1_and_tab_separated(opsinfo: Run, chips: tuple[str, str]) -> None:
    ran = opsinfo("diff", *chips)
    assert ran.code == 1
    found = rows(ran)
    assert ["changed", "DynamicRNN", "white", "gray"] in found
    assert ["only_in_a", "GEMM"] in found
    assert ["only_in_b", "SwiGlu"] in found
    assert "\t-\t" not in ran.out


def test_diff_json_keys(opsinfo: Run, chips: tuple[str, str]) -> None:
    ran = opsinfo("diff", *chips, "--format", "json")
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
def test_a_refused_mixlist_is_exit_3_without_rows(
    opsinfo: Run, fixtures: Path, side: str, chips: tuple[str, str]
) -> None:
    bad = fixtures / "mixlists/bad/comment-hash.json"
    ran = opsinfo("diff", *chips, side, bad)
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


def test_a_page_has_a_difference_inside_entries_once_with_its_op_types_and_the_most_frequent_ones(
    opsinfo: Run, tmp_path: Path
) -> None:
    plain = {name: {"opFile": {"value": "x"}} for name in ("Abs", "Add", "Mul")}
    changed = {name: {"opFile": {"value": "y"}} for name in plain}
    many = {f"Op{number}": {"opFile": {"value": "x"}} for number in range(610)}
    others = {f"Op{number}": {"opFile": {"value": str(number)}} for number in range(610)}
    one = write(tmp_path / "aic-a-ops-info.json", {**plain, **many})
    other = write(tmp_path / "aic-b-ops-info.json", {**changed, **others})
    page = opsinfo("diff", one, other, "--sections", "--format", "html").out
    assert page.count("3 op types: Abs, Add, Mul") == 1
    assert page.count('data-tags="1=inside"') == 600
    assert "11 rarer differences inside entries are not shown" in page


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


def test_a_mixlist_from_a_difference_has_the_fewest_marks_and_never_the_gray_list(
    opsinfo: Run, chips: tuple[str, str]
) -> None:
    content = json.loads(opsinfo("diff", *chips, "--format", "mixlist").out)
    assert content == {
        "black-list": {"to-remove": ["KlDivLossGrad", "ReduceSumD"]},
        "white-list": {"to-add": ["AddN", "MaxPool"], "to-remove": ["DynamicRNN"]},
    }


def test_op_types_that_cannot_be_ported_are_counted_on_stderr_and_named_with_v(
    opsinfo: Run, tmp_path: Path, chips: tuple[str, str]
) -> None:
    words = ("diff", *chips, "--format", "mixlist")
    ran = opsinfo(*words, "-o", tmp_path / "ported.json")
    assert "21 op types of B are not in A and cannot be ported" in ran.err
    assert "SwiGlu" not in ran.err
    assert json.loads((tmp_path / "ported.json").read_text("utf-8"))["black-list"]
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


def test_a_store_that_the_engine_refuses_gives_no_partial_rows(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", "{")
    for a, b in ((opp, fixtures / "opp"), (fixtures / "opp", opp)):
        for style in ("text", "json") if a is opp else ("mixlist",):
            ran = opsinfo("diff", f"{a}@ascend910b", f"{b}@ascend910b", "--format", style)
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
    assert opsinfo("diff", *[f"{fixtures}/opp@ascend910b"] * 2, "--core", "vector").code == 0


# only what a mixlist names


def test_only_op_types_that_a_mixlist_names_are_compared(opsinfo: Run, tmp_path: Path, chips: tuple[str, str]) -> None:
    named = write(tmp_path / "m.json", mixlist(black_add=["AddN", "SwiGlu", "Relu"], white_remove=["MaxPool"]))
    ran = opsinfo("diff", *chips, "--only-in", named)
    assert ran.code == 1
    assert rows(ran) == [
        ["changed", "AddN", "gray", "white"],
        ["changed", "MaxPool", "gray", "white"],
        ["only_in_b", "SwiGlu"],
    ]
    document = opsinfo("diff", *chips, "--only-in", named, "--sections", "--format", "json").json
    assert document["counts"] == {"only_in_a": 0, "only_in_b": 1, "changed": 2, "same": 1}
    assert {each["name"] for each in document["sections"]} <= {"AddN", "MaxPool", "Relu"}


def test_if_no_op_type_that_a_mixlist_names_differs_the_exit_status_is_0(
    opsinfo: Run, tmp_path: Path, chips: tuple[str, str]
) -> None:
    named = write(tmp_path / "m.json", mixlist(black_add=["Relu"]))
    ran = opsinfo("diff", *chips, "--only-in", named)
    assert (ran.code, ran.out) == (0, "")


def test_names_in_neither_target_are_reported(opsinfo: Run, tmp_path: Path, chips: tuple[str, str]) -> None:
    named = write(tmp_path / "m.json", mixlist(black_add=["Relu", "NoSuchOperator"]))
    ran = opsinfo("diff", *chips, "--only-in", named)
    assert ran.code == 0
    assert "1 op types of the mixlist are in neither target: NoSuchOperator" in ran.err


def test_only_the_names_in_a_mixlist_are_converted(opsinfo: Run, tmp_path: Path, chips: tuple[str, str]) -> None:
    named = write(tmp_path / "m.json", mixlist(black_add=["AddN"]))
    ran = opsinfo("diff", *chips, "--only-in", named, "--format", "mixlist")
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


# many targets


@pytest.fixture
def three(tmp_path: Path) -> tuple[Path, Path, Path]:
    one = write(tmp_path / "aic-a-ops-info.json", library({"Add": "true", "Mul": None, "Same": "false"}))
    other = write(tmp_path / "aic-b-ops-info.json", library({"Add": "false", "Same": "false", "Sub": None}))
    third = write(tmp_path / "aic-c-ops-info.json", library({"Add": None, "Same": "false"}))
    return one, other, third


def test_each_of_three_targets_has_a_column_with_a_dash_for_missing_operators(
    opsinfo: Run, three: tuple[Path, ...]
) -> None:
    ran = opsinfo("diff", *three)
    assert ran.code == 1
    assert rows(ran) == [
        ["Add", "white", "black", "gray"],
        ["Mul", "gray", "-", "-"],
        ["Same", "black", "black", "black"],
        ["Sub", "-", "gray", "-"],
    ]
    assert ran.err == "4 operators in 3 targets, 3 differ\n"
    assert opsinfo("diff", *[three[0]] * 17).code == 0


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
def test_rows_can_be_filtered(opsinfo: Run, three: tuple[Path, ...], words: tuple[str, ...], shown: list[str]) -> None:
    assert names(opsinfo("diff", *three, *words)) == shown
    of_two = opsinfo("diff", *three[:2], *words)
    assert [row[1] for row in rows(of_two)] == [name for name in shown if name != "Same"]
    assert of_two.code == (1 if shown else 0)


def test_an_install_of_several_chips_has_a_column_for_each(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("diff", fixtures / "opp", "--format", "json")
    assert (ran.code, ran.json["targets"]) == (1, ["ascend910", "ascend910b"])
    found = {each["name"]: each["policies"] for each in ran.json["operators"]}
    assert (found["DynamicRNN"], found["SwiGlu"]) == (["white", "gray"], [None, "white"])
    assert ran.json["counts"] == {"operators": 44, "differ": 30, "total": 44}
    with_old = opsinfo("diff", fixtures / "opp", fixtures / "opp-old", "--format", "json").json
    assert with_old["targets"] == [
        f"{fixtures}/opp ascend910",
        f"{fixtures}/opp ascend910b",
        f"{fixtures}/opp-old ascend910",
    ]


def test_chips_can_be_chosen_for_all_and_for_one(opsinfo: Run, fixtures: Path, chips: tuple[str, str]) -> None:
    opp = fixtures / "opp"
    both = opsinfo("diff", opp, "--soc", "ascend910", "--soc", "ascend910b").out
    assert opsinfo("diff", opp).out == both
    ran = opsinfo("diff", f"{opp}@ascend999", opp)
    assert (ran.code, ran.out) == (2, "")
    assert "ascend999" in ran.err
    assert opsinfo("diff", *chips, "--soc", "ascend910").code == 2


@pytest.mark.parametrize("words", [(), ("--soc", "ascend910")])
def test_one_target_is_wrong_usage(opsinfo: Run, fixtures: Path, words: tuple[str, ...]) -> None:
    ran = opsinfo("diff", fixtures / "opp-old", *words)
    assert ran.code == 2
    assert "opsinfo list" in ran.err


def test_a_mixlist_acts_on_every_target(opsinfo: Run, three: tuple[Path, ...], tmp_path: Path) -> None:
    marks = write(tmp_path / "m.json", mixlist(white_add=["Add"]))
    assert rows(opsinfo("diff", *three, "--mixlist", marks))[0] == ["Add", "white", "white", "white"]
    assert "Add" not in opsinfo("diff", *three[:2], "--mixlist", marks).out
    refused = write(tmp_path / "bad.json", mixlist(white_add=["Add"], black_add=["Add"]))
    assert opsinfo("diff", *three, "--mixlist", refused).code == 3


@pytest.mark.parametrize("words", [["--format", "mixlist"], ["--sections"], ["--mixlist-a", "m"], ["--mixlist-b", "m"]])
def test_options_for_two_targets_are_wrong_usage_for_three(
    opsinfo: Run, three: tuple[Path, ...], words: list[str]
) -> None:
    ran = opsinfo("diff", *three, *words)
    assert (ran.code, ran.out) == (2, "")
    assert "two targets, not 3" in ran.err


def test_a_mixlist_is_refused_as_one_of_three(opsinfo: Run, three: tuple[Path, ...], fixtures: Path) -> None:
    ran = opsinfo("diff", *three[:2], fixtures / "mixlists/good/add-black.json", "--format", "json")
    assert ran.code == 2
    assert "--mixlist" in ran.json["error"]["hint"]


def test_one_unreadable_target_leaves_no_rows(opsinfo: Run, three: tuple[Path, ...], tmp_path: Path) -> None:
    broken = write(tmp_path / "aic-z-ops-info.json", "{")
    ran = opsinfo("diff", *three, broken)
    assert (ran.code, ran.out) == (3, "")
    assert str(broken) in ran.err


def test_the_real_chips_side_by_side(opsinfo: Run, corpus: Path) -> None:
    opp, other = corpus / "cann-910" / "opp" / AI_910, corpus / "cann-910b" / "opp"
    document = opsinfo("diff", opp, other, other, "--format", "json").json
    assert document["counts"] == {"operators": 1234, "differ": 17 + 38 + 621, "total": 1234}
    assert opsinfo("diff", opp, other, "--format", "json").json["counts"] == {
        "only_in_a": 38,
        "only_in_b": 621,
        "changed": 17,
        "same": 558,
    }
