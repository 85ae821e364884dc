"""Paddle's custom lists: keyword arguments of `paddle.amp.auto_cast`."""

from __future__ import annotations

from ...core.text.source import Source
from ...errors import UsageFault
from ..python_text import python_lists
from ..python_values import Library
from ..system import System
from ..vocabulary import ListEntry, OperatorClass, ReadLists

_LISTS = {"custom_white_list": OperatorClass.LOW, "custom_black_list": OperatorClass.HIGH}
_PARAMETERS = ("enable", *_LISTS, "level", "dtype", "use_promote")
_LIBRARY = Library(dict.fromkeys(("auto_cast", "amp_guard", "autocast"), _PARAMETERS), frozenset(_LISTS))


def read(system: System, sources: list[Source]) -> ReadLists:
    """Return the custom lists, then those of O1. A custom entry overrides the built-in list of its operator.

    :raises UsageFault: if an operator is on both lists, which Paddle refuses, or the file sets neither
    """
    (source,) = sources
    lists, losses = python_lists(source, _LIBRARY)
    if not lists:
        raise UsageFault("the file sets neither custom_white_list nor custom_black_list", path=source.path)
    names = {key: [str(name) for name in lists[key].items] if key in lists else [] for key in _LISTS}
    both = set(names["custom_white_list"]) & set(names["custom_black_list"])
    if both:
        message = f"on both lists, which Paddle refuses: {', '.join(sorted(both))}"
        raise UsageFault(message, name="conflict", path=source.path)
    own = system.lists("O1")
    entries = [ListEntry(name, cls, origin=key) for key, cls in _LISTS.items() for name in names[key]]
    return ReadLists(own._replace(entries=(*entries, *own.as_defaults()), version=None), losses)


SYSTEMS = (
    System(
        "paddle", "Paddle auto_cast", "paddle", "custom lists", read=read, facts="paddle",
        instead="pass custom_white_list and custom_black_list to paddle.amp.auto_cast",
    ),
)  # fmt: skip
