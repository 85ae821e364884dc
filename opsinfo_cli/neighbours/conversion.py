"""From one system's lists to another's files: respelt, translated, sorted into the lists there are."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import UsageFault
from .homes import Base, Written
from .placed import Told
from .systems import System
from .translation import respelt, translated

__all__ = ["converted"]


def converted(told: Told, to: System, base: Base, same: Iterable[str] = ()) -> Written:
    """:param same: op types that an unknown name may be taken for, where it is spelt the same

    :raises UsageFault: where the target's files say differences and ``base`` does not say from what, or no name
        has a translation
    """
    spelt = respelt(told.lists, to.name)
    named = translated(spelt.lists, to.names, same)
    if told.lists.placed and not named.lists.placed:
        said = f"no source translates any of the {len(told.lists.placed)} names of {told.lists.title}"
        raise UsageFault(
            said, name="unknown-name", hint="--same-names takes a name for the base's op type of that name"
        )
    written: Written = to.code.write(named.lists, base, to)
    return Written(written.files, [*told.losses, *spelt.losses, *named.losses, *written.losses])
