"""Baselines of older versions, patches, and libraries with --fix; `tests/answers/findings.case` has the rest."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from cli_support import NN, Run, finding_names, mixlist, snapshot, write

from opsinfo_cli.core.check.schema import validator_for

BROKEN = '\ufeff{\n  // why\n  "black-list": {"to-add": ["Log", "Log",]}\n} tail\n'


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
    baseline = json.loads((tmp_path / "b.json").read_text())
    assert list(validator_for("baseline").iter_errors(baseline)) == []
    (entry,) = baseline["findings"]
    assert entry["fingerprint"] != OLD["fingerprint"]
    write(tmp_path / "m.json", mixlist(black_add=["matmulv3"]))
    ran = opsinfo(*words)
    assert (ran.code, "1 finding no longer occurs" in ran.err) == (1, True)


def test_an_entry_that_a_merge_left_twice_in_a_baseline_is_removed(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    write(tmp_path / "b.json", {"schema_version": 1, "kind": "opsinfo-baseline", "findings": [OLD, OLD]})
    assert opsinfo("validate", "m.json", "--baseline", "b.json", "--update-baseline").code == 0
    assert json.loads((tmp_path / "b.json").read_text())["findings"] == []


def test_a_dry_run_of_fixes_prints_a_patch_and_writes_nothing(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", BROKEN)
    before = snapshot(tmp_path)
    ran = opsinfo("validate", "m.json", "--fix", "-n")
    assert ran.code == 1
    assert snapshot(tmp_path) == before
    assert opsinfo("validate", "m.json", "--fix", "-n", "--format", "json").json["fixes"]["dry_run"] is True
    subprocess.run(["patch", "-s", "-p0", "m.json"], input=ran.out.encode(), check=True, cwd=tmp_path)
    assert path.read_text("utf-8") == '{\n  "black-list": {"to-add": ["Log"]}\n}\n'


def test_a_library_is_never_fixed(opsinfo: Run, opp: Path) -> None:
    path = opp / NN
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().rstrip() + b" tail")
    before = snapshot(opp)
    ran = opsinfo("validate", opp, "--fix", "--unsafe-fixes", "--format", "json")
    assert {"bom", "trailing-text"} <= set(finding_names(ran))
    assert {each["fix"] for each in ran.json["findings"]} == {None}
    assert snapshot(opp) == before
