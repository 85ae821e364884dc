"""The neutral vocabulary: list entries, operator classes, lists, and losses of a conversion."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Annotated, Literal, NamedTuple

from ..core.document import Schema, internal, renamed

Unlisted = Literal["low", "high", "inputs", "first-input", "untouched", "library", "mode"]
"""What a system does with an operator that is on none of its lists."""


class OperatorClass(str, Enum):
    """The precision that a system gives an operator.

    ``low``: always reduced; ``high``: stays float32; ``follow``: its producer's type; ``promote``: the widest of
    its inputs; ``clear``: passes low precision on; ``banned``: refused in low precision.
    """

    LOW = "low"
    HIGH = "high"
    FOLLOW = "follow"
    PROMOTE = "promote"
    CLEAR = "clear"
    BANNED = "banned"

    def __str__(self) -> str:
        return self.value


Scope = Literal["operator", "class", "node"]
Pattern = Literal["regex", "glob"]


@dataclass(frozen=True, kw_only=True)
class ListEntry:
    """One name on one list."""

    name: str = field(kw_only=False)
    """The name; a regular expression if the scope is node."""
    scope: Scope = "operator"
    """What the name is: an operator, a class of a framework, or an expression that matches node names."""
    module: str | None = None
    """The Python module of a function; null if the source does not give it."""
    note: str | None = None
    """Other facts from the source; null if there are none."""
    cls: OperatorClass = renamed("class")
    """How the operator is treated. low: reduced. high: float32. follow: the type of its producer. promote: the type of
    its widest input. clear: passes low precision on. banned: refused in low precision.
    """
    origin: str | None = renamed("list", None)
    """The list that contains the name."""
    is_default: bool = internal(False)
    """Whether it comes from a built-in list, not from the user."""
    given: tuple[str, ...] = internal(())
    """The names in the source that this entry translates; empty before a translation."""
    is_form: bool = internal(False)
    """Whether it was added as another form of a listed operator."""
    pattern: Pattern | None = internal(None)
    """How the name of a node means several: ``regex`` matches the beginning, ``glob`` has ``*``."""

    @property
    def sources(self) -> tuple[str, ...]:
        return self.given or (self.name,)


@dataclass(frozen=True, kw_only=True)
class OperatorLists:
    """The system or target that the lists belong to."""

    system: str = renamed("name")
    """The system or target."""
    level: str | None = None
    """The level; null if the system has none."""
    names: str
    """The naming scheme of the operators."""
    unlisted: str
    """How operators that are not listed are treated: low, high, inputs, first-input, untouched, library or mode."""
    low: str | None = None
    """The dtype that low means; null if something else decides it."""
    version: str | None = None
    """The version that the lists were taken from; null for files."""
    entries: tuple[ListEntry, ...] = internal()

    @property
    def title(self) -> str:
        return f"{self.system}:{self.level}" if self.level else self.system

    def deciding(self) -> dict[str, ListEntry]:
        """Return the deciding entry of each name: the user's own before a default, else the first."""
        decided: dict[str, ListEntry] = {}
        for entry in sorted(self.entries, key=lambda entry: entry.is_default):
            decided.setdefault(entry.name, entry)
        return {entry.name: decided[entry.name] for entry in self.entries}

    @property
    def own(self) -> tuple[ListEntry, ...]:
        """The user's own entries."""
        return tuple(entry for entry in self.entries if not entry.is_default)

    def as_defaults(self) -> tuple[ListEntry, ...]:
        return tuple(replace(entry, is_default=True) for entry in self.entries)


@dataclass(frozen=True)
class Loss:
    """One step in which the result expresses less than the source, or something else."""

    kind: Annotated[
        str,
        Schema(
            examples=[
                "unknown-name",
                "one-to-many",
                "broader",
                "conflict",
                "no-class",
                "approximate",
                "default-direction",
                "dtype",
                "node-rules",
                "overloads",
                "forward-only",
                "first-argument",
                "not-in-base",
                "no-kernel",
                "built-in-stays",
                "cells-only",
                "same-name",
                "unread",
                "form",
                "expansion",
                "defaults-replaced",
                "overruled",
                "not-a-name",
                "ignored",
            ]
        ),
    ]
    """The kind of step."""
    message: str
    """What happened."""
    names: tuple[str, ...] = ()
    """The affected names; empty if all are affected."""
    details: tuple[str, ...] = ()
    """Details about individual names."""
    lossy: bool = True
    """Whether the step loses anything; --strict refuses such a conversion."""
    drops: bool = internal(False)
    """Whether its names are left out of the result."""
    scope: Scope = internal("operator")
    """What its names are; ``node`` for lists of nodes."""

    @property
    def is_unread(self) -> bool:
        """Whether a part of the source was not read."""
        return self.kind == "unread"

    def beyond(self, named: Collection[str]) -> Loss | None:
        """Return the loss of the other names; None if there is none."""
        left = [index for index, name in enumerate(self.names) if name not in named]
        details = tuple(self.details[index] for index in left if index < len(self.details))
        return replace(self, names=tuple(self.names[index] for index in left), details=details) if left else None

    @property
    def reasons(self) -> dict[str, str]:
        """Why each name was dropped: its own detail if there is one."""
        reasons = dict.fromkeys(self.names, self.message)
        for name, detail in zip(self.names, self.details, strict=False):
            if detail.startswith(f"{name} (") and detail.endswith(")"):
                reasons[name] = detail[len(name) + 2 : -1]
            elif detail != name:
                reasons[name] = detail
        return reasons


def loss_of(
    kind: str, message: str, names: Iterable[str], details: Iterable[str] = (), drops: bool = False
) -> tuple[Loss, ...]:
    """Return the loss of these names; nothing if there are none."""
    names = tuple(names)
    return (Loss(kind, message, names, tuple(details), drops=drops),) if names else ()


def reasons_of(losses: Iterable[Loss]) -> dict[str, str]:
    """Return the names that losses drop, each with its reason."""
    return {name: reason for loss in losses if loss.drops for name, reason in loss.reasons.items()}


class ReadLists(NamedTuple):
    """Lists that were read or translated, and what that step lost."""

    lists: OperatorLists
    losses: Sequence[Loss] = ()
