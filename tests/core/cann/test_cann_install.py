"""Installs: the places of an operator package's stores, in the engine's order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from raising import raised
from tables import cases

from opsinfo_cli.core.cann.install import (
    Install,
    LoadPriority,
    environment_customs,
    opp_root,
    root_above,
    socs_of,
    version_of,
)
from opsinfo_cli.core.check.store import check_install
from opsinfo_cli.errors import Refused, UsageFault

SOC = "ascend910b"


def put(folder: Path, name: str = "aic-ascend910b-ops-info.json", **ops: str) -> Path:
    """A library whose op types have these flags."""
    folder.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {op: {"precision_reduce": {"flag": flag}} if flag else {} for op, flag in ops.items()}
    (folder / name).write_text(json.dumps(content))
    return folder


def built_in(root: Path, soc: str = SOC, **ops: str) -> Path:
    return put(root / "built-in/op_impl/ai_core/tbe/config" / soc, f"aic-{soc}-ops-info.json", **ops)


def custom(path: Path, soc: str = SOC, impl: str | None = None, **ops: str) -> Path:
    """An installed custom package."""
    put(path / "op_impl/ai_core/tbe/config" / soc, f"aic-{soc}-ops-info.json", **ops)
    (path / "op_impl/ai_core/tbe" / f"{impl or path.name}_impl").mkdir()
    return path


def priority(root: Path, text: str) -> None:
    (root / "vendors").mkdir(parents=True, exist_ok=True)
    (root / "vendors/config.ini").write_bytes(text.encode("utf-8", "surrogateescape"))


def labels(install: Install) -> list[str | None]:
    return [store.label for store in install.stores()]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    built_in(tmp_path / "opp", Add="true", Log="false")
    return tmp_path / "opp"


def test_the_built_in_store_of_the_current_layout(root: Path) -> None:
    install = Install.open(str(root), SOC, "ai")
    assert labels(install) == ["built-in"]
    assert install.operators.names == ["Add", "Log"]


def test_the_built_in_store_of_the_old_layout(fixtures: Path) -> None:
    install = Install.open(str(fixtures / "opp-old"), None, "ai")
    assert install.soc == "ascend910"
    assert labels(install) == ["built-in"]
    assert install.operators.names


def test_vendors_come_in_the_order_of_load_priority_before_the_built_in_store(root: Path) -> None:
    custom(root / "vendors/acme", Add="false")
    custom(root / "vendors/beta", Add="", Mine="true")
    priority(root, "load_priority=beta, acme\n")
    install = Install.open(str(root), SOC, "ai")
    assert labels(install) == ["vendor:beta", "vendor:acme", "built-in"]
    assert str(install.operators["Add"].entry.policy) == "gray"


def test_a_vendor_that_load_priority_does_not_name_is_skipped_with_the_reason(root: Path) -> None:
    custom(root / "vendors/acme", Add="false")
    custom(root / "vendors/beta", Add="false")
    priority(root, "load_priority=beta\n")
    install = Install.open(str(root), SOC, "ai")
    assert labels(install) == ["vendor:beta", "built-in"]
    (skipped,) = install.skipped()
    assert skipped.path == str(root / "vendors/acme")
    assert "load_priority" in skipped.reason


def test_vendors_without_a_config_file_are_not_loaded(root: Path) -> None:
    custom(root / "vendors/acme", Add="false")
    assert labels(Install.open(str(root), SOC, "ai")) == ["built-in"]


@cases(
    "text, vendors, bad_line",
    {
        "two vendors": ("load_priority=acme,beta\n", ["acme", "beta"], None),
        "comment": ("# load_priority=old\nload_priority=acme\n", ["acme"], None),
        "CRLF and blanks": ("[x]\r\nload_priority = acme , beta\r\n", ["acme", "beta"], None),
        "second line ignored": ("load_priority=acme\nload_priority=beta\n", ["acme"], None),
        "other key": ("other=1\n", [], None),
        "empty file": ("", [], None),
        "empty value": ("load_priority=\n", [], None),
        "no equals sign": ("x=1\nload_priority acme\n", [], 2),
        "first line without equals sign": ("load_priority\nload_priority=acme\n", [], 1),
        "indented comment": ("  # load_priority=old\nload_priority=new\n", ["new"], None),
        "tab before the comment": ("\t\x0b#load_priority\nload_priority = a , b ,\n", ["a", "b"], None),
        "CRLF and indent": ("[x]\r\n  load_priority=a\r\n", ["a"], None),
        "form feed": ("# \x0cload_priority=old\rload_priority=hidden\nload_priority=new", ["new"], None),
        "line separator": ("#\u2028load_priority=hidden\nload_priority=new", ["new"], None),
        "no-break space is not a blank": ("\u00a0# load_priority=a\nload_priority=b", ["a"], None),
        "byte order mark is not a blank": ("\ufeff# load_priority=a", ["a"], None),
        "bytes that are not UTF-8": ("# caf\udce9\nload_priority=a", ["a"], None),
    },
)
def test_the_first_line_with_load_priority_is_used_and_trimmed(
    tmp_path: Path, text: str, vendors: list[str], bad_line: int | None
) -> None:
    priority(tmp_path, text)
    read = LoadPriority.read(str(tmp_path))
    assert (list(read.vendors), read.bad_line) == (vendors, bad_line)


def test_without_a_built_in_store_for_the_soc_no_core_can_be_used(root: Path) -> None:
    custom(root / "vendors/acme", soc="ascend310p", Add="false")
    put(root / "built-in/op_impl/vector_core/tbe/config", "vector_core_tbe_ops_info-legacy.json", Add="true")
    priority(root, "load_priority=acme\n")
    for core in ("ai", "vector"):
        install = Install.open(str(root), "ascend310p", core)
        error = raised(Refused, install.stores)
        assert error.name == "no-store"
        assert "E20002" in error.message
        assert [finding.rule.name for finding in check_install(install)] == ["store-fails"]
    assert Install.open(str(root), SOC, "vector").stores()


def test_the_legacy_custom_store_is_ignored_beside_a_vendor_of_another_core(root: Path) -> None:
    put(root / "op_impl/custom/ai_core/tbe/config" / SOC, Old="true")
    assert labels(Install.open(str(root), SOC, "ai")) == ["vendor:custom", "built-in"]
    vector = root / "vendors/acme/op_impl/vector_core/tbe"
    put(vector / "config", "vector_core_tbe_ops_info.json", Add="true")
    (vector / "acme_impl").mkdir()
    priority(root, "load_priority=acme\n")
    assert labels(Install.open(str(root), SOC, "ai")) == ["built-in"]


def test_paths_of_the_environment_are_trimmed() -> None:
    assert environment_customs({"ASCEND_CUSTOM_OPP_PATH": " /a :\t: /b\n"}) == ["/a", "/b"]


def test_a_load_priority_without_an_equals_sign_prevents_the_engines_start(root: Path) -> None:
    priority(root, "# vendors\nload_priority acme\n")
    error = raised(Refused, Install.open(str(root), SOC, "ai").stores)
    assert (error.name, error.line) == ("bad-load-priority", 2)
    assert error.path == str(root / "vendors/config.ini")


def test_a_vendor_without_its_impl_folder_is_skipped(root: Path) -> None:
    custom(root / "vendors/acme", impl="other", Add="false")
    priority(root, "load_priority=acme\n")
    install = Install.open(str(root), SOC, "ai")
    assert labels(install) == ["built-in"]
    assert ["acme_impl" in skipped.reason for skipped in install.skipped()] == [True]


def test_a_vendor_without_this_soc_is_ignored(root: Path) -> None:
    custom(root / "vendors/acme", soc="ascend310p", Add="false")
    priority(root, "load_priority=acme\n")
    install = Install.open(str(root), SOC, "ai")
    assert labels(install) == ["built-in"]
    assert install.skipped() == []


def test_custom_paths_come_before_vendors_in_their_order(root: Path, tmp_path: Path) -> None:
    custom(root / "vendors/acme", Add="false")
    priority(root, "load_priority=acme\n")
    one, two = custom(tmp_path / "one", Add=""), custom(tmp_path / "two", Add="true")
    install = Install.open(str(root), SOC, "ai", [str(one), str(two)])
    assert labels(install) == [f"env:{one}", f"env:{two}", "vendor:acme", "built-in"]


def test_a_custom_path_with_libcust_opapi_comes_first(root: Path, tmp_path: Path) -> None:
    one, two = custom(tmp_path / "one", Add=""), custom(tmp_path / "two", Add="true")
    (two / "op_api/lib").mkdir(parents=True)
    (two / "op_api/lib/libcust_opapi.so").write_bytes(b"")
    install = Install.open(str(root), SOC, "ai", [str(one), str(two)])
    assert labels(install) == [f"env:{two}", f"env:{one}", "built-in"]


def test_custom_paths_that_the_engine_skips_are_reported(root: Path, tmp_path: Path) -> None:
    renamed = custom(tmp_path / "copy-of-acme", impl="acme", Add="true")
    install = Install.open(str(root), SOC, "ai", ["relative", str(tmp_path / "none"), str(renamed)])
    assert labels(install) == ["built-in"]
    assert [skipped.path for skipped in install.skipped()] == ["relative", str(tmp_path / "none"), str(renamed)]


def test_the_legacy_custom_store_is_used_without_other_custom_stores(root: Path) -> None:
    put(root / "op_impl/custom/ai_core/tbe/config" / SOC, Add="false")
    install = Install.open(str(root), SOC, "ai")
    assert install.stores()[0].directory == str(root / "op_impl/custom/ai_core/tbe/config" / SOC)
    assert str(install.operators["Add"].entry.policy) == "black"


def test_the_legacy_custom_store_is_ignored_beside_a_vendor(root: Path) -> None:
    put(root / "op_impl/custom/ai_core/tbe/config" / SOC, Add="false")
    custom(root / "vendors/acme", Mine="true")
    priority(root, "load_priority=acme\n")
    assert labels(Install.open(str(root), SOC, "ai")) == ["vendor:acme", "built-in"]


def test_the_legacy_custom_store_is_ignored_beside_a_vendor_without_this_soc(root: Path) -> None:
    """The vendor's store takes the key before its chip folder is looked for (configuration.cc:736-744,
    sub_op_info_store.cc:46-51)."""
    put(root / "op_impl/custom/ai_core/tbe/config" / SOC, Add="false")
    custom(root / "vendors/acme", soc="ascend310p", Mine="true")
    priority(root, "load_priority=acme\n")
    assert labels(Install.open(str(root), SOC, "ai")) == ["built-in"]


def test_the_vector_core_store_has_no_soc_folder(root: Path) -> None:
    put(root / "built-in/op_impl/vector_core/tbe/config", "vector_core_tbe_ops_info-legacy.json", Mul="true")
    install = Install.open(str(root), SOC, "vector")
    assert install.operators.names == ["Mul"]
    assert install.elsewhere("Add") is None, "other stores are of other cores"
    assert Install.open(str(root), SOC, "ai").other_counts() == {"vector": 1}


def test_the_dsa_store_has_a_soc_folder(root: Path) -> None:
    put(root / "built-in/op_impl/dsa_core/config" / SOC, "dsa-ascend910b-ops-info-legacy.json", DSAGenBitMask="")
    assert Install.open(str(root), SOC, "dsa").operators.names == ["DSAGenBitMask"]
    assert Install.open(str(root), SOC, "ai").other_engines["DSAGenBitMask"] == "DSA"


def test_op_types_of_ai_cpu_are_not_reported_as_misspelt(fixtures: Path) -> None:
    install = Install.open(str(fixtures / "opp"), SOC, "ai")
    engines = install.other_engines
    assert "AI CPU" in engines.values()
    assert all(name not in install.operators for name, engine in engines.items() if engine == "AI CPU")


def test_a_missing_core_is_refused(root: Path) -> None:
    assert raised(Refused, Install.open(str(root), SOC, "vector").stores).name == "no-store"


def test_a_soc_must_be_chosen_only_if_there_are_several(root: Path) -> None:
    assert Install.open(str(root), None, "ai").soc == SOC
    built_in(root, "ascend310p", Add="true")
    assert socs_of(str(root)) == ["ascend310p", SOC]
    error = raised(UsageFault, Install.open, str(root), None, "ai")
    assert "ascend310p" in error.message
    assert SOC in error.message


def test_other_places_are_looked_for_as_long_as_names_are_few(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opsinfo_cli.core.cann.install._MOST_LOOKED_UP", 1)
    built_in(root, "ascend310p", Mine="true")
    install = Install.open(str(root), SOC, "ai")
    assert [install.elsewhere("Mine") for _ in range(2)] == ["it is an operator of ascend310p", None]


def test_the_roots_of_a_path_are_found_below_and_above(root: Path) -> None:
    toolkit = root.parent
    assert opp_root(str(root)) == str(root)
    assert opp_root(str(toolkit)) == str(root)
    assert opp_root(str(toolkit.parent)) is None
    library = next(root.rglob("aic-*.json"))
    assert root_above(str(library)) == str(root.resolve())
    assert root_above("/") is None


@cases(
    "text, version",
    {
        "version_dir": ("Version=8.3.0.1.200\nversion_dir=8.3.RC1\n", "8.3.RC1"),
        "Version": ("Version = 7.0.0\n", "7.0.0"),
        "neither": ("timestamp=1\n", None),
        "empty": ("", None),
    },
)
def test_the_version_is_that_of_version_info(root: Path, text: str, version: str | None) -> None:
    (root / "version.info").write_text(text)
    assert version_of(str(root)) == version


def test_without_any_version_file_there_is_no_version(root: Path) -> None:
    assert version_of(str(root)) is None


def test_the_fixture_install_decides_as_its_readme_says(fixtures: Path) -> None:
    operators = Install.open(str(fixtures / "opp"), SOC, "ai").operators
    add_n = operators["AddN"]
    assert (str(add_n.entry.policy), add_n.store.label) == ("white", "vendor:acme")
    assert [(store.label, str(entry.policy)) for store, entry in add_n.also_in] == [("built-in", "gray")]
    index_fill = operators["IndexFill"]
    assert str(index_fill.entry.policy) == "white"
    assert index_fill.entry.path.endswith("-nn.json")
    assert [str(entry.policy) for _, entry in index_fill.shadowed] == ["gray"]


@pytest.mark.parametrize(("soc", "hint"), [("ascend910bb", "did you mean `ascend910b`?"), ("tpu", "it has ascend910b")])
def test_an_unknown_soc_is_refused_with_a_near_name_or_all(root: Path, soc: str, hint: str) -> None:
    error = raised(UsageFault, Install.open, str(root), soc)
    assert (error.name, error.hint) == ("unknown-soc", hint)


def test_an_install_shows_its_root_soc_and_version(root: Path) -> None:
    built_in(root, Add="true")
    assert repr(Install.open(str(root), SOC)) == f"<Install {root}: {SOC}, CANN of unknown version>"
    (root / "version.info").write_text("version_dir=8.3.RC1\n")
    assert repr(Install.open(str(root), SOC)) == f"<Install {root}: {SOC}, CANN 8.3.RC1>"
