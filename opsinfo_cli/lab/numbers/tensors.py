"""Dumped tensors: how many values each format would lose, block by block, and by the operator that produced them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ...core.cann.policy import Policy
from ...core.document import Count
from ...errors import Damaged, Refused, installing
from ...opening import open_file
from .float_formats import FORMATS, Format

COARSE = 2.0**-11
"""Half of fp16's epsilon, the largest relative error of fp16 for a normal number."""

_BLOCK = 1 << 20
_MAGIC = b"\x93NUMPY"
_NAME = re.compile(r"(?P<type>[A-Za-z_]\w*)\..+?\.\d+(?:\.\d+)+\.(?:input|output)\.\d+\.npy")


def dumped_type(path: str) -> str | None:
    """Return the op type in the name ``OpType.opname.taskid.timestamp.output.N.npy``; None if it has another form."""
    match = _NAME.fullmatch(os.path.basename(path))
    return match["type"] if match else None


def dump_files(folder: str) -> list[str]:
    """Return every .npy file below a folder, sorted."""
    paths = [os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names]
    return sorted(path for path in paths if path.endswith(".npy"))


def load_numpy() -> Any:
    """:raises Refused: if numpy is not installed"""
    try:
        import numpy
    except ImportError:
        raise Refused(
            "reading .npy files needs numpy, which is not installed", name="numpy-missing", hint=installing()
        ) from None
    return numpy


@dataclass
class FormatLosses:
    """Number of affected values in the format of --low."""

    overflow: Count = 0
    """Values that become infinite."""
    zero: Count = 0
    """Values that become 0."""
    subnormal: Count = 0
    """Values that become subnormal."""
    coarse: Count = 0
    """Other values with a relative rounding error above 2^-11."""

    def shares(self, values: int) -> tuple[float, ...]:
        return tuple(count / max(1, values) for count in (self.overflow, self.zero, self.subnormal, self.coarse))

    def add(self, other: FormatLosses) -> None:
        self.overflow += other.overflow
        self.zero += other.zero
        self.subnormal += other.subnormal
        self.coarse += other.coarse


@dataclass(kw_only=True)
class LossesInAFormat(FormatLosses):
    """Number of affected values in one format."""

    name: str
    """The format."""
    loss_scale: float | None
    """A power of two that scales the values into the normal range; null if none is needed or none is sufficient."""
    below_normal_then: float
    """The fraction of values still below the normal range with that scale."""


@dataclass(frozen=True)
class TensorRow:
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


@dataclass
class DumpedTensor:
    """The counts of one file.

    :param exponents: the number of values with each binary exponent, zeros left out
    """

    path: str
    dtype: str
    values: int = 0
    not_finite: int = 0
    largest: float = 0.0
    smallest: float = math.inf
    losses: dict[str, FormatLosses] = field(default_factory=lambda: {name: FormatLosses() for name in FORMATS})
    exponents: dict[int, int] = field(default_factory=dict)

    def loss_scale(self, format: Format) -> tuple[float | None, float]:
        """Return (power of two to multiply by, share of values that would still be below normal, 0 to 1).

        The power is None if nothing is below normal, or if the largest value overflows without a scale.
        """
        limits = format.limits
        if not self.largest or self.largest > limits.largest:
            return None, 0.0
        needed = math.ceil(math.log2(limits.smallest_normal) - math.log2(self.smallest))
        if needed <= 0:
            return None, 0.0
        most = math.floor(math.log2(limits.largest) - math.log2(self.largest))
        power = max(0, min(needed, most))
        below = sum(count for exponent, count in self.exponents.items() if exponent + power < format.lowest_exponent)
        return 2.0**power, below / self.values

    @property
    def row(self) -> TensorRow:
        formats = []
        for name, losses in self.losses.items():
            scale, left = self.loss_scale(FORMATS[name])
            formats.append(LossesInAFormat(**vars(losses), name=name, loss_scale=scale, below_normal_then=left))
        smallest = self.smallest if self.largest else None
        return TensorRow(self.path, self.dtype, self.values, self.not_finite, self.largest, smallest, formats)

    def add(self, block: Any, np: Any) -> None:
        """:param block: one dimension of float64"""
        self.values += block.size
        finite = np.isfinite(block)
        self.not_finite += int(block.size - np.count_nonzero(finite))
        sizes = np.abs(block[finite])
        sizes = sizes[sizes > 0]
        if not sizes.size:
            return
        self.largest, self.smallest = max(self.largest, float(sizes.max())), min(self.smallest, float(sizes.min()))
        exponents = np.frexp(sizes)[1] - 1
        for exponent, count in zip(*np.unique(exponents, return_counts=True), strict=True):
            self.exponents[int(exponent)] = self.exponents.get(int(exponent), 0) + int(count)
        for name, losses in self.losses.items():
            known = FORMATS[name]
            if name == "fp64":
                losses.subnormal += int(np.count_nonzero(sizes < known.limits.smallest_normal))
                continue
            shift = np.maximum(exponents, known.lowest_exponent) - known.mantissa
            nearest = np.ldexp(np.rint(np.ldexp(sizes, -shift)), shift)  # rint rounds ties to even
            over, zero = nearest > known.limits.largest, nearest == 0
            below = (nearest < known.limits.smallest_normal) & ~zero
            rest = ~(over | zero)
            coarse = np.abs(nearest[rest] - sizes[rest]) > COARSE * sizes[rest]
            losses.add(FormatLosses(*(int(np.count_nonzero(outcome)) for outcome in (over, zero, below, coarse))))


def read_tensor(path: str) -> DumpedTensor | None:
    """Count the values of a memory-mapped .npy file. Two-byte raw values are read as bfloat16.

    :returns: None if it holds no floating-point numbers
    :raises Refused: if the file cannot be read, or numpy is missing
    :raises Damaged: if the file is not a .npy file
    """
    np = load_numpy()
    with open_file(path) as file:
        magic = file.read(len(_MAGIC))
    if magic != _MAGIC:
        hint = "the file is an archive of arrays; unpack it first" if magic.startswith(b"PK") else None
        raise Damaged("not a .npy file", path=path, hint=hint)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy's header parser may raise any exception
        reason = "" if "pickle" in str(error) else f": {str(error)[:200]}"
        raise Damaged(f"not a .npy file of numbers{reason}", path=path) from None
    raw_bfloat = array.dtype.kind == "V" and array.dtype.itemsize == 2 and array.dtype.names is None
    if array.dtype.kind != "f" and not raw_bfloat:
        return None
    tensor = DumpedTensor(path, "bf16" if raw_bfloat else str(array.dtype))
    flat = array.ravel(order="K")
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, _BLOCK):
            block = flat[start : start + _BLOCK]
            if raw_bfloat:
                block = (np.ascontiguousarray(block).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
            tensor.add(np.asarray(block, dtype=np.float64), np)
    return tensor


@dataclass(frozen=True)
class DumpedType:
    """The dumped tensors of one op type."""

    name: str
    """The op type."""
    policy: Policy | None
    """white: may be reduced. black: not reduced. gray: follows its producer. null: unknown."""
    files: int
    """Number of tensors."""
    values: Count
    """Number of values."""
    losses: FormatLosses
    """Number of affected values in the format of --low."""
    worst: str
    """The file with the largest losses."""
    candidate: bool
    """Whether values overflow or become zero and the op type is not on the black list."""


def by_operator(tensors: Iterable[DumpedTensor], format: str) -> list[DumpedType]:
    """Return losses by op type, for files named after an operator; most overflows first, then most zeros. No policy is
    known, so that whatever overflows or becomes zero is a candidate.
    """
    groups: dict[str, list[DumpedTensor]] = {}
    for tensor in tensors:
        if op_type := dumped_type(tensor.path):
            groups.setdefault(op_type, []).append(tensor)
    operators = []
    for op_type, group in sorted(groups.items()):
        losses = FormatLosses()
        for tensor in group:
            losses.add(tensor.losses[format])
        worst = max(group, key=lambda tensor: tensor.losses[format].shares(tensor.values))
        values = sum(tensor.values for tensor in group)
        lost = bool(losses.overflow or losses.zero)
        operators.append(DumpedType(op_type, None, len(group), values, losses, worst.path, lost))
    return sorted(operators, key=lambda operator: operator.losses.shares(operator.values), reverse=True)
