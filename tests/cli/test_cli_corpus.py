"""Demonstrations on real files."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from cli_support import AI_910, Run, flag_of, rows
from contract import FINDINGS

VARYING = ("unknown-operator", "shadowed")
"""Findings with a severity that depends on what else is known."""


def test_the_operators_of_the_910b(opsinfo: Run, corpus: Path) -> None:
    env = {"ASCEND_OPP_PATH": str(corpus / "cann-910b/opp")}
    document = opsinfo("list", "ascend910b", "--format", "json", env=env).json
    assert document["total"] == len(document["operators"]) == 1196
    assert document["counts"] == {"white": 380, "black": 95, "gray": 721}
    by_name = {each["name"]: each for each in document["operators"]}
    fill = by_name["IndexFill"]
    assert fill["file"].endswith("-nn.json")
    assert len(fill["shadowed"]) == 1
    assert fill["shadowed"][0]["file"].endswith("-legacy.json")
    assert sum(len(each["shadowed"]) for each in document["operators"]) == 14
    assert len(rows(opsinfo("list", "ascend910b", env=env))) == 1196


def test_the_operators_of_the_910(opsinfo: Run, corpus: Path) -> None:
    document = opsinfo("list", corpus / "cann-910/opp", "--format", "json").json
    assert document["counts"] == {"white": 33, "black": 85, "gray": 495}


def test_the_910_and_the_910b_differ(opsinfo: Run, corpus: Path) -> None:
    targets = (corpus / "cann-910/opp", corpus / "cann-910b/opp")
    ran = opsinfo("diff", *targets, "--format", "json")
    assert ran.code == 1
    counts = ran.json["counts"]
    assert (counts["only_in_a"], counts["only_in_b"], counts["changed"]) == (38, 621, 17)
    text = rows(opsinfo("diff", *targets))
    assert [sum(row[0] == kind for row in text) for kind in ("only_in_a", "only_in_b", "changed")] == [38, 621, 17]


@pytest.mark.parametrize("turned", [False, True])
def test_a_mixlist_made_from_the_difference_closes_it(opsinfo: Run, corpus: Path, tmp_path: Path, turned: bool) -> None:
    a, b = corpus / "cann-910/opp", corpus / "cann-910b/opp"
    if turned:
        a, b = b, a
    made = opsinfo("diff", a, b, "--format", "mixlist")
    assert made.code == 0
    path = tmp_path / "port.json"
    path.write_text(made.out, "utf-8")
    assert opsinfo("diff", a, b, "--mixlist-a", path, "--format", "json").json["counts"]["changed"] == 0
    assert opsinfo("validate", path, "--against", a, "--format", "json").json["summary"]["errors"] == 0


def test_every_real_mixlist_is_judged_as_in_the_engine(opsinfo: Run, corpus: Path) -> None:
    paths = sorted((corpus / "mixlists").glob("*.json"))
    assert paths
    document = opsinfo(
        "validate", *paths, "--against", corpus / "cann-910b/opp", "--against", corpus / "cann-910/opp",
        "--format", "json",
    ).json  # fmt: skip
    accepted = {Path(file["path"]).name: file["engine_accepts"] for file in document["files"]}
    assert accepted == {path.name: engine_accepts(path.read_bytes()) for path in paths}
    for finding in document["findings"]:
        if finding["name"] not in VARYING:
            assert finding["severity"] == FINDINGS[finding["name"]].severity


def engine_accepts(data: bytes) -> bool:
    """An independent reading as in the engine: strict JSON, text after the end accepted, the eleven combinations."""
    try:
        content, _ = json.JSONDecoder().raw_decode(data.decode("utf-8").lstrip())
    except ValueError:
        return False
    colors = {"black-list": "b", "white-list": "w", "gray-list": "g"}
    marks: dict[str, set[str]] = {}
    if not isinstance(content, dict) or set(content) - set(colors):
        return False
    for name, actions in content.items():
        if not isinstance(actions, dict) or set(actions) - {"to-add", "to-remove"}:
            return False
        for action, ops in actions.items():
            if not isinstance(ops, list) or not all(isinstance(op, str) for op in ops):
                return False
            for op in ops:
                marks.setdefault(op, set()).add(("+" if action == "to-add" else "-") + colors[name])
    legal = ["-b", "-w", "+g", "+g -b", "+g -w", "+w", "+w -g", "+w -b", "+b", "+b -g", "+b -w"]
    return all(set(each) in [set(some.split()) for some in legal] for each in marks.values())


def test_a_look_alike_letter_is_found(opsinfo: Run, corpus: Path) -> None:
    ran = opsinfo(
        "validate", corpus / "mixlists/mixmatch_ID0804.json", "--against", corpus / "cann-910b/opp", "--format", "json"
    )
    assert ran.code == 1
    assert ran.json["files"][0]["engine_accepts"] is True
    wrong = [each for each in ran.json["findings"] if each["severity"] == "error"]
    assert [each["name"] for each in wrong] == ["unknown-operator"] * len(wrong)
    assert any("MatMu1V2" in each["message"] and "MatMulV2" in str(each["hint"]) for each in wrong)


def test_a_commented_mixlist_is_fixed_and_then_has_one_wrong_name(opsinfo: Run, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "SYMNET_ID1292.json"
    path.write_bytes((corpus / "mixlists/SYMNET_ID1292.json").read_bytes())
    against = ("--against", corpus / "cann-910b/opp", "--format", "json")
    first = opsinfo("validate", path, *against)
    assert first.json["files"][0]["engine_accepts"] is False
    assert "comment" in {each["name"] for each in first.json["findings"]}
    assert opsinfo("fmt", path).code == 0
    after = opsinfo("validate", path, *against)
    assert after.json["files"][0]["engine_accepts"] is True
    about_names = [each for each in after.json["findings"] if each["name"] == "unknown-operator"]
    assert len(about_names) == 1


def test_a_move_in_the_real_library_changes_one_run_of_bytes_and_restore_brings_it_back(
    opsinfo: Run, corpus: Path, tmp_path: Path
) -> None:
    (source,) = (corpus / "cann-910b").rglob("aic-ascend910b-ops-info-legacy.json")
    path = Path(shutil.copy(source, tmp_path / source.name))
    path.chmod(0o644)
    before = path.read_bytes()
    assert opsinfo("move", path, "Add", "--to", "black").code == 0
    after = path.read_bytes()
    start = next(i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    grown = len(after) - len(before)
    assert grown > 0
    assert before[start:] == after[start + grown :]
    assert b"precision_reduce" in after[start - 40 : start + grown + 40]
    assert flag_of(path, "Add") == "false"
    assert opsinfo("restore", path).code == 0
    assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(before).digest()


def test_the_real_store_has_no_errors(opsinfo: Run, corpus: Path) -> None:
    ran = opsinfo("validate", corpus / "cann-910b/opp", "--format", "json")
    assert ran.code == 0, [each for each in ran.json["findings"] if each["severity"] == "error"][:3]
    assert sum(each["name"] == "shadowed" for each in ran.json["findings"]) == 14


def test_the_real_chips_side_by_side(opsinfo: Run, corpus: Path) -> None:
    opp, other = corpus / "cann-910" / "opp" / AI_910, corpus / "cann-910b" / "opp"
    document = opsinfo("diff", opp, other, other, "--format", "json").json
    assert document["counts"] == {"operators": 1234, "differ": 17 + 38 + 621, "total": 1234}
    assert opsinfo("diff", opp, other, "--format", "json").json["counts"] == {
        "only_in_a": 38,
        "only_in_b": 621,
        "changed": 17,
        "same": 558,
    }
