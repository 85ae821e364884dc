"""`opsinfo validate`: findings on files and directories, and exit statuses."""

from __future__ import annotations

import os
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from cli_support import AI_910B, CASES, NN, Run, finding_names, mixlist, write

from opsinfo_cli.errors import Refused

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


def test_the_order_of_findings_is_stable(opsinfo: Run, fixtures: Path) -> None:
    first = opsinfo("validate", fixtures)
    second = opsinfo("validate", fixtures)
    assert first.out == second.out
    places = opsinfo("validate", fixtures, "--format", "json").json["findings"]
    for one, other in pairwise(places):
        if one["path"] == other["path"]:
            assert (one["line"] or 0) <= (other["line"] or 0)


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


def test_an_unreadable_library_hides_no_other_chip(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    os.mkfifo(opp / AI_910B / "aic-ascend910b-ops-info-zz.json")
    write(opp / NN, "{")
    ran = opsinfo("validate", opp, fixtures / "mixlists/bad/comment-hash.json", "--format", "json")
    assert ran.code == 3
    assert ran.json["error"]["path"].endswith("-zz.json")
    kinds = {(file["kind"], file["engine_accepts"]) for file in ran.json["files"]}
    assert {("store", True), ("store", False), ("mixlist", False)} <= kinds


def test_a_file_that_is_gone_before_its_fix_keeps_the_findings(
    opsinfo: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(path: str, *_: object) -> bytes:
        raise Refused("No such file or directory", name="unreadable", path=path)

    monkeypatch.setattr("opsinfo_cli.core.check.fixing.read_bytes", gone)
    path = write(tmp_path / "keep_dtype.cfg", "# no comment\nfc\n")
    ran = opsinfo("validate", path, "--fix", "--format", "json")
    assert (ran.code, ran.json["error"]["message"]) == (3, "No such file or directory")
    assert finding_names(ran) == ["ignored-line"]


@pytest.mark.parametrize("words", [["ascend910b"], ["opp@ascend910b"], ["opp", "--soc", "ascend910b"], ["910b3"]])
def test_a_chip_is_checked_in_all_its_stores(opsinfo: Run, fixtures: Path, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "opp").symlink_to(fixtures / "opp")
    environment = {"ASCEND_OPP_PATH": str(tmp_path / "opp")}
    ran = opsinfo("validate", *words, "--format", "json", cwd=tmp_path, env=environment)
    stores = [each["path"] for each in ran.json["files"] if each["kind"] == "store"]
    assert {path.split("op_impl/")[1].split("/")[0] for path in stores} == {"ai_core", "vector_core", "dsa_core"}
    assert not any("ascend910/" in f"{path}/" for path in stores)
    assert ran.code == 0


def test_a_chip_that_is_unknown_or_a_file_that_has_none_is_wrong_usage(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("validate", fixtures / "opp@ascend999")
    assert (ran.code, "it has ascend910, ascend910b" in ran.err) == (2, True)
    ran = opsinfo("validate", fixtures / "mixlists/good/add-black.json", "--soc", "ascend910b")
    assert (ran.code, "--soc requires --against" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("aic-a-ops-info.json", '{\n"Add": {},\n"Add": {},\n"Add": {}\n}\n'),
        ("ops_info.json", '{"gray-list": {},\n"black-list": {},\n"black-list": {},\n"black-list": {}\n}\n'),
    ],
)
def test_the_first_of_three_equal_keys_is_named(opsinfo: Run, tmp_path: Path, name: str, text: str) -> None:
    found = opsinfo("validate", write(tmp_path / name, text), "--format", "json").json["findings"]
    twice = [each for each in found if each["name"] == "duplicate-key"]
    assert [each["line"] for each in twice] == [3, 4]
    assert all("first on line 2;" in each["message"] for each in twice)


@pytest.mark.parametrize(("short", "meant"), [("hif8", "hifloat8"), ("half", "float16")])
def test_short_names_of_dtypes_are_known_in_libraries_and_option_files(
    opsinfo: Run, tmp_path: Path, short: str, meant: str
) -> None:
    tensor = {"name": "x", "paramType": "required", "dtype": short, "format": "ND"}
    library = write(tmp_path / "aic-a-ops-info.json", {"Add": {"input0": tensor}})
    options = write(tmp_path / "customize_dtypes.cfg", f"OpType::Add:InputDtype:{short}\n")
    found = opsinfo("validate", library, options, "--format", "json").json["findings"]
    hints = {each["path"]: each["hint"] for each in found if f"`{short}` is not a dtype" in each["message"]}
    assert hints == dict.fromkeys([str(library), str(options)], f"did you mean `{meant}`?")
