"""`opsinfo move` on mixlists: required marks, new files, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import AI_910B, NN, Run, mixlist, rows, snapshot, write


def content(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("color", ["black", "white"])
def test_without_a_target_a_mark_is_added_and_unchecked_names_are_reported(
    opsinfo: Run, tmp_path: Path, color: str
) -> None:
    path = write(tmp_path / "m.json", {})
    ran = opsinfo("move", path, "Add", "--to", color)
    assert ran.code == 0
    assert content(path) == {f"{color}-list": {"to-add": ["Add"]}}
    assert "not checked" in ran.err
    assert "warning" in ran.err
    assert "not checked" in opsinfo("move", path, "Mul", "--to", color, "-q").err, "-q silences notes, not warnings"


@pytest.mark.parametrize(
    "before",
    [
        mixlist(black_add=["X"]),
        mixlist(white_remove=["X"]),
        mixlist(gray_add=["X"]),
        mixlist(gray_add=["X"], white_remove=["X"]),
        mixlist(white_add=["X"], gray_remove=["X"]),
        mixlist(white_add=["X"], black_remove=["X"]),
        mixlist(black_add=["X"], white_remove=["X"]),
    ],
    ids=[
        "black add",
        "white remove",
        "gray add",
        "gray add and white remove",
        "white add and gray remove",
        "white add and black remove",
        "black add and white remove",
    ],
)
def test_other_marks_of_the_operator_and_emptied_lists_are_removed(opsinfo: Run, tmp_path: Path, before: Any) -> None:
    path = write(tmp_path / "m.json", before)
    assert opsinfo("move", path, "X", "--to", "white").code == 0
    assert content(path) == {"white-list": {"to-add": ["X"]}}


def test_other_operators_keep_their_order(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["C", "X", "A"], white_remove=["Z", "B"]))
    assert opsinfo("move", path, "X", "--to", "white").code == 0
    after = content(path)
    assert after["black-list"] == {"to-add": ["C", "A"]}
    assert after["white-list"]["to-remove"] == ["Z", "B"]
    assert after["white-list"]["to-add"] == ["X"]


def test_lists_that_were_empty_before_are_kept(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", {"gray-list": {}, "white-list": {"to-add": []}})
    assert opsinfo("move", path, "X", "--to", "black").code == 0
    assert content(path) == {"gray-list": {}, "white-list": {"to-add": []}, "black-list": {"to-add": ["X"]}}


def test_gray_without_a_target_drops_marks(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["X", "Y"], white_remove=["X"]))
    ran = opsinfo("move", path, "X", "--to", "gray")
    assert ran.code == 0
    assert content(path) == {"black-list": {"to-add": ["Y"]}}


def test_gray_without_a_target_and_without_marks_is_wrong_usage(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Y"]))
    before = snapshot(tmp_path)
    ran = opsinfo("move", path, "X", "--to", "gray")
    assert ran.code == 2
    assert "--against" in ran.err
    assert opsinfo("move", path, "Y", "X", "--to", "gray").code == 2, "all or nothing"
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("op", "to", "marks"),
    [
        ("Relu", "black", mixlist(black_add=["Relu"])),
        ("Relu", "white", mixlist(white_add=["Relu"])),
        ("Relu", "gray", {}),
        ("Log", "gray", mixlist(black_remove=["Log"])),
        ("Log", "white", mixlist(white_add=["Log"])),
        ("Log", "black", {}),
        ("Conv2D", "gray", mixlist(white_remove=["Conv2D"])),
        ("Conv2D", "black", mixlist(black_add=["Conv2D"])),
        ("Conv2D", "white", {}),
        ("AddN", "white", {}),
        ("IndexFill", "gray", mixlist(white_remove=["IndexFill"])),
    ],
    ids=[
        "gray to black",
        "gray to white",
        "gray to gray",
        "black to gray",
        "black to white",
        "black to black",
        "white to gray",
        "white to black",
        "white to white",
        "AddN to white",
        "IndexFill to gray",
    ],
)
def test_against_a_target_only_needed_marks_are_written(
    opsinfo: Run, fixtures: Path, tmp_path: Path, op: str, to: str, marks: Any
) -> None:
    against = ("--against", fixtures / "opp", "--soc", "ascend910b")
    path = write(tmp_path / "m.json", {})
    ran = opsinfo("move", path, op, "--to", to, *against)
    assert ran.code == 0, ran.err
    assert content(path) == marks
    assert "not checked" not in ran.err
    listed = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--mixlist", path, "--match", op)
    assert rows(listed)[0][1] == to, "the effective policy is the requested one"


def test_against_a_target_needless_marks_are_removed(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Conv2D"], white_remove=["Conv2D"], gray_add=["Relu"]))
    ran = opsinfo("move", path, "Conv2D", "--to", "white", "--against", fixtures / "opp" / AI_910B)
    assert ran.code == 0
    assert content(path) == mixlist(gray_add=["Relu"])


@pytest.mark.parametrize("word", ["MatMu1V2", "relu"])
def test_against_a_target_an_unknown_name_is_an_error(opsinfo: Run, fixtures: Path, tmp_path: Path, word: str) -> None:
    path = write(tmp_path / "m.json", {})
    before = snapshot(tmp_path)
    ran = opsinfo("move", path, word, "Log", "--to", "white", "--against", fixtures / "opp" / AI_910B)
    assert ran.code == 2
    assert "did you mean" in ran.err
    assert snapshot(tmp_path) == before


def test_gray_list_is_never_written(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", {})
    for op in ("Log", "Conv2D", "Relu"):
        opsinfo("move", path, op, "--to", "gray", "--against", fixtures / "opp" / AI_910B)
    assert "gray-list" not in content(path)


@pytest.mark.parametrize(
    "name",
    [
        "comment-hash",
        "trailing-comma-array",
        "missing-comma-object",
        "contradiction-add-black-add-white",
        "empty-file",
        "invalid-utf-8",
    ],
)
def test_a_file_the_engine_would_refuse_is_not_edited(opsinfo: Run, fixtures: Path, tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "mixlist.json", (fixtures / f"mixlists/bad/{name}.json").read_bytes())
    before = snapshot(tmp_path)
    ran = opsinfo("move", path, "Relu", "--to", "black")
    assert ran.code == 3
    assert str(path) in ran.err
    if name in ("comment-hash", "trailing-comma-array", "missing-comma-object"):
        assert "fmt" in ran.err
    assert snapshot(tmp_path) == before


def test_create_makes_the_file(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    ran = opsinfo("move", path, "Relu", "Log", "--to", "white", "--against", fixtures / "opp" / AI_910B, "--create")
    assert ran.code == 0
    assert content(path) == mixlist(white_add=["Relu", "Log"])
    assert path.read_bytes().endswith(b"\n")
    assert "None" not in ran.err
    assert opsinfo("validate", path, "--against", fixtures / "opp" / AI_910B, "--format", "json").json["findings"] == []


def test_create_edits_an_existing_file(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Y"]))
    assert opsinfo("move", path, "X", "--to", "black", "--create").code == 0
    assert content(path) == mixlist(black_add=["Y", "X"])


def test_without_create_a_missing_file_is_refused(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("move", tmp_path / "new.json", "Relu", "--to", "white")
    assert ran.code == 3
    assert "--create" in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["--dry-run"], ["-n"]])
def test_a_dry_run_of_create_creates_nothing(opsinfo: Run, tmp_path: Path, words: list[str]) -> None:
    ran = opsinfo("move", tmp_path / "new.json", "Relu", "--to", "white", "--create", *words)
    assert ran.code == 0
    assert list(tmp_path.iterdir()) == []


def test_create_with_an_unknown_operator_creates_nothing(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    words = ("--to", "white", "--create", "--against", fixtures / "opp" / NN)
    assert opsinfo("move", tmp_path / "new.json", "Swiglu", *words).code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_created_file_can_be_undone(opsinfo: Run, tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    opsinfo("move", path, "Relu", "--to", "white", "--create")
    assert opsinfo("restore", path).code == 0
    assert not path.exists()


def test_create_in_a_missing_folder_is_refused(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("move", tmp_path / "no/new.json", "Relu", "--to", "white", "--create")
    assert ran.code == 3
    assert list(tmp_path.iterdir()) == []


def test_a_second_run_changes_nothing(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Y"], white_add=["X"]))
    opsinfo("move", path, "X", "--to", "black")
    before = snapshot(tmp_path)
    again = opsinfo("move", path, "X", "--to", "black", "--format", "json")
    assert (again.json["change"], again.json["changed"], again.json["unchanged"]) == (None, [], ["X"])
    assert snapshot(tmp_path) == before


def test_json_of_a_mixlist_move(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", {})
    target = fixtures / "opp" / AI_910B
    document = opsinfo("move", path, "Relu", "Log", "--to", "black", "--against", target, "--format", "json").json
    assert document["changed"] == [{"name": "Relu", "from": "gray", "to": "black", "file": str(path)}]
    assert document["unchanged"] == ["Log"]


def test_an_operator_marked_twice_in_one_array_loses_both(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["X", "Y", "X"]))
    assert opsinfo("move", path, "X", "--to", "white").code == 0
    assert content(path) == mixlist(black_add=["Y"], white_add=["X"])


@pytest.mark.parametrize("name", ["duplicate-key-action", "duplicate-key-list"])
def test_an_entry_hidden_by_an_equal_key_is_not_edited(opsinfo: Run, fixtures: Path, tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "m.json", (fixtures / f"mixlists/good/{name}.json").read_bytes())
    before = snapshot(tmp_path)
    ran = opsinfo("move", path, "Mul", "--to", "white")
    assert ran.code == 3
    assert "line" in ran.err
    assert snapshot(tmp_path) == before


def test_a_mixlist_target_cannot_be_against_a_mixlist(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", {})
    other = write(tmp_path / "n.json", mixlist(black_add=["X"]))
    assert opsinfo("move", path, "X", "--to", "black", "--against", other).code == 2


@pytest.mark.parametrize(
    "name", ["bom", "crlf", "tabs", "one-line", "no-final-newline", "escaped-letters", "uneven-indent", "trailing-text"]
)
def test_the_files_style_is_kept(opsinfo: Run, fixtures: Path, tmp_path: Path, name: str) -> None:
    before = (fixtures / f"mixlists/good/{name}.json").read_bytes()
    path = write(tmp_path / "m.json", before)
    assert opsinfo("move", path, "NewOne", "--to", "white").code == 0
    after = path.read_bytes()
    assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
    assert (b"\r\n" in after) == (b"\r\n" in before)
    assert after.replace(b"\r\n", b"").count(b"\n") == 0 or b"\r\n" not in before
    assert after.endswith(b"\n") == before.endswith(b"\n")
    assert (b"\n" in after) == (b"\n" in before)
    assert opsinfo("restore", path).code == 0
    assert path.read_bytes() == before


def test_op_types_already_on_the_list_are_named_and_pinned_on_request(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", {})
    words = ("move", path, "MatMulV2", "Add", "--to", "white", "--against", opp, "--soc", "ascend910b")
    ran = opsinfo(*words)
    assert ran.code == 0
    assert "already white: MatMulV2\n" in ran.err
    assert json.loads(path.read_text()) == mixlist(white_add=["Add"])
    ran = opsinfo(*words, "--pin")
    assert ran.code == 0
    assert "already white: Add\n" in ran.err
    assert sorted(json.loads(path.read_text())["white-list"]["to-add"]) == ["Add", "MatMulV2"]
    assert opsinfo("validate", path).code == 0


def test_pinning_needs_a_target_and_a_mixlist(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", {})
    assert opsinfo("move", path, "Add", "--to", "white", "--pin").code == 2
    assert opsinfo("move", opp, "Add", "--to", "white", "--pin", "--soc", "ascend910b").code == 2
