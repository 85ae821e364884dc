"""Draw the picture of the README: what commands print on a terminal, as SVG for light and for dark pages.

    python docs/picture.py

It is drawn with rich, whose versions draw it a little differently, so it is not compared like the generated pages.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from generate import on_a_terminal
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

FOLDER = Path(__file__).resolve().parent / "images"
COMMANDS = (
    "opsinfo list ascend910b --match '*Reduce*' --match 'MatMul*' --mixlist mixlists/sibling-versions.json",
    "opsinfo validate misspelt.json --against ascend910b",
)
LIGHT = TerminalTheme(
    (255, 255, 255),
    (36, 41, 47),
    [
        (36, 41, 47),
        (207, 34, 46),
        (26, 127, 55),
        (154, 103, 0),
        (9, 105, 218),
        (130, 80, 223),
        (27, 124, 131),
        (110, 119, 129),
    ],
    [
        (87, 96, 106),
        (164, 14, 38),
        (17, 99, 41),
        (125, 78, 0),
        (5, 80, 174),
        (102, 57, 186),
        (4, 90, 99),
        (140, 149, 159),
    ],
)
DARK = TerminalTheme(
    (13, 17, 23),
    (230, 237, 243),
    [
        (72, 79, 88),
        (255, 123, 114),
        (63, 185, 80),
        (210, 153, 34),
        (88, 166, 255),
        (188, 140, 255),
        (57, 197, 207),
        (177, 186, 196),
    ],
    [
        (110, 118, 129),
        (255, 161, 152),
        (86, 211, 100),
        (227, 179, 65),
        (121, 192, 255),
        (210, 168, 255),
        (86, 212, 221),
        (240, 246, 252),
    ],
)


def picture(theme: TerminalTheme) -> str:
    """Return the SVG, without the fonts that rich fetches from another host."""
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for at, command in enumerate(COMMANDS):
        console.print(
            Text(("\n" if at else "") + "$ ", "bold"), Text(command), sep="", soft_wrap=False, highlight=False
        )
        console.print(Text.from_ansi(on_a_terminal(command, "en").rstrip("\n")), highlight=False)
    drawn = console.export_svg(title="opsinfo", theme=theme, unique_id="opsinfo")
    drawn = drawn.replace("rgba(255,255,255,0.35)", "#8c959f")  # an edge that white pages show too
    return re.sub(r"\s*@font-face \{.*?\}(?=\s)", "", drawn, flags=re.DOTALL)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, theme in (("light", LIGHT), ("dark", DARK)):
        path = FOLDER / f"terminal-{name}.svg"
        path.write_text("".join(f"{line.rstrip()}\n" for line in picture(theme).splitlines()), "utf-8")


if __name__ == "__main__":
    main()
