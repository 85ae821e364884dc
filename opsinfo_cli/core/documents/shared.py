"""What the JSON documents of several commands share.

The modules of `documents` are imported by type checkers and by the script that writes the schemas, never by a command.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from typing_extensions import NotRequired, TypedDict

from ..document import Count, LineNumber, PolicyName, Schema, Sha256, Unreadable


class Head(TypedDict):
    """What every document has. The console adds it to those of commands that no value of the API makes."""

    schema_version: Literal[1]
    """Version of the document format; added keys do not change it."""
    command: str
    """The command that wrote the document."""
    unreadable: NotRequired[list[Unreadable]]
    """Op types and files of OpDef sources that could not be read; missing if there are none."""


class Target(TypedDict):
    text: Annotated[str, Schema(examples=["ascend910b"])]
    """The target as given."""
    kind: Literal["library", "mixlist", "snapshot", "store", "install", "ini", "opdef", "package"]
    """The kind of target."""
    path: str
    """The path of the target; `-` is standard input."""
    soc: Annotated[str | None, Schema(examples=["ascend910b"])]
    """The chip folder; null if unknown."""
    version: Annotated[str | None, Schema(examples=["8.5.0"])]
    """The CANN version; null if unknown."""


Mark: TypeAlias = Literal[
    "black-list.to-add",
    "black-list.to-remove",
    "white-list.to-add",
    "white-list.to-remove",
    "gray-list.to-add",
    "gray-list.to-remove",
]


class NotJudged(TypedDict):
    """Nodes of one op type that are not judged for one reason."""

    type: str
    """The op type."""
    nodes: LineNumber
    """Number of nodes."""
    why: str
    """Why they are not judged."""


class Coverage(TypedDict):
    """How much of the whole graph the engine judges; constants, inputs and outputs of the graph are not counted."""

    compute: Count
    """Number of nodes that compute."""
    judged: Count
    """Number of them whose dtypes the engine chooses."""
    types: list[NotJudged]
    """The others by op type and reason, most nodes first."""


class Refusal(TypedDict):
    """A refused node."""

    name: str
    """The node's name."""
    type: Annotated[str, Schema(examples=["Gelu"])]
    """The operator of the source framework."""
    why: Annotated[str, Schema(examples=["no plugin for ai.onnx::20::Gelu"])]
    """The reason."""


class Dtypes(TypedDict):
    """The dtypes of a node."""

    inputs: list[Annotated[str | None, Schema(examples=["float16", "float32", "bfloat16"])]]
    """The dtype of each input."""
    outputs: list[Annotated[str | None, Schema(examples=["float16", "float32", "bfloat16"])]]
    """The dtype of each output."""


class Difference(TypedDict):
    """One node."""

    name: str
    """The name of the node."""
    type: str
    """The op type of the node."""
    predicted: Dtypes
    """The dtypes of a node."""
    compiled: Dtypes
    """The dtypes of a node."""
    why: str
    """Why these dtypes were predicted."""


class Place(TypedDict):
    """Another entry of the same op type, with its location."""

    file: str
    """The library file, as given or under the path given."""
    line: LineNumber
    """The line number of the entry's key, from 1."""
    policy: PolicyName | None
    """The policy of this entry; null if the engine would refuse its flag."""
    store: str | None
    """The store of the entry: built-in, vendor:<name> or env:<path>; null if the path does not show it."""


class File(TypedDict):
    """One file, before and after the change."""

    path: str
    """The file, as given or under the path given."""
    backup: Annotated[str | None, Schema(examples=["3f2a9c1d-12.1"])]
    """The id of the backup; null for a new file, or if nothing was written."""
    sha256_before: Sha256 | None
    """SHA-256 of the content before the change; null for a new file."""
    sha256_after: Sha256 | None
    """SHA-256 of the content after the change; null if the file was removed."""


class Lists(TypedDict):
    """The system or target that the lists belong to."""

    name: str
    """The system or target."""
    level: str | None
    """The level; null if the system has none."""
    names: str
    """The naming scheme of the operators."""
    unlisted: str
    """How operators that are not listed are treated: low, high, inputs, first-input, untouched, library or mode."""
    low: str | None
    """The dtype that low means; null if something else decides it."""
    version: str | None
    """The version that the lists were taken from; null for files."""


class Level(TypedDict):
    """One level of a system."""

    name: str | None
    """The name of the level; null if the system has no levels."""
    unlisted: str
    """How operators that are not listed are treated: low, high, inputs, first-input or untouched."""
    says: str | None
    """What the level does, as text; null if the lists describe it completely."""
    properties: dict[str, str]
    """The properties that the level sets, by name."""


class System(TypedDict):
    """One system or format."""

    name: str
    """The name of the system in opsinfo."""
    title: str
    """A title for readers."""
    names: str
    """The naming scheme of its operators: ascend, torch, tensorflow, onnx, mindspore or paddle."""
    reads: str | None
    """What a file of this system contains; null if files cannot be read."""
    writes: str | None
    """What opsinfo writes for this system; null if it cannot write any."""
    delta: bool
    """Whether its files contain only differences from a baseline, and require --against."""
    version: str | None
    """The version that the built-in lists were taken from; null if there are no built-in lists."""
    source: str | None
    """The source of the built-in lists; null if there are none."""
    notes: list[str]
    """Other facts about the system."""
    levels: list[Level]
    """The levels of the system."""
