"""`--version`, of the program and of every command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import declare

if TYPE_CHECKING:
    from typing import Any

    import click


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from ... import __version__
        from ...report.terminal.output import Output

        Output("version").lines([f"opsinfo {__version__}"])
        ctx.exit()


version_option: Callable[[Any], Any] = declare.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
