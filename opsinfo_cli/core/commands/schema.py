"""`opsinfo schema`: print a published JSON schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

import click

from ...errors import UsageFault
from ..check.schema import load_schema, mixlist_schema, schema_names, schema_text
from ..document import Schema, as_json
from ..terminal.answer import CommandAnswer, Exact, Names
from ..terminal.console import Console
from ..terminal.open import open_against, report_doubts
from ..terminal.params import TARGET, Command, Word, option, prints


@dataclass(frozen=True)
class SchemaNames:
    """A published schema, or the names of all. Later versions may add keys."""

    schemas: list[Annotated[str, Schema(examples=["mixlist"])]]
    """Without a name: the names, sorted."""


@dataclass(frozen=True)
class PublishedSchema:
    """A published schema, or the names of all. Later versions may add keys."""

    name: Annotated[str, Schema(examples=["mixlist"])]
    """The name that was given."""
    schema: dict[str, Any]
    """The schema."""


NAME = Word("NAME", lambda ctx, param: schema_names())


@click.command("schema", cls=Command)
@click.argument("name", required=False, type=NAME)
@option("--against", type=TARGET, multiple=True, help="For mixlist: list the op types of this target; repeatable.")
@prints()
def command(name: str | None, against: tuple[str, ...], console: Console) -> CommandAnswer:
    """Print the JSON schema NAME. Without an argument, list the names.

    With --against the schema of mixlists lists the op types of the targets with their policies, so that an editor
    completes and checks them.

    \b
    Examples:
      opsinfo schema
      opsinfo schema mixlist > mixlist.schema.json
      opsinfo schema mixlist --against ascend910b
    """
    if against and name != "mixlist":
        raise UsageFault("--against is for the schema mixlist", hint="opsinfo schema mixlist --against TARGET")
    if name is None:
        names = schema_names()
        return CommandAnswer(lambda: as_json(SchemaNames(names)), lambda: [Names(names)])
    if against:
        targets = [open_against(target, console) for target in against]
        for target in targets:
            report_doubts(target, console)
        schema = mixlist_schema(targets)
        text = json.dumps(schema, indent=2) + "\n"
    else:
        schema, text = load_schema(name), schema_text(name)
    return CommandAnswer(lambda: as_json(PublishedSchema(name, schema)), lambda: [Exact(text)])
