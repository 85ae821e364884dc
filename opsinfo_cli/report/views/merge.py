"""Conflicts of several mixlists, and entries without effect, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...model.mixlist import Conflict, Minimal, mixlist_content
from ...model.near_names import NearNames, did_you_mean
from ...model.policy import Mark
from ...model.target import Target
from ..terminal.output import Output
from .operators import target_document

_NEAR_ASKED = 100
"""The most unknown names for which near names are looked up: each takes milliseconds."""


def conflict_lines(found: Iterable[Conflict]) -> Iterator[str]:
    """Yield the marks of an op type in each mixlist; the last one wins."""
    for conflict in found:
        said = ", ".join(f"{_words(each.marks)} in {each.path}" for each in conflict.given)
        yield f"`{conflict.name}`: {said}; the last one wins"


def say_minimal(output: Output, found: Minimal, targets: list[Target]) -> None:
    """Print the dropped entries with reasons; a name that no target has may be misspelt, so it is a warning."""
    known = NearNames({name for target in targets for name in target.operators.names})
    asked = set(found.unknown[:_NEAR_ASKED])
    for each in found.dropped:
        if each.reason == "unknown-operator":
            near = did_you_mean(each.name, known) if each.name in asked else None
            where = " or ".join(target.text for target in targets)
            said = f"`{each.name}` is not an op type of {where}; the engine ignores it, and it was dropped"
            output.say(said + (f"; {near}" if near else ""), "warning")
        else:
            where = " in the models" if each.reason == "no-effect-in-model" else ""
            output.say(f"dropped `{each.name}` ({_words(each.marks)}): it changes nothing{where}")
    for name, (before, after) in found.shortened.items():
        output.say(f"shortened `{name}`: {_words(before)} -> {_words(after)}")
    kept = f"{len(found.marks)} op type{'' if len(found.marks) == 1 else 's'} kept"
    output.tell(f"{kept}, {len(found.dropped)} dropped, {len(found.shortened)} shortened")


def merge_document(
    sources: list[str], targets: list[Target], found: Minimal, disputes: list[Conflict]
) -> dict[str, Any]:
    said = [
        {
            "name": each.name,
            "given": [{"path": given.path, "marks": _marks(given.marks)} for given in each.given],
        }
        for each in disputes
    ]
    return {"sources": sources, **minimal_document(targets, found), "conflicts": said}


def minimal_document(targets: list[Target], found: Minimal) -> dict[str, Any]:
    return {
        "against": [target_document(target) for target in targets],
        "mixlist": mixlist_content(found.marks),
        "dropped": [{**each._asdict(), "marks": _marks(each.marks)} for each in found.dropped],
        "shortened": [
            {"name": name, "from": _marks(before), "to": _marks(after)}
            for name, (before, after) in found.shortened.items()
        ],
    }


def _marks(marks: frozenset[Mark]) -> list[str]:
    return [str(mark) for mark in sorted(marks)]


def _words(marks: frozenset[Mark]) -> str:
    return " + ".join(_marks(marks))
