"""click commands, made from declarations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import click

from ...errors import UsageFault
from .declare import Choice, Command, FloatRange, IntRange, Parameter


class HintedChoice(click.Choice[str]):
    """A choice of words; an alias of a word gets a hint."""

    def __init__(self, choice: Choice) -> None:
        super().__init__(choice.words)
        self.meant = choice.meant

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            meant = self.meant and self.meant(str(value))
            if not meant:
                raise
            raise UsageFault(error.format_message(), hint=f"did you mean `{meant}`?") from None


class NumberRange(click.FloatRange):
    """A range without NaN, which would be neither inside nor outside."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


class SectionedCommand(click.Command):
    """A command whose help lists advanced options last, under their own heading."""

    advanced: frozenset[str] = frozenset()
    """Names of parameters."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        usual: list[tuple[str, str]] = []
        advanced: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                (advanced if param.name in self.advanced else usual).append(record)
        for heading, records in (("Options", usual), ("Advanced", advanced)):
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


@cache
def click_command(declared: Command) -> click.Command:
    """Return the click command of a declaration, always the same object, because completion adds candidates to it."""
    attributes = {"cls": SectionedCommand, "help": declared.function.__doc__, **declared.attributes}
    kind: type[click.Command] = attributes.pop("cls")
    params = [_parameter(each) for each in declared.parameters]
    command = kind(declared.name, callback=_callback(declared), params=params, **attributes)
    if isinstance(command, SectionedCommand):
        command.advanced = frozenset(each.name for each in declared.parameters if each.advanced)
    return command


def _callback(declared: Command) -> Callable[..., Any]:
    return lambda **values: declared.call(values)


def _parameter(declared: Parameter) -> click.Parameter:
    make: Callable[..., click.Parameter] = click.Option if declared.is_option else click.Argument
    return make(declared.words, **{**declared.attributes, "type": _type(declared.attributes.get("type"))})


def _type(declared: Any) -> Any:
    if isinstance(declared, Choice):
        return HintedChoice(declared)
    if isinstance(declared, IntRange):
        return click.IntRange(min=declared.min)
    return NumberRange(declared.min, declared.max) if isinstance(declared, FloatRange) else None
