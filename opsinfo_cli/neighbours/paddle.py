"""Paddle's custom lists: keyword arguments of `paddle.amp.auto_cast`."""

from __future__ import annotations

from ..errors import UsageFault
from ..text.source import Source
from .destinations import ConversionBase, Destination, WrittenLists, default_differences, sorted_by_list
from .python_text import named_lists, python_list
from .systems import System, lists_of
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

_LISTS = {"custom_white_list": OperatorClass.LOW, "custom_black_list": OperatorClass.HIGH}
_DESTINATIONS = {
    OperatorClass.LOW: Destination("custom_white_list"),
    OperatorClass.HIGH: Destination("custom_black_list"),
    OperatorClass.FOLLOW: Destination(None, False),
    OperatorClass.PROMOTE: Destination(None, False),
    OperatorClass.CLEAR: Destination(None, False),
    OperatorClass.BANNED: Destination("custom_black_list", False),
}


def read(sources: list[Source], system: System) -> ReadLists:
    """Return the custom lists, then those of O1. A custom entry overrides the built-in list of its operator.

    :raises UsageFault: if an operator is on both lists, which Paddle refuses, or the file sets neither
    """
    if len(sources) != 1:
        raise UsageFault(f"{system.name} takes exactly one file")
    found = named_lists(sources[0], frozenset(_LISTS))
    if not found:
        raise UsageFault("the file sets neither custom_white_list nor custom_black_list", path=sources[0].path)
    named = {key: [name.text for name in names] for key, names in found.items()}
    both = set(named.get("custom_white_list", ())) & set(named.get("custom_black_list", ()))
    if both:
        said = f"on both lists, which Paddle refuses: {', '.join(sorted(both))}"
        raise UsageFault(said, name="conflict", path=sources[0].path)
    own = lists_of("paddle:O1")
    given = [ListEntry(name, cls, origin=key) for key, cls in _LISTS.items() for name in named.get(key, ())]
    return ReadLists(own._replace(entries=(*given, *own.as_defaults()), version=None))


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    own = lists_of("paddle:O1")
    built_in = own.deciding()
    found = sorted_by_list(lists, _DESTINATIONS, system.name)
    lines = []
    for key, cls in _LISTS.items():
        names = [name for name in found.lists[key] if name not in built_in or built_in[name].cls is not cls]
        lines.append(f"{key} = {python_list(names, '{}')}")
    losses = [*found.losses, *default_differences(lists, own.unlisted, own.low, "paddle:O1")]
    named = lists.deciding()
    stays = tuple(name for name in built_in if name not in named or named[name].cls is OperatorClass.FOLLOW)
    if stays and lists.system != "paddle":
        said = "names that the source puts on no list stay on Paddle's built-in lists"
        losses.append(Loss("built-in-stays", said, stays))
    return WrittenLists({"amp_lists.py": "\n".join(lines) + "\n"}, losses, found.dropped)
