"""The kernels of a target: columns of every op type, with their confidence.

They are those of the library; else, where it leaves them to the kernel, those recorded from the kernels of this SoC;
else assumed ones.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from ....core.cann.policy import Policy
from ..graph import NEVER_JUDGED
from .kernel import Kernel, assumed_kernel, kernel_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ....core.cann.library import Operators


_STRUCTURE = frozenset(
    (
        *NEVER_JUDGED,
        *("If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile", "For"),
        *("PartitionedCall", "StatefulPartitionedCall", "NoOp", "PlaceHolder", "End", "Send", "Recv"),
        *("Switch", "RefSwitch", "SwitchN", "StreamSwitch", "Merge", "RefMerge", "StreamMerge", "Enter", "RefEnter"),
        *("Exit", "RefExit", "NextIteration", "RefNextIteration", "LoopCond"),
    )
)
"""Op types that no kernel computes: without a library nothing is assumed for them."""


class Kernels:
    """The kernels that the judge uses.

    :param operators: the target's op types; None without a target: every operator is assumed gray
    """

    def __init__(self, operators: Operators | None, soc: str | None = None) -> None:
        self.operators = operators
        self.soc = soc
        self._recorded = _recorded_columns(soc)
        self._kernels: dict[str, tuple[Kernel, ...]] = {}

    def of(self, op_type: str) -> tuple[Kernel, ...]:
        """Return the kernels of an op type, one from each store that has it, in the engine's order."""
        found = self._kernels.get(op_type)
        if found is None:
            found = self._kernels[op_type] = tuple(self._kernels_of(op_type))
        return found

    def _kernels_of(self, op_type: str) -> Iterator[Kernel]:
        if self.operators is None:
            if op_type not in _STRUCTURE:
                yield assumed_kernel(op_type, Policy.GRAY)
            return
        for _, entry in self.operators[op_type].winners if op_type in self.operators else ():
            kernel = kernel_of(op_type, entry.policy, entry.sections)
            if kernel.confidence == "library":
                yield kernel
            elif op_type in self._recorded:
                yield kernel.with_columns(self._recorded[op_type], "kernel")
            elif not kernel.inputs and not kernel.outputs:
                yield assumed_kernel(op_type, kernel.policy)
            else:
                yield kernel.with_columns(None, "assumed")

    def cast_policy(self) -> Policy | None:
        """The list of Cast in the built-in store, the only one the engine asks; None: it has no Cast there
        (op_dtype_selection_strategy_allow_mix_precision_base.cc:66-80).
        """
        if self.operators is None:
            return Policy.GRAY
        stores = self.operators.stores
        built_in = [store for store in stores if store.label == "built-in"] or stores[-1:]
        return next((store.definitions["Cast"][-1].policy for store in built_in if "Cast" in store.definitions), None)


def _recorded_columns(soc: str | None) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the recorded columns of this SoC's kernels: op type -> section -> dtypes."""
    recorded = files("opsinfo_cli.lab.graph").joinpath(f"data/kernel-columns-{soc}.json")
    if not soc or not soc.isidentifier() or not recorded.is_file():
        return {}
    import json

    columns = json.loads(recorded.read_text(encoding="utf-8"))["columns"]
    return {
        op_type: {section: tuple(row.split(",")) for section, row in rows.items()} for op_type, rows in columns.items()
    }
