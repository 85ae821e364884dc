"""Tables on a terminal, drawn by rich. Off a terminal nobody comes here."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import MissingPackage
from .output import Output
from .visible import shown

__all__ = ["Column", "print_table"]

_STYLES = {"white": "bold", "black": "bold blue", "gray": "bright_black"}


@dataclass(frozen=True)
class Column:
    title: str
    policy: bool = False
    dim: bool = False


def print_table(output: Output, columns: list[Column], rows: list[list[str]]) -> None:
    """:raises MissingPackage: where rich is not installed"""
    import sys

    try:
        from rich.box import ASCII_DOUBLE_HEAD, SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        raise MissingPackage("plain lines instead of a table: the package rich cannot be imported") from None

    plain = (sys.stdout.encoding or "ascii").lower().replace("-", "") not in ("utf8", "utf16")
    colored = output.colored(sys.stdout)
    console = Console(
        color_system="auto" if colored else None, force_terminal=colored, highlight=False, markup=False, emoji=False
    )
    table = Table(box=ASCII_DOUBLE_HEAD if plain else SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column.title, overflow="fold", style="dim" if column.dim else "")
    for row in rows:
        table.add_row(
            *(
                Text(shown(cell), style=_STYLES.get(cell, "") if column.policy else "")
                for column, cell in zip(columns, row, strict=True)
            )
        )
    with console.capture() as capture:
        console.print(table)
    output.data(capture.get())
