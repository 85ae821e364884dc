"""Policies of many targets, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.policy import Policy

Policies = tuple[Policy | None, ...]
"""The policy of one op type in each target; None if the target lacks it."""


def policies_by_name(targets: Sequence[Mapping[str, Policy]]) -> dict[str, Policies]:
    """Return every op type that any target has, sorted, with its policies."""
    names = sorted(set().union(*targets))
    return {name: tuple(target.get(name) for target in targets) for name in names}


def differs(policies: Policies) -> bool:
    """Return whether the policies of the targets differ; a target that lacks the op type counts as different.

    >>> differs((Policy.WHITE, None)), differs((Policy.GRAY, Policy.GRAY))
    (True, False)
    """
    return len(set(policies)) > 1
