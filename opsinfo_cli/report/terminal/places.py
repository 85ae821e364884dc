"""Cells that may be shortened on a terminal: places in the middle, lists between two words."""

from __future__ import annotations

from typing import NamedTuple

from ..escape import shown
from .cell_width import cell_width
from .output import Output

_CUT = "..."
_LEAST = 8
"""The fewest cells of a file name that are kept, even on a narrower terminal."""


class PlaceCell(NamedTuple):
    """A path, and a suffix that is never shortened: a line, a remark."""

    path: str
    tail: str = ""

    def __str__(self) -> str:
        return self.path + self.tail

    def within(self, room: int) -> str:
        """Return the place in at most ``room`` cells; the end of the file name and the line are kept."""
        return shortened(self.path, room - cell_width(self.tail)) + self.tail


class Words(NamedTuple):
    """A list that may be cut between two words."""

    words: tuple[str, ...]
    between: str = " "

    def __str__(self) -> str:
        return self.between.join(self.words)

    def within(self, room: int) -> str:
        """Return as many words as fit ``room`` cells, with dots if some are missing."""
        said = ""
        for index, word in enumerate(self.words):
            longer = (said and said + self.between) + word
            is_last = index == len(self.words) - 1
            if said and cell_width(longer) + (0 if is_last else len(self.between + _CUT)) > room:
                return said + self.between + _CUT
            said = longer
        return said


def shortened(path: str, room: int) -> str:
    """Return a path in at most ``room`` cells: drops middle folders, then all folders, then the middle of the name.

    >>> shortened("built-in/op_impl/config/aic-ascend910b-ops-info-math.json", 40)
    '.../aic-ascend910b-ops-info-math.json'
    >>> shortened("built-in/op_impl/config/aic-ascend910b-ops-info-math.json", 30)
    'aic-ascen...ops-info-math.json'
    """
    if cell_width(path) <= room:
        return path
    *folders, name = path.split("/")
    if len(folders) > 1 and folders[0] and cell_width(said := f"{folders[0]}/{_CUT}/{name}") <= room:
        return said
    if folders and cell_width(said := f"{_CUT}/{name}") <= room:
        return said
    return cut_in_the_middle(name, room)


def cut_in_the_middle(text: str, room: int) -> str:
    """Keep a third from the beginning and two thirds from the end."""
    if cell_width(text) <= room:
        return text
    room = max(_LEAST, room) - len(_CUT)
    head = _prefix(text, room // 3)
    tail = _prefix(text[::-1], room - cell_width(head))[::-1]
    return head + _CUT + tail


def _prefix(text: str, room: int) -> str:
    """Return as many characters from the beginning as fit ``room`` cells."""
    taken = 0
    for index, character in enumerate(text):
        taken += cell_width(character)
        if taken > room:
            return text[:index]
    return text


def place_shown(output: Output, path: str, target: str, room: int) -> str:
    """Return a path for people; whole off a terminal.

    :param target: the TARGET of the command; paths below it are shown relative to it
    :param room: the available cells
    """
    return shortened(shown(below(path, target)), room) if output.on_terminal else shown(path)


def below(path: str, target: str) -> str:
    """Return a path relative to the target if it is below it."""
    return path.removeprefix(target.rstrip("/") + "/")
