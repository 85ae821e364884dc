"""A prediction, or a compiled model, checked against what ran."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ...core.cann.dtype_names import FLOATING, LOW
from .read_back import NodeDifference, ReadBack, UnmatchedNode
from .result import NOT_COMPUTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..profile.times import Profile
    from .result import GraphAnswer, NodeAnswer

    Dtypes = Sequence[str | None]

_COMPARED = FLOATING | LOW


def ran(predicted: GraphAnswer, profile: Profile) -> ReadBack:
    """Match the nodes of a model with what ran, by name.

    Floating-point dtypes are compared, of outputs and, if there are as many of them in the table, of inputs. All calls
    of a node must agree.

    :param profile: with the calls of the model's nodes
    """
    matched: Counter[str] = Counter()
    differs: list[NodeDifference] = []
    unmatched: list[UnmatchedNode] = []
    for row in predicted:
        if row.type in NOT_COMPUTED:
            continue
        kernel = profile.nodes.get(row.name)
        why = "no row has its name: fused, folded or renamed" if kernel is None else None
        if kernel is not None and (None, None) in kernel.dtypes:
            why = "the table does not have its dtypes"
        if kernel is None or why:
            if row.runs is not None:
                unmatched.append(UnmatchedNode(row.name, row.type, "predicted", why or ""))
            continue
        calls = [
            replace(row, type=kernel.type, inputs=inputs or (), outputs=outputs or ())
            for inputs, outputs in sorted(kernel.dtypes, key=str)
        ]
        matched[kernel.type] += 1
        other = next((call for call in calls if not _agree(row, call)), None)
        if other is not None:
            differs.append(NodeDifference(row.name, kernel.type, row, other))
    unmatched += _others(profile)
    return ReadBack.of(matched, differs, unmatched)


def _agree(row: NodeAnswer, call: NodeAnswer) -> bool:
    mine, its = _present(row.inputs), _present(call.inputs)
    pairs = [
        *zip(row.outputs, call.outputs, strict=False),
        *(zip(mine, its, strict=True) if len(mine) == len(its) else ()),
    ]
    return all(one == other for one, other in pairs if one in _COMPARED and other in _COMPARED)


def _present(dtypes: Dtypes) -> list[str | None]:
    return [dtype for dtype in dtypes if dtype is not None]


def _others(profile: Profile) -> Iterator[UnmatchedNode]:
    for op_type, (first, time) in profile.others.items():
        more = f", and {time.calls - 1} more calls" if time.calls > 1 else ""
        yield UnmatchedNode(first, op_type, "ran", f"the model has no node of this name{more}")
