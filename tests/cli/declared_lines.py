"""Lines of any command, made from what it declares."""

from __future__ import annotations

from collections.abc import Mapping

from opsinfo_cli.cli.line.declare import Choice, Command, Parameter


def valued(command: Command) -> list[Parameter]:
    """Parameters whose value is any text."""
    return [each for each in command.parameters if each.takes_value and not each.attributes.get("type")]


def line(command: Command, given: Mapping[str, str]) -> list[str]:
    """A line with some parameters given by their names, and `other` where a value is required."""
    options: list[str] = []
    arguments: list[str] = []
    for each in command.parameters:
        required = each.attributes.get("required", not each.is_option and each.attributes.get("nargs") != -1)
        kind = each.attributes.get("type")
        value = given.get(each.name, kind.words[0] if isinstance(kind, Choice) else "other")
        if each.name not in given and not required:
            continue
        if each.is_option:
            options += [each.words[0], value]
        else:
            arguments.append(value)
    return [command.name, *options, "--format", "json", "--", *arguments]
