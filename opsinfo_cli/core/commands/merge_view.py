"""Conflicts of several mixlists, and entries without effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...errors import counted
from ..cann.mixlist import Conflict, Minimal, mixlist_content
from ..cann.near_names import NearNames, did_you_mean
from ..cann.policy import Mark
from ..cann.target import Target
from ..terminal.console import Console
from .operators_view import target_document


def conflict_line(conflict: Conflict) -> str:
    """Return the marks of an op type in each mixlist; the last one wins."""
    given = ", ".join(f"{_words(each.marks)} in {each.path}" for each in conflict.given)
    return f"`{conflict.name}`: {given}; the last one wins"


def report_unknown_names(console: Console, marks: Iterable[str], targets: Sequence[Target]) -> list[str]:
    """Warn of names that no target has.

    :returns: them
    """
    unknown = [
        name
        for name in sorted(marks)
        if targets and all(name not in each.operators and name not in each.operators.unreadable for each in targets)
    ]
    _warn_of_unknown(console, unknown, targets, "the engine ignores it")
    return unknown


def report_minimal(console: Console, result: Minimal, targets: Sequence[Target]) -> list[str]:
    """Report the dropped entries with reasons; a name that no target has may be misspelt, so it is a warning.

    :returns: a line that sums up
    """
    _warn_of_unknown(console, result.unknown, targets, "the engine ignores it, and it was dropped")
    for each in result.dropped:
        if each.reason != "unknown-operator":
            where = " in the models" if each.reason == "no-effect-in-model" else ""
            console.note(f"dropped `{each.name}` ({_words(each.marks)}): it changes nothing{where}")
    for name, (before, after) in result.shortened.items():
        console.note(f"shortened `{name}`: {_words(before)} -> {_words(after)}")
    kept = counted(len(result.marks), "op type")
    return [f"{kept} kept, {len(result.dropped)} dropped, {len(result.shortened)} shortened"]


def _warn_of_unknown(console: Console, names: Iterable[str], targets: Sequence[Target], outcome: str) -> None:
    known = NearNames({name for target in targets for name in target.operators.names})
    where = " or ".join(target.text for target in targets)
    for name in names:
        places = filter(None, (target.operators.elsewhere(name) for target in targets))
        near = next(places, None) or did_you_mean(name, known)
        message = f"`{name}` is not an op type of {where}; {outcome}"
        console.warn(message + (f"; {near}" if near else ""))


def merge_document(
    sources: Sequence[str], targets: Sequence[Target], result: Minimal, disputes: Sequence[Conflict]
) -> Mapping[str, Any]:
    return {
        "sources": list(sources),
        "against": [target_document(target) for target in targets],
        "mixlist": mixlist_content(result.marks),
        "dropped": [{**each._asdict(), "marks": _marks(each.marks)} for each in result.dropped],
        "shortened": [
            {"name": name, "from": _marks(before), "to": _marks(after)}
            for name, (before, after) in result.shortened.items()
        ],
        "conflicts": [
            {
                "name": each.name,
                "given": [{"path": given.path, "marks": _marks(given.marks)} for given in each.given],
            }
            for each in disputes
        ],
    }


def _marks(marks: frozenset[Mark]) -> list[str]:
    return [str(mark) for mark in sorted(marks)]


def _words(marks: frozenset[Mark]) -> str:
    return " + ".join(_marks(marks))
