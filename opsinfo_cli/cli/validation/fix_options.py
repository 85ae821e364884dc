"""The options of `validate` that fix what is found."""

from __future__ import annotations

from typing import NamedTuple

from ..line import declare


class FixOptions(NamedTuple):
    """What to fix, and whether to write it.

    :param fix: whether to write
    :param show_diff: whether to show what would be written
    :param unsafe_fixes: whether to apply guesses too
    """

    fix: bool
    show_diff: bool
    unsafe_fixes: bool


FIXING = declare.Group("fixing", FixOptions)
