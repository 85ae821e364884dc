"""optimum-habana's gaudi_config.json, with its newer and older keys."""

from __future__ import annotations

from dataclasses import replace

from ...core.text.scanner import Node, scan
from ...core.text.source import Source
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
    root = scan(source).require_root()
    if root.kind != "object":
        raise source.damaged("expected a JSON object", root.start)
    own = system.lists()
    defaults = replace(own, entries=own.as_defaults())
    for low, high, unlisted in _KEYS:
        lows, highs = _strings(source, root, low), _strings(source, root, high)
        if lows is not None and highs is not None:
            entries = [ListEntry(name, cls=OperatorClass.LOW, origin=low) for name in lows]
            entries += [ListEntry(name, cls=OperatorClass.HIGH, origin=high) for name in highs]
            entries, losses = without_overloads(entries)
            level = root.get("hmp_opt_level")
            if low == "hmp_bf16_ops" and level and level.value not in (None, "O1"):
                message = f"hmp_opt_level is {level.value}: what that computes low is not documented; read as O1"
                losses += (Loss("approximate", message),)
            kept = [entry for entry in defaults.entries if entry.cls is OperatorClass.PROMOTE]
            return ReadLists(replace(own, entries=(*entries, *kept), unlisted=unlisted, version=None), losses)
        if lows is not None or highs is not None:
            message = f"{source.path}: only one of {low} and {high} is set, so both are ignored"
            return ReadLists(defaults, loss_of("ignored", message, lows or highs or (), drops=True))
    return ReadLists(defaults)


def _strings(source: Source, root: Node, key: str) -> list[str] | None:
    """Return the strings of an array; None if the key is missing or null.

    :raises Damaged: if the value is not an array of strings
    """
    node = root.get(key)
    if node is None or (node.kind == "literal" and node.value is None):
        return None
    if node.kind != "array":
        raise source.damaged(f"`{key}` must be an array", node.start)
    for item in node.items:
        if item.kind != "string":
            raise source.damaged(f"`{key}` must hold strings", item.start)
    return [str(item.value) for item in node.items]


SYSTEMS = (
    System(
        "optimum-habana", "optimum-habana", "torch", "gaudi_config.json", read=read, facts="optimum_habana",
        instead="convert --to habana-autocast, and copy both lists to autocast_bf16_ops and autocast_fp32_ops",
        casts_first_argument=True,
    ),
)  # fmt: skip
