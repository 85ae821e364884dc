"""The group `opsinfo systems`, whose commands are imported when they are called."""

from __future__ import annotations

from importlib import import_module

import click

from ....errors import UsageFault
from ...params import write_help

COMMANDS = {
    "list": "List the systems that can be read, written or shown.",
    "show": "Show a system's lists, or the settings of its levels.",
    "diff": "Compare the lists of two systems.",
    "decide": "Explain which dtype a call gets.",
    "convert": "Convert the lists of one system to another.",
}


class Systems(click.Group):
    """Commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f".{name}", __package__).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise _unknown(args[0])
        return super().resolve_command(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _unknown(name: str) -> UsageFault:
    from ....model.near_names import did_you_mean
    from ....neighbours.registry import SYSTEMS

    if name.partition(":")[0] in SYSTEMS:
        hint: str | None = f"`opsinfo systems show {name}` shows it"
    else:
        hint = did_you_mean(name, COMMANDS) or "`opsinfo systems --help` lists them"
    return UsageFault(f"unknown command `systems {name}`", name="unknown-command", hint=hint)


@click.group("systems", cls=Systems)
def command() -> None:
    """Read, compare and convert the mixed-precision lists of other systems: APEX, MindSpore, Habana, TensorFlow and
    others.

    A SYSTEM is NAME, NAME:LEVEL (apex:O1), or NAME=FILE[,FILE] for a user's own lists.

    \b
    Examples:
      opsinfo systems show apex:O1
      opsinfo systems decide --system apex:O1 mul:float16,float32
      opsinfo systems convert --from torch-npu --to mixlist --against fixtures/opp@ascend910b
    """
