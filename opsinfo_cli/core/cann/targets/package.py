"""A custom operator package: what a project builds or installs, without the built-in operators."""

from __future__ import annotations

import os

from ..install import CUSTOM, LoadPriority, matching
from ..library import Operators, Store
from ..load_order import library_files
from .defined import defined
from .found import Found, Named, TargetOptions


def recognise(named: Named, options: TargetOptions) -> Found | None:
    """A folder `packages`, `vendors`, `vendors/<name>`, or `.../tbe/config`, with libraries in folders of chips."""
    path = named.path
    if not named.is_folder or named.is_complete:
        return None
    inside = f"{CUSTOM['ai']}/config/*"
    patterns = [inside, f"vendors/*/{inside}"]
    above, name = os.path.split(os.path.abspath(path))
    is_vendors = name == "vendors"
    if is_vendors:
        patterns.append(f"*/{inside}")
    if name == "config" and os.path.basename(above) == "tbe":
        patterns.append("*")
    stores: dict[str, list[tuple[str, str]]] = {}  # chip -> label and folder of each
    for folder in (each for pattern in patterns for each in matching(path, pattern)):
        if os.path.isdir(folder) and library_files(folder):
            parts = os.path.abspath(folder).split("/")[-6:-4]  # <vendor>/op_impl/ai_core/tbe/config/<soc>
            label = "built-in" if "built-in" in parts else f"vendor:{parts[0]}"
            stores.setdefault(os.path.basename(folder), []).append((label, folder))
    priority = LoadPriority.read(above if is_vendors else path)
    rank = {f"vendor:{vendor}": number for number, vendor in enumerate(priority.vendors)}

    def operators(soc: str) -> Operators:
        ordered = sorted(stores[soc], key=lambda store: (rank.get(store[0], len(rank)), store))
        return Operators([Store.read(folder, label, path) for label, folder in ordered])

    if not stores:
        return None
    return defined(
        "package",
        "the package has operators",
        path,
        sorted(stores),
        operators,
        options,
        stores=lambda soc: [folder for _, folder in stores[soc]],
    )
