"""The answer of a search: the culprits with their effects and proofs."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..graph.cost import left_low, low_nodes
from ..graph.open_dimensions import limits_of
from .run_folder import last_lines
from .verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...errors import OpsinfoError
    from ..documents import bisect as documents
    from ..graph.cost import Cost, Size
    from ..graph.fusions.limits import FusionLimit
    from ..graph.result import Coverage
    from .candidates import SetJudge
    from .curve import CurvePoint
    from .problem import Problem
    from .search.minimal_set import SearchEnd
    from .session import SearchSession

_GO_ON = {
    "budget": "to go on, run the same command with --resume and a larger --budget",
    "interrupted": "to go on, run the same command with --resume",
}


_NEARLY = 10
"""A list that moves so many times the nodes that it leaves low is nearly the whole model in high precision."""


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


class KeptNode(NamedTuple):
    """A node that must keep its dtype.

    :param trial: the trial that failed without it; None: none was made
    """

    name: str
    type: str
    trial: int | None


class NodesAnswer(NamedTuple):
    """The answer of a search among nodes.

    :param path: of the keep_dtype file; None: no file is known to pass, or it could not be written
    :param nodes: in the order of the graph
    :param cost: what the file moves to high precision; None: no file is known to pass
    :param runs: of the check, of this search alone
    """

    session: SearchSession
    end: SearchEnd
    path: str | None
    nodes: list[KeptNode]
    cost: Cost | None
    runs: int


class Effect(NamedTuple):
    """What a list does to the model.

    :param cost: what it moves to high precision
    :param left_low: what stays low
    :param still_low: names of the nodes that stay low
    :param coverage: the nodes that no list moves, because the engine does not judge them
    :param hf32: how many of the nodes that it moves are computed in HF32
    :param limits: what fusions may change that is not known here
    """

    cost: Cost
    left_low: Size
    still_low: list[str]
    coverage: Coverage
    hf32: int
    limits: list[FusionLimit]


def effect_of(sets: SetJudge, types: frozenset[str]) -> Effect:
    answer = sets.answer(types)
    low = [answer[node].name for node in low_nodes(answer)]
    hf32 = sum(sets.base_answer.is_low(node) for node in answer.in_hf32)
    return Effect(sets.cost(types), left_low(answer), low, answer.coverage, hf32, list(limits_of(answer)))


class BisectAnswer(NamedTuple):
    """The answer of a search among op types.

    :param white: whether the white list was grown
    :param effect: of the list, or of the largest one if that fails; None without a model, or if none is known to pass
    :param curve: the lists that were run with loss and cost; None: not asked for
    :param mixlist: the path of the list; None: no list is known to pass, or it could not be written
    :param texts: of the list, and of those beside it, by name
    :param failed: why a file could not be written
    """

    session: SearchSession
    end: SearchEnd
    white: bool
    culprits: list[Culprit]
    effect: Effect | None = None
    mixlist: str | None = None
    nodes: NodesAnswer | None = None
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
        return len((self.nodes or self).session.knowledge.saved)

    @property
    def next_step(self) -> str | None:
        """How to go on: with a search that was stopped, or from a list that is nearly the whole model."""
        effect = self.effect if self.end.ended == "found" and not self.white and self.nodes is None else None
        if effect and self.culprits and effect.left_low.nodes * _NEARLY <= effect.cost.nodes:
            what = "nearly everything" if effect.left_low.nodes else "everything"
            return f"{what} is in high precision with this list: --by node searches for single nodes instead"
        return _GO_ON.get(self.nodes.end.ended if self.nodes else self.end.ended)

    @property
    def last_output(self) -> list[str]:
        """The last lines of the check with the largest list."""
        return last_lines(self.session.outputs.get(frozenset(range(len(self.session.subject.names))), ""))

    def to_dict(self) -> documents.Search:
        """Return the JSON document of ``opsinfo bisect``."""
        session, nodes, effect = self.session, self.nodes, self.effect
        counts = session.spent.counts
        document: documents.Search = {
            "schema_version": 1,
            "command": "bisect",
            "ended": self.end.ended,
            "grow": "white" if self.white else None,
            "culprits": [
                {
                    "type": culprit.type,
                    "same": list(culprit.same),
                    "nodes": culprit.nodes,
                    "casts": culprit.casts,
                    "trial": culprit.trial,
                }
                for culprit in self.culprits
            ],
            "moved": self.moved,
            "cost": effect and effect.cost.to_dict(),
            "left_low": effect and {"nodes": effect.left_low.nodes, "bytes": effect.left_low.bytes},
            "not_judged": list(dict.fromkeys(group.op_type for group in effect.coverage.types)) if effect else [],
            "mixlist": self.mixlist,
            "keep_dtype": nodes
            and {
                "ended": nodes.end.ended,
                "path": nodes.path,
                "nodes": [{"name": node.name, "type": node.type, "trial": node.trial} for node in nodes.nodes],
                "one_minimal": nodes.end.minimal,
                "cost": nodes.cost and nodes.cost.to_dict(),
                "runs": nodes.runs,
            },
            "trials": {
                "passed": counts[Verdict.PASS],
                "failed": counts[Verdict.FAIL],
                "cannot_tell": counts[Verdict.CANNOT_TELL],
                "cached": self.cached,
                "seconds": round(session.spent.seconds, 3),
            },
            "one_minimal": self.end.minimal,
            "next": self.next_step,
            "monotone": self.monotone,
            "noisy": any(tally.disagrees for tally in session.knowledge.tallies.values()),
            "by_dtypes": session.by_dtypes,
            "candidates": len(session.subject.names),
            "sets": [
                {
                    "kept": names,
                    "passed": tally.verdict,
                    "trials": [{"trial": run.trial, "verdict": run.verdict.value} for run in tally.runs],
                }
                for names, tally in session.lists()
            ],
            "folder": session.folder.path,
            "overhead_ms": round(1000 * session.spent.overhead, 1),
        }
        if self.curve is not None:
            document["curve"] = [point.to_dict() for point in self.curve]
        if self.end.ended == "cannot-cure":
            document["output"], document["still_low"] = self.last_output, effect.still_low if effect else []
        return document


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
            casts = with_it.counts.casts.run - without.counts.casts.run
        culprits.append(Culprit(name, problem.same.get(name, ()), nodes, casts, session.proof(end.kept, number)))
    kept = frozenset(range(len(problem.names))) if end.ended == "cannot-cure" else end.kept
    effect = None if problem.sets is None or kept is None else effect_of(problem.sets, problem.types(kept))
    return BisectAnswer(session, end, problem.white, culprits, effect)
