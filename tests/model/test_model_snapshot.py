"""Snapshots: the same facts as the target, and every way of being damaged, with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opsinfo_cli.check.schema import validator_for
from opsinfo_cli.errors import Damaged, Refused, UsageFault
from opsinfo_cli.model.columns import Columns
from opsinfo_cli.model.policy import Policy
from opsinfo_cli.model.snapshot import Snapshot
from opsinfo_cli.model.snapshot_text import snapshot_text
from opsinfo_cli.model.target import Target, TargetOptions, resolve
from opsinfo_cli.text.source import Source

LOW = [frozenset({"float16"}), frozenset({"bfloat16"}), frozenset({"float16", "bfloat16"}), frozenset({"hifloat8"})]


def read(text: str, path: str = "s.opsinfo.json") -> Snapshot:
    return Snapshot.of(Source(text.encode(), path))


def require_same_facts(target: Target, snapshot: Snapshot) -> None:
    known, kept = target.operators, snapshot.operators
    assert kept.names == known.names
    assert (snapshot.soc, snapshot.cann_version, snapshot.core) == (target.soc, target.version, target.core)
    assert snapshot.other_engines == target.other_engines
    for mine, theirs in zip(kept, known, strict=True):
        pairs = zip(mine.winners, theirs.winners, strict=True)
        for (_, fact), (_, entry) in pairs:
            assert fact.policy is entry.policy
            columns, real = Columns(fact), Columns(entry)
            assert columns.can_be_black() is real.can_be_black()
            assert [columns.can_be_white(low) for low in LOW] == [real.can_be_white(low) for low in LOW]


TARGETS = {
    "an install with a vendor": ("opp", TargetOptions(soc="ascend910b")),
    "an install of another chip": ("opp", TargetOptions(soc="ascend910")),
    "an install of older CANN": ("opp-old", TargetOptions()),
    "the vector core": ("opp", TargetOptions(soc="ascend910b", core="vector")),
    "the DSA": ("opp", TargetOptions(soc="ascend910b", core="dsa")),
    "a custom path": ("opp", TargetOptions(soc="ascend910b", customs=("custom/fastops",))),
    "a store": ("opp/built-in/op_impl/ai_core/tbe/config/ascend910b", TargetOptions()),
    "a library": ("opp/built-in/op_impl/ai_core/tbe/config/ascend910/aic-ascend910-ops-info.json", TargetOptions()),
}


@pytest.mark.parametrize("situation", TARGETS)
def test_a_snapshot_has_the_facts_of_its_target(situation: str, fixtures: Path) -> None:
    path, options = TARGETS[situation]
    options = options._replace(customs=tuple(str(fixtures / each) for each in options.customs))
    target = resolve(str(fixtures / path), options, {})
    text = snapshot_text(target)
    require_same_facts(target, read(text))
    assert list(validator_for("snapshot").iter_errors(json.loads(text))) == []
    assert str(fixtures) not in text


@pytest.mark.exhaustive
@pytest.mark.parametrize("soc", ["ascend910", "ascend910b"])
def test_a_snapshot_has_the_facts_of_a_real_install(soc: str, corpus: Path) -> None:
    opp = corpus / f"cann-{soc.removeprefix('ascend')}" / "opp"
    target = resolve(str(opp), TargetOptions(), {})
    text = snapshot_text(target)
    require_same_facts(target, read(text))
    whole = sum(path.stat().st_size for path in opp.rglob("*.json"))
    assert len(text.encode()) < whole / 5


def test_a_snapshot_of_a_snapshot_is_the_same(fixtures: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.opsinfo.json"
    path.write_text(snapshot_text(resolve(str(fixtures / "opp"), TargetOptions(soc="ascend910b"), {})))
    again = resolve(str(path), TargetOptions(), {})
    assert again.kind == "snapshot"
    assert snapshot_text(again) == path.read_text()


def test_custom_paths_go_by_their_folders(fixtures: Path, tmp_path: Path) -> None:
    twin = tmp_path / "fastops"
    twin.symlink_to(fixtures / "custom/fastops")
    options = TargetOptions(soc="ascend910b", customs=(str(fixtures / "custom/fastops"), str(twin)))
    snapshot = read(snapshot_text(resolve(str(fixtures / "opp"), options, {})))
    labels = [store.label for store in snapshot.operators.stores]
    assert labels == ["env:fastops", "env:fastops#2", "vendor:acme", "built-in"]


def test_a_fact_is_on_its_line_and_has_no_sections() -> None:
    text = minimal().replace('"Add"', '\n"Add"')
    fact = read(text).operators["Add"].entry
    assert (fact.line, fact.policy) == (2, Policy.WHITE)
    with pytest.raises(UsageFault, match="no sections"):
        _ = fact.sections


def minimal(**changes: object) -> str:
    facts = {"policy": "white", "inputs": ["float16"], "outputs": ["float"]}
    content = {
        "kind": "opsinfo-snapshot",
        "schema_version": 1,
        "soc": None,
        "cann_version": None,
        "core": "ai",
        "stores": [{"name": None, "operators": {"Add": facts}}],
        "other_engines": {},
        **changes,
    }
    return json.dumps({key: value for key, value in content.items() if value != "gone"})


def test_version_1_has_the_dtypes_of_each_side() -> None:
    snapshot = read(minimal())
    fact = snapshot.operators["Add"].entry
    assert snapshot.version == "1"
    assert [tensor.dtypes for tensor in (*fact.listed.inputs, *fact.listed.outputs)] == [("float16",), ("float",)]
    with pytest.raises(UsageFault, match="version 1 has no columns"):
        _ = fact.kernel_sections


def test_version_2_has_the_columns_of_each_tensor() -> None:
    fact = read(columned()).operators["Add"].entry
    assert [(tensor.name, tensor.param_type) for tensor in (*fact.listed.inputs, *fact.listed.outputs)] == [
        ("x", "required"),
        ("y", "dynamic"),
    ]
    assert fact.kernel_sections == {
        "heavyOp": {"flag": "true"},
        "input0": {"name": "x", "paramType": "required", "dtype": "float16,float16,float", "format": "ND,ND,ND"},
        "output0": {"name": "y", "paramType": "dynamic", "dtype": "float16,float16,float", "format": "ND,ND,ND"},
    }


def test_keys_of_later_versions_are_ignored() -> None:
    assert read(columned(later=1)).operators.names == ["Add"]
    assert read(minimal(made_by={"opsinfo": "9"}, later=[1, 2.5, True])).operators.names == ["Add"]


def columned(**changes: object) -> str:
    """A snapshot of version 2."""
    facts = {"policy": "white", "flags": ["heavyOp"], "inputs": [["x", "abcd"]], "outputs": [["y", "abcd", "dynamic"]]}
    stores = [{"name": None, "operators": {"Add": facts}}]
    columns = {"abcd": {"dtype": "float16*2,float", "format": "ND*3"}}
    return minimal(**{"schema_version": 2, "stores": stores, "columns": columns, **changes})


DAMAGED = {
    # situation: (text, part of the message, the text at the place)
    "no stores": (minimal(stores="gone"), "`stores` is missing", "{"),
    "no version": (minimal(schema_version="gone"), "`schema_version` is missing", "{"),
    "stores that are not an array": (minimal(stores={}), "`stores` must be an array", "{}"),
    "a store that is not an object": (minimal(stores=[7]), "a store must be an object", "7"),
    "a store without a name": (minimal(stores=[{"operators": {}}]), "`name` is missing", '{"operators"'),
    "a chip that is a number": (minimal(soc=910), "`soc` must be a string or null", "910"),
    "an unknown core": (minimal(core="host"), "`host` must be one of ai, vector, dsa", '"host"'),
    "no policy": (minimal().replace('"policy"', '"colour"'), "`policy` is missing", '{"colour"'),
    "an unknown policy": (minimal().replace('"white"', '"grey"'), "`grey` must be one of", '"grey"'),
    "dtypes in a string": (minimal().replace('["float"]', '"float"'), "`outputs` must be an array", '"float"'),
    "a dtype that is a number": (minimal().replace('["float"]', "[16]"), "a dtype must be a string", "16"),
    "facts that are a number": (minimal(stores=[{"name": "x", "operators": {"A": 1}}]), "`A` must be an object", "1}"),
    "an engine that is a number": (minimal(other_engines={"A": 1}), "`A` must be a string", "1}"),
    "an op type twice": (minimal().replace('{"Add"', '{"Add": {}, "Add"'), "`Add` appears twice", '"Add": {"policy"'),
    "a key twice": (minimal()[:-1] + ', "core": "ai"}', "`core` appears twice", '"core": "ai"}'),
    "markers of a merge conflict": (minimal().replace('"stores"', '<<<<<<< ours\n"stores"'), "expected", "<<<<<<<"),
    "cut off": (minimal()[:80], "", ""),
    "version 2 without columns": (columned(columns="gone"), "`columns` is missing", "{"),
    "columns that are not an object": (columned(columns={"abcd": "float"}), "`abcd` must be an object", '"float"'),
    "columns that are a number": (columned(columns={"abcd": {"dtype": 5}}), "`dtype` must be a string", "5"),
    "too many columns": (
        columned(columns={"abcd": {"dtype": "a*9999,b*9999,c*9999,d*9999,e*9999,f*9999,g*9999"}}),
        "more than 65536 columns",
        '"a*9999',
    ),
    "a wrong key of columns": (columned().replace('"y", "abcd"', '"y", "abce"'), "`columns` has no `abce`", '"abce"'),
    "a tensor that is a string": (columned().replace('["x", "abcd"]', '"x"'), "a tensor must be an array", '"x"'),
    "a tensor without columns": (columned().replace('["x", "abcd"]', '["x"]'), "a tensor must be an array", '["x"]'),
    "a tensor with a number": (columned().replace('"dynamic"', "7"), "a tensor must be an array", '["y", "abcd", 7]'),
    "inputs that are an object": (columned().replace('[["x", "abcd"]]', "{}"), "`inputs` must be an array", "{}"),
    "a flag that is a number": (columned().replace('"heavyOp"', "7"), "a flag must be a string", "7"),
    "flags in a string": (columned().replace('["heavyOp"]', '"heavyOp"'), "`flags` must be an array", '"heavyOp"'),
    "a pattern that is a number": (columned().replace('"flags"', '"pattern": 1, "flags"'), "`pattern` must be", "1"),
    "text after it": (minimal() + " {}", "text after the snapshot", " {}"),
}


@pytest.mark.parametrize("situation", DAMAGED)
def test_a_damaged_snapshot_is_refused_with_the_place(situation: str) -> None:
    text, message, at = DAMAGED[situation]
    with pytest.raises(Damaged) as caught:
        read(text)
    error = caught.value
    assert message in error.message
    assert error.line
    assert error.column
    lines = text.splitlines()
    assert lines[error.line - 1][error.column - 1 :].startswith(at)


@pytest.mark.parametrize(
    "version", ["3", "0", "1.5", '"1"', "true", "null"], ids=["3", "0", "1.5", "string", "true", "null"]
)
def test_a_version_that_is_not_known_is_refused_with_the_place(version: str) -> None:
    text = minimal().replace('"schema_version": 1', f'"schema_version":\n{version}')
    with pytest.raises(Refused) as caught:
        read(text)
    assert (caught.value.name, caught.value.line, caught.value.column) == ("snapshot-version", 2, 1)
