"""What kernels were fused of, by the table ``fusion_op_*.csv`` that msprof exports beside ``op_summary_*.csv``.

Source: Ascend/msprof analysis/csrc/application/summary/fusion_op_assembler.cpp; documentation of CANN 8.5,
atlasprofiling_16_0074. The export has none in eager mode.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from ...core.cann.op_names import FUSED_KERNELS
from ...errors import Damaged, Refused
from ..csv_rows import csv_rows
from .table import TaskTable
from .times import Profile


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
