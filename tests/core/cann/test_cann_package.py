"""Custom operator packages as targets: what is built, what is installed, and its folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from library_files import library

from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.errors import UsageFault

INSIDE = "op_impl/ai_core/tbe/config"


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


def test_of_several_vendors_the_first_by_load_priority_or_name_decides(packages: Path) -> None:
    assert str(resolve(f"{packages}@ascend910b", TargetOptions(), {}).operators["Log"].policy) == "black"
    (packages / "vendors/config.ini").write_text("load_priority=best,acme\n")
    target = resolve(f"{packages}@ascend910b", TargetOptions(), {})
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
