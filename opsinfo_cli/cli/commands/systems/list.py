"""`opsinfo systems list`: list other systems."""

from __future__ import annotations

import click

from ....neighbours.registry import SYSTEMS
from ....report.answer import Answer
from ....report.console import Console
from ....report.views.systems import systems_answer
from ...params import Command, prints


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
