"""Kinds of files, usual folders and standard input as TARGET. Other answers are in tests/answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import NN, Run, names, rows, write


def test_a_usual_folder_is_reported_on_stderr(opsinfo: Run, opp: Path, isolation: Path) -> None:
    place = isolation / "Ascend/ascend-toolkit/latest"
    place.mkdir(parents=True)
    opp.rename(place / "opp")
    ran = opsinfo("list", "ascend910")
    assert ran.code == 0
    assert str(place / "opp") in ran.err
    assert len(names(ran)) == 23


def test_two_usual_folders_of_one_real_path_are_one(opsinfo: Run, opp: Path, isolation: Path) -> None:
    place = isolation / "Ascend/ascend-toolkit/8.3"
    place.mkdir(parents=True)
    opp.rename(place / "opp")
    (isolation / "Ascend/ascend-toolkit/latest").symlink_to("8.3")
    (isolation / "Ascend/cann").mkdir()
    (isolation / "Ascend/cann/latest").symlink_to("../ascend-toolkit/8.3")
    assert opsinfo("list", "ascend910").code == 0


def test_two_installs_in_usual_folders_are_listed_with_versions(
    opsinfo: Run, opp: Path, fixtures: Path, isolation: Path
) -> None:
    for name, source in (("ascend-toolkit", opp), ("nnae", fixtures / "opp-old")):
        place = isolation / "Ascend" / name / "latest"
        place.mkdir(parents=True)
        (place / "opp").symlink_to(source)
    ran = opsinfo("list", "ascend910")
    assert ran.code == 2
    assert "8.3.RC1" in ran.err
    assert "nnae" in ran.err


@pytest.mark.parametrize("kind", ["library", "mixlist"])
def test_standard_input_requires_a_kind(opsinfo: Run, fixtures: Path, kind: str) -> None:
    path = fixtures / "opp" / NN if kind == "library" else fixtures / "mixlists/good/add-black.json"
    ran = opsinfo("list", "-", "--as", kind, input=path.read_bytes())
    assert ran.code == 0
    assert rows(ran)[0][3].startswith("-:")
    assert opsinfo("list", "-", input=path.read_bytes()).code == 2
    shown = opsinfo("show", "-", rows(ran)[0][0], "--as", kind, input=path.read_bytes())
    assert shown.code == (0 if kind == "library" else 2)


KINDS = [
    ("x.json", {"a-list": {}}, "mixlist"),
    ("x.json", {"Add": {"to_add": {}}}, "mixlist"),
    ("x.json", {"Add": {"to-": {}}}, "mixlist"),
    ("x.json", {"Add": []}, "mixlist"),
    ("x.json", {"Add": {"x": []}}, "mixlist"),
    ("aic-x-ops-info.json", {"Add": {"x": []}}, "mixlist"),
    ("x.json", {"Add": {"precision_reduce": {}}}, "library"),
    ("x.json", {"Add": {"input0": {}}}, "library"),
    ("x.json", {"Add": {"output12": {}}}, "library"),
    ("aic-x-ops-info-y.json", {}, "library"),
    ("vector_core_tbe_ops_info-legacy.json", {}, "library"),
    ("dsa-ascend910b-ops-info.json", {}, "library"),
    ("x.json", {}, "mixlist"),
]


def test_the_kind_of_a_file_is_detected(opsinfo: Run, tmp_path: Path) -> None:
    paths = [write(tmp_path / str(number) / name, content) for number, (name, content, _) in enumerate(KINDS)]
    files = opsinfo("validate", *paths, "--format", "json").json["files"]
    found = {each["path"]: each["kind"] for each in files}
    wanted = {str(path): (name, content, kind) for path, (name, content, kind) in zip(paths, KINDS, strict=True)}
    assert {path: (*case[:2], found[path]) for path, case in wanted.items()} == wanted
