"""The click program, whose commands load on use."""

from __future__ import annotations

from typing import Any, cast

import click

from ...errors import Refused, UsageFault
from ..shared.common_options import everywhere_options
from . import declare
from .click_command import click_command
from .table import COMMANDS, GROUPS, declared
from .version import version_option


class Commands(click.Group):
    """Commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return click_command(declared(name))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from ...model.near_names import did_you_mean

            raise UsageFault(
                f"unknown command `{args[0]}`",
                name="unknown-command",
                hint=did_you_mean(args[0], COMMANDS) or "`opsinfo --help` lists them",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))  # one column of help texts through all groups
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(widest), text) for name, text in commands.items()])


@declare.command(
    "cli", cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@version_option
@everywhere_options
def program(**_: Any) -> None:
    """Show, change, check and compare the precision policy of Ascend operators.

    A TARGET is a library (aic-<soc>-ops-info.json), a mixlist, a directory of libraries,
    an operator package (OPP), a snapshot of one of these, or a SoC name looked up in the environment's CANN.

    \b
    Examples:
      opsinfo list ascend910b --on black
      opsinfo show ascend910b MatMulV2
      opsinfo move ops_info.json SoftmaxV2 --to black --against ascend910b
      opsinfo validate ops_info.json --against ascend910b

    The options below work before and after the command; `opsinfo help COMMAND` shows those of a command.
    """


cli = cast(click.Group, click_command(program))


def run(words: list[str]) -> int:
    """Run a line.

    :returns: the exit status
    :raises UsageFault: if the line is wrong, with click's message
    :raises Refused: if help cannot be written
    """
    try:
        result = cli.main(words, prog_name="opsinfo", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "opsinfo"
        raise UsageFault(
            error.format_message().replace("\n\t", " "), hint=f"`{path} --help` shows how it is used"
        ) from None
    except BrokenPipeError:
        raise
    except OSError as error:  # only help gets here; commands report their own errors
        raise Refused(f"cannot write the output: {error.strerror}", name="output-failed") from None
    except click.exceptions.Exit as error:
        return error.exit_code
    except SystemExit:  # click exits if the pipe is closed
        return 0
    except click.Abort:
        return 130
