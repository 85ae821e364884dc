"""What follows from the runs so far: exactly what a longer list that failed, or a shorter one that passed, implies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.errors import UsageFault
from opsinfo_cli.lab.bisect.search.question import Question
from opsinfo_cli.lab.bisect.session import RunBudget
from opsinfo_cli.lab.bisect.verdicts import Knowledge, SetRun, SetTally, TrialVerdict, verdict_of

SETS = st.frozensets(st.sampled_from(range(4)))


def known(runs: list[tuple[frozenset[int], bool]]) -> Knowledge:
    made = Knowledge(lambda kept: "".join(map(str, sorted(kept))), None)
    verdicts = (TrialVerdict.PASS if passes else TrialVerdict.FAIL for _, passes in runs)
    made.add(
        SetRun(kept, number, verdict) for number, ((kept, _), verdict) in enumerate(zip(runs, verdicts, strict=True))
    )
    return made


@given(cure=SETS, runs=st.lists(SETS, unique=True), asked=SETS)
def test_a_set_without_a_run_gets_the_answer_that_its_supersets_and_subsets_imply(
    cure: frozenset[int], runs: list[frozenset[int]], asked: frozenset[int]
) -> None:
    knowledge = known([(kept, cure <= kept) for kept in runs])
    follows = (
        any(kept <= asked and cure <= kept for kept in runs),
        any(asked <= kept and not cure <= kept for kept in runs),
    )
    assert knowledge.monotone
    assert knowledge.answer(Question(asked)) == (cure <= asked if any(follows) else None)
    assert knowledge.answer(Question(asked, exact=True)) == (cure <= asked if asked in runs else None)
    passing = [kept for kept in runs if cure <= kept]
    assert knowledge.best() == min(passing, key=lambda kept: (len(kept), sorted(kept)), default=None)


def test_nothing_is_concluded_once_a_longer_list_failed_and_a_shorter_one_passed() -> None:
    knowledge = known([(frozenset({0}), True), (frozenset({0, 1}), False)])
    assert not knowledge.monotone
    assert knowledge.answer(Question(frozenset({0, 1, 2}))) is None
    assert knowledge.answer(Question(frozenset({0}))) is True


@given(st.lists(st.booleans(), max_size=9), st.none() | st.integers(1, 3))
def test_missing_runs_decide_if_they_agree_and_no_fewer_do(passed: list[bool], lead: int | None) -> None:
    knowledge = known([])
    knowledge.lead = lead
    knowledge.add(
        SetRun(frozenset(), number, TrialVerdict.PASS if each else TrialVerdict.FAIL)
        for number, each in enumerate(passed)
    )
    missing = knowledge.missing(Question(frozenset()))

    def decided(runs: list[bool]) -> bool:
        yes, no = runs.count(True), runs.count(False)
        if lead is not None:
            return bool(runs) and abs(yes - no) >= lead
        return bool(runs)

    both = [decided(passed + [verdict] * more) for more in range(missing + 1) for verdict in (True, False)]
    assert any(both[-2:])
    assert not any(both[:-2])


def test_the_last_trial_that_did_not_pass_is_the_proof_of_a_failure() -> None:
    tally = SetTally()
    assert tally.last_failed() is None
    for number, verdict in enumerate([TrialVerdict.FAIL, TrialVerdict.CANNOT_TELL, TrialVerdict.PASS], 1):
        tally.runs.append(SetRun(frozenset(), number, verdict))
    assert tally.last_failed() == 2


@given(st.lists(st.tuples(SETS, st.booleans())), st.sampled_from([None, 2]))
def test_runs_one_after_the_other_say_what_they_say_together(
    runs: list[tuple[frozenset[int], bool]], lead: int | None
) -> None:
    knowledge = known([])
    knowledge.lead = lead
    for number, (kept, passes) in enumerate(runs):
        knowledge.add([SetRun(kept, number, TrialVerdict.PASS if passes else TrialVerdict.FAIL)])
    leads = {kept: sum(1 if passes else -1 for other, passes in runs if other == kept) for kept, _ in runs}
    passing = {kept for kept, more in leads.items() if more >= (lead or 1)}
    failing = {kept for kept, more in leads.items() if more <= -(lead or 0)}
    assert knowledge.passing == passing
    assert knowledge.failing == failing
    assert knowledge.monotone == (not any(low <= high for low in passing for high in failing))


@pytest.mark.parametrize("text", ["9" * 5000, "9" * 5000 + "h", "1." + "9" * 5000 + "s", "1e3", "-1", "5 h"])
def test_what_is_no_budget_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageFault, match="is neither a number of runs nor a time"):
        RunBudget.read(text)


def test_exit_status_126_and_more_is_no_verdict() -> None:
    assert [verdict_of(code) for code in (0, 1, 124, 125)] == [
        TrialVerdict.PASS,
        TrialVerdict.FAIL,
        TrialVerdict.FAIL,
        TrialVerdict.CANNOT_TELL,
    ]
    assert [verdict_of(code) for code in (126, 127, 128, 137, 255)] == [None] * 5
