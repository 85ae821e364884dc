"""optimum-habana's gaudi_config.json, in its newer and its older keys (interop.md 3.3)."""

from __future__ import annotations

import json

from ..errors import UsageFault
from ..text.source import Source
from .habana_text import not_promoted
from .homes import Base, Home, Written, sorted_into, unlike
from .json_text import json_object, strings
from .placed import Class, Lists, Loss, Placed, Told
from .systems import System, lists_of

__all__ = ["read", "write"]

_KEYS = (("autocast_bf16_ops", "autocast_fp32_ops", "inputs"), ("hmp_bf16_ops", "hmp_fp32_ops", "first-input"))
_HOMES = {
    Class.LOW: Home("autocast_bf16_ops"),
    Class.HIGH: Home("autocast_fp32_ops"),
    Class.FOLLOW: Home(None, False),
    Class.PROMOTE: Home(None),
    Class.CLEAR: Home(None, False),
    Class.BANNED: Home("autocast_fp32_ops", False),
}


def read(sources: list[Source], system: System) -> Told:
    """:raises Damaged: where the file is not of this kind"""
    if len(sources) != 1:
        raise UsageFault(f"{system.name} is one file")
    (source,) = sources
    root = json_object(source)
    own = lists_of(system.name)
    for low, high, unlisted in _KEYS:
        lows, highs = strings(source, root, low), strings(source, root, high)
        if lows is not None and highs is not None:
            placed = [Placed(name, Class.LOW, origin=low) for name in lows]
            placed += [Placed(name, Class.HIGH, origin=high) for name in highs]
            placed += [each for each in own.placed if each.cls is Class.PROMOTE]
            return Told(own._replace(placed=tuple(placed), unlisted=unlisted, version=None))
        if lows is not None or highs is not None:
            said = (
                f"{source.path}: only one of {low} and {high} is set, and neither counts then; the default lists stand"
            )
            return Told(own, (Loss("ignored", said, tuple(lows or highs or ())),))
    return Told(own)


def write(lists: Lists, base: Base, system: System) -> Written:
    own = lists_of(system.name)
    found = sorted_into(lists, _HOMES, system.name)
    content = {"use_torch_autocast": True, **found.lists}
    losses = [*found.losses, *unlike(lists, own.unlisted, own.low, system.name), *not_promoted(lists, own)]
    return Written({"gaudi_config.json": json.dumps(content, indent=2, ensure_ascii=False) + "\n"}, losses)
