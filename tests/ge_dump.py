"""Graphs written as the graph engine's text dumps (``ge_proto_*.txt``), from plain values.

A graph is ``{"nodes": [...], "subgraphs": [...]}``. A node has ``name``, ``type``, ``inputs`` (``producer:output``,
None for an absent one), ``out`` (the dtype of each output) and, if needed, ``in`` (of each input; else the producer's),
``first_in`` and ``first_out`` (the dtypes before the judge), ``attrs``, ``ctrl``, ``fmt``, ``shape``, ``fused``; in a
subgraph ``parent_in`` (Data) and ``parent_out`` (NetOutput).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

DTYPES = {
    "f32": "FLOAT",
    "f16": "FLOAT16",
    "bf16": "BF16",
    "f64": "DOUBLE",
    "b": "BOOL",
    "c64": "COMPLEX64",
    **{f"{kind[0].lower()}{bits}": f"{kind}{bits}" for kind in ("INT", "UINT") for bits in (8, 16, 32, 64)},
    "hif8": "HIFLOAT8",
}


def ge_dump(graph: Mapping[str, Any], facts: Mapping[str, str] | None = None) -> str:
    """The text of a dump.

    :param facts: attributes of the model, such as ``atc_cmdline``
    """
    bodies = graph.get("subgraphs", ())
    owned: dict[str, list[str]] = {}
    for body in bodies:
        owned.setdefault(body["parent"], []).append(body["name"])
    lines = ['name: "model"']
    for name, nodes in [("main", graph["nodes"]), *((body["name"], body["nodes"]) for body in bodies)]:
        dtype_of = {f"{node['name']}:{at}": word for node in nodes for at, word in enumerate(node.get("out", ()))}
        lines += ["graph {", f'  name: "{name}"']
        for node in nodes:
            lines += _op(node, dtype_of, owned.get(node["name"], ()))
        lines += ["}"]
    for key, value in (facts or {}).items():
        lines += _attr("", key, f's: "{value}"')
    return "\n".join(lines) + "\n"


def _op(node: Mapping[str, Any], dtype_of: Mapping[str, str], subgraphs: Sequence[str]) -> Iterator[str]:
    yield from ("  op {", f'    name: "{node["name"]}"', f'    type: "{node["type"]}"')
    feeds = node.get("inputs", [])
    yield from (f'    input: "{each or ""}"' for each in feeds)
    yield from (f'    input: "{each}:-1"' for each in node.get("ctrl", ()))
    for key, value in node.get("attrs", {}).items():
        yield from _attr("    ", key, f"i: {int(value)}")
    if "data" in node:  # a string with escapes
        yield from _attr("    ", "value", f't {{\n  desc {{\n    dtype: DT_FLOAT\n  }}\n  data: "{node["data"]}"\n}}')
    if "parent_in" in node:
        yield from _attr("    ", "_parent_node_index", f"i: {node['parent_in']}")
    if "fused" in node:
        names = "".join(f'\n          s: "{each}"' for each in node["fused"])
        yield from _attr(
            "    ", "_datadump_original_op_names", f"list {{{names}\n          val_type: VT_LIST_STRING\n}}"
        )
    inputs = node.get("in") or [dtype_of.get(each) for each in feeds]
    for at, dtype in enumerate(inputs):
        parents = node.get("parent_out")
        first = node["first_in"][at] if "first_in" in node else None
        yield from _desc("input_desc", dtype, node, first, parents[at] if parents else None)
    for at, dtype in enumerate(node.get("out", ())):
        yield from _desc("output_desc", dtype, node, node["first_out"][at] if "first_out" in node else None, None)
    yield from (f'    subgraph_name: "{each}"' for each in subgraphs)
    yield "  }"


def _desc(
    kind: str, dtype: str | None, node: Mapping[str, Any], first: str | None, parent: int | None
) -> Iterator[str]:
    yield f"    {kind} {{"
    if dtype:
        yield f"      dtype: DT_{DTYPES[dtype]}"
        yield "      shape {"
        yield from (f"        dim: {each}" for each in node.get("shape", (2, 16)))
        yield "      }"
        yield f'      layout: "{node.get("fmt", "ND")}"'
    if first:
        yield from _attr("      ", "origin_data_type", f's: "DT_{DTYPES[first]}"')
    if parent is not None:
        yield from _attr("      ", "_parent_node_index", f"i: {parent}")
    yield "    }"


def _attr(indent: str, key: str, value: str) -> Iterator[str]:
    lines = [line.strip() for line in value.split("\n")]
    yield from (f"{indent}attr {{", f'{indent}  key: "{key}"', f"{indent}  value {{")
    for number, line in enumerate(lines):
        inner = 0 < number < len(lines) - 1
        yield f"{indent}    {'  ' if inner else ''}{line}"
    yield from (f"{indent}  }}", f"{indent}}}")
