"""What the lists say of the op types that ran, and whose time a mixlist moves.

What kernels were fused of is in the table ``fusion_op_*.csv`` that msprof exports beside ``op_summary_*.csv``. Source:
Ascend/msprof analysis/csrc/application/summary/fusion_op_assembler.cpp; documentation of CANN 8.5,
atlasprofiling_16_0074. The export has none in eager mode.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from ...core.cann.entry import BF16, FP16, FP32, Columns, Possible
from ...core.cann.library import Operators
from ...core.cann.mixlist import Mixlist
from ...core.cann.op_names import FUSED_KERNELS
from ...core.cann.policy import Policy
from ...errors import Damaged, Refused
from ..csv_rows import csv_rows
from .table import TaskTable
from .times import REPLACED, Confidence, Profile, State, Time, TypeRow, TypeTime, total

_HIGH: tuple[State, ...] = ("high", "hf32")


def policy_of_type(
    time: TypeTime,
    operators: Operators | None,
    mixlist: Mixlist | None,
    recorded: Callable[[str], Iterable[str]] = lambda _: (),
    parts: Sequence[str] | None = None,
) -> TypeRow:
    """:param operators: of the target; None without one
    :param recorded: returns the input dtypes that the kernel of an op type is known to have; nothing if unknown
    :param parts: the op types that kernels of a type that is fused after the choice were fused of; None if unknown
    """
    if operators is None:
        policy = mixlist.alone(time.type) if mixlist else None
        moved = _time_moved(time, policy, Possible.KERNEL, Possible.KERNEL)
        return replace(time.row, policy=policy, confidence="library" if policy else None, moved=moved)
    judged = REPLACED.get(time.type) if time.nodes else None
    if judged not in operators:
        judged = None
    name = judged or time.type
    if time.type in FUSED_KERNELS and time.nodes:
        return replace(time.row, movable=None if parts is None else _are_movable(parts, operators))
    if name not in operators:
        return replace(time.row, movable=False)
    entry = operators[name].entry
    columns, dtypes = Columns(entry), frozenset(recorded(name))
    black, white = columns.can_be_black(), columns.can_be_white()
    confidence: Confidence = "library"
    if dtypes and not columns.is_listed:
        black, white = (Possible.YES if dtypes & wanted else Possible.NO for wanted in (FP32, FP16 | BF16))
        confidence = "kernel"
    answers = [black] * ("low" in time.nodes) + [white] * any(state in time.nodes for state in _HIGH)
    is_unknown = Possible.KERNEL in answers or "unknown" in time.nodes
    before = policy = entry.policy
    if mixlist:
        policy = mixlist.effective(name, before)
    to = policy if policy is not before else None
    return replace(
        time.row,
        policy=policy,
        before=before,
        movable=True if Possible.YES in answers else None if is_unknown else False,
        moved=_time_moved(time, to, black, white),
        open=total(time.nodes.values() if to is Policy.GRAY else ()),
        confidence=confidence,
        judged=judged,
    )


def _are_movable(parts: Sequence[str], operators: Operators) -> bool | None:
    """Whether a list moves one of the parts of a fused kernel; None if that depends on their kernels."""
    columns = [Columns(operators[name].entry) for name in parts if name in operators]
    answers = {possible for each in columns for possible in (each.can_be_black(), each.can_be_white())}
    return True if Possible.YES in answers else None if Possible.KERNEL in answers else False


def _time_moved(time: TypeTime, to: Policy | None, black: Possible, white: Possible) -> Time:
    """:param to: the list that the mixlist puts it on; None if it does not change it
    :param black: whether it can be on the black list, and ``white`` on the white one
    """
    if to is Policy.BLACK and black is not Possible.NO:
        return time.nodes.get("low", Time())
    if to is Policy.WHITE and white is not Possible.NO:
        return total(time.nodes[state] for state in _HIGH if state in time.nodes)
    return Time()


def fused_parts(profile: Profile) -> dict[str, list[str]]:
    """Return, by op type of a fused kernel that ran, the names of the operators that its kernels were fused of.

    An op type whose kernels are in no table of fusions has no names.

    :raises Refused: if a table of fusions cannot be read
    """
    ran = [row.type for row in profile.types if row.type in FUSED_KERNELS]
    parts: dict[str, dict[str, None]] = {name: {} for name in ran}
    for table in profile.tables if ran else ():
        fusions = _fusions_beside(table.path)
        for kernel in TaskTable(table.path) if fusions else ():
            if kernel.type in parts:
                parts[kernel.type].update(dict.fromkeys(fusions.get(kernel.name, ())))
    return {name: list(names) for name, names in parts.items()}


def _fusions_beside(path: str) -> dict[str, list[str]]:
    folder = os.path.dirname(path) or "."
    found: dict[str, list[str]] = {}
    for name in sorted(os.listdir(folder)):
        if fnmatchcase(name, "fusion_op_*.csv"):
            found.update(_read(os.path.join(folder, name)))
    return found


def _read(path: str) -> dict[str, list[str]]:
    """:raises Refused: if it is no such table, or cannot be read"""

    def refuse(message: str, line: int | None) -> Refused:
        hint = "export the profile again, or remove this table of fusions"
        return Refused(message, name="not-a-profile", path=path, line=line, hint=hint)

    rows = csv_rows(path, refuse)
    line, header = next(rows, (None, []))
    names = [name.strip().lower() for name in header]
    if "fusion op" not in names or "original ops" not in names:
        raise refuse("not a table of fusions: it does not have the columns `Fusion Op`, `Original Ops`", line)
    kernel, parts = names.index("fusion op"), names.index("original ops")
    found: dict[str, list[str]] = {}
    for line, cells in rows:
        if len(cells) <= max(kernel, parts):
            message = f"{len(cells)} cells in a table of {len(header)} columns"
            raise Damaged(message, path=path, line=line, hint="export the profile again, or remove the line")
        words = cells[parts].replace(";", ",").split(",")
        found.setdefault(cells[kernel].strip(), []).extend(filter(None, map(str.strip, words)))
    return found
