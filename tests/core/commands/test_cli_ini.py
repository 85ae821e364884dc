"""Inis of opbuild at the prompt: read by every command that reads a target, written by none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Run, finding_names, names, rows, snapshot, write


@pytest.fixture
def build(fixtures: Path) -> Path:
    return fixtures / "build"


def test_list_and_show_have_the_line_of_the_section(opsinfo: Run, build: Path) -> None:
    ran = opsinfo("list", f"{build}@ascend910b")
    assert [(row[0], row[1], row[3]) for row in rows(ran)] == [
        ("AddCustom", "white", f"{build}/aic-ascend910b-ops-info.ini:1"),
        ("LogCustom", "black", f"{build}/aic-ascend910b-ops-info.ini:24"),
        ("ScatterCustom", "gray", f"{build}/inner/aic-ascend910b-ops-info.ini:1"),
    ]
    shown = opsinfo("show", build / "aic-ascend910b-ops-info.ini", "LogCustom", "--format", "json").json
    assert shown["target"]["kind"] == "ini"
    assert shown["operators"][0]["inputs"] == [{"name": "x", "param_type": "required", "dtypes": ["float32"]}]
    assert shown["operators"][0]["can_be_white"] == "no"


def test_several_chips_need_a_choice(opsinfo: Run, build: Path) -> None:
    ran = opsinfo("list", build)
    assert ran.code == 2
    assert "ascend910b, ascend950" in ran.err
    assert f"{build}@ascend910b" in ran.err


def test_diff_compares_chips_and_an_ini_with_its_json(opsinfo: Run, build: Path, tmp_path: Path) -> None:
    chips = opsinfo("diff", build)
    assert chips.code == 1
    assert rows(chips) == [
        ["AddCustom", "white", "black"],
        ["LogCustom", "black", "-"],
        ["ScatterCustom", "gray", "-"],
    ]
    made = tmp_path / "aic-ascend910b-ops-info.json"
    sections: dict[str, dict[str, dict[str, str]]] = {}
    for line in (build / "aic-ascend910b-ops-info.ini").read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line[1:-1], {})
        else:
            key, _, value = line.partition("=")
            first, second = key.split(".")
            section.setdefault(first, {})[second] = value
    write(made, sections)
    assert opsinfo("diff", build / "aic-ascend910b-ops-info.ini", made, "--sections").code == 0


def test_a_mixlist_carries_the_policy_of_one_chip_over_to_another(opsinfo: Run, build: Path) -> None:
    ran = opsinfo("diff", f"{build}@ascend950", f"{build}@ascend910b", "--format", "mixlist")
    assert json.loads(ran.out) == {"white-list": {"to-add": ["AddCustom"]}}


def test_a_snapshot_of_an_ini_says_the_same(opsinfo: Run, build: Path, tmp_path: Path) -> None:
    taken = tmp_path / "950.opsinfo.json"
    assert opsinfo("snapshot", f"{build}@ascend910b", "-o", taken).code == 0
    assert opsinfo("diff", f"{build}@ascend910b", taken).code == 0
    assert json.loads(taken.read_text())["soc"] == "ascend910b"


def test_a_mixlist_is_checked_against_an_ini(opsinfo: Run, build: Path, tmp_path: Path) -> None:
    mixlist = write(tmp_path / "ops_info.json", {"black-list": {"to-add": ["AddCustm", "LogCustom"]}})
    ran = opsinfo("validate", mixlist, "--against", f"{build}@ascend910b", "--format", "json")
    assert {"unknown-operator", "no-effect"} <= set(finding_names(ran))


@pytest.mark.parametrize("command", [["move", "--to", "black", "AddCustom"], ["apply"], ["edit"]])
def test_an_ini_is_never_written(opsinfo: Run, build: Path, fixtures: Path, command: list[str]) -> None:
    before = snapshot(build)
    word, *rest = command
    more = [fixtures / "ops_info.json"] if word == "apply" else rest
    ran = opsinfo(word, f"{build}@ascend910b", *more, env={"EDITOR": "true"})
    assert ran.code == 3
    assert "PrecisionReduceFlag" in ran.err
    assert snapshot(build) == before


def test_what_the_script_drops_is_said_and_what_it_refuses_is_an_error(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "aic-ascend910b-ops-info.ini", "[A]\nprecision_reduce.flag=true\n[A]\nopFile.value=a\n")
    ran = opsinfo("list", path)
    assert (ran.code, names(ran)) == (0, ["A"])
    assert f"{path}:1: section `A` is replaced, with all its keys, by the one in line 3" in ran.err
    write(path, "[A]\nprecision_reduce.flag=True\n")
    ran = opsinfo("list", path)
    assert ran.code == 3
    assert f"{path}:2" in ran.err


def test_validate_checks_the_inis_of_a_build_together(opsinfo: Run, tmp_path: Path) -> None:
    for folder, flag in (("", "true"), ("exc/", "false"), ("inner/", "true")):
        write(tmp_path / f"{folder}aic-ascend910b-ops-info.ini", f"[A]\nprecision_reduce.flag={flag}\n")
    ran = opsinfo("validate", tmp_path, "--format", "json")
    assert ran.code == 0
    assert [(finding["name"], Path(finding["path"]).parent.name) for finding in ran.json["findings"]] == [
        ("ini-line-ignored", tmp_path.name),
        ("ini-line-ignored", "inner"),
    ]
    assert [file["kind"] for file in ran.json["files"]] == ["ini"] * 3


def test_the_script_checks_only_what_it_keeps(opsinfo: Run, tmp_path: Path) -> None:
    first = write(tmp_path / "aic-ascend910b-ops-info.ini", "[A]\nprecision_reduce.flag=True\n[B]\n")
    write(tmp_path / "inner/aic-ascend910b-ops-info.ini", "[A]\nprecision_reduce.flag=true\n")
    ran = opsinfo("validate", tmp_path, "--format", "json")
    assert (ran.code, finding_names(ran)) == (0, ["ini-line-ignored"])
    assert opsinfo("validate", first).code == 1


def test_other_inis_are_read_as_before(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "op_precision.ini", "[ByOpType]\nMul=high_precision\n")
    write(tmp_path / "fe.ini", "op.store.tbe-builtin=2|6\n")
    ran = opsinfo("validate", tmp_path, "--format", "json")
    assert [file["kind"] for file in ran.json["files"]] == ["op_precision"]


def test_words_that_some_scripts_refuse_are_one_finding(opsinfo: Run, tmp_path: Path) -> None:
    tensor = "input0.name=x\ninput0.paramType=required\ninput0.dtype=int2,hifloat8,complex32\ninput0.format=ND,ND,ND\n"
    path = write(tmp_path / "aic-ascend950-ops-info.ini", f"[A]\n{tensor}[B]\n{tensor}")
    ran = opsinfo("validate", path, "--format", "json")
    assert [(finding["line"], finding["message"]) for finding in ran.json["findings"]] == [
        (4, "`int2`: refused by the script of ops-nn and ops-cv"),
        (4, "`hifloat8`, `complex32`: refused by the script of ops-cv"),
    ]
    assert opsinfo("list", path).err == ""


def test_a_package_is_changed_as_a_store_is(opsinfo: Run, tmp_path: Path) -> None:
    folder = tmp_path / "packages/vendors/acme/op_impl/ai_core/tbe/config/ascend910b"
    path = write(folder / "aic-ascend910b-ops-info.json", {"Add": {"precision_reduce": {"flag": "true"}}})
    ran = opsinfo("move", tmp_path / "packages", "Add", "--to", "black")
    assert ran.code == 0
    assert json.loads(path.read_text())["Add"]["precision_reduce"]["flag"] == "false"
    assert rows(opsinfo("list", tmp_path / "packages/vendors/acme"))[0][:2] == ["Add", "black"]


def test_completion_knows_chips_and_operators_of_a_build(opsinfo: Run, build: Path) -> None:
    words = f"opsinfo show {build}/aic-ascend910b-ops-info.ini Lo"
    ran = opsinfo(env={"_OPSINFO_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "3"})
    assert "LogCustom" in ran.out
