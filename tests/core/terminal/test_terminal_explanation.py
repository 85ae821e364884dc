"""Explanations of topics on a terminal."""

from __future__ import annotations

import pytest

from opsinfo_cli.core.check.wording import LANGUAGES, term_called, wording
from opsinfo_cli.core.commands.explain import topic_lines
from opsinfo_cli.core.text.escape import cell_width


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("topic", wording("en").topics)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_topic_fits_the_terminal_and_loses_no_word(language: str, topic: str, width: int) -> None:
    text = wording(language).topics[topic]
    lines = list(topic_lines(text, width))
    assert [line for line in lines if cell_width(line) > width and " " in line.strip() and "/" not in line] == []
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_paragraphs_are_joined_and_columns_and_items_hang() -> None:
    text = "A long\nparagraph of\nwords\n\n  - an item of many words\nNAME    the meaning of it\n\n一行\n文字"
    assert list(topic_lines(text, 20)) == [
        "A long paragraph of",
        "words",
        "",
        "  - an item of many",
        "    words",
        "NAME    the meaning",
        "        of it",
        "",
        "一行文字",
    ]


@pytest.mark.parametrize("word", ["vault", "library", "loss scale"])
def test_the_words_of_the_manuals_are_on_a_line_of_their_own(word: str) -> None:
    term = term_called(word)
    assert term is not None
    for language, begin in (("en", "  In the manuals: "), ("zh", "  手册用词：")):
        assert [line[: len(begin)] for line in topic_lines(term.says(language), 200)][1:] == [begin]
