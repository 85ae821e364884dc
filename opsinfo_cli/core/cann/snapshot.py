"""Snapshots: what checks and the choice of dtypes need of a target, small enough for a repository.

Its op types are entries of libraries, one a line, without the sections and keys that nobody asks for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import Damaged, Refused, UsageFault
from ..document import PolicyName
from ..text.members import NOT_EXACT, Members, RawMember, members_at, objects_in, read_members
from ..text.scanner import Node, scan
from ..text.source import Source
from .chips import folder_of
from .entry_rules import Sections, tensors_of
from .file_kind import SNAPSHOT
from .install import CORES
from .library import Library, Operators, Store
from .policy import BLANKS, FLAG, PRECISION, Policy

VERSION = 3
"""Of the format. Readers ignore unknown keys and refuse other versions."""
_HINT = "take the snapshot again: `opsinfo snapshot TARGET -o FILE`"
_SECTIONS = {
    "op": ("pattern",),
    "dynamicFormat": ("flag",),
    "dynamicShapeSupport": ("flag",),
    "dynamicRankSupport": ("flag",),
    "dynamicCompileStatic": ("flag",),
    "heavyOp": ("flag",),
    "promoteType": ("value",),
}
"""Sections and keys that are kept beside policy and tensors."""
_TENSOR = ("name", "paramType", "valueDepend", "dtype", "format", "unknownshape_format")
_NULL_FILES = ("Null", "AICore_Null")
"""``opFile`` of an operator without a kernel file; other files are not kept."""


class Edited(NamedTuple):
    """An op type whose policy was changed from ``before``, the vendor's, to ``now``."""

    name: str
    before: PolicyName
    now: PolicyName


class Snapshot(NamedTuple):
    """The content of a snapshot.

    :param version: of the CANN that it was taken from, if known
    :param core: ``ai``, ``vector`` or ``dsa``
    :param other_engines: op types that other engines of the install know: name -> engine
    :param edited: op types whose policy is not the vendor's
    """

    soc: str | None
    version: str | None
    core: str
    operators: Operators
    other_engines: Mapping[str, str]
    edited: Sequence[Edited] = ()

    @classmethod
    def of(cls, source: Source) -> Snapshot:
        """:raises Refused: if it is of another version
        :raises Damaged: if a part is missing, has the wrong type, or is nothing that the engine reads
        """
        outcome = read_members(source)
        if not isinstance(outcome, Members):
            outcome.require_root()
            raise AssertionError("a text that only the slow reader accepts")
        members = {member.key: member for member in outcome.members or ()}
        version = _value(source, members, "schema_version", object)
        if repr(version) != str(VERSION):  # numbers are kept as they were written
            newer = repr(version).isdecimal() and int(repr(version)) > VERSION
            place = source.place(members["schema_version"].start)
            raise Refused(
                f"a snapshot of version {version}; this opsinfo reads version {VERSION}",
                name="snapshot-version",
                path=source.path,
                line=place.line,
                column=place.column,
                hint="a later opsinfo wrote it: upgrade opsinfo, or take the snapshot again" if newer else _HINT,
            )
        if len(members) < len(outcome.members or ()) or any(member.has_duplicates for member in members.values()):
            _fail_on_repeated_keys(source, scan(source).require_root())
        if source.text[outcome.end :].strip():
            raise _damaged(source, outcome.end, "there is text after the snapshot")
        soc = _value(source, members, "soc", str, type(None))
        cann = _value(source, members, "cann_version", str, type(None))
        core = _value(source, members, "core", str)
        if core not in CORES:
            raise _damaged(source, members["core"].start, f"`{core}` must be one of {', '.join(CORES)}")
        operators = Operators(_stores(source, members))
        engines = _value(source, members, "other_engines", dict)
        if not all(isinstance(engine, str) for engine in engines.values()):
            raise _damaged(source, members["other_engines"].start, "the name of an engine must be a string")
        return cls(soc, cann, core, operators, engines, _edited(source, members))

    def require_of(self, soc: str | None, core: str, path: str) -> None:
        """:raises UsageFault: if the snapshot is of another chip or core"""
        if soc and self.soc and folder_of(soc, [self.soc]) is None:
            raise UsageFault(f"the snapshot is of {self.soc}, not of `{soc}`", name="unknown-soc", path=path)
        if core not in ("ai", self.core):
            message = f"the snapshot is of the {self.core} core, not of `{core}`"
            raise UsageFault(message, name="wrong-kind", path=path, hint="take one with `opsinfo snapshot --core`")


def _value(source: Source, members: Mapping[str, RawMember], key: str, *types: type) -> Any:
    if key not in members:
        raise _damaged(source, 0, f"`{key}` is missing")
    if not isinstance(members[key].value, types):
        raise _damaged(source, members[key].start, f"`{key}` is of the wrong type")
    return members[key].value


def _edited(source: Source, members: Mapping[str, RawMember]) -> list[Edited]:
    if "edited_here" not in members:
        return []
    words = {policy.value for policy in Policy}
    rows = _value(source, members, "edited_here", list)
    try:
        edited = [Edited(row["name"], row["from"], row["to"]) for row in rows]
        if all(isinstance(each.name, str) and {each.before, each.now} <= words for each in edited):
            return edited
    except (TypeError, LookupError):
        pass
    raise _damaged(source, members["edited_here"].start, "an edit must have `name`, and policies as `from` and `to`")


def _stores(source: Source, members: Mapping[str, RawMember]) -> list[Store]:
    _value(source, members, "stores", list)
    stores = []
    try:
        for content in objects_in(source.text, members["stores"].start):
            parts = {member.key: member for member in content.members or ()}
            _value(source, parts, "operators", dict)
            library = Library.of(source, members_at(source.text, parts["operators"].start))
            store = Store([library], label=_value(source, parts, "name", str, type(None)))
            store.require_loadable()
            stores.append(store)
    except Damaged as error:
        error.hint = _HINT
        raise
    except NOT_EXACT:
        raise _damaged(source, members["stores"].start, "the stores of the snapshot cannot be read") from None
    return stores


def _fail_on_repeated_keys(source: Source, node: Node) -> None:
    """:raises Damaged: if a key appears twice, for example after a bad merge; has the place of the second one"""
    seen = set()
    for member in node:
        if member.name in seen:
            raise _damaged(source, member.key.start, f"`{member.name}` appears twice")
        seen.add(member.name)
        _fail_on_repeated_keys(source, member.value)
    for item in node.items:
        _fail_on_repeated_keys(source, item)


def _damaged(source: Source, offset: int, message: str) -> Damaged:
    return source.damaged(message, offset, _HINT)


def snapshot_text(target: Snapshot) -> str:
    """Return the text of a snapshot: sorted, one op type a line, without paths or times of this machine.

    Op types of sources that the engine would refuse are left out.
    """
    stores = target.operators.stores
    head = {
        "kind": SNAPSHOT,
        "schema_version": VERSION,
        "soc": target.soc,
        "cann_version": target.version,
        "core": target.core,
    }
    lines = [f"  {_json(key)}: {_json(value)}" for key, value in head.items()]
    blocks = []
    for name, store in zip(_labels(stores), stores, strict=True):
        winners = ((op, entries[-1]) for op, entries in store.definitions.items())
        entries = {op: _prune(entry.sections) for op, entry in winners if not entry.refused}
        blocks.append(f'    {{\n      "name": {_json(name)},\n      "operators": {_object(entries, "      ")}\n    }}')
    lines.append('  "stores": [\n' + ",\n".join(blocks) + "\n  ]")
    lines.append('  "other_engines": ' + _object(target.other_engines, "  "))
    if target.edited:
        rows = (_json({"name": each.name, "from": each.before, "to": each.now}) for each in target.edited)
        lines.append('  "edited_here": [\n    ' + ",\n    ".join(rows) + "\n  ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _prune(sections: Sections) -> dict[str, dict[str, str]]:
    """Return what the policy and the choice of dtypes read of an entry."""
    kept: dict[str, dict[str, str]] = {}
    policy = Policy.of(sections)
    if policy.flag is not None:
        kept[PRECISION] = {FLAG: policy.flag}
    for section, keys in _SECTIONS.items():
        if content := {key: sections[section][key] for key in keys if key in sections.get(section, ())}:
            kept[section] = content
    if (file := sections.get("opFile", {}).get("value", "")).strip(BLANKS) in _NULL_FILES:
        kept["opFile"] = {"value": file}
    for section in (name for side in tensors_of(sections) for name in side):
        content = {key: sections[section][key] for key in _TENSOR if key in sections[section]}
        if content.get("unknownshape_format") == content.get("format"):
            content.pop("unknownshape_format", None)  # the engine reads `format` instead
        kept[section] = content
    return kept


def _object(members: Mapping[str, Any], indent: str) -> str:
    lines = [f"{indent}  {_json(key)}: {_json(value)}" for key, value in sorted(members.items())]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _labels(stores: list[Store]) -> list[str | None]:
    """Return labels without paths of this machine: an environment's store has the name of its folder."""
    names: list[str | None] = []
    for store in stores:
        name = store.label
        if name and name.startswith("env:"):
            folder, number = "env:" + name.rstrip("/").rsplit("/", 1)[-1], 1
            name = folder
            while name in names:
                number += 1
                name = f"{folder}#{number}"
        names.append(name)
    return names
