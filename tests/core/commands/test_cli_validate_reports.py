"""The formats of `validate`, and the files that --report writes."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import Run, mixlist, write

FORMATS = ["text", "concise", "json", "github", "gitlab", "sarif", "junit"]


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return write(tmp_path / "sub/m.json", '{\n  "算子-list": {"to-add": ["Add"]}\n}\n')


@pytest.mark.process
def test_text_under_an_ascii_locale_keeps_the_carets_below_the_word(opsinfo: Run, bad: Path) -> None:
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    lines = opsinfo("validate", bad, env=environment).out.splitlines()
    assert lines[3:5] == [' 2 |   "\\u7b97\\u5b50-list": {"to-add": ["Add"]}', "   |   " + "^" * 19]


@pytest.mark.parametrize("name", ["gitlab", "sarif", "junit"])
def test_a_format_of_machines_is_a_report(opsinfo: Run, bad: Path, name: str) -> None:
    ran = opsinfo("validate", bad, "--format", name)
    assert (ran.code, f"hint: --report {name}:FILE writes it" in ran.err) == (2, True)
    ran = opsinfo("validate", bad, "--report", f"{name}:/dev/stderr")
    assert (ran.code, ran.out[:11]) == (1, "error[M001]")


def test_one_run_gives_people_text_and_machines_files(opsinfo: Run, bad: Path, tmp_path: Path) -> None:
    words = [word for name in FORMATS for word in ("--report", f"{name}:out.{name}")]
    ran = opsinfo("validate", "sub/m.json", *words)
    assert ran.code == 1
    assert ran.out.startswith("error[M001]")
    written = {name: (tmp_path / f"out.{name}").read_text("utf-8") for name in FORMATS}
    assert written["text"] == ran.out + "1 file checked: 1 error\n"
    assert written["concise"].startswith("sub/m.json:2:3: error[M001]")
    assert written["github"].startswith("::error title=opsinfo (M001 unknown-list),file=sub/m.json,line=2,col=3,")
    (finding,) = json.loads(written["json"])["findings"]
    (issue,) = json.loads(written["gitlab"])
    (result,) = json.loads(written["sarif"])["runs"][0]["results"]
    assert {finding["fingerprint"], issue["fingerprint"], *result["partialFingerprints"].values()} == {
        finding["fingerprint"]
    }
    assert ElementTree.fromstring(written["junit"]).attrib["failures"] == "1"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_inside_github_actions_auto_adds_annotations_from_the_workspace(
    opsinfo: Run, bad: Path, tmp_path: Path
) -> None:
    inside = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(tmp_path)}
    ran = opsinfo("validate", "m.json", "--format", "auto", cwd=bad.parent, env=inside)
    assert ran.out.startswith("error[M001]")
    assert "\n::error title=opsinfo (M001 unknown-list),file=sub/m.json,line=2," in ran.out
    assert opsinfo("validate", "m.json", "--format", "github", cwd=bad.parent, env=inside).out == ran.out
    outside = opsinfo("validate", "m.json", "--format", "auto", cwd=bad.parent)
    assert outside.out == opsinfo("validate", "m.json", cwd=bad.parent).out


def test_github_has_every_finding_in_the_text_and_counts_what_it_does_not_annotate(
    opsinfo: Run, tmp_path: Path
) -> None:
    write(tmp_path / "m.json", mixlist(black_add=["Log"] * 31))
    out = opsinfo("validate", "m.json", "--format", "github").out
    assert (out.count("warning[M004]"), out.count("\n  --> "), out.count("\n::warning ")) == (1, 30, 10)
    assert out.endswith("\n::notice title=opsinfo::20 more in the log\n")


def test_a_name_in_a_file_cannot_give_the_runner_commands(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "m.json", '{"##[add-mask]x\\n::error::y": {},\n"::stop-commands::z": {}}')
    lines = opsinfo("validate", "m.json", "--as", "mixlist", "--format", "github").out.splitlines()
    commands = [line for line in lines if line.lstrip().startswith("::")]
    assert [line.split(" ")[0] for line in commands] == ["::error", "::error"]
    assert not any("##[" in line for line in lines if line not in commands)


def test_a_clean_run_writes_clean_reports(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    good = fixtures / "mixlists/good/add-black.json"
    words = [word for name in FORMATS for word in ("--report", f"{name}:out.{name}")]
    ran = opsinfo("validate", good, *words)
    assert (ran.code, ran.out) == (0, "")
    assert (tmp_path / "out.github").read_text() == (tmp_path / "out.concise").read_text() == ""
    assert json.loads((tmp_path / "out.gitlab").read_text()) == []
    assert json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"] == []


def test_a_file_that_cannot_be_read_is_in_every_report(opsinfo: Run, tmp_path: Path) -> None:
    for name in FORMATS:
        ran = opsinfo("validate", "gone.json", "--report", f"{name}:out")
        assert ran.code == 3
        assert "gone.json" in (tmp_path / "out").read_text(), name


def test_a_report_that_cannot_be_written_is_exit_3_and_hides_no_finding(opsinfo: Run, bad: Path) -> None:
    name = "x" * 300  # longer than any file system allows
    ran = opsinfo("validate", bad, "--report", f"sarif:{name}")
    assert ran.code == 3
    assert ran.out.startswith("error[M001]")
    assert name in ran.err
    assert opsinfo("validate", bad, "--report", f"sarif:{name}", "--format", "json").json["error"]["path"] == name


def test_a_report_replaces_a_file_through_its_link_and_keeps_its_mode(opsinfo: Run, bad: Path, tmp_path: Path) -> None:
    real = write(tmp_path / "real/out.sarif", "old")
    real.chmod(0o640)
    (tmp_path / "link").symlink_to("real/out.sarif")
    opsinfo("validate", bad, "--report", "sarif:link")
    assert (tmp_path / "link").is_symlink()
    assert json.loads(real.read_text())["version"] == "2.1.0"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_report_goes_into_a_pipe_and_does_not_replace_it(opsinfo: Run, bad: Path, tmp_path: Path) -> None:
    """Like /dev/null, which a test run by root must not endanger."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        ran = opsinfo("validate", bad, "--report", "concise:pipe")
        assert ran.code == 1
        assert b"m.json:2:3: error[M001]" in os.read(reader, 1 << 16)
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_report_to_dev_stdout_is_written_after_the_text_into_its_file(
    start: Callable[..., subprocess.Popen[bytes]], bad: Path, tmp_path: Path, path: str
) -> None:
    out = tmp_path / "out"
    with out.open("wb") as file:
        file.write(b"before\n")
        file.flush()
        start("validate", bad, "--report", f"concise:{path}", stdout=file).communicate(timeout=30)
        assert os.path.samestat(os.fstat(file.fileno()), out.stat())
    output = out.read_text("utf-8")
    assert output.startswith("before\n")
    assert "error[M001] unknown-list" in output
    assert "error[M001]: `算子-list`" in output


@pytest.mark.parametrize(
    "descriptor", ["999999999", "9" * 20, "9" * 5000, "x"], ids=["9 digits", "20 digits", "5000 digits", "letter"]
)
def test_an_unknown_descriptor_is_refused(opsinfo: Run, bad: Path, descriptor: str) -> None:
    ran = opsinfo("validate", bad, "--report", f"concise:/dev/fd/{descriptor}")
    assert ran.code == 3
    assert "internal error" not in ran.err


def test_a_report_for_another_process_does_not_replace_the_file_it_writes(
    opsinfo: Run, bad: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with out.open("wb") as file:
        opsinfo("validate", bad, "--report", f"concise:/proc/{os.getpid()}/fd/{file.fileno()}")
        assert os.path.samestat(os.fstat(file.fileno()), out.stat())
    assert "error[M001]" in out.read_text("utf-8")


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no /dev/shm")
def test_a_report_can_be_made_in_shared_memory(opsinfo: Run, bad: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        opsinfo("validate", bad, "--report", f"concise:{folder}/report")
        assert "error[M001]" in Path(folder, "report").read_text("utf-8")
