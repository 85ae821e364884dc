"""`opsinfo apply`: the policies that the mixlist has. Its answers are in tests/answers."""

from __future__ import annotations

import json
from pathlib import Path

from cli_support import AI_910B, Run, rows


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
