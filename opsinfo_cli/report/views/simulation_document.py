"""The results of a simulation, as a JSON document. Infinity is the text ``inf``, an unknown number is null."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...simulate.report import SimulationReport
from ...simulate.trace import TracedNode
from .simulation import first_nodes

if TYPE_CHECKING:
    from typing import Any


def simulation_document(report: SimulationReport) -> dict[str, Any]:
    simulation = report.simulation
    first = {kind.replace("-", "_"): _first(node, why) for kind, node, why in first_nodes(report)}
    return {
        "model": {"path": simulation.path, "opset": simulation.file.opset},
        "precision_mode": simulation.mode,
        "mixlist": report.mixlist,
        "saturate": simulation.rewriter.rounder.saturate,
        "inputs": [each.name for each in simulation.inputs],
        "reference": report.reference,
        "rounded": report.simulated.rounded,
        "outputs": [
            {
                "name": each.name,
                "max_abs_error": _number(each.max_abs_error),
                "max_rel_error": _number(each.max_rel_error),
                "cosine": each.cosine,
                "inf": each.inf,
                "nan": each.nan,
                "reference_inf": each.reference_inf,
                "reference_nan": each.reference_nan,
                "elements": each.elements,
                "why": each.why or None,
            }
            for each in report.simulated.outputs
        ],
        "first_not_finite": first.get("first_not_finite"),
        "first_jump": first.get("first_jump"),
        "types": [
            {
                "type": each.type,
                "nodes": list(each.nodes),
                "error_alone": _number(each.error_alone),
                "error_without": _number(each.error_without),
            }
            for each in report.types
        ],
        "nodes": None if report.trace is None else [_node(each) for each in report.trace.nodes],
        "max_error": report.max_error,
        "min_cosine": report.min_cosine,
        "passes": report.passes,
        "not_shown": [
            {"kind": each.kind, "message": each.message, "nodes": list(each.nodes)} for each in report.limits
        ],
    }


def _number(value: float | None) -> float | str | None:
    return "inf" if value is not None and math.isinf(value) else value


def _first(node: TracedNode | None, why: str) -> dict[str, Any] | None:
    return {"node": node.node, "type": node.type, "why": why} if node else None


def _node(node: TracedNode) -> dict[str, Any]:
    return {
        "node": node.node,
        "type": node.type,
        "error": _number(node.error),
        "error_of_inputs": _number(node.inputs),
        "inf": node.inf,
        "nan": node.nan,
    }
