"""The answer of a search: the culprits with their effects and proofs."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from ...core.document import Count, Failure, LineNumber, Schema, headed, internal, optional
from ..graph.cost import Cost, NodeBytes, left_low, low_nodes
from ..graph.limits import limits_of
from .curve import CurvePoint
from .run_folder import last_lines
from .search.minimal_set import Ended, Price, SearchEnd
from .session import SearchSession
from .verdicts import TrialVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...errors import OpsinfoError
    from ..graph.document import Coverage
    from ..graph.limits import Limit
    from .candidates import SetJudge
    from .problem import Problem

_GO_ON = {
    "budget": "to go on, run the same command with --resume and a larger --budget",
    "interrupted": "to go on, run the same command with --resume",
}


_NEARLY = 10
"""A list that moves so many times the nodes that it leaves low is nearly the whole model in high precision. Chosen: it
decides on a hint only."""


OpType: TypeAlias = Annotated[str, Schema(examples=["SoftmaxV2"])]


@dataclass(frozen=True)
class Culprit:
    """One op type."""

    type: OpType
    """The op type."""
    same: list[OpType]
    """Other op types that change the same nodes; one of them is enough."""
    nodes: list[str]
    """Names of the nodes whose dtypes the op type changes; empty without a model."""
    casts: int | None
    """Number of additional Casts that run because of the op type; negative if fewer run, null without a model."""
    trial: LineNumber | None
    """The trial that failed without it; null if no such trial was run."""


@dataclass(frozen=True)
class KeptNode:
    """One node."""

    name: str
    """The name of the node."""
    type: OpType
    """The op type of the node."""
    trial: LineNumber | None
    """The trial that failed without it; null if no such trial was run."""


@dataclass(frozen=True)
class ResultByNode:
    """The result of the search among nodes."""

    ended: Ended
    """How the search among nodes ended; values as in ended of the document."""
    path: str | None
    """The path of the keep_dtype file; null if no file is known to pass."""
    nodes: list[KeptNode]
    """Nodes that must keep their dtype."""
    one_minimal: bool
    """Whether the check is known to fail without any single one of the nodes."""
    cost: Cost | None
    """What the keep_dtype file moves from low to high; null if no file is known to pass."""
    runs: Count
    """Runs of the check of the search among nodes."""
    session: SearchSession = internal()


@dataclass(frozen=True)
class Trials:
    """Runs of the check, including those of earlier processes of the same search."""

    passed: Count
    """Runs that passed."""
    failed: Count
    """Runs that failed."""
    cannot_tell: Count
    """Runs without a verdict (exit status 125); they count as failed."""
    cached: Count
    """Sets that were judged without a run."""
    seconds: Annotated[float, Schema(minimum=0)]
    """Total time of all runs, in seconds."""


@dataclass(frozen=True)
class RunOfASet:
    """One run."""

    trial: LineNumber
    """The number of the trial; its folder has the same number."""
    verdict: Literal["pass", "fail", "cannot-tell"]
    """The verdict of the check."""


@dataclass(frozen=True)
class TestedSet:
    """One set of candidates."""

    kept: list[OpType]
    """Candidates that stayed in high precision."""
    passed: bool
    """Whether most runs of the set passed."""
    trials: list[RunOfASet]
    """The runs of the set."""


@dataclass(frozen=True)
class Search:
    """The smallest list that makes a check pass, and how it was found. Later versions may add keys."""

    ended: Ended
    """How the search ended. found: a list was found. nothing-to-do: the check passes with the base list (with grow:
    with every candidate on the white list). cannot-cure: the check fails even with every candidate in high
    precision. budget: the budget was used up. interrupted: a signal (Ctrl-C, SIGTERM, SIGHUP).
    """
    grow: Literal["white"] | None
    """white: searched for the largest white list; null: searched for the smallest black list."""
    culprits: list[Culprit]
    """Op types that must stay in high precision, the most suspected first; if one_minimal is false, those of the best
    list known, which are not proved.
    """
    moved: list[OpType]
    """Op types that the resulting list moves: to the black list, or with grow to the white list."""
    cost: Cost | None
    """What the list moves from low to high; with cannot-cure, what the largest list moves; null without a model, or if
    no list is known to pass.
    """
    left_low: NodeBytes | None
    """What stays low with the list; null as for cost."""
    not_judged: list[str]
    """Op types of the nodes that no list moves, because the engine does not judge them."""
    mixlist: Annotated[str | None, Schema(examples=["ops_info.json"])]
    """The path of the resulting list; null if no list is known to pass."""
    keep_dtype: ResultByNode | None
    """With --by node: the keep_dtype file and its nodes."""
    trials: Trials
    """Runs of the check, including those of earlier processes of the same search."""
    one_minimal: bool
    """Whether the check is known to fail without any single one of the culprits."""
    next: str | None
    """How to go on: with a search that a spent budget or a signal stopped, or from a list that moves nearly the whole
    model; null if there is nothing more to do.
    """
    monotone: bool
    """false if a set failed although a smaller set passed."""
    noisy: bool
    """Whether two runs with the same dtypes had different verdicts."""
    by_dtypes: bool
    """false if lists that lead to the same dtypes had different verdicts; then every list was run separately."""
    candidates: Count
    """Number of candidates searched."""
    sets: list[TestedSet]
    """The sets that were run, ordered by their first trial."""
    folder: str
    """The run folder, with the journal and the trials."""
    overhead_ms: Annotated[float, Schema(minimum=0)]
    """Time that opsinfo itself takes for each trial, in milliseconds."""
    curve: list[CurvePoint] | None = optional()
    """With --curve: the lists that were run and printed a number, the cheapest first."""
    output: list[str] | None = optional()
    """With cannot-cure: the last lines that the check printed, at most ten."""
    still_low: list[str] | None = optional()
    """With cannot-cure: nodes that are low with all candidates on the black list."""
    error: Failure | None = optional()
    """Why the list could not be written; with status 3. The answer is in the document nevertheless."""


@dataclass(frozen=True)
class Candidate:
    """One candidate."""

    type: OpType
    """The op type."""
    weight: Annotated[float, Schema(exclusiveMinimum=0)]
    """How strongly the op type is suspected, relative to the others."""


@dataclass(frozen=True)
class SearchPlan:
    """What a search would do. Later versions may add keys."""

    order: list[Candidate]
    """With --dry-run: the candidates, the most suspected first."""
    price: Price
    """With --dry-run: the maximum number of runs, if the check is monotone."""
    dry_run: Literal[True] = True
    """Set with --dry-run: nothing was run or written."""


class Effect(NamedTuple):
    """What a list does to the model.

    :param coverage: the nodes that no list moves, because the engine does not judge them
    :param hf32: how many of the nodes that it moves are computed in HF32
    :param limits: what fusions may change that is not known here
    """

    cost: Cost
    left_low: NodeBytes
    still_low: list[str]
    coverage: Coverage
    hf32: int
    limits: list[Limit]


def effect_of(sets: SetJudge, types: frozenset[str]) -> Effect:
    answer = sets.answer(types)
    low = [answer[node].name for node in low_nodes(answer)]
    hf32 = sum(sets.base_answer.is_low(node) for node in answer.in_hf32)
    return Effect(sets.effect(types).cost, left_low(answer), low, answer.coverage, hf32, list(limits_of(answer)))


class BisectAnswer(NamedTuple):
    """The answer of a search among op types.

    :param effect: of the list, or of the largest one if that fails; None without a model, or if none is known to pass
    :param mixlist: the path of the list; None: no list is known to pass, or it could not be written
    :param texts: of the list, and of those beside it, by name
    """

    session: SearchSession
    end: SearchEnd
    white: bool
    culprits: list[Culprit]
    effect: Effect | None = None
    mixlist: str | None = None
    nodes: ResultByNode | None = None
    curve: list[CurvePoint] | None = None
    failed: OpsinfoError | None = None
    texts: Mapping[str, str] = MappingProxyType({})

    @property
    def moved(self) -> list[str]:
        """Op types on the resulting list."""
        kept, names = self.end.kept, self.session.subject.names
        return [name for number, name in enumerate(names) if kept is not None and (number in kept) is not self.white]

    @property
    def monotone(self) -> bool:
        return self.end.monotone and self.session.knowledge.monotone

    @property
    def cached(self) -> int:
        """How many lists needed no run."""
        return len((self.nodes or self).session.saved)

    @property
    def next_step(self) -> str | None:
        """How to go on: with a search that was stopped, or from a list that is nearly the whole model."""
        effect = self.effect if self.end.ended == "found" and not self.white and self.nodes is None else None
        if effect and self.culprits and effect.left_low.nodes * _NEARLY <= effect.cost.nodes:
            what = "nearly everything" if effect.left_low.nodes else "everything"
            return f"{what} is in high precision with this list: --by node searches for single nodes instead"
        return _GO_ON.get(self.nodes.ended if self.nodes else self.end.ended)

    @property
    def last_output(self) -> list[str]:
        """The last lines of the check with the largest list."""
        return last_lines(self.session.outputs.get(frozenset(range(len(self.session.subject.names))), ""))

    @property
    def document(self) -> Search:
        session, effect = self.session, self.effect
        counts, is_incurable = session.spent.counts, self.end.ended == "cannot-cure"
        return Search(
            ended=self.end.ended,
            grow="white" if self.white else None,
            culprits=self.culprits,
            moved=self.moved,
            cost=effect and effect.cost,
            left_low=effect and effect.left_low,
            not_judged=list(dict.fromkeys(group.type for group in effect.coverage.types)) if effect else [],
            mixlist=self.mixlist,
            keep_dtype=self.nodes,
            trials=Trials(
                counts[TrialVerdict.PASS],
                counts[TrialVerdict.FAIL],
                counts[TrialVerdict.CANNOT_TELL],
                self.cached,
                round(session.spent.seconds, 3),
            ),
            one_minimal=self.end.minimal,
            next=self.next_step,
            monotone=self.monotone,
            noisy=any(tally.disagrees for tally in session.knowledge.tallies.values()),
            by_dtypes=not session.knowledge.parted,
            candidates=len(session.subject.names),
            sets=[
                TestedSet(names, tally.verdict, [RunOfASet(run.trial, run.verdict.value) for run in tally.runs])
                for names, tally in session.lists()
            ],
            folder=session.folder.path,
            overhead_ms=round(1000 * session.spent.overhead, 1),
            curve=self.curve,
            output=self.last_output if is_incurable else None,
            still_low=(effect.still_low if effect else []) if is_incurable else None,
            error=Failure.of(self.failed) if self.failed else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo bisect``."""
        return headed("bisect", self.document)


def answer_of(problem: Problem, session: SearchSession, end: SearchEnd) -> BisectAnswer:
    """Return the answer, without the files that are written."""
    culprits = []
    for number in sorted(end.kept or ()):
        assert end.kept is not None
        name, nodes, casts = problem.names[number], list[str](), None
        if problem.sets is not None:
            with_it = problem.sets.answer(problem.types(end.kept))
            without = problem.sets.answer(problem.types(end.kept - {number}))
            nodes = [with_it[node].name for node in with_it.changed(without)]
            casts = with_it.cast_counts.run - without.cast_counts.run
        culprits.append(Culprit(name, [*problem.same.get(name, ())], nodes, casts, session.proof(end.kept, number)))
    kept = frozenset(range(len(problem.names))) if end.ended == "cannot-cure" else end.kept
    effect = None if problem.sets is None or kept is None else effect_of(problem.sets, problem.types(kept))
    return BisectAnswer(session, end, problem.options.grow, culprits, effect)
