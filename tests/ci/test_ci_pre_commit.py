"""pre-commit as users run it: as a process, in their repository, with opsinfo by URL and commit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path
from typing import Any

import pytest
from ci_support import PIP, ROOT, committed, git

pytest.importorskip("pre_commit", reason="pre-commit is not installed")
yaml = pytest.importorskip("yaml")

pytestmark = pytest.mark.heavy

HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def our_commit(ours: Path) -> str:
    return committed(ours)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pre-commit's cache, once for all tests."""
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def begun(sample: Path, ours: Path, our_commit: str) -> Path:
    """The committed sample, with opsinfo's hooks as in a user's repository."""
    config = sample / ".pre-commit-config.yaml"
    text = config.read_text("utf-8").replace("https://example.com/opsinfo", str(ours)).replace("v0.2.0", our_commit)
    config.write_text(text, "utf-8")
    committed(sample)
    return sample


@pytest.fixture
def run(begun: Path, store: Path, isolation: Path) -> Run:
    """Run a command there."""
    more = {
        "PRE_COMMIT_HOME": str(store),
        **PIP,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PYTHONUTF8": "1",
    }
    environment = {**os.environ, **more}
    environment.pop("PYTHONPATH", None)

    def ran(*command: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(command, cwd=begun, env=environment, capture_output=True, text=True, check=False)
        if re.search("No matching distribution|Could not find a version|Temporary failure", done.stdout + done.stderr):
            pytest.skip("pre-commit could not fetch what the hooks need: no network")
        return done

    return ran


PRE_COMMIT = (sys.executable, "-m", "pre_commit")


def test_the_sample_passes(run: Run) -> None:
    done = run(*PRE_COMMIT, "run", "--all-files")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^(.+?)\.+(\w+)$", done.stdout, re.MULTILINE)[-2:] == [
        ("opsinfo fmt", "Passed"),
        ("opsinfo validate", "Passed"),
    ]


def test_a_comment_is_fixed_and_a_wrong_name_stops_the_commit(run: Run, begun: Path) -> None:
    assert run(*PRE_COMMIT, "install").returncode == 0
    commit = ("git", "-c", "user.name=Somebody", "-c", "user.email=somebody@example.com", "commit", "-qm", "Add a list")
    path = begun / "mixlists/new.mixlist.json"
    path.write_text('{\n  "black-list": {"to-add": ["matmulv2"]}  // why\n}\n', "utf-8")
    git(begun, "add", "--all")
    done = run(*commit)
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stderr
    assert "//" not in path.read_text("utf-8")
    assert "mixlists/new.mixlist.json:2:29: error[M005] unknown-operator: unknown operator `matmulv2`" in done.stderr
    assert "did you mean `MatMulV2`" in done.stderr
    path.write_text(path.read_text("utf-8").replace("matmulv2", "BiasAdd"), "utf-8")
    git(begun, "add", "--all")
    assert run(*commit).returncode == 0
    assert git(begun, "log", "--format=%s").splitlines()[0] == "Add a list"


BOTH = {"opsinfo-validate", "opsinfo-fmt"}
TAKEN = {
    # path: the hooks that select it
    "ops_info.json": BOTH,
    "ops_info_bert.json": BOTH,
    "my_ops_info.json": BOTH,
    "lists/OPS_INFO.JSON": BOTH,
    "a/b/bert.mixlist.json": BOTH,
    "Bert-MixList-v2.json": BOTH,
    "mix_list_v2.json": BOTH,
    "lists/aic-ascend910b-ops-info.json": {"opsinfo-validate"},
    "aic-ascend910b-ops-info-nn.json": {"opsinfo-validate"},
    "dsa-ascend910b-ops-info.json": {"opsinfo-validate"},
    "vector_core_tbe_ops_info.json": {"opsinfo-validate"},
    "vector_core_tbe_ops_info-legacy.json": {"opsinfo-validate"},
    "package.json": set(),
    "my_ops_info_old.json": set(),
    "ops_info/readme.json": set(),
    "OPS_INFO.JSON": {"opsinfo-validate", "opsinfo-fmt"},
    "ascend910b.opsinfo.json": set(),
    "mixlist.opsinfo.json": set(),
    "mixlist.schema.json": set(),
    "MIXLIST.SCHEMA.JSON": set(),
    "mixlist.json.bak": set(),
    "mixlists/readme.md": set(),
    "log/op_host/log_def.cpp": {"opsinfo-opdef"},
    "experimental/math/log/op_host/log_def.cpp": {"opsinfo-opdef"},
    "log/op_kernel_aicpu/log_aicpu_def.cpp": set(),
    "scripts/opgen/template/add/op_host/add_def.cpp": set(),
    "log/op_host/log_def.h": set(),
    "log/op_host/log_tiling.cpp": set(),
}


@pytest.mark.parametrize("path", TAKEN)
def test_hooks_take_mixlists_and_libraries_by_name(path: str) -> None:
    taken = {
        name for name, hook in HOOKS.items() if re.search(hook["files"], path) and not re.search(hook["exclude"], path)
    }
    assert taken == TAKEN[path]


def test_the_globs_of_the_editor_match_the_files_of_the_fmt_hook() -> None:
    """As VS Code reads ``fileMatch``: the last matching pattern decides, ``!`` excludes; case-sensitive."""
    guide = (ROOT / "docs/guide.md").read_text("utf-8")
    (block,) = [block for block in re.findall(r"```json\n(.*?)```", guide, re.DOTALL) if "fileMatch" in block]
    globs = json.loads(block)["json.schemas"][0]["fileMatch"]
    for path, hooks in TAKEN.items():
        name = path.rpartition("/")[2]
        if name == name.lower():
            fits = [glob for glob in globs if fnmatch(name, glob.removeprefix("!"))]
            assert bool(fits and not fits[-1].startswith("!")) == ("opsinfo-fmt" in hooks), path


def test_a_search_of_a_directory_finds_the_files_of_the_validate_hook(
    opsinfo: Callable[..., Any], tmp_path: Path
) -> None:
    """Broken files, so that only the name shows the kind; each in its own folder, because a store reads every JSON."""
    expected = set()
    for number, (path, hooks) in enumerate(TAKEN.items()):
        file = tmp_path / str(number) / path
        file.parent.mkdir(parents=True)
        file.write_text("{", "utf-8")
        if "opsinfo-validate" in hooks:
            expected.add(f"{number}/{path}")
    found = opsinfo("validate", ".", "--no-config", "--format", "json", cwd=tmp_path).json["files"]
    named = {file["path"].removeprefix("./") for file in found}
    assert {path for path in named if (tmp_path / path).is_file()} == expected
