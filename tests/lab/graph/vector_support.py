"""Vectors: graphs with the answers of the engine's own compiled code, as graphs and kernels of ours."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from corpus_place import CORPUS

from opsinfo_cli.core.cann.install import Install
from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.option_files import CustomizeDtypes
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged
from opsinfo_cli.lab.graph.builder import GraphBuilder
from opsinfo_cli.lab.graph.graph import GraphTensor, ModelFacts, ModelGraph
from opsinfo_cli.lab.graph.judge.kernel_sources import Kernels
from opsinfo_cli.lab.graph.judge.modes import FP16_OP_TYPES
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.result import Answer

OWN = Path(__file__).parent / "vectors"
"""A few of each family, for everybody."""
VECTORS = CORPUS / "vectors"
"""All of them, if the corpus is here."""
FAMILIES = (
    *("core", "corners", "modes", "lib910b", "networks", "fp16_op_types", "promote"),
    *("customize_dtypes", "formats", "subgraphs", "loops", "rules"),
)
"""Those that are graphs; there are also ``mixlist`` and ``onnx``."""
LONG = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f64": "float64",
    "b": "bool",
    "c64": "complex64",
    **{f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "hif8": "hifloat8",
}
SHORT = {long: short for short, long in LONG.items()}


def places(*families: str) -> list[Any]:
    """Folder and family of each file of vectors that is here, for ``pytest.mark.parametrize``."""
    return [
        pytest.param(folder, family, id=f"{kind} {family}")
        for folder, kind, ending in ((OWN, "own", "jsonl"), (VECTORS, "corpus", "jsonl.gz"))
        for family in families
        if (folder / f"{family}.{ending}").exists()
    ]


def vectors(family: str, folder: Path = VECTORS) -> Iterator[dict[str, Any]]:
    """The vectors of a file; ``stores`` of each is the folder with its store."""
    plain = folder / f"{family}.jsonl"
    with plain.open(encoding="utf-8") if plain.exists() else gzip.open(f"{plain}.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield {**json.loads(line), "stores": folder / "stores"}


@cache
def kernels_of(store: str, folder: Path) -> Kernels:
    """:param folder: that of the synthetic stores"""
    if store == "cann-910b":
        operators = Install.open(str(CORPUS / "cann-910b" / "opp"), "ascend910b").operators
        return Kernels(operators)
    return Kernels(Library.read(str(folder / f"{store}.json")).operators)


def mixlist_of(vector: dict[str, Any]) -> Mixlist:
    """:raises Damaged: if the engine would refuse it"""
    content = vector["mixlist"]
    text = content if isinstance(content, str) else json.dumps(content)
    return Mixlist(scan(Source(text.encode(), "mixlist.json")))


def graph_of(vector: dict[str, Any]) -> ModelGraph:
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

    def tensor(dtype: str | None) -> GraphTensor | None:
        return GraphTensor(LONG[dtype], format=form, shape=shape) if dtype else None

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


def customize_of(vector: dict[str, Any]) -> CustomizeDtypes | None:
    text = vector.get("customize_dtypes")
    return None if text is None else CustomizeDtypes(text.removesuffix("\n").split("\n"))


def answers_of(vector: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], Answer | None]]:
    """The engine's answer and opsinfo's for each mode; None if opsinfo refuses a list."""
    prepared = None
    for mode, expected in vector["answers"].items():
        customized = customize_of(vector)
        try:
            marks = mixlist_of(vector).marks if "mixlist" in vector else {}
        except Damaged:
            yield mode, expected, None
            continue
        if customized is not None and any(fault.refuses for fault in customized.faults):
            yield mode, expected, None
            continue
        if prepared is None:
            kernels = kernels_of(vector["store"], vector["stores"])
            assert kernels.operators is not None
            default = FP16_OP_TYPES if vector["store"] == "cann-910b" else ()
            prepared = prepare(
                graph_of(vector),
                kernels.operators,
                customize_dtypes=customized,
                fp16_types=frozenset(vector.get("fp16_op_types", default)),
            )
        yield mode, expected, prepared.judge(mode, marks)


def differences(vector: dict[str, Any]) -> list[str]:
    """Differences to the engine: dtypes and column of every node, Casts, and removed nodes."""
    found = []
    for mode, expected, answer in answers_of(vector):
        where = f"{vector['id']} {mode}"
        if answer is None or "failed" in expected:
            if (answer is None) != ("failed" in expected):
                found.append(
                    f"{where}: the engine {'fails' if 'failed' in expected else 'accepts the lists'}, we do not"
                )
            continue
        for node in answer:
            own = [
                list(map(short, node.inputs)),
                list(map(short, node.outputs)),
                answer.judgement.choices[node.index].column,
            ]
            if own != expected["nodes"][node.name]:
                found.append(f"{where}: {node!r}: {own}, the engine: {expected['nodes'][node.name]}")
        if "trans_failed" in expected:
            continue
        if (casts := casts_in(answer)) != (its := expected_casts(expected)):
            found.append(f"{where}: casts {casts}, the engine: {its}")
        removed = sorted(answer.graph[node].name for node in answer.removed)
        if removed != sorted(expected.get("removed", ())):
            found.append(f"{where}: removed {removed}, the engine: {expected.get('removed')}")
        if (moved := rewired_in(answer)) != sorted(expected.get("rewired", ())):
            found.append(f"{where}: rewired {moved}, the engine: {expected.get('rewired')}")
    return found


def short(dtype: str | None) -> str | None:
    return SHORT.get(dtype, dtype) if dtype else None


def casts_in(answer: Answer) -> list[list[str]]:
    """Casts as the vectors write them: producer, consumer, and each conversion in order."""
    edges: dict[tuple[str, str], list[str]] = {}
    for cast in answer.casts:
        producer = f"{answer.graph[cast.producer].name}:{cast.output}"
        consumer = f"{answer.graph[cast.consumer].name}:{cast.input}"
        edges.setdefault((producer, consumer), []).append(f"{short(cast.begin)}>{short(cast.end)}")
    return sorted([*edge, *steps] for edge, steps in edges.items())


def rewired_in(answer: Answer) -> list[list[str]]:
    """Edges that pass by a conversion of the user's, as the vectors write them: old producer, new one, consumer."""
    found = []
    for (consumer, at), now in answer.rewired.items():
        before = answer.graph[consumer].sources[at]
        assert before is not None
        ends = [f"{answer.graph[source.node].name}:{source.output}" for source in (before, now)]
        found.append([*ends, f"{answer.graph[consumer].name}:{at}"])
    return sorted(found)


def expected_casts(expected: dict[str, Any]) -> list[list[str]]:
    """What the engine answered, without the layout nodes between Casts."""
    casts = [[*each[:2], *(step for step in each[2:] if ">" in step)] for each in expected["casts"]]
    return sorted(each for each in casts if len(each) > 2)
