"""What `move` and `edit` share: the operators that can be moved, and the answer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...errors import Refused
from ..cann.mixlist import Mixlist
from ..cann.operator_rows import mixlist_rows, operator_rows
from ..cann.policy import Policy
from ..cann.target import Target, TargetOptions
from ..change.move import move_jobs, not_a_mixlist
from ..change.plan import Job, Result
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.open import open_against, open_target, report_doubts, require_against
from ..terminal.params import WriteOptions
from ..terminal.write import changed, changed_answer


class Movable(NamedTuple):
    """Libraries, or a mixlist, whose operators are put on lists.

    :param target: the path of a mixlist to create, or what is there
    :param against: for a mixlist, the targets with the names and policies
    """

    target: Target | str
    against: tuple[Target, ...] = ()

    @property
    def names_are_checked(self) -> bool:
        return bool(self.against) or (isinstance(self.target, Target) and self.target.kind != "mixlist")

    def elsewhere(self, name: str) -> str | None:
        """Return text about other places of an install that have an op type."""
        libraries = self.against[0] if self.against else self.target
        return libraries.operators.elsewhere(name) if isinstance(libraries, Target) else None

    @property
    def mixlist(self) -> Mixlist | None:
        """:raises Damaged: if the engine refuses it"""
        return self.target.mixlist if isinstance(self.target, Target) and self.target.kind == "mixlist" else None

    def policies(self) -> dict[str, Policy | None]:
        """Return the effective policy of each op type, by name, in the first target of ``against``; without libraries
        those that the mixlist names.

        :raises Damaged: if the engine refuses the mixlist
        """
        mixlist = self.mixlist
        libraries = self.against[0] if self.against else self.target
        if isinstance(libraries, Target) and libraries.kind != "mixlist":
            return {row.name: row.policy for row in operator_rows(libraries.operators, mixlist)}
        return {row.name: row.policy for row in mixlist_rows(mixlist, None)} if mixlist else {}

    def jobs(
        self,
        asked: Mapping[str, Policy],
        console: Console,
        *,
        pin: bool = False,
        store: str | None = None,
        force: bool = False,
        reviewed: bool = False,
    ) -> list[Job]:
        """As :func:`move_jobs`; doubts are warnings."""
        return move_jobs(
            self.target, asked, self.against, pin=pin, store=store, force=force, reviewed=reviewed, say=console.warn
        )


def open_movable(text: str, against: Sequence[str], create: bool, options: TargetOptions, console: Console) -> Movable:
    """Open a TARGET whose operators are moved, and report doubts about it.

    :param create: whether a file that does not exist is a new mixlist
    :raises UsageFault: if an option does not fit its kind
    """
    target = text if create and not os.path.lexists(text) else _opened(text, options, console)
    if isinstance(target, str) or target.kind == "mixlist":
        if not against:
            require_against(options)
            console.warn("names not checked; add --against TARGET")
        return Movable(target, tuple(open_against(each, console, options) for each in against))
    if against or create:
        raise not_a_mixlist(target)
    report_doubts(target, console)
    return Movable(target)


def _opened(text: str, options: TargetOptions, console: Console) -> Target:
    try:
        return open_target(text, console, options)
    except Refused as refused:
        if not os.path.lexists(text):
            refused.hint = "--create creates a new mixlist" + (f"; {refused.hint}" if refused.hint else "")
        raise


def moved_answer(
    kind: str, target: str, jobs: Sequence[Job], writing: WriteOptions, console: Console, already: str = ""
) -> Answer:
    """Change the files, and return the moves.

    :param kind: the command, for the record
    :param target: the TARGET of the line
    :param already: begins a note with the op types that did not move; empty for no note
    """
    result = changed(kind, jobs, writing, console) if jobs else Result([])
    notes = [f"{already}: {', '.join(result.stayed)}"] if result.stayed and already else []
    return changed_answer(result, target, writing, console, notes=notes)
