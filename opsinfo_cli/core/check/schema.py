"""Checks of structure by the published schemas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import MissingPackage, UsageFault, installing
from ...near_names import did_you_mean
from ..cann.policy import Policy

if TYPE_CHECKING:
    from importlib.abc import Traversable

    from ..cann.library import Operators
    from ..cann.target import Target

_SUFFIX = ".schema.json"


@cache
def _folder() -> Traversable:
    """Return the folder of schemas: inside the installed package, or beside it in a checkout."""
    inside = files("opsinfo_cli").joinpath("schemas")
    return inside if inside.is_dir() else Path(__file__).parents[3] / "schemas"


def schema_names() -> list[str]:
    names = (each.name for each in _folder().iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


def schema_text(name: str) -> str:
    """:raises UsageFault: if the name is unknown"""
    if name not in schema_names():
        hint = did_you_mean(name, schema_names()) or "known schemas: " + ", ".join(schema_names())
        raise UsageFault(f"unknown schema `{name}`", name="unknown-schema", hint=hint)
    return _folder().joinpath(name + _SUFFIX).read_text(encoding="utf-8")


@cache
def load_schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def mixlist_schema(targets: Sequence[Target]) -> dict[str, Any]:
    """Return the schema of mixlists for some targets: with their op types, those of `to-remove` by their policy.

    ``enumDescriptions``, which VS Code shows beside a completion, has the policy of each.
    """
    schema = deepcopy(load_schema("mixlist"))
    del schema["$id"]
    chips: dict[str, Operators] = {}
    for target in targets:
        soc = target.soc or target.text
        chips[target.text if soc in chips else soc] = target.operators
    schema["title"] += f" for {', '.join(chips)}"
    policies: dict[str, dict[str, Policy]] = {}
    for chip, operators in chips.items():
        for name in operators.names:
            policies.setdefault(name, {})[chip] = operators[name].entry.policy
    for policy in (None, Policy.BLACK, Policy.WHITE):
        names = [name for name in sorted(policies) if policy is None or policy in policies[name].values()]
        if policy:
            schema["properties"][f"{policy}-list"]["properties"]["to-remove"]["items"]["$ref"] = f"#/$defs/{policy}"
        schema["$defs"][policy or "op-type"] = {
            **load_schema("mixlist")["$defs"]["op-type"],
            "enum": names,
            "enumDescriptions": [
                ", ".join(f"{own} in {chip}" if len(chips) > 1 else str(own) for chip, own in policies[name].items())
                for name in names
            ],
            "examples": names[:3],
        }
    return schema


@cache
def validator_for(name: str) -> Any:
    """:raises MissingPackage: if jsonschema cannot be imported"""
    try:
        from jsonschema import Draft202012Validator
    except ImportError as error:
        if "failed to map" in str(error):  # out of memory, as app.py says
            raise
        raise MissingPackage(
            f"this command needs the package jsonschema, which cannot be imported: {error}",
            hint=f"install it beside opsinfo: {installing('jsonschema')}",
        ) from None

    return Draft202012Validator(load_schema(name))
