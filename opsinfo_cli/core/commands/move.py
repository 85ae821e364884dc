"""`opsinfo move`: put op types on a list, by the flag in a library or by marks in a mixlist."""

from __future__ import annotations

import click

from ...errors import UsageFault
from ..cann.policy import Policy
from ..cann.target import TargetOptions
from ..terminal.answer import Answer
from ..terminal.console import Console
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
from .moving import moved_answer, open_movable


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
