"""Options of every command and of every command that writes, and their frozen values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ...report.terminal.output import Output
from ..line import declare
from ..line.version import version_option

if TYPE_CHECKING:
    from typing import Any


class OutputOptions(NamedTuple):
    """How a command prints.

    :param format: text, json, or another format of the command
    :param color: auto, always or never
    :param verbose: the number of ``-v`` options
    :param out: a file for the data instead of standard output
    :param no_pager: whether to print long output without a pager
    """

    format: str = "text"
    color: str = "auto"
    quiet: bool = False
    verbose: int = 0
    out: str | None = None
    no_pager: bool = False


class WriteOptions(NamedTuple):
    """How a command writes.

    :param check: whether to exit with 1 instead of writing
    :param wait: the longest wait for a lock, in seconds
    :param in_place: whether a file that cannot be replaced is overwritten
    :param trust_folder: whether root writes files that another user may replace
    :param backup_dir: the vault; None for the default
    """

    dry_run: bool = False
    check: bool = False
    wait: float = 30.0
    in_place: bool = False
    trust_folder: bool = False
    backup_dir: str | None = None

    @property
    def writes(self) -> bool:
        return not (self.dry_run or self.check)


OUTPUT = declare.Group("printing", OutputOptions)
WRITE = declare.Group("writing", WriteOptions)

Option = Callable[["Any"], "Any"]

color_option: Option = declare.option(
    "--color", type=declare.Choice(["auto", "always", "never"]), default="auto", help="Use colours.", group=OUTPUT
)
quiet_option: Option = declare.option(
    "-q", "--quiet", is_flag=True, help="Print errors and warnings only.", group=OUTPUT
)
verbose_option: Option = declare.option(
    "-v", "--verbose", count=True, help="Print details of what was read.", group=OUTPUT
)
talk_options: Option = declare.stacked(version_option, color_option, quiet_option, verbose_option)
dry_run_option: Option = declare.option(
    "-n", "--dry-run", is_flag=True, help="Show what would change; write nothing.", group=WRITE
)
wait_option: Option = declare.option(
    "--wait",
    metavar="SECONDS",
    type=declare.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="Longest wait for a lock.",
    group=WRITE,
    advanced=True,
)


def format_option(*more: str) -> Option:
    """Return ``--format`` with further formats, and the options of every command."""
    choice = declare.Choice(["text", "json", *more])
    return declare.stacked(
        declare.option("--format", type=choice, default="text", show_default=True, help="Output format.", group=OUTPUT),
        talk_options,
    )


def output_of(command: str, printing: OutputOptions) -> Output:
    format_, color, quiet, verbose, out, no_pager = printing
    return Output(command, format_, color, quiet, verbose, out, pager=not no_pager)


everywhere_options: Option = declare.stacked(
    declare.option(
        "--format", metavar="FORMAT", default="text", show_default=True, help="Output format.", group=OUTPUT
    ),
    color_option,
    quiet_option,
    verbose_option,
    dry_run_option,
    wait_option,
)


@declare.command("opsinfo")
@everywhere_options
def EVERYWHERE(writing: WriteOptions, printing: OutputOptions) -> None:  # noqa: N802
    """Options that may come before the command as well as after it, if the command has them."""
