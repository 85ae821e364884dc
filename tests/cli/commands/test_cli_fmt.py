"""`opsinfo fmt`: syntax fixed, the rest of the text kept, and remaining refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import CASES, NN, Run, finding_names, snapshot, write

COMMENTED = '{\n  // why\n  "black-list": {"to-add": ["Add",]} # end\n}\n'
FIXED = '{\n  "black-list": {"to-add": ["Add"]}\n}\n'


@pytest.fixture
def commented(tmp_path: Path) -> Path:
    return write(tmp_path / "mixlist.json", COMMENTED)


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


def test_fmt_fixes_faults_and_keeps_everything_else(opsinfo: Run, commented: Path) -> None:
    ran = opsinfo("fmt", commented)
    assert ran.code == 0
    assert commented.read_text("utf-8") == FIXED
    assert str(commented) in ran.err
    assert "opsinfo restore" in ran.err


def test_fmt_twice_is_fmt_once(opsinfo: Run, commented: Path, tmp_path: Path) -> None:
    opsinfo("fmt", commented)
    before = snapshot(tmp_path)
    again = opsinfo("fmt", commented, "--format", "json")
    assert (again.code, again.json["change"], again.json["files"]) == (0, None, [])
    assert snapshot(tmp_path) == before


def test_fmt_can_be_undone(opsinfo: Run, commented: Path) -> None:
    opsinfo("fmt", commented)
    assert opsinfo("restore", commented).code == 0
    assert commented.read_text("utf-8") == COMMENTED


@pytest.mark.parametrize("words", [["--check"], ["--diff"], ["--dry-run"], ["--check", "--diff"]])
def test_commands_that_only_read_write_nothing(
    opsinfo: Run, commented: Path, tmp_path: Path, vault: Path, words: list[str]
) -> None:
    before = snapshot(tmp_path)
    ran = opsinfo("fmt", commented, *words)
    assert ran.code == (1 if "--check" in words else 0)
    assert ran.out.startswith("--- ") is (words != ["--check"])
    assert snapshot(tmp_path) == before
    assert not vault.exists()


def test_check_of_a_correct_file_is_exit_0(opsinfo: Run, fixtures: Path) -> None:
    assert opsinfo("fmt", "--check", fixtures / "mixlists/good/several-operators.json").code == 0
    assert opsinfo("fmt", "--diff", fixtures / "mixlists/good/several-operators.json").out == ""


def test_output_to_another_file_does_not_change_the_source(opsinfo: Run, commented: Path, tmp_path: Path) -> None:
    out = tmp_path / "built.json"
    ran = opsinfo("fmt", commented, "-o", out)
    assert ran.code == 0
    assert out.read_text("utf-8") == FIXED
    assert commented.read_text("utf-8") == COMMENTED
    assert "None" not in ran.err


def test_output_over_an_older_build_is_a_change_that_can_be_undone(
    opsinfo: Run, commented: Path, tmp_path: Path
) -> None:
    out = write(tmp_path / "built.json", '{"white-list": {"to-add": ["Mul"]}}\n')
    assert opsinfo("fmt", commented, "-o", out).code == 0
    assert out.read_text("utf-8") == FIXED
    assert opsinfo("restore", out).code == 0
    assert out.read_text("utf-8") == '{"white-list": {"to-add": ["Mul"]}}\n'


def test_output_that_is_up_to_date_is_not_written(opsinfo: Run, commented: Path, tmp_path: Path) -> None:
    out = write(tmp_path / "built.json", FIXED)
    before = snapshot(tmp_path)
    assert opsinfo("fmt", commented, "-o", out, "--check").code == 0
    assert opsinfo("fmt", commented, "-o", out).code == 0
    assert snapshot(tmp_path) == before


def test_check_reports_whether_a_build_is_stale(opsinfo: Run, commented: Path, tmp_path: Path) -> None:
    out = tmp_path / "built.json"
    assert opsinfo("fmt", commented, "-o", out, "--check").code == 1
    write(out, "{}\n")
    assert opsinfo("fmt", commented, "-o", out, "--check").code == 1
    assert out.read_text("utf-8") == "{}\n"


@pytest.mark.parametrize(
    "text",
    ['{"grey-list": {}, // no\n}', '{"gray-list": {"to-remove": ["Add",]}}'],
    ids=["unknown list", "contradiction"],
)
def test_output_that_the_engine_would_still_refuse_is_not_written(opsinfo: Run, tmp_path: Path, text: str) -> None:
    path, out = write(tmp_path / "m.json", text), write(tmp_path / "built.json", FIXED)
    before = snapshot(tmp_path)
    ran = opsinfo("fmt", path, "-o", out)
    assert (ran.code, ran.out) == (1, "")
    assert f"{path}:1:" in ran.err
    assert opsinfo("fmt", path, "-o", tmp_path / "new.json", "--format", "json").json["files"] == []
    assert snapshot(tmp_path) == before


def test_a_library_is_not_a_source_for_output(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    assert opsinfo("fmt", opp / NN, "-o", tmp_path / "built.json").code == 2
    assert not (tmp_path / "built.json").exists()


def test_output_allows_one_mixlist(opsinfo: Run, commented: Path, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    assert opsinfo("fmt", commented, commented, "-o", tmp_path / "x.json").code == 2
    assert snapshot(tmp_path) == before


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


def test_standard_input_must_be_the_only_argument(opsinfo: Run, commented: Path) -> None:
    assert opsinfo("fmt", "-", commented, input="{}").code == 2
    assert opsinfo("fmt", commented, "-", input="{}").code == 2
    assert commented.read_text("utf-8") == COMMENTED


def test_check_of_standard_input(opsinfo: Run) -> None:
    assert opsinfo("fmt", "-", "--check", input=COMMENTED).code == 1
    assert opsinfo("fmt", "-", "--check", input=FIXED).code == 0


def test_several_files_are_one_change(opsinfo: Run, tmp_path: Path) -> None:
    paths = [write(tmp_path / f"mixlist{number}.json", COMMENTED) for number in range(3)]
    right = write(tmp_path / "right.json", FIXED)
    document = opsinfo("fmt", *paths, right, "--format", "json").json
    assert [file["path"] for file in document["files"]] == [str(path) for path in paths]
    assert all(file["backup"].startswith(document["change"]) for file in document["files"])
    assert opsinfo("restore", paths[1]).code == 0
    assert all(path.read_text("utf-8") == COMMENTED for path in paths)


@pytest.mark.parametrize("name", ["truncated", "invalid-utf-8", "empty-file", "nan"])
def test_an_unfixable_file_is_refused_and_the_others_are_written(
    opsinfo: Run, fixtures: Path, commented: Path, tmp_path: Path, name: str
) -> None:
    bad = write(tmp_path / "a-mixlist.json", (fixtures / f"mixlists/bad/{name}.json").read_bytes())
    before = snapshot(tmp_path)
    ran = opsinfo("fmt", bad, "-o", tmp_path / "out.json")
    assert (ran.code, snapshot(tmp_path)) == (3, before)
    assert "a-mixlist.json" in ran.err
    ran = opsinfo("fmt", bad, commented)
    assert ran.code == 3
    assert "a-mixlist.json" in ran.err
    assert f"wrote {commented}" in ran.err
    assert snapshot(tmp_path)[bad.name] == before[bad.name]
    failed = opsinfo("fmt", bad, "--format", "json").json
    assert failed["error"]["path"] == str(bad)


def test_a_fixed_text_that_is_still_refused_is_exit_1_with_the_reasons(
    opsinfo: Run, fixtures: Path, tmp_path: Path
) -> None:
    data = (fixtures / "mixlists/bad/comment-and-unknown-list.json").read_bytes()
    path = write(tmp_path / "mixlist.json", data)
    ran = opsinfo("fmt", path)
    assert ran.code == 1
    assert "error[M001]: `grey-list`" in ran.err
    assert path.read_bytes() != data
    assert finding_names(opsinfo("validate", path, "--format", "json")) == ["contradiction", "unknown-list"]
    assert opsinfo("fmt", path).code == 1, "and it stays refused"


def test_only_the_engines_refusals_are_named(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "mixlist.json", '{"black-list": {"to-add": ["Add", "Add",]}}')
    ran = opsinfo("fmt", path)
    assert ran.code == 0
    assert "duplicate-operator" not in ran.err


def test_duplicate_keys_are_not_fixed(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    data = (fixtures / "mixlists/good/duplicate-key-list.json").read_bytes()
    path = write(tmp_path / "mixlist.json", data)
    assert opsinfo("fmt", path).code == 0
    assert path.read_bytes() == data


@pytest.mark.parametrize("words", [[], ["--check"], ["--diff"]])
def test_a_library_is_refused_by_fmt(opsinfo: Run, opp: Path, words: list[str]) -> None:
    before = snapshot(opp)
    assert opsinfo("fmt", opp / NN, *words).code == 2
    assert snapshot(opp) == before


def test_a_folder_is_refused_by_fmt(opsinfo: Run, opp: Path) -> None:
    assert opsinfo("fmt", opp).code in (2, 3)


def test_fmt_requires_a_file(opsinfo: Run) -> None:
    assert opsinfo("fmt").code == 2


def test_comment_marks_inside_strings_are_text(opsinfo: Run, tmp_path: Path) -> None:
    text = '{"black-list": {"to-add": ["a//b", "#c", "/*d*/"]}}\n'
    path = write(tmp_path / "mixlist.json", text)
    assert opsinfo("fmt", path).code == 0
    assert path.read_text("utf-8") == text
