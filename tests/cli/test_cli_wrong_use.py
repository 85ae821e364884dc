"""Wrong usage that earlier versions accepted, or refused with an unhelpful hint."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run, write


def test_doctor_of_a_folder_without_libraries_is_wrong_usage(opsinfo: Run, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    error = opsinfo("doctor", folder, "--format", "json")
    assert (error.code, error.json["error"]["name"]) == (2, "wrong-kind")


@pytest.mark.parametrize("command", ["doctor", "backups", "restore", "reapply"])
def test_standard_input_is_refused_by_commands_that_do_not_read_it(opsinfo: Run, command: str) -> None:
    ran = opsinfo(command, "-", input=b"{}")
    assert ran.code == 2
    assert "this command does not read standard input" in ran.err
    assert "--as" not in ran.err


def test_a_binary_file_is_refused_as_binary(opsinfo: Run, tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"\x08\x08\x12\x00\xff\xfe")
    ran = opsinfo("list", model)
    assert ran.code == 3
    assert "hint: the file is binary; a text file is needed here" in ran.err


@pytest.mark.parametrize(
    ("data", "code", "message"), [(b"Add\n\xff\n", 3, "not UTF-8"), (b"# none\n", 2, "no op types")]
)
def test_a_file_without_op_types_is_refused_and_named(
    opsinfo: Run, opp: Path, tmp_path: Path, data: bytes, code: int, message: str
) -> None:
    (tmp_path / "types").write_bytes(data)
    words = ["bisect", "--against", opp, "--soc", "ascend910b", "--among", "@types", "--", "true"]
    ran = opsinfo(*words)
    assert ran.code == code
    assert message in ran.err
    assert "--> types" in ran.err


def test_the_hint_about_a_file_that_is_not_a_baseline_does_not_suggest_to_remove_it(
    opsinfo: Run, tmp_path: Path
) -> None:
    write(tmp_path / "m.json", "{}")
    write(tmp_path / "mine.txt", "mine")
    ran = opsinfo("validate", "m.json", "--baseline", "mine.txt")
    assert ran.code == 3
    assert "not an opsinfo baseline" in ran.err
    assert "remove" not in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["bisect", "--against", "t", "--among", "Add", "--timeout", "nan", "--", "true"],
        ["simulate", "m.onnx", "--max-error", "nan"],
        ["simulate", "m.onnx", "--min-cosine", "1.5"],
        ["qualify", "log", "--spread", "NaN"],
        ["move", "m.json", "Add", "--to", "black", "--wait", "-nan"],
    ],
    ids=lambda words: words[-2],
)
def test_a_bound_that_is_nan_or_out_of_range_is_wrong_usage(opsinfo: Run, words: list[str]) -> None:
    ran = opsinfo(*words)
    assert ran.code == 2
    assert "Invalid value for '--" in ran.err


def test_a_huge_number_of_jobs_is_accepted(opsinfo: Run, opp: Path) -> None:
    words = ["bisect", "--against", opp, "--soc", "ascend910b", "--among", "Add", "--jobs", str(10**23)]
    assert opsinfo(*words, "--", "true").code == 0
