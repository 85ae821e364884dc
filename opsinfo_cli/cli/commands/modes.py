"""`opsinfo modes`: precision modes, their defaults, and the lines that set them."""

from __future__ import annotations

from ...errors import UsageFault
from ...model.precision_mode import MODES, SERIES, required_mode, series_of
from ...model.soc import KNOWN_FOLDERS, folder_of, suggest
from ...neighbours.snippet import snippet, snippet_names
from ...report.views.modes import modes_document, show_modes, snippet_document
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.mixlist_input import accepted_mixlist
from ..shared.options import pager_option


@declare.command("modes")
@declare.option("--soc", metavar="SOC", help="Only modes of this chip, and what its documents require for training.")
@declare.option(
    "--snippet", "name", metavar="NAME", help=f"Print the lines that set the mode: {', '.join(snippet_names())}."
)
@declare.option("--mixlist", metavar="FILE", help="With --snippet: the mixlist to set.")
@declare.option("--mode", metavar="MODE", help="With --snippet: the mode to set; allow_mix_precision by default.")
@pager_option
@format_option()
def command(soc: str | None, name: str | None, mixlist: str | None, mode: str | None, printing: OutputOptions) -> int:
    """List the values of precision_mode and precision_mode_v2: which are equal, which take a mixlist, which chips
    support them, and the defaults.

    A pipe gets tab-separated lines; the first word is the kind of line: mode, default or other.

    \b
    Examples:
      opsinfo modes
      opsinfo modes --soc ascend910b
      opsinfo modes --snippet tf1 --mixlist ops_info.json
      opsinfo modes --snippet atc --mixlist ops_info.json --mode mixed_bfloat16
    """
    output = output_of("modes", printing)
    folder = _folder(soc) if soc else None
    if (mixlist or mode) and not name:
        raise UsageFault("--mixlist and --mode require --snippet", hint="add --snippet NAME")
    modes = [each for each in MODES.values() if folder is None or each.is_on(folder)]
    own = series_of(folder) if folder else None
    series = [own] if own else [] if folder else list(SERIES)
    if name:
        chosen = required_mode(mode or "allow_mix_precision")
        if chosen not in modes:
            raise UsageFault(f"{folder} does not support `{chosen.name}`", name="mode-not-on-soc")
        made = snippet(name, chosen, mixlist)
        if mixlist:
            accepted_mixlist(mixlist, output)
            if not made.takes_mixlist:
                output.say(f"{name} takes no mixlist; the first line says what does the same", "warning")
        if output.format == "json":
            output.document(
                {**modes_document(modes, series, folder), "snippet": snippet_document(made, chosen, mixlist)}
            )
        else:
            output.data(made.text, exact=True)
            output.tell(f"{made.title}; source: {made.source}")
    elif output.format == "json":
        output.document(modes_document(modes, series, folder))
    else:
        show_modes(output, modes, series, folder)
    return 0


def _folder(soc: str) -> str:
    """The folder of a chip; only well-known chips, because no install is read."""
    folder = folder_of(soc, [*KNOWN_FOLDERS, "ascend310"])
    if folder is None:
        near = suggest(soc, KNOWN_FOLDERS) or KNOWN_FOLDERS
        raise UsageFault(f"unknown chip `{soc}`", name="unknown-soc", hint=f"known: {', '.join(near)}")
    return folder
