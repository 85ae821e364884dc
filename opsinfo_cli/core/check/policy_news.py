"""What is said of a policy that is new or changed, whether a base shows it or a target of ``--against``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...errors import join_some


class Decided(NamedTuple):
    """The policy of an op type on a chip, and what decides it.

    :param policy: white, black or gray; or the text of a flag, if the engine refuses it
    """

    policy: str
    by_default: bool
    file: str
    line: int

    @property
    def said(self) -> str:
        return f"{self.policy} by default" if self.by_default else self.policy


class News(NamedTuple):
    """:param identity: the message without what it says of other chips, whose changes make no new finding"""

    rule: str
    message: str
    identity: str


def policy_news(name: str, chip: str, now: Decided, before: str | None, by_chip: Mapping[str, Decided]) -> News | None:
    """Return what a reviewer is asked about an op type on a chip; None if its policy is the same.

    :param chip: empty if nothing shows it
    :param before: its policy; None if there was none
    :param by_chip: what the same sources have for each chip: authors of a chip look at those of others
    """
    on = f" on {chip}" if chip else ""
    if before is None:
        identity = f"`{name}` is new{on}: {now.said}"
        return News("new-policy", identity + _elsewhere(now, by_chip), identity)
    if now.policy == before:
        return None
    message = f"`{name}`{on} becomes {now.said}; it was {before}"
    return News("changed-policy", message, message)


def _elsewhere(now: Decided, by_chip: Mapping[str, Decided]) -> str:
    chips: dict[str, list[str]] = {}
    for chip, decided in by_chip.items():
        if decided.policy != now.policy:
            chips.setdefault(decided.said, []).append(chip)
    said = [f"{policy} on {join_some(each, 3)}" for policy, each in sorted(chips.items())]
    return f"; it is {' and '.join(said)}" if said else ""
