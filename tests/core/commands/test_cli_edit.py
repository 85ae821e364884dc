"""`opsinfo edit` with a scripted editor."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import AI_910B, MATH, NN, ROOT, Run, entry, flag_of, library, mixlist, snapshot, write


class Editor:
    """An editor that keeps what it is shown, and saves one text after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {"VISUAL": str(folder / "editor")}
        (folder / "tmp").mkdir()
        script = write(
            folder / "editor",
            '#!/bin/sh\ncd "$(dirname "$0")"\nnumber=$(ls shown.* 2>/dev/null | wc -l)\n'
            'cp "$1" "shown.$number"\n[ -e "saved.$number" ] && cp "saved.$number" "$1"\n'
            'sed -i -e "s/^white SwiGlu/black SwiGlu/" "$1"\n',
        )
        script.chmod(0o755)

    def saves(self, *texts: str | bytes) -> None:
        for number, text in enumerate(texts):
            write(self.folder / f"saved.{number}", text)

    @property
    def shown(self) -> list[str]:
        return [path.read_text("utf-8") for path in sorted(self.folder.glob("shown.*"))]

    @property
    def lines(self) -> list[str]:
        """The lines first shown, without comments."""
        return [line for line in self.shown[0].splitlines() if line and not line.startswith("#")]

    @property
    def kept(self) -> list[Path]:
        """The temporary files that are left."""
        return list((self.folder / "tmp").iterdir())


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    (tmp_path / "editing").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "editing" / "tmp"))
    return Editor(tmp_path / "editing")


def test_a_changed_word_in_an_install_is_what_move_does(opsinfo: Run, opp: Path, editor: Editor) -> None:
    target = f"{opp}@ascend910b"
    preview = opsinfo("edit", target, "-n", env=editor.env)
    assert preview.out == opsinfo("move", target, "SwiGlu", "--to", "black", "-n").out
    assert flag_of(opp / NN, "SwiGlu") == "true"
    done = opsinfo("edit", target, "--format", "json", env=editor.env)
    assert done.code == 0
    assert [(move["name"], move["from"], move["to"]) for move in done.json["changed"]] == [("SwiGlu", "white", "black")]
    assert done.json["files"][0]["backup"]
    assert flag_of(opp / NN, "SwiGlu") == "false"
    assert editor.kept == []
    assert [max(map(len, text.splitlines()[1:])) < 80 for text in editor.shown] == [True, True]
    assert "edit" in opsinfo("backups", opp).out
    before = snapshot(opp)
    assert opsinfo("restore", target).code == 0
    assert flag_of(opp / NN, "SwiGlu") == "true"
    assert before != snapshot(opp)


@pytest.mark.parametrize("kind", ["library", "store"])
def test_several_moves_in_a_library_or_store(opsinfo: Run, opp: Path, editor: Editor, kind: str) -> None:
    editor.saves("black IsFinite\n  gray\tCholesky \n# white IsFinite\n\n")
    assert opsinfo("edit", opp / (MATH if kind == "library" else AI_910B), env=editor.env).code == 0
    assert (flag_of(opp / MATH, "IsFinite"), flag_of(opp / MATH, "Cholesky")) == ("false", None)


def test_match_and_on_limit_the_lines(opsinfo: Run, opp: Path, editor: Editor) -> None:
    target = f"{opp}@ascend910b"
    assert opsinfo("edit", target, "--match", "matmul*", "--on", "white", env=editor.env).code == 0
    assert editor.lines == ["white MatMul", "white MatMulV2"]
    ran = opsinfo("edit", target, "--match", "nothing*", env=editor.env)
    assert (ran.code, len(editor.shown)) == (0, 1)
    assert "matches --match" in ran.err


def test_a_mixlist_shows_the_effective_policies_of_its_target(opsinfo: Run, tmp_path: Path, editor: Editor) -> None:
    flags = {"Add": None, "Log": "true", "Mul": "false", "Sub": "true"}
    target = write(tmp_path / "aic-x-ops-info.json", library(flags))
    path = write(tmp_path / "m.json", mixlist(black_add=["Add"], white_remove=["Log", "Lgo"]))
    editor.saves("gray Add\ngray Log\ngray Mul\nwhite Sub\n")
    ran = opsinfo("edit", path, "--against", target, env=editor.env)
    assert ran.code == 0
    assert "unknown operator `Lgo`" in ran.err
    assert editor.lines == ["black Add", "gray Log", "black Mul", "white Sub"]
    assert json.loads(path.read_text()) == mixlist(white_remove=["Log", "Lgo"], black_remove=["Mul"])


def test_a_mixlist_alone_shows_the_operators_that_it_names(opsinfo: Run, tmp_path: Path, editor: Editor) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Add"], white_remove=["Log"]))
    editor.saves("gray Add\nunknown Log\nwhite New\n")
    ran = opsinfo("edit", path, env=editor.env)
    assert ran.code == 0
    assert "names not checked" in ran.err
    assert editor.lines == ["black Add", "unknown Log"]
    assert "unknown depends on the library" in editor.shown[0]
    assert json.loads(path.read_text()) == mixlist(white_add=["New"], white_remove=["Log"])


def test_a_mixlist_is_created(opsinfo: Run, tmp_path: Path, opp: Path, editor: Editor) -> None:
    path = tmp_path / "m.json"
    assert opsinfo("edit", path, "--against", f"{opp}@ascend910b", env=editor.env).code == 3
    assert opsinfo("edit", path, "--against", f"{opp}@ascend910b", "--create", env=editor.env).code == 0
    assert json.loads(path.read_text()) == mixlist(black_add=["SwiGlu"])
    assert opsinfo("restore", path).code == 0
    assert not path.exists()


@pytest.mark.parametrize(
    "saved", [b"", b"\n\n", b"# nothing\n", b"white SwiGlu", b"\xef\xbb\xbfwhite MatMulV2\r\ngray Add\r\n"]
)
def test_no_change_writes_nothing(opsinfo: Run, opp: Path, editor: Editor, saved: bytes) -> None:
    write(editor.folder / "editor", '#!/bin/sh\ncp "$(dirname "$0")/saved.0" "$1"\n')
    editor.saves(saved)
    before = snapshot(opp)
    ran = opsinfo("edit", f"{opp}@ascend910b", env=editor.env)
    assert (ran.code, ran.err) == (0, "nothing to change\n")
    assert (snapshot(opp), editor.kept) == (before, [])


WRONG = [
    ("blak Add", "unknown policy `blak`; did you mean `black`?"),
    ("blocklist Add", "unknown policy `blocklist`; did you mean `black`?"),
    ("unknown Add", "unknown policy `unknown`; white, black or gray is required"),
    ("Add", "unknown policy `Add`; white, black or gray is required"),
    ("white", "the line has no operator; `POLICY OPERATOR` is required"),
    ("black softmaxv2", "unknown operator `softmaxv2`; did you mean `SoftmaxV2`?"),
    ("black Add\nblack Add", "`Add` is in line 1 already"),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_a_wrong_line_opens_the_editor_again_with_the_error_above_it_and_all_edits(
    opsinfo: Run, opp: Path, editor: Editor, line: str, message: str
) -> None:
    editor.saves(f"{line}\nblack MatMulV2\n# mine\n", "black Mul\n")
    assert opsinfo("edit", f"{opp}@ascend910b", env=editor.env).code == 0
    again = editor.shown[1].splitlines()
    last = line.splitlines()[-1]
    assert again[0] == "# error: 1 line to correct or delete, below # error:"
    assert again[-4:] == [f"# error: {message}", last, "black MatMulV2", "# mine"]
    assert "black\tgray" not in opsinfo("list", f"{opp}@ascend910b", "--match", "MatMulV2").out


def test_the_same_mistake_twice_ends_with_the_edits_kept(opsinfo: Run, opp: Path, editor: Editor) -> None:
    editor.saves("black Mul\nblack Nonsense\nblak Add\n", "black Mul\nblack Nonsense\nblak Add\ngray Foo\n")
    before = snapshot(opp)
    ran = opsinfo("edit", f"{opp}@ascend910b", "--format", "json", env=editor.env)
    assert ran.code == 2
    (kept,) = editor.kept
    assert kept.read_text("utf-8") == (editor.folder / "saved.1").read_text("utf-8")
    assert (ran.json["error"]["path"], ran.json["error"]["line"]) == (str(kept), 2)
    assert f"your edits are kept in {kept}" in ran.err
    assert (kept.stat().st_mode & 0o777, snapshot(opp)) == (0o600, before)


def test_mending_one_of_two_mistakes_opens_the_editor_again(opsinfo: Run, opp: Path, editor: Editor) -> None:
    editor.saves("blak Add\nblak Mul\n", "# error: old\nblack Add\nblak Mul\n", "black Add\nblack Mul\n")
    assert opsinfo("edit", f"{opp}@ascend910b", env=editor.env).code == 0
    assert "error: old" not in editor.shown[2]
    assert len(editor.shown) == 3


@pytest.mark.parametrize("program", ["false", "no-such-editor", "an 'open quote"])
def test_a_failing_editor_writes_nothing(opsinfo: Run, opp: Path, editor: Editor, program: str) -> None:
    before = snapshot(opp)
    ran = opsinfo("edit", f"{opp}@ascend910b", env={**editor.env, "VISUAL": program})
    assert ran.code == 3
    assert "the editor failed" in ran.err
    assert "Errno" not in ran.err
    assert (snapshot(opp), editor.kept) == (before, [])


def test_text_that_is_not_utf_8_is_refused_and_kept(opsinfo: Run, opp: Path, editor: Editor) -> None:
    write(editor.folder / "editor", '#!/bin/sh\nprintf "black \\377" > "$1"\n')
    ran = opsinfo("edit", f"{opp}@ascend910b", env=editor.env)
    assert ran.code == 3
    assert [kept.read_bytes() for kept in editor.kept] == [b"black \xff"]
    assert re.search("edited text is not UTF-8", ran.err)


def test_without_a_terminal_an_editor_must_be_named(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("edit", f"{opp}@ascend910b", env={"VISUAL": None, "EDITOR": ""})
    assert ran.code == 2
    assert "$EDITOR" in ran.err


def test_an_operator_that_another_process_moved_meanwhile_is_refused(opsinfo: Run, opp: Path, editor: Editor) -> None:
    text = (opp / NN).read_text("utf-8")
    name, other = "SwiGlu", "IndexFill"
    content = json.loads(text)
    for moved, code in ((other, 0), (name, 3)):
        content[moved] = {**content[moved], "precision_reduce": {"flag": ""}}
        write(editor.folder / "new.json", content)
        write(
            editor.folder / "editor",
            f'#!/bin/sh\nsed -i s/^white.{name}/black\\ {name}/ "$1"; cat "$(dirname "$0")/new.json" > {opp / NN}\n',
        )
        (opp / NN).write_text(text, "utf-8")
        ran = opsinfo("edit", f"{opp}@ascend910b", env=editor.env)
        assert ran.code == code, ran.err
    assert f"another process has moved `{name}` to gray" in ran.err
    assert len(editor.kept) == 1


def test_a_name_that_no_line_can_hold_is_left_out(opsinfo: Run, tmp_path: Path, editor: Editor) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Add\n", "Log x"]))
    ran = opsinfo("edit", path, env=editor.env)
    assert editor.lines == ["black Log x"]
    assert "1 operator with control characters in the name left out" in ran.err


@pytest.mark.parametrize(
    ("content", "words", "code"),
    [
        ({"kind": "opsinfo-snapshot"}, [], 3),
        ("{// comment\n}", ["--as", "mixlist"], 3),
        ({"Add": entry("maybe")}, ["--as", "library"], 3),
        (library({"Add": None}), ["--against", "x"], 2),
    ],
)
def test_a_target_that_move_refuses_opens_no_editor(
    opsinfo: Run, tmp_path: Path, editor: Editor, content: object, words: list[str], code: int
) -> None:
    path = write(tmp_path / "aic-x-ops-info.json", content)
    assert opsinfo("edit", path, *words, env=editor.env).code == code
    assert editor.shown == []


def test_lines_that_end_with_cr_are_lines(opsinfo: Run, opp: Path, editor: Editor) -> None:
    editor.saves(b"# policies\rblack SwiGlu\rgray Add\r")
    assert opsinfo("edit", f"{opp}@ascend910b", env=editor.env).code == 0
    assert flag_of(opp / NN, "SwiGlu") == "false"


@pytest.mark.process
def test_an_interrupt_while_the_editor_runs_is_the_editors(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    """A child of the editor is interrupted by Ctrl-C, which the terminal sends to opsinfo, too."""
    editor = write(
        tmp_path / "editor", '#!/bin/sh\nkill -INT $PPID\nsleep 0.2\nsed -i s/^white.SwiGlu/black\\ SwiGlu/ "$1"\n'
    )
    editor.chmod(0o755)
    ran = opsinfo("edit", f"{opp}@ascend910b", env={"EDITOR": str(editor)})
    assert (ran.code, flag_of(opp / NN, "SwiGlu")) == (0, "false"), ran.err


@pytest.mark.parametrize("signal_", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_the_editor_starts_keeps_its_text(
    start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signal_: int
) -> None:
    (tmp_path / "m.json").write_text('{"black-list": {"to-add": ["Add"]}}\n')
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "$1" > shown\nexec sleep 3\n')
    editor.chmod(0o755)
    process = start("edit", "m.json", env={**os.environ, "PYTHONPATH": str(ROOT), "EDITOR": str(editor)})
    while not (tmp_path / "shown").exists() or not (tmp_path / "shown").read_text().strip():
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal_)
    _, err = process.communicate(timeout=60)
    text = Path((tmp_path / "shown").read_text().strip())
    assert (process.returncode, f"your edits are kept in {text}" in err.decode()) == (128 + signal_, True), err
    assert "black Add" in text.read_text()
    text.unlink()
