"""The JSON of `opsinfo qualify`."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import NotRequired, TypedDict

from ...core.document import Count, LineNumber, Schema
from ...core.documents.shared import Head


class Point(TypedDict):
    """One point of the procedure."""

    name: Annotated[
        str,
        Schema(
            examples=[
                "mixed-precision",
                "dynamic-scaling",
                "losses-are-numbers",
                "overflow-share",
                "loss-scale",
                "runs-agree",
                "reference",
            ]
        ),
    ]
    """The name of the point; more may be added."""
    status: Literal["holds", "fails", "cannot be told", "not measurable", "missing"]
    """Whether the point holds, according to the logs."""
    says: str
    """The figures, as text."""
    hint: str | None
    """How to resolve it, or how to supply what the logs do not show; null if nothing is to be done."""


class Overflows(TypedDict):
    """The number of overflowed steps; each step counts once, even if several ranks printed it."""

    low: Count
    """Lower bound of the number of overflowed steps."""
    high: Count
    """Upper bound; equal to low if the log shows the exact number."""
    steps: int | None
    """Number of all steps; null if the log does not show it."""
    calibrating: Count
    """Overflowed steps during the first descent of the scale."""
    basis: str
    """What was counted, as text."""
    ranks: int | None
    """Number of ranks that print into the log; null if unknown."""
    logged: NotRequired[int | None]
    """The number of steps that the log shows, if it is a sample of them; null if it shows all, or if the number is
    unknown.
    """
    even: NotRequired[bool]
    """Whether the logged steps of a sample have equal distances."""
    doubt: str | None
    """Why the count is not a measurement; null if it is one."""
    proof: NotRequired[str | None]
    """Evidence that this log reports skipped steps; null if there is none."""
    notes: NotRequired[list[str]]
    """Oddities of the log, and why low and high differ."""


class Share(TypedDict):
    """The number of overflowed steps divided by the number of all steps."""

    low: float | None
    """Lower bound, from 0 to 1; null if unknown."""
    high: float | None
    """Upper bound, from 0 to 1; null if unknown."""
    without_calibration: float | None
    """The share without the first descent of the scale; null if unknown."""


class LossScale(TypedDict):
    """The history of the loss scale."""

    start: float | None
    """The first scale; APEX, torch_npu and fairseq print half of it, after the first overflow."""
    final: float | None
    """The last scale."""
    lowest: float | None
    """The lowest scale."""
    highest: float | None
    """The highest scale."""
    rises: Count
    """Number of rises."""
    falls: Count
    """Number of falls."""
    collapsed: str | None
    """Why the scale has collapsed; null if it has not."""
    at: Literal["step", "message"]
    """The unit of the trajectory's positions: steps, or messages if the log does not show steps."""
    trajectory: list[tuple[int, float]]
    """Changes of the scale as [at, scale]; long trajectories are thinned."""


class First(TypedDict):
    """Where it stands."""

    step: int | None
    """The step; null if the log prints none."""
    entry: Count
    """The number of the logged entry, from 1."""
    says: str
    """The losses and gradient norms of its line."""


class Losses(TypedDict):
    """Losses and gradient norms that the log prints. A line counts once."""

    logged: Count
    """Number of logged losses."""
    not_numbers: Count
    """Those of them that are NaN or infinite."""
    norms_logged: Count
    """Number of logged gradient norms."""
    norms_not_numbers: Count
    """Those of them that are NaN or infinite."""
    nan_iterations: Count
    """The sum of Megatron's counter of NaN iterations."""
    first: First | None
    """The first loss or gradient norm that is not a number; null if all are."""


class Advice(TypedDict):
    """Suggested values; null if the log gives no reason to change a value."""

    initial: float | None
    """The initial scale."""
    growth_factor: float | None
    """The growth factor."""
    window: int | None
    """Number of steps without overflow before the scale grows."""
    reasons: list[str]
    """The reasons, as text."""


class Run(TypedDict):
    """One run, from one log or from one log per rank."""

    name: str
    """The path of the log, or the common part of the paths of its logs."""
    logs: list[str]
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
    precision: Literal["float16", "bfloat16", "hifloat8"] | None
    """The dtype that the run reduces to; null if the log does not show it."""
    scaling: Literal["dynamic", "static"] | None
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
    losses: NotRequired[Losses]
    """Losses and gradient norms that the log prints. A line counts once."""
    advice: Advice
    """Suggested values; null if the log gives no reason to change a value."""


class Spread(TypedDict):
    """Statistics of the runs' metrics."""

    number: Count
    """Number of runs."""
    mean: float
    """The mean."""
    deviation: float
    """The standard deviation."""
    lowest: float
    """The lowest metric."""
    highest: float
    """The highest metric."""
    relative: float | None
    """The range divided by the absolute value of the mean; null if the mean is 0."""
    outlier: float | None
    """A metric that Grubbs' test (5 %) marks as an outlier; null if there is none."""


class Comparison(TypedDict):
    """Comparison of the means: mixed minus high precision."""

    difference: float
    """The difference of the means."""
    t: float | None
    """Welch's t; null if neither side varies."""
    freedom: float | None
    """The degrees of freedom."""
    p: float | None
    """The two-sided p-value."""
    low: float
    """The lower end of the 90 % confidence interval."""
    high: float
    """The upper end of the 90 % confidence interval."""


class Operator(TypedDict):
    """One op type."""

    name: Annotated[str, Schema(examples=["MatMul"])]
    """The op type."""
    count: LineNumber
    """Number of records."""
    policy: Literal["white", "black", "gray"] | None
    """white: may be reduced. black: not reduced. gray: follows its producer. null: unknown."""
    kernels: list[str]
    """The first few kernels that were selected."""


class Reduced(TypedDict):
    """Operators that MindSpore logged as run in lower precision, in all runs together."""

    against: str | None
    """The target that the policies are read from; null without --against."""
    operators: list[Operator]
    """The op types, those with the most records first."""
    total: Count
    """Number of records of reduced precision that name an operator."""
    raised: Count
    """Number of records of raised precision."""
    unnamed: Count
    """Number of records whose operator could not be read."""


class QualifyDocument(Head):
    """Whether a mixed-precision baseline is sound. Later versions may add keys."""

    verdict: Literal["sound", "not sound", "incomplete"]
    """sound: all points hold. not sound: a point fails. incomplete: no point fails, but some could not be decided."""
    says: str
    """The verdict in one sentence."""
    points: list[Point]
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
    comparison: Comparison | None
    """Mixed precision compared with high precision by Welch's t-test; null without --reference."""
    reduced: Reduced
    """Operators that MindSpore logged as run in lower precision, in all runs together."""
