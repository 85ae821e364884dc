"""Patterns of op types, matched as the engine does it: from the output back, each input by the first name that fits.

A name without op types takes anything, so that ``Add(x, mul)`` is not ``Add(mul, x)`` if ``x`` is such a name: it takes
the first input. Nothing else is compared, not even whether the same name stands for the same node; that is for the
pass. Source: hicann/ge ffdcbc9f, graph_metadef/register/graph_optimizer/graph_fusion/pattern_fusion_base_pass_impl.cc.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..graph import GraphNode
    from .rule import FusionGraph

_LINE = re.compile(r"(\w+) = ([\w|]+)\(([\w, ]*)\)")


class Pattern:
    """A pattern, one ``name = Type|Type(name, name)`` a line; the last one is the output.

    An operator may have more inputs than its line.
    """

    def __init__(self, text: str) -> None:
        self.types: dict[str, frozenset[str]] = {}
        self.inputs: dict[str, list[str]] = {}
        for name, types, inputs in _LINE.findall(text):
            self.types[name] = frozenset(types.split("|"))
            self.inputs[name] = [word for word in inputs.split(", ") if word]
        self.output = next(reversed(self.types))

    def matches(self, it: FusionGraph) -> Iterator[dict[str, GraphNode]]:
        """Yield the nodes of each match by name, as they are then; all matches are found before the first one."""
        places = [self._match(it, node) for node in it.of(*self.types[self.output])]
        for found in places:
            if found is not None and it.gone.keys().isdisjoint(found.values()):
                nodes = {name: it.nodes[place] for name, place in found.items()}
                if all(nodes[name].type in types for name, types in self.types.items()):
                    yield nodes

    def _match(self, it: FusionGraph, output: GraphNode) -> dict[str, int] | None:
        """Return the place of the first node of each name; None if the output does not match."""
        waiting = [(output, self.output)]
        matched = {self.output: output.index}
        while waiting:
            node, name = waiting.pop(0)
            left = list(self.inputs.get(name, ()))
            for source in node.sources:
                if source is None:
                    continue
                producer = it.nodes[source.node]
                fits = (label for label in left if producer.type in self.types.get(label, (producer.type,)))
                taken = next(fits, None)
                if taken is None:
                    continue
                left.remove(taken)
                matched.setdefault(taken, producer.index)
                waiting.append((producer, taken))
            if left:
                return None
        return matched
