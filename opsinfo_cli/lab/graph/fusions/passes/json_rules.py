"""The JSON rules of CANN 8.1 that a model of inference meets; a toolkit's own file goes before them."""

from __future__ import annotations

from typing import Any

from ..toolkit_rules import json_rules

_SOURCE = "lib64/plugin/opskernel/fusion_rules/ai_core/built_in_graph_rules.json of CANN 8.1.RC1"


def _rule(name: str, first: str, second: str, at: int, result: str, others: str, takes: str) -> dict[str, Any]:
    """Return a rule of two operators in the form of the file.

    :param at: the input of the second operator that the first one feeds
    :param others: the inputs, as ``first:0 first:1 second:1``
    :param takes: the numbers of those that the result takes, in order
    """
    inputs = [{"src": f"in{number}", "dst": place} for number, place in enumerate(others.split())]
    return {
        "RuleName": name,
        "OuterOutputs": [{"name": "out"}],
        "OriginGraph": {
            "Nodes": [{"name": "first", "type": [first]}, {"name": "second", "type": [second]}],
            "Edges": [*inputs, {"src": "first:0", "dst": f"second:{at}"}, {"src": "second:0", "dst": "out"}],
        },
        "FusionGraph": {
            "Nodes": [{"name": "result", "type": [result]}],
            "Edges": [{"src": f"in{place}", "dst": f"result:{at}"} for at, place in enumerate(takes)],
        },
    }


RULES = tuple(
    json_rules(
        {
            "Rules": [
                _rule("SquareSumV1", "Square", "ReduceSumD", 0, "SquareSumV1", "first:0", "0"),
                _rule("ClipFusionRule0", "Minimum", "Maximum", 0, "ClipByValue", "first:0 first:1 second:1", "021"),
                _rule("ClipFusionRule1", "Minimum", "Maximum", 1, "ClipByValue", "first:0 first:1 second:0", "021"),
            ]
        },
        _SOURCE,
    )
)
