"""One mixlist from one or several, with the fewest marks, and without what changes nothing.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/optimizer/ops_kernel_store/fe_ops_kernel_info_store.cc
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal
from warnings import warn

from ..errors import UsageFault
from ..near_names import NearNames, did_you_mean
from .cann.library import Operators
from .cann.marks import LISTS, Mark, MarkWord, effective, least, mark_words
from .cann.mixlist import AnyMixlist, Mixlist, mixlist_content
from .cann.target import AnyTargets, Target, targets_of
from .cann.targets.found import TargetFacts
from .change.fmt import fixed
from .change.plan import NOT_WRITTEN, Result, written_like
from .document import FileChange, OpType, Schema, headed, optional, renamed
from .text.scanner import scan
from .text.source import Source

if TYPE_CHECKING:
    from .cann.input_shapes import Shapes
    from .check.models import OpenModels


@dataclass(frozen=True)
class ListActions:
    """The op types of one list by action."""

    add: list[str] | None = optional(key="to-add")
    """Op types that are added to the list."""
    remove: list[str] | None = optional(key="to-remove")
    """Op types that are removed from the list."""


@dataclass(frozen=True)
class MixlistContent:
    """The resulting mixlist as the engine reads it, without empty lists."""

    black: ListActions | None = optional(key="black-list")
    white: ListActions | None = optional(key="white-list")
    gray: ListActions | None = optional(key="gray-list")

    @classmethod
    def of(cls, marks: Mapping[str, frozenset[Mark]]) -> MixlistContent:
        lists = map(mixlist_content(marks).get, LISTS)
        return cls(*((each and ListActions(each.get("to-add"), each.get("to-remove"))) or None for each in lists))


@dataclass(frozen=True)
class DroppedOpType:
    """One op type that was removed from the mixlist."""

    name: OpType
    """The op type."""
    marks: list[MarkWord]
    """The marks that the op type had."""
    reason: Literal["no-effect", "unknown-operator", "no-effect-in-model"]
    """no-effect: it changes no target. unknown-operator: no target has the op type, so the engine ignores it.
    no-effect-in-model: no node of the models has other dtypes without it.
    """


@dataclass(frozen=True)
class ShortenedOpType:
    """One op type before and after."""

    name: OpType
    """The op type."""
    before: list[MarkWord] = renamed("from")
    """The marks before."""
    after: list[MarkWord] = renamed("to")
    """The marks after."""


@dataclass(frozen=True)
class MarksInOneMixlist:
    """The marks of one mixlist."""

    path: str
    """The mixlist, as given."""
    marks: list[MarkWord]
    """The marks of the op type in this mixlist."""


@dataclass(frozen=True)
class ConflictingOpType:
    """One op type and its marks in each mixlist that names it. The last one wins."""

    name: OpType
    """The op type."""
    given: Annotated[list[MarksInOneMixlist], Schema(minItems=2)]
    """The marks by mixlist, in the order of the mixlists."""


@dataclass
class Minimal:
    """Fewer marks with the same effect.

    :param marks: the remaining marks, in the given order
    """

    marks: dict[str, frozenset[Mark]] = field(default_factory=dict)
    dropped: list[DroppedOpType] = field(default_factory=list)
    shortened: list[ShortenedOpType] = field(default_factory=list)

    @property
    def unknown(self) -> list[str]:
        """Op types that no target has."""
        return [each.name for each in self.dropped if each.reason == "unknown-operator"]

    def without(self, gone: Collection[str]) -> Minimal:
        """Return what is left without op types that change nothing in the models."""
        dropped = [DroppedOpType(name, mark_words(self.marks[name]), "no-effect-in-model") for name in gone]
        return Minimal(
            {name: marks for name, marks in self.marks.items() if name not in gone},
            self.dropped + dropped,
            [each for each in self.shortened if each.name not in gone],
        )


@dataclass(frozen=True)
class MergeDocument:
    """One mixlist merged from several, their conflicts, and the entries that could be removed. Later versions may add
    keys.
    """

    sources: Sequence[str]
    """The mixlists, in the order given; later ones win."""
    against: list[TargetFacts]
    """The targets of --against, in the order given."""
    mixlist: MixlistContent
    """The resulting mixlist as the engine reads it, without empty lists."""
    dropped: list[DroppedOpType]
    """Entries that were removed because they have no effect."""
    shortened: list[ShortenedOpType]
    """Op types whose marks were replaced by fewer marks with the same effect."""
    conflicts: list[ConflictingOpType]
    """Op types that the mixlists treat differently."""
    output: Annotated[str | None, Schema(examples=["ops_info.json", None])]
    """The file of --output; null if the mixlist goes to standard output."""
    change: Annotated[str | None, Schema(examples=["3f2a9c1d-12"])]
    """The id of the change, for opsinfo restore; null if nothing was written."""
    files: list[FileChange]
    """The file written, or with dry_run the file that would be written; empty if the file needs no change, or without
    --output.
    """
    dry_run: bool
    """Whether writing was skipped: because of --dry-run or --check, or because --strict refused."""


@dataclass(frozen=True)
class Merge:
    """A mixlist made of others.

    :param sources: the paths of the others; later ones win
    :param minimal: the marks that are left, and those that are not
    :param text: the file, in the style of the first source
    :param notes: what the open dimensions of models decided
    """

    sources: tuple[str, ...]
    against: tuple[Target, ...]
    minimal: Minimal
    conflicts: list[ConflictingOpType]
    text: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Merge of {', '.join(self.sources)}: {len(self.minimal.marks)} op types>"

    def to_dict(self, output: str | None = None, change: Result = NOT_WRITTEN) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo merge``.

        :param output: the file that the mixlist is for
        :param change: what writing it changed
        """
        return headed(
            "merge",
            MergeDocument(
                sources=self.sources,
                against=[target.facts for target in self.against],
                mixlist=MixlistContent.of(self.minimal.marks),
                dropped=self.minimal.dropped,
                shortened=self.minimal.shortened,
                conflicts=self.conflicts,
                output=output,
                change=change.change,
                files=change.changed_files(),
                dry_run=change.dry_run,
            ),
        )


def merge(
    mixlists: AnyMixlist | Iterable[AnyMixlist],
    *,
    against: AnyTargets = None,
    minimize: bool = False,
    models: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    shapes: Shapes = MappingProxyType({}),
    say: Callable[[str], None] = warn,
    open_models: OpenModels | None = None,
) -> Merge:
    """Merge mixlists into one, as ``opsinfo merge``: of an op type that several name, the last one decides.

    :param mixlists: open ones, or files, which may have comments as for :func:`fmt`
    :param minimize: drop entries that change nothing in the targets; without targets, in any library
    :param models: with ``minimize``, drop also what changes no dtype in these model files
    :param shapes: of inputs of the models, by name
    :param say: called with conflicts, unknown names, and what makes the policies of a target uncertain
    :param open_models: of the room that reads models; `opsinfo_cli.merge` has it
    :raises UsageFault: if models or shapes are given without what they need
    :raises Refused: if a file cannot be read, or the engine would refuse a mixlist
    :raises NoVerdict: if nothing of a model is judged
    """
    targets = targets_of(against)
    paths = [os.fspath(each) for each in ([models] if isinstance(models, (str, os.PathLike)) else models)]
    given = [mixlists] if isinstance(mixlists, (str, os.PathLike, Mixlist, Mapping)) else [*mixlists]
    if not given:
        raise UsageFault("no mixlist is given")
    if paths and not (minimize and targets):
        raise UsageFault("--model requires --minimize and --against")
    if shapes and not paths:
        raise UsageFault("--shape requires --model", hint="add --model MODEL")
    accepted = [
        Mixlist(scan(fixed(Source.read(os.fspath(each)))))
        if isinstance(each, (str, os.PathLike))
        else Mixlist.open(each)
        for each in given
    ]
    for target in targets:
        for doubt in target.doubts_of_policies():
            say(doubt)
    marks = merged(accepted) if len(accepted) > 1 else accepted[0].marks
    result = minimal(marks, [target.operators for target in targets] if minimize else [])
    notes: tuple[str, ...] = ()
    if paths:
        from .check.mixlist import MixlistTarget

        assert open_models is not None
        opened = open_models(paths, shapes)
        without_effect = opened.without_effect(result.marks, list(map(MixlistTarget, targets)))
        if fault := next(filter(None, (model.fault for model in opened)), None):
            raise fault
        result = result.without(without_effect)
        notes = tuple(filter(None, (model.pop_note() for model in opened)))
    disputes = conflicts(accepted)
    for each in disputes:
        sides = ", ".join(f"{' + '.join(one.marks)} in {one.path}" for one in each.given)
        say(f"`{each.name}`: {sides}; the last one wins")
    for message in _unknown(result, targets, minimize):
        say(message)
    sources = tuple(each.path for each in accepted)
    return Merge(sources, tuple(targets), result, disputes, written_like(accepted[0], result.marks), notes)


def _unknown(result: Minimal, targets: Sequence[Target], minimize: bool) -> Iterable[str]:
    """Yield a message for each name that no target has: it may be misspelt."""
    names = result.unknown if minimize else sorted(result.marks)
    known = NearNames({name for target in targets for name in target.operators.names})
    where = " or ".join(target.text for target in targets)
    for name in names if targets else ():
        if any(name in each.operators or name in each.operators.unreadable for each in targets):
            continue
        near = next(filter(None, (target.operators.elsewhere(name) for target in targets)), None)
        near = near or did_you_mean(name, known)
        outcome = "the engine ignores it, and it was dropped" if minimize else "the engine ignores it"
        yield f"`{name}` is not an op type of {where}; {outcome}" + (f"; {near}" if near else "")


def merged(mixlists: Sequence[Mixlist]) -> dict[str, frozenset[Mark]]:
    """Return the marks of every op type, sorted by name: those of the last mixlist that has it."""
    found: dict[str, frozenset[Mark]] = {}
    for mixlist in mixlists:
        found.update(mixlist.marks)
    return dict(sorted(found.items()))


def conflicts(mixlists: Sequence[Mixlist]) -> list[ConflictingOpType]:
    """Return op types to which several mixlists give different policies in some library, sorted by name."""
    given: dict[str, list[Mixlist]] = {}
    for mixlist in mixlists:
        for name in mixlist.marks:
            given.setdefault(name, []).append(mixlist)
    return [
        ConflictingOpType(name, [MarksInOneMixlist(each.path, mark_words(each.marks[name])) for each in having])
        for name, having in sorted(given.items())
        if len({least(each.marks[name]) for each in having}) > 1
    ]


def minimal(marks: Mapping[str, frozenset[Mark]], targets: Sequence[Operators] = ()) -> Minimal:
    """Return the fewest marks with the same effect as ``marks`` on every op type of every target.

    Without a target: in any library. An entry that one target needs, or may need because it could not be read, is kept.

    Source: fe_ops_kernel_info_store.cc:371-439
    """
    found = Minimal()
    for name, whole in marks.items():
        fewest, words = least(whole), mark_words(whole)
        policies = {policy for operators in targets if name in operators for policy in operators[name].policies}
        is_unread = any(name in operators.unreadable for operators in targets)
        if targets and not policies and not is_unread:
            found.dropped.append(DroppedOpType(name, words, "unknown-operator"))
        elif not fewest or (
            targets and not is_unread and all(effective(policy, fewest) is policy for policy in policies)
        ):
            found.dropped.append(DroppedOpType(name, words, "no-effect"))
        else:
            found.marks[name] = fewest
            if fewest != whole:
                found.shortened.append(ShortenedOpType(name, words, mark_words(fewest)))
    return found
