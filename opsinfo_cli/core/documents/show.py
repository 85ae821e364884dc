"""The JSON of `opsinfo show`."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import NotRequired, TypedDict

from ..document import LineNumber, PolicyName, Schema
from .shared import Head, Mark, Place, Target


class Tensor(TypedDict):
    """One input or output."""

    name: Annotated[str, Schema(examples=["x1"])]
    """The name of the tensor in the library."""
    param_type: Annotated[str, Schema(examples=["required"])]
    """required, optional, dynamic or reserved, as in the library."""
    dtypes: list[str]
    """The dtype of each column, in lower case; empty if the library lists none."""


class Operator(TypedDict):
    """One op type, what decides its policy, and which policies it supports."""

    name: Annotated[str, Schema(examples=["MatMulV2"])]
    """The op type."""
    policy: PolicyName | None
    """The effective policy: that of the library as changed by the mixlist, if one is given. For a mixlist without a
    library it is null, unless a to-add decides it or --against supplies it.
    """
    library_policy: PolicyName | None
    """The policy in the library, before any mixlist; null if no library was read."""
    marks: list[Mark]
    """The marks of the op type in the mixlist; empty without a mixlist."""
    file: str | None
    """The file with the entry that decides the policy; for a mixlist without a library, the mixlist."""
    line: LineNumber | None
    """The line number of the entry's key in that file, from 1."""
    store: Annotated[str | None, Schema(examples=["built-in", "vendor:acme", "env:/opt/acme", None])]
    """The store of the entry: built-in, vendor:<name> or env:<path>; null if the path does not show it."""
    shadowed: list[Place]
    """Entries that never win: a later file of the same store replaces them."""
    also_in: list[Place]
    """Winning entries of later stores: the engine falls through to them if the first store refuses a node."""
    inputs: list[Tensor]
    """The inputs in the engine's order."""
    outputs: list[Tensor]
    """The outputs in the engine's order."""
    can_be_black: Literal["yes", "no", "kernel"]
    """Whether the op type has a column with float32 inputs; without one, the engine reports a black op type as
    unsupported. yes, no, or kernel: the library lists no columns, and the kernel package decides at compile time.
    """
    can_be_white: Literal["yes", "no", "kernel"]
    """Whether the op type has a low-precision column; without one, white has no effect. yes, no, or kernel: the library
    lists no columns, and the kernel package decides at compile time.
    """
    by_default: NotRequired[bool]
    """Whether it is white only because its OpDef source sets no policy: AddConfig makes it so. False for anything but
    sources.
    """


class ShowDocument(Head):
    """Details of the requested op types. Later versions may add keys."""

    operators: list[Operator]
    """The requested op types."""
    target: Target
    """The target that was read."""
