"""A snapshot as text: sorted, one op type per line, and reproducible on every machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from .file_kind import SNAPSHOT
from .kernel_facts import ColumnSet, column_sets_of, kernel_document, keyed
from .snapshot import VERSION, WITHOUT_COLUMNS
from .store import Store

if TYPE_CHECKING:
    from .entry import Entry
    from .target import Target


def snapshot_text(target: Target) -> str:
    """Return the facts of a target, without the vendor's text, paths or times of this machine.

    :raises UsageFault: if the target is a mixlist
    :raises Refused: if the engine refuses a store
    """
    stores = target.operators.stores
    version = WITHOUT_COLUMNS if target.snapshot and target.snapshot.version == WITHOUT_COLUMNS else VERSION
    head = {
        "kind": SNAPSHOT,
        "schema_version": int(version),
        "soc": target.soc,
        "cann_version": target.version,
        "core": target.core,
    }
    keys = _keys(stores) if version == VERSION else None
    blocks = [_store_text(name, store, keys) for name, store in zip(_names(stores), stores, strict=True)]
    lines = [f"  {_json(key)}: {_json(value)}" for key, value in head.items()]
    lines.append('  "stores": [\n' + ",\n".join(blocks) + "\n  ]")
    if keys is not None:
        ordered = sorted(keys.items(), key=itemgetter(1))
        columns = [f"    {_json(key)}: {_json(each.document())}" for each, key in ordered]
        lines.append('  "columns": ' + _object(columns, "  "))
    others = [f"    {_json(name)}: {_json(engine)}" for name, engine in sorted(target.other_engines.items())]
    lines.append('  "other_engines": ' + _object(others, "  "))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _keys(stores: list[Store]) -> dict[ColumnSet, str]:
    """The keys of all columns of all entries that win."""
    sets = (column_sets_of(entry.kernel_sections) for store in stores for entry in store.winners())
    return keyed({columns for each in sets for columns in each.values() if any(text is not None for text in columns)})


def _store_text(name: str | None, store: Store, keys: Mapping[ColumnSet, str] | None) -> str:
    facts = [
        f"        {_json(op)}: {_json(_fact(entries[-1], keys))}" for op, entries in sorted(store.definitions.items())
    ]
    return f'    {{\n      "name": {_json(name)},\n      "operators": {_object(facts, "      ")}\n    }}'


def _object(lines: list[str], indent: str) -> str:
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _fact(entry: Entry, keys: Mapping[ColumnSet, str] | None) -> dict[str, Any]:
    """:param keys: of the columns; None copies the facts of version 1"""
    if keys is not None:
        return {"policy": str(entry.policy), **kernel_document(entry.kernel_sections, keys)}
    inputs, outputs, _ = entry.listed
    sides = (("inputs", inputs), ("outputs", outputs))
    return {"policy": str(entry.policy)} | {key: [*tensors[0].dtypes] for key, tensors in sides if tensors}


def _names(stores: list[Store]) -> list[str | None]:
    """Return labels without paths of this machine: an environment's store has the name of its folder."""
    names: list[str | None] = []
    for store in stores:
        name = store.label
        if name and name.startswith("env:"):
            name = "env:" + name.rstrip("/").rsplit("/", 1)[-1]
            alike = sum(each is not None and each.split("#")[0] == name for each in names)
            name += f"#{alike + 1}" if alike else ""
        names.append(name)
    return names
