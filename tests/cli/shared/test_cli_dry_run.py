"""`--dry-run`: nothing is written, and the diff gives exactly the result of the real run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_support import AI_910B, NN, ONLY_910, ROOT, Run, library, mixlist, snapshot, write
from strace_probe import needs_strace

needs_patch = pytest.mark.skipif(shutil.which("patch") is None, reason="`patch` is not installed")

PLAIN = json.dumps(library({"Add": None, "Cast": "true", "Mul": "false", "Pow": None}), indent=4) + "\n"
LIBRARIES = {
    "pretty": PLAIN,
    "vendor": json.dumps(json.loads(PLAIN), indent=4, separators=(",", ":")),
    "crlf": PLAIN.replace("\n", "\r\n"),
    "bom": "\ufeff" + PLAIN,
    "bom-crlf-no-end": "\ufeff" + PLAIN.replace("\n", "\r\n").rstrip(),
    "no-final-newline": PLAIN.rstrip("\n"),
    "two-final-newlines": PLAIN + "\n",
    "tabs": json.dumps(json.loads(PLAIN), indent="\t") + "\n",
    "one-line": json.dumps(json.loads(PLAIN)) + "\n",
    "compact-no-end": json.dumps(json.loads(PLAIN), separators=(",", ":")),
    "trailing-text": PLAIN + "}\n}\n",
    "chinese": PLAIN.replace('"x"', '"张量"'),
}
ADDED, REMOVED, CHANGED = ("Add", "Pow", "black"), ("Cast", "Mul", "gray"), ("Cast", "Add", "black")
MOVES = [(style, ADDED) for style in LIBRARIES]
MOVES += [(style, REMOVED) for style in ("vendor", "bom-crlf-no-end", "one-line")]
MOVES += [(style, CHANGED) for style in ("pretty", "crlf", "compact-no-end")]
LIBRARY = "aic-x-ops-info.json"
GOOD, BAD = ROOT / "fixtures/mixlists/good", ROOT / "fixtures/mixlists/bad"
FIXED = [BAD / f"{name}.json" for name in ("comment-crlf", "everything-that-fmt-fixes", "manual-sample-training")]
FIXED += [BAD / f"{name}.json" for name in ("manual-sample-missing-comma", "missing-comma-array")]
FIXED += [GOOD / f"{name}.json" for name in ("bom", "trailing-text", "comment-after-the-end")]
MIXLISTS = ("crlf", "bom", "no-final-newline", "one-line", "tabs", "several-operators")
ODD = ("with blanks in it", "a\ttab", 'quote"d', "new\nline", "名字")

SCENES: dict[str, tuple[str, str | bytes, tuple[str, ...]]] = {
    # name: (file, its content, command line)
    **{
        f"{style}-{'-'.join(move)}": (LIBRARY, LIBRARIES[style], ("move", LIBRARY, *move[:-1], "--to", move[-1]))
        for style, move in MOVES
    },
    **{
        f"mixlist {name}": (
            "m.json",
            (GOOD / f"{name}.json").read_bytes(),
            ("move", "m.json", "Abs", "Tan", "--to", "white"),
        )
        for name in MIXLISTS
    },
    **{f"fmt {path.stem}": ("m.json", path.read_bytes(), ("fmt", "m.json")) for path in FIXED},
    **{
        repr(folder): (f"{folder}/{LIBRARY}", PLAIN, ("move", f"{folder}/{LIBRARY}", "Add", "--to", "black"))
        for folder in ODD
    },
    "a new file": ("other.json", "{}", ("move", "new.json", "Relu", "--to", "black", "--create")),
}


def patched(folder: Path, diff: str, *words: str) -> None:
    done = subprocess.run(
        ["patch", "--binary", "--no-backup-if-mismatch", *words],
        input=diff.encode("utf-8"),
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"fuzz" not in done.stdout
    assert b"offset" not in done.stdout


@needs_patch
@pytest.mark.parametrize("scene", SCENES)
def test_patch_gives_the_result_of_the_run(opsinfo: Run, tmp_path: Path, scene: str) -> None:
    name, content, words = SCENES[scene]
    real, copy = tmp_path / "real", tmp_path / "copy"
    write(real / name, content)
    write(copy / name, content)
    before = _contents(copy)
    diff = opsinfo(*words, "--dry-run", cwd=real)
    assert (diff.code, _contents(real)) == (0, before)
    patched(copy, diff.out, "-p0", "--batch")
    assert opsinfo(*words, cwd=real).code == 0
    assert _contents(copy) == _contents(real) != before


@needs_patch
def test_patch_gives_the_result_of_apply_for_several_files(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(opp, copy / "opp")
    mixed = write(
        tmp_path / "m.json", mixlist(black_add=["AddN", "Relu", "STFT"], white_remove=["Conv2D", "SwiGlu", "IndexFill"])
    )
    words = ("opp", mixed, "--soc", "ascend910b")
    diff = opsinfo("apply", *words, "--dry-run", cwd=tmp_path)
    assert diff.out.count("\n+++ ") + diff.out.startswith("+++ ") == 4
    patched(copy, diff.out, "-p0")
    assert opsinfo("apply", *words, cwd=tmp_path).code == 0
    assert _contents(copy / "opp") == _contents(opp)


def _contents(top: Path) -> dict[str, Any]:
    return {name: each[3] for name, each in snapshot(top).items()}


@needs_patch
def test_patch_gives_the_result_of_restore(opsinfo: Run, opp: Path) -> None:
    before = _contents(opp)
    assert opsinfo("move", opp, "--soc", "ascend910b", "AddN", "--to", "black").code == 0
    diff = opsinfo("restore", opp, "--dry-run")
    patched(Path("/"), diff.out, "-p0")
    assert _contents(opp) == before


def test_a_dry_run_that_would_change_nothing_prints_nothing(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("move", opp / NN, "SwiGlu", "--to", "white", "--dry-run")
    assert (ran.code, ran.out) == (0, "")


def test_a_dry_run_as_json_equals_the_run(opsinfo: Run, opp: Path) -> None:
    words = ("move", opp / NN, "SwiGlu", "DynamicRNN", "--to", "white", "--format", "json")
    dry, real = opsinfo(*words, "--dry-run").json, opsinfo(*words).json
    assert (dry.pop("dry_run"), real.pop("dry_run")) == (True, False)
    assert (dry.pop("change"), bool(real.pop("change"))) == (None, True)
    for document in (dry, real):
        for file in document["files"]:
            file.pop("backup")
    assert dry == real


def test_every_command_that_writes_has_a_dry_run(opsinfo: Run, opp: Path, fixtures: Path, tmp_path: Path) -> None:
    mixed = write(tmp_path / "m.json", (fixtures / "mixlists/bad/comment-hash.json").read_bytes())
    good = fixtures / "mixlists/good/several-operators.json"
    assert opsinfo("move", opp / NN, "SwiGlu", "--to", "black").code == 0
    before = snapshot(tmp_path)
    for words in (
        ("move", opp / NN, "SwiGlu", "--to", "gray"),
        ("apply", opp, good, "--soc", "ascend910b"),
        ("apply", opp / ONLY_910, good, "--output", tmp_path / "out.json"),
        ("apply", opp / AI_910B, good, "--output", tmp_path / "out"),
        ("fmt", mixed),
        ("fmt", mixed, "-o", tmp_path / "out.json"),
        ("restore", opp / NN),
        ("reapply",),
        ("backups", "--prune", "1"),
    ):
        assert opsinfo(*words, "--dry-run").code == 0
        assert snapshot(tmp_path) == before, words


WRITES = re.compile(
    r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|\b(?:mkdir|mkdirat|rename|renameat2?|link|linkat|unlink|unlinkat|"
    r"symlink|symlinkat|chmod|fchmod|fchmodat|chown|fchown|flock|truncate|ftruncate|setxattr|fsetxattr|fsync)\("
)
CALLS = (
    "openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,unlink,unlinkat,symlink,symlinkat,"
    "chmod,fchmod,fchmodat,chown,fchown,fchownat,flock,truncate,ftruncate,setxattr,fsetxattr,fsync"
)


@pytest.fixture
def traced(program: list[str], environment: dict[str, str], tmp_path: Path) -> Callable[..., list[str]]:
    """System calls that write, of one run."""

    def run(*arguments: Any) -> list[str]:
        trace = tmp_path / "trace"
        done = subprocess.run(
            ["strace", "-f", "--seccomp-bpf", "-y", "-e", f"trace={CALLS}", "-o", trace, *program, *arguments],
            capture_output=True,
            env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        calls = trace.read_text("utf-8", "replace").splitlines()
        trace.unlink()
        assert any("openat" in call for call in calls)
        return [call for call in calls if WRITES.search(call) and '"/dev/null"' not in call]

    return run


@needs_strace
@pytest.mark.parametrize(
    "words",
    [
        ("move", "opp", "--soc", "ascend910b", "AddN", "Relu", "--to", "black", "--dry-run"),
        ("move", "opp", "--soc", "ascend910b", "AddN", "--to", "black", "-n"),
        ("apply", "opp", "m.json", "--soc", "ascend910b", "--dry-run"),
        ("fmt", "bad.json", "-n"),
        ("fmt", "bad.json", "--check"),
        ("fmt", "bad.json", "-o", "new.json", "--dry-run"),
        ("move", "new.json", "Relu", "--to", "black", "--create", "--dry-run"),
        ("restore", "m.json", "--dry-run"),
        ("backups", "--prune", "1", "--dry-run"),
        ("reapply", "--dry-run"),
        ("list", "opp", "--soc", "ascend910b"),
        ("validate", "opp"),
        ("backups",),
    ],
    ids=lambda words: " ".join(words[:2] + words[-1:]),
)
def test_commands_that_only_read_open_no_file_for_writing(
    opsinfo: Run, traced: Callable[..., list[str]], opp: Path, fixtures: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    write(tmp_path / "m.json", mixlist(black_add=["Relu"]))
    write(tmp_path / "bad.json", (fixtures / "mixlists/bad/comment-own-line.json").read_bytes())
    if words[0] in ("restore", "backups", "reapply"):
        assert opsinfo("move", "m.json", "Mul", "--to", "black").code == 0
    assert traced(*words) == []


@needs_strace
def test_the_same_trace_detects_a_real_move(traced: Callable[..., list[str]], opp: Path) -> None:
    calls = traced("move", "opp", "--soc", "ascend910b", "Relu", "--to", "black")
    assert any("rename" in call for call in calls)
    assert any("flock" in call for call in calls)
    assert not any("O_WRONLY" in call and ".json" in call and "config/ascend910b" in call for call in calls)
    opened = [call for call in calls if "O_CREAT" in call and "config/ascend910b" in call]
    assert opened
    assert all(".opsinfo-" in call and '.tmp"' in call and "O_EXCL" in call for call in opened)


def test_a_hunk_names_the_operator(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("move", opp, "Add", "MatMulV2", "--soc", "ascend910b", "--to", "black", "-n")
    assert [line.rpartition(" @@ ")[2] for line in ran.out.splitlines() if line.startswith("@@")] == ["Add", "MatMulV2"]


def test_a_diff_is_coloured_on_a_terminal_and_shows_tabs_as_blanks(
    terminal: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    path = write(tmp_path / "ops.json", '{\n\t"black-list":{\n\t\t"to-add":[\n\t\t\t"Add"\n\t\t]\n\t}\n}\n')
    _, output = terminal("move", path, "Mul", "--to", "black", "-n")
    assert re.search(r'\x1b\[32m\+.*"Mul"', output)
    assert "\x1b[36m@@" in output
    assert "\\t" not in output
