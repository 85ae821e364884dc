"""The old place of :mod:`..escape`; goes with the last view that imports it."""

from ..escape import inert, row, shown, visible
from ..escape import visible_line as visible_text

__all__ = ["inert", "row", "shown", "visible", "visible_text"]
