"""The JSON of `opsinfo systems diff`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from ...core.documents.shared import Count, Lists


class ChangedName(TypedDict):
    """One name."""

    name: str
    """The name."""
    a: Literal["low", "high", "follow", "promote", "clear", "banned"]
    """Its class in A. low: reduced. high: float32. follow: the type of its producer. promote: the type of its widest
    input. clear: passes low precision on. banned: refused in low precision.
    """
    b: Literal["low", "high", "follow", "promote", "clear", "banned"]
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


class SystemsDiffDocument(TypedDict):
    """The differences between the lists of two systems. If the systems use different operator names, both lists are
    translated to Ascend's op types. Later versions may add keys.
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
