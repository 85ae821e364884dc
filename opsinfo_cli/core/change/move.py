"""Move op types of a target: the files that change, and the run that changes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from warnings import warn

from ...errors import Refused, UsageFault, join_some
from ..cann.library import Library, Store, engine_keys, library_files, load_order
from ..cann.policy import Policy, policy_of
from ..cann.target import Target
from ..compare import HasOperators
from ..text.source import Source
from .plan import Job, LibraryPlan, MixlistPlan, Result
from .vault import Vault
from .vault_place import vault_path
from .writer import Writer


def move(
    target: Target | str | os.PathLike[str],
    ops: Iterable[str] | str,
    to: Policy | str,
    *,
    against: HasOperators | str | os.PathLike[str] | Sequence[HasOperators | str | os.PathLike[str]] | None = None,
    pin: bool = False,
    create: bool = False,
    store: str | None = None,
    force: bool = False,
    dry_run: bool = False,
    backup_dir: str | None = None,
) -> Result:
    """Put op types on a list, as ``opsinfo move``: by the flag in libraries, by marks in a mixlist.

    Doubts, such as an undefined load order, are given as Python warnings.

    :param to: ``white``, ``black`` or ``gray``
    :param against: for a mixlist, the target with the names and policies, or several: a mark that any of them needs
    :param pin: for a mixlist: write the mark even if ``against`` already agrees
    :param create: for a mixlist: create the file if it does not exist
    :param store: the label of the one store to change
    :param force: edit an entry that another file overrides; write where another user may replace the file
    :param dry_run: write nothing, and return what would change
    :param backup_dir: the folder of backups; None for the usual one
    :returns: the files with their moves, and the id of the change
    :raises UsageFault: if an op type is unknown, or an option does not fit the target
    :raises Refused: if a file cannot be read or written, or the engine would refuse it
    """
    asked = dict.fromkeys((ops,) if isinstance(ops, str) else tuple(ops), policy_of(to))
    targets = () if against is None else against if isinstance(against, (tuple, list)) else (against,)
    known = [Target.open(each) if isinstance(each, (str, os.PathLike)) else each for each in targets]
    if isinstance(target, os.PathLike):
        target = os.fspath(target)
    if isinstance(target, str) and not (create and not os.path.lexists(target)):
        target = Target.open(target)
    if create and isinstance(target, Target) and target.kind != "mixlist":
        raise not_a_mixlist(target)
    jobs = move_jobs(target, asked, known, pin=pin, store=store, force=force, say=warn)
    writer = Writer(Vault(vault_path(backup_dir, os.environ)), force=force, say=warn)
    return writer.preview(jobs) if dry_run else writer.run("move", jobs)


def move_jobs(
    target: Target | str,
    asked: Mapping[str, Policy],
    against: Sequence[HasOperators] = (),
    *,
    pin: bool = False,
    store: str | None = None,
    force: bool = False,
    reviewed: bool = False,
    say: Callable[[str], None],
) -> list[Job]:
    """Return a job for each file to change.

    :param target: a path is that of a mixlist to create, unless no mark is needed
    :param asked: op type -> its list
    :param reviewed: as in :class:`Job`
    :param say: called with doubts
    :raises UnknownOperator: if the target, or for a mixlist ``against``, lacks an op type
    :raises UsageFault, Refused: if an option does not fit the target, or as :func:`winning_files`
    """
    if isinstance(target, str):
        return [Job(target, _mixlist_plan(asked, against, pin, say), start=Source(b"{}\n", target))]
    if target.kind == "mixlist":
        return [Job(target.path, _mixlist_plan(asked, against, pin, say), target.source, reviewed=reviewed)]
    if against or pin:
        raise not_a_mixlist(target)
    require_writable(target, asked)
    target.operators.require(asked)
    files = winning_files(target, list(asked), store, force, say)
    read = target.operators.libraries()
    return [
        Job(path, LibraryPlan({name: asked[name] for name in own}, read[path]), read[path].source, reviewed=reviewed)
        for path, own in files.items()
    ]


def _mixlist_plan(
    asked: Mapping[str, Policy], against: Sequence[HasOperators], pin: bool, say: Callable[[str], None]
) -> MixlistPlan:
    """Return the plan of the marks that any of the targets needs.

    :raises UnknownOperator: if no target has an op type
    :raises UsageFault: if no marks make an op type gray in all targets
    """
    if not against:
        return MixlistPlan(asked)
    against[0].operators.require(name for name in asked if not any(name in each.operators for each in against))
    decisive: dict[str, Policy | None] = {}
    for name, to in asked.items():
        lacking = [each for each in against if name not in each.operators]
        for each in lacking:
            say(f"`{name}` is not in {getattr(each, 'text', each)}, so its mark does nothing there")
        policies = {each.operators[name].entry.policy for each in against if each not in lacking}
        if to is Policy.GRAY:
            policies = policies - {to} or policies  # an op type that is gray needs no mark, and none harms it
            if len(policies) > 1:
                raise UsageFault(
                    f"`{name}` is white in one target and black in another: no marks make it gray in both",
                    name="gray-in-some",
                    hint="write a mixlist for each",
                )
        decisive[name] = policies.pop() if len(policies) == 1 else None
    return MixlistPlan(asked, decisive, pin)


def not_a_mixlist(target: Target) -> UsageFault:
    """Return the error for options of mixlists that are given for a library."""
    return UsageFault("--against, --pin and --create require a mixlist", path=target.path)


_NOT_WRITTEN = {
    "ini": "an ini is made by a build, so it is not changed",
    "opdef": "opsinfo does not change C++ sources",
}


def _require_written(target: Target, asked: Mapping[str, Policy]) -> None:
    """:raises Refused: if the target is never written; names the lines to change
    :raises UnknownOperator: if the target lacks an op type
    """
    changes = []
    for operator in target.operators.require(asked):
        to, entry = asked[operator.name], operator.entry
        if operator.policy is to:
            continue
        word = "precision_reduce.flag=%s" if target.kind == "ini" else "PrecisionReduceFlag(%s)"
        takes = f"`{word % to.flag}`" if to.flag else f"no `{word.partition('(')[0].partition('=')[0]}`"
        changes.append(f"{entry.path}:{entry.line}: `{operator.name}` is {operator.policy}; {to} takes {takes}")
    raise Refused(
        f"{_NOT_WRITTEN[target.kind]}{': ' if changes else ''}{join_some(changes, 10)}",
        name="not-written",
        path=target.path,
        hint="write PrecisionReduceFlag in the source (`opsinfo show TARGET OP --format opdef` prints the lines), "
        "or use a mixlist",
    )


def require_writable(target: Target, asked: Mapping[str, Policy]) -> None:
    """:raises UsageFault: if the target is a snapshot
    :raises Refused: if it is an ini or sources, which are never written; names the lines to change
    """
    if target.kind in _NOT_WRITTEN:
        _require_written(target, asked)
    if target.kind == "snapshot":
        raise UsageFault(
            "a snapshot cannot be changed",
            name="wrong-kind",
            path=target.path,
            hint="change the target itself, or a mixlist; `opsinfo snapshot TARGET -o FILE` takes the snapshot again",
        )


def winning_files(
    target: Target, names: Sequence[str], chosen: str | None, force: bool, say: Callable[[str], None]
) -> dict[str, list[str]]:
    """Return the files to change, with their op types: in each store the file whose entry wins, or may win.

    :param chosen: the label of a store; None for all
    :param force: whether to edit an entry of a lone file that another file overrides
    :raises UsageFault: if the store is unknown
    :raises Refused: if the target is a file whose entry is overridden
    """
    stores = [store for store in target.operators.stores if chosen in (None, store.label)]
    if not stores:
        labels = ", ".join(f"`{store.label}`" for store in target.operators.stores)
        raise UsageFault(f"unknown store `{chosen}`", name="unknown-store", hint=f"known stores: {labels}")
    real = {library.path: os.path.realpath(library.path) for store in stores for library in store.libraries}
    named = {each: path for path, each in real.items()}  # links may list a file twice
    files: dict[str, list[str]] = {}
    for name in names:
        entries = [each for store in stores if name in store.definitions for each in store.contenders(name)]
        if not entries:
            raise UsageFault(f"`{name}` is not in store `{chosen}`", name="unknown-operator")
        for path in dict.fromkeys(named[real[entry.path]] for entry in entries):
            files.setdefault(path, []).append(name)
    if target.kind == "library" and not force:
        _require_winning(target.path, names, say)
    return files


def _require_winning(path: str, names: Sequence[str], say: Callable[[str], None]) -> None:
    """Warn if the load order is undefined.

    :raises Refused: if a file of the same directory that is loaded later has the op type too
    """
    folder, own = os.path.split(os.path.abspath(path))
    siblings = library_files(folder)
    if own not in siblings:
        return
    keys, real = engine_keys(folder, siblings), os.path.realpath(path)
    doubts: dict[str, list[str]] = {}
    for name in reversed(load_order(folder, siblings)):
        other = os.path.join(folder, name)
        if keys[name] < keys[own] or os.path.realpath(other) == real:
            continue
        try:
            definitions = Store([Library.read(other)]).definitions
        except Refused:
            continue
        for op in (op for op in names if op in definitions):
            place = f"{name}:{definitions[op][-1].line}"
            if keys[name] > keys[own]:
                raise Refused(
                    f"the entry of `{op}` never wins: {place} replaces it",
                    name="shadowed-entry",
                    path=path,
                    hint=f"move it in {other}, or in the store {folder}; --force edits it here",
                )
            doubts.setdefault(op, []).append(place)
    for op, places in doubts.items():
        say(f"the load order is undefined: this entry of `{op}` wins, or {join_some(places)}")
