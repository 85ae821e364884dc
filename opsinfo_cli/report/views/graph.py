"""The effect of a policy on a model: tables on a terminal, rows in a pipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...graph.answer import AnswerComparison, GraphAnswer, NodeAnswer, PathStep, TypeSummary
from ...graph.casts import Cast
from ...graph.constants import ConstantCheck
from ...graph.graph import ModelGraph
from ...graph.read_back import ReadBack
from ..escape import row, visible
from ..formats.summary import counted
from ..terminal.output import Output

if TYPE_CHECKING:
    from ..terminal.table import Column


def show_types(output: Output, types: Sequence[TypeSummary]) -> None:
    """Print op types, those with the most low nodes first; in a pipe type, nodes, low, high, list."""
    cells = [[each.op_type, str(each.nodes), str(each.low), str(each.high), each.policy or "-"] for each in types]
    titles = ("op type", "nodes", "low", "high", "list")
    _show(output, titles, cells, policies=("list",))


def show_nodes(output: Output, rows: Iterable[NodeAnswer]) -> None:
    """Print nodes in graph order; in a pipe name, type, runs, inputs, outputs, list, confidence, why."""
    if output.on_terminal:
        cells = [[each.name, each.type, each.runs or "-", dtypes(each.outputs), each.why] for each in rows]
        _show(output, ("node", "op type", "runs", "outputs", "why"), cells, spare=("why",))
        return
    output.lines(
        row(
            each.name,
            each.type,
            each.runs or "-",
            dtypes(each.inputs),
            dtypes(each.outputs),
            each.policy or "-",
            each.confidence or "-",
            each.why,
        )
        for each in rows
    )


def show_path(output: Output, steps: Sequence[PathStep]) -> None:
    """Print the origin of a node's dtypes, a line per step; in a pipe name, type, tensor, dtype, why."""
    if not output.on_terminal:
        output.lines(
            row(step.node.name, step.node.type, step.tensor or "-", step.dtype or "-", step.node.why) for step in steps
        )
        return
    with output.paged():
        for number, step in enumerate(steps, 1):
            head = f"{number}. {visible(step.node.name)} ({visible(step.node.type)})"
            place = f"{step.tensor} {step.dtype or 'unknown'}" if step.tensor else step.dtype or "no dtype"
            output.lines(output.wrapped(f"{head}, {place}: {visible(step.node.why)}", indent=3))


def show_comparison(output: Output, graph: ModelGraph, found: AnswerComparison) -> None:
    """Print nodes whose dtypes differ, then added and removed Casts; in a pipe kind, name, type, A, B."""
    changed = [["~", a.name, a.type, dtypes(a.outputs), dtypes(b.outputs)] for a, b in found.changed]
    if output.on_terminal:
        _show(output, ("", "node", "op type", "A", "B"), changed + _casts(graph, found))
    else:
        casts = [("cast-gone", each) for each in found.casts_gone] + [
            ("cast-added", each) for each in found.casts_added
        ]
        output.lines(row("changed", *rest) for _, *rest in changed)
        output.lines(row(kind, _edge(graph, cast), "Cast", cast.begin, cast.end) for kind, cast in casts)
    output.tell(
        f"{counted(len(found.changed), 'node')} with other dtypes; "
        f"{counted(len(found.casts_gone), 'Cast')} fewer, {len(found.casts_added)} new"
    )


def _casts(graph: ModelGraph, found: AnswerComparison) -> list[list[str]]:
    """Return rows of edges whose Cast is added, removed, or converts to another dtype."""
    a, b = (
        {_edge(graph, each): f"{each.begin} to {each.end}" for each in some}
        for some in (found.casts_gone, found.casts_added)
    )
    signs = {(True, True): "~", (True, False): "-", (False, True): "+"}
    return [[signs[edge in a, edge in b], edge, "Cast", a.get(edge, "-"), b.get(edge, "-")] for edge in {**a, **b}]


def _edge(graph: ModelGraph, cast: Cast) -> str:
    return f"{graph[cast.producer].name}:{cast.output} to {graph[cast.consumer].name}:{cast.input}"


def show_read_back(output: Output, found: ReadBack) -> None:
    """Print nodes that differ and nodes that were not compared; in a pipe the kind, name and op type come first.

    On a terminal nodes that were not compared are counted by reason; ``-v`` lists them.
    """
    cells = [
        [each.name, each.type, dtypes(each.predicted.outputs), dtypes(each.compiled.outputs), each.predicted.why]
        for each in found.differs
    ]
    if output.on_terminal:
        _show(output, ("node", "op type", "predicted", "compiled", "why predicted"), cells, spare=("why predicted",))
        _show_unmatched(output, found)
        types = [[each.type, str(each.matched), str(each.agree)] for each in found.types]
        _show(output, ("op type", "matched", "agree"), types)
    else:
        output.lines(row("differs", *each) for each in cells)
        output.lines(row("unmatched", each.name, each.type, each.side, each.why) for each in found.unmatched)
        output.lines(row("agree", each.type, str(each.matched), str(each.agree)) for each in found.types)
    agreement = "nothing to compare" if found.agreement is None else f"{found.agreement:.1f} % agree"
    output.tell(
        f"{counted(found.matched, 'compute node')} matched ({found.by_fusion} through fusion): {agreement}; "
        f"{len(found.unmatched)} not compared",
        prose=True,
    )


def _show_unmatched(output: Output, found: ReadBack) -> None:
    if output.verbose:
        each_one = [[each.name, each.type, each.side, each.why] for each in found.unmatched]
        _show(output, ("not compared", "op type", "in", "why"), each_one, spare=("why",))
        return
    by_reason: dict[tuple[str, str], Counter[str]] = {}
    for each in found.unmatched:
        by_reason.setdefault((each.side, each.why), Counter())[each.type] += 1
    cells = [[", ".join(types), str(types.total()), side, why] for (side, why), types in by_reason.items()]
    _show(output, ("not compared", "nodes", "in", "why"), cells)


_MOST_CONSTANTS = 5


def say_constants(output: Output, check: ConstantCheck) -> None:
    """Warn of the constants that do not fit, those that overflow first."""
    faults = sorted(check.faults, key=lambda each: " overflow " not in each.why)
    for each in faults[:_MOST_CONSTANTS]:
        output.say(
            f"constant `{each.name}`, used by `{each.used_by}`: {each.why}, the first is {each.value:g}", "warning"
        )
    left = len(faults) - _MOST_CONSTANTS
    if left > 0:
        said = "more constants do" if left > 1 else "more constant does"
        output.say(f"{left} {said} not fit; --format json lists all", "warning")
    for path, why in check.unread.items():
        output.say(f"{path}: {why}: its constants were not checked", "warning")


def say_summary(output: Output, outcome: GraphAnswer, types: Sequence[TypeSummary]) -> None:
    """Print the number of nodes shown, and of Casts in the whole graph."""
    low, high = sum(each.low for each in types), sum(each.high for each in types)
    nodes = sum(each.nodes for each in types)
    shown = "" if nodes == len(outcome) else f" of {len(outcome)}"
    others = "not judged" if outcome.mode_name is not None else "neither"
    output.tell(
        f"{nodes}{shown} nodes: {low} low, {high} high, {nodes - low - high} {others}; {casts_said(outcome)}",
        prose=True,
    )


def casts_said(outcome: GraphAnswer) -> str:
    """Return the Casts of a graph as text."""
    casts = outcome.cast_counts
    if not casts.edges:
        return "no edge needs a Cast"
    edges = f"{counted(casts.edges, 'edge')} need{'s' if casts.edges == 1 else ''} a Cast"
    return f"{edges}: {casts.run} to run, {casts.folded} folded on constants{_converted(outcome)}"


def _converted(outcome: GraphAnswer) -> str:
    casts = outcome.cast_counts
    if outcome.mode_name is None or not casts.bytes:
        return ""
    size = f"{casts.bytes / 1e6:.1f} MB" if casts.bytes >= 100_000 else counted(casts.bytes, "byte")
    unknown = f" and {counted(casts.unknown_sizes, 'tensor')} of unknown size" if casts.unknown_sizes else ""
    return f", {size}{unknown} converted in each run"


def dtypes(words: Sequence[str | None]) -> str:
    """Return distinct dtypes with commas: `float16`, `float16,int32`; `-` if there are none."""
    return ",".join(dict.fromkeys(word or "-" for word in words)) or "-"


def _show(
    output: Output,
    titles: Sequence[str],
    cells: Sequence[Sequence[str]],
    policies: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> None:
    if not output.on_terminal:
        output.lines(row(*each) for each in cells)
        return
    if not cells:
        return
    from ..terminal.table import Column, print_table

    columns: list[Column] = [
        Column(title, policy=title in policies, spare=title in spare, dim=title in spare) for title in titles
    ]
    with output.paged():
        print_table(output, columns, cells)
