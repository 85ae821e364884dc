"""The answer of a search: the culprits with their effects and proofs, and the cost of the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .result import proof
from .verdicts import TrialVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .judged_sets import JudgedSets
    from .question import Kept
    from .result import SearchEnd
    from .session import SearchSession


class Culprit(NamedTuple):
    """An op type that must stay in high precision.

    :param same: other types that move the same nodes
    :param nodes: names of the nodes whose dtypes it changes; empty without a model
    :param casts: how many more Casts run because of it, which may be negative; None without a model
    :param trial: the trial that failed without it; None: none was made
    """

    type: str
    same: tuple[str, ...]
    nodes: list[str]
    casts: int | None
    trial: int | None


class TrialCounts(NamedTuple):
    """Runs by verdict.

    :param cached: sets that needed no run
    :param seconds: total of all runs
    """

    passed: int
    failed: int
    cannot_tell: int
    cached: int
    seconds: float


class JudgedSet(NamedTuple):
    """A set that was run, for the report.

    :param kept: names of the candidates that stayed high
    :param trials: the numbers of its trials with their verdicts
    """

    kept: list[str]
    passed: bool
    trials: list[tuple[int, str]]


class BisectAnswer(NamedTuple):
    """The answer of a search among op types.

    :param ended: found, nothing-to-do, cannot-cure, budget, interrupted
    :param white: whether the white list was grown
    :param moved: op types on the resulting list
    :param mixlist: the path of the list; None: no list is known to pass
    :param by_dtypes: False if lists that lead to the same dtypes had different verdicts
    :param unsure: trials without a verdict
    :param overhead: seconds that opsinfo itself takes for each trial
    """

    ended: str
    white: bool
    candidates: int
    culprits: list[Culprit]
    moved: list[str]
    mixlist: str | None
    counts: TrialCounts
    one_minimal: bool
    monotone: bool
    noisy: bool
    by_dtypes: bool
    unsure: list[int]
    sets: list[JudgedSet]
    overhead: float
    folder: str
    keep_dtype: NodesAnswer | None = None


def answered(
    session: SearchSession,
    found: SearchEnd,
    mixlist: str | None,
    sets: JudgedSets | None,
    white: bool,
    same: Mapping[str, tuple[str, ...]],
) -> BisectAnswer:
    """Return the answer of a session.

    :param mixlist: the path of the resulting list
    :param same: for each candidate, op types that move the same nodes
    """
    names = session.subject.names
    kept = found.kept or frozenset()
    culprits = [_culprit(session, found, kept, number, sets, white, same) for number in sorted(kept)]
    moved = [name for number, name in enumerate(names) if (number in kept) is not white]
    tallies = session.knowledge.tallies.values()
    return BisectAnswer(
        found.ended,
        white,
        len(names),
        culprits if found.kept is not None else [],
        moved if found.kept is not None else [],
        mixlist,
        trial_counts(session),
        found.minimal,
        found.monotone and session.knowledge.monotone,
        any(tally.disagrees for tally in tallies),
        session.by_dtypes,
        session.cannot_tell,
        _sets(session),
        session.overhead,
        session.folder.path,
    )


def trial_counts(session: SearchSession) -> TrialCounts:
    """Return the counts of the runs of a session, including earlier ones in the same journal."""
    said = session.counts
    return TrialCounts(
        said[TrialVerdict.PASS],
        said[TrialVerdict.FAIL],
        said[TrialVerdict.CANNOT_TELL],
        cached=len(session.knowledge.saved),
        seconds=session.spent.seconds,
    )


class KeptNode(NamedTuple):
    """A node that must keep its dtype.

    :param trial: the trial that failed without it; None: none was made
    """

    name: str
    type: str
    trial: int | None


class NodesAnswer(NamedTuple):
    """The answer of a search among nodes.

    :param candidates: how many nodes were searched
    :param path: path of the keep_dtype file; None: no file is known to pass
    """

    ended: str
    candidates: int
    path: str | None
    nodes: list[KeptNode]
    one_minimal: bool


def _culprit(
    session: SearchSession,
    found: SearchEnd,
    kept: Kept,
    number: int,
    sets: JudgedSets | None,
    white: bool,
    same: Mapping[str, tuple[str, ...]],
) -> Culprit:
    names = session.subject.names
    name = names[number]
    trial = proof(session, kept, number)
    if sets is None:
        return Culprit(name, same.get(name, ()), [], None, trial)
    with_it, without = (
        frozenset(each for at, each in enumerate(names) if (at in some) is not white)
        for some in (kept, kept - {number})
    )
    nodes = sets.changed_nodes(with_it, without)
    return Culprit(name, same.get(name, ()), nodes, sets.casts(with_it) - sets.casts(without), trial)


def _sets(session: SearchSession) -> list[JudgedSet]:
    knowledge, names = session.knowledge, session.subject.names
    found = []
    for key, tally in knowledge.tallies.items():
        if not tally.trials:
            continue
        kept = min(knowledge.sets[key], key=sorted)
        trials = [(number, str(verdict)) for number, verdict in tally.trials]
        found.append(JudgedSet([names[each] for each in sorted(kept)], tally.verdict, trials))
    return sorted(found, key=lambda each: each.trials[0][0])
