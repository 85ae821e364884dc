"""A Ray cluster of two nodes on this machine, and searches on it as processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from running_processes import PATIENCE, processes, wait_until

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TENSOR = {"dtype": "float16,float", "format": "ND,ND", "name": "x", "paramType": "required"}
CHECK = """
import json, os, sys, time
culprits, hang = set(sys.argv[2].split(",")), sys.argv[3]
print("judging", sys.argv[1], flush=True)
time.sleep(0.1)
if hang and os.environ.get("NODE_OF_TEST") == "1":
    try:
        descriptor = os.open(hang, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        pass
    else:
        os.write(descriptor, f"{sys.argv[1]} {os.getpid()}".encode())
        time.sleep(600)
black = json.load(open(sys.argv[1])).get("black-list", {}).get("to-add", [])
sys.exit(0 if culprits <= set(black) else 1)
"""


class LocalCluster:
    """:ivar address: of the head"""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address: str = self._answer()["address"]

    def tell(self, line: str) -> None:
        """``kill N`` ends a node, ``add N`` starts it again."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        assert self._answer() == {"done": line}

    def _answer(self) -> dict[str, str]:
        assert self._process.stdout is not None
        line = next(line for line in self._process.stdout if line.startswith("{"))
        answer: dict[str, str] = json.loads(line)
        return answer


@contextmanager
def running(folder: Path, *npus: int) -> Iterator[LocalCluster]:
    """Run a cluster whose nodes have these numbers of NPUs, and no opsinfo: importing it there fails."""
    poison = folder / "nodes" / "opsinfo_cli"
    poison.mkdir(parents=True)
    (poison / "__init__.py").write_text("raise ImportError('there is no opsinfo on this node')\n")
    environ = {**os.environ, "PYTHONPATH": str(poison.parent), "RAY_USAGE_STATS_ENABLED": "0"}
    with open(folder / "cluster.log", "wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(HERE / "local_cluster.py"), *map(str, npus)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environ,
            cwd=folder,
            text=True,
        )
    try:
        yield LocalCluster(process)
    finally:
        process.communicate(timeout=60)


class Search:
    """Searches in a folder, among 16 types of a library, of which two are needed: each trial starts a process of Ray.

    :ivar hang: a file that the check makes when it hangs, once, on node 1, with the path of its mixlist and its process
    """

    culprits = ("Op05", "Op11")

    def __init__(self, folder: Path, address: str) -> None:
        self.folder = folder
        self.address = address
        self.hang = folder / "hangs"
        self._started: list[subprocess.Popen[str]] = []
        names = [f"Op{number:02}" for number in range(16)]
        flag = {"precision_reduce": {"flag": "true"}}
        library = {name: {**flag, "input0": TENSOR, "output0": {**TENSOR, "name": "y"}} for name in names}
        (folder / "aic-x-ops-info.json").write_text(json.dumps(library))
        (folder / "types.txt").write_text("\n".join(names))
        (folder / "check.py").write_text(CHECK)

    def check(self, hangs: bool = False) -> list[str]:
        words = [sys.executable, "-I", "-S", str(self.folder / "check.py"), "{mixlist}", ",".join(self.culprits)]
        return [*words, str(self.hang) if hangs else ""]

    def start(self, *options: str, check: list[str], local: bool = False) -> subprocess.Popen[str]:
        place = [] if local else ["--ray", self.address]
        journal = [] if "--journal" in options else ["--journal", "run"]
        words = ["bisect", "--against", "aic-x-ops-info.json", "--among", "@types.txt", *journal]
        reads = () if "mixlist" in "".join(map(str, check)).lower() else ("--force",)  # else the check reads no list
        process = subprocess.Popen(
            [sys.executable, "-m", "opsinfo_cli", *words, "--format", "json", *place, *options, *reads, "--", *check],
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

    def run(self, *options: str, check: list[str], local: bool = False) -> tuple[int, Any, str]:
        """:returns: exit status, document, and standard error"""
        return ended(self.start(*options, check=check, local=local))

    def events(self, kind: str, journal: str = "run") -> list[Any]:
        path = self.folder / journal / "journal.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        records = [json.loads(line) for line in lines if line.endswith("\n")]
        return [record for record in records if record["event"] == kind]

    def verdicts(self, journal: str = "run") -> dict[frozenset[str], set[str]]:
        found: dict[frozenset[str], set[str]] = {}
        for record in self.events("end", journal):
            found.setdefault(frozenset(record["set"]), set()).add(record["verdict"])
        return found

    def hanging(self) -> tuple[Path, int]:
        """The mixlist of the trial that hangs, and the process of its check."""
        wait_until(lambda: self.hang.exists() and self.hang.read_text())
        path, process = self.hang.read_text().split()
        return Path(path), int(process)


def ended(process: subprocess.Popen[str]) -> tuple[int, Any, str]:
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, json.loads(out) if out else None, err


def commands(mark: str) -> list[int]:
    """Return the processes whose command line contains a text, except searches."""
    return processes(mark, without="opsinfo_cli")
