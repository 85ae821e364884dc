"""A running search: questions become trials at a place, their outcomes verdicts, and verdicts answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from .budget import Budget
from .places.place import Trial
from .question import Question
from .speculation import next_questions
from .unusable import Unusable, can_be_repeated, reason, unusable
from .verdicts import Counting, Knowledge, TrialVerdict, verdict_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import TypeVar

    from .journal import Past, SearchJournal
    from .places.place import TrialEnd, TrialPlace
    from .question import Kept
    from .subject import SearchSubject
    from .trial import RunFolder

    T = TypeVar("T")


class Rules(NamedTuple):
    """How runs are made and counted.

    :param retries: how often a run that ends by a signal or with 128 or more is repeated
    :param timeout_fails: whether a run that takes too long fails, instead of stopping the search
    """

    command: Sequence[str]
    counting: Counting = Counting()
    timeout: float | None = None
    timeout_fails: bool = False
    retries: int = 1
    budget: Budget = Budget()


class OutOfBudget(Exception):
    """No further run may be started."""


class Spent(NamedTuple):
    """The cost of the runs of all processes of a search.

    :param seconds: total of all runs
    """

    runs: int
    seconds: float


_LOST = 20
"""How often a set is tried again after its place was lost."""


class SearchSession:
    """:param watch: called whenever a run begins or ends
    :ivar running: sets by the number of their trial
    :ivar left: maximum number of remaining sets, if the check is monotone
    :ivar by_dtypes: False once lists with the same dtypes had different verdicts
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
    ) -> None:
        self.subject = subject
        self.rules = rules
        self.place = place
        self.folder = folder
        self.journal = journal
        self.watch = watch
        self.knowledge = Knowledge(subject.digest, rules.counting)
        self.running: dict[int, Kept] = {}
        self.cannot_tell: list[int] = []
        self.counts = dict.fromkeys(TrialVerdict, 0)
        self.spent = Spent(0, 0.0)
        self.number = 0
        self.rounds = 0
        self.left = 0
        self.by_dtypes = True
        self._searched = self._waited = 0.0
        self._made = 0
        self._begun = time.monotonic()
        self._before = 0.0
        self._failures: dict[Kept, int] = {}
        if past is not None:
            self._replay(past)

    def _replay(self, past: Past) -> None:
        self._learn(past)
        for trial in past.trials:
            self._spend(trial.number, trial.verdict, trial.seconds)
        self.number = past.last
        self._before = self.spent.seconds

    def _learn(self, past: Past) -> None:
        """Take over the verdicts on sets of these candidates."""
        numbers = {name: number for number, name in enumerate(self.subject.names)}
        for trial in past.trials:
            if trial.kept <= numbers.keys():
                kept = frozenset(numbers[name] for name in trial.kept)
                self.knowledge.add(kept, trial.number, trial.verdict)

    def below(self, subject: SearchSubject) -> SearchSession:
        """Return a session for another subject that continues this one's budget, journal and trial numbers."""
        made = SearchSession(subject, self.rules, self.place, self.folder, self.journal, None, self.watch)
        past = self.journal.past()
        if past is not None:
            made._learn(past)
        made.spent, made.counts, made.cannot_tell = self.spent, self.counts, self.cannot_tell
        made.number = self.number
        made._begun, made._before = self._begun, self._before
        made._searched, made._waited, made._made = self._searched, self._waited, self._made
        return made

    @property
    def seconds(self) -> float:
        """The time that counts against the budget: earlier runs, and this process."""
        return self._before + time.monotonic() - self._begun

    @property
    def overhead(self) -> float:
        """Seconds that opsinfo itself takes for each trial of this process."""
        return max(0.0, self._searched - self._waited) / max(1, self._made)

    def run(self, search: Callable[[], Generator[Question, bool, T]]) -> T:
        """Search to the end.

        :param search: creates the search; called several times if places would be idle
        :raises OutOfBudget: if runs are needed and none is allowed
        :raises Unusable: if the check does not judge
        """
        asking = search()
        begun = time.monotonic()
        try:
            question = next(asking)
            while True:
                self.left = question.left
                answer = self.knowledge.answer(question)
                while answer is None:
                    self._fill(question, search)
                    self._collect()
                    answer = self.knowledge.answer(question)
                self._require_sound(question)
                question = asking.send(answer)
        except StopIteration as end:
            found: T = end.value
            return found
        finally:
            self._searched += time.monotonic() - begun
            self.place.stop()
            self.running.clear()

    def confirm(self, kept: Kept) -> bool:
        """Return whether the set of an answer passes if it is run itself, and more often if verdicts may be wrong.

        It may have had its verdict from another set with the same dtypes. If it does not pass, dtypes do not decide
        what the check says, and every set counts by itself from now on.

        :raises OutOfBudget: as :meth:`run`
        :raises Unusable: as :meth:`run`
        """
        if not self.rules.counting.single and not self.run(lambda: _asked(kept, _EXTRA)):
            return False
        if self.knowledge.was_run(kept):
            return True
        dtypes = self.knowledge.key_of
        self.knowledge.part(_own_key)
        passes = self.run(lambda: _asked(kept))
        if passes:
            self.knowledge.part(dtypes)
        else:
            self.by_dtypes = False
        return passes

    def _fill(self, question: Question, search: Callable[[], Generator[Question, bool, T]]) -> None:
        """Start the runs that the question needs, and on idle places the runs that will probably be needed next."""
        free = self.place.slots - len(self.running)
        if self.rules.budget.is_spent(self.spent.runs + len(self.running), self.seconds):
            if not self.running:
                raise OutOfBudget
            return
        if free <= 0:
            return
        wanted = [question] if self.place.slots == 1 else self._wanted(question, search)
        for each in wanted:
            running = list(self.running.values()).count(each.kept)
            for _ in range(min(free, self.knowledge.missing(each) - running)):
                if self.rules.budget.is_spent(self.spent.runs + len(self.running), self.seconds):
                    return
                self._start(each.kept)
                free -= 1

    def _wanted(self, question: Question, search: Callable[[], Generator[Question, bool, T]]) -> list[Question]:
        found = next_questions(search, self.knowledge.answer, self.place.slots + len(self.running))
        return [question, *(each for each in found if each.kept != question.kept)]

    def _start(self, kept: Kept) -> None:
        self.number += 1
        self._made += 1
        self.journal.started(self.number, self._names(kept), self.knowledge.key_of(kept))  # its number is reserved now
        files = self.subject.files(kept, self.number)
        folder = self.folder.trial(self.number, files)
        trial = Trial(self.number, kept, files, folder, self.rules.command, self.rules.timeout)
        self.running[trial.number] = kept
        self.place.start(trial)
        self.watch(self)

    def _collect(self) -> None:
        done: list[tuple[Trial, TrialEnd]] = []
        begun = time.monotonic()
        while not done:
            done = self.place.wait(_TICK)
            self.watch(self)
        self._waited += time.monotonic() - begun
        self.rounds += 1
        for trial, outcome in done:
            del self.running[trial.number]
            self._judge(trial, outcome)
        self.watch(self)

    def _judge(self, trial: Trial, outcome: TrialEnd) -> None:
        verdict = None
        if outcome.timed_out:
            verdict = TrialVerdict.FAIL if self.rules.timeout_fails else None
        elif outcome.code is not None and not outcome.lost:
            verdict = verdict_of(outcome.code)
        if verdict is None:
            self._repeat(trial, outcome)
            return
        self.journal.judged(trial, self._names(trial.kept), verdict, outcome)
        self._failures.pop(trial.kept, None)
        self.knowledge.add(trial.kept, trial.number, verdict)
        self._spend(trial.number, verdict, outcome.seconds)

    def _spend(self, number: int, verdict: TrialVerdict, seconds: float) -> None:
        if verdict is TrialVerdict.CANNOT_TELL:
            self.cannot_tell.append(number)
        self.counts[verdict] += 1
        self.spent = Spent(self.spent.runs + 1, self.spent.seconds + seconds)

    def _repeat(self, trial: Trial, outcome: TrialEnd) -> None:
        """Repeat a run without a verdict.

        :raises Unusable: if that cannot help, or was done too often
        """
        why = reason(outcome)
        self.journal.repeated(trial, outcome, why)
        failures = self._failures[trial.kept] = self._failures.get(trial.kept, 0) + 1
        if can_be_repeated(outcome) and failures <= (_LOST if outcome.lost else self.rules.retries):
            return
        raise unusable(trial, outcome)

    def _require_sound(self, question: Question) -> None:
        """:raises Unusable: if the two runs of an end disagree and single runs decide"""
        tally = self.knowledge.tally(question.kept)
        if question.least > 1 and self.rules.counting.single and tally.disagrees:
            raise Unusable(
                "the check is noisy: two runs with the same list disagree",
                name="check-noisy",
                hint="resume with --lead 2 (--resume --lead 2): with 2 % wrong verdicts, a search by single runs finds "
                "the right list in 3 of 4 cases, with --lead 2 in nearly all; with 5 %, use --lead 3",
            )

    def _names(self, kept: Kept) -> list[str]:
        return [self.subject.names[number] for number in sorted(kept)]


def _asked(kept: Kept, extra: int = 0) -> Generator[Question, bool, bool]:
    return (yield Question(kept, exact=True, likely=0.9, extra=extra))


def _own_key(kept: Kept) -> str:
    return ",".join(map(str, sorted(kept)))


_EXTRA = 2
"""The additional lead required of the passing runs of the final list, if verdicts may be wrong."""
_TICK = 0.5
