"""Findings on a store: on its files together, and on their load order."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

from ..errors import join_some
from ..model.entry import Entry
from ..model.library import Library, Store
from .finding import Finding, at, whole_file
from .text import pointer_to

_AI_CORE = re.compile(r"aic-(?P<soc>.+)-ops-info(?:-(?P<package>[a-z][a-z0-9_]*))?\.json")
_OTHERS = re.compile(r"(?:vector_core_tbe_ops_info|dsa-.+-ops-info)(?:-(?P<package>[a-z][a-z0-9_]*))?\.json")
_COPIES = re.compile(r"(?:backup|back|bak|bk|copy|old|orig|original|new|save|saved|tmp|temp|test|v?[0-9]+).*")


def check_store(store: Store) -> Iterator[Finding]:
    yield from shadowed(store)
    yield from stray_json(store)
    yield from load_order_undefined(store)


def shadowed(store: Store) -> Iterator[Finding]:
    for name, entries in store.definitions.items():
        winner = entries[-1]
        for entry in entries[: -len(store.contenders(name))]:
            same = entry.policy_or_none is winner.policy_or_none
            said = f"`{name}` is overridden by {os.path.basename(winner.path)}:{winner.line}"
            if not same:
                said += f"; here it is {entry.policy_or_none}, there {winner.policy_or_none}"
            span = (entry.member.key_start, entry.member.key_end)
            severity = "note" if same else "warning"
            yield at("shadowed", entry.source, span, said, pointer=pointer_to(name), severity=severity)


def stray_json(store: Store) -> Iterator[Finding]:
    for library in store.libraries:
        reason = _stray(store, library)
        if reason:
            said = f"{reason}; the engine loads it too, and it may override other entries"
            yield whole_file(
                "stray-json", library.path, said, "move it elsewhere, or rename it so that it does not end in .json"
            )


def _stray(store: Store, library: Library) -> str | None:
    name = os.path.basename(library.path)
    match = _AI_CORE.fullmatch(name) or _OTHERS.fullmatch(name)
    if not match:
        return f"`{name}` is not named like a package library"
    package, soc = match["package"], match.groupdict().get("soc")
    folder = os.path.basename(os.path.realpath(store.directory or ""))
    if soc and os.path.basename(os.path.dirname(os.path.realpath(store.directory or ""))) == "config" and soc != folder:
        return f"`{name}` is of {soc}, the folder of {folder}"
    if package and _COPIES.fullmatch(package):
        return f"`{name}` is named like a copy, and the engine looks for its kernels in `ops_{package}`"
    for other in store.libraries:
        if other is not library and library.entries and library.entries.keys() <= other.entries.keys():
            first, second = (library, other) if len(library.path) >= len(other.path) else (other, library)
            if first is library and package:
                return f"every op type of `{name}` is also in `{os.path.basename(second.path)}`"
    return None


def load_order_undefined(store: Store) -> Iterator[Finding]:
    for paths, names in store.undecided().items():
        files = join_some([os.path.basename(path) for path in paths])
        ops = join_some([f"`{name}`{_by_turns(store.contenders(name))}" for name in names])
        said = f"the load order of {files} is undefined; all have {ops}"
        hint = "a folder of the path has `legacy` in its name" if _legacy_above(paths[-1]) else None
        yield whole_file("load-order-undefined", paths[-1], said, hint)


def _by_turns(entries: list[Entry]) -> str:
    policies = dict.fromkeys(str(entry.policy_or_none) for entry in entries)
    return f" ({' or '.join(policies)})" if len(policies) > 1 else ""


def _legacy_above(path: str) -> bool:
    return "legacy" in os.path.dirname(os.path.realpath(path))


def never_built(store: Store, library: Library, finding: Finding) -> Finding:
    """Return the milder finding on an entry that never wins, which the engine does not check."""
    built_late = finding.rule.name in ("bad-flag", "bad-value", "column-mismatch", "engine-crash")
    name = (finding.pointer or "").split("/")[1] if finding.pointer else ""
    name = name.replace("~1", "/").replace("~0", "~")
    if not built_late or name not in store.definitions:
        return finding
    if any(entry.source is library.source for entry in store.contenders(name)):
        return finding
    said = f"{finding.message}; the engine does not notice, because a later file overrides the entry"
    return replace(finding, severity="warning", engine="ignores", message=said)
