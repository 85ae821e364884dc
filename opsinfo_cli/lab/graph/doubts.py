"""What a judging leaves without effect: op types of a mixlist, a mode on a chip, lines of option files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.option_files import OpPrecision
from ...core.cann.precision_mode import mode_doubt
from ...core.check.mode import keep_dtype_without_effect
from .fusions.fuse import fused_into

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...core.cann.marks import Mark
    from ...core.cann.option_files import CustomizeDtypes, KeepDtype
    from .graph import ModelGraph
    from .result import Answer

_MOST_LINES = 5
"""The faults of one file that are listed."""


class OptionFiles(NamedTuple):
    """The files of compiler options that a graph was prepared with."""

    keep_dtype: KeepDtype | None = None
    customize_dtypes: CustomizeDtypes | None = None
    op_precision_mode: str | None = None


def doubts_of(answer: Answer, marks: Mapping[str, frozenset[Mark]], files: OptionFiles) -> Iterator[str]:
    """Yield a sentence for each doubt, as the commands print it."""
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
    if files.keep_dtype and mode.engine == "KEEP_ORIGIN":
        yield keep_dtype_without_effect(mode.name)[0]
    for name in sorted(marks):
        if types := fused_into(graph, name):
            named = ", ".join(f"`{op_type}`" for op_type in types)
            yield f"the mixlist names `{name}`: fusion makes {named} of its nodes before the lists are applied"
    yield from _ignored_lines(graph, files)
    if files.customize_dtypes and (refused := [node for node in answer if node.code == "refused-customized"]):
        more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        what = "refuses" if refused[0].confidence == "library" else "refuses, by assumed columns,"
        node = f"node `{refused[0].name}`{more}"
        yield f"{files.customize_dtypes.path}: AI Core {what} {node}: no column has the dtypes of its line"


def _ignored_lines(graph: ModelGraph, files: OptionFiles) -> Iterator[str]:
    """Yield lines that the compiler ignores, and those that name nothing in the graph."""
    keep_dtype, customize_dtypes, op_precision_mode = files
    found = [(keep_dtype.path, keep_dtype.faults(graph))] if keep_dtype else []
    if customize_dtypes:
        found.append((customize_dtypes.path, [*customize_dtypes.faults, *customize_dtypes.unmatched(graph)]))
    if op_precision_mode:
        modes = OpPrecision.read(op_precision_mode)
        found.append((modes.path, [*modes.faults, *modes.unmatched(graph)]))
    for path, faults in found:
        for fault in faults[:_MOST_LINES]:
            yield f"{path}:{fault.line}:{fault.column}: {fault.message}"
        if len(faults) > _MOST_LINES:
            yield f"{path}: {len(faults) - _MOST_LINES} more lines are ignored or name nothing"
