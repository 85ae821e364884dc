"""Vectors: graphs with the answers of the engine's own compiled code, as graphs and kernels of ours."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from conftest import CORPUS

from opsinfo_cli.graph.builder import GraphBuilder
from opsinfo_cli.graph.graph import Graph, ModelFacts, Tensor
from opsinfo_cli.graph.judge.kernels import Kernels
from opsinfo_cli.model.install import Install
from opsinfo_cli.model.library import Library
from opsinfo_cli.model.mixlist import Mixlist
from opsinfo_cli.text.scanner import scan
from opsinfo_cli.text.source import Source

VECTORS = CORPUS / "vectors"
LONG = {
    **{"f32": "float32", "f16": "float16", "bf16": "bfloat16", "f64": "float64", "b": "bool", "c64": "complex64"},
    **{f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "hif8": "hifloat8",
}
SHORT = {long: short for short, long in LONG.items()}


def vectors(family: str, folder: Path = VECTORS) -> Iterator[dict[str, Any]]:
    with gzip.open(folder / f"{family}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


@cache
def kernels_of(store: str, folder: Path = VECTORS) -> Kernels:
    sources = ("library", "assumed")
    if store == "cann-910b":
        operators = Install.open(str(CORPUS / "cann-910b" / "opp"), "ascend910b").operators
        return Kernels(operators, "ascend910b", sources)
    return Kernels(Library.read(str(folder / "stores" / f"{store}.json")).operators, None, sources)


def mixlist_of(vector: dict[str, Any]) -> Mixlist:
    """:raises Damaged: when the engine would refuse it"""
    content = vector["mixlist"]
    text = content if isinstance(content, str) else json.dumps(content)
    return Mixlist(scan(Source(text.encode(), "mixlist.json")))


def graph_of(vector: dict[str, Any]) -> Graph:
    builder = GraphBuilder()
    add_all(builder, vector["graph"]["nodes"])
    for body in vector["graph"].get("subgraphs", ()):
        builder.subgraph(body["name"], body["parent"])
        add_all(builder, body["nodes"])
    return builder.build(ModelFacts("ge-proto"))


def add_all(builder: GraphBuilder, nodes: list[dict[str, Any]]) -> None:
    outputs = {f"{node['name']}:{number}": dtype for node in nodes for number, dtype in enumerate(node.get("out", ()))}
    for node in nodes:
        add(builder, node, outputs)


def add(builder: GraphBuilder, node: dict[str, Any], dtype_of: dict[str, str]) -> None:
    form, shape = node.get("fmt", "ND"), tuple(node.get("shape", (2, 16)))

    def tensor(dtype: str | None) -> Tensor | None:
        return builder.tensor(LONG[dtype], format=form, shape=shape) if dtype else None

    feeds = node.get("inputs", [])
    attributes: dict[str, object] = dict(node.get("attrs", {}))
    if "parent_in" in node:
        attributes["parent_input"] = node["parent_in"]
    if "parent_out" in node:
        attributes["parent_outputs"] = tuple(node["parent_out"])
    builder.add(
        node["name"],
        node["type"],
        [reference(each) for each in feeds],
        [each for each in map(tensor, node.get("out", ())) if each],
        inputs=[tensor(dtype) for dtype in node.get("in") or [dtype_of.get(each) for each in feeds]],
        control=node.get("ctrl", ()),
        attributes=attributes,
    )


def reference(text: str | None) -> tuple[str, int] | None:
    """`name:0` as a producer and the number of its output."""
    if text is None:
        return None
    name, _, output = text.rpartition(":")
    return name, int(output)
