"""Write the schemas of the JSON output from its records: `python docs/schemas.py`, or with `--check` say which are
stale.

The records describe themselves (`opsinfo_cli/core/document.py`); the examples are in `schemas/examples`. The schemas of
files that people write (mixlist, ops-info-library, snapshot, config, baseline) are law, and written by hand.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Union

from pydantic import ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from opsinfo_cli.core.document import Head, keys_of  # noqa: E402

_FAILED = "The command that failed, as given, known or unknown; empty if none was given."


class Document(NamedTuple):
    """:param kinds: the records, each as ``module:class``; a command writes one of several
    :param commands: that write it; an error is written by every command
    """

    kinds: str
    commands: tuple[str, ...]


DOCUMENTS = {
    "backups": Document("core.change.backups:Backups", ("backups",)),
    "modes": Document("core.commands.modes:ModesDocument", ("modes",)),
    "restore": Document("core.change.restore:Restored", ("restore",)),
    "diff": Document("core.compare:TwoTargets|ManyTargets", ("diff",)),
    "merge": Document("core.merge:MergeDocument", ("merge",)),
    "list": Document("core.cann.operator_rows:ListDocument", ("list",)),
    "show": Document("core.cann.operator_rows:ShowDocument", ("show",)),
    "completion": Document("core.commands.completion:CompletionScript", ("completion",)),
    "explain": Document("core.commands.explain:Explanations", ("explain",)),
    "schema": Document("core.commands.schema:SchemaNames|PublishedSchema", ("schema",)),
    "socs": Document("core.commands.socs:SocsDocument", ("socs",)),
    "move": Document("core.change.plan:MoveDocument", ("move", "edit", "apply", "fmt", "reapply", "snapshot")),
    "validate": Document("core.check.checked:ValidateDocument", ("validate", "doctor")),
    "bisect": Document("lab.bisect.culprits:Search|SearchPlan", ("bisect",)),
    "graph": Document("lab.commands.graph.document:ShownGraph", ("graph",)),
    "profile": Document("lab.commands.profile:ShownProfile", ("profile",)),
    "simulate": Document("lab.simulate.report:SimulateDocument", ("simulate",)),
    "numerics": Document("lab.commands.numerics:Formats|DumpedTensors|DumpedCalls|SingleValues", ("numerics",)),
    "qualify": Document("logs.soundness:QualifyDocument", ("qualify",)),
    "systems-convert": Document("systems.conversion:Conversion", ("systems convert",)),
    "systems-decide": Document("systems.decide:Decisions", ("systems decide",)),
    "systems-diff": Document("systems.commands.diff:TwoSystems|ManySystems", ("systems diff",)),
    "systems-list": Document("systems.commands.list:SystemsList", ("systems list",)),
    "systems-show": Document("systems.system:ShownSystem", ("systems show",)),
} | {"error": Document("core.document:ErrorDocument", ())}

PUBLISHED = {
    "ClassCounts": "Counts",
    "ListEntry": "ListedName",
    "OperatorLists": "Lists",
    "ConvertedFile": "File",
    "NameCounts": "Counts",
    "NameRow": "Name",
    "RowCounts": "Counts2",
    "SystemFacts": "System",
    "ChangedOpType": "Difference",
    "ConflictingOpType": "Conflict",
    "DifferenceCounts": "Counts",
    "ListActions": "Actions",
    "MatrixCounts": "Counts2",
    "MatrixRow": "Operator",
    "MixlistContent": "Mixlist",
    "SectionDifference": "DifferenceInASection",
    "Damage": "Damaged",
    "Failure": "Error",
    "BaselineUsed": "Baseline",
    "FileChange": "File",
    "FileVerdict": "Checked",
    "FindingFacts": "Finding",
    "FixesMade": "Fixes",
    "Known": "KnownFinding",
    "Tally": "Summary",
    "FileAndBackup": "RestoredFile",
    "InstallFound": "Install",
    "Left": "LeftMove",
    "MovedOpType": "Move",
    "OperatorDetails": "Operator",
    "OperatorRow": "Operator",
    "PolicyCounts": "Counts",
    "PublishedSchema": "OneSchema",
    "Standing": "Place",
    "TargetFacts": "Target",
    "TensorColumns": "Tensor",
    "SearchPlan": "Plan",
    "SingleValues": "Values",
}
"""Records that have another name in the published schemas."""


class WithoutTitles(GenerateJsonSchema):
    """Leave out titles of fields, which would repeat their names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def field_is_required(self, field: Any, total: bool) -> bool:
        """A record has every field, those with a default, too; in a record within another as well."""
        return field["type"] == "dataclass-field" or super().field_is_required(field, total)


def schema_of(name: str, document: Document) -> dict[str, Any]:
    """Return the schema of a document."""
    module, _, types = document.kinds.partition(":")
    loaded = [getattr(import_module(f"opsinfo_cli.{module}"), kind) for kind in types.split("|")]
    kinds = [each for kind in loaded for each in getattr(kind, "__args__", (kind,))]
    commands = [*document.commands]
    made = _json_schema(*kinds)
    definitions = made.pop("$defs", {})
    head = _json_schema(Head)["properties"]
    bodies = [_without(head, definitions.pop(kind.__name__, made)) for kind in kinds]
    head["command"] |= {"enum": commands} if commands else {"description": _FAILED}
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://opsinfo.dev/schemas/output-{name}.schema.json",
        "title": f"opsinfo {name.replace('systems-', 'systems ')}",
        "description": _text(kinds[0].__doc__ or ""),
        "type": "object",
        "required": ["schema_version", "command"],
        "properties": head,
    }
    if len(bodies) == 1:
        schema["required"] += bodies[0]["required"]
        schema["properties"] |= bodies[0]["properties"]
    else:
        schema["oneOf"] = [{key: body[key] for key in ("title", "required", "properties")} for body in bodies]
    schema["$defs"] = {**_json_schema(Head)["$defs"], **definitions}
    examples = ROOT / "schemas/examples" / f"{name}.json"
    if examples.exists():
        schema["examples"] = json.loads(examples.read_text("utf-8"))
    return _flowing(schema)


def _without(head: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a document without what it has of the head."""
    properties = {name: each for name, each in body["properties"].items() if name not in head}
    return {**body, "properties": properties, "required": [name for name in body["required"] if name not in head]}


def _json_schema(*kinds: Any) -> dict[str, Any]:
    """Return the schema of a type, or of one of several."""
    for kind in kinds:
        kind.__pydantic_config__ = ConfigDict(
            use_attribute_docstrings=True,
            json_schema_serialization_defaults_required=is_dataclass(kind),
            arbitrary_types_allowed=True,  # of what is in no document
        )
    adapter: TypeAdapter[Any] = TypeAdapter(Union[tuple(kinds)])  # noqa: UP007
    made = adapter.json_schema(schema_generator=WithoutTitles, mode="serialization")
    definitions = {name: _of_record(each) for name, each in made.pop("$defs", {}).items()}
    enums = {name: each for name, each in definitions.items() if "properties" not in each}
    records = {name: _described(name, each) for name, each in definitions.items() if name not in enums}
    made = _of_record(made)
    if len(kinds) == 1 and "properties" in made:
        made = _described(kinds[0].__name__, made)
    return _resolved({**made, "$defs": records}, enums)


def _described(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a record with the descriptions of the fields that it inherits, which pydantic leaves out."""
    for record in (each for each in _records() if (each.__name__, keys_of(each)) == (name, [*schema["properties"]])):
        for base in filter(is_dataclass, record.__mro__[1:]):
            for key, each in _json_schema(base)["properties"].items():
                schema["properties"][key] = {**each, **schema["properties"][key]}
    return schema


def _records() -> Iterator[type]:
    for module in [each for name, each in sys.modules.items() if name.startswith("opsinfo_cli.")]:
        yield from (each for each in vars(module).values() if isinstance(each, type) and is_dataclass(each))


def _of_record(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a record, with what `optional()` says of its fields."""
    if "properties" not in schema:
        return schema
    required = []
    for key, each in schema["properties"].items():
        may_miss = each.pop("optional", None)
        each.pop("default", None)
        if may_miss == "missing" and "anyOf" in each:
            kinds = [kind for kind in each.pop("anyOf") if kind != {"type": "null"}]
            each |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        if not may_miss and key in schema.get("required", ()):
            required.append(key)
    return {**schema, "required": required} if required else {k: each for k, each in schema.items() if k != "required"}


def _resolved(value: Any, enums: dict[str, Any]) -> Any:
    """Return a schema with the words of enums where they are used."""
    if isinstance(value, list):
        return [_resolved(each, enums) for each in value]
    if not isinstance(value, dict):
        return value
    name = str(value.get("$ref", "")).removeprefix("#/$defs/")
    if name in enums:
        words = {key: each for key, each in enums[name].items() if key in ("enum", "type")}
        value = {**words, **{key: each for key, each in value.items() if key != "$ref"}}
    return {key: _resolved(each, enums) for key, each in value.items()}


def _flowing(value: Any) -> Any:
    """Return a schema with descriptions in one line each."""
    if isinstance(value, list):
        return [_flowing(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _text(each) if key == "description" and isinstance(each, str) else _flowing(each)
        for key, each in value.items()
    }


def _text(description: str) -> str:
    return " ".join(description.split())


def main() -> int:
    stale = []
    for name, document in DOCUMENTS.items():
        path = ROOT / "schemas" / f"output-{name}.schema.json"
        text = json.dumps(schema_of(name, document), indent=2, ensure_ascii=False) + "\n"
        for record, published in PUBLISHED.items():
            text = re.sub(rf'(?<=[/"]){record}(?=")', published, text)
        if path.read_text("utf-8") != text:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(text, "utf-8")
    if stale and "--check" in sys.argv:
        print(f"stale: {', '.join(stale)}; `python docs/schemas.py` writes them", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
