"""`opsinfo schema`: print a published JSON schema."""

from __future__ import annotations

import click

from ...check.schema import load_schema, schema_names, schema_text
from ...report.answer import Answer, Exact, Names
from ...report.console import Console
from ..params import Command, Word, prints

NAME = Word("NAME", lambda ctx, param: schema_names())


@click.command("schema", cls=Command)
@click.argument("name", required=False, type=NAME)
@prints()
def command(name: str | None, console: Console) -> Answer:
    """Print the JSON schema NAME. Without an argument, list the names.

    \b
    Examples:
      opsinfo schema
      opsinfo schema mixlist > mixlist.schema.json
    """
    if name is None:
        names = schema_names()
        return Answer(lambda: {"schemas": names}, lambda: [Names(names)])
    text = schema_text(name)
    return Answer(lambda: {"name": name, "schema": load_schema(name)}, lambda: [Exact(text)])
