"""Declarations as click has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import click

from ...errors import UsageFault
from .declare import Choice, Command, FloatRange, IntRange, Parameter

__all__ = ["click_command"]


class HintedChoice(click.Choice[str]):
    """One of some words; who says it in another is told which one is meant."""

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


@cache
def click_command(declared: Command) -> click.Command:
    """Its one click command: who completes a line teaches it what stands there."""
    attributes = {"cls": click.Command, "help": declared.function.__doc__, **declared.attributes}
    kind: type[click.Command] = attributes.pop("cls")
    params = [_parameter(each) for each in declared.parameters]
    return kind(declared.name, callback=declared.function, params=params, **attributes)


def _parameter(declared: Parameter) -> click.Parameter:
    make: Callable[..., click.Parameter] = click.Option if declared.is_option else click.Argument
    return make(declared.words, **{**declared.attributes, "type": _type(declared.attributes.get("type"))})


def _type(declared: Any) -> Any:
    if isinstance(declared, Choice):
        return HintedChoice(declared)
    if isinstance(declared, IntRange):
        return click.IntRange(min=declared.min)
    return click.FloatRange(min=declared.min) if isinstance(declared, FloatRange) else None
