"""Groups whose commands are imported when they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageFault

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """:param modules: command -> the module whose ``command`` it is
    :param sections: heading -> command -> short help, so that help imports no command
    :param unknown: returns the error for a name that is no command
    :param handed_in: command -> arguments that it needs of other rooms
    """

    def __init__(
        self,
        *args: Any,
        modules: Mapping[str, str],
        sections: Mapping[str, Mapping[str, str]],
        unknown: Callable[[str], UsageFault],
        handed_in: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.modules, self.sections, self.unknown, self.handed_in = modules, sections, unknown, handed_in

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for commands in self.sections.values() for name in commands]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(self.modules[name]).command
        if name in self.handed_in and command.callback is not None:
            command.callback = partial(command.callback, **self.handed_in[name])
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        is_known = args[0] in self.list_commands(ctx) or args[0].startswith("-")
        if not is_known and not ctx.resilient_parsing:
            raise self.unknown(args[0])
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        texts = {name: text for commands in self.sections.values() for name, text in commands.items()}
        found = [CompletionItem(name, help=text) for name, text in texts.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)  # not the group's, which imports commands

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.list_commands(ctx)))  # one column of help texts through all sections
        for heading, commands in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])
