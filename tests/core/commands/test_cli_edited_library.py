"""Edits that stand in a vendor's library are said by every command that rests on it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_support import ROOT

Run = Callable[..., Any]


@pytest.fixture
def edited(opsinfo: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An install in which `Log` was moved; the id of the change."""
    shutil.copytree(ROOT / "fixtures/opp", tmp_path / "opp")
    shutil.copy(ROOT / "fixtures/model.onnx", tmp_path)
    (tmp_path / "m.json").write_text('{"black-list": {"to-add": ["Add"]}}\n')
    monkeypatch.setenv("OPSINFO_BACKUP_DIR", str(tmp_path / "vault"))
    before = opsinfo("list", "opp@ascend910b", "--match", "Log", "--format", "json").json["operators"][0]["policy"]
    assert before == "black"
    return str(opsinfo("move", "opp@ascend910b", "Log", "--to", "white", "--format", "json").json["change"])


NOTE = "1 op type of opp@ascend910b was changed by opsinfo, unlike the vendor's: Log black -> white"
LINES = [
    ("show", "opp@ascend910b", "Log"),
    ("list", "opp@ascend910b", "-v"),
    ("list", "m.json", "--against", "opp@ascend910b"),
    ("move", "m.json", "Mul", "--to", "black", "--against", "opp@ascend910b", "--against", "opp@ascend910b"),
    ("diff", "opp@ascend910b", "opp@ascend910b"),
    ("graph", "model.onnx", "--against", "opp@ascend910b"),
    ("validate", "m.json", "--against", "opp@ascend910b", "--no-config"),
    ("simulate", "model.onnx", "--against", "opp@ascend910b"),
    (
        "bisect",
        "--against",
        "opp@ascend910b",
        "--model",
        "model.onnx",
        "--journal",
        "j",
        "--",
        "test",
        "-s",
        "{mixlist}",
    ),
]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_it_is_said_once_and_is_in_the_document(
    opsinfo: Run, tmp_path: Path, edited: str, line: tuple[str, ...]
) -> None:
    ran = opsinfo(line[0], "--format", "json", *line[1:], cwd=tmp_path)
    assert ran.err.count(NOTE) == 1
    (edit,) = ran.json["edited_here"]
    path = edit.pop("file")
    assert edit == {"name": "Log", "from": "black", "to": "white", "change": edited}
    assert (tmp_path / path).is_file()


def test_show_and_doctor_say_which_change_it_was(opsinfo: Run, tmp_path: Path, edited: str) -> None:
    shown = opsinfo("show", "opp@ascend910b", "Log", cwd=tmp_path).out
    assert f"changed here by {edited} on 2" in shown
    assert "the vendor ships black" in shown
    assert "changed here" not in opsinfo("show", "opp@ascend910b", "Mul", cwd=tmp_path).out
    (found,) = opsinfo("doctor", "opp", "--select", "edited-here", "--format", "json", cwd=tmp_path).json["findings"]
    assert (found["severity"], f"({edited}): `Log` black -> white" in found["message"]) == ("note", True)


def _copied(folder: Path) -> str:
    shutil.copytree(folder / "opp", folder / "other")
    return "other@ascend910b"


def _renamed(folder: Path) -> str:
    (folder / "opp").rename(folder / "other")
    return "other@ascend910b"


def _file_alone(folder: Path) -> str:
    (folder / "other").mkdir()
    library = next((folder / "opp").rglob("aic-ascend910b-ops-info-legacy.json"))
    shutil.copy(library, folder / "other")
    return f"other/{library.name}"


def _copied_from_a_copy(folder: Path) -> str:
    shutil.copytree(folder / "opp", folder / "between")
    (folder / "between").rename(folder / "other")
    return "other@ascend910b"


@pytest.mark.parametrize("copy", [_copied, _renamed, _file_alone, _copied_from_a_copy])
def test_a_copy_of_an_edited_library_is_known_by_its_content(
    opsinfo: Run, tmp_path: Path, edited: str, copy: Callable[[Path], str]
) -> None:
    target = copy(tmp_path)
    ran = opsinfo("show", target, "Log", cwd=tmp_path)
    assert f"changed here by {edited} on 2" in ran.out
    (found,) = opsinfo("doctor", "other", "--select", "edited-here", "--format", "json", cwd=tmp_path).json["findings"]
    assert f"({edited}): `Log` black -> white" in found["message"]
    later = opsinfo("move", target, "Mul", "--to", "black", "--force", "--format", "json", cwd=tmp_path).json["change"]
    document = opsinfo("show", target, "Mul", "--format", "json", cwd=tmp_path).json["edited_here"]
    assert [(each["name"], each["change"]) for each in document] == [("Log", edited), ("Mul", later)]
    assert opsinfo("restore", later, cwd=tmp_path).code == 0
    assert opsinfo("show", target, "Mul", cwd=tmp_path).err.count("Log black -> white") == 1


def test_a_copy_of_the_vendors_library_is_no_edit(opsinfo: Run, tmp_path: Path, edited: str) -> None:
    shutil.copytree(ROOT / "fixtures/opp", tmp_path / "other")
    assert "changed" not in opsinfo("show", "other@ascend910b", "Log", cwd=tmp_path).err
    assert opsinfo("doctor", "other", "--select", "edited-here", cwd=tmp_path).out == ""


def test_a_snapshot_carries_it(opsinfo: Run, tmp_path: Path, edited: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = opsinfo("snapshot", "opp@ascend910b", "-o", "s.json", cwd=tmp_path)
    assert (ran.code, ran.err.count(NOTE)) == (0, 1)
    assert json.loads((tmp_path / "s.json").read_text())["edited_here"] == [
        {"name": "Log", "from": "black", "to": "white"}
    ]
    monkeypatch.setenv("OPSINFO_BACKUP_DIR", str(tmp_path / "another"))
    ran = opsinfo("validate", "m.json", "--against", "s.json", "--no-config", cwd=tmp_path)
    assert "1 op type of s.json where it was taken was changed by opsinfo" in ran.err
    assert opsinfo("show", "s.json", "Log", "--format", "json", cwd=tmp_path).json["edited_here"][0]["change"] is None


def test_nothing_is_said_where_the_vendors_library_is(
    opsinfo: Run, tmp_path: Path, edited: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = next((tmp_path / "opp").rglob("aic-ascend910b-ops-info-math.json"), None)
    silent = [("show", "opp@ascend910b", "Log"), ("snapshot", "opp@ascend910b", "-o", "s.json")]
    assert opsinfo("restore", edited, cwd=tmp_path).code == 0
    for line in silent:
        ran = opsinfo(*line, cwd=tmp_path)
        assert (ran.code, "changed" in ran.err + ran.out) == (0, False), ran.err
    assert "edited_here" not in json.loads((tmp_path / "s.json").read_text())
    assert opsinfo("doctor", "opp", "--select", "edited-here", cwd=tmp_path).out == ""
    monkeypatch.setenv("OPSINFO_BACKUP_DIR", str(tmp_path / "another"))
    assert library is None or "changed" not in opsinfo("show", "opp@ascend910b", "Log", cwd=tmp_path).err


@pytest.mark.parametrize("rows", [[1], [{"name": "Log"}], [{"name": "Log", "from": "red", "to": "white"}], {}])
def test_a_snapshot_with_a_damaged_edit_is_refused(opsinfo: Run, tmp_path: Path, edited: str, rows: object) -> None:
    opsinfo("snapshot", "opp@ascend910b", "-o", "s.json", cwd=tmp_path)
    content = json.loads((tmp_path / "s.json").read_text())
    (tmp_path / "s.json").write_text(json.dumps({**content, "edited_here": rows}))
    assert opsinfo("list", "s.json", cwd=tmp_path).code == 3


def test_an_op_type_in_two_stores_is_counted_once(opsinfo: Run, opp: Path) -> None:
    assert opsinfo("move", f"{opp}@ascend910b", "AddN", "--to", "black").code == 0
    said = opsinfo("show", f"{opp}@ascend910b", "AddN").err
    assert "1 op type of " in said
    assert "unlike the vendor's: AddN white -> black, AddN gray -> black" in said
