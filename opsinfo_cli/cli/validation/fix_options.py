"""The options of `validate` for fixes."""

from __future__ import annotations

from typing import NamedTuple

from ..line import declare


class FixOptions(NamedTuple):
    """The choice of fixes, and whether to write them.

    :param fix: whether to write
    :param show_diff: whether to show what would be written
    :param unsafe_fixes: whether to apply unsafe fixes as well
    """

    fix: bool
    show_diff: bool
    unsafe_fixes: bool


FIXING = declare.Group("fixing", FixOptions)
