"""Checks of structure by the published schemas."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingPackage, UsageFault
from ..model.near_names import did_you_mean

if TYPE_CHECKING:
    from importlib.abc import Traversable

_SUFFIX = ".schema.json"


@cache
def _folder() -> Traversable:
    """Return the folder of schemas: inside the installed package, or beside it in a checkout."""
    inside = files("opsinfo_cli").joinpath("schemas")
    return inside if inside.is_dir() else Path(__file__).parents[2] / "schemas"


def schema_names() -> list[str]:
    names = (each.name for each in _folder().iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


def schema_text(name: str) -> str:
    """Return the text of a published schema.

    :raises UsageFault: if the name is unknown
    """
    if name not in schema_names():
        hint = did_you_mean(name, schema_names()) or "known schemas: " + ", ".join(schema_names())
        raise UsageFault(f"unknown schema `{name}`", name="unknown-schema", hint=hint)
    return _folder().joinpath(name + _SUFFIX).read_text(encoding="utf-8")


@cache
def load_schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


@cache
def validator_for(name: str) -> Any:
    """:raises MissingPackage: if jsonschema cannot be imported"""
    try:
        from jsonschema import Draft202012Validator
    except ImportError as error:
        raise MissingPackage(
            f"this command needs the package jsonschema, which cannot be imported: {error}",
            hint="install it beside opsinfo: python3 -m pip install jsonschema",
        ) from None

    return Draft202012Validator(load_schema(name))
