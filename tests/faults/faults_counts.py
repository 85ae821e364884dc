"""Repetitions: the small numbers of CI and the full ones of ``tests/long``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CI", "LONG", "Counts"]


@dataclass(frozen=True)
class Counts:
    """
    :param traced: system calls of a real run that are killed or failed, evenly spread; None is all of them
    :param signals: runs that get SIGINT, SIGTERM or SIGHUP at a random moment
    :param kills: runs that get SIGKILL at a random moment
    :param writers: processes that write one library at the same time
    :param cuts: rounds of power cuts over each run
    :param cut_step: cut after every Nth call in each round
    """

    traced: int | None
    signals: int
    kills: int
    writers: int
    cuts: int
    cut_step: int


CI = Counts(traced=5, signals=30, kills=15, writers=12, cuts=1, cut_step=3)
LONG = Counts(traced=None, signals=500, kills=200, writers=50, cuts=40, cut_step=1)
