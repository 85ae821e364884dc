"""The answer of a search: the culprits with their effects and proofs, and the cost of the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .candidates import JudgedSets
    from .search.protocol import Ended, SearchEnd
    from .search.question import Kept
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
    :param path: of the keep_dtype file; None: no file is known to pass
    """

    ended: Ended
    candidates: int
    path: str | None
    nodes: list[KeptNode]
    one_minimal: bool


class BisectAnswer(NamedTuple):
    """The answer of a search among op types.

    :param white: whether the white list was grown
    :param moved: op types on the resulting list
    :param mixlist: the path of the list; None: no list is known to pass, or it could not be written
    :param by_dtypes: False if lists that lead to the same dtypes had different verdicts
    :param unsure: trials without a verdict
    :param output: the end of what the last failing trial printed
    :param overhead: seconds that opsinfo itself takes for each trial
    """

    ended: Ended
    white: bool
    candidates: int
    culprits: list[Culprit]
    moved: list[str]
    counts: TrialCounts
    one_minimal: bool
    monotone: bool
    noisy: bool
    by_dtypes: bool
    unsure: list[int]
    sets: list[JudgedSet]
    output: str
    overhead: float
    folder: str
    mixlist: str | None = None
    keep_dtype: NodesAnswer | None = None


def answer_of(
    session: SearchSession, end: SearchEnd, sets: JudgedSets | None, white: bool, same: Mapping[str, tuple[str, ...]]
) -> BisectAnswer:
    """Return the answer of a session.

    :param same: for each candidate, op types that move the same nodes
    """
    names = session.subject.names
    culprits: list[Culprit] = []
    for number in sorted(end.kept or ()):
        assert end.kept is not None
        nodes, casts = _effect(names, end.kept, number, sets, white) if sets else ([], None)
        name = names[number]
        culprits.append(Culprit(name, same.get(name, ()), nodes, casts, session.proof(end.kept, number)))
    return BisectAnswer(
        end.ended,
        white,
        len(names),
        culprits,
        [] if end.kept is None else list(_moved(names, end.kept, white)),
        trial_counts(session),
        end.minimal,
        end.monotone and session.knowledge.monotone,
        any(tally.disagrees for tally in session.knowledge.tallies.values()),
        session.by_dtypes,
        session.cost.cannot_tell,
        _judged_sets(session),
        session.output,
        session.cost.overhead,
        session.folder.path,
    )


def trial_counts(session: SearchSession) -> TrialCounts:
    """Return the counts of the runs of a session, including earlier ones in the same journal."""
    counts = session.cost.counts
    return TrialCounts(
        counts[Verdict.PASS],
        counts[Verdict.FAIL],
        counts[Verdict.CANNOT_TELL],
        len(session.knowledge.saved),
        session.cost.seconds,
    )


def _moved(names: Sequence[str], kept: Kept, white: bool) -> Iterator[str]:
    return (name for number, name in enumerate(names) if (number in kept) is not white)


def _effect(names: Sequence[str], kept: Kept, member: int, sets: JudgedSets, white: bool) -> tuple[list[str], int]:
    """Return the nodes that a member of a set changes, and the Casts that it adds."""
    with_it, without = (sets.answer(frozenset(_moved(names, some, white))) for some in (kept, kept - {member}))
    nodes = [with_it[node].name for node in with_it.changed(without)]
    return nodes, with_it.counts.casts.run - without.counts.casts.run


def _judged_sets(session: SearchSession) -> list[JudgedSet]:
    names = session.subject.names
    judged = []
    for tally in session.knowledge.tallies.values():
        kept = min((run.kept for run in tally.runs), key=sorted)
        trials = [(run.trial, run.verdict.value) for run in tally.runs]
        judged.append(JudgedSet([names[number] for number in sorted(kept)], tally.verdict, trials))
    return sorted(judged, key=lambda each: each.trials[0][0])
