"""`opsinfo systems list`: list other systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

from ...core.document import as_json
from ...core.terminal.answer import Column, CommandAnswer, Table
from ...core.terminal.console import Console
from ...core.terminal.params import Command, prints
from ..system import System, SystemFacts
from ..system_lists import list_systems
from .show import remark


@click.command("list", cls=Command)
@prints()
def command(console: Console) -> CommandAnswer:
    """List the systems whose lists can be read, written or shown.

    In a pipe, tab-separated: name, levels, input, output, naming scheme, title.

    \b
    Examples:
      opsinfo systems list
      opsinfo systems list --format json
    """
    return systems_answer(list_systems())


@dataclass(frozen=True)
class SystemsList:
    """The systems whose lists can be read, written or queried. Later versions may add keys."""

    systems: Sequence[SystemFacts]
    """The requested systems."""


def systems_answer(systems: Sequence[System]) -> CommandAnswer:
    columns = [Column("system"), Column("levels"), Column("reads"), Column("writes")]
    cells = [[s.name, " ".join(s.levels) or "-", s.reads or "-", "yes" if s.writes else "-"] for s in systems]
    fields = [[*row[:3], s.writes or "-", s.names, s.title] for row, s in zip(cells, systems, strict=True)]
    return CommandAnswer(
        lambda: as_json(SystemsList([system.description for system in systems])),
        lambda: [
            Table(columns, cells, lambda: fields),
            remark("`opsinfo systems show SYSTEM` shows the levels of one, and NAME:LEVEL its lists"),
        ],
    )
