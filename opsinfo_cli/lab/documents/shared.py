"""What the JSON documents of several commands of the lab share.

The modules of `documents` are imported by type checkers and by the script that writes the schemas, never by a command.
"""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import NotRequired, TypedDict

from ...core.document import Count, LineNumber, Schema, Unreadable


class Head(TypedDict):
    """What every document has. The console adds it to those of commands that no value of the API makes."""

    schema_version: Literal[1]
    """Version of the document format; added keys do not change it."""
    command: str
    """The command that wrote the document."""
    unreadable: NotRequired[list[Unreadable]]
    """Op types and files of OpDef sources that could not be read; missing if there are none."""


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
