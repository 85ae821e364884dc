"""Measures of the difference between two arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

from ...core.document import Count, Schema, WithInfinity, internal
from .packages import load_package

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_BLOCK = 1 << 16
"""Elements that are converted to float64 at a time: few enough for the cache."""


ErrorSize: TypeAlias = Annotated[float, Schema(type=["number", "string", "null"], minimum=0, pattern="^inf$")]


@dataclass(frozen=True)
class OutputError(WithInfinity):
    """One output."""

    name: str
    """The name of the output."""
    max_abs_error: ErrorSize
    """max|a-b| over all elements; "inf" if an element is Inf or NaN on one side only, or if the shapes differ."""
    max_rel_error: ErrorSize
    """max|a-b| / max|b| over all elements, b being the reference; "inf" as for max_abs_error, or if the reference is
    zero.
    """
    cosine: Annotated[float, Schema(minimum=-1, maximum=1)] | None
    """The cosine similarity of the output and the reference; null if unknown."""
    inf: Count
    """Number of infinite elements."""
    nan: Count
    """Number of NaN elements."""
    reference_inf: Count = 0
    """Number of infinite elements in the reference."""
    reference_nan: Count = 0
    """Number of NaN elements in the reference."""
    elements: Count = 0
    """Number of elements."""
    why: str | None = None
    """Differences other than in numbers: in the shape or in texts; null if there are none."""
    finite_error: float = internal(0.0)
    """``max_rel_error`` of the elements that are finite on both sides."""

    def passes(self, max_error: float | None, min_cosine: float | None) -> bool:
        """Return whether the error is within both bounds; an unknown one is not."""
        if max_error is not None and not self.max_rel_error <= max_error:
            return False
        return min_cosine is None or (self.cosine is not None and self.cosine >= min_cosine)


def output_error(name: str, found: Any, reference: Any) -> OutputError:
    """Compare two arrays; sequences and maps of arrays are compared as one."""
    a, b = _array(found), _array(reference)
    if a.shape != b.shape:
        return _different(name, a, b, f"its shape is {list(a.shape)} instead of {list(b.shape)}")
    if a.dtype.kind in "OUS" or b.dtype.kind in "OUS":
        differing = int((a != b).sum()) if a.size else 0
        if differing:
            return _different(name, a, b, f"{differing} of {a.size} texts differ")
        return OutputError(name, 0.0, 0.0, 1.0, 0, 0, elements=int(a.size))
    return _measure(name, a.reshape(-1), b.reshape(-1))


def _array(value: Any) -> Any:
    np = load_package("numpy")
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return np.concatenate([np.ravel(_array(part)) for part in value]) if value else np.zeros(0)
    return np.asarray([] if value is None else value)


def _different(name: str, a: Any, b: Any, why: str) -> OutputError:
    inf, nan = _not_finite(a)
    reference_inf, reference_nan = _not_finite(b)
    return OutputError(name, math.inf, math.inf, None, inf, nan, reference_inf, reference_nan, int(a.size), why)


def _not_finite(array: Any) -> tuple[int, int]:
    np = load_package("numpy")
    if array.dtype.kind in "OUSbiu":
        return 0, 0
    return int(np.isinf(array).sum()), int(np.isnan(array).sum())


def _measure(name: str, a: Any, b: Any) -> OutputError:
    np = load_package("numpy")
    largest = size = dot = a_square = b_square = 0.0
    inf = nan = reference_inf = reference_nan = 0
    same_kind = True
    for at in range(0, a.size, _BLOCK):
        x, y = (array[at : at + _BLOCK].astype("c16" if array.dtype.kind == "c" else "f8") for array in (a, b))
        xx, yy = _inner_product(x, x), _inner_product(y, y)
        if not math.isfinite(xx + yy):  # Inf and NaN reach the products, so that finite values need no more passes
            inf, nan = inf + int(np.isinf(x).sum()), nan + int(np.isnan(x).sum())
            reference_inf += int(np.isinf(y).sum())
            reference_nan += int(np.isnan(y).sum())
            finite = np.isfinite(x) & np.isfinite(y)
            others = ~finite
            same_kind &= bool(((x[others] == y[others]) | (np.isnan(x[others]) & np.isnan(y[others]))).all())
            x, y = x[finite], y[finite]
            xx, yy = _inner_product(x, x), _inner_product(y, y)
        if x.size:
            largest = max(largest, _largest(x - y))
            size = max(size, _largest(y))
            dot += _inner_product(x, y)
            a_square += xx
            b_square += yy
    relative = 0.0 if not largest else largest / size if size else math.inf
    counts = inf, nan, reference_inf, reference_nan, int(a.size), None
    if not same_kind:
        return OutputError(name, math.inf, math.inf, None, *counts, relative)
    cosine = _cosine(dot, a_square, b_square) if largest else 1.0
    return OutputError(name, largest, relative, cosine, *counts, relative)


def _largest(x: Any) -> float:
    """Return the largest absolute value of an array that has one, without another array."""
    return float(abs(x).max()) if x.dtype.kind == "c" else max(float(x.max()), -float(x.min()))


def _inner_product(x: Any, y: Any) -> float:
    """Return the real part, without BLAS: its threads would spin, and their number would decide the last digits."""
    return float(load_package("numpy").einsum("i,i->", x.conj(), y).real)


def _cosine(dot: float, a_square: float, b_square: float) -> float | None:
    if not a_square or not b_square:
        return 1.0 if a_square == b_square else 0.0
    if not math.isfinite(a_square * 0 + b_square * 0 + dot * 0):
        return None
    return min(1.0, max(-1.0, dot / (math.sqrt(a_square) * math.sqrt(b_square))))


def worst(errors: Sequence[OutputError]) -> OutputError:
    """Return one output over several sets of inputs: largest errors, smallest cosine, counts of Inf and NaN in all."""
    cosines = [error.cosine for error in errors]
    known = [cosine for cosine in cosines if cosine is not None]
    return OutputError(
        errors[0].name,
        max(error.max_abs_error for error in errors),
        max(error.max_rel_error for error in errors),
        min(known) if len(known) == len(cosines) else None,
        sum(error.inf for error in errors),
        sum(error.nan for error in errors),
        sum(error.reference_inf for error in errors),
        sum(error.reference_nan for error in errors),
        sum(error.elements for error in errors),
        next((error.why for error in errors if error.why), None),
        max(error.finite_error for error in errors),
    )
