"""`socs` and `doctor`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cli_support import AI_910B, NN, Run, finding_names, library, rows, write

from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.whole_file import Widened


def test_socs_of_a_root(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("socs", fixtures / "opp")
    assert ran.code == 0
    assert [row[:4] for row in rows(ran)] == [
        ["ascend910", "23", "8.3.RC1", str(fixtures / "opp")],
        ["ascend910b", "40", "8.3.RC1", str(fixtures / "opp")],
    ]


def test_socs_json(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(fixtures / "opp")
    (install,) = opsinfo("socs", link, "--format", "json", env={"ASCEND_OPP_PATH": str(fixtures / "opp")}).json[
        "installs"
    ]
    assert install["path"] == str(link)
    assert install["real_path"] == str((fixtures / "opp").resolve())
    assert install["version"] == "8.3.RC1"
    assert install["selected"] is True
    assert {each["name"]: each["operators"] for each in install["socs"]} == {"ascend910": 23, "ascend910b": 40}
    assert "ascend910b1" in install["socs"][1]["products"]


def test_socs_of_the_environment_marks_the_selected_install(opsinfo: Run, fixtures: Path, isolation: Path) -> None:
    place = isolation / "Ascend/nnae/latest"
    place.mkdir(parents=True)
    (place / "opp").symlink_to(fixtures / "opp-old")
    ran = opsinfo("socs", "--format", "json", env={"ASCEND_OPP_PATH": str(fixtures / "opp")})
    assert [(each["found_by"], each["selected"]) for each in ran.json["installs"]] == [
        ("ASCEND_OPP_PATH", True),
        ("usual folder", False),
    ]


def test_socs_without_any_install(opsinfo: Run) -> None:
    ran = opsinfo("socs")
    assert (ran.code, ran.out) == (0, "")
    assert "ASCEND_OPP_PATH" in ran.err


def test_socs_of_a_path_that_is_not_an_install_is_wrong_usage(opsinfo: Run, tmp_path: Path) -> None:
    assert opsinfo("socs", tmp_path).code == 2
    assert opsinfo("socs", tmp_path / "gone").code in (2, 3)


def test_socs_shows_a_store_that_fails_as_failing(opsinfo: Run, opp: Path) -> None:
    write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", "{")
    assert {row[0]: row[1] for row in rows(opsinfo("socs", opp))} == {"ascend910": "23", "ascend910b": "fails"}
    (install,) = opsinfo("socs", opp, "--format", "json").json["installs"]
    assert install["socs"][1]["operators"] is None


def test_doctor_of_a_sound_install(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("doctor", fixtures / "opp", "--format", "json")
    assert ran.code == 0
    assert finding_names(ran) == ["shadowed"]
    assert ran.json["summary"]["errors"] == 0


def test_doctor_of_the_environments_install(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("doctor", env={"ASCEND_OPP_PATH": str(fixtures / "opp")})
    assert ran.code == 0
    assert "IndexFill" in ran.out


def test_doctor_without_any_install_is_wrong_usage(opsinfo: Run) -> None:
    ran = opsinfo("doctor")
    assert ran.code == 2
    assert "ASCEND_OPP_PATH" in ran.err


def test_doctor_of_a_missing_root_is_refused(opsinfo: Run, tmp_path: Path) -> None:
    assert opsinfo("doctor", env={"ASCEND_OPP_PATH": str(tmp_path / "gone")}).code == 3


def test_a_store_that_fails_is_reported(opsinfo: Run, opp: Path) -> None:
    write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", '{"Add": {"precision_reduce": {"flag": "maybe"}}}')
    ran = opsinfo("doctor", opp, "--format", "json")
    assert ran.code == 1
    assert {"store-fails", "bad-flag"} <= set(finding_names(ran))


def test_the_environments_custom_path_is_checked(opsinfo: Run, fixtures: Path) -> None:
    env = {"ASCEND_OPP_PATH": str(fixtures / "opp"), "ASCEND_CUSTOM_OPP_PATH": "/gone/away:/also/gone"}
    ran = opsinfo("doctor", "--format", "json", env=env)
    broken = [each for each in ran.json["findings"] if each["name"] == "broken-custom-path"]
    assert {each["path"] for each in broken} == {"/gone/away", "/also/gone"}


def test_doctor_of_a_store_and_of_a_chip(opsinfo: Run, fixtures: Path) -> None:
    assert finding_names(opsinfo("doctor", fixtures / "opp" / AI_910B, "--format", "json")) == ["shadowed"]
    env = {"ASCEND_OPP_PATH": str(fixtures / "opp")}
    assert finding_names(opsinfo("doctor", "ascend910", "--format", "json", env=env)) == []
    assert finding_names(opsinfo("doctor", fixtures / "opp", "--soc", "ascend910", "--format", "json")) == []


def test_modes_of_folders_left_writable_by_a_killed_run_are_restored(opsinfo: Run, opp: Path, vault: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "--to", "black")
    held = Vault(str(vault))
    (record,) = held.history().records
    folder = Widened(str((opp / AI_910B).resolve()), 0o550)
    held.save(replace(record, state="pending", folders=[folder]))
    (opp / AI_910B).chmod(0o750)
    ran = opsinfo("doctor", opp, "--format", "json")
    assert "modes-left-open" in finding_names(ran)
    assert os.stat(opp / AI_910B).st_mode & 0o7777 == 0o550
    (opp / AI_910B).chmod(0o755)


def test_doctor_reports_that_there_are_no_findings(opsinfo: Run, tmp_path: Path) -> None:
    store = tmp_path / "config/ascend910b"
    write(store / "aic-ascend910b-ops-info.json", library({"Add": "true"}))
    ran = opsinfo("doctor", store)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err


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
