"""`opsinfo modes`: precision modes, their defaults, and code that sets one."""

from __future__ import annotations

import os

import click

from ...errors import UsageFault
from ..cann.chips import chip_folder, known_folders, note_of, suggest
from ..cann.near_names import meant
from ..cann.precision_mode import LIKE, MODES, SERIES, required_mode, series_of
from ..cann.snippet import default_mode, snippet
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.open import accepted_mixlist
from ..terminal.params import FILE, MODE, SOC, Command, Word, lazily, option, prints
from .modes_view import modes_answer, snippet_answer


@click.command("modes", cls=Command)
@option("--soc", type=SOC, help="Only the modes of this chip, and what its documents require of a training.")
@option("--snippet", "name", type=Word("NAME", lazily("snippets")), help="Print code that sets a mode; NAME as above.")
@option("--mixlist", type=FILE, help="With --snippet: the mixlist to set, as the script will find it.")
@option("--precision-mode", "mode", type=MODE, help="With --snippet: the mode to set.")
@prints()
def command(soc: str | None, name: str | None, mixlist: str | None, mode: str | None, console: Console) -> Answer:
    """List the values of precision_mode and precision_mode_v2: what they mean, which take a mixlist, which chips have
    them, and which is the default.

    Code is printed for tf1, tf2, atc, ge, mindspore-lite, mindspore-lite-runtime, paddle-lite, onnxruntime,
    mindspore, apex, torch, habana and habana-hmp. It sets --precision-mode, and scales the loss only if the mode
    needs it; then it also prints what `qualify` reads. A mode that it cannot set is refused. The default is
    mixed_float16, under its older name allow_mix_precision where the system takes only that; for Habana
    mixed_bfloat16.

    In a pipe, tab-separated, the first word is the kind of line: mode, default, other.

    \b
    Examples:
      opsinfo modes
      opsinfo modes --soc ascend910b
      opsinfo modes --snippet tf1 --mixlist ops_info.json
      opsinfo modes --snippet atc --precision-mode mixed_bfloat16
    """
    folder = _folder(soc, console) if soc else None
    if (mixlist or mode) and not name:
        raise UsageFault("--mixlist and --precision-mode require --snippet", hint="add --snippet NAME")
    modes = [known for known in MODES.values() if folder is None or known.is_on(folder)]
    own = series_of(folder) if folder else None
    series = [own] if own else [] if folder else list(SERIES)
    if not name:
        return modes_answer(modes, series, folder)
    chosen = required_mode(mode) if mode else default_mode(name)
    if mode and chosen not in modes:
        raise UsageFault(f"{folder} does not support `{chosen.name}`", name="mode-not-on-soc")
    code = snippet(name, chosen, mixlist)
    if mixlist:
        if os.path.lexists(mixlist):
            accepted_mixlist(mixlist, console)
        else:  # the code may be for another machine
            console.warn(f"{mixlist} was not found here, so it was not checked")
        if not code.takes_mixlist:
            console.warn(f"{name} takes no mixlist; the first line of the snippet names an alternative")
    return snippet_answer(code, mixlist, modes, series, folder)


def _folder(soc: str, console: Console) -> str:
    """Return the folder of a chip of the table; no disk is read."""
    folder = chip_folder(soc, folders=LIKE)
    if folder is None:
        named = ", ".join(folder for each in SERIES for folder in each.socs)
        hint = meant(suggest(soc, known_folders())) or f"among the chips are {named}"
        raise UsageFault(f"unknown chip `{soc}`", name="unknown-soc", hint=hint)
    for note in note_of(soc, folder):
        console.note(note)
    return LIKE.get(folder, folder)
