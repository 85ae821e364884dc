"""A record is its own document: the fields of a dataclass, each described once by the string below it, are the JSON,
and `docs/schemas.py` makes the published schema of the same class.

Creating such a class costs a tenth of a millisecond or two, so the types of a document are in the module that fills it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from ..errors import OpsinfoError


class Schema:
    """What the schema of a value states beside its type: keywords of JSON Schema."""

    def __init__(self, **keywords: Any) -> None:
        self.keywords = keywords

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {**handler(core), **self.keywords}


Count: TypeAlias = Annotated[int, Schema(minimum=0)]
LineNumber: TypeAlias = Annotated[int, Schema(minimum=1)]
OpType: TypeAlias = Annotated[str, Schema(examples=["MatMulV2"])]
PolicyName: TypeAlias = Literal["white", "black", "gray"]
POLICY_WORDS: tuple[PolicyName, ...] = get_args(PolicyName)
Sha256: TypeAlias = Annotated[str, Schema(pattern="^[0-9a-f]{64}$")]


def renamed(key: str, default: Any = ...) -> Any:
    """Return a field whose key is no name in Python, as ``from``."""
    alias = {"alias": key}
    return field(metadata=alias) if default is ... else field(default=default, metadata=alias)


def optional(default: Any = None, *, null: bool = False, key: str | None = None) -> Any:
    """Return a field that a document need not have; None leaves it out.

    :param null: None is null instead: readers of older documents do not find the key, newer ones always have it
    :param key: as for :func:`renamed`
    """
    extra = {"json_schema_extra": {"optional": "null" if null else "missing"}}
    return field(default=default, metadata={**extra, "alias": key} if key else extra)


class WithInfinity:
    """A record in which infinity, which JSON lacks, is a word instead of null."""

    INFINITY = "inf"


def internal(default: Any = ...) -> Any:
    """Return a field that is in no document."""
    hidden = {"exclude": True}
    return field(metadata=hidden) if default is ... else field(default=default, metadata=hidden)


_PLAIN = frozenset({str, int, bool, type(None)})


def as_json(value: Any) -> Any:
    """Return a value as JSON has it: a record by its fields, an enum by its value, a number that JSON lacks as null.
    An iterator stays one, so that the console can write row after row.
    """
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, (list, tuple)):
        return [each if type(each) in _PLAIN else as_json(each) for each in value]
    if isinstance(value, Mapping):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, Iterator):
        return map(as_json, value)
    document = {}
    for name, key, may_miss, infinity in _keys(kind):  # the rows of a model come by the million
        each = getattr(value, name)
        if type(each) not in _PLAIN:
            each = infinity if infinity and each == math.inf else as_json(each)
        elif may_miss and each is None:
            continue
        document[key] = each
    return document


@cache
def _keys(record: type) -> list[tuple[str, str, bool, str | None]]:
    """Return (attribute, key, whether None leaves it out, the word for infinity) of the fields that a document has."""
    assert is_dataclass(record), record
    return [
        (
            each.name,
            each.metadata.get("alias", each.name),
            each.metadata.get("json_schema_extra") == {"optional": "missing"},
            getattr(record, "INFINITY", None),
        )
        for each in fields(record)
        if not each.metadata.get("exclude")
    ]


@dataclass(frozen=True)
class Unreadable:
    name: str | None
    """The op type; null for a whole file."""
    file: str
    """The source."""
    line: int
    """The line, from 1."""
    reason: str
    """Why it could not be read."""
    chip: str | None = internal(None)
    """The only chip on which it could not be read; None for all."""


@dataclass(frozen=True)
class EditedHere:
    """An op type of a vendor's library whose policy opsinfo changed."""

    name: str
    """The op type."""
    change: str | None
    """The id of the change, as far as the vault of this machine knows it; null in a snapshot."""
    file: str
    """The library or snapshot."""
    before: PolicyName = renamed("from")
    """The policy that the vendor ships."""
    now: PolicyName = renamed("to")
    """The policy now."""
    time: str | None = internal(None)


@dataclass(frozen=True)
class Head:
    """What every document has: the first two by :func:`headed`, the others where there are any."""

    schema_version: Literal[1]
    """Version of the document format; added keys do not change it."""
    command: str
    """The command that wrote the document."""
    unreadable: list[Unreadable] | None = optional()
    """Op types and files of OpDef sources that could not be read; missing if there are none."""
    edited_here: list[EditedHere] | None = optional()
    """Op types of the libraries whose policy opsinfo changed; missing if there are none."""


@dataclass(frozen=True)
class Failure:
    name: Annotated[
        str,
        Schema(
            pattern="^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$",
            examples=["damaged-file", "unreadable", "locked", "unknown-operator", "usage"],
        ),
    ]
    """The kind of failure: a kebab-case name that never changes."""
    message: str
    """The error message."""
    path: str | None
    """The affected file or directory, as given."""
    line: LineNumber | None
    """The line number, from 1."""
    column: LineNumber | None
    """The column number in code points, from 1."""
    hint: str | None
    """A hint on how to solve the problem; null if there is none."""

    @classmethod
    def of(cls, error: OpsinfoError) -> Failure:
        return cls(error.name, error.message, error.path, error.line, error.column, error.hint)


@dataclass(frozen=True)
class FileChange:
    """One file, before and after the change."""

    path: str
    """The file, as given or under the path given."""
    backup: Annotated[str | None, Schema(examples=["3f2a9c1d-12.1"])]
    """The id of the backup; null for a new file, or if nothing was written."""
    sha256_before: Sha256 | None
    """SHA-256 of the content before the change; null for a new file."""
    sha256_after: Sha256 | None
    """SHA-256 of the content after the change; null if the file was removed."""


@dataclass(frozen=True)
class ErrorDocument:
    """The document that every command writes instead of its own when it fails. Later versions may add keys."""

    error: Failure
    """The error."""


def keys_of(record: Any) -> list[str]:
    """Return the keys of the document that a record makes."""
    return [key for _, key, *_ in _keys(record)]


def headed(command: str, record: Any) -> dict[str, Any]:
    """Return a record as the whole document of a command."""
    return {"schema_version": 1, "command": command, **as_json(record)}
