"""optimum-habana's gaudi_config.json, with its newer and older keys."""

from __future__ import annotations

from ...core.text.source import Source
from ..json_text import json_object, strings
from ..system import System
from ..vocabulary import ListEntry, Loss, OperatorClass, ReadLists, Unlisted, loss_of
from .habana import without_overloads

_KEYS: tuple[tuple[str, str, Unlisted], ...] = (
    ("autocast_bf16_ops", "autocast_fp32_ops", "inputs"),
    ("hmp_bf16_ops", "hmp_fp32_ops", "first-input"),
)


def read(system: System, sources: list[Source]) -> ReadLists:
    """:raises Damaged: if the file has another structure"""
    (source,) = sources
    root = json_object(source)
    own = system.lists()
    defaults = own._replace(entries=own.as_defaults())
    for low, high, unlisted in _KEYS:
        lows, highs = strings(source, root, low), strings(source, root, high)
        if lows is not None and highs is not None:
            entries = [ListEntry(name, OperatorClass.LOW, origin=low) for name in lows]
            entries += [ListEntry(name, OperatorClass.HIGH, origin=high) for name in highs]
            entries, losses = without_overloads(entries)
            level = root.get("hmp_opt_level")
            if low == "hmp_bf16_ops" and level and level.value not in (None, "O1"):
                message = f"hmp_opt_level is {level.value}: what that computes low is not documented; read as O1"
                losses += (Loss("approximate", message),)
            kept = [entry for entry in defaults.entries if entry.cls is OperatorClass.PROMOTE]
            return ReadLists(own._replace(entries=(*entries, *kept), unlisted=unlisted, version=None), losses)
        if lows is not None or highs is not None:
            message = f"{source.path}: only one of {low} and {high} is set, so both are ignored"
            return ReadLists(defaults, loss_of("ignored", message, lows or highs or (), drops=True))
    return ReadLists(defaults)


SYSTEMS = (
    System(
        "optimum-habana", "optimum-habana", "torch", "gaudi_config.json", read=read, facts="optimum_habana",
        instead="convert --to habana-autocast, and copy both lists to autocast_bf16_ops and autocast_fp32_ops",
        casts_first_argument=True,
    ),
)  # fmt: skip
