"""The subject of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .question import Kept


class SearchSubject(NamedTuple):
    """The candidates of a search and their effects.

    :param names: names of the candidates, by number
    :param digest: returns the digest of a set's effect: sets with the same digest have the same verdict
    :param files: returns the files of a trial by NAME, for a set and the number of the trial
    """

    names: Sequence[str]
    digest: Callable[[Kept], str]
    files: Callable[[Kept, int], Mapping[str, tuple[str, bytes]]]
