"""Verdicts: of one run, with the loss that it prints, and of a set of candidates after one run or several."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .search.question import Kept, Question

SKIPS = 125
"""The exit status of a trial that cannot be judged, as in `git bisect run`."""


class TrialVerdict(str, Enum):
    """The verdict of one run of the check; a run without a verdict is repeated, or ends the search."""

    PASS = "pass"
    FAIL = "fail"
    CANNOT_TELL = "cannot-tell"


def verdict_of(code: int) -> TrialVerdict | None:
    """Return the verdict of an exit status; None: no verdict (126 and more)."""
    if code == 0:
        return TrialVerdict.PASS
    if code == SKIPS:
        return TrialVerdict.CANNOT_TELL
    return TrialVerdict.FAIL if 0 < code < SKIPS else None


_NUMBER = re.compile(
    r"(?<![\w.-])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|inf(?:inity)?|nan)(?![\w]|\.\d)", re.IGNORECASE
)


def loss_of(output: str) -> float | None:
    """Return the last number that stands by itself; None: there is none.

    >>> loss_of("top1 0.761\\nloss: 3.2e-04 (float16)"), loss_of("done"), loss_of("-0.76")
    (0.00032, None, -0.76)
    """
    found = _NUMBER.findall(output)
    return float(found[-1]) if found else None


class SetRun(NamedTuple):
    """One run of a set."""

    kept: Kept
    trial: int
    verdict: TrialVerdict


class SetTally:
    """The runs of the sets with one key, in order."""

    def __init__(self, runs: Iterable[SetRun] = ()) -> None:
        self.runs = [*runs]

    @property
    def passed(self) -> int:
        return sum(run.verdict is TrialVerdict.PASS for run in self.runs)

    @property
    def failed(self) -> int:
        """Runs that failed or could not tell."""
        return len(self.runs) - self.passed

    def missing(self, lead: int | None, least: int = 1, extra: int = 0) -> int:
        """Return the minimum number of runs until they decide; 0: they do.

        :param lead: how many more runs one verdict must have than the other; None: one run decides
        :param extra: additional lead that one verdict must have
        """
        short = max(0, least - len(self.runs))
        return short if lead is None else max(short, lead + extra - abs(self.passed - self.failed))

    @property
    def verdict(self) -> bool:
        """Whether most runs passed."""
        return self.passed > self.failed

    @property
    def disagrees(self) -> bool:
        return bool(self.passed and self.failed)

    def last_failed(self) -> int | None:
        """The number of the last trial that did not pass."""
        return max((run.trial for run in self.runs if run.verdict is not TrialVerdict.PASS), default=None)


class Knowledge:
    """The verdicts on sets so far: by resulting dtypes, by set, and by conclusion.

    :param key_of: the key of a set; sets with the same key have the same verdict
    :param lead: how many more runs one verdict must have than the other; None: one run decides
    """

    def __init__(self, key_of: Callable[[Kept], str], lead: int | None) -> None:
        self.key_of = key_of
        self.lead = lead
        self.runs: list[SetRun] = []
        self.tallies: dict[str, SetTally] = {}
        self.passing: set[Kept] = set()
        self.failing: set[Kept] = set()
        self._contradictions: set[tuple[Kept, Kept]] = set()

    def tally(self, kept: Kept) -> SetTally:
        return self.tallies.get(self.key_of(kept)) or SetTally()

    def add(self, runs: Iterable[SetRun]) -> None:
        changed: dict[str, SetTally] = {}
        for run in runs:
            self.runs.append(run)
            key = self.key_of(run.kept)
            changed[key] = self.tallies.setdefault(key, SetTally())
            changed[key].runs.append(run)
        for tally in changed.values():  # only its sets are compared with those of the others
            sets = {run.kept for run in tally.runs}
            self.passing -= sets
            self.failing -= sets
            self._contradictions = {pair for pair in self._contradictions if sets.isdisjoint(pair)}
            if tally.missing(self.lead):
                continue
            if tally.verdict:
                self.passing |= sets
                self._contradictions |= {(low, high) for low in sets for high in self.failing if low <= high}
            else:
                self.failing |= sets
                self._contradictions |= {(low, high) for low in self.passing for high in sets if low <= high}

    @property
    def monotone(self) -> bool:
        """Whether no two verdicts contradict each other."""
        return not self._contradictions

    @property
    def parted(self) -> bool:
        """Whether every set counts by itself."""
        return self.key_of is _by_members

    def part(self) -> None:
        """Let every set count by itself from now on: sets with one key had different verdicts."""
        runs, self.runs = self.runs, []
        self.key_of = _by_members
        for held in (self.tallies, self.passing, self.failing, self._contradictions):
            held.clear()
        self.add(runs)

    def missing(self, question: Question) -> int:
        """Return the minimum number of runs until a question is answered."""
        return self._tally_for(question).missing(self.lead, question.least, question.extra)

    def answer(self, question: Question) -> bool | None:
        """Return whether a set passes; None: a run is needed."""
        kept = question.kept
        tally = self._tally_for(question)
        if tally.runs and not self.missing(question):
            return tally.verdict
        if question.exact or not self.monotone:
            return None
        passes = any(passing <= kept for passing in self.passing)
        return passes if passes or any(kept <= failing for failing in self.failing) else None

    def _tally_for(self, question: Question) -> SetTally:
        tally = self.tally(question.kept)
        return SetTally(run for run in tally.runs if run.kept == question.kept) if question.own else tally

    def best(self) -> Kept | None:
        """Return the smallest set that passes; None: none is known."""
        return min(self.passing, key=lambda kept: (len(kept), sorted(kept)), default=None)


def _by_members(kept: Kept) -> str:
    """The key of a set that counts by itself."""
    return ",".join(map(str, sorted(kept)))
