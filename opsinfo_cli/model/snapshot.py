"""Snapshots: the facts of a target for checks, small enough for a repository."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Damaged, Refused, UsageFault
from ..text.json_values import Members
from ..text.members import read_members
from ..text.source import Place, Source
from .columns import Listed, TensorColumns
from .entry import Entry, EntryFile
from .library_file import LibraryFile
from .policy import Policy
from .soc import folder_of
from .store import Operators, Store

if TYPE_CHECKING:
    from ..text.document import Node
    from .load_fault import Sections

VERSION = "1"
"""Readers ignore unknown keys and refuse an unknown version."""

_CORES = ("ai", "vector", "dsa")


class Fact(Entry):
    """An op type of one store in a snapshot: the policy and the selectable dtypes."""

    _file: _Facts

    def __init__(self, file: _Facts, name: str, policy: Policy, columns: Listed) -> None:
        self._file = file
        self.name = name
        self._policy = policy
        self._columns = columns

    @property
    def line(self) -> int:
        return self._file.fact_lines[self.name]

    @property
    def listed(self) -> Listed:
        return self._columns

    @property
    def sections(self) -> Sections:
        """:raises UsageFault: always, because a snapshot has no sections"""
        raise UsageFault(
            "a snapshot has no sections, only policies and dtypes",
            name="wrong-kind",
            path=self.path,
            hint="compare the installs themselves",
        )


class _Facts(EntryFile):
    """One store of a snapshot."""

    def __init__(self, source: Source, index: int) -> None:
        super().__init__(source, [])
        self.index = index

    @cached_property
    def fact_lines(self) -> dict[str, int]:
        operators = _node(self.source, ("stores", self.index, "operators"))
        return {member.name: self.source.place(member.key.start).line for member in operators}


class Snapshot(NamedTuple):
    """The content of a snapshot.

    :param cann_version: the version of the source install, if known
    :param core: ``ai``, ``vector`` or ``dsa``
    :param other_engines: op types that other engines of the install know: name -> engine
    """

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
        except _Wrong as wrong:
            raise _damaged(wrong.message, source, _node_place(source, wrong.steps)) from None

    def require_of(self, soc: str | None, core: str, path: str) -> None:
        """:raises UsageFault: if the snapshot is of another chip or core"""
        if soc and self.soc and folder_of(soc, [self.soc]) is None:
            raise UsageFault(f"the snapshot is of {self.soc}, not of `{soc}`", name="unknown-soc", path=path)
        if core not in ("ai", self.core):
            said = f"the snapshot is of the {self.core} core, not of `{core}`"
            raise UsageFault(said, name="wrong-kind", path=path, hint="take one with `opsinfo snapshot --core`")


Steps = tuple[str | int, ...]


class _Wrong(Exception):
    """A wrong value, by its path of keys; its place in the text is found on demand."""

    def __init__(self, message: str, *steps: str | int) -> None:
        self.message = message
        self.steps = steps


def _read(source: Source, outcome: Members) -> Snapshot:
    if outcome.members is None:
        raise _Wrong("a snapshot must be an object")
    content = {member.key: member.value for member in outcome.members}
    _require_version(source, content)
    if source.text[outcome.end :].strip():
        raise _damaged("there is text after the snapshot", source, source.place(outcome.end))
    if len(content) < len(outcome.members) or any(member.has_duplicates for member in outcome.members):
        _fail_on_twins(source, _node(source, ()))
    stores = _value(content, list, "stores")
    engines = _value(content, dict, "other_engines")
    for name in engines:
        _value(engines, str, "other_engines", name)
    return Snapshot(
        _value(content, (str, type(None)), "soc"),
        _value(content, (str, type(None)), "cann_version"),
        _word(content, _CORES, "core"),
        Operators([_store(source, index, store) for index, store in enumerate(stores)]),
        engines,
    )


def _require_version(source: Source, content: Mapping[str, Any]) -> None:
    version = content.get("schema_version")
    if repr(version) == VERSION:  # numbers are kept as written
        return
    if "schema_version" not in content:
        raise _Wrong("`schema_version` is missing")
    place = _node_place(source, ("schema_version",))
    raise Refused(
        f"a snapshot of version {version}; this opsinfo reads version {VERSION}",
        name="snapshot-version",
        path=source.path,
        line=place.line,
        column=place.column,
        hint="a later opsinfo wrote it: upgrade opsinfo, or take the snapshot again",
    )


def _store(source: Source, index: int, store: Any) -> Store:
    at = ("stores", index)
    if not isinstance(store, dict):
        raise _Wrong("a store must be an object in a snapshot", *at)
    name = _value(store, (str, type(None)), *at, "name")
    library = LibraryFile(source, [])
    facts = _Facts(source, index)
    operators = _value(store, dict, *at, "operators")
    for op in operators:
        library.entries[op] = _read_fact(facts, op, _value(operators, dict, *at, "operators", op))
    return Store([library], label=name)


def _read_fact(facts: _Facts, op: str, fact: dict[str, Any]) -> Fact:
    at = ("stores", facts.index, "operators", op)
    policy = Policy(_word(fact, tuple(map(str, Policy)), *at, "policy"))
    inputs, outputs = _tensors(fact, *at, "inputs"), _tensors(fact, *at, "outputs")
    return Fact(facts, op, policy, Listed(inputs, outputs, "static" if inputs or outputs else "kernel"))


def _tensors(fact: dict[str, Any], *steps: str | int) -> list[TensorColumns]:
    """Return all dtypes of one side as one tensor without a name; empty if the snapshot has none."""
    if steps[-1] not in fact:
        return []
    dtypes = _value(fact, list, *steps)
    for index, dtype in enumerate(dtypes):
        if not isinstance(dtype, str):
            raise _Wrong("a dtype must be a string in a snapshot", *steps, index)
    return [TensorColumns("", "", tuple(dtypes))]


_CALLED: dict[Any, str] = {dict: "an object", list: "an array", str: "a string"}


def _value(content: Mapping[str, Any], kind: Any, *steps: str | int) -> Any:
    """Return the value of the last step.

    :raises _Wrong: if it is missing or of another kind
    """
    key = str(steps[-1])
    if key not in content:
        raise _Wrong(f"`{key}` is missing", *steps[:-1])
    if not isinstance(content[key], kind):
        called = _CALLED.get(kind, "a string or null")
        raise _Wrong(f"`{key}` must be {called} in a snapshot", *steps)
    return content[key]


def _word(content: Mapping[str, Any], words: tuple[str, ...], *steps: str | int) -> str:
    value: str = _value(content, str, *steps)
    if value not in words:
        raise _Wrong(f"`{value}` must be one of " + ", ".join(words), *steps)
    return value


def _node(source: Source, steps: Steps) -> Node:
    from ..text.scanner import scan

    node = scan(source).require_root()
    for step in steps:
        found = node.items[step] if isinstance(step, int) else node.get(step)
        assert found is not None
        node = found
    return node


def _node_place(source: Source, steps: Steps) -> Place:
    return source.place(_node(source, steps).start)


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
