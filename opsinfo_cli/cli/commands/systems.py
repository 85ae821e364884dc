"""`opsinfo systems`: list other systems, and the settings of their levels."""

from __future__ import annotations

from ...neighbours.systems import SYSTEMS, system_called
from ...report.views.neighbours import show_levels, show_systems, system_document
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.options import pager_option


@declare.command("systems")
@declare.argument("name", required=False, metavar="[SYSTEM]")
@pager_option
@format_option()
def command(name: str | None, printing: OutputOptions) -> int:
    """List the systems whose lists can be read, written or shown; with SYSTEM, the settings of its levels.

    In a pipe, tab-separated: name, levels, input, output, naming scheme, title; with SYSTEM level,
    property, value.

    \b
    Examples:
      opsinfo systems
      opsinfo systems apex
      opsinfo systems mindspore --format json
    """
    output = output_of("systems", printing)
    chosen = [system_called(name.partition(":")[0])] if name else list(SYSTEMS.values())
    if output.format == "json":
        output.document({"systems": [system_document(system) for system in chosen]})
    elif name:
        show_levels(output, chosen[0])
    else:
        show_systems(output, chosen)
    return 0
