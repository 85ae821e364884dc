"""Concurrency: every move is made, every state can be restored, and a reader always finds the file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from faults_counts import Counts
from faults_support import (
    CORPUS,
    ROOT,
    USER,
    ended,
    everywhere,
    fork,
    give,
    import_all,
    is_over,
    jobs,
    lay,
    library_text,
    needs_root,
    run_main,
    writer_on,
)
from folder_for_everybody import folder_for_everybody

from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.record import BackupEntry
from opsinfo_cli.core.change.restore import restore_last, restore_to
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.errors import OpsinfoError

Run = Callable[..., Any]


def library_of(tmp_path: Path, operators: int) -> Path:
    """The largest real library, else a generated one of the same form."""
    path = tmp_path / "config" / "aic-ascend910b-ops-info.json"
    path.parent.mkdir()
    real = sorted(CORPUS.glob("cann-910b/**/aic-ascend910b-ops-info*.json"), key=lambda each: each.stat().st_size)
    if real:
        path.write_bytes(real[-1].read_bytes())
    else:
        words = ["--operators", str(operators), "--seed", "5", "--out", str(path)]
        subprocess.run([sys.executable, str(ROOT / "fixtures/generate.py"), *words], check=True, timeout=120)
    return path


@pytest.fixture
def top() -> Iterator[Path]:
    with folder_for_everybody() as folder:
        yield folder


def start(*words: str | Path, **environment: str) -> subprocess.Popen[bytes]:
    command: list[str | Path] = [sys.executable, "-m", "opsinfo_cli", *words]
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, **streams)


class Reader(threading.Thread):
    """Opens and parses a file repeatedly; ``wrong`` has the faults, ``times`` the number of reads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.times, self.wrong, self.over = path, 0, set[str](), threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            try:
                json.loads(self.path.read_bytes())
            except (OSError, ValueError) as error:
                self.wrong.add(repr(error))
            self.times += 1

    def __enter__(self) -> Reader:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.join()


def other_policy(policy: Policy) -> Policy:
    return Policy.BLACK if policy is not Policy.BLACK else Policy.WHITE


def test_concurrent_moves_are_all_made_and_can_all_be_undone(tmp_path: Path, counts: Counts) -> None:
    path = library_of(tmp_path, 600)
    entries = Library.read(str(path)).entries
    ops = list(entries)[:: max(1, len(entries) // counts.writers)][: counts.writers]
    assert len(ops) == counts.writers
    before = path.read_bytes()
    with Reader(path) as reader:
        processes = [
            start("move", path, op, "--to", str(other_policy(entries[op].policy)), "--wait", "120") for op in ops
        ]
        answers = [process.communicate(timeout=180)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(ops), answers
    assert reader.wrong == set()
    assert reader.times > 20
    after = Library.read(str(path)).entries
    changed = {name for name, entry in after.items() if entry.policy is not entries[name].policy}
    assert changed == set(ops), "every move is made, and nothing else changes"
    assert os.listdir(path.parent) == [path.name]

    vault = Vault(os.environ["OPSINFO_BACKUP_DIR"])
    records = vault.history().records
    assert len(records) == len(ops)
    assert len({record.files[0].lineage for record in records}) == 1
    chain = [(record.files[0].before, record.files[0].after) for record in records]
    assert [after for _, after in chain[:-1]] == [before for before, _ in chain[1:]], "each change follows another"
    writer = writer_on(Path(vault.path))
    for record in reversed(records):
        restore_last(writer, everywhere)
        assert path.read_bytes() == vault.content(BackupEntry(record, 0))
    assert path.read_bytes() == before


def test_movers_with_prunes_beside_them_lose_no_update_and_no_backup(tmp_path: Path, counts: Counts) -> None:
    (path,) = lay(tmp_path / "config", 1, library_text(Mul="true", **{f"Op{each}": "true" for each in range(60)}))
    first = path.read_bytes()
    place = tmp_path / "vault"
    writer_on(place).run("move", jobs([path], op="Mul0"))
    import_all()

    def moving(number: int) -> int:
        change = writer_on(place, wait=120).run("move", jobs([path], op=f"Op{number}")).change
        return 0 if change else 1

    def pruning() -> int:
        vault = Vault(str(place))
        while not (tmp_path / "over").exists():
            with vault.locked(time.monotonic() + 120):
                vault.prune(everywhere, 1, dry_run=False)
            time.sleep(0.01)
        return 0

    prunes = [fork(pruning) for _ in range(2)]
    movers = [fork(lambda number=number: moving(number)) for number in range(counts.writers)]  # type: ignore[misc]
    assert [ended(child) for child in movers] == [0] * counts.writers
    (tmp_path / "over").touch()
    assert [ended(child) for child in prunes] == [0, 0]
    vault = Vault(str(place))
    history = vault.history()
    records = history.records
    assert [record.number for record in records] == list(range(1, counts.writers + 2))
    contents = {digest for entry in history.entries for digest in (entry.file.before, entry.file.after)}
    assert len(contents) == counts.writers + 2, "each change follows another"
    assert len(history.asked()[str(path)]) == counts.writers + 1
    assert vault.damage(contents=True) == []
    assert vault.has(BackupEntry(records[0], 0))
    assert vault.has(BackupEntry(records[-1], 0))
    restore_to(writer_on(place), everywhere, "pristine")
    assert path.read_bytes() == first


def test_concurrent_moves_applies_restores_and_fixes_keep_the_file_valid(tmp_path: Path, opsinfo: Run) -> None:
    """Different commands on one mixlist; those that lose a race are refused and change nothing."""
    path = tmp_path / "mixlist.json"
    path.write_text('{"black-list": {"to-add": ["Seed"]}}\n')
    assert opsinfo("move", path, "First", "--to", "black").code == 0
    with Reader(path) as reader:
        processes = []
        for number in range(4):
            processes.append(start("move", path, f"Op{number}", "--to", "black"))
            processes.append(start("restore", path))
            processes.append(start("fmt", path))
        for process in processes:
            process.communicate(timeout=120)
    assert {process.returncode for process in processes} <= {0, 2, 3}
    assert reader.wrong == set()
    assert os.listdir(tmp_path) == [path.name]
    vault = Vault(os.environ["OPSINFO_BACKUP_DIR"])
    assert is_over(vault)
    contents = [(record.files[0].before, record.files[0].after) for record in vault.history().records]
    assert [after for _, after in contents[:-1]] == [before for before, _ in contents[1:]], "no update is lost"


@needs_root
def test_two_users_with_two_vaults_lose_nothing_in_one_file(top: Path, tmp_path: Path, counts: Counts) -> None:
    folder = top / "config"
    folder.mkdir()
    path = folder / "aic-ascend910b-ops-info.json"
    ops = [f"Op{number}" for number in range(counts.writers)]
    path.write_text(library_text(**dict.fromkeys(ops, "true")))
    (top / "state").mkdir()
    give(USER, folder, path, top / "state")
    warm = lay(tmp_path / "warm", 1)
    writer_on(tmp_path / "warm-vault").run("move", jobs(warm))
    import_all()
    assert run_in_child(top / "warm", "move", str(warm[0]), "Add", "--to", "white") == 0

    children = []
    for number, op in enumerate(ops):
        user = USER if number % 2 else None
        place = top / "state" / "vault" if user else tmp_path / "vault"

        def act(op: str = op, place: Path = place) -> int:
            os.environ["OPSINFO_BACKUP_DIR"] = str(place)
            return run_main(["move", str(path), op, "--to", "black", "--wait", "60"])

        children.append(fork(act, user))
    assert [ended(child) for child in children] == [0] * len(ops)
    assert {str(entry.policy) for entry in Library.read(str(path)).entries.values()} == {"black"}
    assert path.stat().st_uid == USER, "the file keeps its owner, whoever writes last"
    assert os.listdir(folder) == [path.name]
    mine = Vault(str(tmp_path / "vault"))
    theirs = os.listdir(top / "state" / "vault" / mine.machine)  # root does not read a vault of another user
    assert len(mine.history().records) + len(theirs) == len(ops)
    assert (top / "state" / "vault").stat().st_uid == USER


def run_in_child(place: Path, *words: str) -> int:
    def act() -> int:
        os.environ["OPSINFO_BACKUP_DIR"] = str(place)
        return run_main(words)

    return ended(fork(act))


def test_the_owner_of_closed_folders_can_change_two_files_of_one_at_once(
    top: Path, tmp_path: Path, counts: Counts
) -> None:
    """The process that ends first must not restore the folder's mode while the other one writes."""
    paths = lay(top / "config", 4)
    (top / "state").mkdir()
    for path in paths:
        path.chmod(0o555)
    give(USER, *paths, top / "config", top / "state")
    (top / "config").chmod(0o550)
    writer_on(tmp_path / "warm-vault").run("move", jobs(lay(tmp_path / "warm", 1)))
    rounds = max(10, counts.writers)
    report = top / "state" / "report"
    report.touch()
    give(USER, report)

    def act(path: Path) -> int:
        for number in range(rounds):
            try:
                to = Policy.WHITE if number % 2 else Policy.BLACK
                writer_on(top / "state" / "vault", wait=120).run("move", jobs([path], to))
            except OpsinfoError as error:
                with report.open("a") as file:
                    file.write(f"{path.name}, round {number}: {error.name}: {error.message}\n")
        return 0

    children = [fork(lambda path=path: act(path), USER) for path in paths]  # type: ignore[misc]
    assert [ended(child) for child in children] == [0] * len(paths)
    assert oct((top / "config").stat().st_mode & 0o7777) == oct(0o550)
    assert sorted(os.listdir(top / "config")) == [path.name for path in paths]
    assert not report.read_text(), report.read_text()
