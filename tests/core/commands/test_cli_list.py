"""`opsinfo list`: places and policies, against the files themselves. Its answers are in tests/answers."""

from __future__ import annotations

import json
from pathlib import Path

from cli_support import Run, rows


def test_every_place_points_at_the_key_of_the_operator(opsinfo: Run, fixtures: Path) -> None:
    for name, _, _, place, _ in rows(opsinfo("list", fixtures / "opp", "--soc", "ascend910b")):
        path, _, line = place.rpartition(":")
        assert Path(path).read_text("utf-8").split("\n")[int(line) - 1].strip().startswith(f'"{name}"')


def test_every_good_mixlist_of_the_fixtures_gives_its_policies(opsinfo: Run, fixtures: Path) -> None:
    cases = [
        case for case in json.loads((fixtures / "mixlists/CASES.json").read_text("utf-8")) if case["engine_accepts"]
    ]
    for case in cases[::4]:
        path = fixtures / "mixlists" / case["file"]
        ran = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--mixlist", path)
        found = {row[0]: row[1] for row in rows(ran)}
        assert {name: found[name] for name in case["policies"]} == case["policies"], case["file"]
