"""`opsinfo validate`: findings on files and directories, and exit statuses."""

from __future__ import annotations

import os
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from cli_support import AI_910B, CASES, NN, Run, finding_names, library, mixlist, write

AGAINST = ("--soc", "ascend910b", "--against")


def test_every_mixlist_of_the_fixtures_gives_the_result_of_its_case(opsinfo: Run, fixtures: Path) -> None:
    paths = [fixtures / "mixlists" / case["file"] for case in CASES]
    document = opsinfo("validate", *paths, *AGAINST, fixtures / "opp", "--format", "json", "--as", "mixlist").json
    accepted = {file["path"]: file["engine_accepts"] for file in document["files"]}
    found: dict[str, set[str]] = {}
    for each in document["findings"]:
        found.setdefault(each["path"], set()).add(each["name"])
    result = {str(path): (accepted[str(path)], sorted(found.get(str(path), ()))) for path in paths}
    wanted = {str(path): (case["engine_accepts"], case["findings"]) for path, case in zip(paths, CASES, strict=True)}
    assert result == wanted


def test_the_status_follows_the_severities(opsinfo: Run, fixtures: Path) -> None:
    for case in CASES[::16]:
        ran = opsinfo("validate", fixtures / "mixlists" / case["file"], "--as", "mixlist", "--format", "json")
        errors = [each for each in ran.json["findings"] if each["severity"] == "error"]
        assert ran.code == (1 if errors else 0), case["file"]
        assert ran.json["summary"]["errors"] == len(errors)


def test_clean_is_exit_0_and_an_empty_stdout(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("validate", fixtures / "mixlists/good/add-black.json")
    assert (ran.code, ran.out) == (0, "")
    assert "1 file" in ran.err


def test_warnings_alone_are_exit_0(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("validate", fixtures / "mixlists/good/duplicate-operator.json")
    assert ran.code == 0
    assert "duplicate-operator" in ran.out


def test_errors_are_exit_1_on_stdout_with_path_line_and_column(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/bad/comment-hash.json"
    ran = opsinfo("validate", path, "--format", "concise")
    assert ran.code == 1
    assert ran.out.startswith(f"{path}:2:3: error[")
    assert " comment: " in ran.out


@pytest.mark.parametrize("name", ["invalid-utf-8", "utf-16", "nan", "lone-surrogate", "truncated", "empty-file"])
def test_broken_content_is_a_finding_and_not_a_refusal(opsinfo: Run, fixtures: Path, name: str) -> None:
    ran = opsinfo("validate", fixtures / f"mixlists/bad/{name}.json", "--as", "mixlist")
    assert ran.code == 1
    assert "error[" in ran.out


def test_a_file_that_cannot_be_read_is_exit_3_and_hides_nothing(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    bad = fixtures / "mixlists/bad/comment-hash.json"
    other = fixtures / "mixlists/bad/unknown-list-grey.json"
    gone = tmp_path / "gone.json"
    ran = opsinfo("validate", bad, gone, other)
    assert ran.code == 3, "status 3 wins over 1"
    assert "comment-hash.json" in ran.out
    assert "unknown-list-grey.json" in ran.out
    assert "gone.json" in ran.err
    document = opsinfo("validate", bad, gone, other, "--format", "json").json
    assert document["error"]["path"] == str(gone)
    assert {each["path"] for each in document["findings"]} == {str(bad), str(other)}


def test_a_file_of_unknown_kind_hides_no_finding(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    odd = write(tmp_path / "odd.json", {"a": {"b": {"c": "d"}}})
    ran = opsinfo("validate", odd, fixtures / "mixlists/bad/comment-hash.json")
    assert ran.code == 2
    assert "--as" in ran.err
    assert "comment-hash.json" in ran.out


@pytest.mark.parametrize("kind", ["mixlist", "library"])
def test_standard_input_is_validated(opsinfo: Run, kind: str) -> None:
    ran = opsinfo("validate", "-", "--as", kind, "--format", "json", input="[]")
    assert (ran.code, finding_names(ran)) == (1, ["wrong-type"])
    assert ran.json["files"][0]["path"] == "-"
    assert ran.json["files"][0]["kind"] == kind


def test_standard_input_of_unknown_kind_requires_as(opsinfo: Run) -> None:
    ran = opsinfo("validate", "-", input='{"a": {"b": {"c": "d"}}}')
    assert ran.code == 2
    assert "--as" in ran.err


def test_a_tree_checks_mixlists_and_libraries_and_silently_skips_other_json(
    opsinfo: Run, fixtures: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    write(tree / "a/mixlist.json", mixlist(black_add=["Add"]))
    write(tree / "b/aic-x-ops-info.json", library({"Add": "true"}))
    write(tree / "c/package.json", {"name": "x", "version": 1})
    write(tree / "c/broken.json", "{ this is not json")
    write(tree / "c/comments.json", '// tsconfig\n{"compilerOptions": {"strict": true}}')
    write(tree / "c/list.json", [1, 2, 3])
    write(tree / "c/latin.json", b'{"a": "\xe9"}')
    write(tree / "c/empty.json", "")
    write(tree / "c/brackets.json", {})
    write(tree / "c/config.json", {"model": {"layers": {"n": 3}}, "lr": 0.1})
    write(tree / "venv/mixlist.json", "{")
    ran = opsinfo("validate", tree, "--format", "json")
    assert ran.code == 0
    assert {file["path"] for file in ran.json["files"] if file["kind"] in ("mixlist", "library")} == {
        str(tree / "a/mixlist.json"),
        str(tree / "b/aic-x-ops-info.json"),
    }
    assert ran.json["findings"] == []
    text = opsinfo("validate", tree)
    assert (text.code, text.out) == (0, "")
    assert "c/" not in text.err


def test_a_file_given_twice_or_through_a_folder_is_not_a_crash(opsinfo: Run, fixtures: Path) -> None:
    folder = fixtures / "mixlists/good"
    assert opsinfo("validate", folder / "bom.json", folder / "bom.json", folder).code == 0


def test_the_order_of_findings_is_stable(opsinfo: Run, fixtures: Path) -> None:
    first = opsinfo("validate", fixtures)
    second = opsinfo("validate", fixtures)
    assert first.out == second.out
    places = opsinfo("validate", fixtures, "--format", "json").json["findings"]
    for one, other in pairwise(places):
        if one["path"] == other["path"]:
            assert (one["line"] or 0) <= (other["line"] or 0)


def test_validate_json_keys(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", '{\n  "grey-list": {"to-add": []}\n}\n')
    (finding,) = opsinfo("validate", path, "--format", "json").json["findings"]
    hint = finding.pop("hint")
    assert "gray-list" in finding.pop("message") + str(hint)
    assert len(finding.pop("fingerprint")) == 32
    code = finding.pop("code")
    assert code[0] == "M"
    assert finding == {
        "name": "unknown-list",
        "severity": "error",
        "engine": "refuses",
        "path": str(path),
        "line": 2,
        "column": 3,
        "end_line": 2,
        "end_column": 14,
        "pointer": "/grey-list",
        "fixable": True,
        "fix": "unsafe",
    }


def test_the_summary_counts_findings(opsinfo: Run, fixtures: Path) -> None:
    paths = [fixtures / "mixlists" / name for name in ("bad/comment-hash.json", "good/bom.json", "good/add-black.json")]
    summary = opsinfo("validate", *paths, "--format", "json").json["summary"]
    assert summary == {"files": 3, "errors": 2, "warnings": 0, "notes": 1}


def test_without_a_target_unchecked_names_are_reported(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/good/unknown-look-alike.json"
    ran = opsinfo("validate", path)
    assert (ran.code, ran.out) == (0, "")
    assert "not checked" in ran.err
    assert "--against" in ran.err
    checked = opsinfo("validate", path, *AGAINST, fixtures / "opp")
    assert checked.code == 1
    assert "not checked" not in checked.err


def test_an_unknown_name_gives_the_near_ones_best_first(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["MatMu1V2", "Zzzzzzzzzzzzzzz"]))
    ran = opsinfo("validate", path, *AGAINST, fixtures / "opp", "--format", "json")
    near, far = ran.json["findings"]
    assert (near["severity"], far["severity"]) == ("error", "warning")
    assert near["hint"].index("MatMulV2") >= 0
    assert near["column"] == 7
    assert "did you mean" not in str(far["hint"])


@pytest.mark.parametrize(
    ("words", "name", "status"),
    [
        (["--precision-mode", "mixed_float16"], None, 0),
        (["--precision-mode", "allow_mix_precision"], None, 0),
        (["--precision-mode", "mixed_bfloat16"], None, 0),
        (["--precision-mode", "mixed_flaot16"], "unknown-mode", 1),
        (["--precision-mode", "force_lowerprecision"], "unknown-mode", 1),
        (["--precision-mode", "fp16"], "mode-refuses-mixlist", 1),
        (["--precision-mode", "must_keep_origin_dtype"], "mode-refuses-mixlist", 1),
        (["--precision-mode", "cube_hif8"], "mode-refuses-mixlist", 1),
        (["--precision-mode", "allow_mix_precision_bf16", "--precision-mode", "mixed_bfloat16"], "both-modes", 1),
    ],
)
def test_precision_modes(opsinfo: Run, fixtures: Path, words: list[str], name: str | None, status: int) -> None:
    path = fixtures / "mixlists/good/add-black.json"
    ran = opsinfo("validate", path, *AGAINST, fixtures / "opp", *words, "--format", "json")
    assert ran.code == status
    assert (name in finding_names(ran)) if name else finding_names(ran) == []


def test_a_mode_without_a_mixlist_is_not_reported(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("validate", fixtures / "opp" / NN, "--precision-mode", "fp16", "--format", "json")
    assert (ran.code, finding_names(ran)) == (0, [])


def test_a_store_that_cannot_be_listed_against_is_exit_3(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", "{")
    ran = opsinfo("validate", fixtures / "mixlists/good/add-black.json", "--against", opp / AI_910B)
    assert ran.code == 3
    assert "ops-info-bad.json" in ran.err


def test_validate_requires_a_path(opsinfo: Run) -> None:
    assert opsinfo("validate").code == 2


def test_quiet_prints_only_findings(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("validate", fixtures / "mixlists/good/bom.json", "-q")
    assert ran.err == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_exit_3(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", {})
    path.chmod(0)
    assert opsinfo("validate", path).code == 3


def test_a_tree_respects_gitignore(opsinfo: Run, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    subprocess.run(["git", "init", "-q", tree], check=True)
    write(tree / ".gitignore", "old/\n*.tmp.json\n!keep.tmp.json\n")
    for name in ("mixlist.json", "old/mixlist.json", "a.tmp.json", "keep.tmp.json"):
        write(tree / name, mixlist(black_add=["Add"]))
    ran = opsinfo("validate", tree, "--format", "json")
    assert [Path(file["path"]).name for file in ran.json["files"]] == ["keep.tmp.json", "mixlist.json"]
    named = opsinfo("validate", tree / "old", tree / "a.tmp.json", "--format", "json")
    assert len(named.json["files"]) == 2, "a path that is named is checked"


def test_one_chip_after_another_of_one_install(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["BatchMatMulV2", "MatMulV9"]))
    words = ("--against", fixtures / "opp", "--soc", "ascend910", "--soc", "ascend910b")
    messages = [each["message"] for each in opsinfo("validate", path, *words, "--format", "json").json["findings"]]
    assert len(messages) == 2
    assert "an op type of ascend910b" in messages[0]
    assert "not of ascend910 (" in messages[0]
    assert "in ascend910 (" in messages[1]


def test_an_unreadable_library_hides_no_other_chip(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    os.mkfifo(opp / AI_910B / "aic-ascend910b-ops-info-zz.json")
    write(opp / NN, "{")
    ran = opsinfo("validate", opp, fixtures / "mixlists/bad/comment-hash.json", "--format", "json")
    assert ran.code == 3
    assert ran.json["error"]["path"].endswith("-zz.json")
    kinds = {(file["kind"], file["engine_accepts"]) for file in ran.json["files"]}
    assert {("store", True), ("store", False), ("mixlist", False)} <= kinds
