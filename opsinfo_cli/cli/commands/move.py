"""`opsinfo move`: put op types on a list, in a library by its flag, in a mixlist by its marks."""

from __future__ import annotations

import os

from ...change.job import Job, Result, planned
from ...change.library_plan import LibraryPlan
from ...change.mixlist_plan import MixlistPlan
from ...errors import Refused, UsageFault, few
from ...model.entry_quick_check import forget_texts
from ...model.library import Library
from ...model.policy import Policy
from ...model.store import Store, engine_keys, library_files, load_order
from ...model.target import Target
from ...report.terminal.output import Output
from ...text.source import Source
from ...typed import TYPE_CHECKING
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
@declare.option("--create", is_flag=True, help="For a mixlist: make the file if there is none.")
@entry_options
@target_options
@write_options
@format_option()
def command(
    target: str, ops: tuple[str, ...], to: str, against: str | None, create: bool, format_: str, **options: Any
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
    if create and not os.path.lexists(target):
        return _create(target, names, Policy(to), against, run)
    return run.files(_jobs(target, names, Policy(to), against, create, run))


def _jobs(text: str, names: tuple[str, ...], to: Policy, against: str | None, create: bool, run: Run) -> list[Job]:
    """What is to be done to which file. Of the target no more is kept than the texts of those files."""
    try:
        target = open_target(text, run.output, run.options)
    except Refused as refused:
        if not os.path.lexists(text):
            refused.hint = "--create begins a mixlist"
        raise
    if target.kind == "mixlist":
        return [Job(target.path, _mixlist_plan(names, to, against, run), target.source)]
    require_writable(target)
    if against or create:
        raise UsageFault("--against and --create are for mixlists", path=target.path)
    say_doubts(target, run.output)
    wanted = [operator.name for operator in target.operators.require(names)]
    files = winning_files(target, wanted, run.options, run.output)
    seen = target.operators.sources()
    forget_texts()
    return [Job(path, LibraryPlan(dict.fromkeys(mine, to)), seen[path]) for path, mine in files.items()]


def _mixlist_plan(names: tuple[str, ...], to: Policy, against: str | None, run: Run) -> MixlistPlan:
    if against is None:
        run.output.say("op names were not checked; --against TARGET does that", "warning")
        return MixlistPlan(names, to)
    operators = open_against(against, run.output, run.options).operators.require(names)
    return MixlistPlan(names, to, {operator.name: operator.entry.policy for operator in operators})


def _create(path: str, names: tuple[str, ...], to: Policy, against: str | None, run: Run) -> int:
    """Begin a mixlist. Where no mark is needed, no file is made."""
    plan = _mixlist_plan(names, to, against, run)
    file = planned(Job(path, plan), Source(b"{}\n", path))._replace(is_new=True)
    change = None
    if run.writes and file.patch:
        change = writer_of(run.options, run.output).create(path, file.result.data, run.kind, file.moved)
    run.report(Result([file], change))
    return 1 if run.options.get("check") and file.patch else 0


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
