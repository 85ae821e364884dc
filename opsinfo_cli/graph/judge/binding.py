"""One tensor of a node bound to its slot of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .facts import Port
    from .kernel import Slot


class BoundPort(NamedTuple):
    """A tensor, the slot it takes, and the columns of that slot."""

    port: Port
    slot: Slot
    dtypes: tuple[str, ...]
    formats: tuple[str, ...]
