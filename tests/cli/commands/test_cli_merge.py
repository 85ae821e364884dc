"""`merge`, with and without `--minimize`: one mixlist from several, without entries that have no effect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import AI_910, AI_910B, NN, Run, mixlist, rows, snapshot, write

from opsinfo_cli.change.fmt import BuildPlan
from opsinfo_cli.errors import Stale
from opsinfo_cli.text.source import Source

BASE = '{\n  // team\n  "black-list": {"to-add": ["SoftmaxV2", "Log",]}\n}\n'
OVER = mixlist(white_add=["SoftmaxV2"], white_remove=["Conv2D"])


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write(tmp_path / "base.json", BASE)


@pytest.fixture
def over(tmp_path: Path) -> Path:
    return write(tmp_path / "over.json", OVER)


def test_the_later_mixlist_wins_op_type_by_op_type(opsinfo: Run, base: Path, over: Path, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    ran = opsinfo("merge", base, over)
    assert ran.code == 0
    assert json.loads(ran.out) == mixlist(black_add=["Log"], white_add=["SoftmaxV2"], white_remove=["Conv2D"])
    assert f"`SoftmaxV2`: black-list.to-add in {base}, white-list.to-add in {over}; the last one wins" in ran.err
    assert json.loads(opsinfo("merge", over, base).out)["black-list"]["to-add"] == ["Log", "SoftmaxV2"]
    assert snapshot(tmp_path) == before
    assert opsinfo("merge", base, over, "-q").err == ""


def test_the_result_is_laid_out_as_the_base_and_accepted(opsinfo: Run, tmp_path: Path) -> None:
    base = write(tmp_path / "base.json", '{\r\n\t"black-list" : {\r\n\t\t"to-add" : ["Mul"]\r\n\t}\r\n}')
    over = write(tmp_path / "over.json", mixlist(black_add=["Add"]))
    ran = opsinfo("merge", base, over)
    assert ran.out == '{\r\n\t"black-list" : {\r\n\t\t"to-add" : ["Add", "Mul"]\r\n\t}\r\n}'
    assert opsinfo("validate", "-", "--as", "mixlist", input=ran.out).code == 0


def test_output_can_be_undone_and_is_written_once(opsinfo: Run, base: Path, over: Path, tmp_path: Path) -> None:
    out = tmp_path / "ops_info.json"
    assert opsinfo("merge", base, over, "-o", out, "--check").code == 1
    assert not out.exists()
    made = opsinfo("merge", base, over, "-o", out, "--format", "json").json
    assert (made["files"][0]["sha256_before"], made["output"]) == (None, str(out))
    before = snapshot(tmp_path)
    again = opsinfo("merge", base, over, "-o", out, "--format", "json").json
    assert (again["change"], again["files"]) == (None, [])
    assert opsinfo("merge", base, over, "-o", out, "--check").code == 0
    assert snapshot(tmp_path) == before
    first = out.read_bytes()
    write(over, mixlist(black_add=["Pow"]))
    assert opsinfo("merge", base, over, "-o", out).code == 0
    assert out.read_bytes() != first
    assert opsinfo("restore", out).code == 0
    assert out.read_bytes() == first


def test_strict_refuses_a_conflict(opsinfo: Run, base: Path, over: Path, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    for words in ([], ["-o", tmp_path / "out.json"]):
        ran = opsinfo("merge", base, over, "--strict", *words)
        assert (ran.code, ran.out) == (1, "")
        assert "SoftmaxV2" in ran.err
    document = opsinfo("merge", base, over, "--strict", "--format", "json").json
    assert document["conflicts"] == [
        {
            "name": "SoftmaxV2",
            "given": [
                {"path": str(base), "marks": ["black-list.to-add"]},
                {"path": str(over), "marks": ["white-list.to-add"]},
            ],
        }
    ]
    assert document["dry_run"]
    assert snapshot(tmp_path) == before
    same = write(tmp_path / "same.json", mixlist(black_add=["Log"], white_remove=["Log"]))
    assert opsinfo("merge", base, same, "--strict").code == 0, "another spelling is not a conflict"


def test_minimize_drops_entries_without_effect_and_against_alone_checks_names(
    opsinfo: Run, base: Path, over: Path, fixtures: Path, tmp_path: Path
) -> None:
    against = ("--against", f"{fixtures / 'opp'}@ascend910b")
    ran = opsinfo("merge", base, over, "--minimize", *against)
    assert json.loads(ran.out) == mixlist(white_add=["SoftmaxV2"], white_remove=["Conv2D"])
    assert "dropped `Log` (black-list.to-add)" in ran.err
    whole = write(tmp_path / "whole.json", opsinfo("merge", base, over, *against).out)
    assert "Log" in whole.read_text()
    assert opsinfo("merge", "--minimize", whole, *against).out == ran.out
    write(over, mixlist(black_add=["softmaxV2"]))
    ran = opsinfo("merge", base, over, *against)
    assert "`softmaxV2` is not an op type" in ran.err
    assert "did you mean `SoftmaxV2`?" in ran.err
    assert "softmaxV2" in ran.out
    assert opsinfo("merge", base, over, *against, "--strict").code == 1
    assert opsinfo("merge", base, "--model", "x.onnx", *against).code == 2


@pytest.mark.parametrize("command", [("merge", "bad.json", "good.json"), ("merge", "--minimize", "bad.json")])
@pytest.mark.parametrize(
    "text",
    ['{"grey-list": {}, // no\n}', '{"black-list": {"to-add": ["A"]}, "gray', "[]"],
    ids=["unknown list", "cut off", "not an object"],
)
def test_a_source_that_stays_refused_after_fixing_is_not_used(
    opsinfo: Run, tmp_path: Path, command: tuple[str, ...], text: str
) -> None:
    write(tmp_path / "bad.json", text)
    write(tmp_path / "good.json", OVER)
    before = snapshot(tmp_path)
    ran = opsinfo(*command, "-o", "out.json")
    assert (ran.code, ran.out) == (3, "")
    assert "bad.json:1:" in ran.err
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("words", [(), ("base.json", "over.json", "--check"), ("base.json", "nowhere")])
def test_wrong_usage_of_merge(opsinfo: Run, base: Path, over: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    before = snapshot(tmp_path)
    assert opsinfo("merge", *words).code in (2, 3)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("command", ["merge", "fmt"])
def test_a_library_is_never_overwritten_by_a_mixlist(
    opsinfo: Run, base: Path, over: Path, opp: Path, command: str
) -> None:
    before = snapshot(opp)
    ran = opsinfo(command, base, *([over] if command == "merge" else []), "-o", opp / NN)
    assert ran.code == 2
    assert "library" in ran.err
    assert snapshot(opp) == before


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


def test_an_entry_that_one_of_several_targets_needs_is_kept(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(white_add=["MaxPool"]))
    white, gray = fixtures / "opp" / AI_910B, fixtures / "opp" / AI_910
    both = opsinfo("merge", "--minimize", path, "--against", white, "--against", gray, "--format", "json").json
    assert both["mixlist"] == mixlist(white_add=["MaxPool"])
    alone = opsinfo("merge", "--minimize", path, "--against", white, "--format", "json").json
    assert alone["dropped"] == [{"name": "MaxPool", "marks": ["white-list.to-add"], "reason": "no-effect"}]


def test_a_minimal_mixlist_is_kept_byte_for_byte(opsinfo: Run, tmp_path: Path) -> None:
    text = '{ "white-list":{"to-remove" : [ "B","A"]},\n"black-list": {"to-add":["C"]}}'
    path = write(tmp_path / "m.json", text)
    before = snapshot(tmp_path)
    assert opsinfo("merge", "--minimize", path).out == text
    assert opsinfo("merge", "--minimize", path, "-o", path).code == 0
    assert snapshot(tmp_path) == before


def test_minimize_in_place_is_backed_up(opsinfo: Run, base: Path, fixtures: Path) -> None:
    against = ("--against", fixtures / "opp" / AI_910B)
    assert opsinfo("merge", "--minimize", base, *against, "--dry-run").out.startswith(f"--- {base}\n")
    assert base.read_text() == BASE
    assert opsinfo("merge", "--minimize", base, *against, "-o", base).code == 0
    assert json.loads(base.read_text()) == mixlist(black_add=["SoftmaxV2"])
    assert opsinfo("restore", base).code == 0
    assert base.read_text() == BASE


def test_a_misspelt_name_is_dropped_with_the_near_one_and_strict_refuses(
    opsinfo: Run, fixtures: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["SoftmaxV2", "softmaxV2"]))
    against = ("--against", fixtures / "opp" / AI_910B)
    ran = opsinfo("merge", "--minimize", path, *against)
    assert (ran.code, json.loads(ran.out)) == (0, mixlist(black_add=["SoftmaxV2"]))
    assert "warning: `softmaxV2`" in ran.err
    assert "did you mean `SoftmaxV2`?" in ran.err
    ran = opsinfo("merge", "--minimize", path, *against, "--strict", "-o", tmp_path / "out.json")
    assert (ran.code, ran.out, (tmp_path / "out.json").exists()) == (1, "", False)


def test_a_source_that_changed_since_is_not_overwritten() -> None:
    then, now = Source(b"{}", "m.json"), Source(b'{"black-list": {}}', "m.json")
    with pytest.raises(Stale):
        BuildPlan("{}\n", then.sha256).patch(now).apply(now)


def test_one_mixlist_alone_is_merged_to_itself(opsinfo: Run, base: Path) -> None:
    ran = opsinfo("merge", base)
    assert ran.code == 0
    assert "to-add" in ran.out
