"""opsinfo: which operators may drop precision on Ascend NPUs, and who decides.

The command line and the library are one thing::

    from opsinfo_cli import Library, Mixlist, Policy

    Library.read("aic-ascend910b-ops-info.json").entries["Add"].policy      # <Policy.GRAY: 'gray'>
    Mixlist.read("ops_info.json").effective("Add", Policy.GRAY)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Install", "Library", "Mixlist", "Operators", "Policy", "Store", "__version__"]

if TYPE_CHECKING:
    from .model.install import Install
    from .model.library import Library
    from .model.mixlist import Mixlist
    from .model.policy import Policy
    from .model.store import Operators, Store

_HOMES = {
    "Install": "install",
    "Library": "library",
    "Mixlist": "mixlist",
    "Operators": "store",
    "Policy": "policy",
    "Store": "store",
}


def __getattr__(name: str) -> Any:
    """Import on first use: a command pays only for what it needs."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".model.{_HOMES[name]}", __name__), name)
