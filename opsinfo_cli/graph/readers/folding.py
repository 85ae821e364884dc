"""Fold constants: a node that depends on constants only becomes one, as in the graph engine before the judge.

``Shape``, ``Size`` and ``Rank`` of a value whose shape is known are constants too. Source: hicann/ge
compiler/graph/passes/ (constant_folding_pass, dimension_compute_pass).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .source import CONST, SourceNode

if TYPE_CHECKING:
    from .source import SourceGraph

_OF_SHAPE = frozenset({"Shape", "ShapeN", "Size", "Rank", "VariableShape"})
_KEPT = """
QuantizeLinear DequantizeLinear DynamicQuantizeLinear Enter RefEnter Switch RefSwitch Merge RefMerge Exit
RefExit NextIteration RefNextIteration LoopCond Assert Print PrintV2 NoOp Placeholder PlaceholderWithDefault
Bernoulli Multinomial
"""
_NOT_FOLDED = frozenset(_KEPT.split())
"""Operators that are not folded: control flow, and operators with a state or an effect."""
_STATEFUL = (
    "Random",
    "Stateful",
    "Stateless",
    "Variable",
    "Var",
    "Queue",
    "TensorArray",
    "Iterator",
    "Assign",
    "Read",
    "Stack",
)


def fold(graph: SourceGraph) -> int:
    """Fold the graph and all its bodies, and return how many nodes became constants or were removed."""
    folded = 0
    for each in graph.walk():
        folded += _fold(each)
    return folded


def _fold(graph: SourceGraph) -> int:
    constant = {""}  # an absent input
    made: list[SourceNode] = []
    folded = 0
    for node in graph.nodes:
        if node.type == CONST:
            constant.update(node.outputs)
            made.append(node)
        elif (node.op in _OF_SHAPE or constant.issuperset(node.inputs)) and _folds(graph, node, constant):
            folded += 1
            constant.update(node.outputs)
            made += _constants(node)
        else:
            made.append(node)
    unused = constant.difference(graph.outputs)
    for node in made:
        if node.inputs:
            unused.difference_update(node.inputs)
    unused.add("")
    waited = {name for node in made if node.control for name in node.control}
    kept = [node for node in made if node.type != CONST or node.name in waited or not unused.issuperset(node.outputs)]
    names = {node.name for node in kept} if waited else set()
    for node in kept if waited else ():
        if node.control:
            node.control = [name for name in node.control if name in names]
    graph.nodes = kept
    return folded + len(made) - len(kept)


def _folds(graph: SourceGraph, node: SourceNode, constant: set[str]) -> bool:
    op = node.op
    given = [value for value in node.inputs if value]
    if not given or node.bodies or op in _NOT_FOLDED or op.startswith(_STATEFUL) or "::" in op or not node.outputs:
        return False
    if constant.issuperset(given):
        return True
    if op not in _OF_SHAPE:
        return False
    shapes = [graph.tensor(value).shape for value in given]
    return all(shape is not None and all(dim >= 0 for dim in shape) for shape in shapes)


def _constants(node: SourceNode) -> list[SourceNode]:
    """Return the constants that replace a folded node, one for each output; their values are not computed."""
    made = []
    for number, value in enumerate(node.outputs):
        if value:
            each = SourceNode(node.name if not number else f"{node.name}:{number}", CONST, [], [value])
            each.type = CONST
            each.number = node.number
            made.append(each)
    return made
