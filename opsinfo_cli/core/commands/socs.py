"""`opsinfo socs`: list installs, versions and chips, and the one that the environment selects."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import click

from ...errors import OpsinfoError, UsageFault, join_some
from ..cann.chips import called, chips_in
from ..cann.install import Install, Root, chips_at, environment_root, opp_root, socs_of, usual_roots, version_of
from ..document import Count, Schema, as_json
from ..terminal import completion
from ..terminal.answer import Column, CommandAnswer, Table
from ..terminal.console import Console
from ..terminal.params import Command, Word, prints


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


@dataclass(frozen=True)
class Chip:
    """One chip folder."""

    name: Annotated[str, Schema(examples=["ascend910b"])]
    """The name of the folder."""
    products: list[str]
    """Product names that the engine maps to this folder."""
    operators: Count | None
    """Number of op types in its AI Core stores; null if the engine would refuse one of the stores."""
    known_as: list[str]
    """What people call these chips and the products that have them, as `Atlas A2`; no command takes these names."""


@dataclass(frozen=True)
class InstallFound:
    """One operator package root (OPP)."""

    path: Annotated[str, Schema(examples=["/usr/local/Ascend/ascend-toolkit/latest/opp"])]
    """The path where the install was found."""
    real_path: str
    """The path with symbolic links resolved."""
    version: str | None
    """The CANN version; null if unknown."""
    selected: bool
    """Whether chip names are looked up in this install."""
    found_by: Annotated[str, Schema(examples=["ASCEND_OPP_PATH", "ASCEND_HOME_PATH", "usual folder", "given"])]
    """How the install was found: the name of an environment variable, `usual folder`, or `given` as ROOT."""
    socs: list[Chip]
    """The chips of the install, sorted by name."""

    @classmethod
    def of(cls, root: Root, selected: bool) -> InstallFound:
        path = root.path
        own = chips_at(path)
        chips = [
            Chip(soc, list(map(str.lower, chips_in(soc, own))), _count(path, soc), called(soc)) for soc in socs_of(path)
        ]
        return cls(path, os.path.realpath(path), version_of(path), selected, root.by, chips)


def _count(path: str, soc: str) -> int | None:
    try:
        return len(Install(path, soc).operators.names)
    except OpsinfoError:
        return None


@dataclass(frozen=True)
class SocsDocument:
    """The installs on this machine and their chips. Later versions may add keys."""

    installs: Sequence[InstallFound]
    """The installs found, one for each real path."""


def socs_answer(installs: Sequence[InstallFound]) -> CommandAnswer:
    nothing = "no CANN found; set ASCEND_OPP_PATH, or give the root of an install"
    return CommandAnswer(
        lambda: as_json(SocsDocument(installs)),
        lambda: map(_table, installs),
        notes=[] if installs else [nothing],
    )


def _table(install: InstallFound) -> Table:
    rows = (
        [
            chip.name,
            "does not load" if chip.operators is None else str(chip.operators),
            join_some(chip.known_as, 2),
            join_some(chip.products),
        ]
        for chip in install.socs
    )
    columns = [
        Column("chip"),
        Column("operators", number=True),
        Column("known as", spare=True),
        Column("products", dim=True, spare=True),
    ]
    return Table(columns, rows, lambda: _fields(install), title=_title(install))


def _title(install: InstallFound) -> str:
    path, real = install.path, install.real_path
    link = f" -> {real}" if real != os.path.abspath(path) else ""
    by = {"given": "", "usual folder": ", found in a usual folder"}
    selected = ", selected by the environment" if install.selected else ""
    source = by.get(install.found_by, f", found by {install.found_by}")
    return f"{path}{link}: CANN {install.version or 'of unknown version'}{source}{selected}"


def _fields(install: InstallFound) -> Iterator[tuple[str, ...]]:
    """Yield `soc, op types, version, root, real path, *, found by, products, known as`; `*` is the selected install."""
    mark = "*" if install.selected else "-"
    for chip in install.socs:
        number = "fails" if chip.operators is None else str(chip.operators)
        place = (install.version or "-", install.path, install.real_path, mark, install.found_by)
        yield chip.name, number, *place, ",".join(chip.products) or "-", ", ".join(chip.known_as) or "-"
