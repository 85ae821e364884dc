"""Every vector, written out as a GE dump and asked through the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "lab/graph"))

from corpus_place import CORPUS
from ge_dump import ge_dump
from vector_support import FAMILIES, VECTORS, expected_casts, short, vectors

pytestmark = pytest.mark.skipif(not VECTORS.exists(), reason="the corpus of vectors is not here")


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "fp16_op_types"])
def test_the_program_gives_the_engines_dtypes_and_casts(
    family: str, opsinfo: Callable[..., Any], tmp_path: Path
) -> None:
    asked = [
        vector
        for vector in vectors(family)
        if vector["store"] == "cann-910b" or not vector.get("fp16_op_types")  # those of a file of an install
    ]
    assert asked
    assert [fault for vector in asked for fault in differences_through_the_program(vector, opsinfo, tmp_path)] == []


_REFUSED = ("mixlist", "customize_dtypes")


def differences_through_the_program(vector: dict[str, Any], opsinfo: Callable[..., Any], folder: Path) -> Iterator[str]:
    """Differences between `opsinfo graph` and the engine: dtypes of every tensor, and Casts."""
    arguments = _arguments(vector, folder)
    for mode, expected in vector["answers"].items():
        ran = opsinfo("graph", *arguments, "--precision-mode", mode, "--format", "json")
        where = f"{vector['id']} {mode}"
        if ran.code != 0 or "failed" in expected:
            if (ran.code == 3) != (expected.get("failed") in _REFUSED):
                yield f"{where}: exit {ran.code}, the engine: {expected.get('failed', 'accepts')}: {ran.err or ran.out}"
            continue
        document = ran.json
        found = {node["name"]: _dtypes(node) for node in document["nodes"]}
        for name, (inputs, outputs, _) in expected["nodes"].items():
            if found[name] != [inputs, outputs]:
                yield f"{where}: {name}: {found[name]}, the engine: {[inputs, outputs]}"
        if "trans_failed" not in expected and (own := _casts(document)) != expected_casts(expected):
            yield f"{where}: casts {own}, the engine: {expected_casts(expected)}"


def _arguments(vector: dict[str, Any], folder: Path) -> list[str | Path]:
    """The files of a vector, as options."""
    model = _written(folder / "ge_proto_00001_FeTopoSortingAfter.txt", ge_dump(vector["graph"]))
    arguments: list[str | Path] = [model]
    if vector["store"] == "cann-910b":  # as a store of no chip: the engine had no kernels to ask
        (store,) = (CORPUS / "cann-910b" / "opp").glob("built-in/op_impl/ai_core/tbe/config/ascend910b")
        if not (folder / "store").exists():
            (folder / "store").symlink_to(store)
        arguments += ["--against", folder / "store"]
    else:
        arguments += ["--against", VECTORS / "stores" / f"{vector['store']}.json"]
    if "mixlist" in vector:
        content = vector["mixlist"]
        text = content if isinstance(content, str) else json.dumps(content)
        arguments += ["--mixlist", _written(folder / "ops_info.json", text)]
    if "customize_dtypes" in vector:
        arguments += ["--customize-dtypes", _written(folder / "customize.txt", vector["customize_dtypes"])]
    return arguments


def _written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def _dtypes(node: dict[str, Any]) -> list[list[str | None]]:
    return [[short(each) for each in node[side]] for side in ("inputs", "outputs")]


def _casts(document: dict[str, Any]) -> list[list[str]]:
    """Casts as the vectors write them: producer, consumer, and each conversion in order."""
    edges: dict[tuple[str, str], list[str]] = {}
    for cast in document["casts"]:
        edge = f"{cast['producer']}:{cast['output']}", f"{cast['consumer']}:{cast['input']}"
        edges.setdefault(edge, []).append(f"{short(cast['from'])}>{short(cast['to'])}")
    return sorted([*edge, *steps] for edge, steps in edges.items())
