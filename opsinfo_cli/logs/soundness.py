"""Whether a mixed-precision baseline is sound: the verdict on the logs of its runs, and what they prove."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from ..core.cann.library import Operators
from ..core.cann.name_tables import name_table
from ..core.cann.policy import Policy
from ..core.cann.target import AnyTarget, Target
from ..core.document import Count, LineNumber, Schema, headed, optional
from ..core.text.source import standard_input
from ..errors import UsageFault
from .count import Overflows
from .evidence import Precision, Scaling
from .formats import FORMATS
from .losses import LossCounts
from .metric import compile_metric
from .points import LIMIT, Facts, Share, VerdictPoint, share_of
from .reduced import Reduced
from .scale import Advice, LossScale, advise
from .startup import LEVELS
from .student_t import MeanComparison, Spread
from .training_run import FoundRuns, RunEvidence, TrainingRun, run_evidence, runs_of
from .verdict import Verdict, Word, judge

AnyPath: TypeAlias = "str | os.PathLike[str]"


@dataclass(frozen=True)
class Run:
    """One run, from one log or from one log per rank."""

    name: str
    """The path of the log, or the common part of the paths of its logs."""
    logs: Sequence[str]
    """The logs that were read."""
    format: Annotated[
        str,
        Schema(
            examples=[
                "apex",
                "torch_npu",
                "deepspeed",
                "megatron",
                "fairseq",
                "paddle",
                "mindspore",
                "tf_npu",
                "unknown",
            ]
        ),
    ]
    """The reader that recognised the log; `unknown` if none did."""
    level: Annotated[str | None, Schema(examples=["O1"])]
    """The opt level or precision mode; null if the log does not show it."""
    precision: Precision | None
    """The dtype that the run reduces to; null if the log does not show it."""
    scaling: Scaling | None
    """How the loss is scaled; null if the log does not show it."""
    static_scale: float | None
    """The scale, if scaling is static."""
    metric: float | None
    """The value found by --metric; null if there is none or it is not finite."""
    overflows: Overflows | None
    """Overflowed steps; null if nothing could be counted."""
    share: Share
    """The number of overflowed steps divided by the number of all steps."""
    loss_scale: LossScale
    """The history of the loss scale."""
    advice: Advice
    """Suggested values; null if the log gives no reason to change a value."""
    losses: LossCounts | None = optional()
    """Losses and gradient norms that the log prints. A line counts once."""

    @classmethod
    def of(cls, run: RunEvidence, facts: Facts) -> Run:
        evidence = run.evidence
        return cls(
            run.name,
            run.run.paths,
            evidence.format,
            evidence.level,
            evidence.precision,
            evidence.scaling,
            evidence.static_scale,
            run.metric,
            evidence.count,
            share_of(evidence),
            LossScale.of(evidence),
            advise(evidence, facts.limit),
            evidence.losses.counts,
        )


@dataclass(frozen=True)
class ReducedOperator:
    """One op type."""

    name: Annotated[str, Schema(examples=["MatMul"])]
    """The op type."""
    count: LineNumber
    """Number of records."""
    policy: Policy | None
    """white: may be reduced. black: not reduced. gray: follows its producer. null: unknown."""
    kernels: list[str]
    """The first few kernels that were selected."""


@dataclass(frozen=True)
class ReducedOperators:
    """Operators that MindSpore logged as run in lower precision, in all runs together."""

    against: str | None
    """The target that the policies are read from; null without --against."""
    operators: list[ReducedOperator]
    """The op types, those with the most records first."""
    total: Count
    """Number of records of reduced precision that name an operator."""
    raised: Count
    """Number of records of raised precision."""
    unnamed: Count
    """Number of records whose operator could not be read."""


@dataclass(frozen=True)
class QualifyDocument:
    """Whether a mixed-precision baseline is sound. Later versions may add keys."""

    verdict: Word
    """sound: all points hold. not sound: a point fails. incomplete: no point fails, but some could not be decided."""
    says: str
    """The verdict in one sentence."""
    points: list[VerdictPoint]
    """The points of the procedure; `reference` only with --reference."""
    missing: list[str]
    """The names of the points that could not be decided."""
    limit: float
    """The maximum share of steps that may overflow."""
    runs: list[Run]
    """The runs, in the order they were given."""
    reference: list[Run]
    """The high-precision runs."""
    agreement: Spread | None
    """The spread of the runs' metrics; null with fewer than two runs."""
    comparison: MeanComparison | None
    """Mixed precision compared with high precision by Welch's t-test; null without --reference."""
    reduced: ReducedOperators
    """Operators that MindSpore logged as run in lower precision, in all runs together."""


@dataclass(frozen=True)
class Soundness:
    """What the logs prove.

    :param reference: the runs in high precision
    :param facts: what was said of the runs
    :param target: whose policies are shown for reduced op types
    :param notes: how logs became runs
    :param warnings: where what was said and a log differ
    """

    verdict: Verdict
    runs: Sequence[RunEvidence]
    reference: Sequence[RunEvidence]
    facts: Facts
    target: Target | None = None
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def __repr__(self) -> str:
        return f"<Soundness of {', '.join(run.name for run in self.runs)}: {self.verdict.word}>"

    @property
    def reduced(self) -> Reduced:
        """The records of all runs together."""
        every = Reduced()
        for run in self.runs:
            every.include(run.reduced)
        return every

    def policies(self, names: Iterable[str]) -> dict[str, Policy | None]:
        """Return the policy of the op types that each MindSpore primitive maps to; None if they differ."""
        if self.target is None:
            return dict.fromkeys(names)
        operators, table = self.target.operators, name_table("mindspore").ops
        return {name: _policy(name, operators, table.get(name, ())) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo qualify``."""
        return headed("qualify", self._document())

    def _document(self) -> QualifyDocument:
        verdict, reduced = self.verdict, self.reduced
        policies = self.policies(reduced.counts)
        operators = [
            ReducedOperator(name, count, policies[name], reduced.kernels.get(name, []))
            for name, count in reduced.ordered
        ]
        target = self.target.text if self.target else None
        return QualifyDocument(
            verdict.word,
            verdict.says,
            verdict.points,
            verdict.missing,
            self.facts.limit,
            [Run.of(run, self.facts) for run in self.runs],
            [Run.of(run, self.facts) for run in self.reference],
            verdict.agreement,
            verdict.comparison,
            ReducedOperators(target, operators, reduced.counts.total(), reduced.raised, reduced.unnamed),
        )


def _policy(name: str, operators: Operators, names: Iterable[str]) -> Policy | None:
    known = [op for op in names if op in operators] or [name] * (name in operators)
    policies = {operators[op].entry.policy for op in known}
    return policies.pop() if len(policies) == 1 else None


def qualify(
    logs: AnyPath | Iterable[AnyPath],
    *,
    metric: str | None = None,
    reference: AnyPath | Iterable[AnyPath] = (),
    against: AnyTarget | None = None,
    steps: int | None = None,
    ranks: int | None = None,
    amp: str | None = None,
    loss_scale: str | float | None = None,
    limit: float = LIMIT,
    spread: float = 0.01,
    seen: Callable[[int, int | None], None] = lambda count, total: None,
) -> Soundness:
    """Check training logs for NaN, overflow and loss-scale trouble, as ``opsinfo qualify``.

    :param logs: each is a run; a folder is a run with a log per rank, unless its logs do not fit each other
    :param metric: a regular expression of the validation metric; its first group is the number; the last counts
    :param reference: the logs of runs in high precision
    :param against: the target whose policies are told for op types that MindSpore logged as reduced
    :param steps: optimizer steps of each run, if the logs do not show them
    :param ranks: ranks that print to each log
    :param amp: the mixed-precision level, if the log lacks it
    :param loss_scale: ``dynamic`` or a number, if the log lacks it
    :param limit: the share of overflowed steps from which a run is not sound; 0.001 for a large global batch
    :param spread: the largest range of the metrics of runs, as a share of their mean
    :param seen: called with the number of bytes that were read next, and the total, None if it is unknown
    :raises UsageFault: if an argument does not fit, or no line of a run has a known format
    :raises Refused: if a log cannot be read
    """
    for name, count in (("steps", steps), ("ranks", ranks)):
        if count is not None and count < 1:
            raise UsageFault(f"{name} must be a whole number above 0, not {count!r}", name="bad-number")
    if not 0 < limit < math.inf:
        raise UsageFault(f"limit must be a number above 0, not {limit!r}", name="bad-number")
    if math.isnan(spread) or spread < 0:
        raise UsageFault(f"spread must be a number, 0 or above, not {spread!r}", name="bad-number")
    level = None if amp is None else known_level(amp)
    facts = Facts(steps, ranks, level, None if loss_scale is None else known_scale(str(loss_scale)), spread, limit)
    pattern = compile_metric(metric) if metric else None
    runs, others = runs_of(_paths(logs)), runs_of(_paths(reference))
    if not runs:
        raise UsageFault("no log is given")
    target = None if against is None else Target.open(against)
    stdin, total = standard_input(), _size(path for run in runs + others for path in run.paths)

    def read(run: TrainingRun) -> FoundRuns:
        return run_evidence(run, facts.steps, facts.ranks, pattern, stdin, lambda count: seen(count, total))

    found = [read(run) for run in runs]
    found_others = [read(run) for run in others]
    notes = [note for each in found + found_others for note in each.notes]
    judged = [run for each in found for run in each.runs]
    compared = [run for each in found_others for run in each.runs]
    for run in judged:
        if not run.evidence.known:
            known = "; ".join(re.sub(r" \(`[^)]*\)", "", kind.reads) for kind in FORMATS)  # without their lines
            table = "`opsinfo profile` reads tables of times; " if run.name.lower().endswith(".csv") else ""
            raise UsageFault(
                "not a training log: no line of a known format, and no mixed-precision option that a run printed",
                name="unknown-log",
                path=run.name,
                hint=f"{table}known logs: {known}; and MindSpore's records of reduced precision, up to 2.0 with "
                "GLOG_v=1; `opsinfo modes --snippet NAME` prints code that makes a run log what is read",
            )
    warnings = []
    for run in judged:
        level, scaling = run.evidence.level, run.evidence.scaling
        if facts.amp and level and LEVELS.get(facts.amp) != LEVELS.get(level):
            warnings.append(f"{run.name}: the log shows {level}, --amp is {facts.amp}; the log is used")
        if facts.scaling and scaling and scaling != facts.scaling:
            warnings.append(f"{run.name}: the log shows {scaling} scaling, not {facts.scaling}; the log is used")
    verdict = judge(judged, compared, facts, pattern is not None)
    return Soundness(verdict, judged, compared, facts, target, notes, warnings)


def _paths(logs: AnyPath | Iterable[AnyPath]) -> tuple[str, ...]:
    return tuple(os.fspath(log) for log in ([logs] if isinstance(logs, (str, os.PathLike)) else logs))


def known_level(level: str) -> str:
    """Return a level or mode that a log may print.

    :raises UsageFault: if it is unknown
    """
    if level not in LEVELS:
        known = " ".join(LEVELS)
        raise UsageFault(f"`{level}` is not a known level or mode", name="unknown-level", hint=f"known: {known}")
    return level


def known_scale(text: str) -> str:
    """Return `dynamic`, or a number above 0.

    :raises UsageFault: if it is neither
    """
    with suppress(ValueError):
        if text == "dynamic" or 0 < float(text) < math.inf:
            return text
    raise UsageFault("--loss-scale must be `dynamic` or a number above 0", name="bad-loss-scale")


def _size(paths: Iterable[str]) -> int | None:
    """Return the bytes of all logs; None if one is a stream."""
    total = 0
    for path in paths:
        try:
            status = os.stat(path)
        except (OSError, ValueError):  # "-", or reported when it is read
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        total += status.st_size
    return total
