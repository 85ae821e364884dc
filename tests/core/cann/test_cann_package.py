"""Custom operator packages as targets: what is built, what is installed, and its folders."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from library_files import library

from opsinfo_cli import move, validate
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.change.scope import scope_of
from opsinfo_cli.core.merge import minimal
from opsinfo_cli.errors import UsageFault

INSIDE = "op_impl/ai_core/tbe/config"

SOURCE = """
class Add : public OpDef {
public:
    explicit Add(const char *name) : OpDef(name)
    {
        this->Input("x").DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        OpAICoreConfig c;
        this->AICore().AddConfig("ascend910b", c);
    }
};
OP_ADD(Add);
"""


def put(vendor: Path, soc: str, **ops: str | None) -> None:
    path = vendor / INSIDE / soc / f"aic-{soc}-ops-info.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(library(ops)))


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    put(tmp_path / "packages/vendors/acme", "ascend910b", Add="true", Log="false")
    put(tmp_path / "packages/vendors/acme", "ascend310p", Add=None)
    put(tmp_path / "packages/vendors/best", "ascend910b", Log="true")
    return tmp_path / "packages"


@pytest.mark.parametrize("below", ["", "vendors", "vendors/acme", f"vendors/acme/{INSIDE}"])
def test_every_folder_of_a_package_is_a_target(packages: Path, below: str) -> None:
    target = resolve(f"{packages / below}@ascend310p", TargetOptions(), {})
    assert (target.kind, target.soc, str(target.operators["Add"].policy)) == ("package", "ascend310p", "gray")
    assert target.operators["Add"].store.label == "vendor:acme"
    with pytest.raises(UsageFault, match="2 chips: ascend310p, ascend910b"):
        resolve(str(packages / below), TargetOptions(), {})


@pytest.mark.parametrize("below", ["", "vendors"])
def test_of_several_vendors_the_first_by_load_priority_or_name_decides(packages: Path, below: str) -> None:
    named = f"{packages / below}@ascend910b"
    assert str(resolve(named, TargetOptions(), {}).operators["Log"].policy) == "black"
    (packages / "vendors/config.ini").write_text("load_priority=best,acme\n")
    target = resolve(named, TargetOptions(), {})
    assert str(target.operators["Log"].policy) == "white"
    assert [store.label for store in target.operators.stores] == ["vendor:best", "vendor:acme"]


def test_an_install_with_vendors_is_no_package(packages: Path) -> None:
    put_built_in = packages / "built-in" / INSIDE / "ascend910b/aic-ascend910b-ops-info-nn.json"
    put_built_in.parent.mkdir(parents=True)
    put_built_in.write_text(json.dumps(library({"Add": "true"})))
    assert resolve(f"{packages}@ascend910b", TargetOptions(), {}).kind == "install"
    assert resolve(f"{packages / 'built-in' / INSIDE}", TargetOptions(), {}).operators.stores[0].label == "built-in"


def test_another_core_is_not_in_a_package(packages: Path) -> None:
    with pytest.raises(UsageFault, match="vector core"):
        resolve(f"{packages}@ascend910b", TargetOptions(core="vector"), {})


def test_a_mark_counts_that_only_a_later_store_needs(packages: Path, tmp_path: Path) -> None:
    """The engine falls through to it if the first store refuses a node."""
    against = f"{packages}@ascend910b"
    for name, policy in (("Log", "black"), ("Add", "white")):  # Log is black by acme, white by best; Add is acme's only
        path = tmp_path / f"{name}.json"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            move(path, name, policy, against=against, create=True, backup_dir=str(tmp_path / "vault"))
        assert path.exists() == (name == "Log")
        path.write_text(json.dumps({f"{policy}-list": {"to-add": [name]}}))
        useless = [each.name for each in validate(path, against=against).findings if each.name == "no-effect"]
        assert useless == ([] if name == "Log" else ["no-effect"])
        assert (name in minimal(Mixlist.read(path).marks, [resolve(against, TargetOptions(), {}).operators]).marks) == (
            name == "Log"
        )


@pytest.mark.parametrize("broken", ["{", '{"Add": {"precision_reduce": {"flag": 1}}}'])
def test_a_damaged_library_of_a_package_is_checked_and_its_store_restored(packages: Path, broken: str) -> None:
    path = packages / "vendors/acme" / INSIDE / "ascend910b/aic-ascend910b-ops-info.json"
    path.write_text(broken)
    checked = validate(f"{packages / 'vendors/acme'}@ascend910b")
    assert (checked.failures, {each.path for each in checked.findings}) == ([], {str(path)})
    scope = scope_of(f"{packages / 'vendors/acme'}@ascend910b")
    assert (scope(str(path)), scope(str(path).replace("ascend910b", "ascend310p"))) == (True, False)


@pytest.mark.parametrize("data", [b'{"name": "\xff"}', b"{"])
def test_what_lies_beside_sources_does_not_hide_them(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "package.json").write_bytes(data)
    (tmp_path / "a_def.cpp").write_text(SOURCE)
    target = resolve(f"{tmp_path}@ascend910b", TargetOptions(), {})
    assert (target.kind, target.operators.names) == ("opdef", ["Add"])


def test_what_cannot_be_read_of_sources_is_in_both_documents(tmp_path: Path) -> None:
    (tmp_path / "a_def.cpp").write_text(SOURCE)
    (tmp_path / "b_def.cpp").write_text(
        SOURCE.replace("Add(", "Sub(")
        .replace("class Add", "class Sub")
        .replace("OP_ADD(Add)", "OP_ADD(Sub)")
        .replace("OpAICoreConfig c;", "OpAICoreConfig c; if (elsewhere()) return;")
    )
    target = resolve(f"{tmp_path}@ascend910b", TargetOptions(), {})
    unreadable = target.to_dict()["unreadable"]
    assert (len(unreadable), target.describe("Add")["unreadable"]) == (1, unreadable)


def test_a_pattern_matches_the_op_types_of_every_target(packages: Path, tmp_path: Path) -> None:
    targets = [f"{packages}@ascend310p", f"{packages}@ascend910b"]  # only the second has Log
    with pytest.warns(UserWarning, match="`Log` is not in"):
        result = move(
            tmp_path / "m.json",
            to="black",
            match="L*",
            against=targets,
            create=True,
            backup_dir=str(tmp_path / "vault"),
        )
    assert [each.name for file in result.files for each in file.moved] == ["Log"]
