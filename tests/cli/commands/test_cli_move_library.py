"""`opsinfo move` on libraries and installs: flags, stores, shadowed entries, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_support import ACME, AI_910B, LEGACY, MATH, NN, ONLY_910, Run, entry, flag_of, library, rows, snapshot, write


def test_a_move_in_one_library_sets_the_flag(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("move", opp / NN, "DynamicRNN", "SwiGlu", "--to", "black")
    assert ran.code == 0
    assert flag_of(opp / NN, "DynamicRNN") == flag_of(opp / NN, "SwiGlu") == "false"
    assert rows(ran) == [
        ["DynamicRNN", "gray", "black", str(opp / NN)],
        ["SwiGlu", "white", "black", str(opp / NN)],
    ]


@pytest.mark.parametrize(("to", "flag"), [("white", "true"), ("black", "false"), ("gray", None)])
def test_every_list_can_be_reached_from_every_list(opsinfo: Run, tmp_path: Path, to: str, flag: str | None) -> None:
    path = write(tmp_path / "aic-x-ops-info.json", library({"W": "true", "B": "false", "G": None}))
    others = json.loads(path.read_text("utf-8"))
    assert opsinfo("move", path, "W", "B", "G", "--to", to).code == 0
    after = json.loads(path.read_text("utf-8"))
    assert {flag_of(path, name) for name in "WBG"} == {flag}
    for each in (after, others):
        for sections in each.values():
            sections.pop("precision_reduce", None)
    assert after == others


def test_a_report_has_path_change_and_the_undo_command(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("move", opp / NN, "DynamicRNN", "--to", "black", "--format", "json")
    change = ran.json["change"]
    assert opsinfo("restore", opp / NN).code == 0
    text = opsinfo("move", opp / NN, "DynamicRNN", "--to", "black")
    assert str(opp / NN) in text.err
    assert "opsinfo restore" in text.err
    assert re.fullmatch(r"([0-9a-f]{8}|local)-1", change)


def test_move_json_keys(opsinfo: Run, opp: Path) -> None:
    before = (opp / NN).read_bytes()
    document = opsinfo("move", opp / NN, "DynamicRNN", "AddRmsNorm", "--to", "white", "--format", "json").json
    assert document["changed"] == [{"name": "DynamicRNN", "from": "gray", "to": "white", "file": str(opp / NN)}]
    assert document["unchanged"] == ["AddRmsNorm"]
    assert document["ignored"] == []
    assert document["dry_run"] is False
    assert document["change"]
    (file,) = document["files"]
    assert file["path"] == str(opp / NN)
    assert file["backup"]
    assert file["sha256_before"] == _sha256(before)
    assert file["sha256_after"] == _sha256((opp / NN).read_bytes())


def _sha256(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def test_moving_to_the_present_list_writes_nothing(opsinfo: Run, opp: Path, vault: Path) -> None:
    before = snapshot(opp)
    ran = opsinfo("move", opp / NN, "SwiGlu", "--to", "white")
    assert (ran.code, ran.out) == (0, "")
    assert snapshot(opp) == before
    assert not list(vault.rglob("record.json"))
    document = opsinfo("move", opp / NN, "SwiGlu", "--to", "white", "--format", "json").json
    assert (document["change"], document["changed"], document["files"]) == (None, [], [])
    assert document["unchanged"] == ["SwiGlu"]
    assert snapshot(opp) == before


def test_a_repeated_move_writes_once(opsinfo: Run, opp: Path) -> None:
    opsinfo("move", opp, "--soc", "ascend910b", "Relu", "--to", "black")
    after = snapshot(opp)
    again = opsinfo("move", opp, "--soc", "ascend910b", "Relu", "--to", "black", "--format", "json")
    assert again.json["change"] is None
    assert snapshot(opp) == after


def test_a_flag_in_other_case_is_already_set(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "aic-x-ops-info.json", library({"A": "TRUE", "B": ""}))
    before = path.read_bytes()
    assert opsinfo("move", path, "A", "--to", "white").code == 0
    assert opsinfo("move", path, "B", "--to", "gray").code == 0
    assert path.read_bytes() == before


def test_in_a_store_only_the_winning_entry_changes(opsinfo: Run, opp: Path) -> None:
    before = (opp / LEGACY).read_bytes()
    ran = opsinfo("move", opp / AI_910B, "IndexFill", "--to", "black")
    assert ran.code == 0
    assert flag_of(opp / NN, "IndexFill") == "false"
    assert (opp / LEGACY).read_bytes() == before


def test_in_a_store_several_files_are_one_change(opsinfo: Run, opp: Path) -> None:
    before = snapshot(opp)
    document = opsinfo("move", opp / AI_910B, "Relu", "STFT", "SwiGlu", "--to", "black", "--format", "json").json
    assert {file["path"] for file in document["files"]} == {str(opp / each) for each in (LEGACY, MATH, NN)}
    assert len({file["backup"].rpartition(".")[0] for file in document["files"]}) == 1
    assert opsinfo("restore", opp / AI_910B).code == 0
    assert {name: each[3] for name, each in snapshot(opp).items()} == {name: each[3] for name, each in before.items()}


def test_in_an_install_the_winner_of_each_store_that_has_it_changes(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("move", opp, "--soc", "ascend910b", "AddN", "--to", "black")
    assert {(row[1], row[3]) for row in rows(ran)} == {("white", str(opp / ACME)), ("gray", str(opp / LEGACY))}
    assert flag_of(opp / ACME, "AddN") == flag_of(opp / LEGACY, "AddN") == "false"
    assert flag_of(opp / ONLY_910, "AddN") is None, "the other chip is another install"


@pytest.mark.parametrize(
    ("store", "moved", "kept"), [("vendor:acme", ACME, LEGACY), ("built-in", LEGACY, ACME)], ids=["vendor", "built-in"]
)
def test_a_store_narrows_the_move(opsinfo: Run, opp: Path, store: str, moved: Path, kept: Path) -> None:
    before = (opp / kept).read_bytes()
    ran = opsinfo("move", opp, "--soc", "ascend910b", "AddN", "--to", "black", "--store", store)
    assert ran.code == 0
    assert flag_of(opp / moved, "AddN") == "false"
    assert (opp / kept).read_bytes() == before


def test_an_unknown_store_is_wrong_usage_and_known_ones_are_named(opsinfo: Run, opp: Path) -> None:
    before = snapshot(opp)
    ran = opsinfo("move", opp, "--soc", "ascend910b", "AddN", "--to", "black", "--store", "vendor:acne")
    assert ran.code == 2
    assert "vendor:acme" in ran.err
    assert "built-in" in ran.err
    not_in_it = opsinfo("move", opp, "--soc", "ascend910b", "Relu", "--to", "black", "--store", "vendor:acme")
    assert not_in_it.code == 2
    assert snapshot(opp) == before


def test_custom_stores_are_moved_too(opsinfo: Run, opp: Path, fixtures: Path, tmp_path: Path) -> None:
    import shutil

    custom = tmp_path / "fastops"
    shutil.copytree(fixtures / "custom/fastops", custom)
    ran = opsinfo("move", opp, "--soc", "ascend910b", "Mul", "--to", "white", "--custom", custom)
    assert sorted(row[1] for row in rows(ran)) == ["black", "gray"]
    assert any(str(custom) in row[3] for row in rows(ran))


def test_a_lone_library_whose_entry_a_sibling_overrides_is_refused_unless_forced(opsinfo: Run, opp: Path) -> None:
    before = snapshot(opp)
    ran = opsinfo("move", opp / LEGACY, "IndexFill", "--to", "black")
    assert ran.code == 3
    assert "ops-info-nn.json" in ran.err
    assert "--force" in ran.err
    assert snapshot(opp) == before
    forced = opsinfo("move", opp / LEGACY, "IndexFill", "--to", "black", "--force")
    assert forced.code == 0
    assert flag_of(opp / LEGACY, "IndexFill") == "false"
    assert flag_of(opp / NN, "IndexFill") == "true"


def test_an_entry_that_wins_is_not_refused_for_its_shadowed_sibling(opsinfo: Run, opp: Path) -> None:
    assert opsinfo("move", opp / NN, "IndexFill", "--to", "black").code == 0


@pytest.fixture
def open_order(tmp_path: Path) -> Path:
    """A store with two files whose load order is undefined."""
    folder = tmp_path / "config" / "ascend910b"
    write(folder / "aic-ascend910b-ops-info-cv.json", library({"Add": "true"}))
    write(folder / "aic-ascend910b-ops-info-nn.json", library({"Add": "true"}))
    return folder


def test_a_move_sets_every_entry_that_may_win(opsinfo: Run, open_order: Path) -> None:
    ran = opsinfo("move", open_order, "Add", "--to", "black")
    assert ran.code == 0
    assert {flag_of(path, "Add") for path in open_order.iterdir()} == {"false"}
    assert len(rows(ran)) == 2


@pytest.mark.parametrize("package", ["cv", "nn"])
def test_an_entry_of_a_lone_library_that_may_not_win_is_reported(opsinfo: Run, open_order: Path, package: str) -> None:
    path = open_order / f"aic-ascend910b-ops-info-{package}.json"
    ran = opsinfo("move", path, "Add", "--to", "black")
    assert ran.code == 0
    assert "the load order is undefined: this entry of `Add` wins, or aic-ascend910b" in ran.err
    assert flag_of(path, "Add") == "false"
    assert "undefined" in opsinfo("list", open_order).err


def test_a_link_to_the_library_beside_it_is_not_another_file(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "aic-x-ops-info.json", library({"Add": "true"}))
    path.with_name("aic-x-ops-info-nn.json").symlink_to(path)
    ran = opsinfo("move", path, "Add", "--to", "black")
    assert (ran.code, flag_of(path, "Add")) == (0, "false")


def test_a_file_that_a_store_holds_under_two_names_is_changed_once(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "config" / "ascend910b" / "aic-ascend910b-ops-info-cv.json", library({"Add": "true"}))
    path.with_name("aic-ascend910b-ops-info-nn.json").symlink_to(path.name)
    ran = opsinfo("move", path.parent, "Add", "--to", "black")
    assert (ran.code, len(rows(ran)), flag_of(path, "Add")) == (0, 1, "false")


def test_writing_below_an_install_warns_once_about_all_networks(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("move", opp, "--soc", "ascend910b", "AddN", "Relu", "STFT", "--to", "black")
    assert ran.err.count("every network") == 1
    assert "mixlist" in ran.err
    quiet = opsinfo("move", opp, "--soc", "ascend910b", "AddN", "--to", "white", "-q")
    assert quiet.err == ""


@pytest.mark.parametrize("words", [["--dry-run"], []])
def test_without_a_write_there_is_no_warning_about_all_networks(opsinfo: Run, opp: Path, words: list[str]) -> None:
    to = "black" if words else "gray"
    assert "every network" not in opsinfo("move", opp / LEGACY, "Relu", "--to", to, *words).err


def test_a_library_outside_an_install_gives_no_warning(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "aic-x-ops-info.json", library({"A": None}))
    assert "network" not in opsinfo("move", path, "A", "--to", "black").err


def test_an_unknown_operator_writes_nothing_at_all(opsinfo: Run, opp: Path, vault: Path) -> None:
    before = snapshot(opp)
    ran = opsinfo("move", opp, "--soc", "ascend910b", "Relu", "MatMu1V2", "--to", "black")
    assert ran.code == 2
    assert "`MatMulV2`" in ran.err
    assert snapshot(opp) == before
    assert not vault.exists()
    failed = opsinfo("move", opp, "--soc", "ascend910b", "MatMu1V2", "--to", "black", "--format", "json").json
    assert failed["error"]["name"] == "unknown-operator"
    assert "MatMulV2" in failed["error"]["hint"]


def test_names_are_compared_exactly(opsinfo: Run, opp: Path) -> None:
    before = snapshot(opp)
    for name in ("relu", " Relu", ""):
        assert opsinfo("move", opp / LEGACY, name, "--to", "black").code == 2
    assert snapshot(opp) == before


def test_an_operator_given_twice_is_moved_once(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("move", opp / LEGACY, "Relu", "Relu", "--to", "black", "--format", "json")
    assert [each["name"] for each in ran.json["changed"]] == ["Relu"]


def test_an_entry_that_appears_twice_is_refused_with_both_lines(opsinfo: Run, tmp_path: Path) -> None:
    one, other = json.dumps(entry("true")), json.dumps(entry())
    path = write(tmp_path / "aic-x-ops-info.json", f'{{\n"Add": {one},\n"Mul": {other},\n"Add": {other}\n}}\n')
    before = path.read_bytes()
    ran = opsinfo("move", path, "Add", "--to", "black")
    assert ran.code == 3
    assert "2" in ran.err
    assert "4" in ran.err
    assert path.read_bytes() == before
    assert opsinfo("move", path, "Mul", "--to", "black").code == 0, "another entry can be edited"
    assert path.read_bytes().count(b'"Add"') == 2


def test_a_section_that_appears_twice_is_refused_with_both_lines(opsinfo: Run, tmp_path: Path) -> None:
    text = '{\n"Add": {\n"precision_reduce": {"flag": "true"},\n"precision_reduce": {"flag": "false"}\n}\n}\n'
    path = write(tmp_path / "aic-x-ops-info.json", text)
    ran = opsinfo("move", path, "Add", "--to", "white")
    assert ran.code == 3
    assert "3" in ran.err
    assert "4" in ran.err
    assert path.read_text("utf-8") == text


def test_a_dry_run_writes_nothing_and_check_names_it(opsinfo: Run, opp: Path, vault: Path) -> None:
    before = snapshot(opp)
    ran = opsinfo("move", opp / LEGACY, "Relu", "--to", "black", "--check")
    assert (ran.code, "-n shows what would change" in ran.err) == (2, True)
    document = opsinfo("move", opp / LEGACY, "Relu", "--to", "black", "-n", "--format", "json")
    assert (document.code, document.json["change"], document.json["dry_run"]) == (0, None, True)
    assert document.json["changed"][0]["name"] == "Relu"
    assert snapshot(opp) == before
    assert not vault.exists()


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"Add": {"precision_reduce": {"flag": "maybe"}}}', "// x\n{}"],
    ids=["empty", "cut off", "bad flag", "comment"],
)
def test_a_damaged_library_is_refused(opsinfo: Run, tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "aic-x-ops-info.json", text)
    ran = opsinfo("move", path, "Add", "--to", "black", "--format", "json")
    assert ran.code == 3
    assert ran.json["error"]["path"] == str(path)
    assert path.read_text("utf-8") == text


def test_if_one_store_is_refused_nothing_is_moved(opsinfo: Run, opp: Path) -> None:
    write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", "{")
    before = snapshot(opp)
    assert opsinfo("move", opp, "--soc", "ascend910b", "AddN", "--to", "black").code == 3
    assert snapshot(opp) == before


def test_text_after_the_end_is_kept(opsinfo: Run, tmp_path: Path) -> None:
    content = json.dumps(library({"A": "true"})) + '\n"flag":"x"}}\n'
    path = write(tmp_path / "aic-x-ops-info.json", content)
    assert opsinfo("move", path, "A", "--to", "black").code == 0
    assert path.read_text("utf-8").endswith('}\n"flag":"x"}}\n')


def test_options_of_mixlists_are_wrong_for_libraries(opsinfo: Run, opp: Path) -> None:
    before = snapshot(opp)
    assert opsinfo("move", opp / NN, "SwiGlu", "--to", "black", "--create").code == 2
    assert opsinfo("move", opp / NN, "SwiGlu", "--to", "black", "--against", opp / NN).code == 2
    assert snapshot(opp) == before


def test_a_library_that_is_missing_is_not_created(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("move", tmp_path / "aic-x-ops-info.json", "A", "--to", "black")
    assert ran.code == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [[], ["--to", "red"], ["--to"], ["--to", "black", "--wait", "-1"]])
def test_wrong_arguments_are_wrong_usage(opsinfo: Run, opp: Path, words: list[str]) -> None:
    assert opsinfo("move", opp / NN, "SwiGlu", *words).code == 2


def test_a_link_is_kept_and_its_file_changes(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    link = tmp_path / "aic-link-ops-info.json"
    link.symlink_to(opp / MATH)
    ran = opsinfo("move", link, "STFT", "--to", "black", "--format", "json")
    assert ran.code == 0
    assert ran.json["files"][0]["path"] == str(link), "paths as given"
    assert link.is_symlink()
    assert flag_of(opp / MATH, "STFT") == "false"


def test_hard_links_are_refused_with_a_hint(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    import os

    os.link(opp / MATH, tmp_path / "other-name.json")
    ran = opsinfo("move", opp / MATH, "STFT", "--to", "black")
    assert ran.code == 3
    assert "hint" in ran.err
    assert flag_of(opp / MATH, "STFT") == "true"


def test_modes_of_an_installed_file_and_folder_are_kept(opsinfo: Run, opp: Path) -> None:
    (opp / NN).chmod(0o555)
    (opp / AI_910B).chmod(0o550)
    try:
        assert opsinfo("move", opp / NN, "SwiGlu", "--to", "black").code == 0
        assert (opp / NN).stat().st_mode & 0o7777 == 0o555
        assert (opp / AI_910B).stat().st_mode & 0o7777 == 0o550
    finally:
        (opp / AI_910B).chmod(0o755)
    assert [path.name for path in (opp / AI_910B).iterdir() if ".opsinfo" in path.name] == []


def test_a_vault_inside_a_config_directory_is_refused(opsinfo: Run, opp: Path) -> None:
    before = snapshot(opp)
    ran = opsinfo("move", opp / NN, "SwiGlu", "--to", "black", "--backup-dir", opp / AI_910B / "vault")
    assert ran.code in (2, 3)
    assert snapshot(opp) == before


def test_the_vault_is_private(opsinfo: Run, opp: Path, vault: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "--to", "black")
    assert vault.stat().st_mode & 0o777 == 0o700
