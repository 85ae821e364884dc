"""Names in columns, ordered downwards as in `ls`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..escape import shown
from .cell_width import cell_width, padded

_INDENT, _GAP = "  ", "  "


def side_by_side(names: Sequence[str], width: int) -> Iterator[str]:
    """Yield lines of at most ``width`` cells; a wider name has its own line.

    >>> list(side_by_side(["Add", "Mul", "Sub"], 12))
    ['  Add  Sub', '  Mul']
    """
    said = [shown(name) for name in names]
    widest = max(map(cell_width, said), default=0)
    columns = max(1, (width - len(_INDENT) + len(_GAP)) // (widest + len(_GAP)))
    height = -(-len(said) // columns)
    for index in range(height):
        line = _GAP.join(padded(name, widest) for name in said[index::height])
        yield (_INDENT + line).rstrip(" ")
