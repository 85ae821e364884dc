"""The model with the roundings of a plan, built for every trial from unchanged parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .rounding_plan import RoundingPlan, Spot, TensorSide

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .onnx_model import OnnxFile
    from .round_in_onnx import Rounder
    from .rounding_plan import RoundedTensor

PREFIX = "opsinfo/"
"""Prefix of the names of inserted values."""
NOTHING = RoundingPlan()


class Rewriter:
    def __init__(self, file: OnnxFile, rounder: Rounder) -> None:
        self.file = file
        self.rounder = rounder
        self.prefix = PREFIX
        values = [value for node in file.nodes for value in node.proto.output]
        for graph in file.scopes:
            values += [tensor.name for tensor in (*graph.initializer, *graph.input)]
            values += [tensor.values.name for tensor in graph.sparse_initializer]
        while any(value.startswith(self.prefix) for value in values):
            self.prefix = f"_{self.prefix}"
        self._shell = type(file.proto)()
        self._shell.CopyFrom(file.proto)
        del self._shell.graph.node[:]

    def model(self, plan: RoundingPlan, more: Sequence[str] = ()) -> bytes:
        """Return a model that rounds according to the plan.

        :param more: values of the main graph to return after the model's outputs
        :raises Refused: if the model's opset lacks operators that a rounding needs
        """
        made = type(self._shell)()
        made.CopyFrom(self._shell)
        graph = made.graph
        nodes, outputs = _Rewriting(self, plan).nodes(0)
        graph.node.extend(nodes)
        for at, name in outputs.items():
            graph.output[at].name = name
        for value in more:
            graph.output.add().name = value
        data: bytes = made.SerializeToString()
        return data


class _Rewriting:
    def __init__(self, rewriter: Rewriter, plan: RoundingPlan) -> None:
        self.file = rewriter.file
        self.rounder = rewriter.rounder
        self.prefix = rewriter.prefix
        self.plan = plan
        self.owners = plan.owners
        self.scopes = {spot.owner for spot in plan if spot.side is TensorSide.RESULT}
        self.scopes |= {self.file.nodes[node].scope for node in self.owners}
        self.stored: dict[tuple[int, str], str] = {}
        self.count = 0

    def nodes(self, scope: int) -> tuple[list[Any], dict[int, str]]:
        """Return the nodes of one graph, and the new names of its outputs."""
        made: list[Any] = []
        ready: dict[tuple[str, str], str] = {}
        for number in self.file.nodes_of(scope):
            proto = self.file.nodes[number].proto
            if not (number in self.owners or self._has_touched_body(number)):
                made.append(proto)
                continue
            copy = type(proto)()
            copy.CopyFrom(proto)
            for at, value in enumerate(proto.input):
                rounded = self.plan.get(Spot(TensorSide.INPUT, number, at))
                if rounded is not None:
                    copy.input[at] = self._entering(made, ready, scope, value, rounded)
            made.append(copy)
            for at, value in enumerate(proto.output):
                rounded = self.plan.get(Spot(TensorSide.OUTPUT, number, at))
                if rounded is not None and value:
                    prefix = self._prefix()
                    copy.output[at] = f"{prefix}/before"
                    made += self.rounder.nodes(copy.output[at], value, rounded.own, rounded.dtype, prefix)
                    self.stored[scope, value] = rounded.dtype
            self._rewrite_bodies(number, copy)
        outputs: dict[int, str] = {}
        graph = self.file.scopes[scope]
        for at, value in enumerate(graph.output):
            rounded = self.plan.get(Spot(TensorSide.RESULT, scope, at))
            if rounded is not None:
                outputs[at] = self._entering(made, ready, scope, value.name, rounded)
        return made, {at: name for at, name in outputs.items() if name != graph.output[at].name}

    def _has_touched_body(self, number: int) -> bool:
        return any(
            body in self.scopes or any(map(self._has_touched_body, self.file.nodes_of(body)))
            for _, body in self.file.bodies_of(number)
        )

    def _entering(
        self, made: list[Any], ready: dict[tuple[str, str], str], scope: int, value: str, rounded: RoundedTensor
    ) -> str:
        """Return the name of the rounded value; the value itself if it is already stored in that dtype."""
        if self.stored.get((scope, value)) == rounded.dtype:
            return value
        key = value, rounded.dtype
        if key not in ready:
            prefix = self._prefix()
            ready[key] = f"{prefix}/{rounded.dtype}"
            made += self.rounder.nodes(value, ready[key], rounded.own, rounded.dtype, prefix)
        return ready[key]

    def _prefix(self) -> str:
        self.count += 1
        return f"{self.prefix}{self.count}"

    def _rewrite_bodies(self, number: int, copy: Any) -> None:
        left = list(self.file.bodies_of(number))
        for attribute in copy.attribute:
            graphs = [attribute.g] if attribute.HasField("g") else list(attribute.graphs)
            for graph in graphs:
                at = next(at for at, (name, _) in enumerate(left) if name == attribute.name)
                _, scope = left.pop(at)
                nodes, outputs = self.nodes(scope)
                del graph.node[:]
                graph.node.extend(nodes)
                for output, name in outputs.items():
                    graph.output[output].name = name
