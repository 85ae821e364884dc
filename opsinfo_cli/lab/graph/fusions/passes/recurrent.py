"""Passes on recurrent layers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..rule import ABSENT, COPY, UNNUMBERED, Change, FusionRule, input_of, own_constant, with_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..rule import FusionGraph


def _lstm(it: FusionGraph) -> Iterator[Change]:
    """CommonLSTM becomes DynamicRNN; both weights are one constant. Two of them for both directions."""
    for node in it.of("CommonLSTM"):
        x, w, r, b, lengths, h, c = (input_of(node, number) for number in range(7))
        mask = ABSENT if lengths == ABSENT else own_constant("uint8")
        bias = own_constant(node.inputs[0].dtype or "float32") if b == ABSENT else b
        result = with_inputs(node, "DynamicRNN", [x, w, bias, ABSENT, h, c, ABSENT, ABSENT, ABSENT, mask])
        if result.origin is not None and r[2]:
            result = replace(result, origin=result.origin._replace(merged=((1, r[2]),)))
        yield Change((node,), result)


def _gru(it: FusionGraph) -> Iterator[Change]:
    """CommonGRU becomes DynamicGRUV2; the bias becomes two."""
    for node in it.of("CommonGRU"):
        x, w, r, b, lengths, h = (input_of(node, number) for number in range(6))
        other = ABSENT if b == ABSENT else own_constant(b[1].dtype or "float32")
        yield Change((node,), with_inputs(node, "DynamicGRUV2", [x, w, r, b, other, lengths, h]))


RULES = (
    FusionRule("CommonGRUFusionPass", 4171, _gru, f"{COPY} (2022), its name and test", confidence="medium"),
    FusionRule("CommonLSTMFusionPass", UNNUMBERED, _lstm, f"{COPY} (2022), in part", confidence="medium"),
)
