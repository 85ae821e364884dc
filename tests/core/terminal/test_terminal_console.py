"""Answers as a terminal and a pipe show them; hostile text is shown, never executed or read as markup."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.core.terminal.answer import (
    Column,
    CommandAnswer,
    Diff,
    Either,
    Exact,
    Lines,
    Names,
    PathCell,
    ShareBar,
    Span,
    Table,
    Tree,
)
from opsinfo_cli.core.terminal.console import Console
from opsinfo_cli.core.terminal.drawing import draw
from opsinfo_cli.core.text.escape import cell_width, inert, inert_lines, line_starts, row, shortened, visible

PATH = "opp/built-in/op_impl/ai_core/tbe/config/ascend910b/aic-ascend910b-ops-info-legacy.json"
TABLE = Table(
    [Column("operator"), Column("policy", policy=True), Column("nodes", number=True), Column("file:line", dim=True)],
    [("SoftmaxV2", "black", "7", PathCell(PATH, ":1493")), ("Add", "gray", "12", PathCell(PATH, ":25"))],
)


def lines(*blocks: object, width: int = 80, encoding: str = "utf-8", caveats: tuple[str, ...] = ()) -> list[str]:
    """What a terminal without colours shows."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(width)
    try:
        return [line.rstrip() for line in draw(blocks, encoding, False, caveats).splitlines()]  # type: ignore[arg-type]
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before


def test_a_row_is_one_line_at_80_columns_with_numbers_at_the_right_and_the_end_of_a_path() -> None:
    head, _, softmax, add = lines(TABLE)
    assert head.split() == ["operator", "policy", "nodes", "file:line"]
    assert softmax.endswith("legacy.json:1493")
    assert add.endswith("legacy.json:25")
    assert softmax.index("7") == add.index("12") + 1
    assert max(map(cell_width, (head, softmax, add))) <= 80


def test_a_spare_column_is_left_out_and_then_cells_are_broken() -> None:
    table = Table([Column("a"), Column("b"), Column("c", spare=True)], [("a" * 40, "b" * 30, "c" * 20)])
    assert "c" * 20 not in "".join(lines(table))
    assert "c" * 20 in "".join(lines(table, width=120))
    narrow = lines(table, width=30)
    assert max(map(len, narrow)) <= 30
    assert "".join(narrow).count("a") == 41


def test_a_spare_column_is_left_out_before_other_cells_are_cut() -> None:
    for width in range(30, 60):
        table = Table([*map(Column, "abcdef"), Column("g", spare=True)], [["12345"] * 7])
        assert lines(table, width=width)[2].split()[:6] == ["12345"] * 6 or width < 6 * 5 + 5 * 2


def test_a_bar_is_as_long_as_its_share_and_what_is_more_than_nothing_is_seen() -> None:
    bars = [("x", ShareBar(0.5, 1)), ("y", ShareBar(0, 0.01)), ("z", ShareBar(0, 0))]
    table = Table([Column("a"), Column("time")], bars)
    assert [row[3:] for row in lines(table)[2:]] == ["█" * 8 + "░" * 8, "░", ""]
    assert lines(table, encoding="ascii")[2].endswith("#" * 8 + "-" * 8)


def test_names_trees_and_caveats_are_drawn() -> None:
    assert lines(Names([f"Name{n}" for n in range(5)]), width=24) == ["  Name0  Name2  Name4", "  Name1  Name3"]
    assert lines(Tree("root", [Tree("a", [Tree("b")]), Tree("c")])) == ["root", "├── a", "│   └── b", "└── c"]
    assert "assumed" in lines(caveats=("assumed",))[1]


def test_an_ascii_terminal_gets_ascii() -> None:
    text = "\n".join(lines(TABLE, Tree("a", [Tree("b")]), caveats=("x",), encoding="ascii"))
    assert text.isascii()


def test_a_long_line_is_broken_between_words_and_keeps_its_indent() -> None:
    first, second, *_ = lines(Lines(["  " + "word " * 30], indent=4), width=40)
    assert first.startswith("  word")
    assert second.startswith("    word")


@pytest.mark.parametrize(
    "piece",
    ["/a/folder/with/a/long/name/aic-ascend910b-ops-info.json", "(`opsinfo restore /a/folder/with/a/long/name`)."],
)
def test_a_path_or_command_that_is_wider_than_a_terminal_can_be_copied(piece: str) -> None:
    shown = lines(Lines([f"  some words and then {piece} and some words more"]), width=40)
    assert shown[0] == f"  some words and then {piece}"
    assert " ".join(line.strip() for line in shown) == f"some words and then {piece} and some words more"


def test_a_place_stays_behind_its_arrow() -> None:
    assert lines(Lines(["  --> a/rather/long/path/that/does/not/fit.json:7:30"]), width=40) == [
        "  --> a/rather/long/path/that/does/not/fit.json:7:30"
    ]


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs"))), st.integers(10, 60))
def test_a_broken_text_is_whole_and_no_line_can_be_broken_more(text: str, cells: int) -> None:
    starts = line_starts(text, cells)
    parts = [text[start:end] for start, end in zip([0, *starts], [*starts, None], strict=True)]
    assert "".join(parts) == text
    assert all(part.strip(" ") for part in parts[1:])
    assert not any(line_starts(part.rstrip(" "), cells) for part in parts)


def test_colours_are_those_of_policies_and_styles() -> None:
    text = draw([Table([Column("p", policy=True)], [("black",)]), Lines([[Span("x", "error")]])], "utf-8", colored=True)
    assert re.search(r"\x1b\[34mblack", text)
    assert re.search(r"\x1b\[[0-9;]*31mx", text)


def test_each_list_has_a_style_of_its_own() -> None:
    """Bold stands out on a light and on a dark terminal; gray recedes."""
    columns = [Column("operator", dim=True), Column("policy", policy=True)]
    rows = [["Add", policy] for policy in ("white", "black", "gray")]
    text = draw([Table(columns, rows), Lines([[Span("legend", "dim")]])], "utf-8", True, ())
    assert re.findall(r"\x1b\[(\d+)m(white|black|gray)", text) == [("1", "white"), ("34", "black"), ("90", "gray")]
    assert text.count("\x1b[2mAdd") == 3
    assert "\x1b[2mlegend" in text


def test_the_lines_of_a_diff_have_the_colours_of_git() -> None:
    text = draw([Diff("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\n")], "utf-8", True, ())
    assert re.findall(r"\x1b\[([\d;]+)m([-+@].)", text) == [
        *(("1", "--"), ("1", "++"), ("36", "@@"), ("31", "-x"), ("32", "+y"))
    ]


HOSTILE = "[red]x[/red]\x1b[31m\u202e\n::error::y"


def test_hostile_text_is_visible_on_a_terminal_and_no_markup() -> None:
    blocks = (
        Table([Column(HOSTILE)], [(HOSTILE,)], title=HOSTILE),
        Lines([HOSTILE, [Span(HOSTILE, "error")]]),
        Names([HOSTILE]),
        Tree(HOSTILE, [Tree(HOSTILE)]),
        Diff(f"+{HOSTILE}"),
        Exact(HOSTILE),
    )
    text = "\n".join(lines(*blocks, width=200, caveats=(HOSTILE,)))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("[red]x[/red]") >= 8


@pytest.fixture
def console() -> Console:
    return Console("list")


def test_a_pipe_gets_rows_trees_and_notes(console: Console, capsys: pytest.CaptureFixture[str]) -> None:
    blocks: list[Any] = [
        TABLE,
        Tree("a", [Tree("b", [Tree("c")])]),
        Either(lambda: [Lines(["for people"])], lambda: [Lines(["for programs"])]),
    ]
    console.print(CommandAnswer(dict, lambda: blocks, caveats=["assumed"], notes=["done"], summary="2 operators"))
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        f"SoftmaxV2\tblack\t7\t{PATH}:1493",
        f"Add\tgray\t12\t{PATH}:25",
        *("a", "  b", "    c", "for programs"),
    ]
    assert err.splitlines() == ["note: assumed", "done"]


def test_blocks_in_a_pipe_keep_their_order(console: Console, capfd: pytest.CaptureFixture[str]) -> None:
    console.print(CommandAnswer(dict, lambda: [Lines(["first"]), Exact("second\n"), Lines(["third"])]))
    sys.stdout.flush()
    assert capfd.readouterr().out == "first\nsecond\nthird\n"


def test_quiet_hides_notes_but_no_warnings(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("opsinfo_cli.core.terminal.console.is_terminal", lambda _: True)
    console = Console("list", quiet=True, verbose=1)
    with console.status() as show, console.progress("reading", 2) as step:
        show("trial 1", 0.5)
        step(1)
    console.note("a")
    console.tell("b")
    console.detail("c")
    console.warn("d")
    assert capsys.readouterr().err == "\x1b[33mwarning:\x1b[0m d\n"


BLANKS = "".join(chr(code) for code in range(sys.maxunicode) if chr(code).isspace()) + "\u180e"


@given(st.text(alphabet=BLANKS, max_size=3), st.sampled_from(["::error::x", "##[error]x", "x ##[stop-commands]y"]))
def test_no_line_is_a_command_to_a_runner_whatever_blanks_precede_it(blanks: str, command: str) -> None:
    for line in (inert(visible(blanks + command)), row(blanks + command, "x"), inert(blanks + command)):
        assert not line.strip().strip("\u180e").startswith("::")
        assert "##[" not in line


@given(st.lists(st.sampled_from(["a,b", "::error::x", " ::x", "x ##[stop-commands]y"]), max_size=99))
def test_no_line_of_a_text_is_a_command_to_a_runner(lines: list[str]) -> None:
    assert inert_lines("\r\n".join(lines)) == "\r\n".join(map(inert, lines))


@given(st.text())
def test_visible_text_has_no_control_character(text: str) -> None:
    assert not re.search("[\x00-\x1f\x7f-\x9f]", visible(text))


@given(st.text(alphabet="ab/算-.", min_size=1, max_size=60), st.integers(12, 60), st.booleans())
def test_a_shortened_path_fits_and_keeps_its_end(path: str, room: int, is_node: bool) -> None:
    short = shortened(path, room, is_node)
    assert cell_width(short) <= room
    assert short[-1:] == path[-1:]
