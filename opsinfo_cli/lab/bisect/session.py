"""A running search: questions become trials at a place, their ends verdicts, and verdicts answers."""

from __future__ import annotations

import os
import re
import time
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from ...errors import Refused, UsageFault
from .run_folder import OUTPUT
from .search.minimal_set import END_RUNS, SearchEnd, find_minimal_set
from .search.question import Question, next_questions
from .trial import Trial
from .verdicts import Knowledge, SetRun, TrialVerdict, loss_of, verdict_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from typing import TypeVar

    from .journal import Past, SearchJournal
    from .run_folder import RunFolder
    from .search.cheapest_set import FindCheaper
    from .search.minimal_set import Ended, Price
    from .search.question import Kept
    from .trial import Files, TrialEnd, TrialPlace
    from .verdicts import SetTally

    T = TypeVar("T")

_LOST = 20
"""How often a set is tried again after its place was lost: chosen, as a check that kills its host loses all places."""
_EXTRA = 2
"""The additional lead required of the passing runs of the final list, if verdicts may be wrong: chosen; with it the
right list was found in 100 of 100 searches (docs/evidence.md, Searches)."""
_TICK = 0.5
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class RunBudget(NamedTuple):
    """:param runs: maximum number of runs; None: unlimited
    :param seconds: time during which runs may be started; None: unlimited
    """

    runs: int | None = None
    seconds: float | None = None

    @classmethod
    def read(cls, text: str) -> RunBudget:
        """Parse a number of runs (``40``) or a time (``90m``, ``6h``, ``1.5d``).

        :raises UsageFault: if it is neither
        """
        match = re.fullmatch(r"([0-9]{1,9})|([0-9]{1,9}(?:\.[0-9]{1,9})?)([smhd])", text)
        if match is None:
            raise UsageFault(f"--budget: `{text}` is neither a number of runs nor a time", hint="40, 90m or 6h")
        return cls(runs=int(match[1])) if match[1] else cls(seconds=float(match[2]) * _UNITS[match[3]])

    def is_spent(self, runs: int, seconds: float) -> bool:
        """Whether no further run may be started."""
        return (self.runs is not None and runs >= self.runs) or (self.seconds is not None and seconds >= self.seconds)


class Rules(NamedTuple):
    """How runs are made and counted.

    :param lead: a list is run until one verdict has so many more runs than the other; None: one run decides
    :param retries: how often a run that ends by a signal or with 128 or more is repeated
    :param max_drop: how much larger a list's loss may be than that of the largest list; None: unlimited
    """

    command: Sequence[str]
    lead: int | None = None
    timeout: float | None = None
    retries: int = 1
    budget: RunBudget = RunBudget()
    max_drop: float | None = None


class SearchSubject(NamedTuple):
    """The candidates of a search and their effects.

    :param digest: of a set's effect: sets with the same digest have the same verdict
    :param files: the files of a trial by NAME, for a set and the number of the trial
    :param cheaper: goes on from a minimal set to the cheapest; None: what sets cost is unknown
    :param ends: runs of each end of the search
    """

    names: Sequence[str]
    digest: Callable[[Kept], str]
    files: Callable[[Kept, int], Files]
    cheaper: FindCheaper | None = None
    ends: int = END_RUNS


class OutOfBudget(Exception):
    """No further run may be started."""


class Unusable(Refused):
    """The check gives no verdict.

    :ivar output: the end of what it printed
    """

    default_name = "check-unusable"
    output = ""


class Expenses:
    """What all processes of a search have spent.

    :ivar seconds: total of all runs
    :ivar before: the same at the start of this process
    :ivar reference: the loss of the largest list, which bounds that of the others; None: unknown or not needed
    """

    def __init__(self) -> None:
        self.counts = dict.fromkeys(TrialVerdict, 0)
        self.cannot_tell: list[int] = []
        self.seconds = self.before = 0.0
        self.begun = time.monotonic()
        self.searched = self.waited = 0.0
        self.reference: float | None = None
        self.started = 0

    @property
    def runs(self) -> int:
        return sum(self.counts.values())

    def add(self, trial: int, verdict: TrialVerdict, seconds: float) -> None:
        if verdict is TrialVerdict.CANNOT_TELL:
            self.cannot_tell.append(trial)
        self.counts[verdict] += 1
        self.seconds += seconds

    @property
    def elapsed(self) -> float:
        """The seconds that count against the budget: of this process, and the sum of all earlier runs."""
        return self.before + time.monotonic() - self.begun

    @property
    def overhead(self) -> float:
        """Seconds that opsinfo itself takes for each trial of this process."""
        return max(0.0, self.searched - self.waited) / max(1, self.started)


class SearchSession:
    """:param past: the journal of earlier processes
    :param watch: called whenever a run begins or ends
    :param spent: that of the search that this one continues
    :ivar running: sets by the number of their trial
    :ivar expected: the runs of this search alone; None: not estimated
    :ivar left: maximum number of remaining sets, if the check is monotone
    :ivar found: a minimal set that passes, while a cheaper one is searched for
    :ivar saved: the sets that the search asked for and that needed no run then
    :ivar outputs: the end of what the last trial of each set printed that did not pass
    :ivar losses: by trial, as far as it printed a number
    """

    def __init__(
        self,
        subject: SearchSubject,
        rules: Rules,
        place: TrialPlace,
        folder: RunFolder,
        journal: SearchJournal,
        past: Past | None = None,
        watch: Callable[[SearchSession], None] = lambda _: None,
        spent: Expenses | None = None,
    ) -> None:
        self.subject = subject
        self.rules = rules
        self.place = place
        self.folder = folder
        self.journal = journal
        self.watch = watch
        self.knowledge = Knowledge(subject.digest, rules.lead)
        self.running: dict[int, Kept] = {}
        self.spent = spent or Expenses()
        self.expected: Price | None = None
        self._before = spent.runs if spent else 0
        self.number = past.last if past else 0
        self.left = 0
        self.found: Kept | None = None
        self.saved: set[Kept] = set()
        self.outputs: dict[Kept, str] = {}
        self.losses: dict[int, float] = {}
        self._failures: dict[Kept, int] = {}
        if past and spent is None:
            for trial in past.trials:
                self.spent.add(trial.number, trial.verdict, trial.seconds)
                if trial.kept == set(subject.names) and trial.verdict is TrialVerdict.PASS:
                    self._refer(trial.loss)
            self.spent.before = self.spent.seconds
        if past:
            numbers = {name: number for number, name in enumerate(subject.names)}
            self.knowledge.add(
                SetRun(frozenset(map(numbers.__getitem__, trial.kept)), trial.number, trial.verdict)
                for trial in past.trials
                if trial.kept <= numbers.keys()
            )
            self.losses = {trial.number: trial.loss for trial in past.trials if trial.loss is not None}

    def continue_with(self, subject: SearchSubject) -> SearchSession:
        """Return a session for another subject that continues this one's budget, journal and trial numbers.

        Of this one's runs it shares exactly those of the empty set, which is the base list in both: no other set is one
        of its names, because names of nodes have a prefix that no op type has.
        """
        past = self.journal.past()
        return SearchSession(subject, self.rules, self.place, self.folder, self.journal, past, self.watch, self.spent)

    def search(self, weights: Sequence[float], singles: Sequence[int] = ()) -> SearchEnd:
        """Search to the end; the final list is run itself, and more often if verdicts may be wrong.

        If the final list is refuted, the search continues another way from the run that was wrong.

        :raises OutOfBudget: if runs are needed and none is allowed
        :raises Unusable: if the check gives no verdict
        """
        start = partial(find_minimal_set, weights, self.subject.cheaper, singles, self.subject.ends)
        while True:
            try:
                end = self._run(start)
            except OutOfBudget:
                if self.found is None:
                    raise
                end = self.so_far("found")
            if end.kept is None or self._confirm(end.kept):
                return end

    @property
    def runs(self) -> int:
        """The runs of this search alone, without those of the one that it continues."""
        return self.spent.runs - self._before

    def run_prefixes(self) -> None:
        """Run the lists of the 1, 2, 4 ... most suspected candidates, as far as the budget allows it."""
        size = 1
        while size < len(self.subject.names):
            kept = frozenset(range(size))
            try:
                self._run(lambda kept=kept: _ask(kept))  # type: ignore[misc]
            except OutOfBudget:
                return
            size *= 2

    def so_far(self, ended: Ended) -> SearchEnd:
        """Return the end of a search that was stopped."""
        kept = self.knowledge.best() if self.found is None else self.found
        return SearchEnd(ended, kept, self.found is not None, self.knowledge.monotone)

    def lists(self) -> Iterator[tuple[list[str], SetTally]]:
        """Yield the lists that were run, in order, with their runs."""
        for tally in sorted(self.knowledge.tallies.values(), key=lambda tally: tally.runs[0].trial):
            yield self._names(min((run.kept for run in tally.runs), key=sorted)), tally

    def proof(self, kept: Kept, member: int) -> int | None:
        """Return the number of the trial that failed without a member; None: there was none."""
        return self.knowledge.tally(kept - {member}).last_failed()

    def _run(self, start: Callable[[], Generator[Question, bool, T]]) -> T:
        """Answer the questions of a search.

        :param start: creates it; called several times if places would be idle
        :raises Unusable: if the check gives no verdict, or the two runs of an end disagree and single runs decide
        """
        search = start()
        begun = time.monotonic()
        try:
            question = next(search)
            while True:
                self.left, self.found = question.left, question.found
                answer = self.knowledge.answer(question)
                while answer is None:
                    self._fill(question, start)
                    self._collect()
                    answer = self.knowledge.answer(question)
                if self.rules.lead is None and question.least > 1 and self._disagree(question.kept):
                    continue
                if all(run.kept != question.kept for run in self.knowledge.runs):
                    self.saved.add(question.kept)
                question = search.send(answer)
        except StopIteration as stop:
            end: T = stop.value
            return end
        finally:
            self.spent.searched += time.monotonic() - begun
            self.place.stop()
            self.running.clear()

    def _disagree(self, kept: Kept) -> bool:
        """Return whether another set with the same dtypes had another verdict: every set counts by itself then.

        :raises Unusable: if runs of the set itself disagree
        """
        tally = self.knowledge.tally(kept)
        if len({run.verdict is TrialVerdict.PASS for run in tally.runs if run.kept == kept}) > 1:
            raise Unusable(
                "the check is noisy: two runs with the same list disagree",
                name="check-noisy",
                hint="--resume --lead 2 goes on, and repeats runs until one verdict leads by 2: enough for 2 % "
                "wrong verdicts; for 5 %, --lead 3",
            )
        if tally.disagrees:
            self.knowledge.part()
        return tally.disagrees

    def _confirm(self, kept: Kept) -> bool:
        """Return whether the set of an answer passes in its own runs, and leads by more if verdicts may be wrong.

        It may have had its verdict from another set with the same dtypes. Then these do not decide what the check says,
        and every set counts by itself from now on.
        """
        if self.rules.lead is not None and not self._run(lambda: _ask(kept, extra=_EXTRA)):
            return False
        passes = self._run(lambda: _ask(kept, own=True))
        if not passes and any(run.kept != kept for run in self.knowledge.tally(kept).runs):
            self.knowledge.part()
        return passes

    def _fill(self, question: Question, start: Callable[[], Generator[Question, bool, T]]) -> None:
        """Start the runs that the question needs, and on idle places the runs that will probably be needed next.

        :raises OutOfBudget: if none may be started, and none is running
        """
        free = self.place.slots - len(self.running)
        questions, key_of = [question], self.knowledge.key_of
        is_bounded = self.rules.max_drop is None or self.spent.reference is not None
        if self.place.slots > 1 and is_bounded:
            likely = next_questions(start, self.knowledge.answer, self.place.slots)
            questions += [other for other in likely if other.kept != question.kept]
        for wanted in questions:
            running = [key_of(kept) for kept in self.running.values()].count(key_of(wanted.kept))
            for _ in range(min(free, self.knowledge.missing(wanted) - running)):
                if self.rules.budget.is_spent(self.spent.runs + len(self.running), self.spent.elapsed):
                    break
                self._start(wanted.kept)
                free -= 1
        if not self.running:
            raise OutOfBudget

    def _start(self, kept: Kept) -> None:
        self.number += 1
        self.spent.started += 1
        self.journal.record_start(self.number, self._names(kept))  # its number is reserved now
        files = self.subject.files(kept, self.number)
        folder = self.folder.trial(self.number, files)
        self.running[self.number] = kept
        self.place.start(Trial(self.number, kept, files, folder, self.rules.command, self.rules.timeout))
        self.watch(self)

    def _collect(self) -> None:
        ends: list[tuple[Trial, TrialEnd]] = []
        begun = time.monotonic()
        while not ends:
            ends = self.place.wait(_TICK)
            self.watch(self)
        self.spent.waited += time.monotonic() - begun
        for trial, end in ends:
            del self.running[trial.number]
            self._judge(trial, end)
        self.watch(self)

    def _judge(self, trial: Trial, end: TrialEnd) -> None:
        verdict = None
        if end.code is not None and not end.timed_out and not end.lost:
            verdict = verdict_of(end.code)
        if verdict is None:
            self._repeat(trial, end)
            return
        loss = loss_of(end.tail)
        if verdict is TrialVerdict.PASS and self.rules.max_drop is not None:
            verdict = self._judge_loss(trial, loss, self.rules.max_drop, end)
        if loss is not None:
            self.losses[trial.number] = loss
        self.journal.record_verdict(trial, self._names(trial.kept), verdict, end)
        self._failures.pop(trial.kept, None)
        self.knowledge.add([SetRun(trial.kept, trial.number, verdict)])
        self.spent.add(trial.number, verdict, end.seconds)
        if verdict is not TrialVerdict.PASS:
            self.outputs[trial.kept] = end.tail

    def _judge_loss(self, trial: Trial, loss: float | None, max_drop: float, end: TrialEnd) -> TrialVerdict:
        """Return whether a loss is near enough to that of the largest list, which is run first.

        :raises Unusable: if the check printed no number, or the largest list failed or has no finite loss
        """
        if len(trial.kept) == len(self.subject.names):
            self._refer(loss)
        reference = self.spent.reference
        if loss is None or reference is None:
            what = "no number" if loss is None else f"{loss:g}, and there is no finite loss of the largest list"
            hint = "--max-drop needs the loss as the last number of the output; less is better"
            path = os.path.join(trial.folder, OUTPUT)
            error = Unusable(f"the check is unusable: trial {trial.number} printed {what}", path=path, hint=hint)
            error.output = end.tail
            raise error
        return TrialVerdict.PASS if loss - reference <= max_drop else TrialVerdict.FAIL

    def _refer(self, loss: float | None) -> None:
        """Take the first finite loss of the largest list as the reference."""
        if self.spent.reference is None and loss is not None and isfinite(loss):
            self.spent.reference = loss

    def _repeat(self, trial: Trial, end: TrialEnd) -> None:
        """Repeat a run without a verdict: after a signal, 128 and more, or a lost place.

        :raises Unusable: if that cannot help, or was done too often
        """
        why = _reason(end)
        self.journal.record_repeat(trial, end, why)
        failures = self._failures[trial.kept] = self._failures.get(trial.kept, 0) + 1
        repeatable = end.lost or (not end.timed_out and (end.code is None or end.code >= 128))
        if repeatable and failures <= (_LOST if end.lost else self.rules.retries):
            return
        path = os.path.join(trial.folder, OUTPUT)
        error = Unusable(f"the check is unusable: trial {trial.number} {why}", path=path, hint=_hint(end))
        error.output = end.tail
        raise error

    def _names(self, kept: Kept) -> list[str]:
        return [self.subject.names[number] for number in sorted(kept)]


def _ask(kept: Kept, own: bool = False, extra: int = 0) -> Generator[Question, bool, bool]:
    return (yield Question(kept, exact=True, own=own, likely=0.9, extra=extra))


def _reason(end: TrialEnd) -> str:
    if end.lost:
        return "lost its place"
    if end.timed_out:
        return f"took longer than --timeout ({end.seconds:.0f} s)"
    if end.code is None:
        return f"was ended by signal {end.signal}"
    shell = {126: ": a command cannot be executed", 127: ": a command was not found"}
    return f"ended with {end.code}{shell.get(end.code, '')}"


def _hint(end: TrialEnd) -> str:
    if end.timed_out:
        return "the journal is kept; resume with a longer --timeout; `timeout SECONDS COMMAND` fails instead, with 124"
    if end.code in (126, 127):
        return "the journal is kept; continue with --resume, or with --resume --force if you change the command"
    return "the journal is kept; --retries N repeats such runs, --resume continues the search"
