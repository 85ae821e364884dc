"""The answer of `socs`: installs with their chips."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...errors import OpsinfoError, join_some
from ...model.install import Install, Root, products_of, socs_of, version_of
from ..answer import Answer, Column, Table


@dataclass(frozen=True)
class InstallFound:
    """An install, and whether the environment selects it."""

    root: Root
    selected: bool

    @cached_property
    def version(self) -> str | None:
        return version_of(self.root.path)

    @property
    def real_path(self) -> str:
        return os.path.realpath(self.root.path)

    @cached_property
    def socs(self) -> list[tuple[str, int | None]]:
        """Chips with their number of op types; None if a store does not load."""
        return [(soc, self._count(soc)) for soc in socs_of(self.root.path)]

    def _count(self, soc: str) -> int | None:
        try:
            return len(Install(self.root.path, soc).operators.names)
        except OpsinfoError:
            return None


def socs_answer(installs: Sequence[InstallFound]) -> Answer:
    nothing = "no CANN found; set ASCEND_OPP_PATH, or give the root of an install"
    return Answer(
        lambda: {"installs": [_document(install) for install in installs]},
        lambda: map(_table, installs),
        notes=[] if installs else [nothing],
    )


def _table(install: InstallFound) -> Table:
    rows = (
        [soc, "does not load" if count is None else str(count), join_some(products_of(soc))]
        for soc, count in install.socs
    )
    columns = [Column("chip"), Column("operators", number=True), Column("products", dim=True, spare=True)]
    return Table(columns, rows, lambda: _fields(install), title=_title(install))


def _title(install: InstallFound) -> str:
    path, real = install.root.path, install.real_path
    link = f" -> {real}" if real != os.path.abspath(path) else ""
    by = {"given": "", "usual folder": ", found in a usual folder"}
    selected = ", selected by the environment" if install.selected else ""
    source = by.get(install.root.by, f", found by {install.root.by}")
    return f"{path}{link}: CANN {install.version or 'of unknown version'}{source}{selected}"


def _fields(install: InstallFound) -> Iterator[tuple[str, ...]]:
    """Yield `soc, op types, version, root, real path, *, found by, products`; `*` marks the selected install."""
    mark = "*" if install.selected else "-"
    for soc, count in install.socs:
        number = "fails" if count is None else str(count)
        products = ",".join(products_of(soc)) or "-"
        yield (
            soc,
            number,
            install.version or "-",
            install.root.path,
            install.real_path,
            mark,
            install.root.by,
            products,
        )


def _document(install: InstallFound) -> dict[str, Any]:
    return {
        "path": install.root.path,
        "real_path": install.real_path,
        "version": install.version,
        "selected": install.selected,
        "found_by": install.root.by,
        "socs": [{"name": soc, "products": products_of(soc), "operators": count} for soc, count in install.socs],
    }
