"""Precision modes for people and for programs."""

from __future__ import annotations

from typing import Any

from ..model.precision_mode import MECHANISMS, MODES, SERIES, Mode, Series
from ..neighbours.snippet import Snippet
from .output import Output
from .visible import row

__all__ = ["modes_document", "show_modes", "snippet_document"]

_MIX = {True: "training must be mixed", False: "training may be mixed", None: "whether to mix is not known"}


def show_modes(output: Output, modes: list[Mode], series: list[Series], soc: str | None) -> None:
    """Value, options, what means the same, mixlist, SoCs; then the defaults, then what a mixlist is not."""
    rows = [_mode_row(mode) for mode in modes]
    if not output.on_terminal:
        output.lines(row("mode", *each) for each in rows)
        output.lines(row("default", *_series_row(each)) for each in series)
        output.lines(row("other", each.name, each.key, each.does) for each in MECHANISMS)
        return
    from .table import Column, print_table

    titles = ("value", "option", "means the same", "mixlist", "chips")
    print_table(output, [Column(title, dim=title == "chips") for title in titles], rows)
    titles = ("products", "chips", "training", "inference", "mixed precision")
    print_table(output, [Column(title) for title in titles], [_series_row(each) for each in series])
    for each in MECHANISMS:
        output.lines([f"{each.name} ({each.key}): {each.does}"])
    if soc:
        missing = [mode.name for mode in MODES.values() if mode not in modes]
        output.tell(f"{soc} does not have: {', '.join(missing) or 'nothing is missing'}")


def _mode_row(mode: Mode) -> list[str]:
    option = "+".join({"v1": "precision_mode", "v2": "precision_mode_v2"}[each] for each in mode.options)
    mixlist = f"mixlist to {'/'.join(sorted(mode.low))}" if mode.low else "no mixlist"
    return [mode.name, option, ",".join(mode.same) or "-", mixlist, ",".join(sorted(mode.socs or ())) or "all"]


def _series_row(series: Series) -> list[str]:
    training = series.training or "not known"
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


def snippet_document(snippet: Snippet, mode: Mode, mixlist: str | None) -> dict[str, Any]:
    return {**snippet._asdict(), "mode": mode.name, "mixlist": mixlist}
