"""`opsinfo schema`: print a published JSON schema."""

from __future__ import annotations

from ...check.schema import schema_names, schema_text
from ..line import declare
from ..shared.common_options import OutputOptions, output_of, talk_options


@declare.command("schema")
@declare.argument("name", required=False)
@talk_options
def command(name: str | None, printing: OutputOptions) -> int:
    """Print the JSON schema NAME. Without an argument, list the names.

    \b
    Examples:
      opsinfo schema
      opsinfo schema mixlist > mixlist.schema.json
    """
    output = output_of("schema", printing)
    if name is None:
        output.lines(schema_names())
    else:
        output.data(schema_text(name), exact=True)
    return 0
