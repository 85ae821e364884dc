"""Warnings beside an answer: names that a target lacks, uncertain policies, options that leave nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import join_some
from ...model.library import Operators
from ...model.target import Target
from ...report.terminal.output import Output

if TYPE_CHECKING:
    from ...model.mixlist import Mixlist


def report_unknown(mixlist: Mixlist, operators: Operators, output: Output) -> list[str]:
    """Report the op types of a mixlist that a target lacks: the engine ignores them.

    :returns: their names, sorted
    """
    unknown = [name for name in sorted(mixlist.marks) if name not in operators]
    if not unknown:
        return []
    from ...model.near_names import NearNames, did_you_mean

    known = NearNames(operators.names)
    for name in unknown:
        near = did_you_mean(name, known)
        text = f"unknown operator `{name}`: not in the target, the engine ignores it"
        output.say(text + (f"; {near}" if near else ""), "warning")
    return unknown


def report_no_match(output: Output, total: int, narrowing: dict[str, object]) -> None:
    """Report that options leave none of the operators.

    :param narrowing: the value of each option that leaves operators out
    """
    given = [option for option, value in narrowing.items() if value]
    output.say(f"none of the {total} operators matches {' and '.join(given)}")


def report_doubts(target: Target, output: Output) -> None:
    """Report what makes the policies of a target uncertain."""
    for store in target.operators.stores:
        if store.doubts:
            first = store.doubts[0]
            more = f" (and {len(store.doubts) - 1} more)" if len(store.doubts) > 1 else ""
            text = f"{first.path}:{first.line}: {first.message}{more}; current engines refuse this store"
            output.say(text, "warning")
        for paths, names in store.undecided().items():
            if any(len({entry.policy for entry in store.contenders(name)}) > 1 for name in names):
                output.say(f"the load order of {join_some(paths)} is undefined; see `opsinfo doctor`", "warning")
