"""MindSpore's custom white and black lists as text, one class name per line; MindSpore has no list file."""

from __future__ import annotations

import re

from ..errors import UsageFault
from ..text.source import Source
from .destinations import ConversionBase, Destination, WrittenLists, default_differences, dropped_by, sorted_by_list
from .systems import System
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

_CELL = re.compile(r"(?:mindspore\.|ms\.)?nn\.")
_PRIMITIVE = re.compile(r"(?:mindspore\.ops\.|ms\.ops\.|ops\.|P\.)")
_WHITE = {
    OperatorClass.LOW: Destination("white_list"),
    OperatorClass.HIGH: Destination(None),
    OperatorClass.FOLLOW: Destination(None, False),
    OperatorClass.PROMOTE: Destination(None, False),
    OperatorClass.CLEAR: Destination(None, False),
    OperatorClass.BANNED: Destination(None, False),
}
_BLACK = {
    **_WHITE,
    OperatorClass.LOW: Destination(None),
    OperatorClass.HIGH: Destination("black_list"),
    OperatorClass.BANNED: Destination("black_list", False),
}


def class_name(text: str) -> str:
    """Return a name in the spelling of the built-in lists, such as ``nn.Dense`` for ``mindspore.nn.Dense``."""
    return _PRIMITIVE.sub("", _CELL.sub("nn.", text, count=1), count=1)


def read(sources: list[Source], system: System) -> ReadLists:
    """Read class names. Unlisted classes are float32 with a white list, low with a black list."""
    if len(sources) != 1:
        raise UsageFault(f"{system.name} takes exactly one file")
    white = system.name == "mindspore-white"
    lines = [line.strip() for line in sources[0].text.splitlines()]
    names = [class_name(line) for line in lines if line and not line.startswith("#")]
    cls = OperatorClass.LOW if white else OperatorClass.HIGH
    entries = tuple(ListEntry(name, cls, "class", sources[0].path) for name in dict.fromkeys(names))
    losses = () if white else _cells_only([name for name in names if not name.startswith("nn.")])
    kept = tuple(each for each in entries if white or each.name.startswith("nn."))
    return ReadLists(OperatorLists(system.name, "mindspore", kept, "high" if white else "low", "float16"), losses)


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    white = system.name == "mindspore-white"
    found = sorted_by_list(lists, _WHITE if white else _BLACK, system.name)
    names = [class_name(name) for name in found.lists["white_list" if white else "black_list"]]
    losses = [*found.losses, *default_differences(lists, "high" if white else "low", "float16", system.name)]
    dropped = found.dropped
    if not white:
        cells_only = _cells_only([name for name in names if not name.startswith("nn.")])
        losses += cells_only
        dropped = dropped | dropped_by(list(cells_only))
        names = [name for name in names if name.startswith("nn.")]
    text = "".join(f"{name}\n" for name in names)
    return WrittenLists({f"{'white' if white else 'black'}_list.txt": text}, losses, dropped)


def _cells_only(names: list[str]) -> tuple[Loss, ...]:
    said = "MindSpore's black list takes Cells only; these are Primitives and are left out"
    return (Loss("cells-only", said, tuple(names), drops=True),) if names else ()
