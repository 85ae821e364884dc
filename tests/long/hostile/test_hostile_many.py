"""Many of everything: what is done once per thing must not look at all the others each time.

Judged by processor time: what is linear needs a second or two, what is quadratic would need minutes.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hostile_support import ENTRY, Hostile

MANY = 20_000
OPS = [f"Op{number}" for number in range(MANY)]


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return path


MIXLISTS: dict[str, Any] = {
    # situation: content
    "unknown lists": {op: {} for op in OPS},
    "unknown actions": {"black-list": {op: [] for op in OPS}},
    "one name in one array again and again": {"black-list": {"to-add": ["Add"] * MANY}},
    "names on two lists": {"black-list": {"to-add": OPS}, "white-list": {"to-add": OPS}},
    "names that have no effect": {"gray-list": {"to-add": OPS}},
    "numbers for names": {"black-list": {"to-add": list(range(MANY))}},
    "a list again and again": "{" + ",\n".join(['"black-list": {}'] * MANY) + "}",
    "missing commas": '{"black-list": {"to-add": [' + " ".join(f'"{op}"' for op in OPS) + "]}}",
    "comments in one line": '{"black-list": {"to-add": [' + "/**/" * MANY * 5 + "]}}",
    "comments in lines": '{"black-list": {"to-add": [' + "// x\n" * MANY + "]}}",
}


@pytest.mark.parametrize("situation", MIXLISTS)
def test_a_mixlist_with_many(hostile: Hostile, tmp_path: Path, situation: str) -> None:
    path = written(tmp_path / "f.json", MIXLISTS[situation])
    assert hostile("validate", path, "--as", "mixlist").code in (0, 1)


@pytest.mark.parametrize("situation", ["missing commas", "comments in one line", "comments in lines"])
def test_mending_many(hostile: Hostile, tmp_path: Path, situation: str) -> None:
    path = written(tmp_path / "f.json", MIXLISTS[situation])
    assert hostile("fmt", path).code == 0
    json.loads(path.read_text())


LIBRARIES: dict[str, Any] = {
    "entries that are none": dict.fromkeys(OPS, 1),
    "bad flags": {op: {"precision_reduce": {"flag": "x"}} for op in OPS},
    "an entry again and again": "{" + ",\n".join([f'"Add": {ENTRY}'] * (MANY // 5)) + "}",
    "a section again and again": '{"Add": {' + ",\n".join(['"op": {}'] * MANY) + "}}",
    "inputs": {"Add": {f"input{n}": {"name": "x", "dtype": "float", "format": "ND"} for n in range(MANY)}},
    "columns": {"Add": {"input0": {"name": "x", "paramType": "required", "dtype": ",".join(["flaot"] * MANY)}}},
    "near misses of sections": {"Add": {f"inputt{number}": {} for number in range(MANY)}},
    "names with blanks": {f"{op} ": {} for op in OPS},
}


@pytest.mark.parametrize("situation", LIBRARIES)
def test_a_library_with_many(hostile: Hostile, tmp_path: Path, situation: str) -> None:
    path = written(tmp_path / "f.json", LIBRARIES[situation])
    assert hostile("validate", path, "--as", "library").code in (0, 1)
    assert hostile("list", path, "--as", "library").code in (0, 3)


def test_a_move_in_a_mixlist_whose_lines_are_all_the_same(hostile: Hostile, tmp_path: Path) -> None:
    path = written(tmp_path / "f.json", {"black-list": {"to-add": ["Add"] * MANY}})
    assert hostile("list", path).code == 0
    assert hostile("move", path, "Log", "--to", "black").code == 0


def test_a_move_of_a_thousand_in_a_mixlist(hostile: Hostile, tmp_path: Path) -> None:
    path = written(tmp_path / "f.json", {"black-list": {"to-add": OPS[:2000]}})
    assert hostile("move", path, *OPS[:1000], "--to", "white").code == 0


def test_a_mixlist_of_all_ops_baked_into_a_library(hostile: Hostile, tmp_path: Path) -> None:
    library = written(tmp_path / "aic-x-ops-info.json", {op: {} for op in OPS})
    mixlist = written(tmp_path / "f.json", {"black-list": {"to-add": OPS}})
    assert hostile("apply", library, mixlist).code == 0


def test_a_library_against_a_mixlist_of_its_own_size(hostile: Hostile, tmp_path: Path) -> None:
    library = written(tmp_path / "aic-x-ops-info.json", {op: {} for op in OPS})
    mixlist = written(tmp_path / "f.json", {"black-list": {"to-add": OPS}})
    assert hostile("list", library, "--mixlist", mixlist).code == 0
    assert hostile("validate", mixlist, "--against", library).code == 0
    assert hostile("list", mixlist, "--against", library).code == 0


@pytest.mark.parametrize("command", ["list", "validate"])
def test_many_names_that_no_target_has(hostile: Hostile, tmp_path: Path, command: str) -> None:
    """Each wants near names out of as many op types as a real chip has."""
    words = (
        ("Fused", "Sparse", "Grouped", "Masked", "Quant", "Batch", "Scaled", "Moving", "Segment", "Inplace"),
        ("Ripple", "Harbor", "Lattice", "Meadow", "Prism", "Comet", "Anchor", "Cobalt", "Willow", "Summit"),
        ("Norm", "Gather", "Pool", "Loss", "Softmax", "Conv2D", "MatMul", "Scatter", "Reduce", "Cumsum", "Gelu"),
    )
    known = ["".join(parts) for parts in itertools.product(*words)]
    library = written(tmp_path / "aic-x-ops-info.json", {name: {} for name in known})
    mixlist = written(tmp_path / "f.json", {"black-list": {"to-add": [f"{name}Z{name[3]}" for name in known]}})
    assert hostile(command, mixlist, "--against", library).code in (0, 1)


def test_two_libraries_that_have_nothing_in_common(hostile: Hostile, tmp_path: Path) -> None:
    a = written(tmp_path / "a.json", {op: {} for op in OPS})
    b = written(tmp_path / "b.json", {f"{op}X": {} for op in OPS})
    assert hostile("diff", a, b).code in (1, 2)


def test_a_refusal_is_short_however_often_a_key_stands_there(hostile: Hostile, tmp_path: Path) -> None:
    path = written(tmp_path / "f.json", "{" + ",\n".join(['"Add": {}'] * MANY) + "}")
    ran = hostile("move", path, "Add", "--to", "black", "--as", "library")
    assert ran.code == 3
    assert len(ran.err) < 1000
