"""The JSON of `opsinfo profile`."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import NotRequired, TypedDict

from ...core.cann.targets.found import TargetFacts
from ...core.document import Count, LineNumber, PolicyName, Schema
from .shared import Difference, Head


class Type(TypedDict):
    """One op type."""

    type: Annotated[str, Schema(examples=["MatMulV2"])]
    """The op type; unknown if the table does not have it."""
    calls: Count
    """Number of calls."""
    microseconds: Annotated[float, Schema(minimum=0)]
    """Time of its calls in microseconds."""
    low: Annotated[float, Schema(minimum=0)]
    """Microseconds of calls in float16, bfloat16 or hifloat8."""
    high: Annotated[float, Schema(minimum=0)]
    """Microseconds of calls in float32, HF32 not enabled."""
    hf32: Annotated[float, Schema(minimum=0)]
    """Microseconds of calls in float32 with HF32 enabled."""
    other: Annotated[float, Schema(minimum=0)]
    """Microseconds of calls without a floating-point tensor, and of those whose dtypes the table does not have."""
    list: PolicyName | None
    """The list it is on, with the mixlist if one is given; null without a target, or if the target does not have it."""
    movable: bool | None
    """Whether a list can change what its calls run in; null if that is unknown."""
    judged: NotRequired[str | None]
    """The op type that lists are asked for, if the compiler replaced it after the choice of dtypes;
    null if it did not.
    """
    confidence: Literal["library", "kernel"] | None
    """Where movable comes from: the library, or a recorded answer of the chip's kernel; null without a list."""


class Time(TypedDict):
    """All Casts, those on the AI CPU too."""

    calls: Count
    """Number of calls."""
    microseconds: Annotated[float, Schema(minimum=0)]
    """Their time in microseconds."""


class Core(TypedDict):
    """One core."""

    core: Annotated[str, Schema(examples=["AI_CPU", "communication"])]
    """AI_CPU, communication, or another word of the table."""
    calls: Count
    """Number of calls."""
    microseconds: Annotated[float, Schema(minimum=0)]
    """Their time in microseconds."""


class Apart(TypedDict):
    """What is not the engine's: communication, AI CPU, DVPP."""

    calls: Count
    """Number of calls."""
    microseconds: Annotated[float, Schema(minimum=0)]
    """Their time in microseconds."""
    cores: list[Core]
    """The same by what ran it."""


class Totals(TypedDict):
    """The sums of the types."""

    calls: Count
    """Number of calls."""
    microseconds: Annotated[float, Schema(minimum=0)]
    """Their time in microseconds."""
    low: Annotated[float, Schema(minimum=0)]
    """Microseconds of calls in float16, bfloat16 or hifloat8."""
    high: Annotated[float, Schema(minimum=0)]
    """Microseconds of calls in float32, HF32 not enabled."""
    hf32: Annotated[float, Schema(minimum=0)]
    """Microseconds of calls in float32 with HF32 enabled."""
    other: Annotated[float, Schema(minimum=0)]
    """Microseconds of calls without a floating-point tensor, and of those whose dtypes the table does not have."""


class Run(TypedDict):
    """One step on one device."""

    device: Annotated[str | None, Schema(examples=["0"])]
    """The device; null if the table does not have it."""
    step: Annotated[str | None, Schema(examples=["7"])]
    """The step; null if the table does not have it."""
    calls: Count
    """Number of calls."""
    microseconds: Annotated[float, Schema(minimum=0)]
    """Their time in microseconds."""


class Table(TypedDict):
    """One table."""

    path: str
    """Its path, as given or below the folder given."""
    format: Literal["kernel_details", "op_summary"]
    """Whose table it is: of torch_npu or of msprof."""
    rows: Count
    """Number of rows."""
    skipped: Count
    """Number of these without a time."""


MovedType = TypedDict(
    "MovedType",
    {
        "type": Annotated[str, Schema(description="The op type.")],
        "from": Annotated[PolicyName | None, Schema(description="Its list without the mixlist.")],
        "to": Annotated[PolicyName | None, Schema(description="Its list with the mixlist.")],
        "calls": Annotated[Count, Schema(description="Number of calls.")],
        "microseconds": Annotated[
            Annotated[float, Schema(minimum=0)], Schema(description="Their time in microseconds.")
        ],
    },
)
MovedType.__doc__ = """One op type."""


class Moved(TypedDict):
    """With --mixlist: the time that it moves, low time of types that turn black and high time of types that turn white.
    How long they take then is unknown.
    """

    calls: Count
    """Number of calls."""
    microseconds: Annotated[float, Schema(minimum=0)]
    """Their time in microseconds."""
    types: list[MovedType]
    """The types that move."""


class Kernel(TypedDict):
    """One row."""

    name: str
    """The name of the node or call."""
    type: str
    """The op type; unknown if the table does not have it."""
    microseconds: Annotated[float, Schema(minimum=0)]
    """Its time in microseconds."""
    inputs: list[Annotated[str | None, Schema(examples=["float16", "float32", "bfloat16"])]]
    """The dtype of each input; empty if the table does not have them."""
    outputs: list[Annotated[str | None, Schema(examples=["float16", "float32", "bfloat16"])]]
    """The dtype of each output; empty if the table does not have them."""
    device: str | None
    """The device; null if the table does not have it."""
    step: str | None
    """The step; null if the table does not have it."""
    core: Annotated[str | None, Schema(examples=["AI_CORE"])]
    """What it ran on; null if the table does not have it."""
    file: str
    """The table."""
    line: LineNumber
    """The line of the row, from 1."""


class Agreement(TypedDict):
    """One op type."""

    type: str
    """The op type that ran."""
    matched: Count
    """Number of matched nodes."""
    agree: Count
    """Number of matched nodes that agree."""


UnmatchedNode = TypedDict(
    "UnmatchedNode",
    {
        "name": Annotated[str, Schema(description="The name of the node.")],
        "type": Annotated[str, Schema(description="The op type of the node.")],
        "in": Annotated[
            Literal["predicted", "ran"],
            Schema(
                description=(
                    "Whether the model or the tables have it. What ran and is in no model has one item for "
                    "each op type, with the name of the first call."
                )
            ),
        ],
        "why": Annotated[str, Schema(description="Why the node was not compared.")],
    },
)
UnmatchedNode.__doc__ = """One node."""


class ReadBack(TypedDict):
    """With --model: the model compared with what ran, by node name."""

    agreement: float | None
    """Percentage of matched nodes that agree; null if none matched."""
    matched: Count
    """Number of nodes of the model that ran."""
    by_fusion: Count
    """Always 0: nodes are matched by name only."""
    types: list[Agreement]
    """The matched nodes by op type."""
    unmatched: list[UnmatchedNode]
    """Nodes that were not compared."""
    differs: list[Difference]
    """Nodes that ran in other dtypes."""


class ProfileDocument(Head):
    """The time of what ran on the device. Later versions may add keys."""

    target: TargetFacts | None
    """The target of --against; null without it."""
    types: list[Type]
    """The op types of the engine but Cast, the longest time first."""
    casts: Time
    """All Casts, those on the AI CPU too."""
    not_engine: Apart
    """What is not the engine's: communication, AI CPU, DVPP."""
    totals: Totals
    """The sums of the types."""
    runs: list[Run]
    """The time of everything by device and step, in the order of the tables."""
    files: list[Table]
    """The tables."""
    moved: NotRequired[Moved]
    """With --mixlist: the time that it moves, low time of types that turn black and high time of types that turn white.
    How long they take then is unknown.
    """
    becomes_gray: NotRequired[Time]
    """With --mixlist: the time of types that turn gray. Whether they move depends on the model."""
    kernels: NotRequired[list[Kernel]]
    """With --by kernel: the rows, in the order of the tables."""
    read_back: NotRequired[ReadBack]
    """With --model: the model compared with what ran, by node name."""
