"""One mixlist from one or several, with the fewest marks, and without what changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, cast
from warnings import warn

from ..errors import UsageFault
from .cann.marks import Mark, mark_words
from .cann.mixlist import AnyMixlist, Conflict, Minimal, Mixlist, conflicts, merged, minimal, mixlist_content, narrowed
from .cann.near_names import NearNames, did_you_mean
from .cann.target import AnyTargets, Target, targets_of
from .change.fmt import fixed
from .change.plan import NOT_WRITTEN, Result, written_like
from .text.scanner import scan
from .text.source import Source

if TYPE_CHECKING:
    from .cann.input_shapes import Shapes
    from .check.model_rules import LoadModelRules
    from .documents import merge as documents


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
    conflicts: list[Conflict]
    text: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Merge of {', '.join(self.sources)}: {len(self.minimal.marks)} op types>"

    def to_dict(self, output: str | None = None, change: Result = NOT_WRITTEN) -> documents.MergeDocument:
        """Return the JSON document of ``opsinfo merge``.

        :param output: the file that the mixlist is for
        :param change: what writing it changed
        """
        return {
            "schema_version": 1,
            "command": "merge",
            "sources": [*self.sources],
            "against": [target.facts for target in self.against],
            "mixlist": cast("documents.Mixlist", mixlist_content(self.minimal.marks)),
            "dropped": [
                {"name": each.name, "marks": mark_words(each.marks), "reason": each.reason}
                for each in self.minimal.dropped
            ],
            "shortened": [
                {"name": name, "from": mark_words(before), "to": mark_words(after)}
                for name, (before, after) in self.minimal.shortened.items()
            ],
            "conflicts": [
                {
                    "name": each.name,
                    "given": [{"path": given.path, "marks": mark_words(given.marks)} for given in each.given],
                }
                for each in self.conflicts
            ],
            "output": output,
            "change": change.change,
            "files": change.file_documents(),
            "dry_run": change.dry_run,
        }


def merge(
    mixlists: AnyMixlist | Iterable[AnyMixlist],
    *,
    against: AnyTargets = None,
    minimize: bool = False,
    models: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    shapes: Shapes = MappingProxyType({}),
    say: Callable[[str], None] = warn,
    model_rules: LoadModelRules | None = None,
) -> Merge:
    """Merge mixlists into one, as ``opsinfo merge``: of an op type that several name, the last one decides.

    :param mixlists: open ones, or files, which may have comments as for :func:`fmt`
    :param minimize: drop entries that change nothing in the targets; without targets, in any library
    :param models: with ``minimize``, drop also what changes no dtype in these model files
    :param shapes: of inputs of the models, by name
    :param say: called with conflicts, unknown names, and what makes the policies of a target uncertain
    :param model_rules: of the room that reads models; `opsinfo_cli.merge` has it
    :raises UsageFault: if models or shapes are given without what they need
    :raises Refused: if a file cannot be read, or the engine would refuse a mixlist
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

        assert model_rules is not None
        rules = model_rules()
        opened = rules.open_models(paths, shapes)
        result = narrowed(result, rules.without_effect(result.marks, opened, list(map(MixlistTarget, targets))))
        notes = tuple(model.note for model in opened if model.note)
    disputes = conflicts(accepted)
    for each in disputes:
        sides = ", ".join(f"{marks_text(one.marks)} in {one.path}" for one in each.given)
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


def marks_text(marks: Iterable[Mark]) -> str:
    return " + ".join(map(str, sorted(marks)))
