"""`opsinfo move`: put op types on a list, in a library by its flag, in a mixlist by its marks."""

from __future__ import annotations

import os

from ...change.library_plan import LibraryPlan
from ...change.mixlist_plan import MixlistPlan
from ...change.writer import Job, Result, planned
from ...errors import Refused, UsageFault, few
from ...model.entry_quick_check import forget_texts
from ...model.library import Library
from ...model.policy import Policy
from ...model.store import Store, engine_keys, library_files, load_order
from ...model.target import Target
from ...report.terminal.output import Output
from ...text.source import Source
from ...typed import TYPE_CHECKING, NamedTuple
from ..line import declare
from ..shared.mixlist_input import require_writable, say_doubts
from ..shared.options import (
    LIST,
    entry_options,
    format_option,
    given_names,
    open_against,
    open_target,
    output_of,
    target_options,
    write_options,
)
from ..shared.writing import Run, writer_of

if TYPE_CHECKING:
    from typing import Any

__all__ = ["command", "winning_files"]


@declare.command("move")
@declare.argument("target")
@declare.argument("ops", nargs=-1, required=True, metavar="OP...")
@declare.option("--to", required=True, type=LIST, help="The list to put them on.")
@declare.option("--against", metavar="TARGET", help="For a mixlist: the target that knows names and policies.")
@declare.option("--pin", is_flag=True, help="For a mixlist: write the mark even if the target already agrees.")
@declare.option("--create", is_flag=True, help="For a mixlist: make the file if there is none.")
@entry_options
@target_options
@write_options
@format_option()
def command(
    target: str,
    ops: tuple[str, ...],
    to: str,
    against: str | None,
    pin: bool,
    create: bool,
    format_: str,
    **options: Any,
) -> int:
    """Put operators on a list.

    In a library the precision_reduce flag is set, added or removed, and no other byte changes.
    In a mixlist the operators get the marks they need, with --against no more than that.

    \b
    Examples:
      opsinfo move ops_info.json SoftmaxV2 Add --to black --against ascend910b --create
      opsinfo move ascend910b Add --to black --dry-run
      opsinfo move aic-ascend910b-ops-info.json MatMulV2 --to gray
    """
    output = output_of("move", options, format_)
    names = given_names(ops)
    run = Run("move", output, options, undo=target)
    wanted = Wanted(names, Policy(to), against, pin)
    if create and not os.path.lexists(target):
        result = _create(target, wanted, run)
    else:
        result = run.changed(_jobs(target, wanted, create, run))
    run.report(result)
    _tell_unchanged(result, to, output)
    return run.status(result)


class Wanted(NamedTuple):
    """Which op types go where.

    :param against: the target that knows their policies
    :param pin: whether they get a mark even if that target agrees
    """

    names: tuple[str, ...]
    to: Policy
    against: str | None
    pin: bool


def _tell_unchanged(result: Result, to: str, output: Output) -> None:
    moved = {move.name for file in result.files for move in file.moved}
    stayed = sorted({name for file in result.files for name in file.stayed} - moved)
    if stayed and output.format == "text":
        output.tell(f"already {to}: {', '.join(stayed)}", prose=True)


def _jobs(text: str, wanted: Wanted, create: bool, run: Run) -> list[Job]:
    """What is to be done to which file. Of the target no more is kept than the texts of those files."""
    try:
        target = open_target(text, run.output, run.options)
    except Refused as refused:
        if not os.path.lexists(text):
            refused.hint = "--create begins a mixlist"
        raise
    if target.kind == "mixlist":
        return [Job(target.path, _mixlist_plan(wanted, run), target.source)]
    require_writable(target)
    if wanted.against or create or wanted.pin:
        raise UsageFault("--against, --pin and --create require a mixlist", path=target.path)
    say_doubts(target, run.output)
    names = [operator.name for operator in target.operators.require(wanted.names)]
    files = winning_files(target, names, run.options, run.output)
    seen = target.operators.sources()
    forget_texts()
    return [Job(path, LibraryPlan(dict.fromkeys(mine, wanted.to)), seen[path]) for path, mine in files.items()]


def _mixlist_plan(wanted: Wanted, run: Run) -> MixlistPlan:
    if wanted.against is None:
        if wanted.pin:
            raise UsageFault("--pin requires --against", hint="without it every operator gets its mark")
        run.output.say("op names were not checked; --against TARGET does that", "warning")
        return MixlistPlan(wanted.names, wanted.to)
    operators = open_against(wanted.against, run.output, run.options).operators.require(wanted.names)
    policies = {operator.name: operator.entry.policy for operator in operators}
    return MixlistPlan(wanted.names, wanted.to, policies, wanted.pin)


def _create(path: str, wanted: Wanted, run: Run) -> Result:
    """Begin a mixlist; if no mark is needed, no file is made."""
    plan = _mixlist_plan(wanted, run)
    file = planned(Job(path, plan), Source(b"{}\n", path))._replace(is_new=True)
    change = None
    if run.writes and file.patch:
        change = writer_of(run.options, run.output).create(path, file.result.data, run.kind, file.moved)
    return Result([file], change)


def winning_files(target: Target, names: list[str], options: dict[str, Any], output: Output) -> dict[str, list[str]]:
    """The files to change: of each store that has an op type, the one whose entry wins, and any that might as well.

    :raises UsageFault: where --store names none; :raises Refused: where a lone file's entry is overridden
    """
    chosen = options.get("store")
    stores = [store for store in target.operators.stores if chosen in (None, store.label)]
    if not stores:
        labels = ", ".join(f"`{store.label}`" for store in target.operators.stores)
        raise UsageFault(f"no store is called `{chosen}`", name="unknown-store", hint=f"there are {labels}")
    real = {library.path: os.path.realpath(library.path) for store in stores for library in store.libraries}
    named = {each: path for path, each in real.items()}  # links may name a file twice
    files: dict[str, list[str]] = {}
    for name in names:
        entries = [each for store in stores if name in store.definitions for each in store.contenders(name)]
        if not entries:
            raise UsageFault(f"`{name}` is not in store `{chosen}`", name="unknown-operator")
        for path in dict.fromkeys(named[real[entry.path]] for entry in entries):
            files.setdefault(path, []).append(name)
    if target.kind == "library" and not options.get("force"):
        _require_winning(target.path, names, output)
    return files


def _require_winning(path: str, names: list[str], output: Output) -> None:
    """:raises Refused: where a file loaded later from the same directory has the op type too; doubts are said"""
    folder, mine = os.path.split(os.path.abspath(path))
    siblings = library_files(folder)
    if mine not in siblings:
        return
    keys, real = engine_keys(folder, siblings), os.path.realpath(path)
    doubts: dict[str, list[str]] = {}
    for name in reversed(load_order(folder, siblings)):
        other = os.path.join(folder, name)
        if keys[name] < keys[mine] or os.path.realpath(other) == real:
            continue
        try:
            definitions = Store([Library.read(other)]).definitions
        except Refused:
            continue
        for op in (op for op in names if op in definitions):
            place = f"{name}:{definitions[op][-1].line}"
            if keys[name] > keys[mine]:
                raise Refused(
                    f"the entry of `{op}` never wins: {place} replaces it",
                    name="shadowed-entry",
                    path=path,
                    hint=f"move it in {other}, or in the store {folder}; --force edits it here",
                )
            doubts.setdefault(op, []).append(place)
    for op, places in doubts.items():
        output.say(f"the engine's order leaves open whether this entry of `{op}` wins, or {few(places)}", "warning")
