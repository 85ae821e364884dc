"""JSON rules of a toolkit, ``built_in_graph_rules.json``: patterns of op types that become one operator.

An inner output must have exactly the readers that the rule gives it, inputs are matched by their numbers, and AI Core
must support the result (hicann/ge ffdcbc9f, compiler/engines/nn_engine/fusion/graph_optimizer/graph_fusion/
graph_matcher.cc:560-576, graph_replace.cc:864, 988). Rules with control edges, or with several results, are not read.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any, NamedTuple

from .rule import JSON_RULE, FusionRule, input_of, join

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..graph import GraphNode
    from .rule import Change, FusionGraph, Input

    Feeds = Mapping[int, str]


class JsonRule(NamedTuple):
    """One rule.

    :param types: op types by the name of a node; the first one yields the output
    :param feeds: by node, what feeds each of its inputs: a node or an outer input
    :param takes: the outer input that feeds each input of the result
    """

    types: Mapping[str, frozenset[str]]
    feeds: Mapping[str, Feeds]
    result: str
    takes: Feeds


def json_rules(document: Any, source: str) -> list[FusionRule]:
    """Return the rules of a file in its order; those that are not understood are left out."""
    rules: list[FusionRule] = []
    written = document.get("Rules") if isinstance(document, dict) else None
    for number, rule in enumerate(written if isinstance(written, list) else ()):
        try:
            name, parsed = rule["RuleName"], _parse(rule)
        except (LookupError, TypeError, ValueError, AttributeError):
            continue
        if parsed is not None and isinstance(name, str):
            first, *others = parsed.types
            about = ", ".join("/".join(sorted(parsed.types[name])) for name in (*others, first))
            about = f"{about} become {parsed.result}; inner results have no other readers."
            rules.append(FusionRule(name, JSON_RULE + number, partial(_changes, parsed), source, about=about))
    return rules


def _parse(rule: Mapping[str, Any]) -> JsonRule | None:
    before, after = rule["OriginGraph"], rule["FusionGraph"]
    results = after["Nodes"]
    edges = [(_end(edge["src"]), _end(edge["dst"])) for edge in (*before["Edges"], *after["Edges"])]
    if len(results) != 1 or len(rule["OuterOutputs"]) != 1 or any(a[1] < 0 or b[1] < 0 for a, b in edges):
        return None
    types = {node["name"]: frozenset(_types(node)) for node in before["Nodes"]}
    output = rule["OuterOutputs"][0]["name"]
    feeds: dict[str, dict[int, str]] = {}
    last = ""
    for source, target in ((_end(edge["src"]), _end(edge["dst"])) for edge in before["Edges"]):
        if target[0] == output:
            last = source[0]
        else:
            feeds.setdefault(target[0], {})[target[1]] = source[0]
    takes = {b[1]: a[0] for a, b in edges[len(before["Edges"]) :] if b[0] == results[0]["name"]}
    fed = {name: set(own.values()) & types.keys() for name, own in feeds.items()}
    order = list(TopologicalSorter({last: set(), **fed}).static_order())  # a cycle is a ValueError
    outer = {name for own in feeds.values() for name in own.values()} - types.keys()
    if order[-1] != last or set(order) != types.keys() or not outer.issuperset(takes.values()):
        return None
    ordered = {last: types[last]} | types
    return JsonRule(ordered, feeds, _types(results[0])[0], takes)


def _types(node: Mapping[str, Any]) -> list[str]:
    """:raises ValueError: if it has none"""
    types: Any = node["type"]
    if not isinstance(types, list) or not types or not all(isinstance(op_type, str) for op_type in types):
        raise ValueError(types)
    return types


def _end(text: str) -> tuple[str, int]:
    name, _, number = text.partition(":")
    return name, int(number or 0)


def _changes(rule: JsonRule, it: FusionGraph) -> Iterator[Change]:
    output, *others = rule.types
    if not all(it.has(types) for types in rule.types.values()):
        return
    found = [_match(rule, it, output, node) for node in it.of(*rule.types[output])]
    for places in found:
        if places is None or not it.gone.keys().isdisjoint(places.values()):
            continue
        nodes = {name: it.nodes[place] for name, place in places.items()}
        fed = Counter(name for feeds in rule.feeds.values() for name in feeds.values())
        if any(nodes[name].control for name in rule.types) or any(
            not it.is_read(nodes[name], fed[name]) for name in others
        ):
            continue
        if any(nodes[name].type not in types for name, types in rule.types.items()):
            continue
        given: dict[str, Input] = {}
        outer = [(name, input_of(nodes[node], at)) for node, feeds in rule.feeds.items() for at, name in feeds.items()]
        if any(given.setdefault(name, feed)[0] != feed[0] for name, feed in outer if name not in rule.types):
            continue  # one outer input stands for two
        inputs = [given[rule.takes[number]] for number in sorted(rule.takes)]
        parts = [*sorted((nodes[name] for name in others), key=lambda node: node.index), nodes[output]]
        yield join(rule.result, inputs, parts)._replace(checked=True)


def _match(rule: JsonRule, it: FusionGraph, name: str, node: GraphNode) -> dict[str, int] | None:
    """Return the places of a node and of those that feed it, by name; None if an input is fed by another type."""
    places = {name: node.index}
    for number, feed in rule.feeds.get(name, {}).items():
        if feed not in rule.types:
            if number >= len(node.sources):
                return None
            continue
        producer = it.source(node, number)
        if producer is None or producer.type not in rule.types[feed]:
            return None
        behind = _match(rule, it, feed, producer)
        if behind is None or any(places.get(key, place) != place for key, place in behind.items()):
            return None
        places |= behind
    return places
