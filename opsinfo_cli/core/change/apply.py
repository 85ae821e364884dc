"""Bake a mixlist into libraries."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from warnings import warn

from ...errors import UsageFault, join_some
from ..cann.library import Library
from ..cann.marks import Mark
from ..cann.mixlist import AnyMixlist, Mixlist
from ..cann.target import AnyTargets, Target, targets_of
from .move import require_changeable, winning_files
from .output_file import write_copies
from .plan import Job, LibraryPlan, Result
from .write_settings import WriteSettings
from .writer import write_files, writer_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


def apply(
    target: AnyTargets,
    mixlist: AnyMixlist,
    *,
    output: str | os.PathLike[str] | None = None,
    store: str | None = None,
    strict: bool = False,
    say: Callable[[str], None] = warn,
    **settings: Unpack[WriteSettings],
) -> Result:
    """Write the policies that a mixlist gives to op types into libraries, as ``opsinfo apply``.

    :param target: libraries; several chips of one install are one change
    :param output: write a copy instead: a file for a library, a new directory for a store
    :param store: the label of the one store to change
    :param strict: write nothing if there are doubts
    :param say: called with doubts, such as names that a target lacks
    :param settings: :class:`.WriteSettings`
    :raises UsageFault: if an option does not fit the target
    :raises Refused: if a file cannot be read or written, or the engine would refuse it
    """
    targets = targets_of(target)
    if not targets:
        raise UsageFault("no target is given")
    chosen = Mixlist.open(mixlist)
    lacking: list[dict[str, str]] = []
    doubts: list[str] = []
    for each in targets:
        named = [operator for operator in each.operators if operator.name in chosen.marks]
        require_changeable(each, {one.name: chosen.effective(one.name, one.policy) for one in named})
        lacking.append(each.operators.lacking(chosen.marks, str(each.soc) if len(targets) > 1 else "the target"))
        doubts += [*each.doubts_of_policies(), *lacking[-1].values()]
    jobs = _jobs(targets, chosen, store, settings.get("force", False), doubts.append)
    for doubt in doubts:
        say(doubt)
    if strict and (doubts or any(each.doubts for each in targets)):
        return Result([], kind="apply", dry_run=True, ignored=tuple(sorted(set().union(*lacking))))
    unknown = tuple(sorted(set(lacking[0]).intersection(*lacking[1:])))
    if output is None:
        return write_files("apply", jobs, settings, say)._replace(ignored=unknown)
    return _write_copy(targets, jobs, os.fspath(output), settings, say)._replace(ignored=unknown)


def _jobs(
    targets: Sequence[Target], mixlist: Mixlist, chosen: str | None, force: bool, say: Callable[[str], None]
) -> list[Job]:
    """Return a job per file: entries that win or may win in their store, with the marks that change their policy."""
    marks: dict[str, dict[str, frozenset[Mark]]] = {}
    read: dict[str, Library] = {}
    named: dict[str, str] = {}  # chips may share a file by a link
    for target in targets:
        names = [name for name in mixlist.marks if name in target.operators]
        if chosen is not None:
            stores = [store for store in target.operators.stores if store.label == chosen]
            others = [name for name in names if stores and not any(name in store.definitions for store in stores)]
            names = [name for name in names if name not in others]
            if others:
                say(f"not in store `{chosen}`, so not changed: {join_some(sorted(others), 10)}")
        for path, own in (winning_files(target, names, chosen, force, say) if names else {}).items():
            path = named.setdefault(os.path.realpath(path), path)
            marks.setdefault(path, {}).update({name: mixlist.marks[name] for name in own})
        read.update(target.operators.libraries())
    return [Job(path, LibraryPlan(own, read[path]), read[path].source) for path, own in marks.items()]


def _write_copy(
    targets: Sequence[Target],
    jobs: Sequence[Job],
    output: str,
    settings: WriteSettings,
    say: Callable[[str], None],
) -> Result:
    target, is_dry = targets[0], settings.get("dry_run", False)
    if len(targets) > 1 or len(target.operators.stores) > 1:
        message = f"the target has several {'chips' if len(targets) > 1 else 'stores'}; --output can write only one"
        hint = "give one store's directory as TARGET"
        raise UsageFault(message, path=target.path, hint=hint)
    if os.path.lexists(output):
        raise UsageFault("--output names a path that already exists", name="exists", path=output)
    result = writer_of(settings, say).preview(jobs)._replace(kind="apply", dry_run=is_dry)
    for error in result.refused:
        raise error
    if not is_dry:
        store = target.operators.stores[0]
        contents = {file.path: file.result.data for file in result.files}
        sources = [library.source for library in store.libraries]
        copies = {each.path: contents.get(each.path, each.data) for each in sources}
        write_copies(copies, output, store.directory is not None)
    return result
