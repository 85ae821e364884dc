"""One column of many lines at once: the part of each line at a place that its shape gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from ..typed import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing import Any

AnyRow = TypeVar("AnyRow")


def column(lines: Sequence[bytes], rows: Sequence[tuple[Any, ...]], at: int) -> Iterator[bytes]:
    """Return the part of each line at the slice ``rows[...][at]`` of its row; no slice of a row may be None.

    Lines of one shape have one row, the same object, so that few rows are compared.
    """
    kinds = kinds_of(rows)
    places = [kind[at] for kind in kinds]
    if all(place == places[0] for place in places):
        return map(itemgetter(places[0]), lines)
    slices: Iterator[slice] = map(itemgetter(at), rows)
    return map(bytes.__getitem__, lines, slices)


def kinds_of(rows: Sequence[AnyRow]) -> list[AnyRow]:
    """Return each different row once."""
    return list(dict(zip(map(id, rows), rows, strict=True)).values())
