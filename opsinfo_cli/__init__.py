"""opsinfo: the mixed-precision policy of operators on Ascend NPUs.

The library that the command line uses; see docs/api.md::

    from opsinfo_cli import Library, Mixlist, Policy

    Library.read("aic-ascend910b-ops-info.json").operators["Add"].policy      # <Policy.GRAY: 'gray'>
    Mixlist.read("ops_info.json").effective("Add", Policy.GRAY)
"""

from __future__ import annotations

from .version import __version__

TYPE_CHECKING = False  # for typing takes 10 ms, in which `__main__` does not handle an interrupt yet

__all__ = [
    "Answer",
    "Backups",
    "BisectAnswer",
    "Checked",
    "Conversion",
    "Decisions",
    "Difference",
    "Finding",
    "Graph",
    "Install",
    "Library",
    "Mark",
    "Merge",
    "Mixlist",
    "Operator",
    "Operators",
    "OpsinfoError",
    "Policy",
    "Profile",
    "Restored",
    "Result",
    "SimulationReport",
    "Soundness",
    "Store",
    "System",
    "SystemLists",
    "Target",
    "__version__",
    "apply",
    "backups",
    "bisect_mixlist",
    "convert",
    "decide",
    "diff",
    "fmt",
    "list_systems",
    "merge",
    "move",
    "qualify",
    "read_system",
    "reapply",
    "restore",
    "simulate_model",
    "snapshot",
    "validate",
]

if TYPE_CHECKING:
    from typing import Any

    from .core.cann.install import Install
    from .core.cann.library import Library, Operator, Operators, Store
    from .core.cann.marks import Mark
    from .core.cann.mixlist import Mixlist
    from .core.cann.policy import Policy
    from .core.cann.target import Target, snapshot
    from .core.change.apply import apply
    from .core.change.backups import Backups, backups
    from .core.change.fmt import fmt
    from .core.change.move import move
    from .core.change.plan import Result
    from .core.change.reapply import reapply
    from .core.change.restore import Restored, restore
    from .core.check.finding import Finding
    from .core.check.run import validate
    from .core.compare import Difference, diff
    from .core.merge import Merge, merge
    from .errors import OpsinfoError
    from .lab.bisect.bisect_mixlist import bisect_mixlist
    from .lab.bisect.culprits import BisectAnswer
    from .lab.graph.api import Graph
    from .lab.graph.result import Answer
    from .lab.profile.times import Profile
    from .lab.simulate.report import SimulationReport
    from .lab.simulate.simulate_model import simulate_model
    from .logs.soundness import Soundness, qualify
    from .systems.conversion import Conversion, convert
    from .systems.decide import Decisions, decide
    from .systems.system import System
    from .systems.system_lists import SystemLists, list_systems, read_system

_HOMES = {
    "Answer": "lab.graph.result",
    "Backups": "core.change.backups",
    "BisectAnswer": "lab.bisect.culprits",
    "Conversion": "systems.conversion",
    "Decisions": "systems.decide",
    "Difference": "core.compare",
    "Finding": "core.check.finding",
    "Graph": "lab.graph.api",
    "Install": "core.cann.install",
    "Library": "core.cann.library",
    "Mark": "core.cann.marks",
    "Merge": "core.merge",
    "Mixlist": "core.cann.mixlist",
    "Operator": "core.cann.library",
    "Operators": "core.cann.library",
    "OpsinfoError": "errors",
    "Checked": "core.check.checked",
    "Policy": "core.cann.policy",
    "Profile": "lab.profile.times",
    "Restored": "core.change.restore",
    "Result": "core.change.plan",
    "SimulationReport": "lab.simulate.report",
    "Soundness": "logs.soundness",
    "Store": "core.cann.library",
    "System": "systems.system",
    "SystemLists": "systems.system_lists",
    "Target": "core.cann.target",
    "apply": "core.change.apply",
    "backups": "core.change.backups",
    "bisect_mixlist": "lab.bisect.bisect_mixlist",
    "convert": "systems.conversion",
    "decide": "systems.decide",
    "diff": "core.compare",
    "fmt": "core.change.fmt",
    "list_systems": "systems.system_lists",
    "merge": "core.merge",
    "move": "core.change.move",
    "qualify": "logs.soundness",
    "read_system": "systems.system_lists",
    "reapply": "core.change.reapply",
    "restore": "core.change.restore",
    "simulate_model": "lab.simulate.simulate_model",
    "snapshot": "core.cann.target",
    "validate": "core.check.run",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that a command imports only what it needs."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    if isinstance(found, type):
        return found
    from functools import partial, update_wrapper

    from .arguments import checked
    from .handed_in import OF_FUNCTIONS

    return checked(update_wrapper(partial(found, **OF_FUNCTIONS.get(name, {})), found))


def __dir__() -> list[str]:
    return __all__
