"""The answer of `bisect`: culprits and how they were found; the plan of a search, and its progress."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ....core.document import as_json
from ....core.terminal.answer import Cell, Column, CommandAnswer, Lines, Table
from ....core.terminal.console import Console
from ....core.terminal.page import section, table_page
from ....core.terminal.plot import Curve, MarkKind, Plot, PlotMark, svg_text
from ....errors import counted, join_some
from ...bisect.culprits import BisectAnswer, Candidate, ResultByNode, SearchPlan
from ...bisect.curve import CurvePoint
from ...bisect.problem import Problem
from ...bisect.search.minimal_set import Price, between
from ...bisect.session import Rules, SearchSession
from ...bisect.verdicts import TrialVerdict
from ..graph.document import cost_text, coverage_text, duration, nodes_text, size

Show: TypeAlias = Callable[[str, float], None]
"""Shows a text, and the share that is done."""
_ENDS = 4
_NODES = 10
"""Names that are shown of a longer list; JSON has all."""
_SLOW = 5.0
"""Seconds of a run above which the expected time of the search is printed."""
_FAST = 0.05
"""Seconds that opsinfo itself takes for each trial, above which they are always reported."""


def span(seconds: float) -> str:
    """Return a time as text: ``8 s``, ``4 min``, ``2.5 h``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def progress_of(console: Console, show: Show, what: str) -> Callable[[SearchSession], None]:
    """Return what shows the running trials, the best list so far, and the runs done and left.

    After a few runs it prints the expected time of the search, from the measured time of a run.

    :param what: what the candidates are, as a plural
    """
    is_told = False

    def tell(session: SearchSession) -> None:
        nonlocal is_told
        runs, lead = session.spent.runs, session.rules.lead or 1
        left = session.left * lead
        slots, count = max(1, session.place.slots), len(session.subject.names)
        seconds = session.spent.seconds / max(1, runs)
        best = session.knowledge.best()
        running = f"{len(session.running)} running, " if len(session.running) > 1 else ""
        time = f" ({span(seconds * left / slots)})" if runs else ""
        known = "no list passes yet" if best is None else f"best: {len(best)} of {count} {what}"
        text = f"{known}; {runs} done, {running}at most {left} left{time}"  # beside it a bar has room in 80 columns
        show(text, runs / max(1, runs + left))
        if is_told or runs < _ENDS or not left:
            return
        is_told = True
        if seconds >= _SLOW and session.expected is not None:
            bounds = (max(0, bound - session.runs) for bound in (session.expected.one, session.expected.most))
            times = [span(math.ceil(bound / slots) * seconds) for bound in bounds]
            console.note(f"a run takes {span(seconds)}: expect {between(*times)} more")

    return tell


def price_line(expected: Price, candidates: int, rules: Rules) -> str:
    """Return how many runs a search is expected to take, before it starts."""
    text = f"{counted(candidates, 'candidate')}: expect {expected.between} runs of the check"
    if rules.budget.runs is not None:
        text += f"; allowed: {counted(rules.budget.runs, 'run')}"
    if rules.budget.seconds is not None:
        text += f"; allowed: {span(rules.budget.seconds)}"
    return text


def plan_answer(problem: Problem, rules: Rules) -> CommandAnswer:
    """Return what a search would do: candidates with how strongly they are suspected, the most suspected first."""
    order = list(zip(problem.names, problem.weights, strict=True))
    columns = [Column("op type"), Column("suspicion", number=True)]
    table = Table(columns, [(name, f"{weight:g}") for name, weight in order])
    expected = problem.price(rules)
    plan = SearchPlan([Candidate(name, weight) for name, weight in order], expected)
    page = table_page("Plan of a search", [("Candidates", str(len(problem.names)))], [table])
    return CommandAnswer(lambda: as_json(plan), lambda: [table], {"html": lambda: page})


def bisect_answer(answer: BisectAnswer, facts: Sequence[tuple[str, str]], status: int) -> CommandAnswer:
    """:param facts: the model, the target and the check, for the page"""
    return CommandAnswer(
        answer.to_dict,
        lambda: [_culprits(answer), *([_curve(answer.curve)] if answer.curve else []), *_unwritten(answer)],
        formats={"html": lambda: _page(answer, facts)},
        notes=list(_notes(answer)),
        status=status,
    )


def _unwritten(answer: BisectAnswer) -> Iterator[Lines]:
    """Yield the list, if it could not be written: it is never lost."""
    if answer.failed and answer.mixlist is None:
        yield from (Lines(text.splitlines()) for text in answer.texts.values())


def _culprits(answer: BisectAnswer) -> Table:
    """Off a terminal op type, nodes, Casts, trial, and op types with the same nodes."""
    rows = [
        (
            culprit.type,
            "-" if culprit.casts is None else str(len(culprit.nodes)),
            "-" if culprit.casts is None else f"{culprit.casts:+d}",
            "-" if culprit.trial is None else str(culprit.trial),
            " ".join(culprit.same) or "-",
        )
        for culprit in answer.culprits
    ]
    columns = [Column("op type"), *(Column(title, number=True) for title in ("nodes", "Casts", "proved by trial"))]
    is_proved = answer.end.minimal or not answer.end.stopped
    title = _TITLES[answer.white, is_proved]
    if any(culprit.same for culprit in answer.culprits):
        return Table([*columns, Column("same nodes", spare=True)], rows, title=title)
    return Table(columns, [row[:4] for row in rows], lambda: rows, title=title)


def _curve(points: Sequence[CurvePoint]) -> Table:
    """The cheapest list first; off a terminal after the word ``curve`` loss, cost, trial, mark and op types."""
    has_time = points[0].cost.microseconds is not None
    titles = ["time"] if has_time else ["Casts", "nodes", "bytes"]

    rows: list[list[Cell]] = []
    lines: list[list[str]] = []
    for point in points:
        counts = [str(point.cost.casts), str(point.cost.nodes)]
        cost, exact = [*counts, size(point.cost.bytes)], [*counts, str(point.cost.bytes)]
        if point.cost.microseconds is not None:
            cost, exact = [duration(point.cost.microseconds)], [f"{point.cost.microseconds:g}"]
        names = join_some(point.names) or "none"
        mark = "dominated" if point.dominated else ""
        rows.append([f"{point.number:.4g}", *cost, str(point.trial), mark, names])
        line = ["curve", f"{point.number:.9g}", *exact, str(point.trial), mark or "-", " ".join(point.names) or "-"]
        lines.append(line)
    columns = [Column(title, number=True) for title in ("loss", *titles, "trial")]
    return Table([*columns, Column("", dim=True), Column("high")], rows, lambda: lines, title="Loss against cost")


_STOPPED = {"budget": "out of budget", "interrupted": "interrupted"}
_TITLES = {
    (False, True): "Op types that must stay in high precision",
    (False, False): "Op types that stay in high precision for now: not proved yet",
    (True, True): "Op types that cannot be white",
    (True, False): "Op types that are not white for now: not proved yet",
}
"""By whether the white list was grown, and whether the list is proved."""


def _notes(answer: BisectAnswer) -> Iterator[str]:
    if answer.end.ended in ("nothing-to-do", "cannot-cure"):
        yield _end_words(answer)
    elif answer.end.kept is None:
        yield f"{_STOPPED[answer.end.ended]}: no list is known to pass"
    else:
        head = _STOPPED.get(answer.end.ended)
        yield f"{head}: {_list_words(answer)}" if head else _list_words(answer)
    if answer.end.ended == "cannot-cure":
        if lines := answer.last_output:
            yield "last lines of the check:"
            yield from (f"  {line}" for line in lines)
        yield "if you correct the check, begin anew with --restart"
    yield from effect_lines(answer)
    if answer.nodes is not None:
        yield _node_words(answer.nodes)
    if next_step := answer.next_step:
        yield next_step
    spent, cached = answer.session.spent, answer.cached
    spared = f"; {counted(cached, 'list')} answered from earlier runs" if cached else ""
    yield f"{counted(spent.runs, 'run')} of the check in {span(spent.seconds)}: {_verdicts(answer)}{spared}"
    if spent.overhead >= _FAST and answer.end.ended != "interrupted":
        yield overhead_line(answer)


def effect_lines(answer: BisectAnswer) -> Iterator[str]:
    """Yield what the list moves and what stays low; of the largest list, if that fails, with the nodes."""
    effect = answer.effect
    if effect is None or answer.white:
        return
    low = effect.left_low
    if answer.end.ended == "cannot-cure":
        if effect.still_low:
            yield f"still low with all candidates on the black list: {join_some(effect.still_low, _NODES)}"
    elif answer.culprits:
        cost = effect.cost
        yield f"the list moves {cost_text(cost)} to high; it leaves {nodes_text(low) if low.nodes else 'no node'} low"
    if text := coverage_text(effect.coverage):
        yield f"{text}; no list moves them"
    yield from (limit.message for limit in effect.limits)
    if effect.hf32 and (answer.culprits or answer.end.ended == "cannot-cure"):
        nodes = f"{counted(effect.hf32, 'node')} of the list {'is' if effect.hf32 == 1 else 'are'}"
        yield f"{nodes} computed in HF32; --allow-hf32 00 (atc: --allow_hf32=00) keeps float32"


def overhead_line(answer: BisectAnswer) -> str:
    return f"opsinfo itself took {1000 * answer.session.spent.overhead:.0f} ms for each trial"


def doubt_lines(answer: BisectAnswer) -> Iterator[str]:
    """Yield what makes the answer uncertain."""
    if answer.session.spent.cannot_tell:
        yield f"trials that could not tell counted as failing: {', '.join(map(str, answer.session.spent.cannot_tell))}"
    if answer.session.knowledge.parted:
        yield "lists that lead to the same dtypes had different verdicts: dtypes alone do not decide"
    if not answer.monotone:
        yield "contradictory: a longer list failed, a shorter one passed"


def _end_words(answer: BisectAnswer) -> str:
    if answer.white and answer.end.ended == "nothing-to-do":
        candidates = counted(len(answer.session.subject.names), "candidate")
        return f"the check passes with every candidate on the white list: {candidates}"
    if answer.white:
        return "the check fails with the base list: is the check right?"
    if answer.end.ended == "nothing-to-do":
        return "the check passes with the base list: there is nothing to do"
    counts = answer.session.spent.counts
    if counts[TrialVerdict.CANNOT_TELL] and not counts[TrialVerdict.PASS] + counts[TrialVerdict.FAIL]:
        return "the check could not tell in any run (exit status 125): is it right?"
    return "even the largest list fails: is the check right? if it is, no precision list helps"


def _list_words(answer: BisectAnswer) -> str:
    if answer.white:
        what = f"{counted(len(answer.moved), 'op type')} can be white, {len(answer.culprits)} cannot"
        return what + ("; the check fails if any of these is white too" if answer.end.minimal else "")
    what = counted(len(answer.culprits), "op type")
    if answer.end.minimal:
        return f"{what} must stay in high precision; the check fails without any one of them"
    return f"the smallest list known to pass has {what}"


def _node_words(answer: ResultByNode) -> str:
    if answer.ended == "cannot-cure":
        return "the check fails with all of their nodes kept: use the mixlist"
    if answer.cost is None:
        return f"no keep_dtype file is known to pass; {counted(answer.runs, 'run')} among nodes"
    what = f"{len(answer.nodes)} of {counted(len(answer.session.subject.names), 'node')} must keep the dtype"
    what += f": {join_some([f'`{each.name}`' for each in answer.nodes], 5)}" if answer.nodes else ""
    if not answer.one_minimal:
        what = f"the smallest keep_dtype file known to pass has {counted(len(answer.nodes), 'node')}"
    moves = f"it moves {cost_text(answer.cost)} to high; " if answer.cost else ""
    return f"{what}; {moves}found in {counted(answer.runs, 'more run')}"


def _verdicts(answer: BisectAnswer) -> str:
    counts = answer.session.spent.counts
    unsure = f", {counts[TrialVerdict.CANNOT_TELL]} could not tell" if counts[TrialVerdict.CANNOT_TELL] else ""
    return f"{counts[TrialVerdict.PASS]} passed, {counts[TrialVerdict.FAIL]} failed{unsure}"


def _page(answer: BisectAnswer, facts: Sequence[tuple[str, str]]) -> str:
    unproved = "not proved yet" if answer.end.stopped else "not proved"
    minimal = "proved: the check fails without any one of them" if answer.end.minimal else unproved
    facts = [
        *facts,
        ("Ended", answer.end.ended),
        ("Candidates", str(len(answer.session.subject.names))),
        *([("List", answer.mixlist)] if answer.mixlist else []),
        ("Runs", f"{_verdicts(answer)}; {counted(answer.cached, 'list')} answered from earlier runs"),
        ("Time", span(answer.session.spent.seconds)),
        ("Minimal", minimal),
        *([("Next", next_step)] if (next_step := answer.next_step) else []),
        *(("Effect", line) for line in effect_lines(answer)),
        *(("Doubt", line) for line in doubt_lines(answer)),
    ]
    tables = [_culprits(answer)] if answer.culprits else []
    if answer.culprits and any(culprit.nodes for culprit in answer.culprits):
        rows = [(name, culprit.type) for culprit in answer.culprits for name in culprit.nodes]
        tables.append(Table([Column("node"), Column("moved by")], rows, title="Nodes that they move"))
    if answer.nodes is not None and answer.nodes.nodes:
        nodes = [(node.name, node.type, str(node.trial or "-")) for node in answer.nodes.nodes]
        columns = [Column("node"), Column("op type"), Column("proved by trial", number=True)]
        must = "must keep their dtype" if answer.nodes.one_minimal else "keep their dtype for now: not proved yet"
        tables.append(Table(columns, nodes, title=f"Nodes that {must}"))
    lead = ""
    if answer.curve:
        drawing = svg_text(curve_plot(answer.curve), in_page=True)
        lead = section("Loss against cost", f'<div class="plot">\n{drawing}</div>\n', "curve")
        curve = _curve(answer.curve)
        whole = [[*row[:-1], ", ".join(point.names)] for row, point in zip(curve.rows, answer.curve, strict=True)]
        tables.append(curve._replace(rows=whole))
    columns = [Column("trial"), Column("verdict"), Column("op types"), Column("in high precision")]
    sets = [
        (
            ", ".join(str(run.trial) for run in tally.runs),
            ", ".join(run.verdict.value for run in tally.runs),
            str(len(names)),
            ", ".join(names) or "none",
        )
        for names, tally in answer.session.lists()
    ]
    tables.append(Table(columns, sets, title="Lists that were run"))
    return table_page(
        f"Smallest list: {answer.end.ended.replace('-', ' ')}", facts, tables, lead=lead, styles=["plot.css"]
    )


_SPARE = 0.05
"""The share of the range that is free above and below the points."""


def curve_plot(points: Sequence[CurvePoint]) -> Plot:
    """Return the lists as a plot: loss upwards, cost (time, else the bytes moved to high, else nodes) to the right.

    The line is the least loss that a list of at most this cost has. Dominated lists are gray; a loss that is not finite
    is at the top.
    """
    if points[0].cost.microseconds is not None:
        unit, costs = "microseconds", [point.cost.microseconds or 0.0 for point in points]
    elif any(point.cost.bytes for point in points):
        unit, costs = "bytes in high precision", [float(point.cost.bytes) for point in points]
    else:
        unit, costs = "nodes in high precision", [float(point.cost.nodes) for point in points]
    finite = [point.number for point in points if math.isfinite(point.number)] or [0.0]
    spare = (max(finite) - min(finite)) * _SPARE or abs(finite[0]) * _SPARE or 1.0
    low, high = min(finite) - spare, max(finite) + spare
    line: list[tuple[float, float]] = []
    marks: list[PlotMark] = []
    for cost, point in sorted(zip(costs, points, strict=True), key=lambda pair: pair[0]):
        y = point.number if math.isfinite(point.number) else high
        if math.isfinite(point.number) and (not line or y < line[-1][1]):
            line.append((cost, y))
        kind: MarkKind = "bad" if not math.isfinite(point.number) else "faint" if point.dominated else "large"
        names = ", ".join(point.names) or "no op type"
        marks.append(PlotMark(cost, y, f"loss {point.number:.4g}, {unit} {cost:g}, trial {point.trial}: {names}", kind))
    if line:
        line.append((max(costs), line[-1][1]))
    return Plot(
        "Loss against cost",
        "",
        unit,
        [Curve("", line)],
        low,
        high,
        math.floor(min(costs)),
        math.ceil(max(costs)),
        holds=True,
        marks=marks,
        caption="loss of the lists that were run; gray: another list costs and loses no more",
        empty="No list has a finite loss.",
    )
