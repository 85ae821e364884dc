"""The JSON of `opsinfo modes`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class Mode(TypedDict):
    """One value of precision_mode or precision_mode_v2."""

    name: str
    """The value."""
    options: list[Literal["precision_mode", "precision_mode_v2"]]
    """The options that accept the value."""
    engine: str
    """The engine's internal mode; values with the same internal mode are equivalent."""
    says: str
    """What the engine does with a node, which the name may not say."""
    same: list[str]
    """The equivalent values."""
    takes_mixlist: bool
    """Whether the engine accepts a mixlist with this value."""
    low: list[str]
    """The dtypes that a white operator may be reduced to."""
    socs: list[str] | None
    """The chips that support the value; null for all chips."""


class Products(TypedDict):
    """One product series."""

    name: str
    """The name of the series."""
    socs: list[str]
    """The chips of the series."""
    training: str | None
    """The default mode for training; null if no manual states it."""
    inference: str
    """The default mode for inference."""
    must_mix: bool | None
    """Whether training requires mixed precision; null if no manual states it."""


class Mechanism(TypedDict):
    """One mechanism."""

    name: str
    """The name of the mechanism."""
    key: str
    """The option that sets it."""
    does: str
    """What it does."""
    source: str
    """The source of the description."""


class Snippet(TypedDict):
    """Lines for a script."""

    name: str
    """The name of the snippet."""
    title: str
    """Where the lines belong."""
    text: str
    """The lines."""
    loss_scale: str
    """The lines that concern the loss scale."""
    prints: str
    """The lines that print the loss scale or overflows of each step, as qualify reads them; empty if there are none or
    the loss is not scaled.
    """
    takes_mixlist: bool
    """Whether a mixlist can be set there."""
    source: str
    """The source of the lines."""
    mode: str
    """The mode that the lines set."""
    mixlist: str | None
    """The mixlist given; null if none was given."""


class ModesDocument(TypedDict):
    """Precision modes, defaults, and the lines that set them. Later versions may add keys."""

    soc: str | None
    """The chip given; null for all chips."""
    modes: list[Mode]
    """The values of precision_mode and precision_mode_v2."""
    products: list[Products]
    """What the manuals say about product series."""
    others: list[Mechanism]
    """Mechanisms other than the mixlist."""
    snippet: Snippet | None
    """The lines requested with --snippet; null without it."""
