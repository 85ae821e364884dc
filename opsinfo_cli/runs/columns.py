"""One column of many lines at once: the part of each line at a place that its shape gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from ..typed import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing import Any

Kind = TypeVar("Kind")
AnyRow = TypeVar("AnyRow", bound="tuple[Any, ...]")


def column(lines: Sequence[bytes], rows: Sequence[AnyRow], kinds: list[AnyRow], at: int) -> Iterator[bytes]:
    """Return the part of each line at the slice ``rows[...][at]`` of its row; no slice of a row may be None.

    :param kinds: what :func:`kinds_of` returns for the rows
    """
    places = [kind[at] for kind in kinds]
    if not places:
        return iter(())
    if all(place == places[0] for place in places):
        return map(itemgetter(places[0]), lines)
    slices: Iterator[slice] = map(itemgetter(at), rows)
    return map(bytes.__getitem__, lines, slices)


def kinds_of(rows: Sequence[Kind]) -> list[Kind]:
    """Return each row once; lines of one shape have the same object."""
    if rows and rows.count(rows[0]) == len(rows):
        return [rows[0]]
    return list(dict(zip(map(id, rows), rows, strict=True)).values())
