"""The JSON of `opsinfo bisect`."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from typing_extensions import NotRequired, TypedDict

from ...core.document import Count, Failure, LineNumber, Schema
from ...core.documents.shared import Head


class Culprit(TypedDict):
    """One op type."""

    type: Annotated[str, Schema(examples=["SoftmaxV2"])]
    """The op type."""
    same: list[Annotated[str, Schema(examples=["SoftmaxV2"])]]
    """Other op types that change the same nodes; one of them is enough."""
    nodes: list[str]
    """Names of the nodes whose dtypes the op type changes; empty without a model."""
    casts: int | None
    """Number of additional Casts that run because of the op type; negative if fewer run, null without a model."""
    trial: LineNumber | None
    """The trial that failed without it; null if no such trial was run."""


class Cost(TypedDict):
    """What the list moves from low to high; with cannot-cure, what the largest list moves; null without a model, or if
    no list is known to pass.
    """

    nodes: Count
    """Number of nodes."""
    bytes: Count
    """Bytes of their outputs, as far as shapes are known."""
    microseconds: Annotated[float, Schema(minimum=0)] | None
    """Time of these nodes in a profile; null if unknown."""


class LeftLow(TypedDict):
    """What stays low with the list; null as for cost."""

    nodes: Count
    """Number of nodes."""
    bytes: Count
    """Bytes of their outputs, as far as shapes are known."""


class KeptNode(TypedDict):
    """One node."""

    name: str
    """The name of the node."""
    type: Annotated[str, Schema(examples=["SoftmaxV2"])]
    """The op type of the node."""
    trial: LineNumber | None
    """The trial that failed without it; null if no such trial was run."""


class ResultByNode(TypedDict):
    """The result of the search among nodes."""

    ended: Literal["found", "nothing-to-do", "cannot-cure", "budget", "interrupted"]
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


class Trials(TypedDict):
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


class Run(TypedDict):
    """One run."""

    trial: LineNumber
    """The number of the trial; its folder has the same number."""
    verdict: Literal["pass", "fail", "cannot-tell"]
    """The verdict of the check."""


class TestedSet(TypedDict):
    """One set of candidates."""

    kept: list[Annotated[str, Schema(examples=["SoftmaxV2"])]]
    """Candidates that stayed in high precision."""
    passed: bool
    """Whether most runs of the set passed."""
    trials: list[Run]
    """The runs of the set."""


class CostOfAList(TypedDict):
    """What the list costs. With a profile only the time is compared, else Casts, nodes and bytes."""

    microseconds: Annotated[float, Schema(minimum=0)] | None
    """Time in the profile of the nodes that the list moves to high; null without a profile."""
    casts: Count
    """Number of Casts that run with the list."""
    nodes: Count
    """Number of nodes that the list moves to high."""
    bytes: Count
    """Bytes of the outputs of these nodes, as far as shapes are known."""


class PointOfTheCurve(TypedDict):
    """One list."""

    loss: Annotated[float | str, Schema(examples=[0.012, "inf"])]
    """The last number that the check printed in the last run of the list; less is better."""
    cost: CostOfAList
    """What the list costs. With a profile only the time is compared, else Casts, nodes and bytes."""
    list: list[Annotated[str, Schema(examples=["SoftmaxV2"])]]
    """Op types that stay in high precision."""
    trial: LineNumber
    """The number of the last trial of the list."""
    dominated: bool
    """Whether another list costs no more and loses no more, and one of both less."""


class Search(Head):
    """The smallest list that makes a check pass, and how it was found. Later versions may add keys."""

    ended: Literal["found", "nothing-to-do", "cannot-cure", "budget", "interrupted"]
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
    moved: list[Annotated[str, Schema(examples=["SoftmaxV2"])]]
    """Op types that the resulting list moves: to the black list, or with grow to the white list."""
    cost: Cost | None
    """What the list moves from low to high; with cannot-cure, what the largest list moves; null without a model, or if
    no list is known to pass.
    """
    left_low: LeftLow | None
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
    curve: NotRequired[list[PointOfTheCurve]]
    """With --curve: the lists that were run and printed a number, the cheapest first."""
    output: NotRequired[list[str]]
    """With cannot-cure: the last lines that the check printed, at most ten."""
    still_low: NotRequired[list[str]]
    """With cannot-cure: nodes that are low with all candidates on the black list."""
    folder: str
    """The run folder, with the journal and the trials."""
    overhead_ms: Annotated[float, Schema(minimum=0)]
    """Time that opsinfo itself takes for each trial, in milliseconds."""
    error: NotRequired[Failure]
    """Why the list could not be written; with status 3. The answer is in the document nevertheless."""


class Candidate(TypedDict):
    """One candidate."""

    type: Annotated[str, Schema(examples=["SoftmaxV2"])]
    """The op type."""
    weight: Annotated[float, Schema(exclusiveMinimum=0)]
    """How strongly the op type is suspected, relative to the others."""


class Price(TypedDict):
    """With --dry-run: the maximum number of runs, if the check is monotone."""

    one: Count
    """If one op type is needed."""
    three: Count
    """If three op types are needed."""
    most: Count
    """In the worst case."""


class Plan(Head):
    """The smallest list that makes a check pass, and how it was found. Later versions may add keys."""

    curve: NotRequired[list[PointOfTheCurve]]
    """With --curve: the lists that were run and printed a number, the cheapest first."""
    output: NotRequired[list[str]]
    """With cannot-cure: the last lines that the check printed, at most ten."""
    still_low: NotRequired[list[str]]
    """With cannot-cure: nodes that are low with all candidates on the black list."""
    dry_run: Literal[True]
    """Set with --dry-run: nothing was run or written."""
    order: list[Candidate]
    """With --dry-run: the candidates, the most suspected first."""
    price: Price
    """With --dry-run: the maximum number of runs, if the check is monotone."""
    error: NotRequired[Failure]
    """Why the list could not be written; with status 3. The answer is in the document nevertheless."""


BisectDocument: TypeAlias = Search | Plan
"""The smallest list that makes a check pass, and how it was found. Later versions may add keys."""
