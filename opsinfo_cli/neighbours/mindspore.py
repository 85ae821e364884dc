"""MindSpore's custom white and black lists: one class name a line, because it has no list file (interop.md 1.3)."""

from __future__ import annotations

import re

from ..errors import UsageFault
from ..text.source import Source
from .homes import Base, Home, Written, sorted_into, unlike
from .placed import Class, Lists, Loss, Placed, Told
from .systems import System

__all__ = ["class_name", "read", "write"]

_CELL = re.compile(r"(?:mindspore\.|ms\.)?nn\.")
_PRIMITIVE = re.compile(r"(?:mindspore\.ops\.|ms\.ops\.|ops\.|P\.)")
_WHITE = {
    Class.LOW: Home("white_list"),
    Class.HIGH: Home(None),
    Class.FOLLOW: Home(None, False),
    Class.PROMOTE: Home(None, False),
    Class.CLEAR: Home(None, False),
    Class.BANNED: Home(None, False),
}
_BLACK = {**_WHITE, Class.LOW: Home(None), Class.HIGH: Home("black_list"), Class.BANNED: Home("black_list", False)}


def class_name(text: str) -> str:
    """``mindspore.nn.Dense`` as ``nn.Dense``, ``ops.MatMul`` as ``MatMul``: as the built-in lists are shown."""
    return _PRIMITIVE.sub("", _CELL.sub("nn.", text, count=1), count=1)


def read(sources: list[Source], system: System) -> Told:
    """Lines of class names; what is not listed is float32 beside a white list, low beside a black one."""
    if len(sources) != 1:
        raise UsageFault(f"{system.name} is one file")
    white = system.name == "mindspore-white"
    lines = [line.strip() for line in sources[0].text.splitlines()]
    names = [class_name(line) for line in lines if line and not line.startswith("#")]
    cls = Class.LOW if white else Class.HIGH
    placed = tuple(Placed(name, cls, "class", sources[0].path) for name in dict.fromkeys(names))
    losses = () if white else _cells_only([name for name in names if not name.startswith("nn.")])
    kept = tuple(each for each in placed if white or each.name.startswith("nn."))
    return Told(Lists(system.name, "mindspore", kept, "high" if white else "low", "float16"), losses)


def write(lists: Lists, base: Base, system: System) -> Written:
    white = system.name == "mindspore-white"
    found = sorted_into(lists, _WHITE if white else _BLACK, system.name)
    names = [class_name(name) for name in found.lists["white_list" if white else "black_list"]]
    losses = [*found.losses, *unlike(lists, "high" if white else "low", "float16", system.name)]
    if not white:
        losses += _cells_only([name for name in names if not name.startswith("nn.")])
        names = [name for name in names if name.startswith("nn.")]
    return Written({f"{'white' if white else 'black'}_list.txt": "".join(f"{name}\n" for name in names)}, losses)


def _cells_only(names: list[str]) -> tuple[Loss, ...]:
    said = "MindSpore's black list takes Cells only; these are Primitives and are left out"
    return (Loss("cells-only", said, tuple(names)),) if names else ()
