"""What a search is about, as a session sees it."""

from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .question import Kept


class SearchSubject(NamedTuple):
    """What is searched.

    :param names: of the candidates, by number
    :param digest: of what a set leads to: sets with the same digest have the same verdict
    :param files: what a trial of a set gets, by NAME, for a trial of that number
    """

    names: Sequence[str]
    digest: Callable[[Kept], str]
    files: Callable[[Kept, int], Mapping[str, tuple[str, bytes]]]
