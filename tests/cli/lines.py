"""Lines of any command, made from its click parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from opsinfo_cli.app import cli


def commands(group: click.Group = cli, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with its words, those of groups included."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name), command


COMMANDS = dict(commands())


def valued(command: click.Command) -> list[click.Parameter]:
    """Parameters whose value is any text."""
    return [
        param
        for param in command.params
        if not getattr(param, "is_flag", False)
        and not getattr(param, "count", False)
        and not isinstance(param.type, (click.Choice, click.FloatRange, click.IntRange))
        and not isinstance(param.type, click.types.UnprocessedParamType)
        and not getattr(param.type, "may_be_empty", False)
    ]


def line(words: tuple[str, ...], given: Mapping[str, str]) -> list[str]:
    """A line of a command with some parameters, and `other` where a value is required."""
    options: list[str] = []
    arguments: list[str] = []
    for param in COMMANDS[words].params:
        name = str(param.name)
        if name not in given and not param.required:
            continue
        value = given.get(name, param.type.choices[0] if isinstance(param.type, click.Choice) else "other")
        if isinstance(param, click.Option):
            options += [param.opts[-1], value]
        else:
            arguments.append(value)
    return [*words, *options, "--format", "json", "--", *arguments]
