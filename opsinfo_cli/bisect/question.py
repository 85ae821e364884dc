"""The questions and the results of a search. Pure: it does not depend on how questions are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TypeAlias

    Kept: TypeAlias = frozenset[int]
    Asking: TypeAlias = Generator["Question", bool, "Minimum"]


class Question(NamedTuple):
    """Does the check pass if exactly these candidates are kept in high precision?

    :param kept: numbers of candidates
    :param exact: whether only a run may answer it, not a conclusion from other answers if the check is monotone
    :param likely: the probability that it passes, estimated by the search
    :param least: minimum number of runs
    :param left: maximum number of remaining questions, this one included, if the check is monotone
    :param extra: how many more runs one verdict must lead by than for other questions
    """

    kept: Kept
    exact: bool = False
    likely: float = 0.5
    least: int = 1
    extra: int = 0
    left: int = 0


class Minimum(NamedTuple):
    """A set that passes.

    :param minimal: whether the check fails without any single member
    :param monotone: False if an answer contradicted another one's
    """

    kept: Kept
    minimal: bool
    monotone: bool
