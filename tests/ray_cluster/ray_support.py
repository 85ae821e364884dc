"""Searches on a Ray cluster, as processes, and their leftovers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from running_processes import PATIENCE, processes, wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
TENSOR = {"dtype": "float16,float", "format": "ND,ND", "name": "x", "paramType": "required"}
CHECK = """
import json, os, sys, time
culprits, hang = set(sys.argv[2].split(",")), sys.argv[3]
print("judging", sys.argv[1], flush=True)
time.sleep(0.1)
if hang and os.environ.get("NODE_OF_TEST") == "3":
    try:
        descriptor = os.open(hang, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        pass
    else:
        os.write(descriptor, f"{os.path.basename(sys.argv[1])} {os.getpid()}".encode())
        time.sleep(600)
black = json.load(open(sys.argv[1])).get("black-list", {}).get("to-add", [])
sys.exit(0 if culprits <= set(black) else 1)
"""


class Search:
    """Searches in a folder, among 60 types of a library, of which three are needed.

    :ivar hang: a file that the check makes when it hangs, once, on node 3, with the name of its mixlist and its process
    """

    culprits = ("Op05", "Op17", "Op44")

    def __init__(self, folder: Path, address: str) -> None:
        self.folder = folder
        self.address = address
        self.hang = folder / "hangs"
        self._started: list[subprocess.Popen[str]] = []
        names = [f"Op{number:02}" for number in range(60)]
        flag = {"precision_reduce": {"flag": "true"}}
        library = {name: {**flag, "input0": TENSOR, "output0": {**TENSOR, "name": "y"}} for name in names}
        (folder / "aic-x-ops-info.json").write_text(json.dumps(library))
        (folder / "types.txt").write_text("\n".join(names))
        (folder / "check.py").write_text(CHECK)

    def check(self, hangs: bool = False) -> list[str]:
        words = [sys.executable, "-I", "-S", str(self.folder / "check.py"), "{mixlist}", ",".join(self.culprits)]
        return [*words, str(self.hang) if hangs else ""]

    def start(self, journal: str, *options: str, check: list[str], local: bool = False) -> subprocess.Popen[str]:
        place = [] if local else ["--ray", self.address]
        words = ["bisect", "--against", "aic-x-ops-info.json", "--among", "@types.txt", "--journal", journal]
        process = subprocess.Popen(
            [sys.executable, "-m", "opsinfo_cli", *words, "--format", "json", *place, *options, "--", *check],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def end(self) -> None:
        """End searches that a failed test left behind."""
        for process in self._started:
            process.kill()
            process.communicate()

    def run(self, journal: str, *options: str, check: list[str], local: bool = False) -> tuple[int, Any, str]:
        """:returns: exit status, document, and standard error"""
        process = self.start(journal, *options, check=check, local=local)
        return ended(process)

    def events(self, journal: str, kind: str) -> list[Any]:
        path = self.folder / journal / "journal.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        records = [json.loads(line) for line in lines if line.endswith("\n")]
        return [record for record in records if record["event"] == kind]

    def verdicts(self, journal: str) -> dict[frozenset[str], set[str]]:
        found: dict[frozenset[str], set[str]] = {}
        for record in self.events(journal, "end"):
            found.setdefault(frozenset(record["set"]), set()).add(record["verdict"])
        return found

    def hanging(self) -> tuple[int, int]:
        """The number of the trial that hangs, and the process of its check."""
        wait_until(lambda: self.hang.exists() and self.hang.read_text())
        name, process = self.hang.read_text().split()
        return int(name.removeprefix("mixlist-").removesuffix(".json")), int(process)

    def node(self, journal: str, trial: int) -> Any:
        return json.loads((self.folder / journal / "trials" / f"{trial:04}" / "node.json").read_text())


def ended(process: subprocess.Popen[str]) -> tuple[int, Any, str]:
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, json.loads(out) if out else None, err


def commands(mark: str) -> list[int]:
    """Return the processes whose command line contains a text, except searches."""
    return processes(mark, without="opsinfo_cli")
