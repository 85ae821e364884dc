"""`opsinfo modes`: precision modes, their defaults, and the lines that set them."""

from __future__ import annotations

import os

from ...errors import UsageFault
from ...model.install import KNOWN_FOLDERS, folder_of, suggest
from ...model.precision_mode import MODES, SERIES, required_mode, series_of
from ...neighbours.snippet import default_mode, snippet, snippet_names
from ...report.terminal.output import Output
from ...report.views.modes import modes_document, show_modes, snippet_document
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.mixlist_input import accepted_mixlist
from ..shared.options import pager_option


@declare.command("modes")
@declare.option(
    "--soc", metavar="SOC", help="Only the modes of this chip, and what its documents require of a training."
)
@declare.option(
    "--snippet", "name", metavar="NAME", help=f"Print the lines that set the mode: {', '.join(snippet_names())}."
)
@declare.option("--mixlist", metavar="FILE", help="With --snippet: the mixlist to set, as the script will find it.")
@declare.option("--mode", metavar="MODE", help="With --snippet: the mode to set.")
@pager_option
@format_option()
def command(soc: str | None, name: str | None, mixlist: str | None, mode: str | None, printing: OutputOptions) -> int:
    """List the values of precision_mode and precision_mode_v2: what they mean, which take a mixlist, which chips have
    them, and which is the default.

    A snippet sets --mode, and scales the loss only if the mode needs it; a mode that it cannot set is refused. The
    default is allow_mix_precision; for Habana mixed_bfloat16.

    In a pipe, tab-separated, the first word is the kind of line: mode, default, other.

    \b
    Examples:
      opsinfo modes
      opsinfo modes --soc ascend910b
      opsinfo modes --snippet tf1 --mixlist ops_info.json
      opsinfo modes --snippet atc --mixlist ops_info.json --mode mixed_bfloat16
      opsinfo modes --snippet torch --mode mixed_bfloat16
    """
    output = output_of("modes", printing)
    folder = _folder(soc) if soc else None
    if (mixlist or mode) and not name:
        raise UsageFault("--mixlist and --mode require --snippet", hint="add --snippet NAME")
    modes = [each for each in MODES.values() if folder is None or each.is_on(folder)]
    own = series_of(folder) if folder else None
    series = [own] if own else [] if folder else list(SERIES)
    if name:
        chosen = required_mode(mode) if mode else default_mode(name)
        if mode and chosen not in modes:
            raise UsageFault(f"{folder} does not support `{chosen.name}`", name="mode-not-on-soc")
        made = snippet(name, chosen, mixlist)
        if mixlist:
            _check_mixlist(mixlist, output)
            if not made.takes_mixlist:
                output.say(f"{name} takes no mixlist; the first line of the snippet names an alternative", "warning")
        if output.format == "json":
            output.document({**modes_document(modes, series, folder), "snippet": snippet_document(made, mixlist)})
        else:
            output.data(made.text, exact=True)
            output.tell(f"{made.title}; source: {made.source}", prose=True)
    elif output.format == "json":
        output.document(modes_document(modes, series, folder))
    else:
        show_modes(output, modes, series, folder)
    return 0


def _check_mixlist(path: str, output: Output) -> None:
    """Check a mixlist; warn if it is not on this machine, because a snippet may be for another one.

    :raises Refused: if the engine would refuse the mixlist
    """
    if os.path.lexists(path):
        accepted_mixlist(path, output)
    else:
        output.say(f"{path} was not found here, so it was not checked", "warning")


def _folder(soc: str) -> str:
    """Return the folder of a well-known chip name; no disk is read."""
    folder = folder_of(soc, [*KNOWN_FOLDERS, "ascend310"])
    if folder is None:
        near = suggest(soc, KNOWN_FOLDERS) or KNOWN_FOLDERS
        raise UsageFault(f"unknown chip `{soc}`", name="unknown-soc", hint=f"known: {', '.join(near)}")
    return folder
