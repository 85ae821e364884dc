"""A snapshot as text: sorted, one op type per line, and reproducible on every machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .columns import Columns
from .entry import Entry
from .file_kind import SNAPSHOT
from .snapshot import VERSION
from .store import Store

if TYPE_CHECKING:
    from .target import Target


def snapshot_text(target: Target) -> str:
    """Return the facts of a target, without the vendor's text, paths or times of this machine.

    :raises UsageFault: if the target is a mixlist
    :raises Refused: if the engine refuses a store
    """
    head = {
        "kind": SNAPSHOT,
        "schema_version": int(VERSION),
        "soc": target.soc,
        "cann_version": target.version,
        "core": target.core,
    }
    stores = target.operators.stores
    blocks = [_store_text(name, store) for name, store in zip(_names(stores), stores, strict=True)]
    lines = [f"  {_json(key)}: {_json(value)}" for key, value in head.items()]
    lines.append('  "stores": [\n' + ",\n".join(blocks) + "\n  ]")
    others = [f"    {_json(name)}: {_json(engine)}" for name, engine in sorted(target.other_engines.items())]
    lines.append('  "other_engines": ' + _object(others, "  "))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _store_text(name: str | None, store: Store) -> str:
    facts = [f"        {_json(op)}: {_json(_fact(entries[-1]))}" for op, entries in sorted(store.definitions.items())]
    return f'    {{\n      "name": {_json(name)},\n      "operators": {_object(facts, "      ")}\n    }}'


def _object(lines: list[str], indent: str) -> str:
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _fact(entry: Entry) -> dict[str, Any]:
    """Return the distinct dtypes of each side; no sides if the kernel decides at compile time."""
    columns = Columns(entry)
    fact: dict[str, Any] = {"policy": str(entry.policy)}
    for key, tensors in (("inputs", columns.inputs), ("outputs", columns.outputs)):
        if columns.is_listed and tensors:
            fact[key] = sorted({dtype for tensor in tensors for dtype in tensor.dtypes})
    return fact


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
