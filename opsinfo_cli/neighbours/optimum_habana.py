"""optimum-habana's gaudi_config.json, with its newer and older keys."""

from __future__ import annotations

import json

from ..errors import UsageFault
from ..text.source import Source
from .destinations import (
    ConversionBase,
    Destination,
    WrittenLists,
    default_differences,
    dropped_by,
    replaced_defaults,
    sorted_by_list,
)
from .habana_text import not_promoted, without_overloads
from .json_text import json_object, strings
from .systems import System, lists_of
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

_KEYS = (("autocast_bf16_ops", "autocast_fp32_ops", "inputs"), ("hmp_bf16_ops", "hmp_fp32_ops", "first-input"))
_DESTINATIONS = {
    OperatorClass.LOW: Destination("autocast_bf16_ops"),
    OperatorClass.HIGH: Destination("autocast_fp32_ops"),
    OperatorClass.FOLLOW: Destination(None, False),
    OperatorClass.PROMOTE: Destination(None),
    OperatorClass.CLEAR: Destination(None, False),
    OperatorClass.BANNED: Destination("autocast_fp32_ops", False),
}


def read(sources: list[Source], system: System) -> ReadLists:
    """:raises Damaged: if the file has another structure"""
    if len(sources) != 1:
        raise UsageFault(f"{system.name} takes exactly one file")
    (source,) = sources
    root = json_object(source)
    own = lists_of(system.name)
    for low, high, unlisted in _KEYS:
        lows, highs = strings(source, root, low), strings(source, root, high)
        if lows is not None and highs is not None:
            given = [ListEntry(name, OperatorClass.LOW, origin=low) for name in lows]
            given += [ListEntry(name, OperatorClass.HIGH, origin=high) for name in highs]
            given, losses = without_overloads(given)
            kept = [each for each in own.as_defaults() if each.cls is OperatorClass.PROMOTE]
            return ReadLists(own._replace(entries=(*given, *kept), unlisted=unlisted, version=None), tuple(losses))
        if lows is not None or highs is not None:
            said = f"{source.path}: only one of {low} and {high} is set, so both are ignored"
            ignored = Loss("ignored", said, tuple(lows or highs or ()), drops=True)
            return ReadLists(own._replace(entries=own.as_defaults()), (ignored,))
    return ReadLists(own._replace(entries=own.as_defaults()))


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    own = lists_of(system.name)
    found = sorted_by_list(lists, _DESTINATIONS, system.name)
    content = {"use_torch_autocast": True, **found.lists}
    fixed = not_promoted(lists, own)
    losses = [*found.losses, *default_differences(lists, own.unlisted, own.low, system.name), *fixed]
    losses += replaced_defaults(lists, own, "the two lists replace")
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return WrittenLists({"gaudi_config.json": text}, losses, found.dropped | dropped_by(fixed))
