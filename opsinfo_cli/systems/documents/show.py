"""The JSON of `opsinfo systems show`."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import NotRequired, TypedDict

from ...core.document import Count, Schema
from ...core.documents.shared import Head, Lists, System

ListedName = TypedDict(
    "ListedName",
    {
        "name": Annotated[str, Schema(description="The name; a regular expression if the scope is node.")],
        "class": Annotated[
            Literal["low", "high", "follow", "promote", "clear", "banned"],
            Schema(
                description=(
                    "How the operator is treated. low: reduced. high: float32. follow: the type of its "
                    "producer. promote: the type of its widest input. clear: passes low precision on. banned: "
                    "refused in low precision."
                )
            ),
        ],
        "list": Annotated[str | None, Schema(description="The list that contains the name.")],
        "scope": Annotated[
            Literal["operator", "class", "node"],
            Schema(
                description=(
                    "What the name is: an operator, a class of a framework, or an expression that matches node names."
                )
            ),
        ],
        "module": Annotated[
            str | None, Schema(description="The Python module of a function; null if the source does not give it.")
        ],
        "note": Annotated[str | None, Schema(description="Other facts from the source; null if there are none.")],
    },
)
ListedName.__doc__ = """One name on one list."""


class Counts(TypedDict):
    """The number of names shown in each class."""

    low: Count
    """Number of low names."""
    high: Count
    """Number of high names."""
    follow: Count
    """Number of follow names."""
    promote: Count
    """Number of promote names."""
    clear: Count
    """Number of clear names."""
    banned: Count
    """Number of banned names."""


class SystemsShowDocument(Head):
    """A system, the settings of its levels, and the lists of one level or file; without a level and a default, no
    lists. Later versions may add keys.
    """

    systems: list[System]
    """The system."""
    system: NotRequired[Lists]
    operators: NotRequired[list[ListedName]]
    """The names shown, in the order of precedence of the lists."""
    counts: NotRequired[Counts]
    """The number of names shown in each class."""
    total: NotRequired[Count]
    """Number of listed names, shown or not."""
