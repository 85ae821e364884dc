"""`opsinfo merge`: bytes, policies and a race. Its answers are in tests/answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import AI_910B, Run, mixlist, rows, write

from opsinfo_cli.core.change.fmt import BuildPlan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Stale


def test_the_result_is_laid_out_as_the_base_and_accepted(opsinfo: Run, tmp_path: Path) -> None:
    base = write(tmp_path / "base.json", '{\r\n\t"black-list" : {\r\n\t\t"to-add" : ["Mul"]\r\n\t}\r\n}')
    over = write(tmp_path / "over.json", mixlist(black_add=["Add"]))
    ran = opsinfo("merge", base, over)
    assert ran.out == '{\r\n\t"black-list" : {\r\n\t\t"to-add" : ["Add", "Mul"]\r\n\t}\r\n}'
    assert opsinfo("validate", "-", "--as", "mixlist", input=ran.out).code == 0


def test_minimize_changes_no_policy_of_the_target(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    store = fixtures / "opp" / AI_910B
    names = [row[0] for row in rows(opsinfo("list", store))]
    path = write(tmp_path / "m.json", mixlist(black_add=names[::2], white_remove=names[1::2]))
    minimized = write(tmp_path / "less.json", opsinfo("merge", "--minimize", path, "--against", store).out)
    assert len(minimized.read_text()) < len(path.read_text())
    wanted = [row[:3] for row in rows(opsinfo("list", store, "--mixlist", path))]
    assert [row[:3] for row in rows(opsinfo("list", store, "--mixlist", minimized))] == wanted
    assert opsinfo("merge", "--minimize", minimized, "--against", store, "--check").code == 0
    assert opsinfo("merge", "--minimize", path, "--against", store, "--check").code == 1


def test_a_source_that_changed_since_is_not_overwritten() -> None:
    then, now = Source(b"{}", "m.json"), Source(b'{"black-list": {}}', "m.json")
    with pytest.raises(Stale):
        BuildPlan("{}\n", then.sha256).patch(now).apply(now)
