"""What a module of ``systems`` describes: one system, how its files are read, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ..core.document import Count, headed, optional
from ..errors import UsageFault
from ..near_names import did_you_mean
from .facts import facts
from .vocabulary import (
    ListEntry,
    Loss,
    OperatorClass,
    OperatorLists,
    ReadLists,
    reasons_of,
)

if TYPE_CHECKING:
    from ..core.cann.library import Operators
    from ..core.text.source import Source


class ConversionOptions(NamedTuple):
    """What a conversion is asked for.

    :param operators: the op types of a target, with its text, that a mixlist is compared with
    :param everything: whether to move the names that the source does not list as well
    :param out: the output folder, if known
    :param same: op types that an unknown name of the same spelling is mapped to
    :param opset: the ONNX opset; None if unknown
    :param with_defaults: whether to translate the built-in entries as well, not only the user's own
    """

    operators: Operators | None = None
    target: str = ""
    everything: bool = False
    out: str | None = None
    same: frozenset[str] = frozenset()
    opset: int | None = None
    with_defaults: bool = False


class WrittenLists(NamedTuple):
    """The files of a conversion, by name, and what was lost.

    :param left_out: names that the files do not express, with the reason, which no loss has
    :param unchanged: names that the files leave out because they have the wanted class already
    """

    files: dict[str, str]
    losses: list[Loss]
    left_out: Mapping[str, str] = {}
    unchanged: frozenset[str] = frozenset()

    @property
    def dropped(self) -> dict[str, str]:
        """The names that the files do not express, with the reason."""
        return {**reasons_of(self.losses), **self.left_out}


Read: TypeAlias = "Callable[[System, list[Source]], ReadLists]"
Write: TypeAlias = "Callable[[System, OperatorLists, ConversionOptions], WrittenLists]"


@dataclass(frozen=True)
class Level:
    """One level of a system."""

    name: str | None
    """The name of the level; null if the system has no levels."""
    unlisted: str
    """How operators that are not listed are treated: low, high, inputs, first-input or untouched."""
    says: str | None
    """What the level does, as text; null if the lists describe it completely."""
    properties: dict[str, str]
    """The properties that the level sets, by name."""


@dataclass(frozen=True)
class SystemFacts:
    """One system or format."""

    name: str
    """The name of the system in opsinfo."""
    title: str
    """A title for readers."""
    names: str
    """The naming scheme of its operators: ascend, torch, tensorflow, onnx, mindspore or paddle."""
    reads: str | None
    """What a file of this system contains; null if files cannot be read."""
    writes: str | None
    """What opsinfo writes for this system; null if it cannot write any."""
    delta: bool
    """Whether its files contain only differences from a baseline, and require --against."""
    version: str | None
    """The version that the built-in lists were taken from; null if there are no built-in lists."""
    source: str | None
    """The source of the built-in lists; null if there are none."""
    notes: list[str]
    """Other facts about the system."""
    levels: list[Level]
    """The levels of the system."""


@dataclass(frozen=True)
class ClassCounts:
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


@dataclass(frozen=True)
class ShownSystem:
    """A system, the settings of its levels, and the lists of one level or file; without a level and a default, no
    lists. Later versions may add keys.
    """

    systems: Sequence[SystemFacts]
    """The system."""
    system: OperatorLists | None = optional()
    operators: Sequence[ListEntry] | None = optional()
    """The names shown, in the order of precedence of the lists."""
    counts: ClassCounts | None = optional()
    """The number of names shown in each class."""
    total: Count | None = optional()
    """Number of listed names, shown or not."""


class System(NamedTuple):
    """One system or format.

    :param names: the naming scheme of its operators
    :param reads: the format of its files; None if it cannot be read
    :param writes: the format that is written; None if it cannot be written
    :param instead: for a format that is read but not written: how to give its lists to the system
    :param facts: the file of its built-in lists; None if it has none
    :param input: what a path names: text, an Ascend TARGET, or a mixlist
    :param files: how many files it has at most; None for any number
    :param mixlist_path: returns the path of the mixlist that a file names
    :param has_nodes: whether its files can name single nodes
    :param by_overload: whether its lists name overloads such as ``pow.Scalar``
    :param casts_first_argument: whether only the first argument of a norm is cast
    :param wraps_in_place: whether ``exp_`` has the class of ``exp``
    :param knows_loss: whether the call of the loss, outside the network, is decided by another rule
    :param spelled: returns a name in the spelling of its lists
    """

    name: str
    title: str
    names: str
    reads: str | None = None
    writes: str | None = None
    read: Read | None = None
    write: Write | None = None
    instead: str | None = None
    facts: str | None = None
    input: Literal["text", "target", "mixlist"] = "text"
    files: int | None = 1
    mixlist_path: Callable[[Source], str] | None = None
    has_nodes: bool = False
    by_overload: bool = False
    casts_first_argument: bool = False
    wraps_in_place: bool = False
    knows_loss: bool = False
    spelled: Callable[[str], str] = str

    @property
    def delta(self) -> bool:
        """Whether its files list only differences from a TARGET."""
        return self.input == "mixlist"

    @property
    def levels(self) -> list[str]:
        return [level for level in self.content.get("levels", {}) if level]

    @property
    def content(self) -> dict[str, Any]:
        """Its built-in lists as they are stored; empty if it has none."""
        return facts(self.facts) if self.facts else {}

    @property
    def description(self) -> SystemFacts:
        content = self.content
        return SystemFacts(
            self.name,
            self.title,
            self.names,
            self.reads,
            self.writes,
            self.delta,
            content.get("version"),
            content.get("source"),
            content.get("notes", []),
            [
                Level(name or None, level["unlisted"], level.get("says"), level["properties"])
                for name, level in content.get("levels", {}).items()
            ],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo systems show`` without lists."""
        return headed("systems show", ShownSystem([self.description]))

    def lists(self, level: str | None = None) -> OperatorLists:
        """Return the built-in lists of a level; of the default level if none is given.

        :raises UsageFault: if it has no built-in lists, the level is unknown, or none is given without a default
        """
        if self.facts is None:
            hint = f"give a file: {self.name}=FILE"
            raise UsageFault(f"{self.name} has no built-in lists, only files", name="wrong-kind", hint=hint)
        content = facts(self.facts)
        level = self._level(content, level)
        chosen = content["levels"][level]
        entries = tuple(
            ListEntry(
                name,
                scope=listed.get("scope", "operator"),
                module=listed.get("module"),
                note=listed.get("note"),
                cls=OperatorClass(listed["class"]),
                origin=listed["list"],
            )
            for listed in chosen["lists"]
            for name in listed["names"]
        )
        return OperatorLists(
            system=self.name,
            level=level or None,
            names=self.names,
            unlisted=chosen["unlisted"],
            low=content["low"],
            version=content["version"],
            entries=entries,
        )

    def _level(self, content: dict[str, Any], level: str | None) -> str:
        """Return a level as the system spells it."""
        levels: list[str] = list(content["levels"])
        if level is None and "default" in content:
            return str(content["default"])
        if level is None:
            hint = f"for example {self.name}:{levels[-1]}"
            raise UsageFault(f"{self.name} has levels: {', '.join(levels)}", hint=hint)
        unknown = content.get("unknown_levels", {})
        if level in unknown:
            raise UsageFault(f"{self.name}:{level} is unknown: {unknown[level]}", name="not-known")
        by_case = {name.lower(): name for name in levels}
        if level.lower() not in by_case or not level:
            known = ", ".join(name for name in levels if name)
            hint = did_you_mean(level, levels) or (f"known levels: {known}" if known else f"{self.name} has no levels")
            raise UsageFault(f"{self.name} has no level `{level}`", name="unknown-level", hint=hint)
        return by_case[level.lower()]


class SortedNames(NamedTuple):
    """Names by the list of the target, in the order of the source, and what has no such list."""

    lists: dict[str, list[str]]
    losses: list[Loss]


_WORDS = {
    OperatorClass.LOW: "that are always low",
    OperatorClass.HIGH: "that stay float32",
    OperatorClass.FOLLOW: "that follow their producer",
    OperatorClass.PROMOTE: "that take their widest input",
    OperatorClass.CLEAR: "that pass low precision on",
    OperatorClass.BANNED: "that are refused in low precision",
}


def sort_names(
    lists: OperatorLists,
    to: Mapping[OperatorClass, str],
    exact: frozenset[OperatorClass],
    target: str,
    verb: str = "go to",
) -> SortedNames:
    """Sort names into the target's lists by their class.

    :param to: the target's list for a class; a class without one is left out
    :param exact: the classes that the target expresses exactly; entries from its own lists always are
    """
    by_list: dict[str, list[str]] = {name: [] for name in to.values()}
    inexact: dict[OperatorClass, list[str]] = {}
    for name, entry in lists.deciding().items():
        if entry.cls in to:
            by_list[to[entry.cls]].append(name)
        if entry.cls not in exact and lists.system != target:
            inexact.setdefault(entry.cls, []).append(name)
    losses = []
    for cls, names in inexact.items():
        outcome = f"they {verb} {to[cls]}" if cls in to else "they are left out"
        near = ", the closest list" if cls is OperatorClass.FOLLOW and cls in to else ""
        kind = "approximate" if cls is OperatorClass.FOLLOW else "no-class"
        message = f"{target} has no class for operators {_WORDS[cls]}; {outcome}{near}"
        losses.append(Loss(kind, message, tuple(names), drops=cls not in to))
    return SortedNames(by_list, losses)


_UNLISTED: dict[str, str] = {
    "low": "is low",
    "high": "is float32",
    "inputs": "runs in the types of its inputs",
    "first-input": "takes the type of its first input",
    "untouched": "is left as it is",
    "library": "keeps the library's list",
    "mode": "depends on precision_mode",
}


def default_differences(lists: OperatorLists, unlisted: str, low: str | None, target: str) -> list[Loss]:
    """Return differences outside the lists: the treatment of unlisted names, and the low dtype."""
    losses = []
    if lists.unlisted != unlisted:
        message = (
            f"an unlisted operator {_UNLISTED[lists.unlisted]} in {lists.title}, and {_UNLISTED[unlisted]} in {target}"
        )
        losses.append(Loss("default-direction", message))
    if lists.low != low and (lists.low or low):
        a, b = (dtype or "set by precision_mode" for dtype in (lists.low, low))
        losses.append(Loss("dtype", f"low is {a} in {lists.title}, and {b} in {target}"))
    return losses
