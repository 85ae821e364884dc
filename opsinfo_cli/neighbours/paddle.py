"""Paddle's custom lists, as the keywords of `paddle.amp.auto_cast` (interop.md 4.3)."""

from __future__ import annotations

from ..errors import UsageFault
from ..text.source import Source
from .homes import Base, Home, Written, sorted_into, unlike
from .placed import Class, Lists, Loss, Placed, Told
from .python_text import named_lists, python_list
from .systems import System, lists_of

__all__ = ["read", "write"]

_LISTS = {"custom_white_list": Class.LOW, "custom_black_list": Class.HIGH}
_HOMES = {
    Class.LOW: Home("custom_white_list"),
    Class.HIGH: Home("custom_black_list"),
    Class.FOLLOW: Home(None, False),
    Class.PROMOTE: Home(None, False),
    Class.CLEAR: Home(None, False),
    Class.BANNED: Home("custom_black_list", False),
}


def read(sources: list[Source], system: System) -> Told:
    """The custom lists before those of O1: they move an operator off the built-in list it is on.

    :raises UsageFault: where one operator is on both, which Paddle refuses, or neither list is there
    """
    if len(sources) != 1:
        raise UsageFault(f"{system.name} is one file")
    found = named_lists(sources[0], frozenset(_LISTS))
    if not found:
        raise UsageFault("neither custom_white_list nor custom_black_list is there", path=sources[0].path)
    both = set(found.get("custom_white_list", ())) & set(found.get("custom_black_list", ()))
    if both:
        said = f"Paddle refuses these, which are on both lists: {', '.join(sorted(both))}"
        raise UsageFault(said, name="conflict", path=sources[0].path)
    own = lists_of("paddle:O1")
    given = [Placed(name, cls, origin=key) for key, cls in _LISTS.items() for name in found.get(key, ())]
    return Told(own._replace(placed=(*given, *own.placed), version=None))


def write(lists: Lists, base: Base, system: System) -> Written:
    own = lists_of("paddle:O1")
    built_in = own.deciding()
    found = sorted_into(lists, _HOMES, system.name)
    lines = []
    for key, cls in _LISTS.items():
        names = [name for name in found.lists[key] if name not in built_in or built_in[name].cls is not cls]
        lines.append(f"{key} = {python_list(names, '{}')}")
    losses = [*found.losses, *unlike(lists, own.unlisted, own.low, "paddle:O1")]
    named = lists.deciding()
    stays = tuple(n for n in built_in if n not in named or named[n].cls is Class.FOLLOW)
    if stays:
        losses.append(Loss("built-in-stays", "Paddle's own lists stay for what the source does not place", stays))
    return Written({"amp_lists.py": "\n".join(lines) + "\n"}, losses)
