"""The answers of `graph` in its formats: op types or nodes, the path of one node, a comparison, a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...errors import UsageFault
from ...graph.answer import GraphAnswer, NodeAnswer, TypeSummary, compared, summarised
from ...graph.constants import ConstantCheck, constant_faults
from ...graph.read_back import read_back
from ...model.near_names import NearNames, meant
from ...model.target import TargetOptions
from ...report.terminal.output import Output
from ...report.terminal.progress import step
from ...report.views.graph import (
    say_constants,
    say_summary,
    show_comparison,
    show_nodes,
    show_path,
    show_read_back,
    show_types,
)
from ...report.views.graph_document import (
    comparison_document,
    constants_document,
    graph_document,
    path_document,
    read_back_document,
)
from ..line import declare
from ..shared.options import matches
from .comparing import CompareOptions, compiled_answer, other_judging
from .judging import JudgedModel, facts, notes

if TYPE_CHECKING:
    from typing import Any


class RowOptions(NamedTuple):
    """Which rows are shown.

    :param by: ``type`` or ``node``
    :param states: low, high, cast, first-column, assumed: the shown nodes are in one of them
    :param globs: patterns of names and op types
    """

    by: str
    states: tuple[str, ...]
    globs: tuple[str, ...]

    @property
    def given(self) -> list[str]:
        """Return the given options."""
        words = (("--by node", self.by == "node"), ("--on", self.states), ("--match", self.globs))
        return [word for word, given in words if given]

    @property
    def choose(self) -> bool:
        """Return whether only some nodes are shown."""
        return bool(self.states or self.globs)


ROWS = declare.Group("rows", RowOptions)


def show_rows(output: Output, outcome: GraphAnswer, rows: RowOptions, judged: JudgedModel | None) -> int:
    """Show op types or nodes, and the constants that do not fit."""
    with step(output, "looking at", len(outcome)):
        chosen = list(_chosen(outcome, rows)) if rows.choose else None
        types = _types(outcome, chosen, judged)
        check = constant_faults(judged.answer) if judged else None
    shown = outcome if chosen is None else chosen
    if not len(shown) and len(outcome):
        asked = " and ".join(word for word in rows.given if word != "--by node")
        output.say(f"none of the {len(outcome)} nodes matches {asked}")
    if output.format == "html":
        _show_page(output, outcome, types, judged, check)
    elif output.format == "json":
        constants = constants_document(check) if check else {}
        _write_document(output, {**graph_document(outcome, shown, types), **constants}, outcome)
        return 0
    elif rows.by == "node":
        with step(output, "listing", 0 if output.on_terminal else len(outcome)):
            show_nodes(output, shown)
    else:
        show_types(output, types)
    if check:
        say_constants(output, check)
    if output.format == "text":
        say_summary(output, outcome, types)
    return 0


def _types(outcome: GraphAnswer, chosen: list[NodeAnswer] | None, judged: JudgedModel | None) -> Sequence[TypeSummary]:
    return outcome.types if chosen is None else summarised(chosen)


def _chosen(outcome: GraphAnswer, rows: RowOptions) -> Iterator[NodeAnswer]:
    states, globs = rows.states, rows.globs
    names = outcome.graph.names
    with_casts = (
        {names[index] for cast in outcome.casts for index in (cast.producer, cast.consumer)} if "cast" in states else ()
    )
    for row in outcome:
        if globs and not (matches(row.name, globs) or matches(row.type, globs)):
            continue
        found = {row.runs, row.code, row.confidence, "cast" if row.name in with_casts else None}
        if not states or found & {*states}:
            yield row


def show_way(output: Output, judged: JudgedModel, name: str) -> int:
    """Show the path from a node back to the origin of its dtypes.

    :raises UsageFault: if the graph has no node of this name
    """
    names = judged.answer.graph.names
    try:
        steps = judged.answer.path_of(name)
    except KeyError:
        hint = meant(NearNames(names).suggestions(name)) or "--by node lists the nodes"
        raise UsageFault(f"unknown node `{name}`", name="unknown-node", hint=hint) from None
    outcome = judged.answer
    if output.format == "html":
        types = judged.answer.types
        _show_page(output, outcome, types, judged, constant_faults(judged.answer), chosen=steps[0].node.index)
    elif output.format == "json":
        row = steps[0].node
        document = graph_document(outcome, [row], summarised([row]))
        output.document({**document, **path_document(steps)})
    else:
        show_path(output, steps)
    return 0


def show_compared(output: Output, judged: JudgedModel, comparing: CompareOptions, options: TargetOptions) -> int:
    """Show the differences from a second judging or a compiled model; the exit status is 1 if there are any."""
    document: dict[str, Any]
    on_page: dict[str, Any]
    if comparing.read_back is not None:
        compiled = compiled_answer(comparing.read_back, output)
        with step(output, "comparing", len(compiled)):
            back = read_back(judged.answer, compiled)
        differs, document, on_page = bool(back.differs), read_back_document(back), {"back": back}
        if output.format == "text":
            show_read_back(output, back)
    else:
        other = other_judging(judged, comparing, options, output).answer
        with step(output, "comparing", len(other)):
            found = compared(judged.answer, other)
        differs, document = bool(found), comparison_document(judged.answer.graph, found)
        on_page = {"comparison": found}
        if output.format == "text":
            show_comparison(output, judged.answer.graph, found)
    types = judged.answer.types
    if output.format == "json":
        _write_document(output, {**graph_document(judged.answer, judged.answer, types), **document}, judged.answer)
    elif output.format == "html":
        ((word, value),) = comparing.given.items()
        on_page["compared_with"] = f"{word.removeprefix('--compare-').replace('-', ' ').lstrip()} {value}"
        _show_page(output, judged.answer, types, judged, constant_faults(judged.answer), **on_page)
    return int(differs)


def _show_page(
    output: Output,
    outcome: GraphAnswer,
    types: Sequence[TypeSummary],
    judged: JudgedModel | None,
    check: ConstantCheck | None,
    **more: Any,
) -> None:
    """:param more: further fields of ``GraphPage``"""
    from ...report.views.graph_page import GraphPage, graph_page

    page = GraphPage(outcome, types, facts(outcome, judged), notes(outcome, judged), check, **more)
    with step(output, "drawing", len(outcome)):
        text = graph_page(page)
    output.data(text, exact=True)


def _write_document(output: Output, content: dict[str, Any], outcome: GraphAnswer) -> None:
    with step(output, "writing", 0 if output.on_terminal else len(outcome)):
        output.document(content)
