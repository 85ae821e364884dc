"""The order in the vault is that of its chains: clocks, hosts, older vaults, damage."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.change import record as records
from opsinfo_cli.change.chain import Head
from opsinfo_cli.change.job import Job
from opsinfo_cli.change.journal import Journal
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.prune import prune
from opsinfo_cli.change.record import Record
from opsinfo_cli.change.restore import restore_last, restore_to
from opsinfo_cli.change.sealed import sealed, unsealed
from opsinfo_cli.change.vault import Vault, sha256_of
from opsinfo_cli.change.vault_check import damage_in
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Refused
from opsinfo_cli.model.policy import Policy

TEXT = json.dumps({name: {"precision_reduce": {"flag": "true"}} for name in ("Add", "Log", "Mul", "Exp")}, indent=4)
STEPS = ("Add", "Log", "Mul", "Exp")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "config" / "aic-x-ops-info.json"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(str(tmp_path / "vault"))


def everywhere(_: str) -> bool:
    return True


def move(vault: Vault, path: Path, op: str, to: Policy = Policy.BLACK) -> str:
    change = Writer(vault, wait=0).run("move", [Job(str(path), LibraryPlan({op: to}))]).change
    assert change is not None
    return change


def undo(vault: Vault) -> None:
    restore_last(Writer(vault, wait=0), everywhere, force=False, dry_run=False)


def to_pristine(vault: Vault) -> None:
    restore_to(Writer(vault, wait=0), everywhere, "pristine", force=False, dry_run=False)


@pytest.fixture
def clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes back by an hour at each call."""
    begun, looks = time.time_ns(), [0]

    def back() -> int:
        looks[0] += 1
        return begun - looks[0] * 3600 * 10**9

    monkeypatch.setattr(records.time, "time_ns", back)
    monkeypatch.setattr(records, "now", lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(back() // 10**9)))


@pytest.mark.usefixtures("clock_goes_back")
def test_a_clock_that_goes_back_changes_no_order(vault: Vault, library: Path) -> None:
    contents = [library.read_bytes()]
    changes = []
    for op in STEPS:
        changes.append(move(vault, library, op))
        contents.append(library.read_bytes())
    assert sorted(changes, reverse=True) == changes, "the ids of later changes are earlier"
    assert [record.id for record in vault.records()] == changes
    prune(vault, everywhere, keep=1, dry_run=False)
    assert set(vault.objects()) == {sha256_of(contents[0]), sha256_of(contents[3])}
    undo(vault)
    assert library.read_bytes() == contents[3]
    to_pristine(vault)
    assert library.read_bytes() == contents[0]
    assert damage_in(vault, contents=True) == []


def test_each_machine_has_its_own_chain(vault: Vault, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One vault that several hosts share, and a file with the same path on each of them."""
    other = library.with_name("of-another-host")
    other.write_text(TEXT.replace("Exp", "Sin"))

    def on(host: str, act: Callable[[], Any]) -> None:
        monkeypatch.setattr(records, "MACHINE_IDS", (str(library.parent / f"{host}-id"),))
        (library.parent / f"{host}-id").write_text(host * 32)
        act()

    def swap() -> None:
        mine, theirs = library.read_bytes(), other.read_bytes()
        library.write_bytes(theirs)
        other.write_bytes(mine)

    on("a", lambda: move(vault, library, "Add"))
    swap()
    on("b", lambda: move(vault, library, "Add"))
    on("b", lambda: move(vault, library, "Log"))
    swap()
    on("a", lambda: undo(vault))
    assert library.read_text() == TEXT
    swap()
    on("b", lambda: to_pristine(vault))
    assert library.read_text() == TEXT.replace("Exp", "Sin")
    assert damage_in(vault, contents=True) == []


# two successors of one record


def test_two_successors_of_one_record_are_two_lineages_and_are_reported(vault: Vault, library: Path) -> None:
    from opsinfo_cli.check.vault import forked_history

    first = move(vault, library, "Add")
    after_first = library.read_bytes()
    lost = move(vault, library, "Log")
    record = vault.record(lost)
    assert record is not None
    heads = Path(vault.path) / "heads"
    (head,) = heads.iterdir()
    # as if another machine of the same machine-id had not seen that change
    library.write_bytes(after_first)
    (Path(vault.path) / "changes" / lost).rename(library.parent / "aside")
    content = unsealed(head.read_bytes())
    head.write_bytes(sealed({**content, "last": first, "order": 1}))
    last = move(vault, library, "Mul")
    (library.parent / "aside").rename(Path(vault.path) / "changes" / lost)
    (finding,) = forked_history(vault)
    assert lost in finding.message
    assert last in finding.message
    assert damage_in(vault, contents=True) == []
    undo(vault)
    assert library.read_bytes() == after_first
    with pytest.raises(Refused) as caught:
        restore_to(Writer(vault, wait=0), everywhere, lost, force=False, dry_run=False)
    assert caught.value.name == "other-lineage"


# a vault of an older opsinfo


def as_before(vault: Vault) -> None:
    """The vault as opsinfo 0.1 wrote it: no heads, no checksums, no chains."""
    place = Path(vault.path)
    for head in (place / "heads").iterdir():
        head.unlink()
    (place / "heads").rmdir()
    for note in (place / "changes").iterdir():
        content = unsealed(note.read_bytes())
        for name in ("order", "machine", "migrated", "in_place"):
            del content[name]
        for file in content["files"]:
            for name in ("previous", "pruned", "inode"):
                del file[name]
            file["lineage"] = "0123abcd-1"
        note.write_text(json.dumps(content))


@pytest.mark.parametrize("back_to", [0, 1, 2])
def test_records_that_form_a_cycle_are_damage(vault: Vault, library: Path, back_to: int) -> None:
    for to in (Policy.BLACK, Policy.WHITE, Policy.GRAY):
        move(vault, library, "Log", to)
    sound = vault.journal()
    first, *_ = sound.records
    first.files[0].previous = sound.records[back_to].id
    circle = Journal(sound.records, sound.heads, [], sound.place)
    walk = circle.walk(str(library))
    assert [link.record for link in walk.links] == sound.records[::-1]
    assert walk.broken is not None
    assert walk.broken.path == sound.place("changes", sound.records[back_to].id)


@pytest.mark.parametrize("begins_after_the_first", [True, False])
def test_a_later_record_of_another_branch_than_the_heads_is_not_damage(
    vault: Vault, library: Path, begins_after_the_first: bool
) -> None:
    for to in (Policy.BLACK, Policy.WHITE, Policy.GRAY):
        move(vault, library, "Log", to)
    sound = vault.journal()
    first, second, third = sound.records
    third.files[0].previous = first.id if begins_after_the_first else None
    heads = {key: Head(second.id, second.order) for key in sound.heads}
    forked = Journal(sound.records, heads, [], sound.place)
    assert forked.damage == []
    assert [link.record for link in forked.walk(str(library)).links] == [second, first]
    assert [names for _, _, names in forked.forks()] == [[(second if begins_after_the_first else first).id, third.id]]


def test_an_older_vault_is_read_without_writing_and_linked_by_the_next_change(vault: Vault, library: Path) -> None:
    changes = [move(vault, library, op) for op in STEPS[:3]]
    as_before(vault)
    before = {path: path.read_bytes() for path in Path(vault.path).rglob("*") if path.is_file()}
    assert [record.id for record in vault.records()] == changes
    assert damage_in(vault, contents=True) == []
    assert {path: path.read_bytes() for path in Path(vault.path).rglob("*") if path.is_file()} == before
    changes.append(move(vault, library, "Exp"))
    found = vault.records()
    assert [record.id for record in found] == changes
    assert [record.migrated for record in found] == [True, True, True, False]
    assert [record.files[0].previous for record in found] == [None, *changes[:3]]
    for _ in changes:
        undo(vault)
    assert library.read_text() == TEXT
    assert damage_in(vault, contents=True) == []


@pytest.mark.usefixtures("clock_goes_back")
def test_an_older_vault_of_a_clock_that_went_back_is_linked_by_its_hashes(vault: Vault, library: Path) -> None:
    changes = [move(vault, library, op) for op in STEPS]
    as_before(vault)
    assert [record.id for record in vault.records()] == changes
    to_pristine(vault)
    assert library.read_text() == TEXT


def test_a_killed_migration_is_repeated(vault: Vault, library: Path) -> None:
    changes = [move(vault, library, op) for op in STEPS[:3]]
    as_before(vault)
    vault.prepare()
    linked = {path.name: path.read_bytes() for path in (Path(vault.path) / "changes").iterdir()}
    as_before(vault)
    first = Path(vault.path) / "changes" / changes[0]
    first.write_bytes(linked[changes[0]])
    vault.prepare()
    assert {path.name: path.read_bytes() for path in (Path(vault.path) / "changes").iterdir()} == linked


# damage


def note_of(vault: Vault, change: str) -> Path:
    return Path(vault.path) / "changes" / change


def head_of(vault: Vault) -> Path:
    (head,) = (Path(vault.path) / "heads").iterdir()
    return head


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "a flipped bit": lambda path: path.write_bytes(path.read_bytes()[:200] + b"?" + path.read_bytes()[201:]),
    "empty": lambda path: path.write_bytes(b""),
    "zeroes": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "cut": lambda path: os.truncate(path, 100),
    "gone": lambda path: path.unlink(),
    "nested": lambda path: path.write_bytes(b"[" * 100_000),
    "unsealed": lambda path: path.write_text(json.dumps(unsealed(path.read_bytes()))),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("what", DAMAGE)
@pytest.mark.parametrize("which", ["first", "middle", "last", "head"])
def test_damage_is_reported_and_restore_gives_correct_bytes_or_refuses(
    vault: Vault, library: Path, which: str, what: str
) -> None:
    texts = [library.read_bytes()]
    changes = []
    for op in STEPS[:3]:
        changes.append(move(vault, library, op))
        texts.append(library.read_bytes())
    victim = head_of(vault) if which == "head" else note_of(vault, changes[["first", "middle", "last"].index(which)])
    DAMAGE[what](victim)
    assert str(victim) in [each.path for each in damage_in(vault, contents=False)]
    for attempt, right in ((undo, texts[2]), (to_pristine, texts[0])):
        now = library.read_bytes()
        refused: Refused | None = None
        try:
            attempt(vault)
        except Refused as error:
            refused = error
        if refused is None:
            assert library.read_bytes() == right
            assert which in ("first", "middle"), "the last change is still known"
        else:
            assert (refused.name, refused.path) == ("damaged-backup", str(victim))
            assert library.read_bytes() == now


def test_a_change_after_a_damaged_record_succeeds_and_the_damage_is_still_reported(vault: Vault, library: Path) -> None:
    move(vault, library, "Add")
    lost = move(vault, library, "Log")
    between = library.read_bytes()
    DAMAGE["cut"](note_of(vault, lost))
    move(vault, library, "Mul")
    undo(vault)
    assert library.read_bytes() == between
    (damage,) = damage_in(vault, contents=True)
    assert damage.path == str(note_of(vault, lost))


def test_a_damaged_head_is_rewritten_by_the_next_change_if_the_records_determine_it(
    vault: Vault, library: Path
) -> None:
    move(vault, library, "Add")
    between = library.read_bytes()
    messages: list[str] = []
    DAMAGE["zeroes"](head_of(vault))
    Writer(vault, wait=0, say=messages.append).run("move", [Job(str(library), LibraryPlan({"Log": Policy.BLACK}))])
    assert any("head" in text for text in messages)
    assert damage_in(vault, contents=True) == []
    undo(vault)
    assert library.read_bytes() == between


@pytest.mark.parametrize("is_last_damaged", [True, False])
def test_a_change_after_a_damaged_head_and_a_damaged_record_is_refused(
    vault: Vault, library: Path, is_last_damaged: bool
) -> None:
    changes = [move(vault, library, op) for op in STEPS[:2]]
    now = library.read_bytes()
    DAMAGE["zeroes"](head_of(vault))
    DAMAGE["cut"](note_of(vault, changes[is_last_damaged]))
    with pytest.raises(Refused) as caught:
        move(vault, library, "Mul")
    assert (caught.value.name, caught.value.path) == ("damaged-backup", str(note_of(vault, changes[is_last_damaged])))
    assert library.read_bytes() == now


def test_a_change_after_a_damaged_head_with_two_last_records_is_refused(vault: Vault, library: Path) -> None:
    move(vault, library, "Add")
    record = vault.record(move(vault, library, "Log"))
    assert record is not None
    twin = Record.begin("move")
    twin.files, twin.order, twin.state = record.files, record.order, "done"
    vault.save(twin)
    DAMAGE["zeroes"](head_of(vault))
    now = library.read_bytes()
    with pytest.raises(Refused) as caught:
        move(vault, library, "Mul")
    assert (caught.value.name, caught.value.path) == ("damaged-backup", str(head_of(vault)))
    assert library.read_bytes() == now


def test_a_prune_of_a_damaged_vault_removes_nothing(vault: Vault, library: Path) -> None:
    changes = [move(vault, library, op) for op in STEPS]
    held = vault.objects()
    DAMAGE["cut"](note_of(vault, changes[1]))
    with pytest.raises(Refused) as caught:
        prune(vault, everywhere, keep=1, dry_run=False)
    assert caught.value.name == "damaged-backup"
    assert vault.objects() == held


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_prune_of_an_older_vault_links_it_first(vault: Vault, library: Path, dry_run: bool) -> None:
    changes = [move(vault, library, op) for op in STEPS[:3]]
    as_before(vault)
    assert prune(vault, everywhere, keep=1, dry_run=dry_run) == [f"{changes[1]}.1"]
    assert (Path(vault.path) / "heads").is_dir() is not dry_run
    assert damage_in(vault, contents=True) == []


def test_a_missing_content_is_damage_and_a_pruned_one_is_not(vault: Vault, library: Path) -> None:
    for op in STEPS:
        move(vault, library, op)
    prune(vault, everywhere, keep=1, dry_run=False)
    assert damage_in(vault, contents=True) == []
    (Path(vault.path) / "objects" / sha256_of(TEXT.encode())).unlink()
    assert [each.kind for each in damage_in(vault, contents=False)] == ["object"]


def test_a_pruned_backup_is_refused_as_pruned(vault: Vault, library: Path) -> None:
    changes = [move(vault, library, op) for op in STEPS]
    assert prune(vault, everywhere, keep=1, dry_run=False) == [f"{changes[1]}.1", f"{changes[2]}.1"]
    assert len(vault.records()) == 4
    with pytest.raises(Refused) as caught:
        restore_to(Writer(vault, wait=0), everywhere, changes[1], force=False, dry_run=False)
    assert caught.value.name == "pruned"


def test_a_record_that_replaces_a_record_keeps_what_a_prune_marked(vault: Vault, library: Path) -> None:
    changes = [move(vault, library, op) for op in STEPS]
    read_before = vault.record(changes[1])
    assert isinstance(read_before, Record)
    prune(vault, everywhere, keep=1, dry_run=False)
    read_before.state = "undone"
    vault.save(read_before)
    again = vault.record(changes[1])
    assert again is not None
    assert (again.state, again.files[0].pruned) == ("undone", True)
