"""What a judging leaves without effect: op types of a mixlist, a mode on a chip, lines of option files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.cann.option_files import OpPrecision
from ...core.cann.precision_mode import mode_doubt
from ...core.check.mode import keep_dtype_without_effect
from .fusions.fuse import fused_into

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...core.cann.marks import Mark
    from .graph import ModelGraph
    from .prepare import Preparation
    from .result import Answer

_MOST_LINES = 5
"""The faults of one file that are listed."""


def doubts_of(answer: Answer, marks: Mapping[str, frozenset[Mark]], given: Preparation) -> Iterator[str]:
    """Yield a sentence for each doubt, as the commands print it.

    :param given: what the graph was prepared with
    """
    mode, graph, kernels = answer.mode, answer.graph, answer.graph_judge.kernels
    operators, soc = kernels.operators, kernels.soc
    if operators is not None:
        yield from operators.lacking(marks).values()
        for name in sorted({node.type for node in graph if node.type in operators}):
            if why := operators[name].entry.unread:
                yield f"the dtypes of `{name}` are assumed, since they could not be read: {why}"
    if marks and not mode.is_mixed:
        yield f"the engine refuses a mixlist with {mode.name} (E10001); it is ignored here"
    if doubt := mode_doubt(mode.name, soc):
        yield doubt
    if given.keep_dtype and mode.engine == "KEEP_ORIGIN":
        yield keep_dtype_without_effect(mode.name)[0]
    for name in sorted(marks):
        if types := fused_into(graph, name):
            named = ", ".join(f"`{op_type}`" for op_type in types)
            yield f"the mixlist names `{name}`: fusion makes {named} of its nodes before the lists are applied"
    yield from _ignored_lines(graph, given)
    if given.customize_dtypes and (refused := [node for node in answer if node.code == "refused-customized"]):
        more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        what = "refuses" if refused[0].confidence == "library" else "refuses, by assumed columns,"
        node = f"node `{refused[0].name}`{more}"
        yield f"{given.customize_dtypes.path}: AI Core {what} {node}: no column has the dtypes of its line"


def _ignored_lines(graph: ModelGraph, given: Preparation) -> Iterator[str]:
    """Yield lines that the compiler ignores, and those that name nothing in the graph."""
    found = [(given.keep_dtype.path, given.keep_dtype.faults(graph))] if given.keep_dtype else []
    if asked := given.customize_dtypes:
        found.append((asked.path, [*asked.faults, *asked.unmatched(graph)]))
    if given.atc.op_precision_mode:
        modes = OpPrecision.read(given.atc.op_precision_mode)
        found.append((modes.path, [*modes.faults, *modes.unmatched(graph)]))
    for path, faults in found:
        for fault in faults[:_MOST_LINES]:
            yield f"{path}:{fault.line}:{fault.column}: {fault.message}"
        if len(faults) > _MOST_LINES:
            yield f"{path}: {len(faults) - _MOST_LINES} more lines are ignored or name nothing"
