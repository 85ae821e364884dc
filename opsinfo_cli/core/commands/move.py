"""`opsinfo move`: put op types on a list, by the flag in a library or by marks in a mixlist."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import click

from ...errors import Refused, UsageFault
from ..cann.mixlist import Mixlist
from ..cann.operator_rows import mixlist_rows, operator_rows
from ..cann.policy import Policy
from ..cann.target import Target, TargetOptions
from ..change.move import move_jobs, not_a_mixlist
from ..change.plan import Job, Result
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.open import open_against, open_target, report_doubts, require_against
from ..terminal.params import (
    LIST,
    OP,
    TARGET,
    Command,
    WriteOptions,
    create_option,
    force_option,
    given_names,
    option,
    prints,
    store_option,
    target_options,
    write_options,
)
from ..terminal.write import changed, changed_answer


@click.command("move", cls=Command)
@click.argument("target", type=TARGET)
@click.argument("ops", nargs=-1, required=True, type=OP)
@option("--to", type=LIST, required=True, help="The list to put the operators on.")
@option(
    "--against",
    type=TARGET,
    multiple=True,
    help="For a mixlist: a target with the names and policies; repeatable: a mark is written if any of them needs it.",
)
@option("--pin", is_flag=True, help="For a mixlist: write the mark even if the target already agrees.")
@create_option
@store_option
@target_options
@write_options(force_option)
@prints()
def command(
    target: str,
    ops: tuple[str, ...],
    to: str,
    against: tuple[str, ...],
    pin: bool,
    create: bool,
    store: str | None,
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
) -> Answer:
    """Put operators on a list.

    In a library, the precision_reduce flag is set, added or removed; no other byte changes.
    In a mixlist, the operators get the marks they need; with --against, only marks that change the target.

    \b
    Examples:
      opsinfo move ops_info.json SoftmaxV2 --to black --against ascend910b --create
      opsinfo move ascend910b SwiGlu --to black --dry-run
      opsinfo move ops_info.json MatMulV2 SoftmaxV2 --to gray --against ascend910b
      opsinfo move ops_info.json Add --to white --against ascend910 --against ascend910b
    """
    if pin and not against:
        raise UsageFault("--pin requires a mixlist and --against")
    movable = open_movable(target, against, create, options, console)
    asked = dict.fromkeys(given_names(ops), Policy(to))
    jobs = movable.jobs(asked, console, pin=pin, store=store, force=writing.force)
    del movable  # only the files to change stay in memory
    return moved_answer("move", target, jobs, writing, console, f"already {to}")


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
