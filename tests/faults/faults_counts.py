"""Repetitions: the small numbers of CI and the full ones of ``tests/long``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CI", "LONG", "Counts"]


@dataclass(frozen=True)
class Counts:
    """
    :param traced: system calls of a real run that are killed or failed, evenly spread; None is all of them
    :param failed_step: each error is that of every Nth call of a run in process, another error that of the next call
    :param signals: runs that get SIGINT, SIGTERM or SIGHUP at a random moment
    :param kills: runs that get SIGKILL at a random moment
    :param writers: processes that write one library at the same time
    :param cuts: rounds of power cuts over each run
    :param cut_step: cut after every Nth call in each round
    """

    traced: int | None
    failed_step: int
    signals: int
    kills: int
    writers: int
    cuts: int
    cut_step: int


CI = Counts(traced=3, failed_step=2, signals=30, kills=15, writers=12, cuts=1, cut_step=3)
LONG = Counts(traced=None, failed_step=1, signals=500, kills=200, writers=50, cuts=40, cut_step=1)
