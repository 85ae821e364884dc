"""Snapshots: the same facts as the target, and every way of being damaged, with its place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from raising import raised
from snapshot_texts import text_of_snapshot

from opsinfo_cli.core.cann.entry import Columns
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.cann.snapshot import Snapshot
from opsinfo_cli.core.cann.target import Target, resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.check.schema import validator_for
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged, Refused

LOW = [frozenset({"float16"}), frozenset({"bfloat16"}), frozenset({"float16", "bfloat16"}), frozenset({"hifloat8"})]


def read(text: str, path: str = "s.opsinfo.json") -> Snapshot:
    return Snapshot.of(Source(text.encode(), path))


def require_same_facts(target: Target, snapshot: Snapshot) -> None:
    known, kept = target.operators, snapshot.operators
    assert kept.names == known.names
    assert (snapshot.soc, snapshot.version, snapshot.core) == (target.soc, target.version, target.core)
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
    text = text_of_snapshot(target)
    require_same_facts(target, read(text))
    assert list(validator_for("snapshot").iter_errors(json.loads(text))) == []
    assert str(fixtures) not in text


@pytest.mark.parametrize("soc", ["ascend910", "ascend910b"])
def test_a_snapshot_has_the_facts_of_a_real_install(soc: str, corpus: Path) -> None:
    opp = corpus / f"cann-{soc.removeprefix('ascend')}" / "opp"
    target = resolve(str(opp), TargetOptions(), {})
    text = text_of_snapshot(target)
    require_same_facts(target, read(text))
    whole = sum(path.stat().st_size for path in opp.rglob("*.json"))
    assert len(text.encode()) < whole / 2
    assert max(map(len, text.splitlines())) < whole / 50


def test_a_snapshot_of_a_snapshot_is_the_same(fixtures: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.opsinfo.json"
    path.write_text(text_of_snapshot(resolve(str(fixtures / "opp"), TargetOptions(soc="ascend910b"), {})))
    again = resolve(str(path), TargetOptions(), {})
    assert again.kind == "snapshot"
    assert text_of_snapshot(again) == path.read_text()


def test_custom_paths_go_by_their_folders(fixtures: Path, tmp_path: Path) -> None:
    names = ["1/fastops", "2/fastops", "3/fastops", "1/a#2", "2/a#2"]
    for name in names:
        kernels = shutil.copytree(fixtures / "custom/fastops", tmp_path / name) / "op_impl/ai_core/tbe"
        (kernels / "fastops_impl").rename(kernels / f"{name[2:]}_impl")
    options = TargetOptions(soc="ascend910b", customs=tuple(str(tmp_path / name) for name in names))
    snapshot = read(text_of_snapshot(resolve(str(fixtures / "opp"), options, {})))
    labels = [store.label for store in snapshot.operators.stores]
    custom = ["env:fastops", "env:fastops#2", "env:fastops#3", "env:a#2", "env:a#2#2"]
    assert labels == [*custom, "vendor:acme", "built-in"]


ADD = {
    "precision_reduce": {"flag": "true"},
    "input0": {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND,ND"},
    "output0": {"name": "y", "paramType": "required", "dtype": "float16,float", "format": "ND,ND"},
}


def minimal(**changes: object) -> str:
    content = {
        "kind": "opsinfo-snapshot",
        "schema_version": 3,
        "soc": None,
        "cann_version": None,
        "core": "ai",
        "stores": [{"name": None, "operators": {"Add": ADD}}],
        "other_engines": {},
        **changes,
    }
    return json.dumps({key: value for key, value in content.items() if value != "gone"})


def test_an_op_type_is_an_entry_with_its_line() -> None:
    entry = read(minimal().replace('"Add"', '\n"Add"')).operators["Add"].entry
    assert (entry.line, entry.policy, entry.sections) == (2, Policy.WHITE, ADD)


def test_what_nobody_asks_for_is_left_out_and_the_columns_stay(tmp_path: Path) -> None:
    more = {
        "imp_path": {"path": "p"},
        "opFile": {"value": "add"},
        "attr": {"list": ""},
        "heavyOp": {"flag": "true", "more": "1"},
    }
    input0 = {**ADD["input0"], "reshapeType": "N", "unknownshape_format": "ND,ND", "valueDepend": "required"}
    content = {"Add": {**ADD, **more, "input0": input0}, "Null": {**ADD, "opFile": {"value": " Null"}}}
    path = tmp_path / "aic-x-ops-info.json"
    path.write_text(json.dumps(content))
    kept = read(text_of_snapshot(resolve(str(path), TargetOptions(), {}))).operators
    wanted = {**ADD, "heavyOp": {"flag": "true"}, "input0": {**ADD["input0"], "valueDepend": "required"}}
    assert kept["Add"].entry.sections == wanted
    assert kept["Null"].entry.sections == {**ADD, "opFile": {"value": " Null"}}


def test_unknown_keys_are_ignored() -> None:
    assert read(minimal(made_by={"opsinfo": "9"}, later=[1, 2.5, True])).operators.names == ["Add"]


DAMAGED = {
    # situation: (text, part of the message, the text at the place)
    "no stores": (minimal(stores="gone"), "`stores` is missing", "{"),
    "no version": (minimal(schema_version="gone"), "`schema_version` is missing", "{"),
    "stores that are not an array": (minimal(stores={}), "`stores` is of the wrong type", "{}"),
    "a store that is not an object": (minimal(stores=[7]), "`operators` is missing", ""),
    "a store without a name": (minimal(stores=[{"operators": {}}]), "`name` is missing", ""),
    "a chip that is a number": (minimal(soc=910), "`soc` is of the wrong type", "910"),
    "an unknown core": (minimal(core="host"), "`host` must be one of ai, vector, dsa", '"host"'),
    "a flag that the engine refuses": (minimal().replace('"true"', '"white"'), "which the engine refuses", '"white"'),
    "a dtype that is a number": (minimal().replace('"ND,ND"', "16", 1), "`input0.format` must be a string", "16"),
    "columns that differ": (minimal().replace('"ND,ND"', '"ND,nd"', 1), "`nd` is not a format", "nd"),
    "an entry that is a number": (minimal(stores=[{"name": "x", "operators": {"A": 1}}]), "must be an object", '"A"'),
    "an engine that is a number": (minimal(other_engines={"A": 1}), "must be a string", '{"A": 1}'),
    "an op type twice": (minimal().replace('{"Add"', '{"Add": {}, "Add"'), "`Add` appears twice", '"Add": {"precision'),
    "a key twice": (minimal()[:-1] + ', "core": "ai"}', "`core` appears twice", '"core": "ai"}'),
    "markers of a merge conflict": (minimal().replace('"stores"', '<<<<<<< ours\n"stores"'), "expected", "<<<<<<<"),
    "cut off": (minimal()[:80], "", ""),
    "text after it": (minimal() + " {}", "text after the snapshot", " {}"),
}


@pytest.mark.parametrize("situation", DAMAGED)
def test_a_damaged_snapshot_is_refused_with_the_place(situation: str) -> None:
    text, message, at = DAMAGED[situation]
    error = raised(Damaged, read, text)
    assert message in error.message
    assert error.line
    assert error.column
    lines = text.splitlines()
    assert lines[error.line - 1][error.column - 1 :].startswith(at)


@pytest.mark.parametrize(
    "version", ["4", "2", "1", "1.5", '"3"', "true", "null"], ids=["4", "2", "1", "1.5", "string", "true", "null"]
)
def test_a_version_that_is_not_known_is_refused_with_the_place(version: str) -> None:
    text = minimal().replace('"schema_version": 3', f'"schema_version":\n{version}')
    error = raised(Refused, read, text)
    assert (error.name, error.line, error.column) == ("snapshot-version", 2, 1)
    assert ("upgrade opsinfo" in str(error.hint)) == (version == "4")
    assert "take the snapshot again" in str(error.hint)
