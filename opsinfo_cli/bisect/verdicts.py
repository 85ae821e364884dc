"""Verdicts: of one run, and of a set of candidates after one run or several."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from .question import Kept, Question


class TrialVerdict(str, Enum):
    """The verdict of one run of the check; a run without a verdict is repeated, or ends the search."""

    PASS = "pass"
    FAIL = "fail"
    CANNOT_TELL = "cannot-tell"

    def __str__(self) -> str:
        return self.value


SKIPS = 125
"""The exit status of a trial that cannot be judged, as in `git bisect run`."""


def verdict_of(code: int) -> TrialVerdict | None:
    """Return the verdict of an exit status; None: no verdict (126 and more)."""
    if code == 0:
        return TrialVerdict.PASS
    if code == SKIPS:
        return TrialVerdict.CANNOT_TELL
    return TrialVerdict.FAIL if 0 < code < SKIPS else None


class Counting(NamedTuple):
    """How many runs decide a verdict.

    :param repeat: take the majority of so many runs
    :param lead: run until one verdict leads by so many runs; None: use ``repeat``
    """

    repeat: int = 1
    lead: int | None = None

    @property
    def single(self) -> bool:
        return self.lead is None and self.repeat == 1


class SetTally:
    """The runs of one set.

    :ivar passed: how many passed
    :ivar failed: how many failed or had no verdict
    :ivar trials: numbers of the trials with their verdicts, in order
    """

    def __init__(self) -> None:
        self.passed = self.failed = 0
        self.trials: list[tuple[int, TrialVerdict]] = []

    def add(self, trial: int, verdict: TrialVerdict) -> None:
        self.trials.append((trial, verdict))
        if verdict is TrialVerdict.PASS:
            self.passed += 1
        else:
            self.failed += 1

    def missing(self, counting: Counting, least: int = 1, extra: int = 0) -> int:
        """Return the minimum number of runs until they decide; 0: they do.

        :param least: minimum number of runs in any case
        :param extra: additional lead that one verdict must have
        """
        short = least - len(self.trials)
        if counting.lead is not None:
            return max(short, counting.lead + extra - abs(self.passed - self.failed), 0)
        if counting.single:
            return max(short, 0)
        return max(short, counting.repeat // 2 + 1 + extra - max(self.passed, self.failed), 0)

    @property
    def verdict(self) -> bool:
        """Return whether most runs passed."""
        return self.passed > self.failed

    @property
    def disagrees(self) -> bool:
        return bool(self.passed and self.failed)

    def last(self, passed: bool) -> int | None:
        """The number of the last trial that passed, or that did not."""
        said = (number for number, verdict in reversed(self.trials) if (verdict is TrialVerdict.PASS) is passed)
        return next(said, None)


class SetRun(NamedTuple):
    """One run of a set."""

    kept: Kept
    trial: int
    verdict: TrialVerdict


class Knowledge:
    """The verdicts on sets so far: by resulting dtypes, by set, and by conclusion.

    :param key_of: the key of a set; sets with the same key have the same verdict
    :ivar runs: in order
    :ivar monotone: False once two verdicts contradict each other
    :ivar saved: sets that needed no run
    """

    def __init__(self, key_of: Callable[[Kept], str], counting: Counting) -> None:
        self.key_of = key_of
        self.counting = counting
        self.runs: list[SetRun] = []
        self.tallies: dict[str, SetTally] = {}
        self.sets: dict[str, set[Kept]] = {}
        self.passing: list[Kept] = []
        self.failing: list[Kept] = []
        self.monotone = True
        self.saved: set[Kept] = set()

    def tally(self, kept: Kept) -> SetTally:
        return self.tallies.setdefault(self.key_of(kept), SetTally())

    def add(self, kept: Kept, trial: int, verdict: TrialVerdict) -> None:
        """Take a run into account."""
        self.runs.append(SetRun(kept, trial, verdict))
        self.tally(kept).add(trial, verdict)
        self.sets.setdefault(self.key_of(kept), set()).add(kept)
        self._conclude()

    def was_run(self, kept: Kept) -> bool:
        """Whether exactly this set was run."""
        return any(each.kept == kept for each in self.runs)

    def part(self, key_of: Callable[[Kept], str]) -> None:
        """Distinguish sets by other keys from now on."""
        runs, self.runs = self.runs, []
        self.key_of = key_of
        self.tallies.clear()
        self.sets.clear()
        for kept, trial, verdict in runs:
            self.add(kept, trial, verdict)

    def missing(self, question: Question) -> int:
        """Return the minimum number of runs until a question is answered."""
        return self.tally(question.kept).missing(self.counting, question.least, question.extra)

    def answer(self, question: Question) -> bool | None:
        """Return whether a set passes; None: a run is needed."""
        own = self.tallies.get(self.key_of(question.kept))
        if own is not None and own.trials and not own.missing(self.counting, question.least, question.extra):
            if question.kept not in self.sets[self.key_of(question.kept)]:
                self.saved.add(question.kept)
            return own.verdict
        if question.exact or not self.monotone:
            return None
        found = self._follows(question.kept)
        if found is not None:
            self.saved.add(question.kept)
        return found

    def _follows(self, kept: Kept) -> bool | None:
        if any(each <= kept for each in self.passing):
            return True
        return False if any(kept <= each for each in self.failing) else None

    def _conclude(self) -> None:
        decided = [
            (kept, tally.verdict)
            for key, tally in self.tallies.items()
            if tally.trials and not tally.missing(self.counting)
            for kept in self.sets[key]
        ]
        self.passing = [kept for kept, passed in decided if passed]
        self.failing = [kept for kept, passed in decided if not passed]
        self.monotone = not any(low <= high for low in self.passing for high in self.failing)

    def best(self) -> Kept | None:
        """Return the smallest set that passes; None: none is known."""
        return min(self.passing, key=lambda kept: (len(kept), sorted(kept)), default=None)
