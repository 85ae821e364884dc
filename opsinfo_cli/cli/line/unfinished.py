"""An unfinished command line from a shell, and its candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class UnfinishedLine(NamedTuple):
    """The words before the cursor, without the program, and the word at the cursor."""

    words: list[str]
    word: str


class Candidate(NamedTuple):
    """A completion of the word at the cursor.

    :param kind: ``plain``, or ``file`` if the shell offers files too
    """

    value: str
    help: str = ""
    kind: str = "plain"


def line_at_the_cursor(environ: Mapping[str, str], shell: str) -> UnfinishedLine:
    """Return the line in COMP_WORDS, up to the cursor; COMP_CWORD, if set, is the index of the word at the cursor."""
    words = split(environ.get("COMP_WORDS", ""), escape="`" if shell == "powershell" else "\\")
    said = environ.get("COMP_CWORD", "")
    at = int(said) if said.isdecimal() else len(words) - 1
    return UnfinishedLine(words[1:at], words[at] if 0 < at < len(words) else "")


def split(text: str, escape: str = "\\") -> list[str]:
    """Return the words of a line, unquoted; a quote may still be open. The last word is at the cursor.

    >>> split("opsinfo show 'my dir/opp' Mat"), split("opsinfo list ")
    (['opsinfo', 'show', 'my dir/opp', 'Mat'], ['opsinfo', 'list', ''])
    """
    words, word, begun, quote, escaped = [], "", False, "", False
    for letter in text:
        if escaped:
            word, escaped = word + letter, False
        elif letter == escape and quote != "'":
            begun = escaped = True
        elif quote:
            word, quote = (word, "") if letter == quote else (word + letter, quote)
        elif letter in "'\"":
            begun, quote = True, letter
        elif letter.isspace():
            words += [word] if begun else []
            word, begun = "", False
        else:
            word, begun = word + letter, True
    return [*words, word]
