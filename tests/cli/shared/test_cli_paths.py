"""Unusual paths, and paths that are not files."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Run, flag_of, library, mixlist, rows, snapshot, write
from program_run import ROOT

NAMES = {
    "blanks": "with blanks in it",
    "leading dash": "-dash",
    "an option": "--to",
    "newline": "new\nline",
    "quotes": 'quote\'d "twice"',
    "shell code": "dollar$HOME`id`",
    "backslash": "back\\slash",
    "Chinese": "名字",
    "combining accent": "e\u0301 combining",
    "200 letters": "a" * 200,
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_folder_with_an_odd_name(opsinfo: Run, tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name / "aic-x-ops-info.json", library({"Add": None}))
    before = path.read_bytes()
    moved = opsinfo("move", path, "Add", "--to", "black", "--format", "json")
    assert moved.json["files"][0]["path"] == str(path)
    assert flag_of(path, "Add") == "false"
    assert opsinfo("restore", path).code == 0
    assert path.read_bytes() == before


def test_a_name_of_the_greatest_length_is_read_and_written(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / ("m" * 250 + ".json"), mixlist(black_add=["Add"]))
    assert opsinfo("move", path, "Mul", "--to", "black").code == 0
    assert opsinfo("restore", path).code == 0
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["-m.json", "--to.json", "-"])
def test_a_leading_dash_after_two_dashes(opsinfo: Run, tmp_path: Path, name: str) -> None:
    write(tmp_path / name, mixlist(black_add=["Add"]))
    if name == "-":
        assert opsinfo("list", "./-", cwd=tmp_path).code == 0
        return
    assert opsinfo("list", "--", name, cwd=tmp_path).code == 0
    moved = opsinfo("move", "--to", "black", "--", name, "Mul", cwd=tmp_path)
    assert moved.code == 0
    assert opsinfo("restore", "--", name, cwd=tmp_path).code == 0


def test_the_command_that_undoes_a_change_can_be_pasted(
    opsinfo: Run, program: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    path = write(tmp_path / "with 'blanks' $HOME" / "m.json", mixlist(black_add=["Add"]))
    before = path.read_bytes()
    output = opsinfo("move", path, "Mul", "--to", "black").err
    command = output.partition("undo it with: ")[2].splitlines()[0]
    script = f'opsinfo() {{ "{program[0]}" -m opsinfo_cli "$@"; }}\n{command}\n'
    assert subprocess.run(["sh", "-c", script], env=environment, check=False, cwd=tmp_path).returncode == 0
    assert path.read_bytes() == before


def test_a_path_that_is_not_utf_8_is_read_and_shown(
    program: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9 \xff"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    path = folder + b"/aic-x-ops-info.json"
    write(Path(os.fsdecode(path)), library({"Add": None}))
    for words, status in (
        ([b"list", path], 0),
        ([b"list", path, b"--format", b"json"], 0),
        ([b"validate", folder], 0),
        ([b"show", path, b"Nothing"], 2),
        ([b"move", path, b"Add", b"--to", b"black", b"--dry-run"], 0),
        ([b"move", path, b"Add", b"--to", b"black"], 0),
        ([b"move", path, b"Add", b"--to", b"white", b"--format", b"json"], 0),
        ([b"backups"], 0),
        ([b"backups", b"--format", b"json"], 0),
        ([b"restore", path, b"--to", b"pristine"], 0),
        ([b"doctor", folder], 0),
        ([b"list", folder + b"/gone.json"], 3),
    ):
        done = subprocess.run([*program, *words], env=environment, capture_output=True, check=False)
        assert done.returncode == status, (words, done.stderr)
        assert b"Traceback" not in done.stderr
        done.stdout.decode("utf-8" if b"--dry-run" not in words else "latin-1")
        done.stderr.decode("utf-8")


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """Paths that are not files."""
    top = tmp_path / "odd"
    top.mkdir()
    os.mkfifo(top / "fifo")
    os.mkfifo(top / "aic-fifo-ops-info.json")
    (top / "dangling").symlink_to("nowhere")
    (top / "loop").symlink_to("loop")
    (top / "folder").mkdir()
    return top


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not remove a folder that is in use")
def test_a_working_directory_that_was_removed_is_named(isolation: Path, tmp_path: Path) -> None:
    gone = f"mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir {tmp_path}/gone && exec "
    program = f"{shlex.quote(sys.executable)} -m opsinfo_cli move m.json Add --to black --create"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", gone + program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "the current folder does not exist any more" in done.stderr
    assert "hint: change to a folder that exists" in done.stderr


THINGS = ["fifo", "dangling", "loop", "folder", "/dev/null", "/dev/zero", "socket", "file/below"]
READERS = ["show", "move", "validate", "diff", "fmt", "apply", "against", "mixlist"]


@pytest.mark.parametrize(
    ("command", "thing"),
    [*(("list", thing) for thing in THINGS), *((reader, thing) for reader in READERS for thing in THINGS[:4:3])],
)
def test_a_path_that_is_not_a_file_is_refused(
    opsinfo: Run, fixtures: Path, places: Path, command: str, thing: str
) -> None:
    target = Path(thing) if thing.startswith("/") else places / thing
    if thing == "socket":
        server = socket.socket(socket.AF_UNIX)
        folder = os.getcwd()
        os.chdir(places)
        server.bind("socket")
        server.close()
        os.chdir(folder)
    if thing == "file/below":
        write(places / "file", "{}")
    good, lib = fixtures / "mixlists/good/add-black.json", fixtures / "opp-old"
    words = {
        "list": ("list", target),
        "show": ("show", target, "Add"),
        "move": ("move", target, "Add", "--to", "black"),
        "validate": ("validate", target),
        "diff": ("diff", target, lib),
        "fmt": ("fmt", target),
        "apply": ("apply", lib, target),
        "against": ("validate", good, "--against", target),
        "mixlist": ("list", lib, "--mixlist", target),
    }[command]
    before = snapshot(places)
    ran = opsinfo(*words)
    readers_of_folders = ("list", "show", "move", "diff", "against", "validate", "fmt")
    assert ran.code == (2 if thing == "folder" and command in readers_of_folders else 3)
    assert ran.out == ""
    assert str(target) in ran.err
    assert snapshot(places) == before


@pytest.mark.process
def test_a_link_to_standard_input_is_read_and_not_written(opsinfo: Run) -> None:
    assert opsinfo("list", "/dev/stdin", "--as", "mixlist", input="{}").code == 0
    assert opsinfo("move", "/dev/stdin", "Log", "--to", "black", "--as", "mixlist", input="{}").code == 3


def test_a_tree_with_special_files_is_walked(opsinfo: Run, places: Path) -> None:
    write(places / "mixlist.json", mixlist(black_add=["Add"]))
    (places / "loop.json").symlink_to("loop.json")
    (places / "dangling.json").symlink_to("nowhere")
    os.mkfifo(places / "fifo.json")
    (places / "circle").symlink_to(".")
    ran = opsinfo("validate", places, env={"TMPDIR": str(places)})
    assert ran.code in (0, 3)
    assert "mixlist.json" in ran.out or "1 file" in ran.err


def test_a_missing_file_is_refused_with_its_path(opsinfo: Run, tmp_path: Path) -> None:
    for path in (tmp_path / "gone.json", tmp_path / "no/such/place"):
        ran = opsinfo("list", path, "--format", "json")
        assert ran.code == 3
        assert ran.json["error"]["path"] == str(path)


def test_an_empty_target_is_wrong_usage(opsinfo: Run) -> None:
    assert opsinfo("list", "").code == 2


def test_a_path_with_a_nul_is_wrong_usage(environment: dict[str, str]) -> None:
    code = "import sys; from opsinfo_cli.app import main; main(['list', 'a\\0b.json'])"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    assert done.returncode in (2, 3)
    assert b"Traceback" not in done.stderr


def test_links_are_followed_and_named_as_given(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "real/aic-x-ops-info.json", library({"Add": None}))
    (tmp_path / "one.json").symlink_to(path)
    (tmp_path / "two.json").symlink_to("one.json")
    ran = opsinfo("list", "two.json", "--as", "library", cwd=tmp_path)
    assert rows(ran)[0][3] == "two.json:2"
    assert opsinfo("move", "two.json", "Add", "--to", "black", cwd=tmp_path).code == 0
    assert flag_of(path, "Add") == "false"
    assert (tmp_path / "one.json").is_symlink()
    assert (tmp_path / "two.json").is_symlink()


def test_a_file_in_the_current_folder_needs_no_slash(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "ascend910b", mixlist(black_add=["Add"]))
    assert rows(opsinfo("list", "ascend910b", cwd=tmp_path))[0][0] == "Add", "an existing file comes first"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_to_write(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "x/m.json", mixlist(black_add=["Add"]))
    path.chmod(0o400)
    assert opsinfo("move", path, "Mul", "--to", "black").code in (0, 3)
