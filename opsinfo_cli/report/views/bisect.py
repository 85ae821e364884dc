"""What `bisect` found: a table for a terminal, rows for a pipe, the document, and the line of progress."""

from __future__ import annotations

import time
from typing import Any

from ...bisect.answered import BisectAnswer
from ...bisect.budget import price, span
from ...bisect.session import SearchSession
from ..formats.summary import counted
from ..terminal.output import Output
from ..terminal.progress import Status
from ..terminal.visible import row


class BisectProgress:
    """A line with what is known, what runs, and what it will probably take.

    :param candidates: how many there are
    """

    def __init__(self, output: Output, candidates: int) -> None:
        self._status = Status(output)
        self._candidates = candidates
        self._output = output
        self._begun = time.monotonic()
        self._told = 0

    def __call__(self, session: SearchSession) -> None:
        self._status(lambda: self._text(session))

    def done(self) -> None:
        self._status.done()

    def _text(self, session: SearchSession) -> str:
        spent = session.spent
        best = session.knowledge.best()
        known = f"{len(best)} of {self._candidates} op types suffice" if best is not None else "no list passes yet"
        running = ", ".join(map(str, session.running)) or "none"
        text = f"{known}; running trial {running}; {counted(spent.runs, 'run')}"
        if spent.runs:
            left = max(0, price(self._candidates, 1).three - spent.runs)
            each = spent.seconds / spent.runs
            text += f", {span(each)} each; about {left} left"
            text += f": {span(left * each / max(1, session.place.slots))}" if left else ""
        return text


_WORDS = {
    "nothing-to-do": "the check passes with the base list: there is nothing to do",
    "cannot-cure": "the check fails with every candidate in high precision: precision lists cannot cure this",
    "budget": "out of budget",
    "interrupted": "interrupted",
}


def show_found(output: Output, answer: BisectAnswer) -> None:
    """Culprits; in a pipe op type, nodes, Casts, trial, op types with the same nodes."""
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


def _say(output: Output, answer: BisectAnswer) -> None:
    head = _WORDS.get(answer.ended, "")
    if answer.ended in ("nothing-to-do", "cannot-cure"):
        output.tell(head if not answer.white else _white_words(answer), prose=True)
    elif answer.mixlist is None:
        output.tell(f"{head}: no list is known to pass", prose=True)
    else:
        output.tell(": ".join(each for each in (head, _list_words(answer)) if each), prose=True)
    counts = answer.counts
    runs = counts.passed + counts.failed + counts.cannot_tell
    said = [f"{counts.passed} passed", f"{counts.failed} failed"]
    said += [f"{counts.cannot_tell} could not tell"] if counts.cannot_tell else []
    spared = f"; {counted(counts.cached, 'set')} needed no run" if counts.cached else ""
    output.tell(f"{counted(runs, 'run')} of the check in {span(counts.seconds)}: {', '.join(said)}{spared}")
    output.detail(f"opsinfo itself took {1000 * answer.overhead:.0f} ms for each trial")
    if answer.unsure:
        numbers = ", ".join(map(str, answer.unsure))
        output.say(f"trials that could not tell counted as failing: {numbers}", "warning")
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


def _white_words(answer: BisectAnswer) -> str:
    if answer.ended == "nothing-to-do":
        return f"the check passes with all {answer.candidates} candidates on the white list"
    return "the check fails with the base list: growing the white list cannot help"


def bisect_document(answer: BisectAnswer) -> dict[str, Any]:
    """The JSON of the answer."""
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
        "keep_dtype": None,
        "trials": {**answer.counts._asdict(), "seconds": round(answer.counts.seconds, 3)},
        "one_minimal": answer.one_minimal,
        "monotone": answer.monotone,
        "noisy": answer.noisy,
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
