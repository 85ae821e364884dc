"""File names of a checked repository that look like options, given to the hooks by the real pre-commit."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ci_support import ROOT, SAMPLE, committed, git

pytest.importorskip("pre_commit", reason="pre-commit is not installed")
yaml = pytest.importorskip("yaml")

BROKEN = '{"black-list": {"to-add": ["Planted"]},}\n'
FIXED = BROKEN.replace(",}", "}")
PRECIOUS = '{"black-list": {"to-add": ["Precious"]}}\n'


class Repository:
    """A user's repository with the hooks as they are shipped, but for the environment that pre-commit would install."""

    def __init__(self, top: Path, hooks: list[dict[str, object]]) -> None:
        self.top = top
        self.path = top / "repo"
        self.outside = top / "out"
        for folder in (self.path, self.outside, top / "bin"):
            folder.mkdir()
        program = top / "bin/opsinfo"
        program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m opsinfo_cli "$@"\n')
        program.chmod(0o755)
        config = {"repos": [{"repo": "local", "hooks": hooks}]}
        (self.path / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
        committed(self.path)

    def add(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, hook: str) -> subprocess.CompletedProcess[str]:
        git(self.path, "add", "--all")
        git(self.path, "commit", "-qm", "A merge request")
        more = {
            "PATH": f"{self.top / 'bin'}:{os.environ['PATH']}",
            "PRE_COMMIT_HOME": str(self.top / "store"),
            "OPSINFO_BACKUP_DIR": str(self.top / "vault"),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        words = [sys.executable, "-m", "pre_commit", "run", hook, "--from-ref", "HEAD~1", "--to-ref", "HEAD"]
        environment = {**os.environ, **more}
        return subprocess.run(words, cwd=self.path, env=environment, capture_output=True, text=True, check=False)


def hook(name: str, **more: object) -> dict[str, Any]:
    (shipped,) = [each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()) if each["id"] == name]
    return {**shipped, "language": "system", **more}


def words_of(used: dict[str, Any]) -> list[str]:
    """The words that pre-commit puts before the names of files."""
    return [*shlex.split(used["entry"])[1:], *used["args"]]


@pytest.mark.parametrize("args", [None, [], ["--wait", "5"], ["--wait=5", "--"], ["--force"]], ids=str)
def test_fmt_takes_a_file_below_a_folder_named_as_an_option_for_a_file(
    tmp_path: Path, opsinfo: Callable[..., Any], args: list[str] | None
) -> None:
    """One at a time, with the words of pre-commit, and all of them in a run of pre-commit."""
    used = hook("opsinfo-fmt", **({} if args is None else {"args": args}))
    repository = Repository(tmp_path, [used])
    victim = repository.outside / "x_mixlist.json"
    victim.write_text(PRECIOUS)
    names = [f"{option}{victim}" for option in ("-o", "--output=", "-n", "--backup-dir=", "--")]
    for name in names:
        files = [repository.add(each, BROKEN) for each in (name, "zz_mixlist.json")]
        ran = opsinfo(*words_of(used), name, "zz_mixlist.json", cwd=repository.path, env={"PRE_COMMIT": "1"})
        assert (ran.code, [path.read_text() for path in files]) == (0, [FIXED, FIXED]), ran.err
        assert (victim.read_text(), os.listdir(repository.outside)) == (PRECIOUS, ["x_mixlist.json"])
    files = [repository.add(each, BROKEN) for each in (*names, "zz_mixlist.json")]
    done = repository.run("opsinfo-fmt")
    assert done.returncode == 1, done.stdout
    assert "files were modified by this hook" in done.stdout
    assert {path.read_text() for path in files} == {FIXED}
    assert (victim.read_text(), os.listdir(repository.outside)) == (PRECIOUS, ["x_mixlist.json"])


@pytest.mark.parametrize(
    "args", [None, [], ["--severity", "warning"], ["--no-config", "--"], ["--against", "lib.opsinfo.json"]], ids=str
)
def test_validate_takes_a_file_below_a_folder_named_as_an_option_for_a_file(
    tmp_path: Path, opsinfo: Callable[..., Any], args: list[str] | None
) -> None:
    used = hook("opsinfo-validate", **({} if args is None else {"args": args}))
    repository = Repository(tmp_path, [used])
    shutil.copy(SAMPLE / "snapshots/ascend910b.opsinfo.json", repository.path / "lib.opsinfo.json")
    options = ("--report=json:", "--baseline=", "--fix", "-q", "--update-baseline", "--config=", "--report=text:")
    names = [f"{option}{repository.outside}/x_mixlist.json" for option in options]
    files = [repository.add(each, BROKEN) for each in (*names, "zz_mixlist.json")]
    for name in names:
        ran = opsinfo(*words_of(used), name, "zz_mixlist.json", cwd=repository.path, env={"PRE_COMMIT": "1"})
        assert (ran.code, ran.out.count("error[T003]")) == (1, 2), ran.out
    done = repository.run("opsinfo-validate")
    assert (done.returncode, done.stdout.count("error[T003]")) == (1, len(files)), done.stdout
    assert ({path.read_text() for path in files}, os.listdir(repository.outside)) == ({BROKEN}, [])


def test_an_honest_name_that_begins_with_a_dash_is_checked(tmp_path: Path) -> None:
    repository = Repository(tmp_path, [hook("opsinfo-fmt"), hook("opsinfo-validate", args=["--no-config"])])
    repository.add("-x_mixlist.json", '{"black-list": {"to-add": ["Add"]}}\n')
    for name in ("opsinfo-fmt", "opsinfo-validate"):
        done = repository.run(name) if name == "opsinfo-fmt" else _again(repository, name)
        assert (done.returncode, "Passed" in done.stdout) == (0, True), done.stdout


def _again(repository: Repository, name: str) -> subprocess.CompletedProcess[str]:
    (repository.path / "-x_mixlist.json").write_text('{"black-list": {"to-add": ["Mul"]}}\n')
    return repository.run(name)


DEFINITION = """#include "register/op_def_registry.h"
namespace ops {{
class {name} : public OpDef {{
public:
    explicit {name}(const char* name) : OpDef(name)
    {{
        this->Input("x").DataType({{{dtypes}}}).Format({{ge::FORMAT_ND, ge::FORMAT_ND}});
        OpAICoreConfig config;
        config.PrecisionReduceFlag({flag});
        this->AICore().AddConfig("ascend910b"{passed});
    }}
}};
OP_ADD({name});
}}
"""
BOTH = "ge::DT_FLOAT16, ge::DT_FLOAT"
COMMITTED = {
    # what is committed: (text by path, errors)
    "a policy that is set": (
        {"log/op_host/log_def.cpp": DEFINITION.format(name="Log", dtypes=BOTH, flag="false", passed=", config")},
        [],
    ),
    "white by default, which is a note": (
        {
            "log/op_host/log_def.cpp": DEFINITION.format(name="Log", dtypes=BOTH, flag="true", passed="").replace(
                "        config.PrecisionReduceFlag(true);\n", ""
            )
        },
        [],
    ),
    "a configuration that is not passed": (
        {"log/op_host/log_def.cpp": DEFINITION.format(name="Log", dtypes=BOTH, flag="false", passed="")},
        [],
    ),
    "columns of which the engine refuses the store": (
        {
            "log/op_host/log_def.cpp": DEFINITION.format(
                name="Log", dtypes=BOTH, flag="true", passed=", config"
            ).replace("ge::FORMAT_ND});", "ge::FORMAT_ND}).UnknownShapeFormat({ge::FORMAT_ND});")
        },
        ["log/op_host/log_def.cpp:7:9: error[L004]"],
    ),
    "an error beside other files": (
        {
            "-o/log_def.cpp": DEFINITION.format(name="Log", dtypes=BOTH, flag="kMine", passed=", config"),
            "readme.md": "OP_ADD(Log)",
        },
        [],
    ),
}


@pytest.mark.parametrize("case", COMMITTED)
def test_sources_are_checked_when_they_are_committed(tmp_path: Path, case: str) -> None:
    files, errors = COMMITTED[case]
    repository = Repository(tmp_path, [hook("opsinfo-opdef")])
    for name, text in files.items():
        repository.add(name, text)
    done = repository.run("opsinfo-opdef")
    assert done.returncode == int(bool(errors)), done.stdout
    for each in errors:
        assert each in done.stdout
    assert "white-by-default" not in done.stdout


def test_warnings_of_sources_are_shown_and_fail_with_strict(tmp_path: Path) -> None:
    repository = Repository(tmp_path, [hook("opsinfo-opdef", args=["--strict", "--"])])
    low = "ge::DT_FLOAT16, ge::DT_BF16"
    bodies = {"a": ("kMine", ", config", BOTH), "b": ("false", "", BOTH), "c": ("false", ", config", low)}
    for name, (flag, passed, dtypes) in bodies.items():
        text = DEFINITION.format(name=name.upper(), dtypes=dtypes, flag=flag, passed=passed)
        repository.add(f"{name}/op_host/{name}_def.cpp", text)
        other = DEFINITION.format(name=name.upper(), dtypes=BOTH, flag="true", passed=", config")
        repository.add(f"experimental/{name}/op_host/{name}_def.cpp", other)  # a build of its own: not registered twice
    done = repository.run("opsinfo-opdef")
    assert done.returncode == 1
    assert [line.partition(": ")[2].partition(":")[0] for line in done.stdout.splitlines() if "_def.cpp:" in line] == [
        "warning[D009] unreadable-source",
        "warning[D005] config-not-passed",
        "warning[M010] black-without-fp32",
    ]
