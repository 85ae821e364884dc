"""Snapshots: a graph is judged as with the target that they were taken from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_support import entry_of
from hypothesis import given
from hypothesis import strategies as st
from vector_support import VECTORS, graph_of, mixlist_of, vectors

from opsinfo_cli.errors import Damaged
from opsinfo_cli.graph.judge.kernel import kernel_of
from opsinfo_cli.graph.judge.kernels import Kernels
from opsinfo_cli.graph.judging import prepare
from opsinfo_cli.model.kernel_facts import ColumnSet, column_set_of, columns_in, keyed
from opsinfo_cli.model.library import Library
from opsinfo_cli.model.snapshot_text import snapshot_text
from opsinfo_cli.model.store import Operators
from opsinfo_cli.model.target import Target, TargetOptions, resolve
from opsinfo_cli.text.source import Source


def taken(target: Target) -> Target:
    """A snapshot of a target, read again."""
    return Target("s", "snapshot", "s", Source(snapshot_text(target).encode(), "s"))


def require_same_kernels(kept: Operators, target: Operators) -> None:
    """Every kernel of every store, field by field: what the judge reads, and nothing else, is a kernel."""
    assert kept.names == target.names
    for one, other in zip(kept, target, strict=True):
        for (_, fact), (_, entry) in zip(one.winners, other.winners, strict=True):
            own, real = (kernel_of(one.name, each.policy, each.kernel_sections) for each in (fact, entry))
            assert own == real
            assert fact.listed.source == entry.listed.source


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


@pytest.mark.exhaustive
@pytest.mark.parametrize("soc", ["ascend910", "ascend910b"])
def test_every_kernel_of_a_real_install_is_in_its_snapshot(soc: str, corpus: Path) -> None:
    opp = corpus / f"cann-{soc.removeprefix('ascend')}" / "opp"
    target = resolve(str(opp), TargetOptions(), {})
    require_same_kernels(taken(target).operators, target.operators)
    libraries = sum(path.stat().st_size for path in opp.rglob("*ai_core*/**/aic-*.json"))
    assert len(snapshot_text(target).encode()) < libraries / 5


@pytest.mark.skipif(not VECTORS.exists(), reason="the corpus of vectors is not here")
def test_every_kernel_of_the_synthetic_stores_is_in_a_snapshot() -> None:
    for path in sorted((VECTORS / "stores").glob("*.json")):
        target = Target.open(str(path), kind="library")
        require_same_kernels(taken(target).operators, target.operators)


@pytest.mark.exhaustive
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
            choices = one.judge(mode, marks).judged.choices
            assert other.judge(mode, marks).judged.choices == choices
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
    target = Target("t", "library", "t", Source(json.dumps({"Op": entry}).encode(), "aic-a-ops-info.json"))
    require_same_kernels(taken(target).operators, operators)


def test_a_snapshot_of_version_1_has_policies_and_its_columns_are_assumed(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    facts = {"White": {"policy": "white", "inputs": ["float"], "outputs": ["float"]}, "Other": {"policy": "gray"}}
    document = {"kind": "opsinfo-snapshot", "schema_version": 1, "soc": None, "cann_version": None, "core": "ai"}
    stores = [{"name": "built-in", "operators": facts}]
    path.write_text(json.dumps({**document, "stores": stores, "other_engines": {}}), "utf-8")
    target = Target.open(str(path))
    (kernel,) = Kernels(target.operators).of("White")
    assert (str(kernel.policy), kernel.confidence) == ("white", "assumed")
    assert kernel.inputs[0].static.dtypes == ("float16", "float32", "bfloat16")
    assert Kernels(target.operators, sources=("library",)).of("White")[0].confidence == "none"
    again = json.loads(snapshot_text(target))
    assert (again["schema_version"], again["stores"]) == (1, stores)


words = st.sampled_from(["float", "float16", "ND", "NULL", "", "a*2", "x"])
texts = st.lists(words, min_size=1, max_size=30).map(",".join)


@given(texts, texts)
def test_a_shortened_column_list_is_read_back_whole(dtype: str, form: str) -> None:
    whole = ColumnSet(dtype, None, form)
    document = whole.document()
    assert [*document] == ["dtype", "unknownshape_format"]
    if "*" not in dtype + form:
        assert column_set_of(document) == whole
    assert columns_in(document["dtype"]) >= len(dtype.split(",")) or "*" in dtype


def test_keys_of_columns_differ_and_do_not_depend_on_each_other() -> None:
    sets = [ColumnSet(f"float{number}", "ND", None) for number in range(4000)]
    keys = keyed(sets)
    assert len({*keys.values()}) == len(sets)
    assert {len(key) for key in keys.values()} > {4}, "of 4000 some have the same four characters"
    alone = keyed(sets[:100])
    assert all(keys[each].startswith(alone[each]) for each in sets[:100])
    assert sum(keys[each] != alone[each] for each in sets[:100]) < 5


def test_an_entry_without_columns_has_no_key() -> None:
    entry = entry_of("true", ["float", "float"], 1)
    for name in ("input0", "output0"):
        del entry[name]["dtype"], entry[name]["format"]
    target = Target("t", "library", "t", Source(json.dumps({"Op": entry}).encode(), "aic-a-ops-info.json"))
    document = json.loads(snapshot_text(target))
    assert document["columns"] == {}
    assert document["stores"][0]["operators"]["Op"]["inputs"] == [["input_0", ""]]
