"""Paddle's custom lists: arguments of `paddle.amp.auto_cast`, or flags of its trainers (`--amp_custom_black_list`)."""

from __future__ import annotations

from dataclasses import replace

from ...core.text.source import Source
from ...errors import UsageFault
from ..list_text import flag_values, one_chosen, shell_lines
from ..python_text import is_python, python_lists
from ..python_values import CalledLibrary
from ..system import System
from ..vocabulary import ListEntry, Loss, OperatorClass, ReadLists

_LISTS = {"custom_white_list": OperatorClass.LOW, "custom_black_list": OperatorClass.HIGH}
_PARAMETERS = ("enable", *_LISTS, "level", "dtype", "use_promote")
_LIBRARY = CalledLibrary(dict.fromkeys(("auto_cast", "amp_guard", "autocast"), _PARAMETERS), frozenset(_LISTS))


def read(system: System, sources: list[Source]) -> ReadLists:
    """Return the custom lists, then those of O1. A custom entry overrides the built-in list of its operator.

    :raises UsageFault: if an operator is on both lists, which Paddle refuses, or the file sets neither
    """
    (source,) = sources
    losses: tuple[Loss, ...] = ()
    names = _of_commands(source)
    if not names:
        lists, losses = python_lists(source, _LIBRARY)
        if not lists:
            raise UsageFault("the file sets neither custom_white_list nor custom_black_list", path=source.path)
        names = {key: [str(name) for name in lists[key].items] if key in lists else [] for key in _LISTS}
    both = set(names["custom_white_list"]) & set(names["custom_black_list"])
    if both:
        message = f"on both lists, which Paddle refuses: {', '.join(sorted(both))}"
        raise UsageFault(message, name="conflict", path=source.path)
    own = system.lists("O1")
    entries = [ListEntry(name, cls=cls, origin=key) for key, cls in _LISTS.items() for name in names[key]]
    return ReadLists(replace(own, entries=(*entries, *own.as_defaults()), version=None), losses)


def _of_commands(source: Source) -> dict[str, list[str]]:
    """Return the lists that a command gives with the flags of PaddleNLP's and PaddleMIX' trainers.

    :raises UsageFault: if several commands give some
    """
    found: dict[int, dict[str, list[str]]] = {}
    for number, _, words in shell_lines(source) if not is_python(source) else ():
        for flag, value in flag_values(words or ()):
            key = flag.removeprefix("--amp_")
            if flag.startswith("--amp_custom_") and key in _LISTS:
                found.setdefault(number, {key: [] for key in _LISTS})[key].append(value)
    return one_chosen(source, found.items(), "commands") or {}


SYSTEMS = (
    System(
        "paddle", "Paddle auto_cast", "paddle", "custom lists", read=read, facts="paddle",
        instead="pass custom_white_list and custom_black_list to paddle.amp.auto_cast",
    ),
)  # fmt: skip
