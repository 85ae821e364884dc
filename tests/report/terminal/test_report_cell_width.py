"""Widths in terminal cells: alignment and wrapping."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from opsinfo_cli.report.terminal.cell_width import cell_width, padded, wrapped


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("MatMulV2", 8),
        ("算子", 4),
        ("MatMul（矩阵乘）", 16),
        ("é", 1),
        ("e\u0301", 1),
        ("ＡＢ", 4),
        ("𠮷", 2),
        ("😀", 2),
    ],
    ids=[
        "empty",
        "ASCII",
        "Chinese",
        "full-width brackets",
        "accent",
        "combining accent",
        "full-width letters",
        "rare Chinese",
        "emoji",
    ],
)
def test_the_width_of_a_text(text: str, cells: int) -> None:
    assert cell_width(text) == cells == cell_len(text)


def test_padding_is_in_cells() -> None:
    assert [cell_width(padded(name, 8)) for name in ("Add", "算子", "矩阵乘")] == [8, 8, 8]
    assert padded("longer than that", 3) == "longer than that"


CHINESE = "引擎只读严格的 JSON（RFC 8259），其余一概不认：`opsinfo fmt` 会去掉注释，其余内容“保持原样”。"


@pytest.mark.parametrize("width", range(12, 60))
def test_chinese_is_wrapped_at_any_width(width: int) -> None:
    lines = wrapped(CHINESE, width)
    assert "".join(lines).replace(" ", "") == CHINESE.replace(" ", "")
    for line in lines:
        assert 0 < cell_width(line) <= width
        assert line == line.strip()
        assert line[0] not in "，。：）”"
        assert line[-1] not in "（“"


def test_english_words_stay_whole() -> None:
    assert wrapped("a black-list and a white-list", 14) == ["a black-list", "and a", "white-list"]
    assert wrapped("averylongwordthatfitsnowhere in", 8) == ["averylongwordthatfitsnowhere", "in"]
