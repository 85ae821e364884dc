"""Precision modes, as text and JSON."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from ...model.precision_mode import MECHANISMS, MODES, Mode, Series
from ...neighbours.snippet import SetupSnippet
from ..escape import row
from ..terminal.output import Output

_SHORT = {"float16": "fp16", "bfloat16": "bf16", "hifloat8": "hif8"}
_MIX = {True: "must be mixed", False: "may choose", None: "unknown"}


def show_modes(output: Output, modes: list[Mode], series: list[Series], soc: str | None) -> None:
    """Print value, options, equal values, mixlist, SoCs; then the defaults, then options confused with a mixlist."""
    if not output.on_terminal:
        output.lines(row("mode", *_mode_row(mode)) for mode in modes)
        output.lines(row("default", *_series_row(each)) for each in series)
        output.lines(row("other", each.name, each.key, each.does) for each in MECHANISMS)
        return
    with output.paged():
        _tables(output, modes, series, soc)
        for each in MECHANISMS:
            output.lines(["", *output.wrapped(f"{each.name} ({each.key}): {each.does}")])
    if soc:
        missing = [mode.name for mode in MODES.values() if mode not in modes]
        output.tell(f"{soc} lacks {', '.join(missing)}" if missing else f"{soc} has all modes", prose=True)


def _tables(output: Output, modes: list[Mode], series: list[Series], soc: str | None) -> None:
    """Print the tables; equal values are next to each other."""
    from ..terminal.places import Words
    from ..terminal.table import Column, print_table

    titles = ["precision_mode", "precision_mode_v2", "mixlist", *([] if soc else ["chips"])]
    rows = []
    for engine in dict.fromkeys(mode.engine for mode in modes):
        same = [mode for mode in modes if mode.engine == engine]
        chips = Words(tuple(sorted(each.removeprefix("ascend") for each in same[0].socs or ())) or ("all",))
        low = " ".join(_SHORT.get(each, each) for each in sorted(same[0].low)) or "-"
        by_option = [[mode.name for mode in same if option in mode.options] for option in ("v1", "v2")]
        for values in zip_longest(*by_option):
            cells = [*(value or "-" for value in values), low, chips]
            rows.append(cells[: len(titles)])
    print_table(output, [Column(title, dim=title == "chips") for title in titles], rows)
    if series:
        output.lines([""])
        columns = [Column(title) for title in ("products", "training", "inference", "mixed precision")]
        print_table(output, columns, [[each[0], *each[2:]] for each in map(_series_row, series)])


def _mode_row(mode: Mode) -> list[str]:
    option = "+".join({"v1": "precision_mode", "v2": "precision_mode_v2"}[each] for each in mode.options)
    mixlist = f"mixlist to {'/'.join(sorted(mode.low))}" if mode.low else "no mixlist"
    return [mode.name, option, ",".join(mode.same) or "-", mixlist, ",".join(sorted(mode.socs or ())) or "all"]


def _series_row(series: Series) -> list[str]:
    training = series.training or "unknown"
    return [series.name, ",".join(series.socs), training, series.inference, _MIX[series.must_mix]]


def modes_document(modes: list[Mode], series: list[Series], soc: str | None) -> dict[str, Any]:
    return {
        "soc": soc,
        "modes": [
            {
                "name": mode.name,
                "options": ["precision_mode" if each == "v1" else "precision_mode_v2" for each in mode.options],
                "engine": mode.engine,
                "same": mode.same,
                "takes_mixlist": mode.is_mixed,
                "low": sorted(mode.low),
                "socs": sorted(mode.socs) if mode.socs is not None else None,
            }
            for mode in modes
        ],
        "products": [{**each._asdict(), "socs": list(each.socs)} for each in series],
        "others": [each._asdict() for each in MECHANISMS],
        "snippet": None,
    }


def snippet_document(snippet: SetupSnippet, mixlist: str | None) -> dict[str, Any]:
    return {**snippet._asdict(), "mode": snippet.mode.name, "mixlist": mixlist}
