"""--select, --ignore, --strict, --baseline, --fix and --diff of `validate`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cli_support import NN, Run, finding_names, mixlist, snapshot, write

from opsinfo_cli.check.schema import validator_for

TWICE = '{"black-list": {"to-add": ["Log", "Log"]}}'
BROKEN = '\ufeff{\n  // why\n  "black-list": {"to-add": ["Log", "Log",]}\n} tail\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "m.json", mixlist(black_add=["Log", "Log", "Pow", "Pow"]))


def test_select_and_ignore_decide_the_exit_status_too(opsinfo: Run, fixtures: Path) -> None:
    bad = fixtures / "mixlists/bad/comment-and-contradiction.json"
    assert finding_names(opsinfo("validate", bad, "--format", "json")) == ["comment", "contradiction"]
    assert finding_names(opsinfo("validate", bad, "--select", "M", "--format", "json")) == ["contradiction"]
    ran = opsinfo(
        "validate", bad, "--ignore", "comment", "--ignore", "M003:/white-list", "--ignore", "M003:/black-list"
    )
    assert (ran.code, ran.out) == (0, "")


def test_selection_does_not_change_whether_the_engine_accepts_a_file(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("validate", fixtures / "mixlists/bad/comment-hash.json", "--ignore", "T", "--format", "json")
    assert (ran.code, ran.json["findings"], ran.json["files"][0]["engine_accepts"]) == (0, [], False)


def test_an_unknown_code_is_wrong_usage_with_a_near_one(opsinfo: Run, path: Path) -> None:
    ran = opsinfo("validate", path, "--ignore", "duplicate-operatr")
    assert ran.code == 2
    assert "did you mean `duplicate-operator`?" in ran.err


@pytest.mark.parametrize(("text", "status"), [(TWICE, 1), ("\ufeff{}", 0), ("{}", 0)], ids=["warning", "note", "clean"])
def test_strict_makes_warnings_fail_and_nothing_else(opsinfo: Run, tmp_path: Path, text: str, status: int) -> None:
    path = write(tmp_path / "m.json", text)
    assert opsinfo("validate", path, "--strict").code == status
    assert opsinfo("validate", path).code == 0


def accept(opsinfo: Run, *words: str) -> None:
    ran = opsinfo("validate", *words, "--baseline", "b.json", "--update-baseline")
    assert (ran.code, ran.out) == (0, "")


def test_a_dry_run_says_what_the_baseline_would_have(opsinfo: Run, path: Path, tmp_path: Path) -> None:
    for fix in ([], ["--fix"]):
        ran = opsinfo("validate", ".", "--strict", "--baseline", "b.json", "--update-baseline", "-n", *fix)
        assert (ran.code, "would write b.json: 2 findings, 2 new" in ran.err) == (0, True)
    assert not (tmp_path / "b.json").exists()


def test_known_findings_are_hidden_and_new_ones_reported(opsinfo: Run, path: Path, tmp_path: Path) -> None:
    accept(opsinfo, ".", "--strict")
    baseline = json.loads((tmp_path / "b.json").read_text())
    assert list(validator_for("baseline").iter_errors(baseline)) == []
    assert [entry["pointer"] for entry in baseline["findings"]] == ["/black-list/to-add/1", "/black-list/to-add/3"]
    assert opsinfo("validate", ".", "--strict", "--baseline", "b.json").code == 0
    write(path, mixlist(black_add=["Add", "Log", "Log", "Pow", "Pow", "Add"]))
    ran = opsinfo("validate", path, "--strict", "--baseline", "b.json", "--format", "json")
    assert ran.code == 1
    assert [each["pointer"] for each in ran.json["findings"]] == ["/black-list/to-add/5"]
    assert (ran.json["baseline"]["known"], ran.json["baseline"]["gone"]) == (2, [])


def test_entries_that_no_longer_occur_are_reported_and_removed(opsinfo: Run, path: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.json", TWICE)
    accept(opsinfo, ".")
    write(path, mixlist(black_add=["Log", "Log", "Pow"]))
    ran = opsinfo("validate", ".", "--baseline", "b.json", "-v")
    assert "b.json: 1 finding no longer occurs" in ran.err
    assert "`Pow` appears twice in this array" in ran.err
    for words in (("other.json",), (".", "--ignore", "M004")):
        assert opsinfo("validate", *words, "--baseline", "b.json", "--format", "json").json["baseline"]["gone"] == []
    other.unlink()
    gone = opsinfo("validate", ".", "--baseline", "b.json", "--format", "json").json["baseline"]["gone"]
    assert [entry["path"] for entry in gone] == ["m.json", "other.json"]
    accept(opsinfo, "m.json")
    assert [each["path"] for each in json.loads((tmp_path / "b.json").read_text())["findings"]] == ["m.json"]


def test_an_unchanged_baseline_is_not_written(opsinfo: Run, path: Path, tmp_path: Path) -> None:
    accept(opsinfo, ".")
    before = snapshot(tmp_path)
    accept(opsinfo, ".")
    assert snapshot(tmp_path) == before


OLD = {
    "path": "m.json",
    "code": "M005",
    "name": "unknown-operator",
    "pointer": "/black-list/to-add/0",
    "message": "unknown operator `matmulv2` in ascend910b (old.json); the engine ignores it",
    "fingerprint": "14f679aa72901b0bb58017e0777dbed4",
}
"""An entry that version 0.2.0 wrote: its fingerprint hashes the message, with the path of the target."""


def test_a_baseline_of_an_older_version_is_read_and_renewed(opsinfo: Run, tmp_path: Path, fixtures: Path) -> None:
    write(tmp_path / "m.json", mixlist(black_add=["matmulv2"]))
    write(tmp_path / "b.json", {"schema_version": 1, "kind": "opsinfo-baseline", "findings": [OLD]})
    words = ("validate", "m.json", "--against", f"{fixtures / 'opp'}@ascend910b", "--baseline", "b.json")
    ran = opsinfo(*words)
    assert (ran.code, "1 known finding" in ran.err, "no longer" in ran.err) == (0, True, False)
    assert "1 finding, 0 new, 0 gone" in opsinfo(*words, "--update-baseline").err
    (entry,) = json.loads((tmp_path / "b.json").read_text())["findings"]
    assert entry["fingerprint"] != OLD["fingerprint"]
    write(tmp_path / "m.json", mixlist(black_add=["matmulv3"]))
    ran = opsinfo(*words)
    assert (ran.code, "1 finding no longer occurs" in ran.err) == (1, True)


@pytest.mark.parametrize(
    "content",
    [None, "", "[1]", '{"kind": "opsinfo-baseline"}', "[" * 100_000],
    ids=["missing", "empty", "not an object", "keys missing", "deep nesting"],
)
def test_a_file_that_is_not_a_baseline_is_exit_3(opsinfo: Run, path: Path, tmp_path: Path, content: str | None) -> None:
    if content is not None:
        write(tmp_path / "b.json", content)
    ran = opsinfo("validate", path, "--baseline", "b.json", "--format", "json")
    assert (ran.code, ran.json["error"]["path"]) == (3, "b.json")
    assert "--update-baseline" in ran.json["error"]["hint"]


def test_fix_applies_safe_fixes_with_a_backup_and_reports_the_rest(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", BROKEN)
    good = write(tmp_path / "good.json", TWICE.replace("Log", "Add", 1))
    before = snapshot(good.parent)["good.json"]
    ran = opsinfo("validate", "m.json", "good.json", "--fix", "--format", "json")
    assert (ran.code, ran.json["findings"]) == (0, [])
    assert path.read_text("utf-8") == '{\n  "black-list": {"to-add": ["Log"]}\n}\n'
    assert snapshot(good.parent)["good.json"] == before
    (file,) = ran.json["fixes"]["files"]
    assert (file["path"], ran.json["fixes"]["dry_run"]) == ("m.json", False)
    assert opsinfo("restore", "m.json").code == 0
    assert path.read_bytes() == BROKEN.encode()


def test_fix_skips_findings_that_are_not_selected_or_in_the_baseline(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", BROKEN)
    opsinfo("validate", "m.json", "--fix", "--select", "comment")
    assert path.read_text("utf-8") == BROKEN.replace("  // why\n", "")
    accept(opsinfo, "m.json")
    ran = opsinfo("validate", "m.json", "--baseline", "b.json", "--fix")
    assert (ran.code, path.read_text("utf-8")) == (0, BROKEN.replace("  // why\n", ""))


def test_diff_prints_a_patch_and_writes_nothing(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", BROKEN)
    before = snapshot(tmp_path)
    ran = opsinfo("validate", "m.json", "--diff")
    assert ran.code == 1
    assert snapshot(tmp_path) == before
    assert opsinfo("validate", "m.json", "--diff", "--format", "json").json["fixes"]["dry_run"] is True
    subprocess.run(["patch", "-s", "-p0", "m.json"], input=ran.out.encode(), check=True, cwd=tmp_path)
    assert path.read_text("utf-8") == '{\n  "black-list": {"to-add": ["Log"]}\n}\n'


def test_diff_fails_if_only_warnings_would_be_fixed_and_passes_if_nothing_would(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "m.json", TWICE)
    assert opsinfo("validate", "m.json", "--diff").code == 1
    ran = opsinfo("validate", "m.json", "--diff", "--ignore", "M004")
    assert (ran.code, ran.out) == (0, "")


def test_an_unsafe_fix_requires_the_option(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["matmulv2"]))
    words = ("validate", path, "--against", fixtures / "opp", "--soc", "ascend910b", "--select", "M005")
    (finding,) = opsinfo(*words, "--format", "json").json["findings"]
    assert (finding["fix"], finding["fixable"]) == ("unsafe", True)
    assert opsinfo(*words, "--fix").code == 1
    assert "matmulv2" in path.read_text()
    assert opsinfo(*words, "--fix", "--unsafe-fixes").code == 0
    assert json.loads(path.read_text()) == mixlist(black_add=["MatMulV2"])


def test_a_library_is_never_fixed(opsinfo: Run, opp: Path) -> None:
    path = opp / NN
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().rstrip() + b" tail")
    before = snapshot(opp)
    ran = opsinfo("validate", opp, "--fix", "--unsafe-fixes", "--format", "json")
    assert {"bom", "trailing-text"} <= set(finding_names(ran))
    assert {each["fix"] for each in ran.json["findings"]} == {None}
    assert snapshot(opp) == before


def test_a_file_that_cannot_be_fixed_hides_no_finding(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", BROKEN)
    (tmp_path / "second").hardlink_to(path)
    ran = opsinfo("validate", "m.json", "--fix")
    assert ran.code == 3
    assert "error[T002]" in ran.out
    assert "hard links" in ran.err
    assert path.read_bytes() == BROKEN.encode()


@pytest.mark.parametrize(
    "words",
    [
        ["m.json", "--unsafe-fixes"],
        ["m.json", "--update-baseline"],
        ["m.json", "--diff", "--format", "sarif"],
        ["m.json", "--diff", "--baseline", "b.json", "--update-baseline"],
        ["-", "--as", "mixlist", "--fix"],
    ],
    ids=" ".join,
)
def test_conflicting_options_are_wrong_usage(opsinfo: Run, path: Path, words: list[str]) -> None:
    assert opsinfo("validate", *words, input="{}").code == 2


def test_a_dry_run_of_fix_shows_the_diff_and_writes_nothing(opsinfo: Run, tmp_path: Path) -> None:
    text = '{"black-list": {"to-add": ["Log", "Log"]}}\n'
    path = write(tmp_path / "m.json", text)
    ran = opsinfo("validate", path, "--fix", "-n")
    assert (ran.code, path.read_text()) == (0, text)
    assert '-{"black-list": {"to-add": ["Log", "Log"]}}\n+{"black-list": {"to-add": ["Log"]}}\n' in ran.out
    assert "would fix 1 finding\n" in ran.err
    assert opsinfo("validate", path, "--diff").code == 1
    assert opsinfo("validate", path, "-n").code == 2
    document = opsinfo("validate", path, "--fix", "-n", "--format", "json").json
    assert (document["fixes"]["dry_run"], len(document["fixes"]["files"])) == (True, 1)


def test_files_of_compiler_options_are_checked_and_fixed_like_mixlists(
    opsinfo: Run, fixtures: Path, tmp_path: Path
) -> None:
    keep = write(tmp_path / "keep_dtype.cfg", "# why\nlog\nfc/mat_mul\n")
    modes = tmp_path / "modes.ini"
    modes.write_bytes(b"# \xd6\xd0\r\nGelu=high_precison\r\n")  # GBK
    model = fixtures / "graphs/ge_proto_00020_FeTopoSortingAfter.txt"
    words = ("validate", ".", "--model", model, "--against", f"{fixtures / 'opp'}@ascend910b")
    ran = opsinfo(*words, "--format", "json")
    assert (ran.code, finding_names(ran)) == (0, ["ignored-line", "unknown-implmode", "unknown-node"])
    assert [file["kind"] for file in ran.json["files"]] == ["keep_dtype", "op_precision"]
    assert "2 files checked: 3 warnings" in opsinfo(*words).err
    ran = opsinfo(*words, "--fix", "--unsafe-fixes")
    assert (ran.code, keep.read_text()) == (0, "log\nfc/matmul\n")
    assert modes.read_bytes() == b"# \xd6\xd0\r\nGelu=high_precision\r\n"


def test_a_model_without_a_target_serves_for_names_of_nodes_only(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    model = fixtures / "graphs/ge_proto_00020_FeTopoSortingAfter.txt"
    write(tmp_path / "keep_dtype.cfg", "nope\n")
    assert finding_names(opsinfo("validate", ".", "--model", model, "--format", "json")) == ["unknown-node"]
    write(tmp_path / "ops_info.json", TWICE)
    ran = opsinfo("validate", ".", "--model", model)
    assert ran.code == 2
    assert "--model requires --against" in ran.err
