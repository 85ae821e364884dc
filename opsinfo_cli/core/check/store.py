"""Rules on stores and installs: files that are loaded together, their order, and custom paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...errors import OpsinfoError, join_some
from ..cann.entry import Entry
from ..cann.install import CORES, Install, chips_of_package
from ..cann.library import Library, Store
from ..text.source import Place
from .finding import Finding, at, at_error, whole_file
from .library import ON_BUILDING
from .rules import RULES
from .text import pointer_to


def check_store(store: Store) -> Iterator[Finding]:
    yield from shadowed(store)
    yield from stray_json(store)
    yield from load_order_undefined(store)


def check_install(install: Install) -> Iterator[Finding]:
    yield from bad_load_priority(install)
    yield from broken_custom_path(install)
    yield from store_fails(install)


def shadowed(store: Store) -> Iterator[Finding]:
    for name, entries in store.definitions.items():
        winner = entries[-1]
        for entry in entries[: -len(store.contenders(name))]:
            same = entry.policy_or_none is winner.policy_or_none
            message = f"`{name}` is overridden by {os.path.basename(winner.path)}:{winner.line}"
            if not same:
                message += f"; here it is {_policy(entry)}, there {_policy(winner)}"
            span = (entry.member.key_start, entry.member.key_end)
            yield at(
                "shadowed", entry.source, span, message, pointer=pointer_to(name), severity=None if same else "warning"
            )


_AI_CORE = re.compile(r"aic-(?P<soc>.+)-ops-info(?:-(?P<package>[a-z][a-z0-9_]*))?\.json")
_OTHERS = re.compile(r"(?:vector_core_tbe_ops_info|dsa-.+-ops-info)(?:-(?P<package>[a-z][a-z0-9_]*))?\.json")
_COPIES = re.compile(r"(?:backup|back|bak|bk|copy|old|orig|original|new|save|saved|tmp|temp|test|v?[0-9]+).*")


def stray_json(store: Store) -> Iterator[Finding]:
    hint = "move it elsewhere, or rename it so that it does not end in .json"
    for library in store.libraries:
        reason = _stray(store, library)
        if reason:
            message = f"{reason}; the engine loads it too, and it may override other entries"
            yield whole_file("stray-json", library.path, message, hint)


def _stray(store: Store, library: Library) -> str | None:
    name = os.path.basename(library.path)
    match = _AI_CORE.fullmatch(name) or _OTHERS.fullmatch(name)
    if not match:
        return f"`{name}` is not named like a package library"
    package, soc = match["package"], match.groupdict().get("soc")
    above, folder = os.path.split(os.path.realpath(store.directory or ""))
    if soc and os.path.basename(above) == "config" and soc != folder:
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
        ops = []
        for name in names:
            policies = dict.fromkeys(map(_policy, store.contenders(name)))
            ops.append(f"`{name}`" + (f" ({' or '.join(policies)})" if len(policies) > 1 else ""))
        message = f"the load order of {files} is undefined; all have {join_some(ops)}"
        legacy_above = "legacy" in os.path.dirname(os.path.realpath(paths[-1]))
        hint = "a folder of the path has `legacy` in its name" if legacy_above else None
        yield whole_file("load-order-undefined", paths[-1], message, hint)


def _policy(entry: Entry) -> str:
    return str(entry.policy_or_none or "unknown")


def never_built(store: Store, library: Library, name: str, finding: Finding) -> Finding:
    """Return a finding on the entry of an op type; the milder one if the entry never wins and is not checked."""
    if finding.rule.name not in ON_BUILDING or name not in store.definitions:
        return finding
    if any(entry.source is library.source for entry in store.contenders(name)):
        return finding
    message = f"{finding.message}; the engine does not notice, because a later file overrides the entry"
    return replace(finding, severity="warning", engine="ignores", message=message, identity=message)


def store_fails(install: Install) -> Iterator[Finding]:
    if install.missing_built_in:
        message = f"no built-in store for {install.soc}: the engine does not start even with a custom store (E20002)"
        hint = "install the operator package for this chip, or remove the vendor's folder for it"
        yield whole_file("store-fails", install.missing_built_in, message, hint)
    for core in CORES:
        sites = [site for site in install.sites(core) if os.path.isdir(site.directory)]
        for site in sites:
            try:
                doubts = site.store().doubts
                failure: OpsinfoError | None = doubts[0] if doubts else None
            except OpsinfoError as error:
                failure = error
            if failure:
                path = failure.path or site.directory
                cost = "CANN does not start" if len(sites) == 1 else "CANN ignores all operators in this folder"
                message = f"{cost} because of {os.path.basename(path)}: {failure.message}"
                hint = "`opsinfo validate` on the file shows more; `opsinfo restore` undoes the last change"
                yield at_error("store-fails", failure, path, message, hint)


def bad_load_priority(install: Install) -> Iterator[Finding]:
    priority = install.load_priority
    if priority.bad_line:
        start, end = Place(priority.bad_line, 1), Place(priority.bad_line, 2)
        message = "the load_priority line has no `=`, so the engine does not start (E20003)"
        hint = "write `load_priority=<vendor>,<vendor>`"
        yield Finding(RULES["bad-load-priority"], message, priority.path, start, end, hint=hint)


def unused_packages(installs: Sequence[Install]) -> Iterator[Finding]:
    """Yield broken-custom-path: packages without operators for any of the chips that can be used.

    A package for one chip of several is as it should be.
    """
    usable = [install for install in installs if install.soc and not install.missing_built_in]
    for path in usable[0].packages.values() if usable else ():
        chips = chips_of_package(path)
        is_reported = not chips and any(path == skipped.path for skipped in usable[0].skipped("ai"))
        if not is_reported and not any(install.soc in chips for install in usable):
            has = f"it has operators for {', '.join(chips)} only" if chips else "it has no operators"
            message = f"the package adds nothing for {', '.join(str(install.soc) for install in usable)}: {has}"
            yield whole_file("broken-custom-path", path, message)


def broken_custom_path(install: Install) -> Iterator[Finding]:
    for skipped in install.skipped("ai"):
        message = f"the engine skips this custom path: {skipped.reason}"
        yield whole_file("broken-custom-path", skipped.path, message)
