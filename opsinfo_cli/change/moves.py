"""What a change says of an op type: where it was, where it goes."""

from __future__ import annotations

from ..errors import Refused
from ..model.policy import Policy
from ..text.patch import Patch
from ..text.source import Source
from ..typed import NamedTuple, Protocol


class Move(NamedTuple):
    """``before`` is None if only a library could tell."""

    name: str
    before: Policy | None
    after: Policy | None


class Plan(Protocol):
    """How a file is to change, made anew from whatever the file says under the lock."""

    def moves(self, source: Source) -> list[Move]:
        """What was asked, with the policy each op type has now; those that stay are told apart by the patch."""

    def patch(self, source: Source) -> Patch:
        """The edits; none if the file already says what was asked."""

    def prove(self, source: Source, result: Source) -> None:
        """:raises Refused: if the result is not what was asked, or more than that changed"""


def proof_failed(path: str) -> Refused:
    """The error that stops a write whose result is not what was asked."""
    return Refused(
        "the planned edit did not pass its own check; nothing was written",
        name="proof-failed",
        path=path,
        hint="this is a fault of opsinfo: please report it with the file and the command",
    )
