"""Moves of op types: the policy before and after."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..errors import Refused
from ..model.policy import Policy
from ..text.patch import Patch
from ..text.source import Source


class Move(NamedTuple):
    """``before`` is None if it depends on a library."""

    name: str
    before: Policy | None
    after: Policy | None


class Plan(Protocol):
    """The change of a file, computed again from the content read under the lock."""

    def moves(self, source: Source) -> list[Move]:
        """Return the requested moves, with the present policy of each op type, even if it does not change."""

    def patch(self, source: Source) -> Patch:
        """Return the edits; empty if the file already has the requested policies."""

    def prove(self, source: Source, result: Source) -> None:
        """:raises Refused: if the result is not what was requested, or anything else changed"""


def proof_failed(path: str) -> Refused:
    """Return the error for a plan whose result is not what was requested."""
    return Refused(
        "the planned edit did not pass its own check; nothing was written",
        name="proof-failed",
        path=path,
        hint="this is a bug in opsinfo: please report it with the file and the command",
    )
