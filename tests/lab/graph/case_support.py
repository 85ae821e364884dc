"""Readers of the small graphs in cases/README.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from opsinfo_cli.core.cann.library import Library, Operators
from opsinfo_cli.core.cann.marks import Mark
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.lab.graph.builder import GraphBuilder
from opsinfo_cli.lab.graph.graph import GraphTensor, ModelFacts, ModelGraph
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.result import Answer

CASES = Path(__file__).parent / "cases"


def library_of(content: dict[str, Any]) -> Operators:
    entries = {name: entry if isinstance(entry, dict) else entry_of(*entry) for name, entry in content.items()}
    return Library.of(Source(json.dumps(entries).encode(), "aic-ascend910b-ops-info.json")).operators


def entry_of(flag: str, rows: list[str], inputs: int) -> dict[str, dict[str, str]]:
    """An entry of plain formats."""
    entry = {} if not flag else {"precision_reduce": {"flag": flag}}
    for number, row in enumerate(rows):
        side, index = ("input", number) if number < inputs else ("output", number - inputs)
        formats = ",".join(["ND"] * len(row.split(",")))
        entry[f"{side}{index}"] = {"name": f"{side}_{index}", "dtype": row, "format": formats, "paramType": "required"}
    return entry


def graph_of(nodes: list[list[Any]], bodies: dict[str, list[Any]] | None = None) -> ModelGraph:
    builder = GraphBuilder()
    for node in nodes:
        add(builder, *node)
    for name, (owner, inner) in (bodies or {}).items():
        builder.subgraph(name, owner)
        for node in inner:
            add(builder, *node)
    return builder.build(ModelFacts("ge-proto"))


def add(
    builder: GraphBuilder,
    name: str,
    op_type: str,
    inputs: list[str | None],
    outputs: list[str],
    attributes: dict[str, Any] | None = None,
) -> None:
    def tensor(text: str) -> GraphTensor:
        dtype, _, more = text.partition(" ")
        known = tuple(map(int, more.split(","))) if more and more not in ("continuous", "no-shape") else (2, 16)
        shape = None if more == "no-shape" else known
        return GraphTensor(dtype, format="ND", shape=shape, continuous=more == "continuous")

    references: list[tuple[int | str, int] | None] = []
    for each in inputs:
        producer, _, output = (each or "").partition(":")
        references.append((producer, int(output or 0)) if each else None)
    builder.add(name, op_type, references, [tensor(each) for each in outputs], attributes=attributes)


def marks_of(black: list[str] = (), white: list[str] = (), free: list[str] = ()) -> dict[str, frozenset[Mark]]:  # type: ignore[assignment]
    """A mixlist's marks: types added to a list, and types removed from the black one."""
    return {
        **{name: frozenset({Mark("to-add", Policy.BLACK)}) for name in black},
        **{name: frozenset({Mark("to-add", Policy.WHITE)}) for name in white},
        **{name: frozenset({Mark("to-remove", Policy.BLACK)}) for name in free},
    }


def judge(graph: ModelGraph, against: Any, mode: str, mixlist: Any = None, **options: Any) -> Answer:
    return prepare(graph, against, **options).judge(mode, mixlist)
