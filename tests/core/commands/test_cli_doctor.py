"""`socs` and `doctor`: usual folders, folders left open, and the tree. Other answers are in tests/answers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cli_support import AI_910B, NN, Run, entry, write

from opsinfo_cli.core.change.closed_folders import Widened
from opsinfo_cli.core.change.vault import Vault


def test_socs_of_the_environment_marks_the_selected_install(opsinfo: Run, fixtures: Path, isolation: Path) -> None:
    place = isolation / "Ascend/nnae/latest"
    place.mkdir(parents=True)
    (place / "opp").symlink_to(fixtures / "opp-old")
    ran = opsinfo("socs", "--format", "json", env={"ASCEND_OPP_PATH": str(fixtures / "opp")})
    assert [(each["found_by"], each["selected"]) for each in ran.json["installs"]] == [
        ("ASCEND_OPP_PATH", True),
        ("usual folder", False),
    ]


def test_on_a_terminal_socs_counts_operators_and_says_which_chip_does_not_load(opsinfo: Run, opp: Path) -> None:
    write(opp / NN, "{")
    ran = opsinfo("socs", opp, env={"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "80"}, terminal=True)
    rows = [line.split()[:4] for line in ran.out.splitlines() if line.split()[:1] in (["ascend910"], ["ascend910b"])]
    assert [rows[0][1].isdigit(), rows[1][1:4]] == [True, ["does", "not", "load"]]


def test_modes_of_folders_left_writable_by_a_killed_run_are_restored(opsinfo: Run, opp: Path, vault: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "--to", "black")
    held = Vault(str(vault))
    (record,) = held.history().records
    folder = Widened(str((opp / AI_910B).resolve()), 0o550)
    held.save(replace(record, state="pending", folders=[folder]))
    (opp / AI_910B).chmod(0o750)
    write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", '{"Add": {"precision_reduce": {"flag": "maybe"}}}')
    ran = opsinfo("doctor", opp)
    order = [(code != "V", severity) for severity, code in re.findall(r"^(error|warning)\[(\w)", ran.out, re.MULTILINE)]
    assert order == sorted(order), "what concerns backups first, then errors"
    assert {(False, "warning"), (True, "error"), (True, "warning")} <= {*order}
    assert "left this folder writable" in ran.out
    assert os.stat(opp / AI_910B).st_mode & 0o7777 == 0o550
    (opp / AI_910B).chmod(0o755)


def test_on_a_terminal_doctor_draws_a_tree_with_a_branch_for_each_file(
    terminal: Callable[..., tuple[int, str]], opp: Path
) -> None:
    write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", '{"Add": {"precision_reduce": {"flag": "maybe"}}}')
    code, shown = terminal("doctor", opp, "--color", "never", width=200)
    lines = [line.rstrip() for line in shown.splitlines()]
    assert code == 1
    assert lines[0] == str(opp)
    name = f"{AI_910B}/aic-ascend910b-ops-info-bad.json"
    head = next(index for index, line in enumerate(lines) if line.endswith(name))
    assert lines[head].startswith("├── ")
    assert lines[head + 1].startswith("│   ├── error[")
    assert any(line.startswith("│   │   └── hint: ") for line in lines)
    assert "1 entry is overridden (doctor --select S001)" in shown


def test_the_tree_shows_five_findings_of_a_rule_and_counts_the_others(
    terminal: Callable[..., tuple[int, str]], opp: Path
) -> None:
    library = {f"Op{number}": entry(dtypes=f"float16,dtype{number}") for number in range(9)}
    write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", json.dumps(library))
    shown = terminal("doctor", opp, "--color", "never", width=200)[1]
    listed = terminal("doctor", opp, "--color", "never", "--select", "L005", width=200)[1]
    assert [text.count("is not a known dtype") for text in (shown, listed)] == [5, 18]
    assert "└── 13 more L005 (doctor --select L005)" in shown
    assert "more L005" not in listed
