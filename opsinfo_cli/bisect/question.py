"""What a search asks, and what it ends with. Pure: who answers, and how, is not its business."""

from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TypeAlias

    Kept: TypeAlias = frozenset[int]
    Asking: TypeAlias = Generator["Question", bool, "Minimum"]


class Question(NamedTuple):
    """Does the check pass if exactly these candidates are kept in high precision?

    :param kept: numbers of candidates
    :param exact: whether only a run may answer it, not what follows from other answers if the check is monotone
    :param likely: the probability that it passes, as the search sees it
    :param least: runs that it takes at least
    :param left: how many more questions follow at the most, this one included, if the check is monotone
    :param extra: how much farther one verdict must lead than for other questions
    """

    kept: Kept
    exact: bool = False
    likely: float = 0.5
    least: int = 1
    extra: int = 0
    left: int = 0


class Minimum(NamedTuple):
    """A set that passes.

    :param minimal: whether it fails without any one of its members
    :param monotone: False if an answer contradicted another one's
    """

    kept: Kept
    minimal: bool
    monotone: bool
