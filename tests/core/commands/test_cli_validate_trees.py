"""`opsinfo validate` of trees: files that are checked, skipped, or an error."""

from __future__ import annotations

from pathlib import Path

from cli_support import Run, write


def test_arrays_of_other_tools_are_not_read_as_mixlists(opsinfo: Run, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree / "tsconfig.json", {"compilerOptions": {"lib": ["es2020"]}, "include": ["src"]})
    write(tree / "package.json", {"name": "x", "files": ["dist"], "scripts": {"test": "x"}})
    write(tree / "coco.json", {"images": [{"id": 1}], "annotations": []})
    ran = opsinfo("validate", tree, "-v")
    assert (ran.code, ran.out) == (2, "")
    assert "nothing to check" in ran.err
    for name in ("tsconfig.json", "package.json", "coco.json"):
        assert f"{name}: skipped" in ran.err


def test_a_broken_mixlist_in_a_tree_is_found_by_its_mark(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree / "any.json", (fixtures / "mixlists/bad/comment-hash.json").read_bytes())
    write(tree / "aic-x-ops-info.json", "{")
    ran = opsinfo("validate", tree)
    assert ran.code == 1
    assert "any.json" in ran.out
    assert "aic-x-ops-info.json" in ran.out


def test_a_path_with_nothing_to_check_is_an_error_beside_others_too(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("validate", tmp_path / "empty", tmp_path / "full")
    assert ran.code == 3, "neither file exists"
    (tmp_path / "empty").mkdir()
    write(tmp_path / "full/mixlist.json", "{}")
    assert opsinfo("validate", tmp_path / "full").code == 0
    for paths in (["empty"], ["full", "empty"]):
        ran = opsinfo("validate", *paths, cwd=tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "error: nothing to check: no mixlist, library or store found here\n  --> empty\n" in ran.err


OTHERS = {
    "coco.json": '{"file_list": ["a"], "n": 3}',
    "tasks.json": '{"exclude_list": {"a": 1}, "tasks": {"to_do": 1}}',
    "hosts.json": '{"black_list": ["example.com"]}',
    "ge_options.json": '{"ge.exec.modify_mixlist": "m.json"}',
    "cut.json": '{"file_list": [1,',
    "vocab.json": '{"list": 1, "white-list": 2, "toAdd": 3, "to-add": 4, "block": 5}',
    "de.json": '{"list": "Liste", "menu": {"to_add": "hinzu", "to-remove": "weg"}}',
    "deep.json": '{"file_list": [], "a": {"b": {"to_add": ["x"]}}}',
    "alpaca.json": '[{"instruction": "x", "input": "", "output": "y"}]',
    "single_op.json": '[{"op": "Add", "input_desc": [{"type": "int32"}]}]',
    "cut_array.json": '[{"input0": {"name": "x"}',
    "tsconfig.json": '{ // why\n"op": {"a": 1}}',
    "packages.json": '{"whitelist": {"hosts": ["a"]}, "version": 1}',
    "aicpu.json": '{"A": {"opInfo": {"engine": "DNN_VM_AICPU"}, "input0": {"name": "x", "type": "DT_FLOAT"}}}',
    "onnx.json": '{"model": {"input0": {"name": "x", "shape": [1]}}}',
    "versions.json": '{"version": 1, "model": {"input0": {"name": "x"}}}',
    "cann/binary_info_config.json": '{"A": {"params": {"inputs": []}, "binaryList": []}}',
    "tbe/config/binary_info_config.json": '{"A": {"params": {"inputs": []}, "binaryList": []}}',
}
MEANT = {
    "a.json": '{"blak-list": {"to_add": []}}',
    "b.json": '{"white_list": {}}',
    "d.json": '{"Trustlist": {"add": ["Mul"]}}',
    "e.json": '{"gray-list": ["Mul"]}',
    "c.json": '{"black-list": {"to-add": ["Mul"',
}


def test_a_tree_passes_over_json_of_other_tools(opsinfo: Run, tmp_path: Path) -> None:
    for name, text in {**OTHERS, **MEANT}.items():
        write(tmp_path / name, text)
    ran = opsinfo("validate", tmp_path, "--format", "json")
    assert {Path(each["path"]).name for each in ran.json["findings"]} == set(MEANT)
    assert {Path(each["path"]).name for each in ran.json["files"]} == set(MEANT)
    assert "aicpu.json: skipped; a library of AI CPU; it has no policy" in opsinfo("validate", tmp_path, "-v").err
    assert opsinfo("validate", tmp_path / "coco.json").code == 1, "a file that the user names is checked"


BROKEN = {
    "ops_info.json": b"",
    "mixlist.json": b"  ",
    "my_ops_info.json": b"{\xff}",
    "OPS_INFO_BERT.JSON": b"",
    "Bert-MixList-2.json": b"\xff\xfe{\x00}\x00",
    "mix_list.json": b"[1]",
    "aic-x-ops-info-nn.json": b"\xff",
}


def test_a_tree_reports_every_broken_file_with_a_known_name(opsinfo: Run, tmp_path: Path) -> None:
    for name, data in BROKEN.items():
        write(tmp_path / name.lower().partition(".")[0] / name, data)
    write(tmp_path / "ascend910b.opsinfo.json", "")
    write(tmp_path / "mixlist.schema.json", "")
    ran = opsinfo("validate", tmp_path, "--format", "json")
    assert ran.code == 1
    assert {Path(each["path"]).name for each in ran.json["findings"]} == set(BROKEN)
