"""Counts the values of a dumped tensor that each format would lose, block by block."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

from ..errors import Damaged, Refused
from .number_format import FORMATS, Format

COARSE = 2.0**-11
"""Half of fp16's epsilon, the largest relative error of fp16 for a normal number."""

_BLOCK = 1 << 20
_MAGIC = b"\x93NUMPY"


def load_numpy() -> Any:
    """:raises Refused: if numpy is not installed"""
    try:
        import numpy
    except ImportError:
        raise Refused(
            "reading .npy files needs numpy, which is not installed",
            name="numpy-missing",
            hint="install opsinfo with its extra: python3 -m pip install 'opsinfo[numerics]'",
        ) from None
    return numpy


@dataclass
class Losses:
    """The number of values of a tensor by outcome in one format; the first three outcomes exclude each other."""

    overflow: int = 0
    zero: int = 0
    subnormal: int = 0
    coarse: int = 0

    @property
    def badness(self) -> tuple[int, int, int, int]:
        return self.overflow, self.zero, self.subnormal, self.coarse


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
    losses: dict[str, Losses] = field(default_factory=lambda: {name: Losses() for name in FORMATS})
    exponents: dict[int, int] = field(default_factory=dict)

    def loss_scale(self, format: Format) -> tuple[float | None, float]:
        """Return (power of two to multiply by, share of values that would still be below normal, 0 to 1).

        The power is None if nothing is below normal, or if the largest value overflows without a scale.
        """
        limits = format.limits
        if not self.largest or self.largest > float(limits.largest):
            return None, 0.0
        needed = math.ceil(math.log2(float(limits.smallest_normal)) - math.log2(self.smallest))
        if needed <= 0:
            return None, 0.0
        most = math.floor(math.log2(float(limits.largest)) - math.log2(self.largest))
        chosen = max(0, min(needed, most))
        below = sum(many for exponent, many in self.exponents.items() if exponent + chosen < format.lowest_exponent)
        return 2.0**chosen, below / self.values

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
        for exponent, many in zip(*np.unique(exponents, return_counts=True), strict=True):
            self.exponents[int(exponent)] = self.exponents.get(int(exponent), 0) + int(many)
        for name, losses in self.losses.items():
            _count(losses, sizes, exponents, FORMATS[name], np)


def _count(losses: Losses, sizes: Any, exponents: Any, format: Format, np: Any) -> None:
    """Round to the format, ties to even: powers of two scale exactly, and rint rounds ties to even."""
    if format.name == "fp64":
        losses.subnormal += int(np.count_nonzero(sizes < float(format.limits.smallest_normal)))
        return
    limits = format.limits
    shift = np.maximum(exponents, format.lowest_exponent) - format.mantissa
    nearest = np.ldexp(np.rint(np.ldexp(sizes, -shift)), shift)
    over = nearest > float(limits.largest)
    zero = nearest == 0
    below = (nearest < float(limits.smallest_normal)) & ~zero
    losses.overflow += int(np.count_nonzero(over))
    losses.zero += int(np.count_nonzero(zero))
    losses.subnormal += int(np.count_nonzero(below))
    kept = ~(over | zero)
    losses.coarse += int(np.count_nonzero(np.abs(nearest[kept] - sizes[kept]) > COARSE * sizes[kept]))


def read_tensor(path: str) -> DumpedTensor | None:
    """Count the values of a memory-mapped .npy file. Two-byte raw values are read as bfloat16.

    :returns: None if it holds no floating-point numbers
    :raises Refused: if the file cannot be read, or numpy is missing
    :raises Damaged: if the file is not a .npy file
    """
    np = load_numpy()
    _require_npy(path)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy's header parser may raise any exception
        said = "" if "pickle" in str(error) else f": {str(error)[:200]}"
        raise Damaged(f"not a .npy file of numbers{said}", path=path) from None
    raw_bfloat = array.dtype.kind == "V" and array.dtype.itemsize == 2 and array.dtype.names is None
    if array.dtype.kind != "f" and not raw_bfloat:
        return None
    tensor = DumpedTensor(path, "bf16" if raw_bfloat else str(array.dtype))
    flat = array.ravel(order="K")
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, _BLOCK):
            tensor.add(_as_float64(flat[start : start + _BLOCK], raw_bfloat, np), np)
    return tensor


def _require_npy(path: str) -> None:
    try:
        if not os.path.isfile(path) and os.path.exists(path):
            raise Refused("not a regular file", name="not-a-file", path=path)
        with open(path, "rb") as file:
            magic = file.read(len(_MAGIC))
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise Refused(said, name="unreadable", path=path) from None
    if magic != _MAGIC:
        hint = "the file is an archive of arrays; unpack it first" if magic.startswith(b"PK") else None
        raise Damaged("not a .npy file", path=path, hint=hint)


def _as_float64(block: Any, raw_bfloat: bool, np: Any) -> Any:
    if raw_bfloat:
        block = (np.ascontiguousarray(block).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return np.asarray(block, dtype=np.float64)
