"""Sets with the same dtypes that the check tells apart: the answer passed in its own run, whenever a search ends."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, cast

import pytest
from planted import Nowhere, Planted, PlantedPlace

from opsinfo_cli.lab.bisect.journal import JudgedTrial, Past
from opsinfo_cli.lab.bisect.search.minimal_set import SearchEnd
from opsinfo_cli.lab.bisect.session import OutOfBudget, Rules, RunBudget, SearchSession, SearchSubject
from opsinfo_cli.lab.bisect.trial import Trial, TrialEnd
from opsinfo_cli.lab.bisect.verdicts import TrialVerdict

CULPRITS = frozenset({0, 4})


class AnyOrder(PlantedPlace):
    """Ends one trial at a time, in any order."""

    def __init__(self, check: Planted, slots: int, seed: int) -> None:
        super().__init__(check, slots)
        self.random = random.Random(seed)

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        self.random.shuffle(self.running)
        trial = self.running.pop()
        return [(trial, self.check.run(trial.kept))]


def _digest(kept: frozenset[int]) -> str:
    """The dtypes of a set: a judge that believes candidate 0 to change nothing where 4 is kept."""
    return ",".join(map(str, sorted(kept - {0} if 4 in kept else kept)))


def _session(
    jobs: int,
    seed: int = 0,
    runs: int | None = None,
    past: Past | None = None,
    digest: Callable[[frozenset[int]], str] = _digest,
) -> SearchSession:
    subject = SearchSubject([f"Type{number}" for number in range(5)], digest, lambda *_: {})
    place, nowhere = AnyOrder(Planted(5, CULPRITS, [1.0] * 5), jobs, seed), cast("Any", Nowhere())
    return SearchSession(subject, Rules(["check"], budget=RunBudget(runs)), place, nowhere, nowhere, past)


def _end(session: SearchSession) -> SearchEnd:
    try:
        return session.search([1.0] * 5)
    except OutOfBudget:
        return session.so_far("budget")


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_the_list_of_an_answer_passed_in_its_own_run(jobs: int) -> None:
    for seed in range(100):
        session = _session(jobs, seed)
        assert _end(session) == SearchEnd("found", CULPRITS, True, True), seed
        assert session.knowledge.parted
        assert [run.verdict for run in session.knowledge.runs if run.kept == CULPRITS][-1] is TrialVerdict.PASS


def test_a_base_list_with_the_dtypes_of_a_list_that_passed_is_run_itself_before_nothing_is_to_do() -> None:
    assert _end(_session(1, digest=lambda _: "the same")) == SearchEnd("found", CULPRITS, True, True)


def _past(session: SearchSession) -> Past:
    names = session.subject.names
    trials = [
        JudgedTrial(run.trial, frozenset(names[number] for number in run.kept), run.verdict, 0)
        for run in session.knowledge.runs
    ]
    return Past({}, trials, session.number)


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_search_that_is_stopped_anywhere_tells_sets_apart_only_if_it_says_so_and_goes_on(jobs: int) -> None:
    for seed in range(20):
        for runs in range(1, 20):
            session = _session(jobs, seed, runs)
            _end(session)
            key_of = session.knowledge.key_of
            assert (key_of(CULPRITS) != key_of(CULPRITS - {0})) is session.knowledge.parted
            assert _end(_session(jobs, seed, past=_past(session))) == SearchEnd("found", CULPRITS, True, True)
