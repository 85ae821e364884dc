"""`opsinfo modes`: precision modes, their defaults, and code that sets one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import click

from ...errors import UsageFault, join_some
from ..cann.chips import chip_folder, known_folders, meant_chip, note_of
from ..cann.precision_mode import (
    MECHANISMS,
    MODES,
    SAME_MODES,
    SERIES,
    Mechanism,
    Mode,
    ModeOption,
    Series,
    required_mode,
    series_of,
)
from ..cann.snippet import SnippetLines, default_mode, snippet, snippet_levels
from ..document import as_json
from ..terminal import completion
from ..terminal.answer import Block, Column, CommandAnswer, Either, Exact, Lines, Span, Table
from ..terminal.console import Console
from ..terminal.open import accepted_mixlist
from ..terminal.params import FILE, MODE, SOC, Choice, Command, Word, option, prints


@dataclass(frozen=True)
class ModeRow:
    """One value of precision_mode or precision_mode_v2."""

    name: str
    """The value."""
    engine: str
    """The engine's internal mode; values with the same internal mode are equivalent."""
    same: list[str]
    """The equivalent values."""
    says: str
    """What the engine does with a node, which the name may not say."""
    options: list[ModeOption]
    """The options that accept the value."""
    takes_mixlist: bool
    """Whether the engine accepts a mixlist with this value."""
    low: list[str]
    """The dtypes that a white operator may be reduced to."""
    socs: list[str] | None
    """The chips that support the value; null for all chips."""


@dataclass(frozen=True)
class ModesDocument:
    """Precision modes, defaults, and the lines that set them. Later versions may add keys."""

    soc: str | None
    """The chip given; null for all chips."""
    modes: list[ModeRow]
    """The values of precision_mode and precision_mode_v2."""
    products: Sequence[Series]
    """What the manuals say about product series."""
    others: Sequence[Mechanism]
    """Mechanisms other than the mixlist."""
    snippet: SnippetLines | None
    """The lines requested with --snippet; null without it."""


@click.command("modes", cls=Command)
@option("--soc", type=SOC, help="Only the modes of this chip, and what its documents require of a training.")
@option("--snippet", "name", type=Word("NAME", completion.snippets), help="Print code that sets a mode; NAME as above.")
@option("--mixlist", type=FILE, help="With --snippet: the mixlist to set, as the script will find it.")
@option("--precision-mode", "mode", type=MODE, help="With --snippet: the mode to set.")
@option("--level", type=Choice(snippet_levels()), help="With --snippet apex or mindspore: the level to set.")
@prints()
def command(
    soc: str | None, name: str | None, mixlist: str | None, mode: str | None, level: str | None, console: Console
) -> CommandAnswer:
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
    if (mixlist or mode or level) and not name:
        raise UsageFault("--mixlist, --precision-mode and --level require --snippet", hint="add --snippet NAME")
    modes = [known for known in MODES.values() if folder is None or known.is_on(folder)]
    own = series_of(folder) if folder else None
    series = [own] if own else [] if folder else list(SERIES)
    if not name:
        return modes_answer(modes, series, folder)
    chosen = required_mode(mode) if mode else default_mode(name)
    if mode and chosen not in modes:
        raise UsageFault(f"{folder} does not support `{chosen.name}`", name="mode-not-on-soc")
    code = snippet(name, chosen, mixlist, level)
    if mixlist:
        if os.path.lexists(mixlist):
            accepted_mixlist(mixlist, console)
        else:  # the code may be for another machine
            console.warn(f"{mixlist} was not found here, so it was not checked")
        if not code.takes_mixlist:
            console.warn(f"{name} takes no mixlist; the first line of the snippet names an alternative")
    return snippet_answer(code, modes, series, folder)


def _folder(soc: str, console: Console) -> str:
    """Return the folder of a chip of the table; no disk is read."""
    folder = chip_folder(soc, folders=SAME_MODES)
    if folder is None:
        named = ", ".join(folder for each in SERIES for folder in each.socs)
        hint = meant_chip(soc, known_folders()) or f"among the chips are {named}"
        raise UsageFault(f"unknown chip `{soc}`", name="unknown-soc", hint=hint)
    for note in note_of(soc, folder):
        console.note(note)
    return SAME_MODES.get(folder, folder)


_SHORT = {"float16": "fp16", "bfloat16": "bf16", "hifloat8": "hif8"}
_MIX = {True: "must be mixed", False: "may choose", None: "unknown"}
_OPTIONS: dict[str, ModeOption] = {"v1": "precision_mode", "v2": "precision_mode_v2"}


def modes_answer(modes: Sequence[Mode], series: Sequence[Series], soc: str | None) -> CommandAnswer:
    """Value, options, equal values, mixlist, chips; then the defaults, then options confused with a mixlist."""

    def terminal() -> Iterator[Block]:
        yield _modes_table(modes, soc)
        if series:
            columns = [Column(title) for title in ("products", "training", "inference", "mixed precision")]
            yield Lines([""])
            yield Table(columns, [[row[0], *row[2:]] for row in map(_series_row, series)])
        if soc:
            missing = [mode.name for mode in MODES.values() if mode not in modes]
            words = f"{soc} lacks {', '.join(missing)}" if missing else f"{soc} has all modes"
            yield Lines(["", [Span(words, "dim")]])
        yield Lines(
            [[Span("`opsinfo explain NAME` says what a mode does, and `explain keep_dtype` what else there is", "dim")]]
        )

    def rows() -> Iterator[Sequence[str]]:
        yield from (["mode", *_mode_row(mode)] for mode in modes)
        yield from (["default", *_series_row(products)] for products in series)
        yield from (["other", other.name, other.key, other.does] for other in MECHANISMS)

    return CommandAnswer(
        lambda: as_json(_document(modes, series, soc)), lambda: [Either(terminal, lambda: [Table([], rows())])]
    )


def _modes_table(modes: Sequence[Mode], soc: str | None) -> Table:
    """Equal values of the two options are next to each other."""
    columns = [Column("precision_mode"), Column("precision_mode_v2"), Column("mixlist")]
    columns += [Column("chips", dim=True)] * (soc is None)
    rows = []
    for engine in dict.fromkeys(mode.engine for mode in modes):
        same = [mode for mode in modes if mode.engine == engine]
        chips = join_some([chip.removeprefix("ascend") for chip in same[0].listed_socs], 1) or "all"
        low = " ".join(_SHORT.get(dtype, dtype) for dtype in sorted(same[0].low)) or "-"
        by_option = [[mode.name for mode in same if option in mode.options] for option in _OPTIONS]
        rows += [
            [*(value or "-" for value in values), low, chips][: len(columns)] for values in zip_longest(*by_option)
        ]
    return Table(columns, rows)


def _mode_row(mode: Mode) -> list[str]:
    option = "+".join(_OPTIONS[option] for option in mode.options)
    mixlist = f"mixlist to {'/'.join(sorted(mode.low))}" if mode.low else "no mixlist"
    return [mode.name, option, ",".join(mode.same) or "-", mixlist, ",".join(mode.listed_socs) or "all", mode.says]


def _series_row(series: Series) -> list[str]:
    training = series.training or "unknown"
    return [series.name, ",".join(series.socs), training, series.inference, _MIX[series.must_mix]]


def snippet_answer(
    code: SnippetLines, modes: Sequence[Mode], series: Sequence[Series], soc: str | None
) -> CommandAnswer:
    """The code as it is, for a script; the JSON document has the modes as well."""
    return CommandAnswer(
        lambda: as_json(replace(_document(modes, series, soc), snippet=code)),
        lambda: [Exact(code.text)],
        notes=[f"{code.title}; source: {code.source}"],
        paged=False,
    )


def _document(modes: Sequence[Mode], series: Sequence[Series], soc: str | None) -> ModesDocument:
    rows = [
        ModeRow(
            mode.name,
            mode.engine,
            mode.same,
            mode.says,
            [_OPTIONS[option] for option in mode.options],
            mode.is_mixed,
            sorted(mode.low),
            sorted(mode.socs) if mode.socs is not None else None,
        )
        for mode in modes
    ]
    return ModesDocument(soc, rows, series, MECHANISMS, None)
