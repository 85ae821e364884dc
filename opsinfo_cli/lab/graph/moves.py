"""What moves low nodes to high precision, as the judge says: op types of a mixlist, or names in a keep_dtype file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ...core.cann.marks import ADD_BLACK
from ...core.cann.option_files import OP_TYPE, KeepDtype
from .prepare import marks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...core.cann.marks import Mark
    from ...core.cann.mixlist import AnyMixlist
    from .prepare import PreparedModel
    from .result import Answer

Mover: TypeAlias = Literal["mixlist", "keep_dtype"]
Marks: TypeAlias = "Mapping[str, frozenset[Mark]]"


class Moves(NamedTuple):
    """How groups of nodes can be moved.

    :param by: for each group what moves all low nodes of it; None if nothing does, or none is low
    :param marks: the smallest mixlist that moves the groups which a mixlist can move, with the marks that were there
    :param added: the op types that it adds to the black list
    """

    by: list[Mover | None]
    marks: Marks
    added: list[str]


def moves_of(
    prepared: PreparedModel,
    answer: Answer,
    mixlist: AnyMixlist | None,
    groups: Sequence[Sequence[int]],
    listed: int | None = None,
) -> Moves:
    """Return what moves groups of nodes.

    :param groups: indexes of nodes
    :param listed: how many of the first groups the mixlist is for; None for all
    """
    marks, mode = marks_of(mixlist), answer.mode.name
    low = [[index for index in group if answer.is_low(index)] for group in groups]

    def blackened(types: Iterable[str]) -> dict[str, frozenset[Mark]]:
        return {**marks, **{op_type: frozenset({ADD_BLACK}) for op_type in types}}

    def are_moved(nodes: Iterable[int], types: Iterable[str]) -> bool:
        changed = prepared.judge(mode, blackened(types))
        return all(changed.runs_of(index) == "high" for index in nodes)

    by: list[Mover | None] = []
    needed: dict[str, None] = {}
    wanted: list[int] = []
    for number, nodes in enumerate(low):
        types = list(dict.fromkeys(answer.graph[index].type for index in nodes))
        if nodes and answer.mode.is_mixed and are_moved(nodes, types):
            by.append("mixlist")
            if listed is None or number < listed:
                needed.update(dict.fromkeys(types))
                wanted += nodes
        else:
            by.append("keep_dtype" if nodes and _are_kept(prepared, answer, mixlist, nodes) else None)
    added = list(needed)
    for op_type in reversed(list(needed)):  # what follows another one need not be named
        fewer = [each for each in added if each != op_type]
        if len(added) > 1 and are_moved(wanted, fewer):
            added = fewer
    return Moves(by, blackened(added), added)


def _are_kept(prepared: PreparedModel, answer: Answer, mixlist: AnyMixlist | None, nodes: Sequence[int]) -> bool:
    names = [name for index in nodes for name in answer.graph[index].part_names]
    before = prepared.preparation.keep_dtype.names if prepared.preparation.keep_dtype else []
    lines = [*(f"{OP_TYPE if each.is_type else ''}{each.name}" for each in before), *dict.fromkeys(names)]
    changed = prepared.with_files(KeepDtype(lines), prepared.preparation.customize_dtypes).judge(
        answer.mode.name, marks_of(mixlist)
    )
    return all(changed.runs_of(index) == "high" for index in nodes)
