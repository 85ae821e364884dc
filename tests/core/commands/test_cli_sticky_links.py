"""Links that another user put into a folder that others may write: no writer and no output follows them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_support import ROOT
from folder_for_everybody import folder_for_everybody

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

NOBODY, SOMEBODY = 65534, 1234
LIBRARY = f"{ROOT}/fixtures/opp@ascend910b"
VALID = '{"black-list": {"to-add": ["Old"]}}\n'
VICTIM = '{"black-list": {"to-add": ["Old"]},}\n'


def as_user(user: int, action: Callable[[], object]) -> None:
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            action()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def everybodys() -> Iterator[Path]:
    with folder_for_everybody() as top:
        yield top


@pytest.fixture
def place(everybodys: Path) -> Path:
    """`st`, sticky, with links of another user into `priv`, which only root may enter."""
    (everybodys / "st").mkdir()
    (everybodys / "st").chmod(0o1777)
    priv = everybodys / "priv"
    priv.mkdir(mode=0o700)
    victim = priv / "victim.json"
    victim.write_text(VICTIM)
    victim.chmod(0o600)
    (priv / "valid.json").write_text(VALID)
    (everybodys / "own.json").write_text('{"black-list": {"to-add": ["Own"]}}\n')

    def plant() -> None:
        for name, leads in {
            "file": "victim.json",
            "new": "new.json",
            "folder": "",
            "svg": "new.svg",
            "valid": "valid.json",
        }.items():
            os.symlink(priv / leads, everybodys / "st" / name)
        os.symlink("valid", everybodys / "st/chain")

    as_user(NOBODY, plant)
    os.symlink("st/valid", everybodys / "mine")  # one's own link, to a link of another user
    return everybodys


MOVE = ("Log", "--to", "white", "--against", LIBRARY)
LINES = [
    ("move", "st/valid", *MOVE),
    ("move", "st/chain", *MOVE),
    ("move", "mine", *MOVE),
    ("move", "st/folder/valid.json", *MOVE),
    ("move", "st/folder/new.json", *MOVE, "--create"),
    ("fmt", "st/file"),
    ("fmt", "own.json", "-o", "st/file"),
    ("fmt", "own.json", "-o", "st/new"),
    ("merge", "own.json", "-o", "st/file"),
    ("merge", "own.json", "-o", "st/folder/new.json"),
    ("list", LIBRARY, "-o", "st/file"),
    ("list", LIBRARY, "-o", "st/new"),
    ("list", LIBRARY, "-o", "mine"),
    ("show", LIBRARY, "Log", "-o", "st/new"),
    ("diff", LIBRARY, LIBRARY, "-o", "st/new"),
    ("snapshot", LIBRARY, "-o", "st/new"),
    ("snapshot", LIBRARY, "-o", "st/folder/new.json"),
    ("validate", "own.json", "--report", "json:st/new"),
    ("validate", "own.json", "--report", "junit:st/folder/new.xml"),
    ("validate", "own.json", "--baseline", "st/new", "--update-baseline"),
    ("validate", "st/file", "--fix"),
    ("apply", LIBRARY, "own.json", "-o", "st/folder/store"),
    ("graph", f"{ROOT}/fixtures/model.onnx", "--against", LIBRARY, "-o", "st/new"),
    ("systems", "convert", "--from", "torch-npu", "--to", "mixlist", "--against", LIBRARY, "-o", "st/new"),
    ("qualify", f"{ROOT}/fixtures/logs/apex-two-ranks.log", "--plot", "st/svg"),
    ("move", "own.json", *MOVE, "--backup-dir", "st/folder/vault"),
    ("bisect", "--against", LIBRARY, "--among", "Log", "--journal", "st/folder/run", "--", "true", "{mixlist}"),
    ("bisect", "--against", LIBRARY, "--among", "Log", "-o", "st/new", "--", "true", "{mixlist}"),
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: " ".join(word.rpartition("/")[2] for word in line))
def test_a_link_of_another_user_is_not_followed(
    opsinfo: Callable[..., Any], place: Path, line: tuple[str, ...]
) -> None:
    ran = opsinfo(*line, cwd=place)
    assert (ran.code, "another user may replace this file while root writes it" in ran.err) == (3, True), ran.err
    assert (place / "priv/victim.json").read_text() == VICTIM
    assert (place / "priv/valid.json").read_text() == VALID
    assert sorted(os.listdir(place / "priv")) == ["valid.json", "victim.json"]
    assert all(stat.S_ISLNK(link.lstat().st_mode) for link in (place / "st").iterdir())


def test_force_follows_it(opsinfo: Callable[..., Any], place: Path) -> None:
    assert opsinfo("fmt", "st/file", "--force", cwd=place).code == 0
    assert opsinfo("fmt", "own.json", "-o", "st/valid", "--force", cwd=place).code == 0
    assert [(place / "priv" / name).read_text() for name in ("victim.json", "valid.json")] == [
        VICTIM.replace(",}", "}"),
        (place / "own.json").read_text(),
    ]


@pytest.mark.parametrize("force", [(), ("--force",)], ids=["plain", "force"])
def test_a_copy_without_a_backup_follows_none_and_that_is_said_before_its_input_is_read(
    opsinfo: Callable[..., Any], place: Path, force: tuple[str, ...]
) -> None:
    (place / "own.json").write_text("{")
    ran = opsinfo("apply", LIBRARY, "own.json", "-o", "st/new", *force, "--format", "json", cwd=place)
    error = ran.json["error"]
    assert (ran.code, error["name"], "--force" in error["hint"]) == (3, "folder-not-trusted", False)
    ran = opsinfo("fmt", "own.json", "-o", "st/new", "--format", "json", cwd=place)
    assert (ran.json["error"]["name"], "--force" in ran.json["error"]["hint"]) == ("folder-not-trusted", True)


def test_a_device_behind_such_a_link_is_not_written(opsinfo: Callable[..., Any], place: Path) -> None:
    as_user(NOBODY, lambda: os.symlink("/dev/null", place / "st/device"))
    assert opsinfo("list", LIBRARY, "-o", "st/device", cwd=place).code == 3
    assert opsinfo("list", LIBRARY, "-o", "/dev/null", cwd=place).code == 0


@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_an_ordinary_user_does_not_follow_another_ones_link_either(
    opsinfo: Callable[..., Any], place: Path, mode: int
) -> None:
    (place / "st").chmod(mode)
    home = place / "home"
    home.mkdir()
    (home / "list.json").write_text(VICTIM)
    for path in (home, home / "list.json"):
        os.chown(path, SOMEBODY, SOMEBODY)
    as_user(NOBODY, lambda: os.symlink(home / "list.json", place / "st/theirs"))
    as_user(SOMEBODY, lambda: os.symlink(home / "list.json", place / "st/ours"))
    import opsinfo_cli
    from opsinfo_cli.errors import Refused

    opsinfo_cli.fmt(str(place / "own.json"), dry_run=True)  # imports, before the child is an ordinary user
    vault = str(home / "vault")

    def refused() -> None:
        with pytest.raises(Refused, match="belongs to user 65534"):
            opsinfo_cli.fmt(str(place / "st/theirs"), backup_dir=vault)

    as_user(SOMEBODY, refused)
    assert (home / "list.json").read_text() == VICTIM
    as_user(SOMEBODY, lambda: opsinfo_cli.fmt(str(place / "st/ours"), backup_dir=vault))
    assert (home / "list.json").read_text() == VICTIM.replace(",}", "}")


def test_links_that_nobody_else_can_change_are_followed(opsinfo: Callable[..., Any], place: Path) -> None:
    """As installers leave them: made by a user who is not here, in a folder of root; and a user's own folder."""
    (place / "plain").symlink_to("own.json")
    os.chown(place / "plain", 1000, 1000, follow_symlinks=False)
    assert opsinfo("move", "plain", *MOVE, cwd=place).code == 0
    os.symlink(place / "own.json", place / "st/root")
    assert opsinfo("move", "st/root", "Mul", *MOVE[1:], cwd=place).code == 0
    assert "Mul" in (place / "own.json").read_text()
