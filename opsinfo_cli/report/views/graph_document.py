"""The effect of a policy on a model, as a JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...graph.answer import PathStep, TypeSummary
from ...graph.comparison import OutcomeComparison
from ...graph.constants import ConstantCheck
from ...graph.outcome import CastOutcome, GraphOutcome, NodeOutcome
from ...graph.read_back import ReadBack

if TYPE_CHECKING:
    from typing import Any


def graph_document(outcome: GraphOutcome, rows: Iterable[NodeOutcome], types: Sequence[TypeSummary]) -> dict[str, Any]:
    """:param types: the op types of the rows; nodes and Casts are made when they are written"""
    model, counts = outcome.graph.model, outcome.cast_counts
    nodes = sum(each.nodes for each in types)
    low, high = sum(each.low for each in types), sum(each.high for each in types)
    return {
        "model": {
            "path": model.path,
            "format": model.format,
            "soc": model.soc_version,
            "command": model.atc_cmdline,
        },
        "precision_mode": outcome.mode,
        "judged": model.judged if outcome.mode is None else True,
        "nodes": map(_node, rows),
        "casts": map(_cast, outcome.casts),
        "types": [
            {"type": each.op_type, "nodes": each.nodes, "low": each.low, "high": each.high, "list": each.policy}
            for each in types
        ],
        "counts": {
            "nodes": nodes,
            "low": low,
            "high": high,
            "not_judged": nodes - low - high,
            "casts": counts.edges,
            "casts_run": counts.run,
            "casts_folded": counts.folded,
        },
        "notes": [
            {"kind": each.kind, "message": each.message, "subject": each.subject, "nodes": each.nodes}
            for each in model.notes
        ],
    }


def _node(row: NodeOutcome) -> dict[str, Any]:
    decided = row.decided_by
    return {
        "name": row.name,
        "type": row.type,
        "subgraph": row.subgraph,
        "list": row.policy,
        "why": row.why,
        "code": row.code,
        "decided_by": None if decided is None else {"node": decided.node, "tensor": decided.tensor},
        "judged": row.judged,
        "inputs": list(row.inputs),
        "outputs": list(row.outputs),
        "original_inputs": list(row.original_inputs),
        "original_outputs": list(row.original_outputs),
        "confidence": row.confidence,
    }


def _cast(cast: CastOutcome) -> dict[str, Any]:
    return {
        "producer": cast.producer,
        "output": cast.output,
        "consumer": cast.consumer,
        "input": cast.input,
        "from": cast.begin,
        "to": cast.end,
        "constant": cast.constant,
    }


def comparison_document(found: OutcomeComparison) -> dict[str, Any]:
    return {
        "changed": [
            {"name": each.name, "type": each.type, "a": _ends(each.a), "b": _ends(each.b)} for each in found.changed
        ],
        "casts_gone": [_cast(each) for each in found.casts_gone],
        "casts_added": [_cast(each) for each in found.casts_added],
    }


def _ends(row: NodeOutcome) -> dict[str, Any]:
    return {"inputs": list(row.inputs), "outputs": list(row.outputs)}


def read_back_document(found: ReadBack) -> dict[str, Any]:
    return {
        "read_back": {
            "agreement": found.agreement,
            "matched": found.matched,
            "by_fusion": found.by_fusion,
            "types": [{"type": each.type, "matched": each.matched, "agree": each.agree} for each in found.types],
            "unmatched": [
                {"name": each.name, "type": each.type, "in": each.side, "why": each.why} for each in found.unmatched
            ],
            "differs": [
                {
                    "name": each.name,
                    "type": each.type,
                    "predicted": _ends(each.predicted),
                    "compiled": _ends(each.compiled),
                    "why": each.predicted.why,
                }
                for each in found.differs
            ],
        }
    }


def constants_document(check: ConstantCheck) -> dict[str, Any]:
    return {
        "constants": [
            {"name": each.name, "used_by": each.used_by, "value": each.value, "why": each.why} for each in check.faults
        ],
        "unread": [{"path": path, "why": why} for path, why in check.unread.items()],
    }


def path_document(steps: Sequence[PathStep], names: Sequence[str], types: Sequence[str]) -> dict[str, Any]:
    return {
        "path": [
            {
                "name": names[step.node],
                "type": types[step.node],
                "tensor": step.tensor,
                "dtype": step.dtype,
                "why": step.reason.text,
            }
            for step in steps
        ]
    }
