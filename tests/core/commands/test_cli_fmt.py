"""`opsinfo fmt`: the fixtures, and standard input. Its other answers are in tests/answers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_support import CASES, Run, write

COMMENTED = '{\n  // why\n  "black-list": {"to-add": ["Add",]} # end\n}\n'
FIXED = '{\n  "black-list": {"to-add": ["Add"]}\n}\n'


def test_the_hint_undoes_what_changed(opsinfo: Run, tmp_path: Path) -> None:
    good, commented = tmp_path / "good.json", tmp_path / "commented.json"
    good.write_text(FIXED, "utf-8")
    commented.write_text(COMMENTED, "utf-8")
    ran = opsinfo("fmt", good, commented)
    assert opsinfo(*ran.err.rpartition("undo it with: opsinfo ")[2].split()).code == 0
    assert commented.read_text("utf-8") == COMMENTED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_the_force_that_a_refusal_names_is_an_option_here_and_not_named_elsewhere(
    opsinfo: Run, fixtures: Path, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    path = write(shared / "commented.json", COMMENTED)
    refused = opsinfo("fmt", path)
    assert (refused.code, "--force" in refused.err) == (3, True)
    assert opsinfo("fmt", path, "--force").code == 0
    assert path.read_text("utf-8") == FIXED
    report = opsinfo("list", fixtures / "opp-old", "-o", shared / "rows.txt")
    assert (report.code, "--force" in report.err) == (3, False)


def test_every_mixlist_of_the_fixtures_is_fixed_or_refused_as_in_its_case(
    opsinfo: Run, fixtures: Path, tmp_path: Path
) -> None:
    cases = [case for case in CASES if not case["engine_accepts"]][1::7]
    paths = {case["file"]: tmp_path / case["file"] / "mixlist.json" for case in cases}
    codes = {}
    for name, path in paths.items():
        write(path, (fixtures / "mixlists" / name).read_bytes())
        codes[name] = opsinfo("fmt", path).code
        if codes[name] == 3:
            assert path.read_bytes() == (fixtures / "mixlists" / name).read_bytes()
    document = opsinfo("validate", *paths.values(), "--as", "mixlist", "--format", "json").json
    accepted = {each["path"]: each["engine_accepts"] for each in document["files"]}
    fixed = {case["file"]: case["fmt_fixes"] for case in cases}
    assert {name: accepted[str(path)] for name, path in paths.items()} == fixed
    assert {name: code == 0 for name, code in codes.items()} == fixed


def test_standard_input_is_a_filter(opsinfo: Run) -> None:
    ran = opsinfo("fmt", "-", input=COMMENTED)
    assert (ran.code, ran.out) == (0, FIXED)


@pytest.mark.process
def test_a_filter_keeps_bytes(opsinfo: Run) -> None:
    text = '{\r\n  "black-list": {"to-add": ["算子"]} // 中\r\n}'
    ran = opsinfo("fmt", "-", input=text, env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "gbk"})
    assert (ran.code, ran.out) == (0, '{\r\n  "black-list": {"to-add": ["算子"]}\r\n}')


def test_a_filter_that_cannot_fix_its_input_prints_nothing(opsinfo: Run) -> None:
    for text in ("{", '{"black-list": {"to-add": [', b"\xff\xfe", ""):
        ran = opsinfo("fmt", "-", input=text)
        assert (ran.code, ran.out) == (3, "")


def test_a_filter_whose_result_is_still_refused_is_exit_1(opsinfo: Run) -> None:
    ran = opsinfo("fmt", "-", input='{"grey-list": {"to-add": ["Add",]}}')
    assert (ran.code, ran.out) == (1, '{"grey-list": {"to-add": ["Add"]}}')
    assert "error[M001]: `grey-list`" in ran.err


def test_check_asks_for_no_place_to_write(opsinfo: Run, tmp_path: Path) -> None:
    commented = write(tmp_path / "mixlist.json", COMMENTED)
    words = ("fmt", commented, "-o", tmp_path / "none" / "x.json")
    assert [opsinfo(*words, *more).code for more in ((), ("--check",), ("--dry-run",))] == [3, 1, 0]


def test_standard_input_must_be_the_only_argument(opsinfo: Run, tmp_path: Path) -> None:
    commented = write(tmp_path / "mixlist.json", COMMENTED)
    assert opsinfo("fmt", "-", commented, input="{}").code == 2
    assert opsinfo("fmt", commented, "-", input="{}").code == 2
    assert commented.read_text("utf-8") == COMMENTED


def test_check_of_standard_input(opsinfo: Run) -> None:
    assert opsinfo("fmt", "-", "--check", input=COMMENTED).code == 1
    assert opsinfo("fmt", "-", "--check", input=FIXED).code == 0
    shown = opsinfo("fmt", "-", "--check", "--dry-run", input=COMMENTED)
    assert (shown.code, shown.out[:4]) == (1, "--- ")
