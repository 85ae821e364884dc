"""How the policies of two trees of OpDef sources differ: what a merge request changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...document import Unreadable
from .reading import Reading, Row


class PolicyChange(NamedTuple):
    """One op type on one chip whose policy one of two trees does not have, or has otherwise.

    :param before: None if the old tree does not declare it, or ``unread`` says why it is not known
    :param after: None if the new tree does not declare it any more
    :param unread: why the old tree could not be read here
    """

    name: str
    chip: str
    before: Row | None
    after: Row | None
    unread: Unreadable | None = None


def policy_changes(before: Reading, after: Reading) -> Iterator[PolicyChange]:
    """Yield what differs, for each chip that one of two trees names: new and changed rows, then those that are gone.

    Compare like with like: ``experimental/`` is a build of its own, so its sources are read apart
    (:func:`~.find.is_experimental`). What the new tree names and could not be read is not gone. Of several rows of an
    op type on a chip the first counts, as in a target. Rows whose flag the engine refuses are compared by its text.
    """
    old, new = ({(row.name, row.chip): row for row in reversed(tree.rows)} for tree in (before, after))
    unread_before, unread_after = (
        {(each.name, each.chip): each for each in tree.unreadable} for tree in (before, after)
    )
    for (name, chip), row in reversed(new.items()):
        other = old.get((name, chip))
        if other is None:
            unread = unread_before.get((name, chip)) or unread_before.get((name, None))
            yield PolicyChange(name, chip, None, row, unread)
        elif other.policy_word != row.policy_word:
            yield PolicyChange(name, chip, other, row)
    for (name, chip), row in reversed(old.items()):
        if (name, chip) not in new and not {(name, chip), (name, None)} & unread_after.keys():
            yield PolicyChange(name, chip, row, None)
