"""`validate --base`: only what a change brings, against a folder or a revision."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from raising import raised

from opsinfo_cli import validate
from opsinfo_cli.core.check.checked import Checked
from opsinfo_cli.core.terminal.findings import FORMATS, rendered
from opsinfo_cli.errors import Refused, UsageFault

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_{fact}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for fact in ("NAME", "EMAIL")},
}
PORTS = """
        this->Input("x").DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y").DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});"""
WRONG, GOOD = '{"grey-list": {}}', '{"black-list": {"to-add": ["Add"]}}'


def source(name: str, body: str, before: str = "") -> str:
    return f"""{before}
namespace ops {{
class {name} : public OpDef {{
public:
    explicit {name}(const char *name) : OpDef(name)
    {{{PORTS}
        OpAICoreConfig c;
        {body}
    }}
}};
OP_ADD({name});
}}
"""


def config(flag: str, *chips: str) -> str:
    added = " ".join(f'this->AICore().AddConfig("{chip}", c);' for chip in chips)
    return f"c.PrecisionReduceFlag({flag}); {added}"


WHITE, BLACK = config("true", "ascend910b"), config("false", "ascend910b")


def library(**flags: str | None) -> str:
    return json.dumps(
        {name: {} if flag is None else {"precision_reduce": {"flag": flag}} for name, flag in flags.items()}, indent=1
    )


def git(folder: Path | str, *words: str | bytes) -> str:
    done = subprocess.run(["git", "-C", folder, *words], env=ENVIRONMENT, check=True, capture_output=True)
    return done.stdout.decode().strip()


def write(top: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        path = top / name
        if text is None:
            path.unlink()
            while not os.listdir(path := path.parent):
                path.rmdir()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def commit(top: Path) -> None:
    if not (top / ".git").exists():
        git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "a commit")


def told(checked: Checked) -> list[tuple[str, str, str]]:
    assert checked.failures == []
    return sorted((each.rule.name, each.path, each.message) for each in checked.findings)


Files = dict[str, "str | None"]
ASKS = '#if __has_include("x.h")\n#define FLAG true\n#else\n#define FLAG false\n#endif'
CHANGES: dict[str, tuple[Files, Files, list[tuple[str, str, str]]]] = {
    # situation: (the files of the base, those that the change writes or removes, what is told)
    "a policy that is new by default": (
        {"a/op_host/a_def.cpp": source("Aa", WHITE)},
        {"b/op_host/b_def.cpp": source("Bb", 'this->AICore().AddConfig("ascend910b");')},
        [("new-policy", "b/op_host/b_def.cpp", "`Bb` is new on ascend910b: white by default")],
    ),
    "a chip that the base does not have": (
        {"a/op_host/a_def.cpp": source("Aa", BLACK)},
        {"a/op_host/a_def.cpp": source("Aa", BLACK + 'this->AICore().AddConfig("ascend950");')},
        [
            (
                "new-policy",
                "a/op_host/a_def.cpp",
                "`Aa` is new on ascend950: white by default; it is black on ascend910b",
            )
        ],
    ),
    "a policy that is changed": (
        {"a/op_host/a_def.cpp": source("Aa", config("true", "ascend910b", "ascend950"))},
        {
            "a/op_host/a_def.cpp": source(
                "Aa",
                config("true", "ascend910b") + " OpAICoreConfig d; "
                'd.PrecisionReduceFlag(false); this->AICore().AddConfig("ascend950", d);',
            )
        },
        [("changed-policy", "a/op_host/a_def.cpp", "`Aa` on ascend950 becomes black; it was white")],
    ),
    "a chip that is removed, and an operator": (
        {
            "a/op_host/a_def.cpp": source("Aa", config("true", "ascend910b", "ascend950")),
            "m/g/op_host/g_def.cpp": source("Gone", BLACK),
            "m/x.txt": "stays",
        },
        {"a/op_host/a_def.cpp": source("Aa", WHITE), "m/g/op_host/g_def.cpp": None},
        [
            ("removed-policy", "a/op_host/a_def.cpp", "`Aa` on ascend950 is removed; it was white"),
            ("removed-policy", "m", "`Gone` on ascend910b is removed; it was black"),
        ],
    ),
    "an operator that moves to another file": (
        {"a/op_host/a_def.cpp": source("Aa", WHITE), "k.txt": ""},
        {"a/op_host/a_def.cpp": None, "b/op_host/a_def.cpp": source("Aa", WHITE)},
        [],
    ),
    "experimental is compared with its like": (
        {"experimental/a/op_host/a_def.cpp": source("Aa", BLACK), "a/op_host/a_def.cpp": source("Aa", WHITE)},
        {"experimental/a/op_host/a_def.cpp": source("Aa", WHITE)},
        [("changed-policy", "experimental/a/op_host/a_def.cpp", "`Aa` on ascend910b becomes white; it was black")],
    ),
    "a header that decides": (
        {
            "a/op_host/a_def.cpp": source("Aa", config("FLAG", "ascend910b"), '#include "../../common/flags.h"'),
            "common/flags.h": '#include "deeper.h"\n',
            "common/deeper.h": "#define FLAG true\n",
        },
        {"common/deeper.h": "#define FLAG false\n"},
        [("changed-policy", "a/op_host/a_def.cpp", "`Aa` on ascend910b becomes black; it was white")],
    ),
    "a header that a condition asks for": (
        {"a/op_host/a_def.cpp": source("Aa", config("FLAG", "ascend910b"), ASKS)},
        {"a/op_host/x.h": "\n"},
        [("changed-policy", "a/op_host/a_def.cpp", "`Aa` on ascend910b becomes white; it was black")],
    ),
    "a header that is included behind a comment": (
        {
            "a/op_host/a_def.cpp": source("Aa", config("FLAG", "ascend910b"), '/* x */ #include "x.h"'),
            "a/op_host/x.h": "#define FLAG true\n",
        },
        {"a/op_host/x.h": "#define FLAG false\n"},
        [("changed-policy", "a/op_host/a_def.cpp", "`Aa` on ascend910b becomes black; it was white")],
    ),
    "what the base's sources may have is not new": (
        {"a/op_host/a_def.cpp": source("Aa", config("compiled()", "ascend910b"))},
        {"a/op_host/a_def.cpp": source("Aa", WHITE)},
        [],
    ),
    "what could not be read is not removed": (
        {"a/op_host/a_def.cpp": source("Aa", WHITE), "b/op_host/b_def.cpp": source("Bb", WHITE)},
        {"a/op_host/a_def.cpp": source("Aa", config("compiled()", "ascend910b"))},
        [("unreadable-source", "a/op_host/a_def.cpp", "`Aa`: ")],
    ),
    "a second registration in a file that stays": (
        {"b/op_host/b_def.cpp": source("Aa", WHITE)},
        {"a/op_host/a_def.cpp": source("Aa", WHITE)},
        [
            (
                "registered-twice",
                "b/op_host/b_def.cpp",
                "`Aa` is registered in a/op_host/a_def.cpp:13, too: the build decides which one counts",
            )
        ],
    ),
    "a mistake that stands, and a new one": (
        {"x/ops_info.json": WRONG, "y/ops_info.json": GOOD},
        {"x/ops_info.json": "\n\n" + WRONG, "y/ops_info.json": WRONG},
        [("unknown-list", "y/ops_info.json", "`grey-list` is not a list")],
    ),
    "a mixlist that is new, beside one that stands": (
        {"x/ops_info.json": WRONG},
        {"y/mixlist.json": WRONG},
        [("unknown-list", "y/mixlist.json", "`grey-list` is not a list")],
    ),
    "policies of a store": (
        {"config/ascend910b/aic-ascend910b-ops-info.json": library(Add="true", Mul="true", Sub=None)},
        {"config/ascend910b/aic-ascend910b-ops-info.json": library(Add="false", Sub=None, Div="true")},
        [
            ("changed-policy", "config/ascend910b/aic-ascend910b-ops-info.json", "`Add` on ascend910b becomes black"),
            ("new-policy", "config/ascend910b/aic-ascend910b-ops-info.json", "`Div` is new on ascend910b: white"),
            ("removed-policy", "config/ascend910b/aic-ascend910b-ops-info.json", "`Mul` on ascend910b is removed"),
        ],
    ),
    "a file that takes precedence in a store": (
        {"config/ascend910b/aic-ascend910b-ops-info.json": library(Add="true"), "k.txt": ""},
        {"config/ascend910b/aic-ascend910b-ops-info-nn.json": library(Add="false")},
        [("changed-policy", "config/ascend910b/aic-ascend910b-ops-info-nn.json", "`Add` on ascend910b becomes black")],
    ),
    "a library that was broken": (
        {"config/ascend910b/aic-ascend910b-ops-info.json": '{"Add": {'},
        {"config/ascend910b/aic-ascend910b-ops-info.json": library(Add="false")},
        [],
    ),
    "the configuration": (
        {"ops_info.json": GOOD},
        {"opsinfo.toml": 'ignore = ["M"]\n'},
        [("configuration-changed", "opsinfo.toml", "the configuration of opsinfo is new")],
    ),
    "the configuration in a file of others": (
        {"ops_info.json": GOOD, "pyproject.toml": '[tool.opsinfo]\nseverity = "error"\n[tool.x]\na = 1\n'},
        {"pyproject.toml": '[tool.opsinfo]\nseverity = "note"\n[tool.x]\na = 1\n'},
        [("configuration-changed", "pyproject.toml", "the configuration of opsinfo differs")],
    ),
    "the configuration as a key of another table": (
        {"ops_info.json": GOOD, "pyproject.toml": "[tool]\nx.a = 1\n"},
        {"pyproject.toml": '[tool]\nopsinfo.ignore = ["M"]\nx.a = 1\n'},
        [("configuration-changed", "pyproject.toml", "the configuration of opsinfo is new")],
    ),
    "the configuration in a table without a header": (
        {"ops_info.json": GOOD, "pyproject.toml": 'tool = {opsinfo = {severity = "error"}}\n'},
        {"pyproject.toml": 'tool = {opsinfo = {severity = "note"}}\n'},
        [("configuration-changed", "pyproject.toml", "the configuration of opsinfo differs")],
    ),
    "the configuration in quotes, removed": (
        {"ops_info.json": GOOD, "pyproject.toml": '[tool."opsinfo"]\nignore = ["M"]\n'},
        {"pyproject.toml": "[tool.x]\n# opsinfo\n"},
        [("configuration-changed", "pyproject.toml", "the configuration of opsinfo is removed")],
    ),
    "the configuration written otherwise": (
        {"ops_info.json": GOOD, "pyproject.toml": '[tool.opsinfo]\nseverity = "error"\n'},
        {"pyproject.toml": "# of opsinfo\n[tool]\nopsinfo.severity = 'error'\n"},
        [],
    ),
    "another table of that file": (
        {"ops_info.json": GOOD, "pyproject.toml": '[tool.opsinfo]\nseverity = "error"\n[tool.x]\na = 1\n'},
        {"pyproject.toml": '[tool.opsinfo]\nseverity = "error"\n[tool.x]\na = 2\n'},
        [],
    ),
    "nothing": ({"x/ops_info.json": WRONG, "a_def.cpp": source("Aa", WHITE)}, {}, []),
}
MINOR = ("stray-json", "shadowed", "load-order-undefined", "blank", "hidden-flag", "bad-value")


@pytest.mark.parametrize("base", ["folder", "revision"])
@pytest.mark.parametrize("situation", CHANGES)
def test_what_a_change_brings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, situation: str, base: str) -> None:
    before, after, expected = CHANGES[situation]
    head = tmp_path / "head"
    write(head, before)
    commit(head)
    if base == "folder":
        shutil.copytree(head, tmp_path / "base", ignore=shutil.ignore_patterns(".git"))
    write(head, after)
    monkeypatch.chdir(head)
    found = told(validate(".", base="../base" if base == "folder" else "HEAD"))
    found = [each for each in found if each[0].startswith(("new-", "changed-", "removed-")) or each[0] not in MINOR]
    own = [each for each in found if "config/" not in each[1] or each[0].endswith("-policy")]
    assert [each[:2] for each in own] == [each[:2] for each in expected]
    for (_, _, message), (_, _, beginning) in zip(own, expected, strict=True):
        assert message.startswith(beginning)


def test_of_a_revision_nothing_of_the_checkout_is_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"x/ops_info.json": WRONG})
    commit(tmp_path)
    write(tmp_path, {"x/ops_info.json": GOOD, "y/ops_info.json": WRONG})
    hook = tmp_path / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(hook))
    index = (tmp_path / ".git/index").read_bytes()
    monkeypatch.chdir(tmp_path)
    assert [each[1] for each in told(validate(".", base="main"))] == ["y/ops_info.json"]
    assert (tmp_path / ".git/index").read_bytes() == index
    assert sorted(os.listdir(tmp_path)) == [".git", "x", "y"]


def test_names_and_files_that_are_not_utf_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.path.join(os.fsencode(tmp_path), b"\xff\xe4")
    os.makedirs(folder)
    with open(os.path.join(folder, b"ops_info.json"), "wb") as file:
        file.write(WRONG.encode())
    (tmp_path / "mixlist.json").write_bytes(b'{"a-list": "\xff"}')
    (tmp_path / "op_def.cpp").write_bytes(source("Aa", WHITE, "// \xe4").encode("latin-1"))
    commit(tmp_path)
    (tmp_path / "op_def.cpp").write_bytes(source("Aa", BLACK, "// \xe4").encode("latin-1"))
    monkeypatch.chdir(tmp_path)
    assert [each[0] for each in told(validate(".", base="HEAD"))] == ["changed-policy"]
    with open(os.path.join(folder, b"ops_info.json"), "wb") as file:
        file.write(WRONG.replace("grey", "gary").encode())
    assert [each[0] for each in told(validate(".", base="HEAD"))] == ["changed-policy", "unknown-list"]


def test_a_submodule_is_read_at_the_commit_of_the_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    write(inner, {"op_def.cpp": source("Aa", WHITE)})
    commit(inner)
    write(outer, {"ops_info.json": GOOD})
    commit(outer)
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    commit(outer)
    write(outer, {"sub/op_def.cpp": source("Aa", BLACK)})
    commit(outer / "sub")
    monkeypatch.chdir(outer)
    assert [each[:2] for each in told(validate(".", base="HEAD"))] == [("changed-policy", "sub/op_def.cpp")]
    shutil.rmtree(outer / "sub")
    git(outer, "clone", "-q", "--depth", "1", f"file://{inner}", "sub")
    write(inner, {"op_def.cpp": source("Aa", BLACK)})
    commit(inner)
    git(outer / "sub", "fetch", "-q", "--depth", "1", "origin", "main")
    assert told(validate(".", base="HEAD")) == []


def test_a_base_that_cannot_be_told_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a/ops_info.json": GOOD, "main/ops_info.json": WRONG})
    commit(tmp_path)
    monkeypatch.chdir(tmp_path)
    both = raised(UsageFault, validate, "a", base="main")
    assert (both.exit_code, both.hint) == (2, "./main is the folder, main^0 the revision")
    assert told(validate("a", base="./main")) == told(validate("a", base="main^0")) == []
    commit_elsewhere = "1" * 40
    for absent in ("origin/elsewhere", "nosuch", "HEAD~5", commit_elsewhere):  # nowhere to fetch from
        assert raised(UsageFault, validate, "a", base=absent).hint is None
    git(tmp_path, "remote", "add", "origin", "nowhere")
    missing = raised(UsageFault, validate, "a", base="origin/elsewhere")
    assert missing.exit_code == 2
    assert missing.hint == "`git fetch origin elsewhere` fetches it"
    for own in ("nosuch", "HEAD~5"):
        assert raised(UsageFault, validate, "a", base=own).hint == "`git log` shows the revisions that it has"
    assert "file" in raised(UsageFault, validate, "a", base="a/ops_info.json").message
    assert raised(UsageFault, validate, "a", base="--output=x").exit_code == 2
    assert "outside" in raised(UsageFault, validate, "a", "/etc", base="main^0").message
    assert commit_elsewhere in str(raised(UsageFault, validate, "a", base=commit_elsewhere).hint)


def test_a_shallow_clone_says_how_the_base_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "far", {"ops_info.json": GOOD})
    commit(tmp_path / "far")
    write(tmp_path / "far", {"ops_info.json": WRONG})
    commit(tmp_path / "far")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tmp_path}/far", "near")
    monkeypatch.chdir(tmp_path / "near")
    assert "git fetch --unshallow origin" in str(raised(UsageFault, validate, ".", base="HEAD~1").hint)
    git(tmp_path / "near", "fetch", "-q", "--depth", "2", "origin", "main")
    assert [each[0] for each in told(validate(".", base="HEAD~1"))] == ["unknown-list"]


def test_outside_a_checkout_a_base_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"head/ops_info.json": WRONG, "base/ops_info.json": GOOD})
    monkeypatch.chdir(tmp_path / "head")
    assert [each[0] for each in told(validate(".", base="../base"))] == ["unknown-list"]
    assert "no git checkout" in raised(UsageFault, validate, ".", base="main").message


PAIRS = {
    # where opsinfo runs, what it checks, the base: both trees have x/, the change has a mistake in it and a new folder
    "the folder that is named": ("", ["change"], "base"),
    "inside it": ("change", ["."], "../base"),
    "a folder of it": ("change", ["x"], "../base"),
    "two folders of it": ("change", ["x", "new"], "../base"),
    "from elsewhere": ("elsewhere", ["../change"], "../base"),
}


@pytest.mark.parametrize("is_checkout", [False, True])
@pytest.mark.parametrize("situation", PAIRS)
def test_paths_pair_from_the_checkout_or_from_the_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, situation: str, is_checkout: bool
) -> None:
    folder, paths, base = PAIRS[situation]
    write(tmp_path, {"base/x/ops_info.json": WRONG, "base/y/op_def.cpp": source("Aa", WHITE), "elsewhere/k.txt": ""})
    write(tmp_path, {"change/x/ops_info.json": WRONG, "change/y/op_def.cpp": source("Aa", WHITE)})
    write(tmp_path, {"change/x/mixlist.json": WRONG, "change/new/k.json": "{}"})
    if is_checkout:
        commit(tmp_path / "change")
    monkeypatch.chdir(tmp_path / folder)
    checked = validate(*paths, base=base)
    assert [Path(each.path).name for each in checked.findings] == ["mixlist.json"]


def test_the_checkout_of_a_revision_is_that_of_the_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"head/x/ops_info.json": WRONG, "elsewhere/k.txt": ""})
    commit(tmp_path / "head")
    write(tmp_path, {"head/x/mixlist.json": WRONG})
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert [each[1] for each in told(validate("../head", base="HEAD"))] == ["../head/x/mixlist.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_of_the_base_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"head/ops_info.json": WRONG, "base/ops_info.json": GOOD})
    (tmp_path / "base/ops_info.json").chmod(0)
    monkeypatch.chdir(tmp_path / "head")
    (error,) = validate(".", base="../base").failures
    assert isinstance(error, Refused)
    assert str(error.path).endswith("base/ops_info.json")


def test_a_missing_file_of_a_script_is_told_once_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "atc --model=a.onnx --soc_version=Ascend910B3 --modify_mixlist={}.json\n"
    write(tmp_path, {"run.sh": script.format("black"), "old.sh": script.format("gone"), "black.json": GOOD})
    commit(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert told(validate(".", base="HEAD", follow=True)) == []
    write(tmp_path, {"black.json": None})
    assert [each[:2] for each in told(validate(".", base="HEAD", follow=True))] == [("missing-file", "run.sh")]


@pytest.mark.parametrize("report", FORMATS)
def test_every_report_says_that_there_was_a_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: str) -> None:
    write(tmp_path, {"head/ops_info.json": WRONG, "base/ops_info.json": WRONG})
    monkeypatch.chdir(tmp_path / "head")
    checked = validate(".", base="../base")
    assert checked.findings == []
    text = rendered(report, checked, checked.to_dict())
    assert "../base" in text
    assert "../base" not in rendered(report, validate("."), validate(".").to_dict())


def test_a_path_whose_sources_are_gone_is_no_path_with_nothing_to_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a/op_host/a_def.cpp": source("Aa", WHITE), "a/op_host/b.h": ""})
    commit(tmp_path)
    write(tmp_path, {"a/op_host/a_def.cpp": None})
    monkeypatch.chdir(tmp_path)
    assert [each[:2] for each in told(validate("a", base="HEAD"))] == [("removed-policy", "a/op_host")]


def test_an_operator_that_moves_to_experimental_is_removed_and_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a/op_host/a_def.cpp": source("Aa", WHITE), "experimental/k.txt": "", "a/op_host/b.h": ""})
    commit(tmp_path)
    write(tmp_path, {"a/op_host/a_def.cpp": None, "experimental/a/op_host/a_def.cpp": source("Aa", WHITE)})
    monkeypatch.chdir(tmp_path)
    expected = [("new-policy", "experimental/a/op_host/a_def.cpp"), ("removed-policy", "a/op_host")]
    for paths in ((".",), ("a", "experimental/a"), ("experimental", "a")):
        assert [each[:2] for each in told(validate(*paths, base="HEAD"))] == expected


def test_new_policies_come_before_other_annotations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from opsinfo_cli.core.check.reports.github import github

    write(tmp_path, {"k.txt": ""})
    commit(tmp_path)
    default = 'c.PrecisionReduceFlag(true); this->AICore().AddConfig("ascend910b");'
    write(tmp_path, {f"a{number:02}_def.cpp": source(f"A{number:02}", default) for number in range(12)})
    write(tmp_path, {"ops_info.json": WRONG})
    monkeypatch.chdir(tmp_path)
    lines = github(validate(".", base="HEAD")).splitlines()
    assert lines[0].startswith("::error")
    assert all("new-policy" in line for line in lines[1:11] if line.startswith("::notice title=opsinfo ("))
    assert "white by default" in lines[1]


@pytest.mark.parametrize("base", ["HEAD", "../old"])
def test_fixes_leave_what_the_base_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str) -> None:
    old = '{"grey-list": {}, "black-list": {"to-add": ["Add", "Add"%s]}}\n'
    for folder in ("new", "old"):
        write(tmp_path / folder, {"ops_info.json": old % "", "args.json": WRONG})
    commit(tmp_path / "new")
    write(tmp_path / "new", {"ops_info.json": old % ', "Mul", "Mul"', "added.json": WRONG})
    monkeypatch.chdir(tmp_path / "new")
    checked = validate(".", base=base, fix="unsafe", backup_dir=str(tmp_path / "vault"))
    assert (checked.findings, checked.said) == ([], ["fixed 2 findings"])
    assert Path("ops_info.json").read_text() == old % ', "Mul"'
    assert (Path("args.json").read_text(), Path("added.json").read_text()) == (WRONG, '{"gray-list": {}}')


GRAY = 'OpAICoreConfig g; this->AICore().AddConfig("ascend910", g);'
ELSEWHERE = {
    "nothing": ("", ""),
    "gray": (GRAY, "; it is gray on ascend910"),
    "by default": ('this->AICore().AddConfig("ascend910");', "; it is white by default on ascend910"),
    "two": (
        f'{GRAY} this->AICore().AddConfig("ascend950");',
        "; it is gray on ascend910 and white by default on ascend950",
    ),
}


@pytest.mark.parametrize("other", ELSEWHERE)
def test_a_new_policy_is_one_finding_whatever_other_chips_have_and_it_is_compared_with(
    other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body, said = ELSEWHERE[other]
    for name in ("alone", "head"):
        text = source("Aa", BLACK + (body if name == "head" else ""))
        write(tmp_path, {f"{name}/a/op_host/a_def.cpp": text, f"base_{name}/readme.txt": ""})
        write(tmp_path, {"before/b_def.cpp": source("Bb", BLACK)})
    prints = set()
    for name, more in (("head", said), ("alone", "")):
        os.chdir(tmp_path / name)
        ways: list[dict[str, Any]] = [{"base": f"../base_{name}"}, {"against": "../before@ascend910b"}]
        for compared in ways:
            found = [each for each in validate(".", **compared).findings if "ascend910b:" in each.message]
            assert [each.message for each in found] == [f"`Aa` is new on ascend910b: black{more}"]
            prints.update(each.fingerprint for each in found)
    assert len(prints) == 1
