"""`opsinfo diff` of standard input, a pipe of the shell, or a file of a git revision."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_support import Run, rows

OLD = '{"black-list": {"to-add": ["Log"]}, "white-list": {"to-remove": ["Log"]}}'
NEW = '{"gray-list": {"to-add": ["Mul"]}, "white-list": {"to-add": ["Add"]}}'
FOUND = [
    ["only_in_a", "Log", "black-list.to-add,white-list.to-remove", "-"],
    ["only_in_b", "Add", "-", "white-list.to-add"],
    ["only_in_b", "Mul", "-", "gray-list.to-add"],
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True)

    git("init", "-q")
    (tmp_path / "ops_info.json").write_text(OLD)
    git("add", ".")
    git("commit", "-qm", "old")
    (tmp_path / "ops_info.json").write_text(NEW)
    return tmp_path


def test_standard_input_and_a_revision_are_read(opsinfo: Run, checkout: Path) -> None:
    assert rows(opsinfo("diff", "-", "ops_info.json", cwd=checkout, input=OLD)) == FOUND
    assert rows(opsinfo("diff", "HEAD:ops_info.json", "ops_info.json", cwd=checkout)) == FOUND
    (checkout / "inner").mkdir()
    ran = opsinfo("diff", "HEAD:./../ops_info.json", "../ops_info.json", cwd=checkout / "inner")
    assert rows(ran) == FOUND


def test_a_pipe_of_the_shell_is_read_and_a_fifo_not_waited_for(opsinfo: Run, checkout: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, OLD.encode())
    os.close(writer)
    try:
        assert rows(opsinfo("diff", f"/dev/fd/{reader}", "ops_info.json", cwd=checkout)) == FOUND
    finally:
        os.close(reader)
    os.mkfifo(checkout / "pipe")
    ran = opsinfo("diff", "pipe", "ops_info.json", cwd=checkout)
    assert (ran.code, "not a regular file" in ran.err) == (3, True)


def test_a_library_comes_from_standard_input_too(opsinfo: Run, fixtures: Path) -> None:
    path = next((fixtures / "opp").rglob("aic-ascend910b-ops-info.json"))
    assert rows(opsinfo("diff", "-", path, input=path.read_text("utf-8"))) == []


def test_what_cannot_be_read_is_said(opsinfo: Run, checkout: Path) -> None:
    ran = opsinfo("diff", "-", "-", cwd=checkout, input=OLD)
    assert (ran.code, "standard input can be read only once" in ran.err) == (2, True)
    for name in ("HEAD:absent.json", "nowhere:ops_info.json", "/dev/fd/1000"):
        ran = opsinfo("diff", name, "ops_info.json", cwd=checkout)
        assert (ran.code, "o such file or directory" in ran.err) == (3, True)


def test_the_marks_of_one_side_are_in_every_format(opsinfo: Run, checkout: Path) -> None:
    def ran(form: str) -> str:
        return opsinfo("diff", "HEAD:ops_info.json", "ops_info.json", "--format", form, cwd=checkout).out

    assert json.loads(ran("json"))["marked"] == [
        {"name": "Add", "marks": ["white-list.to-add"]},
        {"name": "Log", "marks": ["black-list.to-add", "white-list.to-remove"]},
        {"name": "Mul", "marks": ["gray-list.to-add"]},
    ]
    assert ran("csv").splitlines()[1:] == [
        'Log,only_in_a,"black-list.to-add,white-list.to-remove",,,',
        "Add,only_in_b,,white-list.to-add,,",
        "Mul,only_in_b,,gray-list.to-add,,",
    ]
    assert "| Mul | only in B |  | gray-list.to-add |\n" in ran("markdown")
    assert "gray-list.to-add" in ran("html")


def test_any_name_of_a_target_is_a_column_of_a_matrix(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    library = next((fixtures / "opp").rglob("aic-ascend910b-ops-info.json"))
    names = ["name", "=1+1", "a|b"]
    for name in names:
        (tmp_path / name).mkdir()
        shutil.copy(library, tmp_path / name)
    rows = list(csv.reader(opsinfo("diff", *names, "--format", "csv", cwd=tmp_path).out.splitlines()))
    assert rows[0] == ["name", "name", "'=1+1", "a|b"]
    assert "AddN" in [row[0] for row in rows[1:]]
    markdown = opsinfo("diff", *names, "--format", "markdown", cwd=tmp_path).out
    assert markdown.startswith("| operator | name | =1+1 | a\\|b |\n")


MARKS = {
    "white in a later store": ("gray", "white", "gray", {"white-list": {"to-remove": ["AddN"]}}),
    "black in a later store": ("white", "black", "white", {"white-list": {"to-add": ["AddN"]}}),
    "the same in both": ("white", "white", "black", {"black-list": {"to-add": ["AddN"]}}),
    "as wanted in both": ("gray", "gray", "gray", {}),
    "no marks do": ("white", "black", "gray", {}),
}


@pytest.mark.parametrize("case", MARKS)
def test_a_mixlist_acts_in_every_store(opsinfo: Run, opp: Path, tmp_path: Path, case: str) -> None:
    first, later, wanted, marks = MARKS[case]
    for store, policy in (("vendor:acme", first), ("built-in", later)):
        assert opsinfo("move", f"{opp}@ascend910b", "AddN", "--to", policy, "--store", store).code == 0
    source = tmp_path / "other"
    shutil.copytree(opp, source)
    assert opsinfo("move", f"{source}@ascend910b", "AddN", "--to", wanted).code == 0
    ran = opsinfo("diff", f"{opp}@ascend910b", f"{source}@ascend910b", "--format", "mixlist")
    assert json.loads(ran.out) == marks
    assert ("so no marks make it gray: AddN" in ran.err) == (case == "no marks do")
    assert json.loads(opsinfo("diff", f"{opp}@ascend910b", f"{opp}@ascend910b", "--format", "mixlist").out) == {}


def test_of_stores_with_the_same_policies_the_first_decides(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    other = shutil.copytree(opp, tmp_path / "other")
    stores = ("vendor:acme", "built-in")
    for top, policies in ((opp, ("white", "black")), (other, ("black", "white"))):
        for store, policy in zip(stores, policies, strict=True):
            assert opsinfo("move", f"{top}@ascend910b", "AddN", "--to", policy, "--store", store).code == 0
    ran = opsinfo("diff", f"{opp}@ascend910b", f"{other}@ascend910b", "--format", "mixlist")
    assert json.loads(ran.out) == {"black-list": {"to-add": ["AddN"]}}


def test_a_target_that_is_given_often_has_a_name_for_each(opsinfo: Run, fixtures: Path) -> None:
    line = ("diff", *[f"{fixtures}/opp@ascend910b"] * 3, f"{fixtures}/opp@ascend910", "--match", "Add", "--format")
    labels = opsinfo(*line, "json").json["targets"]
    names = [f"{fixtures}/opp@ascend910b{number}" for number in ("", " (2)", " (3)")]
    assert labels == [*names, f"{fixtures}/opp@ascend910"]
    assert next(csv.reader(opsinfo(*line, "csv").out.splitlines())) == ["name", *labels]
