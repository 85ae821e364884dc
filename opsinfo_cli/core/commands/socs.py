"""`opsinfo socs`: list installs, versions and chips, and the one that the environment selects."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from ...errors import OpsinfoError, UsageFault, join_some
from ..cann.chips import names_of
from ..cann.install import Install, Root, chips_at, environment_root, opp_root, socs_of, usual_roots, version_of
from ..terminal import completion
from ..terminal.answer import Column, CommandAnswer, Table
from ..terminal.console import Console
from ..terminal.params import Command, Word, prints

if TYPE_CHECKING:
    from ..documents.socs import SocsDocument


@click.command("socs", cls=Command)
@click.argument("roots", nargs=-1, type=Word("ROOT", completion.targets, reads=True), metavar="[ROOT]...")
@prints()
def command(roots: tuple[str, ...], console: Console) -> CommandAnswer:
    """List installs with version and chips: those of the environment and the usual directories, or ROOT.

    \b
    Examples:
      opsinfo socs
      opsinfo socs $ASCEND_OPP_PATH
    """
    return socs_answer([_given(root) for root in roots] if roots else _looked_for())


def _given(path: str) -> InstallFound:
    root = opp_root(path)
    if root is None:
        raise UsageFault(
            "not an operator package", name="wrong-kind", path=path, hint="its root has `built-in/op_impl`"
        )
    selected = environment_root(os.environ)
    same = selected is not None and os.path.realpath(selected.path) == os.path.realpath(root)
    return InstallFound.of(Root(root, "given"), same)


def _looked_for() -> list[InstallFound]:
    selected = environment_root(os.environ)
    known = os.path.realpath(selected.path) if selected else None
    others = [root for root in usual_roots(os.environ) if os.path.realpath(root.path) != known]
    return [InstallFound.of(root, root is selected) for root in [*[selected] * bool(selected), *others] if root]


class Chip(NamedTuple):
    """``operators`` is the number of op types; None if a store does not load."""

    name: str
    products: list[str]
    operators: int | None


class InstallFound(NamedTuple):
    """An install, and whether the environment selects it."""

    path: str
    real_path: str
    version: str | None
    selected: bool
    found_by: str
    socs: list[Chip]

    @classmethod
    def of(cls, root: Root, selected: bool) -> InstallFound:
        path = root.path
        own = chips_at(path)
        chips = [Chip(soc, list(map(str.lower, names_of(soc, own))), _count(path, soc)) for soc in socs_of(path)]
        return cls(path, os.path.realpath(path), version_of(path), selected, root.by, chips)


def _count(path: str, soc: str) -> int | None:
    try:
        return len(Install(path, soc).operators.names)
    except OpsinfoError:
        return None


def socs_answer(installs: Sequence[InstallFound]) -> CommandAnswer:
    nothing = "no CANN found; set ASCEND_OPP_PATH, or give the root of an install"
    return CommandAnswer(
        lambda: _document(installs), lambda: map(_table, installs), notes=[] if installs else [nothing]
    )


def _document(installs: Sequence[InstallFound]) -> SocsDocument:
    return {
        "installs": [
            {
                "path": install.path,
                "real_path": install.real_path,
                "version": install.version,
                "selected": install.selected,
                "found_by": install.found_by,
                "socs": [
                    {"name": chip.name, "products": chip.products, "operators": chip.operators} for chip in install.socs
                ],
            }
            for install in installs
        ]
    }


def _table(install: InstallFound) -> Table:
    rows = (
        [soc, "does not load" if count is None else str(count), join_some(products)]
        for soc, products, count in install.socs
    )
    columns = [Column("chip"), Column("operators", number=True), Column("products", dim=True, spare=True)]
    return Table(columns, rows, lambda: _fields(install), title=_title(install))


def _title(install: InstallFound) -> str:
    path, real = install.path, install.real_path
    link = f" -> {real}" if real != os.path.abspath(path) else ""
    by = {"given": "", "usual folder": ", found in a usual folder"}
    selected = ", selected by the environment" if install.selected else ""
    source = by.get(install.found_by, f", found by {install.found_by}")
    return f"{path}{link}: CANN {install.version or 'of unknown version'}{source}{selected}"


def _fields(install: InstallFound) -> Iterator[tuple[str, ...]]:
    """Yield `soc, op types, version, root, real path, *, found by, products`; `*` marks the selected install."""
    path, real, version, selected, found_by, chips = install
    mark = "*" if selected else "-"
    for soc, products, count in chips:
        number = "fails" if count is None else str(count)
        yield soc, number, version or "-", path, real, mark, found_by, ",".join(products) or "-"
