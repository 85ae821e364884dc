"""Run the commands of docs/accuracy.md, and write or check what they print.

    python docs/accuracy_page.py CLS.onnx           write
    python docs/accuracy_page.py CLS.onnx --check   exit 1 if a command prints something else

Numbers are not compared: another processor or version of onnxruntime gives other last digits and times.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "accuracy.md"
ON_A_SLOW_MACHINE = re.compile(r"^(note: a run takes|opsinfo itself took) .*\n", re.MULTILINE)
"""The lines that `bisect` prints only if a run of the check, or its own work for a trial, takes long."""
BLOCK = re.compile(r"```console\n\$ (?P<command>[^\n]+)\n(?P<body>.*?)```\n", re.DOTALL)


def ran(text: str, model: Path, opsinfo: Callable[[list[str], Path], tuple[int, str]]) -> str:
    """Return the page with what its commands print now; a status other than 0 is shown as `exit status N`.

    :param model: the classifier of rapidocr_onnxruntime
    :param opsinfo: runs the program with these words in a folder; returns the exit status and all output
    """
    from generate import make_user_files

    with tempfile.TemporaryDirectory(prefix="opsinfo-accuracy-") as name:
        folder = Path(name)
        make_user_files(folder)
        (folder / "ops_info.json").unlink()  # the search makes it
        shutil.copy(model, folder / "cls.onnx")

        def fresh(match: re.Match[str]) -> str:
            program, *words = shlex.split(match["command"])
            assert program == "opsinfo", f"docs/accuracy.md runs `{program}`"
            status, out = opsinfo(words, folder)
            last = f"exit status {status}\n" if status else ""
            return f"```console\n$ {match['command']}\n{out}{last}```\n"

        return BLOCK.sub(fresh, text)


def run_in(words: list[str], folder: Path) -> tuple[int, str]:
    """Run the program of this repository, which must be installed for `python`, as a user would in a pipe."""
    environment = {**os.environ, "OPSINFO_BACKUP_DIR": str(folder.parent / (folder.name + "-vault"))}
    environment["PYTHONPATH"] = str(ROOT)
    environment["ASCEND_OPP_PATH"] = "opp"
    environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environment["PATH"]
    done = subprocess.run(
        [sys.executable, "-m", "opsinfo_cli", *words], cwd=folder, env=environment, capture_output=True, check=False
    )
    shutil.rmtree(environment["OPSINFO_BACKUP_DIR"], ignore_errors=True)
    return done.returncode, (done.stdout + done.stderr).decode()


def without_numbers(text: str) -> str:
    """Return a page without its numbers, its times and the ids of its changes."""
    text = re.sub(r"change \w+-\w+-\w+;", "change ID;", text)
    text = re.sub(r"of the check in [^:]*:", "of the check in TIME:", text)
    text = ON_A_SLOW_MACHINE.sub("", text)
    return re.sub(r"\d+(\.\d+)?(e-?\d+)?", "N", text)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Run the commands of docs/accuracy.md, and write what they print.")
    parser.add_argument("model", type=Path, metavar="CLS.onnx", help="the classifier of rapidocr_onnxruntime")
    parser.add_argument("--check", action="store_true", help="exit 1 if a command prints something else; write nothing")
    chosen = parser.parse_args(words)
    model, check = chosen.model, chosen.check
    if not model.is_file():
        parser.error(f"no such file: {model}")
    old = PAGE.read_text("utf-8")
    new = ran(old, model, run_in)
    if without_numbers(old) == without_numbers(new):
        return 0
    if not check:
        PAGE.write_text(new, "utf-8")
        return 0
    sys.stderr.writelines(
        difflib.unified_diff(old.splitlines(True), new.splitlines(True), "on the page", "printed now")
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
