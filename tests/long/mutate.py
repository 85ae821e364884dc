"""Change the package one place at a time, and see which changes CI's tests notice.

    python tests/long/mutate.py WING... [--sample N] [--seed S] [--module GLOB] [--again PRINTED] [--work FOLDER]

A wing is a folder of the package; ``mutation_wings.json`` says which tests must notice a change in it. The tests run
once under coverage. For each change, those that reach the changed line are run then, the quickest first, in a process
forked from one that has imported pytest already; if none fails, those that reach the module; at last the tests that
start processes of their own, whose lines coverage does not see. All of it happens in a copy. Without ``--sample``
every change is tried. ``equal_mutants.tsv`` holds changes that make no difference, each with the reason; they are not
counted. Prints the changes that no test notices, and the share of those that one does. ``--work`` keeps the copy and
what was measured, for the next run.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import click  # noqa: F401  (what the tests import late is imported once, before the forks)
import hypothesis  # noqa: F401
import jsonschema  # noqa: F401
import pytest
from coverage import CoverageData
from mutants import Mutant, count, mutant

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WINGS: dict[str, dict[str, list[str]]] = json.loads((HERE / "mutation_wings.json").read_text("utf-8"))
OPTIONS = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist"]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is imported before the fork
COPIED = ("opsinfo_cli", "tests", "schemas", "fixtures", "docs", "benchmarks", "pyproject.toml", "README.md")
MOST = 80
"""Tests of a module that are tried at most if those of the line notice nothing."""


class Measured(NamedTuple):
    """Tests by the line of a module that they reach, and how long each takes."""

    reached: dict[str, dict[int, set[str]]]
    seconds: dict[str, float]

    def of_lines(self, module: str, lines: Iterable[int]) -> list[str]:
        by_line = self.reached.get(module, {})
        return self._sorted({test for line in lines for test in by_line.get(line, ())})

    def of_module(self, module: str) -> list[str]:
        return self._sorted({test for tests in self.reached.get(module, {}).values() for test in tests})

    def _sorted(self, tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self.seconds.get(test, 1.0), test))


class Timer:
    """A plugin of pytest that keeps how long each test takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration


def forked(place: Path, words: list[str], cpu: int) -> int:
    """Pytest's exit status in a process of its own; 70 if it could not run, 124 if it took too long."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
            os.chdir(place)
            sys.path.insert(0, str(place))
            os.environ.update(PYTHONPATH=str(place), PYTHONDONTWRITEBYTECODE="1")
            sys.dont_write_bytecode = True
            sink = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(sink, stream)
            status = int(pytest.main([*OPTIONS, *words]))
        except SystemExit as error:
            status = int(error.code or 0)
        except BaseException as error:
            with (place.parent / "faults.txt").open("a") as file:
                traceback.print_exception(error, file=file)
        os._exit(status)
    return _ended(child, time.monotonic() + 20 * cpu)


def _ended(child: int, deadline: float) -> int:
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.02)
    else:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):  # what it started and did not end
        os.killpg(child, signal.SIGKILL)
    ended = os.waitstatus_to_exitcode(status)
    return ended if ended >= 0 else 124


def copy_of_project(place: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        else:
            shutil.copy(source, place / name)


def measured(place: Path, work: Path, wing: str) -> Measured:
    """Run a wing's tests once under coverage, or take what an earlier run kept."""
    data, kept = work / f"{wing}.coverage", work / f"{wing}.seconds.json"
    if not kept.exists():
        script = (
            "import json, sys, pytest; sys.path.insert(0, sys.argv[1]); from mutate import Timer; timer = Timer(); "
            "status = pytest.main(sys.argv[3:], plugins=[timer]); json.dump(timer.seconds, open(sys.argv[2], 'w')); "
            "sys.exit(status)"
        )
        words = ["-q", "-p", "no:cacheprovider", "--cov=opsinfo_cli", "--cov-context=test", "--cov-report="]
        words += ["--cov-fail-under=0", *OPTIONS[-2:]]
        environment = {**os.environ, "PYTHONPATH": str(place), "COVERAGE_FILE": str(data)}
        command = [sys.executable, "-c", script, str(HERE), str(kept), *words, *WINGS[wing]["tests"]]
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            kept.unlink(missing_ok=True)
            sys.exit(f"the tests of {wing} fail before anything is changed:\n{done.stdout[-3000:]}{done.stderr[-500:]}")
    return Measured(_reached(data), json.loads(kept.read_text("utf-8")))


def _reached(data: Path) -> dict[str, dict[int, set[str]]]:
    known = CoverageData(str(data))
    known.read()
    found = {}
    for path in known.measured_files():
        lines = known.contexts_by_lineno(path)
        module = "opsinfo_cli/" + path.rpartition("/opsinfo_cli/")[2]
        found[module] = {line: {each.rpartition("|")[0] for each in tests if each} for line, tests in lines.items()}
    return found


def is_noticed(place: Path, wing: str, module: str, change: Mutant, known: Measured) -> str | None:
    """How a change was noticed: by the tests of its line, of its module, or those that start processes."""
    near = known.of_lines(module, change.lines)
    rest = [test for test in known.of_module(module) if test not in set(near)][: max(0, MOST - len(near))]
    for stage, tests in (
        ("line", near[:30]),
        ("line", near[30:]),
        ("module", rest),
        ("processes", WINGS[wing]["also"]),
    ):
        cpu = 20 + int(6 * sum(known.seconds.get(test, 0.0) for test in tests))
        if tests and forked(place, tests, cpu if stage != "processes" else 600):
            return stage
    return None


def require_passing(place: Path, known: Measured, modules: Iterable[str]) -> None:
    """The tests of each module pass in such a process before anything is changed; else all would be noticed."""
    for tests, module in ((known.of_module(module)[:30], module) for module in modules):
        status = forked(place, tests, 300) if tests else 0
        if status:
            sys.exit(f"the tests of {module} fail before anything is changed (status {status})")


def equal_ones() -> set[tuple[str, str, str]]:
    """(module, the line's text, what was changed) of changes that make no difference."""
    lines = (HERE / "equal_mutants.tsv").read_text("utf-8").splitlines()[1:]
    return {(row[0], row[1], row[2]) for row in (line.split("\t") for line in lines)}


def chosen(place: Path, wing: str, glob: str, sample: int | None, seed: int) -> list[tuple[str, int]]:
    """(module, number) of the changes to try, in the order of the modules."""
    every = [
        (str(path.relative_to(place)), number)
        for path in sorted((place / "opsinfo_cli" / wing).rglob("*.py"))
        if fnmatch.fnmatch(path.name, glob)
        for number in range(count(path.read_text("utf-8")))
    ]
    print(f"{wing}: {len(every)} changes are possible", flush=True)
    return every if sample is None or sample >= len(every) else sorted(random.Random(seed).sample(every, sample))


def again(place: Path, wing: str, printed: Path) -> list[tuple[str, int]]:
    """(module, number) of the changes that an earlier run printed as living, if their lines are still there."""
    lines = [line.removeprefix("lives: ").split("\t") for line in printed.read_text("utf-8").splitlines()]
    living = {(line[0].rpartition(":")[0], line[1], line[2]) for line in lines if len(line) == 3}
    found = []
    for module in sorted({module for module, _, _ in living if module.startswith(f"opsinfo_cli/{wing}/")}):
        source = (place / module).read_text("utf-8")
        changes = ((number, mutant(source, number)) for number in range(count(source)))
        found += [(module, number) for number, each in changes if (module, each.text, each.what) in living]
    return found


def run(
    wing: str, place: Path, known: Measured, work: list[tuple[str, int]]
) -> Iterator[tuple[str, Mutant, str | None]]:
    """Each change that is not known to be equal, and how it was noticed."""
    equal = equal_ones()
    for module, number in work:
        file = place / module
        source = file.read_text("utf-8")
        change = mutant(source, number)
        if (module, change.text, change.what) in equal:
            yield module, change, "equal"
            continue
        for stale in file.parent.glob(f"__pycache__/{file.stem}.*"):
            stale.unlink()
        file.write_text(change.source, "utf-8")
        try:
            yield module, change, is_noticed(place, wing, module, change, known)
        finally:
            file.write_text(source, "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("wings", nargs="+", choices=list(WINGS), metavar="WING")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--module", default="*")
    parser.add_argument("--again", type=Path, help="only the changes that an earlier run printed as living")
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    os.environ.setdefault("OPSINFO_CORPUS", str(ROOT.parent / "shared" / "corpus"))
    with tempfile.TemporaryDirectory() as scratch:
        work = given.work or Path(scratch)
        place = work / "copy"
        if not place.exists():
            copy_of_project(place)
        for wing in given.wings:
            known = measured(place, work, wing)
            tally = {"line": 0, "module": 0, "processes": 0, "equal": 0, None: 0}
            places = (
                again(place, wing, given.again)
                if given.again
                else chosen(place, wing, given.module, given.sample, given.seed)
            )
            require_passing(place, known, sorted({module for module, _ in places})[:2])
            for module, change, how in run(wing, place, known, places):
                tally[how] += 1
                if how is None:
                    print(f"lives: {module}:{change.line}\t{change.text}\t{change.what}", flush=True)
            tried = sum(tally.values()) - tally["equal"]
            killed = tried - tally[None]
            share = f"{killed / max(1, tried):.0%}"
            print(f"{wing}: {killed} of {tried} noticed ({share}), {tally['equal']} equal; {tally}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
