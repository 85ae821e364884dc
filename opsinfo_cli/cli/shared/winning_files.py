"""The files of a target with the entries to change."""

from __future__ import annotations

import os

from ...errors import Refused, UsageFault, join_some
from ...model.library import Library, Store, engine_keys, library_files, load_order
from ...model.target import Target
from ...report.terminal.output import Output
from .options import EntryOptions


def winning_files(target: Target, names: list[str], options: EntryOptions, output: Output) -> dict[str, list[str]]:
    """Return the files to change, with their op types: in each store the file whose entry wins, or may win.

    :raises UsageFault: if the store of --store is unknown
    :raises Refused: if the target is a file whose entry is overridden
    """
    chosen = options.store
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
    if target.kind == "library" and not options.force:
        _require_winning(target.path, names, output)
    return files


def _require_winning(path: str, names: list[str], output: Output) -> None:
    """Warn if the load order is undefined.

    :raises Refused: if a file of the same directory that is loaded later has the op type too
    """
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
        output.say(f"the load order is undefined: this entry of `{op}` wins, or {join_some(places)}", "warning")
