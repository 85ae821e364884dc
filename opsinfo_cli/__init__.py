"""opsinfo: the mixed-precision policy of operators on Ascend NPUs.

The library that the command line uses; see docs/api.md::

    from opsinfo_cli import Library, Mixlist, Policy

    Library.read("aic-ascend910b-ops-info.json").operators["Add"].policy      # <Policy.GRAY: 'gray'>
    Mixlist.read("ops_info.json").effective("Add", Policy.GRAY)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.2.0"

__all__ = [
    "Difference",
    "Finding",
    "Graph",
    "Install",
    "Library",
    "Mixlist",
    "Operators",
    "OpsinfoError",
    "Outcome",
    "Policy",
    "Profile",
    "Store",
    "Target",
    "__version__",
    "bisect_mixlist",
    "diff",
    "move",
    "restore",
    "simulate_model",
    "validate",
]

if TYPE_CHECKING:
    from typing import Any

    from .core.cann.install import Install
    from .core.cann.library import Library, Operators, Store
    from .core.cann.mixlist import Mixlist
    from .core.cann.policy import Policy
    from .core.cann.target import Target
    from .core.change.move import move
    from .core.change.restore import restore
    from .core.check.finding import Finding, Outcome
    from .core.check.run import validate
    from .core.compare import Difference, diff
    from .errors import OpsinfoError
    from .lab.bisect.mixlist_search import bisect_mixlist
    from .lab.graph.api import Graph
    from .lab.profile.times import Profile
    from .lab.simulate.simulate import simulate_model

_HOMES = {
    "Difference": "compare",
    "Finding": "check.finding",
    "Graph": "graph.api",
    "Install": "model.install",
    "Library": "model.library",
    "Mixlist": "model.mixlist",
    "Operators": "model.library",
    "OpsinfoError": "errors",
    "Outcome": "check.finding",
    "Policy": "model.policy",
    "Profile": "profile.times",
    "Store": "model.library",
    "Target": "model.target",
    "bisect_mixlist": "bisect.run",
    "diff": "compare",
    "move": "change.moving",
    "restore": "change.restore",
    "simulate_model": "simulate.run",
    "validate": "check.run",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that a command imports only what it needs."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
