"""What `validate` leaves out and says so: excluded files, lists of other tools, findings that a configuration hides."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_support import Run, finding_names, write

from opsinfo_cli import validate
from opsinfo_cli.core.terminal.findings import FORMATS

WRONG = '{"grey-list": {}}'
FIREWALL = '{"black-list": ["10.0.0.1"], "white-list": ["10.0.0.2"]}'


def files_of(ran: object) -> list[str]:
    return sorted(Path(each["path"]).name for each in ran.json["files"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ([], ["a_mixlist.json", "b_mixlist.json", "c_mixlist.json"]),
        (["b_*.json"], ["a_mixlist.json", "c_mixlist.json"]),
        (["x/y"], ["a_mixlist.json", "b_mixlist.json"]),
        (["x/*"], ["a_mixlist.json"]),
        (["y/", "a_mixlist.json"], ["b_mixlist.json"]),
        (["./x/b_mixlist.json"], ["a_mixlist.json", "c_mixlist.json"]),
        (["mixlist.json", "no[thing"], ["a_mixlist.json", "b_mixlist.json", "c_mixlist.json"]),
    ],
)
def test_a_pattern_leaves_files_and_folders_out(
    opsinfo: Run, tmp_path: Path, patterns: list[str], left: list[str]
) -> None:
    for name in ("a_mixlist.json", "x/b_mixlist.json", "x/y/c_mixlist.json"):
        write(tmp_path / name, WRONG)
    words = [word for pattern in patterns for word in ("--exclude", pattern)]
    assert files_of(opsinfo("validate", ".", *words, "--format", "json", cwd=tmp_path)) == left
    listed = ", ".join(f'"{pattern}"' for pattern in patterns)
    write(tmp_path / "opsinfo.toml", f"exclude = [{listed}]\n")
    inside = opsinfo("validate", "..", "--format", "json", cwd=tmp_path / "x")
    assert files_of(inside) == left
    named = opsinfo("validate", "b_mixlist.json", "--format", "json", cwd=tmp_path / "x")
    assert files_of(named) == ["b_mixlist.json"]


FOREIGN = {
    "addresses": (FIREWALL, True),
    "an object of another tool": ('{"white-list": {"urls": ["a"]}}', True),
    "names of files": ('{"black_list": ["a/b.c"], "white-list": [], "allow": 1}', True),
    "an op type without an action": ('{"black-list": ["SoftmaxV2"]}', False),
    "an op type in another case": ('{"black-list": ["softmaxv2"]}', False),
    "an operator of ONNX": ('{"black-list": ["RealDiv"]}', False),
    "an action": ('{"black-list": {"to-add": ["10.0.0.1"]}}', False),
    "a list that is empty": ('{"black-list": {}}', False),
}


@pytest.mark.parametrize("situation", FOREIGN)
def test_a_list_of_another_tool_is_a_warning_in_a_walk_and_an_error_by_name(
    opsinfo: Run, tmp_path: Path, situation: str
) -> None:
    text, is_foreign = FOREIGN[situation]
    write(tmp_path / "proxy.json", text)
    walked = opsinfo("validate", tmp_path, "--format", "json")
    assert ("foreign-list" in finding_names(walked)) is is_foreign
    if is_foreign:
        assert (walked.code, finding_names(walked)) == (0, ["foreign-list"])
        named = opsinfo("validate", tmp_path / "proxy.json", "--format", "json")
        assert (named.code, finding_names(named)) == (1, ["foreign-list"])
        assert "foreign-list" not in finding_names(opsinfo("validate", tmp_path, "--as", "mixlist", "--format", "json"))


def test_a_list_of_another_tool_that_a_script_passes_is_checked_as_a_mixlist(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "proxy.json", FIREWALL)
    write(tmp_path / "run.sh", "atc --model=a.onnx --soc_version=Ascend910B3 --modify_mixlist=proxy.json\n")
    ran = opsinfo("validate", "run.sh", "--follow", "--format", "json", cwd=tmp_path)
    assert (ran.code, "foreign-list" in finding_names(ran)) == (1, False)


@pytest.mark.parametrize(("table", "count"), [('ignore = ["M"]', 1), ('select = ["T"]', 1), ('ignore = ["T"]', 0)])
def test_every_report_counts_what_a_configuration_hides(opsinfo: Run, tmp_path: Path, table: str, count: int) -> None:
    write(tmp_path / "ops_info.json", WRONG)
    write(tmp_path / "opsinfo.toml", f"{table}\n")
    reports = [word for name in FORMATS for word in ("--report", f"{name}:{name}.report")]
    ran = opsinfo("validate", "ops_info.json", *reports, cwd=tmp_path)
    said = f"{count} finding ignored by opsinfo.toml"
    assert (said in ran.err) is bool(count)
    for name in FORMATS:
        text = (tmp_path / f"{name}.report").read_text("utf-8")
        if name == "json":
            assert json.loads(text)["ignored"] == {"path": "opsinfo.toml", "findings": count}
        else:
            assert (said in text) is bool(count), name
    assert "ignored by" not in opsinfo("validate", "ops_info.json", "--no-config", cwd=tmp_path).err
    assert "ignored by" not in opsinfo("validate", "ops_info.json", "--ignore", "M", "--no-config", cwd=tmp_path).err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_configuration_of_another_user_is_not_taken(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "opsinfo.toml", 'ignore = ["M"]\n')
    write(tmp_path / "work/ops_info.json", WRONG)
    os.chown(tmp_path / "opsinfo.toml", 12345, 12345)
    ran = opsinfo("validate", "ops_info.json", cwd=tmp_path / "work")
    assert ran.code == 1
    assert "../opsinfo.toml belongs to another user and is not used" in ran.err
    assert opsinfo("validate", "ops_info.json", "--config", "../opsinfo.toml", cwd=tmp_path / "work").code == 0


def test_excluded_files_of_the_base_are_left_out_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head, tail = "explicit {0}(const char *n) : OpDef(n)", "OP_ADD({0});"
    source = f"namespace ops {{{{ class {{0}} : public OpDef {{{{ public: {head} {{{{ {{1}} }}}} }}}}; {tail} }}}}"
    write(tmp_path / "base/gone/a_def.cpp", source.format("Aa", 'this->AICore().AddConfig("ascend910b");'))
    write(tmp_path / "head/ops_info.json", "{}")
    monkeypatch.chdir(tmp_path / "head")
    assert [each.name for each in validate(".", base="../base").findings] == ["removed-policy"]
    assert validate(".", base="../base", exclude="gone").findings == []
