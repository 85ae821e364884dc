"""The answers of `graph`: op types or nodes, the path to a node's dtypes, profiles of shapes, a comparison, a read-back
and the compiler's passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ....core.terminal.answer import Block, Cell, Column, CommandAnswer, Either, PathCell, Table, Tree
from ....errors import counted, join_some
from ...graph.casts import Cast
from ...graph.constants import ConstantCheck
from ...graph.document import NodeAnswer, PathStep, TypeSummary
from ...graph.fusion_result import FusionResult, PassCount
from ...graph.graph import NOT_COMPUTED, ModelGraph
from ...graph.node_names import unique_ends
from ...graph.read_back import ReadBack
from ...graph.reason import TEXTS
from ...graph.result import Answer, AnswerComparison, GraphAnswer, summaries_of
from ...graph.shape_profiles import ShapeProfile, differences
from ..model_explorer import graph_node_data
from .document import (
    GraphView,
    UnreadFile,
    casts_text,
    comparison_parts,
    coverage_text,
    dtypes,
    graph_document,
    judged_profile,
    memory_text,
    reads_low_text,
)

_MOST_CONSTANTS = 5
_LONGEST_NAME, _LONGEST_END = 16, 30


def rows_answer(view: GraphView, by: str, chosen: Sequence[NodeAnswer] | None) -> CommandAnswer:
    """The op types or nodes of a model.

    :param by: ``type`` or ``node``
    :param chosen: the rows that are shown; None for all
    """
    answer = view.answer
    types = answer.types if chosen is None else summaries_of(chosen)
    shown = answer if chosen is None else chosen

    def document() -> Mapping[str, Any]:
        check = view.constants
        unread = check and [UnreadFile(path, why) for path, why in check.unread.items()]
        constants = check and check.faults
        return graph_document(answer, chosen, constants=constants, unread=unread, cost=view.cost)

    return CommandAnswer(
        document,
        lambda: [_node_table(answer.graph, shown) if by == "node" else _type_table(types)],
        formats={"html": lambda: _page(view), "model-explorer": lambda: graph_node_data(answer, shown)},
        caveats=view.caveats,
        warnings=_constant_warnings(view.constants),
        notes=tuple(filter(None, [_summary(answer, types), memory_text(answer), *_remarks(answer), *view.cost_notes])),
    )


def path_answer(view: GraphView, steps: Sequence[PathStep]) -> CommandAnswer:
    """The path back from a node to the origin of its dtypes."""
    first = steps[0].node
    tree = Tree(_step(steps[0]), [Tree(_step(step)) for step in steps[1:]])
    lines = [[step.name, step.type, step.tensor or "-", step.dtype or "-", step.why] for step in steps]
    table = Table([Column(title) for title in ("node", "op type", "tensor", "dtype", "why")], lines)

    return CommandAnswer(
        lambda: graph_document(view.answer, [first], path=steps),
        lambda: [Either(lambda: [tree], lambda: [table])],
        formats={"html": lambda: _page(replace(view, chosen=first.index))},
        caveats=view.caveats,
    )


def profiles_answer(view: GraphView, profiles: Sequence[ShapeProfile], answers: Sequence[Answer]) -> CommandAnswer:
    """What each profile of shapes gives, and the nodes that differ between them."""
    found = differences(answers)
    titles = ("profile", "nodes", "low", "high", "not judged", "Casts that run")
    counts = [
        [profile.name, *map(str, (own.nodes, own.low, own.high, own.not_judged, own.casts_run))]
        for profile, own in zip(profiles, (answer.counts for answer in answers), strict=True)
    ]
    rows = []
    for node in found:
        names: dict[tuple[str, str], list[str]] = {}
        for profile, row in zip(profiles, node.profiles, strict=True):
            key = ("-", "-") if row is None else (row.type, dtypes(row.outputs))
            names.setdefault(key, []).append(profile.name)
        rows += [[node.name, ";".join(own), op_type, dtype] for (op_type, dtype), own in names.items()]
    tables = [
        Table([Column(title, number=number > 0) for number, title in enumerate(titles)], counts),
        Table([Column(title) for title in ("node", "profiles", "op type", "outputs")], rows),
    ]
    same = "all profiles give every node the same op type and dtypes"
    verb = "differs" if len(found) == 1 else "differ"
    lines = [["profile", *row] for row in counts] + [["node", *row] for row in rows]
    return CommandAnswer(
        lambda: graph_document(answers[0], profiles=[*map(judged_profile, profiles, answers)], profiles_differ=found),
        lambda: [Either(lambda: tables[: 1 + bool(found)], lambda: [Table((), lines)])],
        caveats=view.caveats,
        notes=[f"{counted(len(found), 'node')} {verb} between {len(profiles)} profiles" if found else same],
    )


def _step(step: PathStep) -> str:
    place = f"{step.tensor} {step.dtype or 'unknown'}" if step.tensor else step.dtype or "no dtype"
    return f"{step.name} ({step.type}), {place}: {step.why}"


def comparison_answer(view: GraphView, comparison: AnswerComparison, by: str) -> CommandAnswer:
    """The nodes whose dtypes differ, then added and removed Casts.

    :param by: ``type`` or ``node``: whether a terminal counts them or lists them; in a pipe they are listed
    """
    graph = view.answer.graph

    def lines() -> Iterable[tuple[str, ...]]:
        for a, b in comparison.changed:
            yield "changed", a.name, a.type, dtypes(a.outputs), dtypes(b.outputs)
        for kind, casts in (("cast-gone", comparison.casts_gone), ("cast-added", comparison.casts_added)):
            for cast in casts:
                yield kind, _edge(graph, cast), "Cast", cast.begin, cast.end

    def table() -> Table:
        rows: list[list[Cell]] = [
            ["~", _name(a.name), a.type, dtypes(a.outputs), dtypes(b.outputs)] for a, b in comparison.changed
        ]
        before, after = (
            {_edge(graph, cast): f"{cast.begin} to {cast.end}" for cast in casts}
            for casts in (comparison.casts_gone, comparison.casts_added)
        )
        signs = {(True, True): "~", (True, False): "-", (False, True): "+"}
        for edge in {**before, **after}:
            sign = signs[edge in before, edge in after]
            rows.append([sign, PathCell(edge), "Cast", before.get(edge, "-"), after.get(edge, "-")])
        return Table([Column(title) for title in ("", "node", "op type", "A", "B")], rows, lines)

    def blocks() -> list[Block]:
        types = [table for table in _comparison_by_type(comparison) if table.rows]
        return [table() if by == "node" else Either(lambda: types, lambda: [table()])]

    def page() -> str:
        titles = ("Nodes with other dtypes", "Casts")
        tables = dict(zip(titles, _comparison_by_type(comparison), strict=True))
        return _page(replace(view, comparison=comparison), tables)

    text = (
        f"{counted(len(comparison.changed), 'node')} with other dtypes; "
        f"{counted(len(comparison.casts_gone), 'Cast')} fewer, {len(comparison.casts_added)} new"
    )
    if comparison.only_in_one:
        nodes = f"{counted(len(comparison.only_in_one), 'node')} of A or B"
        text += f"; {nodes}, as {join_some(comparison.only_in_one, 3)}, and their Casts not compared: fused otherwise"
    return CommandAnswer(
        lambda: graph_document(view.answer, **comparison_parts(view.answer, comparison), cost=view.cost),
        blocks,
        formats={"html": page},
        caveats=view.caveats,
        summary="by op type; --by node lists nodes and Casts" if comparison and by == "type" else "",
        notes=(text, *view.cost_notes),
        status=int(bool(comparison)),
    )


def _comparison_by_type(comparison: AnswerComparison) -> tuple[Table, Table]:
    """Return how many nodes of an op type change, and how many Casts between two dtypes."""
    nodes = Counter((a.type, dtypes(a.outputs), dtypes(b.outputs)) for a, b in comparison.changed)
    gone, added = (
        Counter((cast.begin, cast.end) for cast in c) for c in (comparison.casts_gone, comparison.casts_added)
    )
    columns = [Column("op type"), Column("nodes", number=True), Column("A"), Column("B")]
    types = [[name, str(count), a, b] for (name, a, b), count in nodes.most_common()]
    titles = [Column("Cast from"), Column("to"), Column("fewer", number=True), Column("new", number=True)]
    casts = [[begin, end, str(gone[begin, end]), str(added[begin, end])] for begin, end in {**gone, **added}]
    return Table(columns, types), Table(titles, casts)


def _edge(graph: ModelGraph, cast: Cast) -> str:
    return f"{graph[cast.producer].name}:{cast.output} to {graph[cast.consumer].name}:{cast.input}"


def read_back_answer(view: GraphView, back: ReadBack, verbose: bool) -> CommandAnswer:
    """The nodes that differ from a compiled model, and those that were not compared.

    :param verbose: whether a terminal lists the latter, instead of counting them by reason
    """
    differing = [
        [node.name, node.type, dtypes(node.predicted.outputs), dtypes(node.compiled.outputs), node.why]
        for node in back.differs
    ]

    titles = ("node", "op type", "predicted", "compiled", "why predicted")
    differences = Table([Column(title, dim=title == titles[-1]) for title in titles], differing)
    counts = [Column("op type"), Column("matched", number=True), Column("agree", number=True)]
    types = Table(counts, [[row.type, str(row.matched), str(row.agree)] for row in back.types])

    def drawn() -> list[Block]:
        rows: list[list[Cell]] = [
            [_name(node.name), *cells[1:-1], _short_why(node.row)]
            for node, cells in zip(back.differs, differing, strict=True)
        ]
        return [
            table for table in (differences._replace(rows=rows), _unmatched_table(back, verbose), types) if table.rows
        ]

    def page() -> str:
        tables = {"Nodes that differ from the compiled model": differences, "Read back": types}
        return _page(replace(view, back=back), {**tables, "Not compared": _unmatched_table(back, verbose=False)})

    def plain() -> list[Block]:
        lines = [["differs", *cells] for cells in differing]
        lines += [["unmatched", node.name, node.type, node.side, node.why] for node in back.unmatched]
        lines += [["agree", row.type, str(row.matched), str(row.agree)] for row in back.types]
        return [Table((), lines)]

    agreement = "nothing to compare" if back.agreement is None else f"{back.agreement:.1f} % agree"
    text = (
        f"{counted(back.matched, 'compute node')} matched ({back.by_fusion} through fusion): {agreement}; "
        f"{len(back.unmatched)} not compared"
    )
    return CommandAnswer(
        lambda: graph_document(view.answer, read_back=back),
        lambda: [Either(drawn, plain)],
        formats={"html": page},
        caveats=view.caveats,
        notes=(text,),
        status=int(bool(back.differs)),
    )


def fusion_result_answer(view: GraphView, result: FusionResult, verbose: bool) -> CommandAnswer:
    """The passes of a compiler beside the predicted ones.

    :param verbose: whether a terminal shows those without effect, and of unknown rules, too
    """

    def cells(row: PassCount) -> list[str]:
        predicted = "-" if row.predicted is None else str(row.predicted)
        return [row.name, predicted, str(row.matched), str(row.effective), "differs" if row.differs else ""]

    columns = [Column("pass"), *(Column(title, number=True) for title in ("predicted", "matched", "effective"))]
    every = Table([*columns, Column("")], [cells(row) for row in result.passes])

    def shown() -> list[Block]:
        rows = [cells(row) for row in result.passes if verbose or row.differs or row.predicted or row.effective]
        return [every._replace(rows=rows)]

    left = sum(row.predicted is None and row.effective > 0 for row in result.passes)
    known, differing = len(result.known), result.differing
    text = f"{known - differing} of {known} passes with known rules took effect as often as predicted"
    others = f"; {left} more took effect" if left else ""
    closest = f"graph {result.graph}, the closest of {result.graphs} in the file: " if result.graphs > 1 else ""
    return CommandAnswer(
        lambda: graph_document(view.answer, fusion_result=result, passes=result.passes),
        lambda: [Either(shown, lambda: [every])],
        formats={"html": lambda: _page(view, {"Passes of the compiler": every})},
        caveats=view.caveats,
        notes=(f"{closest}{text}{others}",),
        status=int(differing > 0),
    )


def _unmatched_table(back: ReadBack, verbose: bool) -> Table:
    if verbose:
        every: list[list[Cell]] = [[_name(node.name), node.type, node.side, node.why] for node in back.unmatched]
        return Table([Column(title) for title in ("not compared", "op type", "in", "why")], every)
    by_reason: dict[tuple[str, str], Counter[str]] = {}
    for node in back.unmatched:
        by_reason.setdefault((node.side, node.why), Counter())[node.type] += 1
    rows: list[list[Cell]] = [
        [PathCell(", ".join(types)), str(types.total()), side, why] for (side, why), types in by_reason.items()
    ]
    columns = [Column("not compared"), Column("nodes", number=True), Column("in"), Column("why")]
    return Table(columns, rows)


def _type_table(types: Sequence[TypeSummary], whole: bool = False) -> Table:
    """Op types, those with the most low nodes first; in a pipe type, nodes, low, high, list.

    :param whole: with the nodes that are neither low nor high
    """
    titles = ("nodes", "low", "high", *["neither"] * whole)
    rows = []
    for row in types:
        counts = row.nodes, row.low, row.high, row.nodes - row.low - row.high
        rows.append([row.type, *map(str, counts[: len(titles)]), row.policy or "-"])
    columns = [Column("op type"), *(Column(title, number=True) for title in titles), Column("list", policy=True)]
    return Table(columns, rows)


def _node_table(graph: ModelGraph, rows: Iterable[NodeAnswer]) -> Table:
    """Nodes, on a terminal those that compute first; in a pipe name, type, runs, inputs, outputs, list, confidence, why
    in the order of the graph.
    """
    columns = [Column("node"), Column("op type"), Column("runs"), Column("list", policy=True)]
    columns += [Column("outputs", spare=True), Column("why", dim=True)]

    def lines() -> Iterable[tuple[str, ...]]:
        for row in rows:
            ends = dtypes(row.inputs), dtypes(row.outputs)
            yield row.name, row.type, row.runs or "-", *ends, row.policy or "-", row.confidence or "-", row.why

    def cells() -> Iterable[list[Cell]]:
        ends = unique_ends(graph.names)
        for row in sorted(rows, key=lambda row: row.type in NOT_COMPUTED):
            name, why = _name(row.name, ends[row.name]), _short_why(row)
            yield [name, row.type, row.runs or "-", row.policy or "-", dtypes(row.outputs), why]

    return Table(columns, cells(), lines)


def _short_why(node: NodeAnswer) -> str:
    """Return the reason for a column of a terminal; ``--node`` has the whole one."""
    source = "" if node.decided_by is None else node.decided_by.node.rpartition("/")[2]
    short = f"{source[:_LONGEST_NAME]}..." if len(source) > _LONGEST_NAME + 3 else source
    if node.code not in TEXTS:  # the compiler's
        why = node.why
    elif node.code.startswith("refused") and node.confidence == "assumed":
        why = "refused, if as assumed"
    else:
        why = TEXTS[node.code].short.format(by=node.by, source=f"`{short}`")
    why += ", in HF32" if node.compute == "hf32" else ""
    return why + (f", from {node.type_before_fusion}" if node.type_before_fusion else "")


def _name(name: str, end: str = "") -> PathCell:
    """:param end: the last parts, which a terminal keeps if they are short enough"""
    end = end if len(end) <= _LONGEST_END else ""
    return PathCell(name.removesuffix(end), end, is_node=True)


def _page(view: GraphView, tables: Mapping[str, Table] = MappingProxyType({})) -> str:
    """:param tables: by heading"""
    from .page import graph_page

    faults = view.constants.faults if view.constants else ()
    columns = [*map(Column, ("constant", "used by", "why")), Column("first value", number=True)]
    constants = Table(columns, [[fault.name, fault.used_by, fault.why, f"{fault.value:g}"] for fault in faults])
    types = _type_table(view.answer.types, whole=True)
    return graph_page(view, types, {**tables, "Constants out of range": constants})


def _constant_warnings(check: ConstantCheck | None) -> list[str]:
    """Return warnings of the constants that do not fit, those that overflow first."""
    if check is None:
        return []
    faults = sorted(check.faults, key=lambda fault: " overflow " not in fault.why)
    warnings = [
        f"constant `{fault.name}`, used by `{fault.used_by}`: {fault.why}, the first is {fault.value:g}"
        for fault in faults[:_MOST_CONSTANTS]
    ]
    left = len(faults) - _MOST_CONSTANTS
    if left > 0:
        text = "more constants do" if left > 1 else "more constant does"
        warnings.append(f"{left} {text} not fit; --format json lists all")
    return [*warnings, *(f"{path}: {why}: its constants were not checked" for path, why in check.unread.items())]


def _summary(answer: GraphAnswer, types: Sequence[TypeSummary]) -> str:
    """Return the number of compute nodes shown, and of Casts in the whole graph."""
    low, high = sum(row.low for row in types), sum(row.high for row in types)
    coverage = answer.coverage
    nodes = sum(row.nodes for row in types if row.type not in NOT_COMPUTED)
    of = "" if nodes == coverage.compute else f"{nodes} of "
    whole = counted(coverage.compute, "compute node")
    integer = f", {coverage.without_floating} without floating-point tensors" if coverage.without_floating else ""
    return f"{of}{whole}: {low} low, {high} high{integer if not of else ''}; {casts_text(answer)}"


def _remarks(answer: GraphAnswer) -> Iterable[str]:
    if answer.mode_name is not None:
        yield coverage_text(answer.coverage)
    if answer.reads_low:
        yield reads_low_text(answer)
    count = len(answer.in_hf32)
    if count:
        nodes = f"{counted(count, 'high node')} {'are' if count > 1 else 'is'} computed in HF32, not in float32"
        yield f"{nodes}: --allow-hf32 00 keeps float32"
    if answer.fused.fusions:
        yield _fusions(answer)


def _fusions(answer: GraphAnswer) -> str:
    """Return what fusion made of the model: new op types, removed nodes, nodes that became one."""
    one = [node for node in answer.graph if len(node.first_types) == 1]
    renamed = Counter((node.first_type, node.type) for node in one if node.first_type != node.type)
    removed = Counter(fusion.name for fusion in answer.fused.fusions if not fusion.result)
    joined = Counter(fusion.name for fusion in answer.fused.fusions if len(fusion.nodes) > 1 and fusion.result)
    other = {node.name for node in answer.graph if node.first_type != node.type or len(node.first_types) > 1}
    same = Counter(
        fusion.name for fusion in answer.fused.fusions if len(fusion.nodes) == 1 and not other.issuperset(fusion.result)
    )
    parts = [f"{count} {before} to {after}" for (before, after), count in renamed.most_common()]
    parts += [f"{count} changed by {name}" for name, count in same.items()]
    parts += [f"{count} removed by {name}" for name, count in removed.items()]
    parts += [f"{count} into another node by {name}" for name, count in joined.items()]
    return f"fused first: {', '.join(parts)}"
