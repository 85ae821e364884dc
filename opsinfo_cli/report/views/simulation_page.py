"""The results of a simulation, as one HTML page."""

from __future__ import annotations

from ...simulate.report import SimulationReport
from ..formats.summary import counted
from ..page import Number, escaped, page_text, section, table
from .error_plot import svg_text
from .simulation import cosine, first_nodes, number

_FIRST = {"first-not-finite": "First Inf or NaN", "first-jump": "First jump of the error"}


def simulation_page(report: SimulationReport) -> str:
    """Return the page: outputs, the plot, op types, and limits."""
    parts = [section("Outputs", _outputs(report), "outputs")]
    if report.trace is not None:
        parts.append(
            section(
                "Error along the graph",
                f'<div class="plot">\n{svg_text(report.trace.nodes, in_page=True)}</div>\n',
                "trace",
            )
        )
    if report.types:
        parts.append(section("Op types", _types(report), "types"))
    limits = "".join(f"<li>{escaped(each.message)}</li>\n" for each in report.limits)
    parts.append(section("Not shown", f"<ul>\n{limits}</ul>\n", "not-shown"))
    title = f"Simulation of {report.simulation.path}"
    return page_text(title, _facts(report), "".join(parts), styles=["plot.css"])


def _facts(report: SimulationReport) -> list[tuple[str, str]]:
    simulation = report.simulation
    facts = [("Precision mode", simulation.mode)]
    if report.mixlist:
        facts.append(("Mixlist", report.mixlist))
    facts.append(("Inputs", ", ".join(each.name for each in simulation.inputs)))
    facts.append(("Compared with", report.reference or "float32"))
    facts.append(("Rounded", f"in {counted(report.simulated.rounded, 'place')}"))
    for kind, node, why in first_nodes(report):
        facts.append((_FIRST[kind], f"{node.node} ({node.type}): {why}" if node else "none"))
    if report.passes is not None:
        facts.append(("Check", "passes" if report.passes else "fails"))
    return facts


def _outputs(report: SimulationReport) -> str:
    columns = ["Output", "Max abs error", "Max rel error", "Cosine", "Inf", "NaN", "Elements", "Note"]
    rows = [
        [
            each.name,
            *map(
                Number,
                (
                    number(each.max_abs_error),
                    number(each.max_rel_error),
                    cosine(each.cosine),
                    str(each.inf),
                    str(each.nan),
                    str(each.elements),
                ),
            ),
            each.why,
        ]
        for each in report.simulated.outputs
    ]
    return table("Outputs against the reference", columns, rows)


def _types(report: SimulationReport) -> str:
    rows = [
        [
            each.type,
            Number(len(each.nodes)),
            Number(number(each.error_alone)),
            Number(number(each.error_without)),
            ", ".join(each.nodes[:20]) + (f" and {len(each.nodes) - 20} more" if len(each.nodes) > 20 else ""),
        ]
        for each in report.types
    ]
    return table("Op types, those that cost most first", ["Op type", "Nodes", "Alone", "Without", "Names"], rows)
