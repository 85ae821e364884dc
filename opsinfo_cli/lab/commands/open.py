"""Open models and profiles for commands, and report how they were found."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...errors import UsageFault, counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...core.cann.input_shapes import ShapesOf
    from ...core.terminal.console import Console
    from ..bisect.cost import Prices
    from ..graph.graph import ModelGraph
    from ..profile.table import Table
    from ..profile.times import Profile, Run


def open_model(path: str, console: Console, shapes_of: ShapesOf | None = None) -> ModelGraph:
    """Return a model's graph, and report what the reader could not read and how it was compiled.

    :param shapes_of: the shapes that are written into it, as :func:`.read_graph` does
    :raises UsageFault: if they do not fit it
    :raises Refused: if the file cannot be read or is not a model
    """
    from ..graph.atc_options import command_options
    from ..graph.judge.modes import mode_by_number
    from ..graph.readers import read_graph
    from ..graph.refusals import refusal_lines

    total = os.path.getsize(path) if os.path.isfile(path) else None
    with console.progress("reading", total) as advance:
        graph = read_graph(path, advance, shapes_of)
    for note in graph.model.notes:
        console.note(f"{path}: {note.message}")
    for line in refusal_lines(graph.model):
        console.warn(f"{path}: {line}")
    if graph.model.atc_cmdline:
        given = command_options(graph.model.command)
        mode = given.get("precision_mode_v2") or given.get("precision_mode")
        console.note(f"compiled by: {graph.model.atc_cmdline}")
        default = "unknown, the file of --raw_ge_options is not read" if given.get("raw_ge_options") else "its default"
        console.note(f"precision mode of that command: {mode or default}")
        if given.get("modify_mixlist"):
            console.note(f"mixlist of that command: {given['modify_mixlist']}")
    elif (number := graph.model.graph_precision_mode) is not None:
        named = mode_by_number(number)
        console.note(f"precision mode in the file: {named.name if named else number}")
    return graph


def open_profile(
    paths: tuple[str, ...], console: Console, nodes: Collection[str] = (), run: Run | None = None
) -> tuple[list[Table], Profile]:
    """Read tables, and folders of tables, with a progress bar.

    :param nodes: names of nodes whose calls are kept
    :raises Refused: if a file is no such table, or has a line that cannot be read
    :raises UsageFault: if no row is of the device and step
    """
    from ..profile.table import Table, find_tables
    from ..profile.times import profile_of

    found = find_tables(paths)
    for path, why in found.passed:
        console.note(f"{path}: not read: {why}")
    with console.progress("reading", sum(map(_size_of, found.paths))) as advance:
        tables = [Table(path, advance) for path in found.paths]
        profile = profile_of(tables, nodes, run)
    if not profile.runs:
        if run and any(run):
            raise UsageFault("no row is of this device and step", name="no-match", path=found.paths[0])
        console.warn("the tables have no row with a time")
    return tables, profile


def _size_of(path: str) -> int:
    return os.path.getsize(path) if os.path.isfile(path) else 0


def open_prices(graph: ModelGraph, paths: tuple[str, ...], console: Console) -> Prices:
    """Return what the nodes of a model took when they ran, and report how they were found.

    :raises Refused: as :func:`open_profile`
    """
    from ..bisect.cost import Prices
    from ..graph.result import NOT_COMPUTED

    prices = Prices(graph, open_profile(paths, console, {*graph.names})[1])
    nodes = sum(op_type not in NOT_COMPUTED for op_type in graph.types)
    if prices.matched:
        console.note(f"{prices.matched} of {counted(nodes, 'compute node')} ran under their names")
    else:
        console.warn("no node of the model ran under its name: its op types have the times of the profile")
    return prices
