"""Generated models: layers of one kind as ONNX, and as the graph engine's text dump with about 2 kB per operator.

python benchmarks/graphs.py onnx 100000 FILE
python benchmarks/graphs.py dump 100000 FILE
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["write_dump", "write_onnx"]

LAYER = ("MatMulV2", "Add", "Relu", "SoftmaxV2", "Mul")
"""Op types of a layer; those with a weight have a Const."""
WEIGHTED = frozenset({"MatMulV2", "Add"})
ONNX = {"MatMulV2": "MatMul", "SoftmaxV2": "Softmax"}


def layers(nodes: int) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (name, op type, producers) of ``nodes`` nodes, Data and NetOutput included."""
    last, made = "data", 1
    yield "data", "Data", []
    while True:
        for op_type in LAYER:
            feeds = [last, last] if op_type == "Mul" else [last]
            if op_type in WEIGHTED:
                if made >= nodes - 2:
                    yield "output", "NetOutput", [last]
                    return
                yield f"w{made}", "Const", []
                feeds.append(f"w{made}")
                made += 1
            elif made >= nodes - 1:
                yield "output", "NetOutput", [last]
                return
            last = f"layer{made}/{op_type.lower()}"
            yield last, op_type, feeds
            made += 1


def write_onnx(path: Path, nodes: int) -> None:
    """Write a model of ``nodes`` nodes; its weights are small and inside the file."""
    import numpy
    from onnx import TensorProto, helper, numpy_helper, save_model

    weight = numpy.ones((8, 8), "f4")
    made, weights = [], []
    for name, op_type, feeds in layers(2 * nodes):
        if op_type == "Const":
            weights.append(numpy_helper.from_array(weight, name))
        elif op_type not in ("Data", "NetOutput"):
            made.append(helper.make_node(ONNX.get(op_type, op_type), feeds, [name], name=name))
        if len(made) == nodes:
            break
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 8]) for name in ("data", made[-1].output[0])]
    graph = helper.make_graph(made, "g", ends[:1], ends[1:], weights)
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def write_dump(path: Path, nodes: int) -> None:
    """Write a dump of ``nodes`` operators, as the graph engine prints it with ``DUMP_GE_GRAPH=2``."""
    with path.open("w", encoding="utf-8") as file:
        file.write('name: "model"\ngraph {\n  name: "main"\n')
        for number, (name, op_type, feeds) in enumerate(layers(nodes)):
            file.write(_operator(number, name, op_type, feeds))
        file.write("}\n")


def _operator(number: int, name: str, op_type: str, feeds: list[str]) -> str:
    inputs = "".join(f'    input: "{each}:0"\n' for each in feeds)
    names = _attribute(4, "_datadump_original_op_names", ["s", name], "STRING")
    keys = _attribute(
        4, "_input_name_idx_key", [word for at in range(len(feeds)) for word in ("s", f"x{at}")], "STRING"
    )
    places = _attribute(4, "_input_name_idx_value", [word for at in range(len(feeds)) for word in ("i", at)], "INT")
    tensors = "".join(_tensor("input_desc", at, number) for at in range(len(feeds)))
    tensors += "" if op_type == "NetOutput" else _tensor("output_desc", 0, number)
    head = f'  op {{\n    name: "{name}"\n    type: "{op_type}"\n{inputs}{names}{keys}{places}'
    return f"{head}    has_out_attr: true\n    id: {number}\n{tensors}  }}\n"


def _tensor(field: str, at: int, number: int) -> str:
    dims = (1, 128 + number % 7 * 64, 768)
    shape = "".join(f"        dim: {each}\n" for each in dims)
    origin = _attribute(6, "origin_shape", [word for each in dims for word in ("i", each)], "INT")
    words = "".join(
        f'      attr {{\n        key: "{key}"\n        value {{\n          s: "{value}"\n        }}\n      }}\n'
        for key, value in (("origin_data_type", "DT_FLOAT"), ("origin_format", "ND"))
    )
    return (
        f"    {field} {{\n      dtype: DT_FLOAT\n      shape {{\n{shape}      }}\n"
        f'      layout: "ND"\n{words}{origin}      has_out_attr: true\n      size: {4 * dims[1] * dims[2]}\n'
        f'      device_type: "NPU"\n      real_dim_cnt: {at + 3}\n    }}\n'
    )


def _attribute(indent: int, key: str, words: list[object], kind: str) -> str:
    """An attribute that is a list: pairs of field and value."""
    blanks = " " * indent
    values = "".join(
        f"{blanks}      {field}: {f'{chr(34)}{value}{chr(34)}' if field == 's' else value}\n"
        for field, value in zip(words[::2], words[1::2], strict=True)
    )
    open_ = f'{blanks}attr {{\n{blanks}  key: "{key}"\n{blanks}  value {{\n{blanks}    list {{\n'
    close = f"{blanks}      val_type: VT_LIST_{kind}\n{blanks}    }}\n{blanks}  }}\n{blanks}}}\n"
    return open_ + values + close


def main(words: list[str]) -> int:
    kind, nodes, path = words
    (write_onnx if kind == "onnx" else write_dump)(Path(path), int(nodes))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
