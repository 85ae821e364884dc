"""`opsinfo systems list`: list other systems."""

from __future__ import annotations

import click

from ...core.terminal.answer import Answer
from ...core.terminal.console import Console
from ...core.terminal.params import Command, prints
from ..registry import SYSTEMS
from .answers import systems_answer


@click.command("list", cls=Command)
@prints()
def command(console: Console) -> Answer:
    """List the systems whose lists can be read, written or shown.

    In a pipe, tab-separated: name, levels, input, output, naming scheme, title.

    \b
    Examples:
      opsinfo systems list
      opsinfo systems list --format json
    """
    return systems_answer(list(SYSTEMS.values()))
