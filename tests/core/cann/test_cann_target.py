"""TARGET: every way to name one, and the errors for unknown or ambiguous names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NoReturn

import pytest
from raising import raised

from opsinfo_cli.core.cann import target as target_module
from opsinfo_cli.core.cann.file_kind import is_library_name, is_marked, kind_of
from opsinfo_cli.core.cann.install import socs_of, usual_roots
from opsinfo_cli.core.cann.mixlist import Mixlist, MixlistFile
from opsinfo_cli.core.cann.target import Target, resolve, target_or_mixlist
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import OpsinfoError, Refused, UsageFault

KINDS = {
    # situation: (file name, text, kind)
    "a top key that ends in list": ("x.json", '{"grey-list": {}}', "mixlist"),
    "a top key that ends in list, with anything in it": ("x.json", '{"my list": 1}', "mixlist"),
    "a second key that begins with to-": ("x.json", '{"x": {"to-do": 1}}', "mixlist"),
    "a second key that begins with to_": ("x.json", '{"x": {"to_add": {}}}', "mixlist"),
    "an array at level two": ("x.json", '{"x": ["Add"]}', "mixlist"),
    "an array at level three": ("x.json", '{"x": {"add": ["Add"]}}', "mixlist"),
    "marks win over the name of a library": ("aic-x-ops-info.json", '{"black-list": {"to-add": []}}', "mixlist"),
    "a snapshot": ("x.json", '{"kind": "opsinfo-snapshot", "operators": {}}', "snapshot"),
    "the name of an AI Core library": ("aic-ascend910b-ops-info-nn.json", '{"A": {}}', "library"),
    "the name of a vector core library": ("vector_core_tbe_ops_info-legacy.json", '{"A": {}}', "library"),
    "the name of a DSA library": ("dsa-ascend910b-ops-info.json", "{}", "library"),
    "a file in a config folder": ("tbe/config/ascend910b/x.json", '{"A": {}}', "library"),
    "a file in a config folder without a chip": ("vector_core/tbe/config/x.json", '{"A": {}}', "library"),
    "a section precision_reduce": ("x.json", '{"A": {"precision_reduce": {}}}', "library"),
    "a section input0": ("x.json", '{"A": {"opFile": {}, "input0": {"name": "x"}}}', "library"),
    "a section output12": ("x.json", '{"A": {}, "B": {"output12": {}}}', "library"),
    "an empty object": ("x.json", "{}", "mixlist"),
    "three levels of something else": ("x.json", '{"a": {"b": {"c": "d"}}}', None),
    "one level of something else": ("x.json", '{"a": 1}', None),
    "an array": ("x.json", "[1]", None),
    "three levels with a tensor of another tool": ("x.json", '{"A": {"input0": {"shape": [1, 2]}}}', None),
    "a tensor beside a value that is no entry": ("x.json", '{"version": 1, "A": {"input0": {"name": "x"}}}', None),
    "an array of objects with a key of a library": ("x.json", '[{"op": "Add", "input": ""}]', None),
    "an array, with the name of a library": ("aic-x-ops-info.json", "[]", "library"),
    "an array, with the name of a mixlist": ("ops_info.json", "[]", "mixlist"),
    "text, with a key of a library": ("x.json", '"\\"input0\\": {"', None),
    "comments, and a key of a library": ("x.json", '{ // c\n"op": {"a": 1}}', None),
    "comments, and an array": ("x.json", '[ // c\n{"input0": {"name": "x"}}]', None),
    "comments in a library": ("x.json", '{ // c\n"A": {"input0": {"name": "x"}}}', "library"),
    "an entry of AI CPU": ("x.json", '{"A": {"opInfo": {"engine": "DNN_VM_AICPU"}, "input0": {"type": "X"}}}', None),
    "an entry of AI Core that has an engine": (
        "x.json",
        '{"A": {"opInfo": {"engine": "DNN_VM_AICPU"}, "input0": {"dtype": "float"}}}',
        "library",
    ),
    "an index of kernels": ("x.json", '{"A": {"params": {}, "binaryList": [{}]}}', None),
    "broken, a tensor that is an array": ("x.json", '{"A": {"input0": [', None),
    "broken, an array with a key of a library": ("x.json", '[{"input0": {', None),
    "broken, with a tensor behind other sections": (
        "x.json",
        '{"A": {"opFile": {"value": "a"}, "attr": {"list": "x"}, "input0": {"name": "x", "paramType": ',
        "library",
    ),
    "broken, with the name of a library": ("aic-x-ops-info.json", '{"Add": {', "library"),
    "broken, in a config folder": ("tbe/config/ascend910b/y.json", "", "library"),
    "broken, with a list as first key": ("x.json", '{"black-list": {"to-add": ["A",]}}', "mixlist"),
    "broken, with a comment before the list": ("x.json", '{ // why\n"white-list": {}}', "mixlist"),
    "broken, with a section of a library": ("x.json", '{"Add": {"input0": {', "library"),
    "broken, with a section of a library that holds no tensor": ("x.json", '{"Add": {"precision_reduce": {', "library"),
    "broken, with a section of a library after three keys": ("x.json", '{"a": {"b": {"c": "d"}, "input0": {', None),
    "broken, with an action as third key": ("x.json", '{"a": {"b": {"to-add": [', "mixlist"),
    "broken, with the beginning of a snapshot": ("x.json", '{"kind": "opsinfo-snapshot", ', "snapshot"),
    "broken, with the name of a mixlist": ("ops_info.json", '{"Add": {"input0": {', "mixlist"),
    "broken, with nothing to go by": ("x.json", '{"a": tru', None),
}


@pytest.mark.parametrize("situation", KINDS)
def test_the_kind_of_a_file_is_the_first_that_matches(situation: str, tmp_path: Path) -> None:
    name, text, kind = KINDS[situation]
    assert kind_of(Source(text.encode(), str(tmp_path / name))) == kind


TENSOR = '{"name": "x", "type": "DT_FLOAT"}'
FOREIGN = {
    "AI CPU, an ini": (
        "x.ini",
        "[A]\nopInfo.engine=DNN_VM_AICPU\ninput0.name=x\ninput0.type=X\n",
        "a library of AI CPU",
    ),
    # situation: (file name, text, what it is)
    "AI CPU": ("x.json", '{"A": {"opInfo": {"engine": "DNN_VM_AICPU"}, "input0": %s}}', "a library of AI CPU"),
    "AI CPU, by the second entry": (
        "x.json",
        '{"A": {"input0": %s}, "B": {"opInfo": {"engine": "DNN_VM_AICPU_ASCEND"}}}',
        "a library of AI CPU",
    ),
    "AI CPU, with the name of a library": (
        "aic-x-ops-info.json",
        '{"A": {"opInfo": {"engine": "DNN_VM_AICPU"}}}',
        "a library of AI CPU",
    ),
    "the host": ("x.json", '{"A": {"opInfo": {"engine": "DNN_VM_HOST_CPU"}}}', "a library of the host CPU"),
    "DVPP, with arrays": (
        "x.json",
        '{"A": {"attr": {"a": {"type": "String"}}, "opInfo": {"engine": "DNN_VM_DVPP"}, "b": ["c"]}}',
        "a library of DVPP",
    ),
    "an engine that is not known": (
        "x.json",
        '{"A": {"opInfo": {"engine": "DNN_X"}}}',
        "a library of the engine DNN_X",
    ),
    "AI CPU, with a comment": ("x.json", '{ // c\n"A": {"opInfo": {"engine": "DNN_VM_AICPU"}}}', "a library of AI CPU"),
    "an index, by its name": ("binary_info_config.json", '{"A": {"params": []}}', "an index of compiled kernels"),
    "an index in a config folder": ("tbe/config/binary_info_config.json", '{"A": {}}', "an index of compiled kernels"),
    "an index, by its list": ("x.json", '{"A": {"binaryList": []}}', "an index of compiled kernels"),
    "a kernel": (
        "x.json",
        '{"binFileName": "a", "kernelName": "b", "list": []}',
        "the description of a compiled kernel",
    ),
    "kernels to compile": ("x.json", '{"op_type": "A", "op_list": [{}]}', "a list of kernels to compile"),
    "a rank table": ("x.json", '{"status": "completed", "group_count": "1", "group_list": []}', "a rank table of HCCL"),
    "a rank table by servers": ("x.json", '{"server_count": "1", "server_list": []}', "a rank table of HCCL"),
    "single operators": (
        "x.json",
        '[{"op": "Add", "input_desc": [{"type": "int32"}]}]',
        "a description of single operators for atc or msopgen",
    ),
    "cases of msopst": (
        "x.json",
        '[{"case_name": "a", "op": "Add", "input_desc": []}]',
        "a description of single operators for atc or msopgen",
    ),
}


@pytest.mark.parametrize("situation", FOREIGN)
def test_a_file_of_another_part_of_cann_is_named_for_what_it_is(situation: str, tmp_path: Path) -> None:
    name, text, what = FOREIGN[situation]
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("%s", TENSOR), "utf-8")
    source = Source.read(str(path))
    assert (kind_of(source), is_marked(source)) == (None, False)
    fault = raised(UsageFault, resolve, str(path), TargetOptions(), {})
    assert (fault.name, fault.message) == ("wrong-kind", f"{what}; it has no policy")
    assert resolve(str(path), TargetOptions(kind="library"), {}).kind == "library", "--as decides"


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("m.mindir", b"\n\x050.1.0\x12\x09MindSpore*\x081.5.0rc1:\x98\x03\xff", "a MindIR model"),
        ("m.ms", b"\x24\0\0\0MSL2\xff\0", "a model of MindSpore Lite"),
        ("m", b"IMOD\xff", "a compiled model"),
        ("m.onnx", b"\x08\xff", "an ONNX model"),
    ],
)
def test_a_model_in_binary_form_is_named_for_what_it_is(name: str, data: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    fault = raised(UsageFault, resolve, str(tmp_path / name), TargetOptions(), {})
    assert fault.message == f"{what}; it has no policy"
    (tmp_path / "m.bin").write_bytes(b"\xff\0")
    assert "not UTF-8" in str(raised(Refused, resolve, str(tmp_path / "m.bin"), TargetOptions(), {}))


def test_a_folder_with_files_of_other_engines_only_is_no_store(tmp_path: Path) -> None:
    for folder in (tmp_path / "aicpu", tmp_path / "config" / "ascend910b"):
        folder.mkdir(parents=True)
        (folder / "aicpu_kernel.json").write_text('{"A": {"opInfo": {"engine": "DNN_VM_AICPU"}}}')
        fault = raised(UsageFault, resolve, str(folder), TargetOptions(), {})
        assert fault.message == "a library of AI CPU; it has no policy"
        (folder / "x.json").write_text('{"A": {"precision_reduce": {"flag": "true"}}}')
        assert resolve(str(folder), TargetOptions(), {}).kind == "store"


@pytest.mark.parametrize("name", ["aic-x-ops-info.json.bak", "AIC-x-ops-info.json", "ops-info.json", "config/x.json"])
def test_other_names_are_not_libraries(name: str, tmp_path: Path) -> None:
    assert not is_library_name(str(tmp_path / name))


def test_as_decides_over_everything(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": 1}')
    assert resolve(str(path), TargetOptions(kind="library"), {}).kind == "library"
    assert "--as" in str(raised(UsageFault, resolve, str(path), TargetOptions(), {}).hint)


def test_an_existing_file_is_preferred_to_a_soc_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ascend910b").write_text('{"black-list": {}}')
    monkeypatch.chdir(tmp_path)
    assert target_or_mixlist("ascend910b", TargetOptions(), {"ASCEND_OPP_PATH": "/nonexistent"}).kind == "mixlist"


def test_a_directory_of_libraries_is_a_store(fixtures: Path) -> None:
    folder = fixtures / "opp/built-in/op_impl/ai_core/tbe/config/ascend910b"
    found = resolve(str(folder), TargetOptions(), {})
    assert (found.kind, found.soc) == ("store", "ascend910b")
    assert "IndexFill" in found.operators


def test_a_directory_of_libraries_under_any_name_is_a_store(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"A": {"precision_reduce": {"flag": "true"}}}')
    assert resolve(str(tmp_path), TargetOptions(), {}).kind == "store"


def test_any_other_directory_is_a_usage_fault(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"a": 1}')
    with pytest.raises(UsageFault):
        resolve(str(tmp_path), TargetOptions(), {})


def test_an_opp_root_is_an_install(fixtures: Path) -> None:
    found = resolve(str(fixtures / "opp"), TargetOptions(soc="ascend910"), {})
    assert (found.kind, found.soc) == ("install", "ascend910")


def test_an_install_of_several_socs_asks_which(fixtures: Path) -> None:
    error = raised(UsageFault, resolve, str(fixtures / "opp"), TargetOptions(), {})
    assert "ascend910, ascend910b" in error.message
    assert error.exit_code == 2


def test_a_toolkit_root_holds_an_install(fixtures: Path, tmp_path: Path) -> None:
    (tmp_path / "opp").symlink_to(fixtures / "opp")
    assert resolve(str(tmp_path), TargetOptions(soc="ascend910b"), {}).kind == "install"


@pytest.mark.parametrize("name", ["", "aic-ascend910b-ops-info-legacy.json"])
def test_the_soc_of_a_store_or_library_is_not_another_one(fixtures: Path, name: str) -> None:
    path = str(fixtures / "opp/built-in/op_impl/ai_core/tbe/config/ascend910b" / name)
    assert resolve(path, TargetOptions(soc="Ascend910B3"), {}).soc == "ascend910b"
    error = raised(UsageFault, resolve, path, TargetOptions(soc="ascend910"), {})
    assert "is of ascend910b, not of `ascend910`" in error.message


def test_standard_input_needs_a_kind() -> None:
    named = target_or_mixlist("-", TargetOptions(kind="mixlist", handed=b"{}"), {})
    assert isinstance(named, MixlistFile)
    assert named.mixlist.marks == {}
    with pytest.raises(UsageFault):
        resolve("-", TargetOptions(handed=b"{}"), {})


@pytest.mark.parametrize("text", ["none.json", "a/b", "./none"])
def test_a_missing_path_is_refused_and_not_read_as_a_soc(text: str) -> None:
    assert raised(Refused, resolve, text, TargetOptions(), {}).exit_code == 3


# chip names


def test_a_soc_name_is_looked_up_in_ascend_opp_path(fixtures: Path) -> None:
    found = resolve(
        "ascend910b", TargetOptions(), {"ASCEND_OPP_PATH": f" {fixtures / 'opp'} ", "ASCEND_HOME_PATH": "/none"}
    )
    assert (found.kind, found.soc, found.notes) == ("install", "ascend910b", [])


def test_a_target_is_opened_with_the_environment_of_the_process(
    fixtures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_OPP_PATH", str(fixtures / "opp"))
    assert repr(Target.open("ascend910b")) == "<Target ascend910b: install for ascend910b>"


def test_without_ascend_opp_path_ascend_home_path_is_used(fixtures: Path, tmp_path: Path) -> None:
    (tmp_path / "opp").symlink_to(fixtures / "opp")
    found = resolve("Ascend910B3", TargetOptions(), {"ASCEND_OPP_PATH": "", "ASCEND_HOME_PATH": str(tmp_path)})
    assert found.soc == "ascend910b"


@pytest.mark.parametrize("variable", ["ASCEND_OPP_PATH", "ASCEND_HOME_PATH"])
def test_a_variable_with_a_missing_path_is_refused_as_in_the_engine(variable: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        resolve("ascend910b", TargetOptions(), {variable: str(tmp_path / "none"), "HOME": str(tmp_path)})
    assert caught.value.exit_code == 3
    assert variable in caught.value.message


def test_ascend910b_with_a_capital_is_the_old_910_and_a_note_names_the_a2(fixtures: Path) -> None:
    found = resolve("Ascend910B", TargetOptions(), {"ASCEND_OPP_PATH": str(fixtures / "opp")})
    assert found.soc == "ascend910"
    assert ["ascend910b" in note for note in found.notes] == [True]


def test_custom_paths_of_the_environment_apply_to_the_environments_root(fixtures: Path) -> None:
    fastops = str((fixtures / "custom/fastops").resolve())
    environ = {"ASCEND_OPP_PATH": str(fixtures / "opp"), "ASCEND_CUSTOM_OPP_PATH": f"{fastops}::/none"}
    mul = resolve("ascend910b", TargetOptions(), environ).operators["Mul"]
    assert (str(mul.entry.policy), mul.store.label) == ("black", f"env:{fastops}")


def test_with_an_explicit_root_only_the_custom_option_applies(fixtures: Path) -> None:
    fastops = str((fixtures / "custom/fastops").resolve())
    environ = {"ASCEND_CUSTOM_OPP_PATH": fastops}
    plain = resolve(str(fixtures / "opp"), TargetOptions(soc="ascend910b"), environ)
    assert plain.operators["Mul"].store.label == "built-in"
    given = resolve(str(fixtures / "opp"), TargetOptions(soc="ascend910b", customs=(fastops,)), environ)
    assert given.operators["Mul"].store.label == f"env:{fastops}"


def usual(home: Path, place: str, fixtures: Path, version: str = "8.3.RC1") -> Path:
    root = home / "Ascend" / place / "opp"
    config = root / "built-in/op_impl/ai_core/tbe/config/ascend910b"
    config.mkdir(parents=True)
    (config / "aic-ascend910b-ops-info.json").write_text(json.dumps({"Add": {}}))
    (root / "version.info").write_text(f"version_dir={version}\n")
    return root


@pytest.fixture
def no_system_cann(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide a CANN of the machine."""
    real = os.path.isdir
    monkeypatch.setattr(
        target_module.os.path, "isdir", lambda path: not str(path).startswith("/usr/local/Ascend") and real(path)
    )


@pytest.mark.usefixtures("no_system_cann")
@pytest.mark.parametrize("place", ["ascend-toolkit/latest", "nnae/latest", "nnrt/latest", "cann/latest", ""])
def test_a_usual_folder_is_used_with_a_note(place: str, fixtures: Path, tmp_path: Path) -> None:
    root = usual(tmp_path, place, fixtures)
    found = resolve("ascend910b", TargetOptions(), {"HOME": str(tmp_path)})
    assert os.path.realpath(found.path) == str(root.resolve())
    assert any("ASCEND_OPP_PATH" in note for note in found.notes)


@pytest.mark.usefixtures("no_system_cann")
def test_several_usual_folders_are_an_error(fixtures: Path, tmp_path: Path) -> None:
    first = usual(tmp_path, "ascend-toolkit/latest", fixtures, "8.2.RC1")
    second = usual(tmp_path, "nnae/latest", fixtures, "8.3.RC1")
    error = raised(UsageFault, resolve, "ascend910b", TargetOptions(), {"HOME": str(tmp_path)})
    for text in (str(first), str(second), "8.2.RC1", "8.3.RC1"):
        assert text in error.message


@pytest.mark.usefixtures("no_system_cann")
def test_two_paths_of_one_folder_are_one_install(fixtures: Path, tmp_path: Path) -> None:
    usual(tmp_path, "ascend-toolkit/8.3.RC1", fixtures)
    (tmp_path / "Ascend/ascend-toolkit/latest").symlink_to("8.3.RC1")
    (tmp_path / "Ascend/nnae").mkdir()
    (tmp_path / "Ascend/nnae/latest").symlink_to("../ascend-toolkit/8.3.RC1")
    assert len(usual_roots({"HOME": str(tmp_path)})) == 1


@pytest.mark.usefixtures("no_system_cann")
def test_an_unknown_word_is_a_usage_fault(tmp_path: Path) -> None:
    error = raised(OpsinfoError, resolve, "ascend910b", TargetOptions(), {"HOME": str(tmp_path)})
    assert error.exit_code == 2
    assert "ASCEND_OPP_PATH" in str(error.hint)


def test_a_mixlist_is_no_target(fixtures: Path) -> None:
    path = str(fixtures / "mixlists/good/add-black.json")
    for named in (path, Path(path), Mixlist.read(path)):
        assert raised(UsageFault, Target.open, named).name == "wrong-kind"


def test_an_unsearchable_path_is_not_reported_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def lstat(path: str) -> NoReturn:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("opsinfo_cli.core.cann.target.os.lstat", lstat)
    for text in ("/root-only/mixlist.json", "mixlist.json"):
        assert raised(Refused, resolve, text, TargetOptions(), {}).message == "Permission denied"


def test_only_folders_with_libraries_are_socs(opp: Path) -> None:
    socs = socs_of(str(opp))
    config = opp / "built-in" / "op_impl" / "ai_core" / "tbe" / "config"
    assert socs
    assert {path.name for path in config.iterdir()} >= set(socs)
    (config / "ascend000").mkdir()
    (config / "ascend001").mkdir()
    (config / "ascend001" / "notes.txt").touch()
    (config / "ascend002").write_text("a file")
    assert socs_of(str(opp)) == socs
    (config / "ascend000" / "aic-ascend000-ops-info.json").write_text("{}")
    assert socs_of(str(opp)) == ["ascend000", *socs]


def test_a_chip_of_an_install_is_named_behind_an_at_sign(fixtures: Path) -> None:
    target = resolve(f"{fixtures}/opp@ascend910", TargetOptions(), {})
    assert (target.kind, target.soc, target.text) == ("install", "ascend910", f"{fixtures}/opp@ascend910")
    assert resolve(f"{fixtures}/opp@Ascend910B1", TargetOptions(), {}).soc == "ascend910b"


def test_an_existing_path_with_an_at_sign_is_a_path(fixtures: Path, tmp_path: Path) -> None:
    path = tmp_path / "opp@ascend910"
    path.symlink_to(fixtures / "opp")
    (tmp_path / "opp").symlink_to(fixtures / "opp")
    assert resolve(str(path), TargetOptions(soc="ascend910b"), {}).soc == "ascend910b"


@pytest.mark.parametrize(
    ("text", "soc", "message"),
    [
        ("opp@ascend910", "ascend910b", "names the chip already"),
        ("opp@ascend99", None, "unknown chip `ascend99`"),
        ("mixlists/good/add-black.json@ascend910", None, "only an operator package has chips"),
        ("opp/built-in/op_impl/ai_core/tbe/config/ascend910@ascend910", None, "only an operator package has chips"),
    ],
)
def test_a_chip_that_cannot_be_chosen_is_wrong_usage(fixtures: Path, text: str, soc: str | None, message: str) -> None:
    with pytest.raises(UsageFault, match=message):
        resolve(f"{fixtures}/{text}", TargetOptions(soc=soc), {})


@pytest.mark.parametrize("text", ["nowhere/opp@ascend910", "nowhere.json", "@/x"])
def test_a_path_that_is_not_there_is_refused_with_what_a_target_is(text: str) -> None:
    with pytest.raises(Refused, match="no such file") as caught:
        resolve(text, TargetOptions(), {})
    assert "snapshot file" in str(caught.value.hint)
