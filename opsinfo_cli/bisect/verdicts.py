"""Verdicts: of one run, and of a set of candidates after one run or several."""

from __future__ import annotations

from enum import Enum

from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from .question import Kept, Question


class TrialVerdict(str, Enum):
    """What one run of the check says; a run without a verdict is repeated, or ends the search."""

    PASS = "pass"
    FAIL = "fail"
    CANNOT_TELL = "cannot-tell"

    def __str__(self) -> str:
        return self.value


SKIPS = 125
"""The exit status that says: this trial cannot be judged; as in `git bisect run`."""


def verdict_of(code: int) -> TrialVerdict | None:
    """The verdict of an exit status; None: the check did not judge (126 and more)."""
    if code == 0:
        return TrialVerdict.PASS
    if code == SKIPS:
        return TrialVerdict.CANNOT_TELL
    return TrialVerdict.FAIL if 0 < code < SKIPS else None


class Counting(NamedTuple):
    """How many runs decide.

    :param repeat: the majority of so many runs
    :param lead: runs until one verdict has so many more than the other; None: ``repeat`` counts
    """

    repeat: int = 1
    lead: int | None = None

    @property
    def single(self) -> bool:
        return self.lead is None and self.repeat == 1


class SetTally:
    """The runs of one set.

    :ivar passed: how many passed
    :ivar failed: how many failed or could not tell
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
        """How many more runs it takes at least until they decide; 0: they do.

        :param least: runs that it takes anyway
        :param extra: how much farther one verdict must lead
        """
        short = least - len(self.trials)
        if counting.lead is not None:
            return max(short, counting.lead + extra - abs(self.passed - self.failed), 0)
        if counting.single:
            return max(short, 0)
        return max(short, counting.repeat // 2 + 1 + extra - max(self.passed, self.failed), 0)

    @property
    def verdict(self) -> bool:
        """Whether most runs passed."""
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
    """What the runs so far say about sets: by the dtypes that a set leads to, by the set, and by what follows.

    :param key_of: of a set; sets with the same key have the same verdict
    :ivar runs: in order
    :ivar monotone: False once two verdicts contradict each other
    :ivar saved: sets that were asked for and needed no run
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
        """Tell sets apart by other keys from now on."""
        runs, self.runs = self.runs, []
        self.key_of = key_of
        self.tallies.clear()
        self.sets.clear()
        for kept, trial, verdict in runs:
            self.add(kept, trial, verdict)

    def missing(self, question: Question) -> int:
        """How many more runs a question takes at least."""
        return self.tally(question.kept).missing(self.counting, question.least, question.extra)

    def answer(self, question: Question) -> bool | None:
        """Whether a set passes; None: it takes a run."""
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
        """The smallest set that passes; None: none is known."""
        return min(self.passing, key=lambda kept: (len(kept), sorted(kept)), default=None)
