"""The mixlist that gives one target's operators the policy they have in another."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.policy import LISTS, Policy, marks_for

__all__ = ["mixlist_for"]


def mixlist_for(library: Mapping[str, Policy], wanted: Mapping[str, Policy]) -> dict[str, dict[str, list[str]]]:
    """A mixlist as plain values, with the fewest marks.

    :param library: the policies the target has by its libraries alone
    :param wanted: the policies it is to have; op types it lacks are left out
    """
    lists = {policy: name for name, policy in LISTS.items()}
    marked: dict[str, dict[str, list[str]]] = {}
    for name in sorted(wanted.keys() & library.keys()):
        for mark in marks_for(library[name], wanted[name]):
            marked.setdefault(lists[mark.policy], {}).setdefault(mark.action, []).append(name)
    return {name: dict(sorted(marked[name].items())) for name in LISTS if name in marked}
