"""Rules on stores and installs: files that are loaded together, their order, and custom paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

from ..errors import OpsinfoError, join_some
from ..model.entry import Entry
from ..model.install import CORES, Install
from ..model.library import Library, Store
from ..text.source import Place
from .engine_files import CONFIGURATION, STORE, STORES
from .finding import Finding, Rule, at, at_error, whole_file
from .library import ON_BUILDING
from .text import pointer_to


def check_store(store: Store) -> Iterator[Finding]:
    yield from shadowed(store)
    yield from stray_json(store)
    yield from load_order_undefined(store)


def check_install(install: Install) -> Iterator[Finding]:
    yield from bad_load_priority(install)
    yield from broken_custom_path(install)
    yield from store_fails(install)


SHADOWED = Rule(
    code="S001",
    name="shadowed",
    about="store",
    severity="note",
    engine="accepts",
    why=(
        "A later file of the same store has the op type too and replaces this entry completely. The entry and edits "
        "of it have no effect. It is a warning if the policies differ."
    ),
    fails="-legacy.json: IndexFill gray; -nn.json: IndexFill white",
    passes="edit the entry in -nn.json, or use `opsinfo move` on the store: it finds the entry that wins",
    source=f"{STORE}:113-129, 182",
)


def shadowed(store: Store) -> Iterator[Finding]:
    for name, entries in store.definitions.items():
        winner = entries[-1]
        for entry in entries[: -len(store.contenders(name))]:
            same = entry.policy_or_none is winner.policy_or_none
            message = f"`{name}` is overridden by {os.path.basename(winner.path)}:{winner.line}"
            if not same:
                message += f"; here it is {entry.policy_or_none}, there {winner.policy_or_none}"
            span = (entry.member.key_start, entry.member.key_end)
            severity = SHADOWED.severity if same else "warning"
            yield at(SHADOWED, entry.source, span, message, pointer=pointer_to(name), severity=severity)


STRAY_JSON = Rule(
    code="S002",
    name="stray-json",
    about="store",
    severity="warning",
    engine="accepts",
    why=(
        "The engine loads every *.json of a config directory. A copy or a file of another kind there may override "
        "entries, and its name changes where the engine looks for kernels (`-backup.json` looks in `ops_backup`)."
    ),
    fails="config/ascend910b/aic-ascend910b-ops-info-backup.json",
    passes="config/ascend910b/aic-ascend910b-ops-info.json.bak, or another folder",
    source=f"{STORE}:70-129",
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
            yield whole_file(STRAY_JSON, library.path, message, hint)


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


LOAD_ORDER_UNDEFINED = Rule(
    code="S003",
    name="load-order-undefined",
    about="store",
    severity="warning",
    engine="accepts",
    why=(
        "The load order depends on `legacy` anywhere in the path, then on the length of the path. Two files are equal "
        "in both and have the same op type, so which entry wins is undefined."
    ),
    fails="-cv.json and -nn.json both define IndexFill, or a parent folder is called `legacy-tests`",
    passes="keep each op type in only one of them",
    source=f"{STORE}:113-123",
)


def load_order_undefined(store: Store) -> Iterator[Finding]:
    for paths, names in store.undecided().items():
        files = join_some([os.path.basename(path) for path in paths])
        ops = join_some([f"`{name}`{_by_turns(store.contenders(name))}" for name in names])
        message = f"the load order of {files} is undefined; all have {ops}"
        legacy_above = "legacy" in os.path.dirname(os.path.realpath(paths[-1]))
        hint = "a folder of the path has `legacy` in its name" if legacy_above else None
        yield whole_file(LOAD_ORDER_UNDEFINED, paths[-1], message, hint)


def _by_turns(entries: list[Entry]) -> str:
    policies = dict.fromkeys(str(entry.policy_or_none) for entry in entries)
    return f" ({' or '.join(policies)})" if len(policies) > 1 else ""


def never_built(store: Store, library: Library, finding: Finding) -> Finding:
    """Return the milder finding on an entry that never wins, which the engine does not check."""
    name = (finding.pointer or "").split("/")[1] if finding.pointer else ""
    name = name.replace("~1", "/").replace("~0", "~")
    if finding.rule not in ON_BUILDING or name not in store.definitions:
        return finding
    if any(entry.source is library.source for entry in store.contenders(name)):
        return finding
    message = f"{finding.message}; the engine does not notice, because a later file overrides the entry"
    return replace(finding, severity="warning", engine="ignores", message=message, identity=message)


STORE_FAILS = Rule(
    code="S004",
    name="store-fails",
    about="install",
    severity="error",
    engine="refuses",
    why=(
        "A file of this store does not load, so the engine drops the whole store. If it is the only one, the engine "
        "does not start; if a custom store is intact, it starts without the built-in operators."
    ),
    fails="one broken file in config/ascend910b",
    passes="`opsinfo validate` on the file, or `opsinfo restore` on the store",
    source=f"{STORES}:50-72; {STORE}:124-209",
)


def store_fails(install: Install) -> Iterator[Finding]:
    if install.missing_built_in:
        message = f"no built-in store for {install.soc}: the engine does not start even with a custom store (E20002)"
        hint = "install the operator package for this SoC, or remove the vendor's folder for it"
        yield whole_file(STORE_FAILS, install.missing_built_in, message, hint)
    for core in CORES:
        sites = [site for site in install.sites(core) if os.path.isdir(site.directory)]
        for site in sites:
            try:
                doubts = Store.read(site.directory, site.label).doubts
                failure: OpsinfoError | None = doubts[0] if doubts else None
            except OpsinfoError as error:
                failure = error
            if failure:
                yield _failure(site.directory, failure, alone=len(sites) == 1)


def _failure(directory: str, failure: OpsinfoError, alone: bool) -> Finding:
    """Return the finding at the place in the file that fails its store."""
    cost = "CANN does not start" if alone else "CANN ignores all operators in this folder"
    file = os.path.basename(failure.path or directory)
    message = f"{cost} because of {file}: {failure.message}"
    hint = "`opsinfo validate` on the file shows more; `opsinfo restore` undoes the last change"
    return at_error(STORE_FAILS, failure, failure.path or directory, message, hint)


BAD_LOAD_PRIORITY = Rule(
    code="S005",
    name="bad-load-priority",
    about="install",
    severity="error",
    engine="refuses",
    why="The load_priority line of vendors/config.ini has no `=`. The engine does not start (E20003).",
    fails="load_priority acme",
    passes="load_priority=acme",
    source=f"{CONFIGURATION}:834-841; error E20003",
)


def bad_load_priority(install: Install) -> Iterator[Finding]:
    priority = install.load_priority
    if priority.bad_line:
        start, end = Place(priority.bad_line, 1), Place(priority.bad_line, 2)
        message = "the load_priority line has no `=`, so the engine does not start (E20003)"
        hint = "write `load_priority=<vendor>,<vendor>`"
        yield Finding(BAD_LOAD_PRIORITY, message, priority.path, start, end, hint=hint)


BROKEN_CUSTOM_PATH = Rule(
    code="S006",
    name="broken-custom-path",
    about="install",
    severity="warning",
    engine="ignores",
    why=(
        "The engine silently skips this custom path: it is not absolute, is missing, has no `config` or "
        "no `<name>_impl` folder (a renamed copy), or is a vendor that load_priority does not name."
    ),
    fails="ASCEND_CUSTOM_OPP_PATH=/opt/copy_of_acme (inside: acme_impl)",
    passes="ASCEND_CUSTOM_OPP_PATH=/opt/acme (inside: acme_impl)",
    source=f"{CONFIGURATION}:687-724",
)


def broken_custom_path(install: Install) -> Iterator[Finding]:
    for skipped in install.skipped("ai"):
        message = f"the engine skips this custom path: {skipped.reason}"
        yield whole_file(BROKEN_CUSTOM_PATH, skipped.path, message)
