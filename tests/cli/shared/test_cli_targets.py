"""Kinds of TARGET: files, stores, installs, chips of the environment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import AI_910B, NN, Run, entry, library, mixlist, names, rows, write


def test_a_custom_path_comes_first_and_is_labelled_by_its_path(opsinfo: Run, fixtures: Path) -> None:
    custom = fixtures / "custom/fastops"
    target = (fixtures / "opp", "--soc", "ascend910b", "--format", "json")
    by_name = {each["name"]: each for each in opsinfo("list", *target, "--custom", custom).json["operators"]}
    assert by_name["Mul"]["policy"] == "black"
    assert by_name["Mul"]["store"] == f"env:{custom}"
    assert [each["store"] for each in by_name["Mul"]["also_in"]] == ["built-in"]


def test_the_environments_custom_path_is_used_only_with_the_environments_root(opsinfo: Run, fixtures: Path) -> None:
    env = {"ASCEND_CUSTOM_OPP_PATH": str(fixtures / "custom/fastops"), "ASCEND_OPP_PATH": str(fixtures / "opp")}
    by_soc = opsinfo("list", "ascend910b", "--match", "Mul", env=env)
    assert rows(by_soc)[0][1] == "black"
    by_path = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--match", "Mul", env=env)
    assert rows(by_path)[0][1] == "gray"


@pytest.mark.parametrize("core", ["vector", "dsa"])
def test_the_other_cores_are_chosen_by_name(opsinfo: Run, fixtures: Path, core: str) -> None:
    ran = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--core", core, "--format", "json")
    assert ran.code == 0
    assert ran.json["operators"]
    assert all(f"{core}_core" in each["file"] for each in ran.json["operators"])
    assert core not in ran.json["other_stores"]


def test_an_unknown_core_is_wrong_usage(opsinfo: Run, fixtures: Path) -> None:
    assert opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--core", "gpu").code == 2


def test_the_old_layout_is_an_install_too(opsinfo: Run, fixtures: Path) -> None:
    assert names(opsinfo("list", fixtures / "opp-old")) == ["Conv2D", "Log", "Relu"]


def test_an_install_of_several_chips_asks_which_and_names_them(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("list", fixtures / "opp")
    assert (ran.code, ran.out) == (2, "")
    assert "ascend910b" in ran.err
    assert "ascend910," in ran.err or "ascend910 " in ran.err or "ascend910\n" in ran.err
    assert "--soc" in ran.err


def test_a_toolkit_root_is_an_install(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    root = tmp_path / "toolkit"
    root.mkdir()
    opp.rename(root / "opp")
    assert len(names(opsinfo("list", root, "--soc", "ascend910b"))) == 40


@pytest.mark.parametrize(("variable", "below"), [("ASCEND_OPP_PATH", "opp"), ("ASCEND_HOME_PATH", "")])
def test_a_chip_is_looked_up_in_the_environments_root(opsinfo: Run, fixtures: Path, variable: str, below: str) -> None:
    ran = opsinfo("list", "ascend910", env={variable: str(fixtures / below) if below else str(fixtures)})
    assert len(names(ran)) == 23


def test_the_opp_path_comes_before_the_home_path(opsinfo: Run, fixtures: Path) -> None:
    env = {"ASCEND_OPP_PATH": str(fixtures / "opp-old"), "ASCEND_HOME_PATH": str(fixtures)}
    assert names(opsinfo("list", "ascend910", env=env)) == ["Conv2D", "Log", "Relu"]


def test_a_missing_opp_path_is_refused_as_in_the_engine(opsinfo: Run, fixtures: Path) -> None:
    env = {"ASCEND_OPP_PATH": "/nowhere/opp", "ASCEND_HOME_PATH": str(fixtures)}
    ran = opsinfo("list", "ascend910", env=env)
    assert (ran.code, ran.out) == (3, "")
    assert "ASCEND_OPP_PATH" in ran.err


def test_a_usual_folder_is_reported_on_stderr(opsinfo: Run, opp: Path, isolation: Path) -> None:
    place = isolation / "Ascend/ascend-toolkit/latest"
    place.mkdir(parents=True)
    opp.rename(place / "opp")
    ran = opsinfo("list", "ascend910")
    assert ran.code == 0
    assert str(place / "opp") in ran.err
    assert len(names(ran)) == 23


def test_two_usual_folders_of_one_real_path_are_one(opsinfo: Run, opp: Path, isolation: Path) -> None:
    place = isolation / "Ascend/ascend-toolkit/8.3"
    place.mkdir(parents=True)
    opp.rename(place / "opp")
    (isolation / "Ascend/ascend-toolkit/latest").symlink_to("8.3")
    (isolation / "Ascend/cann").mkdir()
    (isolation / "Ascend/cann/latest").symlink_to("../ascend-toolkit/8.3")
    assert opsinfo("list", "ascend910").code == 0


def test_two_installs_in_usual_folders_are_listed_with_versions(
    opsinfo: Run, opp: Path, fixtures: Path, isolation: Path
) -> None:
    for name, source in (("ascend-toolkit", opp), ("nnae", fixtures / "opp-old")):
        place = isolation / "Ascend" / name / "latest"
        place.mkdir(parents=True)
        (place / "opp").symlink_to(source)
    ran = opsinfo("list", "ascend910")
    assert ran.code == 2
    assert "8.3.RC1" in ran.err
    assert "nnae" in ran.err


@pytest.mark.parametrize(("product", "count"), [("ascend910b1", 40), ("Ascend910B3", 40), ("ascend910a", 23)])
def test_product_names_are_looked_up(opsinfo: Run, fixtures: Path, product: str, count: int) -> None:
    ran = opsinfo("list", product, env={"ASCEND_OPP_PATH": str(fixtures / "opp")})
    assert len(names(ran)) == count


def test_ascend910b_with_a_capital_is_the_old_910_and_the_a2_is_named(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("list", "Ascend910B", env={"ASCEND_OPP_PATH": str(fixtures / "opp")})
    assert len(names(ran)) == 23
    assert "A2" in ran.err


def test_an_unknown_chip_is_wrong_usage(opsinfo: Run, fixtures: Path) -> None:
    for ran in (
        opsinfo("list", "ascend910c", env={"ASCEND_OPP_PATH": str(fixtures / "opp")}),
        opsinfo("list", fixtures / "opp", "--soc", "ascend910c"),
    ):
        assert ran.code == 2
        assert "ascend910" in ran.err.partition("hint")[2]


def test_without_any_install_a_bare_word_is_wrong_usage(opsinfo: Run) -> None:
    ran = opsinfo("list", "ascend910b")
    assert ran.code == 2
    assert "ASCEND_OPP_PATH" in ran.err


@pytest.mark.parametrize("kind", ["library", "mixlist"])
def test_standard_input_requires_a_kind(opsinfo: Run, fixtures: Path, kind: str) -> None:
    path = fixtures / "opp" / NN if kind == "library" else fixtures / "mixlists/good/add-black.json"
    ran = opsinfo("list", "-", "--as", kind, input=path.read_bytes())
    assert ran.code == 0
    assert rows(ran)[0][3].startswith("-:")
    assert opsinfo("list", "-", input=path.read_bytes()).code == 2
    shown = opsinfo("show", "-", rows(ran)[0][0], "--as", kind, input=path.read_bytes())
    assert shown.code == (0 if kind == "library" else 2)


def test_as_overrides_the_detected_kind(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "thing.json", {})
    assert opsinfo("list", path, "--format", "json").json["target"]["kind"] == "mixlist"
    assert opsinfo("list", path, "--as", "library", "--format", "json").json["target"]["kind"] == "library"


KINDS = [
    ("x.json", {"a-list": {}}, "mixlist"),
    ("x.json", {"Add": {"to_add": {}}}, "mixlist"),
    ("x.json", {"Add": {"to-": {}}}, "mixlist"),
    ("x.json", {"Add": []}, "mixlist"),
    ("x.json", {"Add": {"x": []}}, "mixlist"),
    ("aic-x-ops-info.json", {"Add": {"x": []}}, "mixlist"),
    ("x.json", {"Add": {"precision_reduce": {}}}, "library"),
    ("x.json", {"Add": {"input0": {}}}, "library"),
    ("x.json", {"Add": {"output12": {}}}, "library"),
    ("aic-x-ops-info-y.json", {}, "library"),
    ("vector_core_tbe_ops_info-legacy.json", {}, "library"),
    ("dsa-ascend910b-ops-info.json", {}, "library"),
    ("x.json", {}, "mixlist"),
]


def test_the_kind_of_a_file_is_detected(opsinfo: Run, tmp_path: Path) -> None:
    paths = [write(tmp_path / str(number) / name, content) for number, (name, content, _) in enumerate(KINDS)]
    files = opsinfo("validate", *paths, "--format", "json").json["files"]
    found = {each["path"]: each["kind"] for each in files}
    wanted = {str(path): (name, content, kind) for path, (name, content, kind) in zip(paths, KINDS, strict=True)}
    assert {path: (*case[:2], found[path]) for path, case in wanted.items()} == wanted


def test_a_file_inside_a_stores_config_directory_is_a_library(opsinfo: Run, opp: Path) -> None:
    path = write(opp / AI_910B / "mine.json", {"Some": {"opFile": {"value": "x"}}})
    assert names(opsinfo("list", path)) == ["Some"]


def test_a_file_of_unknown_kind_requires_as(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("list", write(tmp_path / "x.json", {"Add": {"y": {"z": "w"}}}))
    assert ran.code == 2
    assert "--as" in ran.err


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        ('{"Add": {"precision_reduce": {"flag": "yes"}}}', "yes"),
        ('{"Add": {"precision_reduce": {"flag": true}}}', "string"),
        ('{" Add": {"precision_reduce": {"flag": "true"}}}', "Add"),
        ('{"Add": [', ""),
        ("", ""),
        ("// nothing\n{}", ""),
    ],
    ids=["bad flag", "flag is a boolean", "blank in the op type", "cut off", "empty", "comment"],
)
def test_a_store_with_a_file_that_the_engine_refuses_is_refused_whole(
    opsinfo: Run, opp: Path, damage: str, word: str
) -> None:
    path = write(opp / AI_910B / "aic-ascend910b-ops-info-bad.json", damage)
    ran = opsinfo("list", opp, "--soc", "ascend910b")
    assert (ran.code, ran.out) == (3, "")
    assert path.name in ran.err
    assert word in ran.err
    failed = opsinfo("list", opp / AI_910B, "--format", "json")
    assert failed.code == 3
    assert failed.json["error"]["path"] == str(path)
    assert "operators" not in failed.json


def test_a_directory_named_like_a_library_fails_the_store(opsinfo: Run, opp: Path) -> None:
    (opp / AI_910B / "backup.json").mkdir()
    ran = opsinfo("list", opp / AI_910B)
    assert (ran.code, ran.out) == (3, "")
    assert "backup.json" in ran.err


def test_a_vendor_that_lacks_its_impl_folder_is_not_loaded(opsinfo: Run, opp: Path) -> None:
    impl = opp / "vendors/acme/op_impl/ai_core/tbe/acme_impl"
    for path in impl.iterdir():
        path.unlink()
    impl.rmdir()
    found = {row[0]: row for row in rows(opsinfo("list", opp, "--soc", "ascend910b"))}
    assert "AcmeFlashGelu" not in found
    assert found["AddN"][1] == "gray"


def test_an_empty_store_lists_nothing(opsinfo: Run, tmp_path: Path) -> None:
    store = tmp_path / "config" / "ascend910b"
    store.mkdir(parents=True)
    ran = opsinfo("list", store)
    assert (ran.code, ran.out) == (0, "")


def test_the_last_of_equal_keys_is_read(opsinfo: Run, tmp_path: Path) -> None:
    first, last = json.dumps(entry("true")), json.dumps(entry("false"))
    path = write(tmp_path / "aic-x-ops-info.json", f'{{"Add": {first},\n "Add": {last}}}')
    ran = opsinfo("list", path)
    assert rows(ran)[0][:2] == ["Add", "black"]
    assert rows(ran)[0][3].endswith(":2")


def test_flags_are_read_as_the_engine_reads_them(opsinfo: Run, tmp_path: Path) -> None:
    content = library({"A": "TRUE", "B": " False\t", "C": "", "D": None})
    ran = opsinfo("list", write(tmp_path / "aic-x-ops-info.json", content))
    assert [row[1] for row in rows(ran)] == ["white", "black", "gray", "gray"]


def test_a_mixlist_cannot_be_combined_with_a_mixlist_target(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    ran = opsinfo("list", path, "--mixlist", path)
    assert ran.code == 2


def test_against_is_for_mixlists_only(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("list", fixtures / "opp" / NN, "--against", fixtures / "opp" / NN)
    assert ran.code == 2
