"""Snapshots: a graph is judged as with the target that they were taken from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from snapshot_texts import snapshot_of, text_of_snapshot
from vector_support import OWN, VECTORS, graph_of, mixlist_of, vectors

from opsinfo_cli.core.cann.entry import Columns
from opsinfo_cli.core.cann.library import Library, Operators
from opsinfo_cli.core.cann.target import Target, resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged
from opsinfo_cli.lab.graph.judge.kernel import kernel_of
from opsinfo_cli.lab.graph.prepare import prepare


def taken(target: Target) -> Target:
    """A snapshot of a target, read again."""
    return snapshot_of(target, "s")


def require_same_kernels(kept: Operators, target: Operators) -> None:
    """Every kernel of every store, field by field: what the judge reads, and nothing else, is a kernel."""
    assert kept.names == target.names
    for one, other in zip(kept, target, strict=True):
        for (_, fact), (_, entry) in zip(one.winners, other.winners, strict=True):
            own, real = (kernel_of(one.name, each.policy, each.sections) for each in (fact, entry))
            assert own == real
            assert Columns(fact).is_listed == Columns(entry).is_listed


TARGETS = {
    "an install with a vendor": ("opp", "ascend910b"),
    "an install of another chip": ("opp", "ascend910"),
    "an install of older CANN": ("opp-old", None),
    "a library": ("opp/built-in/op_impl/ai_core/tbe/config/ascend910/aic-ascend910-ops-info.json", None),
}


@pytest.mark.parametrize("situation", TARGETS)
def test_every_kernel_of_a_target_is_in_its_snapshot(situation: str, fixtures: Path) -> None:
    path, soc = TARGETS[situation]
    target = resolve(str(fixtures / path), TargetOptions(soc=soc), {})
    require_same_kernels(taken(target).operators, target.operators)


@pytest.mark.parametrize("soc", ["ascend910", "ascend910b"])
def test_every_kernel_of_a_real_install_is_in_its_snapshot(soc: str, corpus: Path) -> None:
    opp = corpus / f"cann-{soc.removeprefix('ascend')}" / "opp"
    target = resolve(str(opp), TargetOptions(), {})
    require_same_kernels(taken(target).operators, target.operators)
    libraries = sum(path.stat().st_size for path in opp.rglob("*ai_core*/**/aic-*.json"))
    assert len(text_of_snapshot(target).encode()) < libraries / 2


def test_every_kernel_of_the_synthetic_stores_is_in_a_snapshot() -> None:
    for path in [path for folder in (OWN, VECTORS) for path in sorted((folder / "stores").glob("*.json"))]:
        target = Target.open(str(path), kind="library")
        require_same_kernels(taken(target).operators, target.operators)


@pytest.mark.skipif(not VECTORS.exists(), reason="the corpus of vectors is not here")
def test_every_node_of_the_networks_gets_the_dtypes_that_the_install_gives_it(corpus: Path) -> None:
    install = resolve(str(corpus / "cann-910b" / "opp"), TargetOptions(), {})
    snapshot = taken(install)
    judged = 0
    for vector in vectors("networks"):
        graph = graph_of(vector)
        try:
            marks = mixlist_of(vector).marks if "mixlist" in vector else {}
        except Damaged:
            continue
        one, other = prepare(graph, install), prepare(graph, snapshot)
        for mode in vector["answers"]:
            choices = one.judge(mode, marks).judgement.choices
            assert other.judge(mode, marks).judgement.choices == choices
            judged += sum(choice.confidence == "library" for choice in choices)
    assert judged > 1000


ODD = {
    "op": {"pattern": " Broadcast "},
    "opFile": {"value": "Null"},
    "heavyOp": {"flag": "TRUE"},
    "dynamicShapeSupport": {"flag": "True"},
    "dynamicRankSupport": {"flag": "upgrade_to_dynamic_rank"},
    "dynamicCompileStatic": {"flag": "tune"},
    "promoteType": {"value": "a,b"},
    "Input1": {"name": " b ", "dtype": "float", "paramType": "dynamic", "valueDepend": "required"},
    "input": {"name": "a", "dtype": "Float, FLOAT16", "format": "ND:0 , NC1HWC0", "paramType": " optional"},
    "output7": {"name": "y", "paramType": "required", "dtype": "float,float", "unknownshape_format": "NULL,ND"},
}


@pytest.mark.parametrize("left_out", [None, *ODD])
def test_unusual_spellings_of_an_entry_are_kept_by_meaning(left_out: str | None) -> None:
    entry = {name: content for name, content in ODD.items() if name != left_out}
    operators = Library.of(Source(json.dumps({"Op": entry}).encode(), "aic-a-ops-info.json")).operators
    target = Target.open(Library.of(Source(json.dumps({"Op": entry}).encode(), "aic-a-ops-info.json")))
    require_same_kernels(taken(target).operators, operators)
