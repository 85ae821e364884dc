"""Change the package one place at a time, and see which changes CI's tests notice.

    python tests/long/mutate.py WING... [--sample N] [--seed S] [--module GLOB] [--again FILE] [--quick] [--work FOLDER]

A wing is a folder of the package. The tests that ``mutation_wings.json`` names run once under coverage, for all wings.
For each change, those that reach the changed line are run then, the quickest first, in a process forked from one that
has imported pytest already; if none fails, those that reach the module; at last those of the wing that start processes
of their own, whose lines coverage does not see. A failure counts if the same test passes without the change. All of it
happens in a copy. Without ``--sample`` every change is tried. ``equal_mutants.tsv`` holds changes that make no
difference, each with the reason; they are not tried. Prints the changes that no test notices, and the share of those
that one does, without and with those that make no difference. ``--work`` keeps the copy and what was measured, for the
next run, ``--quick`` leaves out tests that start processes.
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
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate
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
_NAMED = json.loads((HERE / "mutation_wings.json").read_text("utf-8"))
TESTS: list[str] = _NAMED["tests"]
WINGS: dict[str, list[str]] = _NAMED["wings"]
"""The tests of each wing that start processes of their own."""
OPTIONS = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist"]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is imported before the fork
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".ci", ".*_cache", ".hypothesis", "__pycache__", "node_modules", "dist", "site"
)
MOST = 60
"""Measured seconds of tests that are tried if the thirty quickest of the line notice nothing: first those of the line,
then others of the module, each beginning with the wing's own, in the order of how much of the module they reach."""


class Measured(NamedTuple):
    """Tests by the line of a module that they reach, and how long each takes."""

    reached: dict[str, dict[int, set[str]]]
    seconds: dict[str, float]

    def of_lines(self, module: str, lines: Iterable[int]) -> list[str]:
        by_line = self.reached.get(module, {})
        return self._sorted({test for line in lines for test in by_line.get(line, ())})

    def of_module(self, module: str) -> Counter[str]:
        """How many lines of a module each test reaches."""
        return Counter(test for tests in self.reached.get(module, {}).values() for test in tests)

    def in_time(self, tests: list[str]) -> list[str]:
        """The first tests, while the time lasts."""
        seconds = accumulate(self.seconds.get(test, 1.0) for test in tests)
        return [test for test, passed in zip(tests, seconds, strict=True) if passed < MOST]

    def _sorted(self, tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self.seconds.get(test, 1.0), test))


class Timer:
    """A plugin of pytest that keeps how long each test takes, and which fail."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)

    def kept(self) -> dict[str, float]:
        """The seconds of those that pass."""
        return {test: seconds for test, seconds in self.seconds.items() if test not in self.failed}


class Ended(NamedTuple):
    """
    :param status: pytest's exit status; 70 if it could not run, 124 if it took too long
    :param test: the test that failed, if one did
    """

    status: int
    test: str | None


def forked(place: Path, words: list[str], cpu: int) -> Ended:
    """Run tests up to the first that fails, in a separate process."""
    failed_file = place.parent / "failed.txt"
    failed_file.unlink(missing_ok=True)
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
            timer, parent = Timer(), os.getpid()
            status = int(pytest.main([*OPTIONS, *words], plugins=[timer]))
            if os.getpid() == parent and timer.failed:
                failed_file.write_text(timer.failed[0], "utf-8")
        except SystemExit as error:
            status = int(error.code or 0)
        except BaseException as error:
            with (place.parent / "faults.txt").open("a") as file:
                traceback.print_exception(error, file=file)
        os._exit(status)
    status = _ended(child, time.monotonic() + 20 * cpu)
    return Ended(status, failed_file.read_text("utf-8") if failed_file.exists() else None)


def _ended(child: int, deadline: float) -> int:
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.02)
    else:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):  # processes that it left running
        os.killpg(child, signal.SIGKILL)
    ended = os.waitstatus_to_exitcode(status)
    return ended if ended >= 0 else 124


def measured(place: Path, work: Path) -> Measured:
    """Run the tests once under coverage, or take what an earlier run kept; those that fail are left out."""
    data, kept = work / "measured.coverage", work / "measured.seconds.json"
    if not kept.exists():
        script = (
            "import json, sys, pytest; sys.path.insert(0, sys.argv[1]); from mutate import Timer; timer = Timer(); "
            "status = pytest.main(sys.argv[3:], plugins=[timer]); json.dump(timer.kept(), open(sys.argv[2], 'w')); "
            "print(*timer.failed, sep='\\n'); sys.exit(status)"
        )
        words = ["-q", "-p", "no:cacheprovider", "--cov=opsinfo_cli", "--cov-context=test", "--cov-report="]
        words += ["--cov-fail-under=0", "-m", "not process", *OPTIONS[-2:]]
        environment = {**os.environ, "PYTHONPATH": str(place), "COVERAGE_FILE": str(data)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # rewritten asserts are kept for the trials
        command = [sys.executable, "-c", script, str(HERE), str(kept), *words, *TESTS]
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"some tests fail before anything is changed:\n{done.stdout[-3000:]}{done.stderr[-500:]}", flush=True)
        if done.returncode not in (0, 1):
            kept.unlink(missing_ok=True)
            sys.exit("the tests cannot be measured")
    seconds = json.loads(kept.read_text("utf-8"))
    return Measured(_reached(data, set(seconds)), seconds)


def _reached(data: Path, passing: set[str]) -> dict[str, dict[int, set[str]]]:
    known = CoverageData(str(data))
    known.read()
    found = {}
    for path in known.measured_files():
        lines = known.contexts_by_lineno(path)
        module = "opsinfo_cli/" + path.rpartition("/opsinfo_cli/")[2]
        found[module] = {
            line: passing.intersection(each.rpartition("|")[0] for each in tests) for line, tests in lines.items()
        }
    return found


class Trials:
    """Runs tests against one change after the other."""

    def __init__(self, place: Path, known: Measured, is_quick: bool) -> None:
        self.place, self.known, self.is_quick = place, known, is_quick
        self.sound: set[str] = set()
        self.unsound: set[str] = set()

    def noticed(self, wing: str, module: str, change: Mutant) -> str | None:
        """How a change was noticed: by the tests of its line, of its module, or those that start processes."""
        near = self.known.of_lines(module, change.lines)
        lines = self.known.of_module(module)

        def order(test: str) -> tuple[bool, int, str]:
            return not test.startswith(f"tests/{wing}/"), -lines[test], test

        of_line, of_module = sorted(near[30:], key=order), sorted(lines.keys() - set(near), key=order)
        stages = [
            ("line", near[:30]),
            *((stage, self.known.in_time(tests)) for stage, tests in (("line", of_line), ("module", of_module))),
        ]
        if not self.is_quick:
            stages.append(("processes", WINGS[wing]))
        for stage, tests in stages:
            cpu = (
                600 if stage == "processes" else 20 + int(6 * sum(self.known.seconds.get(test, 0.0) for test in tests))
            )
            if tests and self._fail(self.place / module, change.source, tests, cpu):
                return stage
        return None

    def _fail(self, file: Path, source: str, tests: list[str], cpu: int) -> bool:
        """Whether one of the tests fails with another source of a module, and passes with the module's own."""
        while tests := [test for test in tests if test not in self.unsound]:
            with replaced(file, source):
                ended = forked(self.place, tests, cpu)
            if ended.status == 0:
                return False
            doubtful = [ended.test] if ended.test else tests
            if self.sound.issuperset(doubtful):
                return True
            again = forked(self.place, doubtful, cpu)
            if again.status == 0:
                self.sound.update(doubtful)
                return True
            if again.test is None:
                sys.exit(f"pytest ends with {again.status} before anything is changed: {doubtful}")
            print(f"fails before anything is changed: {again.test}", flush=True)
            self.unsound.add(again.test)
            if again.test not in tests:  # one of a whole folder
                return False
        return False


@contextlib.contextmanager
def replaced(file: Path, source: str) -> Iterator[None]:
    """A module has another source meanwhile, and no bytecode of its own."""
    own = file.read_text("utf-8")
    for stale in file.parent.glob(f"__pycache__/{file.stem}.*"):
        stale.unlink()
    file.write_text(source, "utf-8")
    try:
        yield
    finally:
        file.write_text(own, "utf-8")


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


def run(wing: str, trials: Trials, work: list[tuple[str, int]]) -> Iterator[tuple[str, Mutant, str | None]]:
    """Each change, and how it was noticed, or ``equal`` if it is known to make no difference."""
    equal = equal_ones()
    for module, number in work:
        change = mutant((trials.place / module).read_text("utf-8"), number)
        known = (module, change.text, change.what) in equal
        yield module, change, "equal" if known else trials.noticed(wing, module, change)


def share_of(tally: dict[str | None, int]) -> str:
    """How many changes were noticed, without and with those that make no difference."""
    every = sum(tally.values())
    tried = every - tally["equal"]
    noticed = tried - tally[None]
    return f"{noticed} of {tried} noticed ({noticed / max(1, tried):.0%}); {noticed / max(1, every):.0%} of all {every}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("wings", nargs="+", choices=list(WINGS), metavar="WING")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--module", default="*")
    parser.add_argument("--again", type=Path, help="only the changes that an earlier run printed as living")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--quick", action="store_true", help="leave out tests that start processes")
    given = parser.parse_args()
    os.environ.setdefault("OPSINFO_CORPUS", str(ROOT.parent / "shared" / "corpus"))
    with tempfile.TemporaryDirectory() as scratch:
        work = given.work or Path(scratch)
        place = work / "copy"
        if not place.exists():
            shutil.copytree(ROOT, place, ignore=NOT_COPIED)
        trials = Trials(place, measured(place, work), given.quick)
        for wing in given.wings:
            tally = {"line": 0, "module": 0, "processes": 0, "equal": 0, None: 0}
            places = (
                again(place, wing, given.again)
                if given.again
                else chosen(place, wing, given.module, given.sample, given.seed)
            )
            for module, change, how in run(wing, trials, places):
                tally[how] += 1
                if how is None:
                    print(f"lives: {module}:{change.line}\t{change.text}\t{change.what}", flush=True)
            print(f"{wing}: {share_of(tally)}; {tally}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
