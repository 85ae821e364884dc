"""Write the schemas of the JSON output from its types: `python docs/schemas.py`, or with `--check` say which are stale.

The types are in the `documents` of each room, with their descriptions as docstrings; the examples are in
`schemas/examples`. The schemas of files that people write (mixlist, ops-info-library, snapshot, config, baseline) are
law, and written by hand.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Union

from pydantic import ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from opsinfo_cli.core.documents.shared import Head  # noqa: E402

_FAILED = "The command that failed, as given, known or unknown; empty if none was given."

DOCUMENTS = {
    "core": {
        **{name: [name] for name in ("backups", "completion", "diff", "explain", "list", "merge", "modes", "restore")},
        **{name: [name] for name in ("schema", "show", "socs")},
        "move": ["move", "edit", "apply", "fmt", "reapply", "snapshot"],
        "validate": ["validate", "doctor"],
        "error": [],
    },
    "lab": {name: [name] for name in ("bisect", "graph", "numerics", "profile", "simulate")},
    "logs": {"qualify": ["qualify"]},
    "systems": {name: [f"systems {name}"] for name in ("convert", "decide", "diff", "list", "show")},
}
"""Room -> document -> the commands that write it; an error is written by every command."""


class WithoutTitles(GenerateJsonSchema):
    """Leave out titles of fields, which would repeat their names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(room: str, document: str, commands: list[str]) -> tuple[str, dict[str, Any]]:
    """Return the name of a schema, and the schema."""
    name = document if room != "systems" else f"systems-{document}"
    module = import_module(f"opsinfo_cli.{room}.documents.{document}")
    type_ = getattr(module, "".join(map(str.capitalize, name.split("-"))) + "Document")
    kinds = getattr(type_, "__args__", (type_,))
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
    return name, _flowing(schema)


def _without(head: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a document without what it has of the head."""
    properties = {name: each for name, each in body["properties"].items() if name not in head}
    return {**body, "properties": properties, "required": [name for name in body["required"] if name not in head]}


def _json_schema(*kinds: Any) -> dict[str, Any]:
    """Return the schema of a type, or of one of several."""
    for kind in kinds:
        kind.__pydantic_config__ = ConfigDict(use_attribute_docstrings=True)
    return TypeAdapter(Union[kinds]).json_schema(schema_generator=WithoutTitles)  # noqa: UP007


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
    for room, documents in DOCUMENTS.items():
        for document, commands in documents.items():
            name, schema = schema_of(room, document, commands)
            path = ROOT / "schemas" / f"output-{name}.schema.json"
            text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
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
