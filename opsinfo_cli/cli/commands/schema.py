"""`opsinfo schema`: print a published JSON schema."""

from __future__ import annotations

from typing import Any

from ...check.schema import schema_names, schema_text
from ..line import declare
from ..shared.options import output_of, talk_options

__all__ = ["command"]


@declare.command("schema")
@declare.argument("name", required=False)
@talk_options
def command(name: str | None, **options: Any) -> int:
    """Print the schema NAME, or the names of all.

    \b
    Examples:
      opsinfo schema
      opsinfo schema mixlist > mixlist.schema.json
    """
    output = output_of("schema", options)
    if name is None:
        output.lines(schema_names())
    else:
        output.data(schema_text(name), exact=True)
    return 0
