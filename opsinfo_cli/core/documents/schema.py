"""The JSON of `opsinfo schema`."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from typing_extensions import TypedDict

from ..document import Schema


class SchemaNames(TypedDict):
    """A published schema, or the names of all. Later versions may add keys."""

    schemas: list[Annotated[str, Schema(examples=["mixlist"])]]
    """Without a name: the names, sorted."""


class OneSchema(TypedDict):
    """A published schema, or the names of all. Later versions may add keys."""

    name: Annotated[str, Schema(examples=["mixlist"])]
    """The name that was given."""
    schema: dict[str, Any]
    """The schema."""


SchemaDocument: TypeAlias = SchemaNames | OneSchema
"""A published schema, or the names of all. Later versions may add keys."""
