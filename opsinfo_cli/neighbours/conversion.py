"""From one system's lists to another's files: respelt, translated, sorted into the lists there are."""

from __future__ import annotations

from collections.abc import Iterable

from .homes import Base, Written
from .placed import Told
from .systems import System
from .translation import respelt, translated

__all__ = ["converted"]


def converted(told: Told, to: System, base: Base, same: Iterable[str] = ()) -> Written:
    """:param same: op types that an unknown name may be taken for, where it is spelt the same

    :raises UsageFault: where the target's files say differences and ``base`` does not say from what
    """
    spelt = respelt(told.lists, to.name)
    named = translated(spelt.lists, to.names, same)
    written: Written = to.code.write(named.lists, base, to)
    return Written(written.files, [*told.losses, *spelt.losses, *named.losses, *written.losses])
