"""The JSON of `opsinfo numerics`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from typing_extensions import TypedDict

from ...core.document import Count
from ...core.documents.shared import Head
from ..numbers.single_values import SingleValue


class Format(TypedDict):
    """One format, derived from its bit layout."""

    name: str
    """The name of the format."""
    bits: int
    """The width in bits."""
    largest: float
    """The largest finite value."""
    smallest_normal: float
    """The smallest normal value."""
    smallest_subnormal: float
    """The smallest value above 0."""
    epsilon: float
    """The difference between 1 and the next larger value."""


class Formats(Head):
    """Number formats; or the tensors in files: `formats`, or `tensors` with `operators`; or the calls in files of
    msprobe: `calls`; or single numbers: `values`. Later versions may add keys.
    """

    formats: list[Format]
    """The formats."""


class LossesInAFormat(TypedDict):
    """Number of affected values in one format."""

    name: str
    """The format."""
    overflow: Count
    """Values that become infinite."""
    zero: Count
    """Values that become 0."""
    subnormal: Count
    """Values that become subnormal."""
    coarse: Count
    """Other values with a relative rounding error above 2^-11."""
    loss_scale: float | None
    """A power of two that scales the values into the normal range; null if none is needed or none is sufficient."""
    below_normal_then: float
    """The fraction of values still below the normal range with that scale."""


class Tensor(TypedDict):
    """One .npy file."""

    path: str
    """The path of the file."""
    dtype: str
    """The dtype; raw values of two bytes are read as bf16."""
    values: Count
    """Number of values."""
    not_finite: Count
    """Number of values that are already infinite or NaN."""
    largest: float
    """The largest absolute value."""
    smallest: float | None
    """The smallest absolute value above 0; null if all values are 0."""
    formats: list[LossesInAFormat]
    """What the tensor would lose in each format."""


class Losses(TypedDict):
    """Number of affected values in the format of --low."""

    overflow: Count
    """Values that become infinite."""
    zero: Count
    """Values that become 0."""
    subnormal: Count
    """Values that become subnormal."""
    coarse: Count
    """Other values with a relative rounding error above 2^-11."""


class Operator(TypedDict):
    """The dumped tensors of one op type."""

    name: str
    """The op type."""
    policy: Literal["white", "black", "gray"] | None
    """white: may be reduced. black: not reduced. gray: follows its producer. null: unknown."""
    files: int
    """Number of tensors."""
    values: Count
    """Number of values."""
    losses: Losses
    """Number of affected values in the format of --low."""
    worst: str
    """The file with the largest losses."""
    candidate: bool
    """Whether values overflow or become zero and the op type is not on the black list."""


class TensorLosses(Head):
    """Number formats; or the tensors in files: `formats`, or `tensors` with `operators`; or the calls in files of
    msprobe: `calls`; or single numbers: `values`. Later versions may add keys.
    """

    low: str
    """The format that operators are ranked by."""
    tensors: list[Tensor]
    """The tensors, one for each file."""
    operators: list[Operator]
    """Op types of the files that are named like Ascend dumps, worst first."""


class Losses2(TypedDict):
    """Number of affected tensors in the format of --low."""

    overflow: Count
    """Tensors with a value that becomes infinite, or is infinite or NaN."""
    zero: Count
    """Tensors whose values all become 0."""
    subnormal: Count
    """Other tensors whose values are all below normal."""


class DumpedOperator(TypedDict):
    """The calls of one operator, by the statistics of their floating-point tensors."""

    name: str
    """The operator: torch's name, or MindSpore's."""
    op_type: str | None
    """The op type that it runs, in the target if one is given; null: unknown."""
    policy: Literal["white", "black", "gray"] | None
    """white: may be reduced. black: not reduced. gray: follows its producer. null: unknown."""
    calls: Count
    """Number of calls."""
    tensors: Count
    """Number of tensors that they read and yield."""
    losses: Losses2
    """Number of affected tensors in the format of --low."""
    largest: float | None
    """The largest absolute value; null: infinite or NaN."""
    worst: str
    """The call that loses most."""
    candidate: bool
    """Whether a tensor overflows or becomes zero and the op type is not on the black list."""


class CallLosses(Head):
    """Number formats; or the tensors in files: `formats`, or `tensors` with `operators`; or the calls in files of
    msprobe: `calls`; or single numbers: `values`. Later versions may add keys.
    """

    low: str
    """The format that operators are ranked by."""
    calls: list[DumpedOperator]
    """Operators of a dump.json of msprobe, those that lose most first."""


class Values(Head):
    """Number formats; or the tensors in files: `formats`, or `tensors` with `operators`; or the calls in files of
    msprobe: `calls`; or single numbers: `values`. Later versions may add keys.
    """

    values: list[SingleValue]
    """Single numbers, in each format."""


NumericsDocument: TypeAlias = Formats | TensorLosses | CallLosses | Values
"""Number formats; or the tensors in files: `formats`, or `tensors` with `operators`; or the calls in files of msprobe:
`calls`; or single numbers: `values`. Later versions may add keys.
"""
