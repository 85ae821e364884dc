"""The source line with carets under the right characters, for all characters and lengths."""

from __future__ import annotations

import pytest

from opsinfo_cli.report.terminal.caret import caret_lines
from opsinfo_cli.report.terminal.style import Look
from opsinfo_cli.text.excerpt import excerpt


def shown(text: str, what: str, **look: object) -> tuple[str, str]:
    start = text.index(what)
    _, line, carets = caret_lines(excerpt(text, start, start + len(what)), 1, Look(**look), "error")  # type: ignore[arg-type]
    return line, carets


@pytest.mark.parametrize(
    ("text", "what", "before", "carets"),
    [
        ("{ab}", "ab", 1, 2),
        ("算子 ab", "ab", 5, 2),
        ("x 算子 ab", "算子", 2, 4),
        ("\t\tab", "ab", 8, 2),
        ("e\u0301ab", "ab", 1, 2),
        ("\x1bab", "ab", 4, 2),
        ("{\nab\n}", "ab\n}", 0, 2),
        ("ab\r\n", "ab\r", 0, 2),
    ],
    ids=["plain", "wide before", "wide itself", "tabs", "combining", "an escape", "a span over two lines", "CRLF"],
)
def test_carets_are_below_the_cells_of_the_span(text: str, what: str, before: int, carets: int) -> None:
    line, marks = shown(text, what)
    assert marks == f"   | {' ' * before}{'^' * carets}"
    assert "\x1b" not in line


def test_an_empty_span_has_one_caret() -> None:
    *_, marks = caret_lines(excerpt("ab cd", 2, 2), 1, Look(), "error")
    assert marks == "   |   ^"


def test_a_span_after_the_last_character_has_a_caret() -> None:
    *_, line, marks = caret_lines(excerpt("{\n", 2, 2), 2, Look(), "error")
    assert (line, marks) == (" 2 |", "   | ^")


@pytest.mark.parametrize("width", [20, 40, 80, 200, 1000])
@pytest.mark.parametrize("filler", ["x", "算", "\x1b"], ids=["letter", "Chinese", "ESC"])
@pytest.mark.parametrize("at", [0, 3, 5000, 9998])
def test_a_long_line_is_a_window_with_the_span_in_it(width: int, filler: str, at: int) -> None:
    text = filler * at + "{}" + filler * (9998 - at)
    line, marks = shown(text, "{}", width=width)
    cells = sum(2 if character == "算" else 1 for character in line)
    assert cells <= max(width, 3 + 2 + 8)
    before = line[: line.index("{}")]
    assert marks.index("^") == len(before) + before.count("算")
    assert marks.endswith("^^")
    assert line.endswith("...") is (at < 9900)
    if at != 3:  # depends on the width
        assert line.startswith(" 1 | ...") is (at > 0)


def test_characters_that_a_terminal_cannot_encode_are_escaped_and_counted() -> None:
    line, marks = shown("算 ab", "ab", encoding="ascii")
    assert line == " 1 | \\u7b97 ab"
    assert marks.index("^") == line.index("ab")
