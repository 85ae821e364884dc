"""Fuzz the readers of model files, guided by coverage (needs atheris: `python -m pip install atheris`).

    python tests/long/fuzz_graph.py -max_total_time=600             ten minutes, as once before a release
    python tests/long/fuzz_graph.py -max_total_time=20              as in CI
    python tests/long/fuzz_graph.py FOLDER -max_total_time=600      keep interesting inputs in FOLDER
    python tests/long/fuzz_graph.py crash-1234                      run one input again

Options are libFuzzer's. What every input must satisfy is in `tests/lab/graph/readers_invariants.py`: the reader returns
a graph with valid edges, or raises one of its own errors. Exit status 0: no input broke this. An input that does is
kept as `crash-...` in the working directory. ONNX models need the `onnx` package; without it they are refused at once.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fuzzing import Check, fuzz

WORDS = [
    "IMOD",
    "graph {\\x0a",
    "  op {\\x0a",
    "    input_desc {\\x0a",
    "    attr {\\x0a",
    "  }\\x0a",
    "node {\\x0a",
    "ge:Add",
]
WORDS += [
    "origin_data_type",
    "_format_continuous",
    "_parent_node_index",
    "DT_FLOAT16",
    "trans_Cast_0",
    "StatefulPartitionedCall",
]
WORDS += [
    "Switch",
    "Merge",
    "While",
    "VarHandleOp",
    "ReadVariableOp",
    "Conv",
    "LayerNormalization",
    "If",
    "Loop",
    "\\x0a\\x01",
]
LONGEST = 3000
"""Bytes of an input."""


def load() -> Check:
    from readers_invariants import check_bytes

    import opsinfo_cli.lab.graph.readers.ge
    import opsinfo_cli.lab.graph.readers.onnx
    import opsinfo_cli.lab.graph.readers.tensorflow  # noqa: F401

    return check_bytes


def seeds(folder: Path) -> None:
    """The fuzzer's seeds: a small model of each kind, made as for the tests of hostile input."""
    from test_readers_hostile import SEEDS

    for name, data in SEEDS.items():
        (folder / name).write_bytes(data[:LONGEST])


if __name__ == "__main__":
    sys.exit(fuzz(__file__, "opsinfo_cli.lab.graph", load, seeds, (f'"{word}"' for word in WORDS), LONGEST))
