"""Snapshots: the facts of a target for checks, small enough for a repository."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Damaged, Refused, UsageFault
from ..text.json_values import Members
from ..text.members import read_members
from ..text.source import Place, Source
from .library_file import LibraryFile
from .snapshot_facts import FactsFile, node_at, read_column_sets, read_fact
from .snapshot_values import WrongValue, value_of, word_of
from .soc import folder_of
from .store import Operators, Store

if TYPE_CHECKING:
    from ..text.document import Node
    from .kernel_facts import ColumnSet
    from .snapshot_values import Steps

WITHOUT_COLUMNS = "1"
"""The version that has no aligned columns: the judge assumes them."""
VERSION = "2"
"""The version that is written. Readers ignore unknown keys and refuse an unknown version."""
_READ = (WITHOUT_COLUMNS, VERSION)

_CORES = ("ai", "vector", "dsa")


class Snapshot(NamedTuple):
    """The content of a snapshot.

    :param version: of its format
    :param cann_version: of the install it was taken from, if known
    :param core: ``ai``, ``vector`` or ``dsa``
    :param other_engines: op types that other engines of the install know: name -> engine
    """

    version: str
    soc: str | None
    cann_version: str | None
    core: str
    operators: Operators
    other_engines: Mapping[str, str]

    @classmethod
    def of(cls, source: Source) -> Snapshot:
        """:raises Refused: if the version is unknown
        :raises Damaged: if a part has the wrong type or value
        """
        outcome = read_members(source)
        if not isinstance(outcome, Members):
            outcome.require_root()
            raise AssertionError("a text that only the slow reader accepts")
        try:
            return _read(source, outcome)
        except WrongValue as wrong:
            raise _damaged(wrong.message, source, _node_place(source, wrong.steps)) from None

    def require_of(self, soc: str | None, core: str, path: str) -> None:
        """:raises UsageFault: if the snapshot is of another chip or core"""
        if soc and self.soc and folder_of(soc, [self.soc]) is None:
            raise UsageFault(f"the snapshot is of {self.soc}, not of `{soc}`", name="unknown-soc", path=path)
        if core not in ("ai", self.core):
            said = f"the snapshot is of the {self.core} core, not of `{core}`"
            raise UsageFault(said, name="wrong-kind", path=path, hint="take one with `opsinfo snapshot --core`")


def _read(source: Source, outcome: Members) -> Snapshot:
    if outcome.members is None:
        raise WrongValue("a snapshot must be an object")
    content = {member.key: member.value for member in outcome.members}
    version = _known_version(source, content)
    if source.text[outcome.end :].strip():
        raise _damaged("there is text after the snapshot", source, source.place(outcome.end))
    if len(content) < len(outcome.members) or any(member.has_duplicates for member in outcome.members):
        _fail_on_twins(source, node_at(source, ()))
    stores = value_of(content, list, "stores")
    engines = value_of(content, dict, "other_engines")
    for name in engines:
        value_of(engines, str, "other_engines", name)
    sets = None if version == WITHOUT_COLUMNS else read_column_sets(content)
    return Snapshot(
        version,
        value_of(content, (str, type(None)), "soc"),
        value_of(content, (str, type(None)), "cann_version"),
        word_of(content, _CORES, "core"),
        Operators([_store(source, index, store, sets) for index, store in enumerate(stores)]),
        engines,
    )


def _known_version(source: Source, content: Mapping[str, Any]) -> str:
    version = repr(content.get("schema_version"))  # numbers are kept as they were written
    if version in _READ:
        return version
    if "schema_version" not in content:
        raise WrongValue("`schema_version` is missing")
    place = _node_place(source, ("schema_version",))
    raise Refused(
        f"a snapshot of version {content['schema_version']}; this opsinfo reads versions {' and '.join(_READ)}",
        name="snapshot-version",
        path=source.path,
        line=place.line,
        column=place.column,
        hint="a later opsinfo wrote it: upgrade opsinfo, or take the snapshot again",
    )


def _store(source: Source, index: int, store: Any, sets: Mapping[str, ColumnSet] | None) -> Store:
    at = ("stores", index)
    if not isinstance(store, dict):
        raise WrongValue("a store must be an object in a snapshot", *at)
    name = value_of(store, (str, type(None)), *at, "name")
    library = LibraryFile(source, [])
    facts = FactsFile(source, index, sets)
    operators = value_of(store, dict, *at, "operators")
    for op in operators:
        library.entries[op] = read_fact(facts, op, value_of(operators, dict, *at, "operators", op))
    return Store([library], label=name)


def _node_place(source: Source, steps: Steps) -> Place:
    return source.place(node_at(source, steps).start)


def _fail_on_twins(source: Source, node: Node) -> None:
    """Refuse a key that appears twice, for example after a bad merge.

    :raises Damaged: if a key appears twice; has the place of the second one
    """
    seen = set()
    for member in node:
        if member.name in seen:
            raise _damaged(f"`{member.name}` appears twice", source, source.place(member.key.start))
        seen.add(member.name)
        _fail_on_twins(source, member.value)
    for item in node.items:
        _fail_on_twins(source, item)


def _damaged(message: str, source: Source, place: Place) -> Damaged:
    hint = "take the snapshot again: `opsinfo snapshot TARGET -o FILE`"
    return Damaged(message, path=source.path, line=place.line, column=place.column, hint=hint)
