"""The results of a simulation: tables and a plot for a terminal, rows for a pipe."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...simulate.report import SimulationReport
from ...simulate.trace import JUMP, TracedNode
from ..escape import row, visible
from ..formats.summary import counted
from ..terminal.output import Output

if TYPE_CHECKING:
    from ..terminal.table import Column

NO_NODE = "none"


def number(value: float | None, digits: int = 3) -> str:
    """Return an error in few digits: ``0.0182``, ``inf``; ``-`` if it is unknown."""
    return "-" if value is None else f"{value:.{digits}g}"


def cosine(value: float | None) -> str:
    """Return a cosine as text; ``1`` only if it is exactly 1."""
    if value is None:
        return "-"
    return "1" if value == 1 else f"{min(value, 0.999999999):.9f}".rstrip("0") if value > 0.9999 else f"{value:.6f}"


def show_simulation(output: Output, report: SimulationReport) -> None:
    """Print outputs, the first faulty nodes, op types, a plot; in a pipe, rows begin with their kind."""
    outputs = [
        [
            each.name,
            number(each.max_abs_error),
            number(each.max_rel_error),
            cosine(each.cosine),
            str(each.inf),
            str(each.nan),
        ]
        for each in report.simulated.outputs
    ]
    types = [
        [each.type, str(len(each.nodes)), number(each.error_alone), number(each.error_without)] for each in report.types
    ]
    if not output.on_terminal:
        output.lines(row("output", *each) for each in outputs)
        for kind, node, why in first_nodes(report):
            output.lines([row(kind, *((node.node, node.type, why) if node else ("-", "-", "-")))])
        output.lines(row("type", *each) for each in types)
        return
    from ..terminal.table import Column, print_table

    with output.paged():
        titles = ("output", "max abs error", "max rel error", "cosine", "Inf", "NaN")
        print_table(output, _columns(titles), outputs)
        for kind, node, why in first_nodes(report):
            said = f"{visible(node.node)} ({visible(node.type)}): {why}" if node else NO_NODE
            output.lines(output.wrapped(f"{_KINDS[kind]}: {said}", indent=2))
        if types:
            output.lines([""])
            print_table(output, [Column(each) for each in ("op type", "nodes", "error alone", "error without")], types)
        _plot(output, report)


def _columns(titles: Sequence[str]) -> list[Column]:
    from ..terminal.table import Column

    return [Column(title, spare=title in ("max abs error",)) for title in titles]


_KINDS = {"first-not-finite": "first Inf or NaN", "first-jump": "first jump of the error"}


def first_nodes(report: SimulationReport) -> list[tuple[str, TracedNode | None, str]]:
    """Return the first node that yields Inf or NaN, and the first whose error jumps, each with the reason."""
    if report.trace is None:
        return []
    wrong, jump = report.trace.first_not_finite, report.trace.first_jump
    return [
        ("first-not-finite", wrong, _not_finite(wrong) if wrong else ""),
        ("first-jump", jump, _jump(jump) if jump else ""),
    ]


def _not_finite(node: TracedNode) -> str:
    found = [f"{count} {word}" for count, word in ((node.inf, "Inf"), (node.nan, "NaN")) if count]
    return f"{' and '.join(found)} in {counted(node.elements, 'value')} that are finite in float32"


def _jump(node: TracedNode) -> str:
    inputs = f"at most {number(node.inputs)}" if node.inputs else "none"
    return f"error {number(node.error)}; error of its inputs: {inputs}"


def _plot(output: Output, report: SimulationReport) -> None:
    if report.trace is None:
        return
    from .error_plot import text_plot

    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    lines = list(text_plot(report.trace.nodes, output.columns, encoding in ("utf8", "utf16")))
    if lines:
        output.lines(["", "error along the graph", *lines])


def say_doubts(output: Output, report: SimulationReport) -> None:
    """Print what limits the meaning of the numbers."""
    for each in report.simulated.outputs:
        if each.why:
            output.say(f"output `{each.name}`: {each.why}", "warning")
        if each.reference_inf or each.reference_nan:
            said = f"output `{each.name}`: the reference has {each.reference_inf} Inf and {each.reference_nan} NaN"
            output.say(said, "warning")
    if not report.simulated.rounded:
        output.say("no tensor of this model is low in this mode: nothing was rounded", "warning")


def say_simulated(output: Output, report: SimulationReport) -> None:
    """Print how much was rounded and what the outputs were compared with."""
    against = f"outputs of {report.reference}" if report.reference else "float32"
    sets = counted(len(report.simulation.inputs), "set")
    output.tell(
        f"rounded in {counted(report.simulated.rounded, 'place')}; compared with {against}, {sets} of inputs; "
        f"max rel error is max|a-b| / max|b|, a jump is {JUMP:g} times the inputs' error",
        prose=True,
    )


def say_limits(output: Output, report: SimulationReport) -> None:
    output.tell("not shown:")
    for each in report.limits:
        output.tell(f"- {each.message}", prose=True)


def say_passes(output: Output, report: SimulationReport) -> None:
    """Print whether the outputs are within the bounds."""
    if report.passes is None:
        return
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (("--max-error", report.max_error), ("--min-cosine", report.min_cosine))
        if bound is not None
    ]
    failing = [each.name for each in report.simulated.outputs if not each.passes(report.max_error, report.min_cosine)]
    if not failing:
        output.tell(f"passes {' and '.join(bounds)}")
        return
    worst = report.simulated.max_rel_error
    found = "not finite" if math.isinf(worst) else number(worst)
    said = f"fails {' and '.join(bounds)}: {counted(len(failing), 'output')}, the largest error is {found}"
    output.tell(said, prose=True)
