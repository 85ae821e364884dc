"""`opsinfo apply`: the policies of a mixlist written into libraries, in place or as copies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import ACME, AI_910B, LEGACY, NN, ONLY_910, Run, flag_of, mixlist, rows, snapshot, write


def test_the_effective_policies_are_written_into_the_library(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    path = fixtures / "mixlists/good/several-operators.json"
    target = (opp, "--soc", "ascend910b")
    wanted = {row[0]: row[1] for row in rows(opsinfo("list", *target, "--mixlist", path))}
    assert opsinfo("apply", opp, path, "--soc", "ascend910b").code == 0
    assert {row[0]: row[1] for row in rows(opsinfo("list", *target))} == wanted


def test_every_good_mixlist_applied_gives_its_policies(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    cases = json.loads((fixtures / "mixlists/CASES.json").read_text("utf-8"))
    source = fixtures / "opp" / AI_910B
    cases = [case for case in cases if case["engine_accepts"] and case["policies"] and "vendor" not in case["file"]]
    for case in cases[::7]:
        out = tmp_path / Path(case["file"]).stem
        assert opsinfo("apply", source, fixtures / "mixlists" / case["file"], "--output", out).code == 0
        found = {row[0]: row[1] for row in rows(opsinfo("list", out))}
        assert {name: found[name] for name in case["policies"]} == case["policies"], case["file"]


def test_a_removal_makes_an_operator_gray_by_removing_its_flag(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(white_remove=["Conv2D"], black_remove=["Log"]))
    assert opsinfo("apply", opp / LEGACY, path).code == 0
    assert flag_of(opp / LEGACY, "Conv2D") is None
    assert flag_of(opp / LEGACY, "Log") is None
    assert "precision_reduce" not in json.loads((opp / LEGACY).read_text("utf-8"))["Conv2D"]


@pytest.mark.parametrize(
    "marks",
    [mixlist(gray_add=["Conv2D"]), mixlist(black_remove=["Conv2D"]), mixlist(white_add=["Conv2D"])],
    ids=["gray to-add", "black to-remove of a white type", "white to-add of a white type"],
)
def test_marks_without_effect_write_nothing(opsinfo: Run, opp: Path, tmp_path: Path, marks: object) -> None:
    path = write(tmp_path / "m.json", marks)
    before = snapshot(opp)
    ran = opsinfo("apply", opp / LEGACY, path, "--format", "json")
    assert (ran.code, ran.json["change"], ran.json["files"]) == (0, None, [])
    assert ran.json["unchanged"] == ["Conv2D"]
    assert snapshot(opp) == before


def test_each_stores_winner_gets_the_effect_of_the_marks_on_its_own_flag(
    opsinfo: Run, opp: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / "m.json", mixlist(white_remove=["AddN"]))
    ran = opsinfo("apply", opp, path, "--soc", "ascend910b")
    assert rows(ran) == [["AddN", "white", "gray", str(opp / ACME)]]
    assert flag_of(opp / LEGACY, "AddN") is None


def test_a_store_narrows_apply(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["AddN", "Relu"]))
    before = (opp / ACME).read_bytes()
    assert opsinfo("apply", opp, path, "--soc", "ascend910b", "--store", "built-in").code == 0
    assert (opp / ACME).read_bytes() == before
    assert flag_of(opp / LEGACY, "AddN") == flag_of(opp / LEGACY, "Relu") == "false"


def test_a_store_that_is_not_there_is_wrong_usage(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["AddN"]))
    before = snapshot(opp)
    assert opsinfo("apply", opp, path, "--soc", "ascend910b", "--store", "vendor:acne").code == 2
    assert snapshot(opp) == before


def test_names_that_the_target_lacks_are_reported_and_ignored(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Relu", "MatMu1V2", "Nowhere"]))
    ran = opsinfo("apply", opp / LEGACY, path, "--format", "json")
    assert ran.code == 0
    assert ran.json["ignored"] == ["MatMu1V2", "Nowhere"]
    assert [each["name"] for each in ran.json["changed"]] == ["Relu"]
    assert "MatMu1V2" in ran.err
    assert "MatMulV2" in ran.err


@pytest.mark.parametrize("style", ["text", "json"])
@pytest.mark.parametrize("words", [[], ["--dry-run"]])
def test_strict_makes_that_exit_1_with_nothing_written(
    opsinfo: Run, opp: Path, tmp_path: Path, style: str, words: list[str]
) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Relu", "MatMu1V2"]))
    before = snapshot(opp)
    ran = opsinfo("apply", opp / LEGACY, path, "--strict", "--format", style, *words)
    assert ran.code == 1
    assert snapshot(opp) == before
    assert "MatMu1V2" in ran.err
    if style == "json":
        assert (ran.json["change"], ran.json["ignored"], ran.json["files"]) == (None, ["MatMu1V2"], [])


def test_strict_passes_if_every_name_exists(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Relu"]))
    assert opsinfo("apply", opp / LEGACY, path, "--strict").code == 0
    assert flag_of(opp / LEGACY, "Relu") == "false"


@pytest.mark.parametrize(
    "name", ["contradiction-remove-gray-alone", "comment-hash", "unknown-list-grey", "empty-file", "truncated"]
)
def test_a_refused_mixlist_is_not_applied(opsinfo: Run, opp: Path, fixtures: Path, vault: Path, name: str) -> None:
    before = snapshot(opp)
    path = fixtures / f"mixlists/bad/{name}.json"
    ran = opsinfo("apply", opp, path, "--soc", "ascend910b", *(["--format", "json"] if "comment" in name else []))
    assert ran.code == 3
    assert f"{name}.json" in ran.err, "the findings go to stderr"
    assert "error[" in ran.err
    assert snapshot(opp) == before
    assert not vault.exists()


def test_applied_twice_is_applied_once(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    path = fixtures / "mixlists/good/several-operators.json"
    opsinfo("apply", opp / AI_910B, path)
    before = snapshot(opp)
    again = opsinfo("apply", opp / AI_910B, path, "--format", "json")
    assert (again.json["change"], again.json["changed"]) == (None, [])
    assert snapshot(opp) == before


def test_one_change_for_several_files_and_restore_undoes_it_whole(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["AddN", "Relu", "SwiGlu", "STFT"]))
    before = {name: each[3] for name, each in snapshot(opp).items()}
    document = opsinfo("apply", opp, path, "--soc", "ascend910b", "--format", "json").json
    assert len(document["files"]) == 4
    assert opsinfo("restore", opp / NN).code == 0, "undone as a whole, whichever file is named"
    assert {name: each[3] for name, each in snapshot(opp).items()} == before


def test_output_of_a_library_is_a_new_file(opsinfo: Run, opp: Path, fixtures: Path, tmp_path: Path) -> None:
    before = snapshot(opp)
    out = tmp_path / "baked.json"
    path = fixtures / "mixlists/good/several-operators.json"
    ran = opsinfo("apply", opp / ONLY_910, path, "--output", out)
    assert ran.code == 0
    assert flag_of(out, "SoftmaxV2") == "false"
    assert snapshot(opp) == before
    assert opsinfo("apply", opp / ONLY_910, path).code == 0
    assert out.read_bytes() == (opp / ONLY_910).read_bytes(), "the same bytes as applied in place"


def test_output_of_a_store_is_a_new_directory_with_all_its_files(
    opsinfo: Run, opp: Path, fixtures: Path, tmp_path: Path
) -> None:
    path = fixtures / "mixlists/good/several-operators.json"
    ran = opsinfo("apply", opp / AI_910B, path, "--output", tmp_path / "out", "--format", "json")
    assert ran.code == 0
    assert {each.name for each in (tmp_path / "out").iterdir()} == {each.name for each in (opp / AI_910B).iterdir()}
    assert (tmp_path / "out" / NN.name).read_bytes() == (opp / NN).read_bytes()
    assert flag_of(tmp_path / "out" / LEGACY.name, "LayerNorm") == "false"
    assert flag_of(opp / LEGACY, "LayerNorm") is None


def test_output_is_written_even_if_nothing_changes(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", {})
    assert opsinfo("apply", opp / ONLY_910, path, "--output", tmp_path / "out.json").code == 0
    assert (tmp_path / "out.json").read_bytes() == (opp / ONLY_910).read_bytes()


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_output_that_exists_is_refused(opsinfo: Run, opp: Path, tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Relu"]))
    out = tmp_path / "out.json"
    if kind == "file":
        out.write_text("mine")
    elif kind == "folder":
        out.mkdir()
    else:
        out.symlink_to("nowhere")
    before = snapshot(tmp_path)
    ran = opsinfo("apply", opp / ONLY_910, path, "--output", out)
    assert ran.code in (2, 3)
    assert "exist" in ran.err
    assert snapshot(tmp_path) == before


def test_output_into_a_missing_folder_is_refused(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Relu"]))
    before = snapshot(tmp_path)
    for target in (opp / ONLY_910, opp / AI_910B):
        assert opsinfo("apply", target, path, "--output", tmp_path / "no/out").code == 3
    assert snapshot(tmp_path) == before


def test_output_of_an_install_of_several_stores_is_wrong_usage(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Relu"]))
    ran = opsinfo("apply", opp, path, "--soc", "ascend910b", "--output", tmp_path / "out")
    assert ran.code == 2
    assert not (tmp_path / "out").exists()


def test_a_shadowed_entry_of_a_lone_library_is_refused_unless_forced(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["IndexFill"]))
    before = snapshot(opp)
    assert opsinfo("apply", opp / LEGACY, path).code == 3
    assert snapshot(opp) == before
    assert opsinfo("apply", opp / LEGACY, path, "--force").code == 0
    assert flag_of(opp / LEGACY, "IndexFill") == "false"


def test_apply_refuses_swapped_arguments(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Relu"]))
    assert opsinfo("apply", path, path).code == 2
    before = snapshot(opp)
    assert opsinfo("apply", opp / ONLY_910, opp / NN).code in (2, 3)
    assert snapshot(opp) == before


def test_apply_json_keys(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Relu", "Log", "Nowhere"]))
    document = opsinfo("apply", opp / LEGACY, path, "--format", "json").json
    assert document["changed"] == [{"name": "Relu", "from": "gray", "to": "black", "file": str(opp / LEGACY)}]
    assert (document["unchanged"], document["ignored"], document["dry_run"]) == (["Log"], ["Nowhere"], False)
    assert document["files"][0]["backup"].startswith(document["change"])
