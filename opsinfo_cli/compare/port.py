"""The mixlist that gives one target's operators the policy they have in another."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.mixlist import mixlist_content
from ..model.policy import Policy, marks_for


def mixlist_for(library: Mapping[str, Policy], wanted: Mapping[str, Policy]) -> dict[str, dict[str, list[str]]]:
    """Return a mixlist as plain values, with the fewest marks.

    :param library: the policies of the target's libraries
    :param wanted: the wanted policies; op types that the target lacks are left out
    """
    names = sorted(wanted.keys() & library.keys())
    return mixlist_content({name: marks_for(library[name], wanted[name]) for name in names})
