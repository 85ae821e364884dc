"""The group `opsinfo systems`, whose commands are imported when they are called."""

from __future__ import annotations

import click

from ...core.terminal.lazy_group import LazyGroup
from ...core.terminal.params import write_help
from ...errors import UsageFault

COMMANDS = {
    "list": "List the systems that can be read, written or shown.",
    "show": "Show a system's lists, or the settings of its levels.",
    "diff": "Compare the lists of two systems.",
    "decide": "Explain which dtype a call gets.",
    "convert": "Convert the lists of one system to another.",
}


MODULES = {name: f"{__package__}.{name}" for name in COMMANDS}


class Systems(LazyGroup):
    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self, formatter)


def _unknown(name: str) -> UsageFault:
    from ...near_names import did_you_mean
    from ..registry import SYSTEMS

    if name.partition(":")[0] in SYSTEMS:
        hint: str | None = f"`opsinfo systems show {name}` shows it"
    else:
        hint = did_you_mean(name, COMMANDS) or "`opsinfo systems --help` lists them"
    return UsageFault(f"unknown command `systems {name}`", name="unknown-command", hint=hint)


@click.group("systems", cls=Systems, modules=MODULES, sections={"Commands": COMMANDS}, unknown=_unknown)
def command() -> None:
    """Read, compare and convert the mixed-precision lists of other systems: APEX, MindSpore, Habana, TensorFlow and
    others.

    A SYSTEM is NAME, NAME:LEVEL (apex:O1), or NAME=FILE[,FILE] for a user's own lists.

    \b
    Examples:
      opsinfo systems show apex:O1
      opsinfo systems decide --system apex:O1 mul:float16,float32
      opsinfo systems convert --from torch-npu --to mixlist --against ascend910b
    """
