"""The search: the right list for any planted culprits, within the bound of runs."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import Planted, find_cheaper, most_runs, planted, search

from opsinfo_cli.lab.bisect.search.halving import halve
from opsinfo_cli.lab.bisect.search.halving import most_runs as most_of_halving
from opsinfo_cli.lab.bisect.search.minimal_set import END_RUNS, SearchEnd, find_minimal_set, price
from opsinfo_cli.lab.bisect.search.question import Question
from opsinfo_cli.lab.bisect.session import RunBudget, SearchSession
from opsinfo_cli.lab.commands.bisect.answer import progress_of
from opsinfo_cli.lab.graph.cost import Cost

FROZEN: list[dict[str, Any]] = json.loads(Path(__file__).with_name("planted_searches.json").read_text("utf-8"))
"""Planted searches with the list and the number of runs of an earlier version."""
HOW = ("jobs", "retries")


def test_planted_searches_find_what_they_found_in_no_more_runs() -> None:
    for case in FROZEN:
        options = dict(case)
        before = {name: options.pop(name) for name in ("ended", "kept", "minimal", "monotone", "runs")}
        lead = options.pop("lead", None)
        how = {name: options.pop(name) for name in HOW if name in options}
        ended = search(planted(**options), lead=lead, **how)
        end = ended.found
        assert end.kept is not None
        assert ended.runs <= before.pop("runs"), case
        now = {"ended": end.ended, "kept": sorted(end.kept), "minimal": end.minimal, "monotone": end.monotone}
        assert now == before, case


@pytest.mark.parametrize("lead", [None, 2])
@pytest.mark.parametrize("jobs", [2, 3, 5])
def test_no_place_is_idle_before_the_last_trials(jobs: int, lead: int | None) -> None:
    check = planted(40, 3, seed=1)
    ended = search(check, jobs, lead, one_by_one=True)
    assert ended.found.kept == check.culprits
    assert set(ended.busy[:-jobs]) == {jobs}
    more_often = (frozenset[int](), frozenset(range(40)), ended.found.kept)
    tallies = ended.session.knowledge.tallies.values()
    most = max(len(tally.runs) for tally in tallies if tally.runs[0].kept not in more_often)
    assert most == (lead or 1)  # none is run that is running already


@pytest.mark.parametrize(("count", "mean"), [(20, 9.17), (60, 10.94)])
def test_one_culprit_takes_so_many_runs_on_average_both_ends_twice_included(count: int, mean: float) -> None:
    runs = [search(planted(count, 1, seed)).runs for seed in range(100)]
    assert sum(runs) / len(runs) <= mean + 0.005


@pytest.mark.parametrize(("count", "culprits"), [(count, culprits) for count in (20, 60) for culprits in (1, 3, 8, 15)])
def test_planted_culprits_are_found_exactly_and_within_the_bound(count: int, culprits: int) -> None:
    for seed in range(100, 120):
        check = planted(count, culprits, seed)
        ended = search(check)
        assert ended.found == (ended.found.ended, check.culprits, True, True)
        assert ended.runs <= most_runs(count, culprits)


@pytest.mark.parametrize("count", [1, 2, 20, 200])
def test_a_check_that_needs_nothing_takes_four_runs(count: int) -> None:
    ended = search(planted(count, 0, seed=1))
    assert (ended.found.ended, ended.found.kept, ended.runs) == ("nothing-to-do", frozenset(), 4)


def test_a_check_that_fails_with_everything_kept_cannot_be_cured() -> None:
    check = Planted(5, frozenset({7}), [1.0] * 5)
    ended = search(check)
    assert (ended.found.ended, ended.found.kept, ended.runs) == ("cannot-cure", None, 4)


@given(st.data())
def test_any_set_of_culprits_in_any_order_is_found_exactly(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 40))
    culprits = frozenset(data.draw(st.sets(st.integers(0, count - 1), min_size=1)))
    weights = data.draw(st.lists(st.floats(0.5, 24), min_size=count, max_size=count))
    jobs = data.draw(st.sampled_from([1, 1, 3]))
    ended = search(Planted(count, culprits, sorted(weights, reverse=True)), jobs)
    assert ended.found.kept == culprits
    if jobs == 1:
        assert ended.runs <= 4 + most_of_halving(count) + len(culprits)


@given(st.integers(2, 60), st.data())
def test_halving_never_takes_more_runs_than_its_bound(count: int, data: st.DataObject) -> None:
    answers = data.draw(st.randoms(use_true_random=False))
    chance = data.draw(st.floats(0, 1))
    asking = halve([1.0] * count)
    asked = 0
    question = next(asking)
    try:
        while True:
            asked += 1
            question = asking.send(answers.random() < chance)
            assert question.kept <= frozenset(range(count))
    except StopIteration:
        assert asked <= most_of_halving(count)


@pytest.mark.parametrize(("count", "culprits"), [(20, 1), (20, 3), (20, 8), (60, 3), (60, 8)])
def test_a_check_that_is_not_monotone_ends_with_a_list_that_passes_and_is_minimal(count: int, culprits: int) -> None:
    contradicted = 0
    for seed in range(20):
        check = planted(count, culprits, seed, pairs=max(2, count // 10))
        ended = search(check)
        assert ended.found.kept is not None
        assert check.is_minimal(ended.found.kept)
        contradicted += not ended.found.monotone
    assert contradicted


@given(st.integers(2, 12), st.data())
def test_any_check_at_all_ends_with_a_list_that_passes_and_is_minimal(count: int, data: st.DataObject) -> None:
    everything = frozenset(range(count))
    passing = data.draw(st.sets(st.frozensets(st.integers(0, count - 1), min_size=1))) | {everything}

    class Any(Planted):
        def truth(self, kept: frozenset[int]) -> bool:
            return kept in passing

    check = Any(count, frozenset(), [1.0] * count)
    kept = search(check).found.kept
    assert kept is not None
    assert check.is_minimal(kept)


@pytest.mark.parametrize(("noise", "lead"), [(0.02, 2), (0.05, 3)])
def test_a_lead_finds_the_right_list_although_verdicts_are_wrong(noise: float, lead: int) -> None:
    for seed in range(30):
        check = planted(60, 3, seed, noise=noise)
        assert search(check, lead=lead).found.kept == check.culprits


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_lists_count_as_answered_without_a_run_only_if_the_search_asked_for_them(jobs: int) -> None:
    for seed in range(20):
        check = planted(40, 8, seed)
        asking, asked = find_minimal_set(check.weights), set[frozenset[int]]()
        with suppress(StopIteration):
            question = next(asking)
            while True:
                asked.add(question.kept)
                question = asking.send(check.truth(question.kept))
        session = search(check, jobs).session
        assert session.saved <= asked
        assert session.saved >= asked - {run.kept for run in session.knowledge.runs}


class Cures(Planted):
    """A random monotone check, which passes if one of up to three sets is kept, with costs and effects of candidates.

    :param also: candidates that each one keeps, too, as a node that stays high takes others with it
    """

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        count = chance.randint(2, 9)
        super().__init__(count, frozenset(), [1.0] * count, seed=seed)
        self.also = [frozenset(range(at, chance.randint(at + 1, count))) for at in range(count)]
        self.amounts = [chance.randint(0, 9) for _ in range(count)]
        self.cures = [
            frozenset(chance.sample(range(count), chance.randint(1, min(3, count)))) for _ in range(seed % 3 + 1)
        ]

    def cost(self, kept: frozenset[int]) -> Cost:
        return Cost(None, sum(self.amounts[each] for each in kept), 0)

    def rank(self, kept: frozenset[int]) -> tuple[int, int, list[int]]:
        return len(self.reach(kept)), len(kept), sorted(kept)

    def reach(self, kept: frozenset[int]) -> frozenset[int]:
        return kept.union(*(self.also[each] for each in kept))


class CuresOfTypes(Cures):
    def truth(self, kept: frozenset[int]) -> bool:
        return any(cure <= kept for cure in self.cures)


class CuresOfNodes(Cures):
    def truth(self, kept: frozenset[int]) -> bool:
        return any(cure <= self.reach(kept) for cure in self.cures)


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("kind", ["types", "cheapest types", "nodes"])
def test_whenever_a_search_ends_what_it_calls_minimal_failed_in_a_run_without_each_member(kind: str, jobs: int) -> None:
    for seed in range(30):
        check = CuresOfNodes(seed) if kind == "nodes" else CuresOfTypes(seed)
        how = {
            "types": {},
            "cheapest types": {"cost": check.cost},
            "nodes": {"effect": (check.rank, check.reach)},
        }[kind]
        whole = search(check, jobs, **how)  # type: ignore[arg-type]
        assert whole.found.minimal
        ends = [search(check, jobs, **how, budget=RunBudget(runs)) for runs in range(1, whole.runs + 1)]  # type: ignore[arg-type]
        ends += [search(check, jobs, **how, stop_at=at) for at in range(1, len(whole.busy) + 1)]  # type: ignore[arg-type]
        for found, _, _, session in (vars(end).values() for end in [*ends, whole]):
            if found.ended == "found":
                assert found.minimal
            if found.minimal:
                assert all(session.proof(found.kept, member) for member in found.kept), (seed, found)
                assert check.is_minimal(found.kept), (seed, found)
            elif found.kept is not None:
                assert check.truth(found.kept)


@pytest.mark.parametrize("kind", ["types", "cheapest types", "nodes"])
def test_a_search_asks_no_more_than_it_says_is_left(kind: str) -> None:
    for seed in range(60):
        check = CuresOfNodes(seed) if kind == "nodes" else CuresOfTypes(seed)
        cost = check.cost if kind == "cheapest types" else None
        effect = (check.rank, check.reach) if kind == "nodes" else None
        asking = find_minimal_set(check.weights, find_cheaper(cost, effect), ends=1 if effect else END_RUNS)
        asked, lefts = list[frozenset[int]](), list[int]()
        try:
            question = next(asking)
            while True:
                if question.kept not in asked:
                    asked.append(question.kept)
                    lefts.append(question.left)
                question = asking.send(check.truth(question.kept))
        except StopIteration:
            assert all(left >= remaining for left, remaining in zip(lefts, range(len(asked), 0, -1), strict=True)), seed


def test_the_time_that_is_told_among_nodes_is_that_of_the_runs_that_were_expected() -> None:
    notes, check = list[str](), Planted(20, frozenset({3}), [1.0] * 20)
    session = search(check).session
    for name in ("seconds", "before"):
        setattr(session.spent, name, 10.0 * session.spent.runs)
    among = SearchSession(
        session.subject, session.rules, session.place, session.folder, session.journal, spent=session.spent
    )
    among.expected, among.left = price(20, 1, has_cost=True, by_node=True), 71
    console: Any = SimpleNamespace(note=notes.append)
    progress_of(console, lambda *_: None, "nodes")(among)
    assert (among.expected.between, notes) == ("8 to 73", ["a run takes 10 s: expect 80 s to 12 min more"])


def _asked(needs: frozenset[int], singles: tuple[int, ...]) -> tuple[SearchEnd, list[Question]]:
    """Run a search of eight candidates whose check passes if it has one of ``needs``, or all candidates."""
    run, asked = find_minimal_set([1.0] * 8, singles=singles), list[Question]()
    try:
        question = next(run)
        while True:
            asked.append(question)
            question = run.send(len(question.kept) == 8 or (len(question.kept) == 1 and question.kept <= needs))
    except StopIteration as stop:
        return stop.value, asked


def test_a_single_candidate_that_passes_alone_ends_the_search_although_longer_lists_fail() -> None:
    end, asked = _asked(frozenset({5}), (2, 5))
    assert end == SearchEnd("found", frozenset({5}), True, True)
    assert [sorted(each.kept) for each in asked] == [[], [2], [5]]


@pytest.mark.parametrize("singles", [(), (2,), (1, 2, 3)])
def test_singles_that_fail_leave_the_search_as_it_is(singles: tuple[int, ...]) -> None:
    plain, asked = _asked(frozenset(), ())
    end, more = _asked(frozenset(), singles)
    assert end == plain
    everything, nothing, *rest = (each.kept for each in asked)
    if singles:
        alone = [frozenset({single}) for single in singles]
        assert [each.kept for each in more] == [nothing, *alone, everything, nothing, *rest]
