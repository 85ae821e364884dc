"""Checks of structure by the published schemas."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

from ..errors import MissingPackage, UsageFault
from ..model.near_names import did_you_mean

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_FOLDERS = (os.path.join(_HERE, "schemas"), os.path.join(os.path.dirname(_HERE), "schemas"))
_SUFFIX = ".schema.json"


@cache
def _folder() -> str:
    """Return the folder of schemas: inside the installed package, or beside it in a checkout."""
    return next(folder for folder in _FOLDERS if os.path.isdir(folder))


def schema_names() -> list[str]:
    return sorted(name.removesuffix(_SUFFIX) for name in os.listdir(_folder()) if name.endswith(_SUFFIX))


def schema_text(name: str) -> str:
    """Return the text of a published schema.

    :raises UsageFault: if the name is unknown
    """
    if name not in schema_names():
        hint = did_you_mean(name, schema_names()) or "known schemas: " + ", ".join(schema_names())
        raise UsageFault(f"unknown schema `{name}`", name="unknown-schema", hint=hint)
    with open(os.path.join(_folder(), name + _SUFFIX), encoding="utf-8") as file:
        return file.read()


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
