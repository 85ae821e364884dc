"""Places on a terminal: seen from the target, and shortened in the middle where that is still long."""

from __future__ import annotations

from .cell_width import cell_width
from .output import Output
from .visible import shown

__all__ = ["place_shown"]


def place_shown(output: Output, path: str, target: str, room: int) -> str:
    """A path for people; off a terminal it is whole.

    :param target: what the command was pointed at; what lies under it is named from there
    :param room: cells there are for it; the name of the file is never cut
    """
    if not output.on_terminal:
        return shown(path)
    below = path.removeprefix(target.rstrip("/") + "/")
    said = shown(below)
    if cell_width(said) <= room:
        return said
    *folders, name = said.split("/")
    first = f"{folders[0]}/.../{name}" if folders and folders[0] else f".../{name}"
    return first if cell_width(first) <= room or len(folders) < 2 else f".../{name}"
