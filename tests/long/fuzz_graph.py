"""Fuzz the readers of model files, guided by coverage (needs atheris: `python -m pip install atheris`).

    python tests/long/fuzz_graph.py -max_total_time=600             ten minutes, as once before a release
    python tests/long/fuzz_graph.py -max_total_time=60              a minute, as in CI
    python tests/long/fuzz_graph.py FOLDER -max_total_time=600      keep interesting inputs in FOLDER
    python tests/long/fuzz_graph.py crash-1234                      run one input again

Options are libFuzzer's. What every input must satisfy is in `tests/graph/readers_invariants.py`: the reader answers
with a graph whose edges hold, or with an error of its own. Exit status 0: no input broke this. An input that does is
kept as `crash-...` in the working directory. ONNX models need the `onnx` package; without it they are refused at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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


def main() -> int:
    try:
        import atheris
    except ImportError:
        print("atheris is not installed: python -m pip install atheris", file=sys.stderr)
        return 3
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "graph")]
    with atheris.instrument_imports(include=["opsinfo_cli.graph"]):
        from readers_invariants import check_bytes

        import opsinfo_cli.graph.readers.ge_json
        import opsinfo_cli.graph.readers.ge_onnx
        import opsinfo_cli.graph.readers.ge_text
        import opsinfo_cli.graph.readers.om
        import opsinfo_cli.graph.readers.om2
        import opsinfo_cli.graph.readers.onnx_graph
        import opsinfo_cli.graph.readers.tensorflow  # noqa: F401
    atheris.Setup(sys.argv, check_bytes)
    atheris.Fuzz()
    return 0


def seeds(folder: Path) -> None:
    """The fuzzer's seeds: a small model of each kind, made by the tests of hostile input."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "graph")]
    from test_readers_hostile import SEEDS

    for name, data in SEEDS.items():
        (folder / name).write_bytes(data[:LONGEST])


def with_seeds() -> int:
    """libFuzzer ends the process itself: another one removes what is made for it."""
    with tempfile.TemporaryDirectory(prefix="opsinfo-fuzz-") as name:
        folder = Path(name, "seeds")
        folder.mkdir()
        seeds(folder)
        Path(name, "words").write_text("\n".join(f'"{word}"' for word in WORDS) + "\n")
        given = sys.argv[1:]
        folders = [each for each in given if not each.startswith("-")]
        if any(os.path.isfile(each) for each in folders):
            command = given
        else:
            found = Path(name, "found")
            found.mkdir()
            command = [*(folders or [str(found)]), str(folder), f"-max_len={LONGEST}", f"-dict={Path(name, 'words')}"]
            command += [each for each in given if each.startswith("-")]
        environment = {**os.environ, "OPSINFO_FUZZ": "1"}
        return subprocess.run([sys.executable, __file__, *command], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main() if os.environ.get("OPSINFO_FUZZ") else with_seeds())
