"""The answer of `bisect`: a table for a terminal, rows for a pipe, the JSON document, and the progress line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...bisect.answered import BisectAnswer, NodesAnswer
from ...bisect.budget import Price, price, span
from ...bisect.session import Rules, SearchSession
from ...errors import join_some
from ..escape import row
from ..formats.summary import counted
from ..terminal.output import Output
from ..terminal.progress import Status

_ENDS = 4
_SLOW = 5.0
"""Seconds of a run above which the expected total time is printed."""


class BisectProgress:
    """A progress line with the findings so far, the running trials, and the expected cost.

    :param candidates: number of candidates
    """

    def __init__(self, output: Output, candidates: int) -> None:
        self._status = Status(output)
        self._candidates = candidates
        self._what = "op types"
        self._output = output
        self._said = False

    def __call__(self, session: SearchSession) -> None:
        self._status(lambda: self._text(session))
        if not self._said and session.spent.runs >= _ENDS and session.left:
            self._said = True
            self._say_time(session)

    def _say_time(self, session: SearchSession) -> None:
        """Print the expected time of the search, from the measured time of a run."""
        each = session.spent.seconds / session.spent.runs
        if each >= _SLOW:
            said = _price(self._candidates, session.rules)
            times = [span(max(0, runs - session.spent.runs) * each) for runs in said]
            self._output.say(f"a run takes {span(each)}: {_in_each_case(times, 'more at most')}")

    def restart(self, candidates: int, what: str) -> None:
        """Continue with other candidates."""
        self._candidates, self._what = candidates, what

    def done(self) -> None:
        self._status.done()

    def _text(self, session: SearchSession) -> str:
        spent = session.spent
        best = session.knowledge.best()
        known = f"{len(best)} of {self._candidates} {self._what} suffice" if best is not None else "no list passes yet"
        running = join_some([str(number) for number in session.running]) or "none"
        left = _left(session)
        text = f"{known}; trial {running} runs; {spent.runs} done, at most {left} left"
        each = spent.seconds / max(1, spent.runs)
        return f"{text}: {span(left * each / max(1, session.place.slots))}" if spent.runs else text


def _left(session: SearchSession) -> int:
    """Return the maximum number of remaining runs."""
    counting = session.rules.counting
    return session.left * (counting.lead or counting.repeat // 2 + 1)


def say_price(output: Output, candidates: int, rules: Rules) -> None:
    """Print the expected cost of the search before it starts."""
    said = _price(candidates, rules)
    text = f"{counted(candidates, 'candidate')}: {_in_each_case([*map(str, said)], 'runs of the check at most')}"
    if rules.budget.runs is not None:
        text += f"; allowed: {counted(rules.budget.runs, 'run')}"
    if rules.budget.seconds is not None:
        text += f"; allowed: {span(rules.budget.seconds)}"
    output.say(text)


def _in_each_case(prices: Sequence[str], what: str) -> str:
    """Return prices for one, three and any number of culprits; equal ones once."""
    one, three, most = prices
    if one == most:
        return f"{most} {what}"
    between = f"{three} if three are, " if three != most else ""
    return f"{one} {what} if one is needed, {between}{most} in the worst case"


def _price(candidates: int, rules: Rules) -> Price:
    counting = rules.counting
    return price(candidates, counting.lead or counting.repeat // 2 + 1)


def show_plan(output: Output, names: Sequence[str], weights: Sequence[float]) -> None:
    """Print candidates, the most suspected first; in a pipe op type and weight."""
    output.lines(row(name, f"{weight:g}") for name, weight in zip(names, weights, strict=True))


def plan_document(names: Sequence[str], weights: Sequence[float], rules: Rules) -> dict[str, Any]:
    """Return the JSON document of a dry run."""
    order = [{"type": name, "weight": weight} for name, weight in zip(names, weights, strict=True)]
    return {"dry_run": True, "order": order, "price": _price(len(names), rules)._asdict()}


_WORDS = {
    "nothing-to-do": "the check passes with the base list: there is nothing to do",
    "cannot-cure": "the check fails with every candidate in high precision: precision lists cannot cure this",
    "budget": "out of budget",
    "interrupted": "interrupted",
}


def show_found(output: Output, answer: BisectAnswer) -> None:
    """Print culprits; in a pipe op type, nodes, Casts, trial, op types with the same nodes."""
    cells = [
        [
            each.type,
            str(len(each.nodes)) if each.casts is not None else "-",
            "-" if each.casts is None else f"{each.casts:+d}",
            "-" if each.trial is None else str(each.trial),
            " ".join(each.same) or "-",
        ]
        for each in answer.culprits
    ]
    if output.on_terminal and cells:
        from ..terminal.table import Column, print_table

        titles = ["op type", "nodes", "Casts", "fails without it: trial"]
        print_table(output, [Column(title) for title in titles], [each[:4] for each in cells])
    elif cells:
        output.lines(row(*each) for each in cells)
    _say(output, answer)


_FAST = 0.05
"""Seconds that opsinfo itself takes for each trial, above which they are always reported."""


def _say(output: Output, answer: BisectAnswer) -> None:
    head = _WORDS.get(answer.ended, "")
    if answer.ended in ("nothing-to-do", "cannot-cure"):
        output.tell(head if not answer.white else _white_words(answer), prose=True)
    elif answer.mixlist is None:
        output.tell(f"{head}: no list is known to pass", prose=True)
    else:
        output.tell(": ".join(each for each in (head, _list_words(answer)) if each), prose=True)
    if answer.keep_dtype is not None:
        output.tell(_node_words(answer.keep_dtype), prose=True)
    counts = answer.counts
    runs = counts.passed + counts.failed + counts.cannot_tell
    said = [f"{counts.passed} passed", f"{counts.failed} failed"]
    said += [f"{counts.cannot_tell} could not tell"] if counts.cannot_tell else []
    spared = f"; {counted(counts.cached, 'set')} needed no run" if counts.cached else ""
    output.tell(f"{counted(runs, 'run')} of the check in {span(counts.seconds)}: {', '.join(said)}{spared}")
    own = f"opsinfo itself took {1000 * answer.overhead:.0f} ms for each trial"
    (output.detail if answer.overhead < _FAST else output.tell)(own)
    if answer.unsure:
        numbers = ", ".join(map(str, answer.unsure))
        output.say(f"trials that could not tell counted as failing: {numbers}", "warning")
    if not answer.by_dtypes:
        doubt = "lists that lead to the same dtypes had different verdicts: dtypes alone do not decide"
        output.say(doubt, "warning")
    if not answer.monotone:
        output.say("the check is not monotone: a list failed although a shorter one passes", "warning")


def _list_words(answer: BisectAnswer) -> str:
    if answer.white:
        what = f"{counted(len(answer.moved), 'op type')} can be white, {len(answer.culprits)} cannot"
        return what + ("; the check fails if any of these is white too" if answer.one_minimal else "")
    what = counted(len(answer.culprits), "op type")
    if answer.one_minimal:
        return f"{what} must stay in high precision; the check fails without any one of them"
    return f"the smallest list known to pass has {what}"


def _node_words(answer: NodesAnswer) -> str:
    if answer.path is None:
        return "the check fails with all of their nodes kept: use the mixlist"
    what = f"{len(answer.nodes)} of {counted(answer.candidates, 'node')} must keep their dtype"
    return what if answer.one_minimal else f"the smallest keep_dtype file known to pass has {len(answer.nodes)} nodes"


def _nodes_document(answer: NodesAnswer) -> dict[str, Any]:
    return {
        "ended": answer.ended,
        "path": answer.path,
        "nodes": [each._asdict() for each in answer.nodes],
        "one_minimal": answer.one_minimal,
    }


def _white_words(answer: BisectAnswer) -> str:
    if answer.ended == "nothing-to-do":
        return f"the check passes with all {answer.candidates} candidates on the white list"
    return "the check fails with the base list: growing the white list cannot help"


def bisect_document(answer: BisectAnswer) -> dict[str, Any]:
    """Return the JSON document of the answer."""
    return {
        "ended": answer.ended,
        "grow": "white" if answer.white else None,
        "culprits": [
            {
                "type": each.type,
                "same": list(each.same),
                "nodes": each.nodes,
                "casts": each.casts,
                "trial": each.trial,
            }
            for each in answer.culprits
        ],
        "moved": answer.moved,
        "mixlist": answer.mixlist,
        "keep_dtype": _nodes_document(answer.keep_dtype) if answer.keep_dtype else None,
        "trials": {**answer.counts._asdict(), "seconds": round(answer.counts.seconds, 3)},
        "one_minimal": answer.one_minimal,
        "monotone": answer.monotone,
        "noisy": answer.noisy,
        "by_dtypes": answer.by_dtypes,
        "candidates": answer.candidates,
        "sets": [
            {
                "kept": each.kept,
                "passed": each.passed,
                "trials": [{"trial": number, "verdict": verdict} for number, verdict in each.trials],
            }
            for each in answer.sets
        ],
        "folder": answer.folder,
        "overhead_ms": round(1000 * answer.overhead, 1),
    }
