"""The JSON of `opsinfo systems diff`."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from typing_extensions import TypedDict

from ...core.document import Count, Schema
from ...core.documents.shared import Head, Lists

Class: TypeAlias = Literal["low", "high", "follow", "promote", "clear", "banned"]


class ChangedName(TypedDict):
    """One name."""

    name: str
    """The name."""
    a: Class
    """Its class in A. low: reduced. high: float32. follow: the type of its producer. promote: the type of its widest
    input. clear: passes low precision on. banned: refused in low precision.
    """
    b: Class
    """Its class in B. low: reduced. high: float32. follow: the type of its producer. promote: the type of its widest
    input. clear: passes low precision on. banned: refused in low precision.
    """


class Counts(TypedDict):
    """Number of names by result."""

    only_in_a: Count
    """Number of names only in A."""
    only_in_b: Count
    """Number of names only in B."""
    changed: Count
    """Number of names with different classes."""
    same: Count
    """Number of names with the same class."""


class TwoSystems(Head):
    """The differences between the lists of two systems, or the classes in three or more. If the systems use different
    operator names, all lists are translated to Ascend's op types. Later versions may add keys.
    """

    system_a: Lists
    system_b: Lists
    only_in_a: list[str]
    """Names that only A lists."""
    only_in_b: list[str]
    """Names that only B lists."""
    changed: list[ChangedName]
    """Names that both list, but in different classes."""
    counts: Counts
    """Number of names by result."""


class Name(TypedDict):
    """One name and its class in every system."""

    name: str
    """The name."""
    policies: list[Class | None]
    """Its class in each system, in the order of `targets`; null if the system does not list it."""


class Counts2(TypedDict):
    """Number of names."""

    operators: Count
    """Number of names shown."""
    differ: Count
    """Number of names whose classes differ; one that a system does not list differs."""
    total: Count
    """Number of all names."""


class ManySystems(Head):
    """The differences between the lists of two systems, or the classes in three or more. If the systems use different
    operator names, all lists are translated to Ascend's op types. Later versions may add keys.
    """

    targets: Annotated[list[str], Schema(minItems=2)]
    """The systems, with distinct names."""
    operators: list[Name]
    """The names, sorted."""
    unlisted: list[str]
    """What each system does with a name that it does not list."""
    counts: Counts2
    """Number of names."""


SystemsDiffDocument: TypeAlias = TwoSystems | ManySystems
"""The differences between the lists of two systems, or the classes in three or more."""
