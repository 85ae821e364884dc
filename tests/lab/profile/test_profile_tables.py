"""The tables of a folder: each row is read once, whatever msprof and torch_npu called the files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opsinfo_cli.errors import Refused
from opsinfo_cli.lab.profile.table import find_tables
from opsinfo_cli.lab.profile.times import Profile, Time

HEAD = "Op Name,OP Type,Task Type,Task Duration(us),Input Data Types,Output Data Types\n"
EARLIER, MERGED = "an earlier export of the same run", "mindstudio_profiler_output has its rows"


def folder(top: Path, *names: str) -> str:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(f"{HEAD}a,Mul,AI_CORE,40,FLOAT,FLOAT\n")
    return str(top)


@pytest.mark.parametrize(
    ("names", "passed"),
    [
        (["op_summary_slice_0_20230919172304.csv", "op_summary_slice_1_20230919172305.csv"], {}),
        (["op_summary_20230919172304.csv", "op_summary_slice_1_20230919172309.csv"], {}),
        (["op_summary_slice_0_20230919172304.csv", "op_summary_slice_1_20230919172304.csv"], {}),
        (
            [
                "op_summary_slice_0_20230919172304.csv",
                "op_summary_slice_1_20230919172305.csv",
                "op_summary_slice_0_20230920100000.csv",
                "op_summary_slice_1_20230920100001.csv",
            ],
            {"op_summary_slice_0_20230919172304.csv": EARLIER, "op_summary_slice_1_20230919172305.csv": EARLIER},
        ),
        (
            [
                "op_summary_slice_0_20230919172304.csv",
                "op_summary_slice_1_20230919172305.csv",
                "op_summary_20230920100000.csv",
            ],
            {"op_summary_slice_0_20230919172304.csv": EARLIER, "op_summary_slice_1_20230919172305.csv": EARLIER},
        ),
        (
            ["op_summary_0_1_20230919172304.csv", "op_summary_0_1_20230920100000.csv"],
            {"op_summary_0_1_20230919172304.csv": EARLIER},
        ),
        (["op_summary_0_1_1_20230919172304.csv", "op_summary_0_1_2_20230919172309.csv"], {}),
        (["op_summary_0_1_20230919172304.csv", "op_summary_1_1_20230920100000.csv"], {}),
        (
            [
                "PROF_1/device_0/summary/op_summary_0_1_20230919172304.csv",
                "PROF_1/device_1/summary/op_summary_1_1_20230919172305.csv",
                "PROF_1/mindstudio_profiler_output/op_summary_20230919172309.csv",
            ],
            {
                "PROF_1/device_0/summary/op_summary_0_1_20230919172304.csv": MERGED,
                "PROF_1/device_1/summary/op_summary_1_1_20230919172305.csv": MERGED,
            },
        ),
        (["PROF_1/device_0/summary/op_summary_0_1.csv", "PROF_2/device_0/summary/op_summary_0_1.csv"], {}),
        (
            ["op_summary_20230919172304.csv", "op_summary_0_1_20230919172304.csv"],
            {"op_summary_0_1_20230919172304.csv": "the table without a device number has its rows"},
        ),
        (
            ["op_summary_slice_0_20230919172304.csv", "op_summary_slice_2_20230919172305.csv"],
            {"op_summary_slice_1_*.csv": "it is missing: the sums lack its rows"},
        ),
    ],
)
def test_each_row_of_a_folder_is_read_once(tmp_path: Path, names: list[str], passed: dict[str, str]) -> None:
    found = find_tables((folder(tmp_path, *names),))
    assert {os.path.relpath(path, tmp_path): why for path, why in found.passed_over} == passed
    assert sorted(os.path.relpath(path, tmp_path) for path in found.paths) == sorted({*names} - passed.keys())


def test_the_slices_of_one_export_are_one_table(tmp_path: Path) -> None:
    names = [f"op_summary_slice_{number}_2023091917230{number + 4}.csv" for number in range(3)]
    assert Profile.read(folder(tmp_path, *names)).totals == Time(3, 120.0)


def test_tables_of_a_folder_inside_another_one_are_read_once(tmp_path: Path) -> None:
    below = "PROF_1/mindstudio_profiler_output/op_summary_20230919172304.csv"
    top = folder(tmp_path, "run_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", f"run_ascend_pt/{below}")
    for given in ((top,), (top, f"{top}/run_ascend_pt/PROF_1"), (f"{top}/run_ascend_pt/PROF_1", top)):
        found = find_tables(given)
        assert [os.path.basename(path) for path in found.paths] == ["kernel_details.csv"], given
    assert find_tables((f"{top}/run_ascend_pt/PROF_1",)).passed_over == []


def test_a_table_that_the_user_names_is_read_beside_a_later_export(tmp_path: Path) -> None:
    top = folder(tmp_path, "op_summary_20230919172304.csv", "op_summary_20230920100000.csv")
    assert len(find_tables((f"{top}/op_summary_20230919172304.csv", top)).paths) == 2


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = folder(tmp_path, "op_summary.csv", "closed/op_summary.csv")
    scan = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(Refused, match="Permission denied"):
        find_tables((top,))


DATABASE = "a database: its rows are in no table"


@pytest.mark.parametrize(
    ("names", "passed"),
    [
        (["PROF_1/msprof_20230919172304.db", "PROF_1/mindstudio_profiler_output/op_summary_20230919172304.csv"], {}),
        (
            ["a_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", "a_ascend_pt/PROF_1/msprof_20230919172304.db"],
            {},
        ),
        (
            [
                "a_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
                "b_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db",
            ],
            {"b_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db": DATABASE},
        ),
        (
            ["PROF_1/mindstudio_profiler_output/op_summary_20230919172304.csv", "PROF_2/msprof_20230919172304.db"],
            {"PROF_2/msprof_20230919172304.db": DATABASE},
        ),
    ],
)
def test_a_database_without_tables_is_named(tmp_path: Path, names: list[str], passed: dict[str, str]) -> None:
    found = find_tables((folder(tmp_path, *names),))
    assert {os.path.relpath(path, tmp_path): why for path, why in found.passed_over} == passed
    assert len(found.paths) == 1


def test_a_folder_with_databases_alone_says_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        find_tables((folder(tmp_path, "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db"),))
    assert "ascend_pytorch_profiler_0.db is a database" in (caught.value.hint or "")
