"""`restore CHANGE` undoes one change and no other, as `git revert`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
from change_support import TEXT, UPGRADED, run
from raising import raised

from opsinfo_cli import Library, Mixlist, Result, backups, fmt, move, reapply, restore
from opsinfo_cli.core.change import history
from opsinfo_cli.core.change.record import sealed, unsealed
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.vault_place import machine_name
from opsinfo_cli.errors import Refused, UsageFault

OPS = ["Add", "Log", "Mul", "Conv2D", "Exp", "Neg"]
LISTS = ["white", "black", "gray"]


@pytest.fixture
def change(tmp_path: Path) -> Callable[..., Any]:
    """Call a function with the vault of the test."""

    def call(function: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        return function(*arguments, backup_dir=str(tmp_path / "vault"), say=lambda _: None, **more)

    return call


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A library with each kind of entry, in a file of odd layout."""
    path = tmp_path / "aic-x-ops-info.json"
    path.write_text(
        '{"Add": {"precision_reduce": {"flag": "true"}, "opInterface": {"value": "x"}},\n\n'
        ' "Log":{ "precision_reduce" :{"flag":"false"} }, "Mul": {"opInterface": {"value":"a"}},\n'
        '  "Conv2D": {"opFile": {"value": "c"}, "precision_reduce": {"flag": "true"}},\n'
        '"Exp": {"precision_reduce": {"flag": "TRUE"}}, "Neg": {}}\n'
    )
    return path


def policies(path: Path) -> dict[str, str]:
    return {name: str(entry.policy) for name, entry in Library.read(str(path)).entries.items()}


def test_only_the_second_of_three_changes_of_a_mixlist_is_undone(tmp_path: Path, change: Callable[..., Any]) -> None:
    path = tmp_path / "m.json"
    ids = [change(move, str(path), op, "black", create=not number).change for number, op in enumerate(OPS[:3])]
    done = change(restore, ids[1])
    assert json.loads(path.read_text()) == {"black-list": {"to-add": ["Add", "Mul"]}}
    assert ([move.name for file in done.files for move in file.moved], done.files[0].left) == (["Log"], ())
    change(restore, ids[2])
    assert json.loads(path.read_text()) == {"black-list": {"to-add": ["Add"]}}
    change(restore, ids[0])
    assert not path.exists()
    change(restore, str(path))  # each was a change of its own
    change(restore, str(path))
    assert json.loads(path.read_text()) == {"black-list": {"to-add": ["Add", "Mul"]}}


def test_a_file_that_the_change_created_stays_if_later_changes_touched_it(
    tmp_path: Path, change: Callable[..., Any]
) -> None:
    path = tmp_path / "m.json"
    first = change(move, str(path), "Add", "black", create=True).change
    change(move, str(path), "Log", "white")
    change(restore, first)
    assert json.loads(path.read_text()) == {"white-list": {"to-add": ["Log"]}}


@pytest.mark.parametrize("again", ["white", "gray"])
def test_an_op_type_that_was_moved_again_is_named_and_left_alone(
    target: Path, change: Callable[..., Any], again: str
) -> None:
    first = change(move, str(target), ["Add", "Conv2D"], "black").change
    second = change(move, str(target), "Add", again).change
    done = change(restore, first)
    assert [astuple(left) for left in done.files[0].left] == [("Add", str(target), second)]
    assert (policies(target)["Add"], policies(target)["Conv2D"]) == (again, "white")


def test_a_change_that_is_no_move_is_undone_only_as_the_last_one(tmp_path: Path, change: Callable[..., Any]) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"black-list": {"to-add": ["Add"],}}\n')
    fixed = change(fmt, str(path)).change
    later = change(move, str(path), "Log", "black").change
    before = path.read_bytes()
    error = raised(Refused, change, restore, fixed)
    assert (error.name, later in error.message, "--to" in str(error.hint)) == ("changed-since", True, True)
    assert path.read_bytes() == before
    change(restore, later)
    change(restore, fixed)
    assert path.read_text() == '{"black-list": {"to-add": ["Add"],}}\n'


def test_edits_by_hand_of_a_mixlist_stay(tmp_path: Path, change: Callable[..., Any]) -> None:
    path = tmp_path / "m.json"
    path.write_text("{}\n")
    change(move, str(path), "Mul", "black")
    ids = [change(move, str(path), op, "black").change for op in OPS[:2]]
    text = path.read_text().replace('"Add"', '"Add", "Byhand"').replace("black", "white")
    path.write_text(text)
    done = change(restore, ids[0])  # what the hand moved is left alone
    assert ([(left.name, left.change) for left in done.files[0].left], path.read_text()) == ([("Add", None)], text)


def test_an_upgraded_library_is_not_touched(target: Path, change: Callable[..., Any]) -> None:
    ids = [change(move, str(target), op, "black").change for op in ("Add", "Neg")]
    target.write_text(target.read_text().replace('"value": "x"', '"value": "y"'))
    assert raised(Refused, change, restore, ids[0]).name == "other-lineage"


def test_an_undo_can_be_undone_and_an_unknown_change_is_refused(target: Path, change: Callable[..., Any]) -> None:
    original = target.read_bytes()
    ids = [change(move, str(target), op, "black").change for op in ("Add", "Neg")]
    undo = change(restore, ids[0]).change
    assert policies(target)["Add"] == "white"
    change(restore, undo)
    assert (policies(target)["Add"], policies(target)["Neg"]) == ("black", "black")
    assert change(restore, ids[0]).change
    assert change(restore, ids[0]).change is None  # nothing is left to undo
    change(restore, ids[1])
    assert target.read_bytes() == original
    raised(UsageFault, change, restore, ids[0].rpartition("-")[0] + "-99")


def test_a_change_of_two_files_is_undone_in_both(tmp_path: Path, vault: Vault) -> None:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_text(TEXT)
    first: Result = run(vault, *paths)
    run(vault, paths[1], op="Log", to="white")
    restore(str(first.change), backup_dir=vault.path)
    assert [policies(path)["Add"] for path in paths] == ["white", "white"]
    assert policies(paths[1])["Log"] == "white"
    assert paths[0].read_text() == TEXT


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", ["library", "mixlist"])
def test_random_changes_and_undos_agree_with_a_model(
    target: Path, tmp_path: Path, change: Callable[..., Any], kind: str, seed: int
) -> None:
    """The model: the value of each op type, and the changes in effect with the value that each found."""
    pick = random.Random(f"{kind} {seed}")
    path = target if kind == "library" else tmp_path / "m.json"
    if kind == "mixlist":
        path.write_text('{"black-list": {"to-add": ["Mul", "Exp"]},\n "white-list": {"to-add": ["Neg"]}}\n')
    pristine = path.read_bytes()

    def values() -> dict[str, object]:
        if kind == "library":
            return dict(policies(path))
        mixlist = Mixlist.read(str(path))
        return {op: str(mixlist.alone(op)) for op in OPS}

    now, first = values(), values()
    made: list[tuple[str, dict[str, tuple[Any, Any]]]] = []  # what is undone is taken out

    def undo(index: int) -> None:
        which, moves = made[index]
        later = {op for _, own in made[index + 1 :] for op in own}
        result = change(restore, which)
        assert {left.name for file in result.files for left in file.left} == set(moves) & later
        for op in set(moves) - later:
            now[op] = moves.pop(op)[0]
        if not moves:
            del made[index]
        assert values() == now

    for _ in range(14):
        if made and pick.random() < 0.4:
            undo(pick.randrange(len(made)))
            continue
        ops = pick.sample(OPS, pick.choice([1, 1, 2, 3]))
        to = pick.choice(LISTS if kind == "library" else LISTS[:2])
        moved = {op: (now[op], to) for op in ops if now[op] != to}
        result = change(move, str(path), ops, to)
        assert bool(result.change) == bool(moved)
        if result.change:
            made.append((result.change, moved))
            now.update({op: after for op, (_, after) in moved.items()})
        assert values() == now
    while made:
        undo(len(made) - 1)
    assert now == first
    if kind == "library":
        assert path.read_bytes() == pristine


def table() -> dict[str, list[str]]:
    """The rows of the table in history.py: change -> its other cells."""
    rows = [line.strip("|").split("|") for line in str(history.__doc__).splitlines() if line.startswith("| ")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in rows[2:]}


CHANGES: dict[str, list[Callable[..., Any]]] = {
    # what is done to two files, the change last, by the ids so far
    "move, or any other command that writes": [],
    "reapply": [
        lambda call, paths, ids: paths[0].write_text(UPGRADED),
        lambda call, paths, ids: call(reapply, str(paths[0])),
    ],
    "restore TARGET": [lambda call, paths, ids: call(restore, str(paths[0]))],
    "restore TARGET --only": [lambda call, paths, ids: call(restore, str(paths[0]), only=True)],
    "restore TARGET --to ID, --to pristine": [
        lambda call, paths, ids: call(move, str(paths[0]), "Add", "gray"),
        lambda call, paths, ids: call(restore, str(paths[0]), ids[1]),
    ],
    "restore CHANGE": [lambda call, paths, ids: call(restore, ids[0])],
    "restore CHANGE.1": [lambda call, paths, ids: call(restore, f"{ids[0]}.1")],
    "restore CHANGE of another machine": [
        lambda call, paths, ids: elsewhere(paths[0].parent),
        lambda call, paths, ids: call(restore, ids[0].replace(machine_name(), "0" * 8)),
    ],
}


def elsewhere(folder: Path) -> None:
    """Let another machine have made the changes so far."""
    (machine,) = folder.glob("vault/*")
    for path in machine.glob("*/record.json"):
        content = unsealed(path.read_bytes())
        files = [{**file, "lineage": file["lineage"].replace(machine.name, "0" * 8)} for file in content["files"]]
        path.write_bytes(sealed({**content, "machine": "0" * 8, "files": files}))
    machine.rename(machine.with_name("0" * 8))


@pytest.mark.parametrize("row", table())
def test_a_change_counts_for_what_the_table_says(
    row: str, tmp_path: Path, vault: Vault, change: Callable[..., Any]
) -> None:
    kind, undoes = table()[row]
    paths = [tmp_path / "aic-x-ops-info.json", tmp_path / "aic-y-ops-info.json"]
    for path in paths:
        path.write_text(TEXT)
    ids = [str(run(vault, *paths).change)]
    for act in CHANGES[row]:
        done = act(change, paths, ids)
        ids += [done.change] if hasattr(done, "change") else []
    last = vault.history().records[-1]
    named = {"nothing": None, "the change": ids[0], "its file": f"{ids[0]}.1"}
    assert (last.id, last.kind, last.undoes) == (ids[-1], kind, named[undoes])
    asked = vault.history().asked().get(str(paths[0]), {})
    assert {name: entry.record.id for name, entry in asked.items()} == ({"Add": last.id} if undoes == "nothing" else {})
    now, is_undone = paths[0].read_text(), (kind, undoes == "nothing") != ("restore", False)
    with suppress(UsageFault):
        change(restore, str(paths[0]))
    assert (vault.history().records[-1].undoes == last.id) == is_undone
    assert (paths[0].read_text() != now) == is_undone


def test_a_file_of_a_change_that_was_undone_is_passed_over(
    tmp_path: Path, vault: Vault, change: Callable[..., Any]
) -> None:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_text(TEXT)
    run(vault, paths[0], op="Log", to="white")
    both = str(run(vault, *paths).change)
    change(restore, str(paths[0]), only=True)
    assert [each.state for each in backups(backup_dir=vault.path).backups] == ["done", "undone", "done", "done"]
    change(restore, str(paths[0]), only=True)  # goes back further, as a restore of whole changes does
    assert [policies(path)["Log"] for path in paths] == ["gray", "gray"]
    assert [policies(path)["Add"] for path in paths] == ["white", "black"]
    run(vault, paths[0], op="Mul", to="black")
    change(restore, str(paths[1]))  # what is left of the change; the file of a later one stays
    assert [policies(path)["Add"] for path in paths] == ["white", "white"]
    assert policies(paths[0])["Mul"] == "black"
    undone = {entry.id for entry in vault.history().entries if vault.history().is_undone(entry)}
    assert {f"{both}.1", f"{both}.2"} <= undone


def upgraded(path: Path) -> None:
    """Give each entry the content of another vendor version, without moves."""
    path.write_text(json.dumps({op: {"opInterface": {"value": f"of {path.stat().st_mtime_ns}"}} for op in OPS}))


@pytest.mark.parametrize("is_replaced", [False, True])
def test_what_a_return_took_back_is_not_lost_after_an_upgrade(
    target: Path, change: Callable[..., Any], is_replaced: bool
) -> None:
    for op in ("Add", "Mul", "Neg"):
        change(move, str(target), op, "black")
    if is_replaced:
        upgraded(target)
    change(restore, str(target), to="pristine", force=is_replaced)
    target.write_text(target.read_text().replace("opInterface", "interface"))
    assert not change(reapply, str(target)).files


def test_what_a_return_brought_back_is_repeated_after_an_upgrade(target: Path, change: Callable[..., Any]) -> None:
    ids = [change(move, str(target), op, "black").change for op in ("Add", "Mul", "Neg")]
    for _ in ids:
        change(restore, str(target))
    change(restore, str(target), to=ids[2])
    upgraded(target)
    change(reapply, str(target))
    assert {op for op, policy in policies(target).items() if policy == "black"} == {"Add", "Mul"}


def test_the_undo_of_a_return_undoes_all_that_it_changed(tmp_path: Path, change: Callable[..., Any]) -> None:
    path = tmp_path / "m.json"
    path.write_text("{}\n")
    first, _ = (change(move, str(path), op, "black").change for op in OPS[:2])
    returned = change(restore, str(path), to=first).change
    change(move, str(path), "Mul", "black")
    change(restore, returned)
    assert json.loads(path.read_text()) == {"black-list": {"to-add": ["Mul", "Add", "Log"]}}


def test_a_move_made_again_after_an_edit_by_hand_stays_when_the_first_one_is_undone(
    target: Path, tmp_path: Path, vault: Vault, change: Callable[..., Any]
) -> None:
    other = tmp_path / "aic-y-ops-info.json"
    other.write_text(TEXT)
    run(vault, target, other, op="Mul")
    moved = target.read_bytes()
    target.write_bytes(b"true".join(moved.rsplit(b"false", 1)))
    second = run(vault, target, op="Mul").change
    assert target.read_bytes() == moved
    done = change(restore, str(other))
    assert [(left.name, left.change) for file in done.files for left in file.left] == [("Mul", second)]
    assert (target.read_bytes(), other.read_text()) == (moved, TEXT)


@pytest.mark.parametrize("undos", [1, 2])
def test_a_prune_keeps_what_the_undo_of_an_undo_brings_back(
    target: Path, change: Callable[..., Any], undos: int
) -> None:
    change(move, str(target), "Neg", "black")
    undo = change(move, str(target), "Mul", "black").change
    for _ in range(undos):
        undo = change(restore, undo).change
    backups(prune=1, backup_dir=str(target.parent / "vault"))
    change(restore, undo)
    upgraded(target)
    change(reapply, str(target))
    assert (policies(target)["Mul"] == "black") == (undos == 1)


def test_a_prune_does_not_make_lost_what_was_settled(target: Path, change: Callable[..., Any]) -> None:
    change(move, str(target), "Mul", "black")
    upgraded(target)
    change(move, str(target), "Log", "black")
    change(reapply, str(target))
    change(restore, str(target))
    for op in ("Exp", "Add"):
        change(move, str(target), op, "black")
    backups(prune=1, backup_dir=str(target.parent / "vault"))
    assert not change(reapply, str(target)).files


def test_after_a_return_to_the_first_content_nothing_is_asked_for(target: Path, change: Callable[..., Any]) -> None:
    for op in ("Add", "Neg"):
        change(move, str(target), op, "black")
    returned = change(restore, str(target), to="pristine").change
    upgraded(target)
    assert not change(reapply, str(target)).files, "another policy of the next version is the vendor's"
    change(restore, returned, force=True)
    upgraded(target)
    change(reapply, str(target))
    assert {op for op, policy in policies(target).items() if policy == "black"} == {"Add", "Neg"}


def test_a_file_of_an_undo_is_undone_alone(tmp_path: Path, vault: Vault, change: Callable[..., Any]) -> None:
    paths = [tmp_path / "aic-x-ops-info.json", tmp_path / "aic-y-ops-info.json"]
    for path in paths:
        path.write_text(TEXT)
    first = str(run(vault, *paths).change)
    undo = change(restore, first).change
    change(restore, f"{undo}.2")
    assert [policies(path)["Add"] for path in paths] == ["white", "black"]
    assert [each.state for each in backups(backup_dir=vault.path).backups] == [
        "undone",
        "done",
        "done",
        "undone",
        "done",
    ]
    assert {path: list(asked) for path, asked in vault.history().asked().items()} == {
        str(paths[0]): [],
        str(paths[1]): ["Add"],
    }
    change(restore, str(paths[0]), only=True)
    change(restore, first)
    assert [path.read_text() for path in paths] == [TEXT, TEXT]


def test_what_the_undo_of_an_undo_leaves_stays_taken_back(target: Path, change: Callable[..., Any]) -> None:
    oldest = change(move, str(target), "Log", "white").change
    first = change(move, str(target), ["Log", "Conv2D"], "gray").change
    undo = change(restore, first).change
    again = change(move, str(target), "Log", "black").change
    done = change(restore, undo)
    assert [(left.name, left.change) for left in done.files[0].left] == [("Log", again)]
    assert (policies(target)["Log"], policies(target)["Conv2D"]) == ("black", "gray")
    change(restore, again)
    assert policies(target)["Log"] == "white"
    assert change(restore, oldest).files[0].left == (), "the first change moves it no longer"
    assert policies(target)["Log"] == "black"
    upgraded(target)
    change(reapply, str(target))
    assert (policies(target)["Log"], policies(target)["Conv2D"]) == ("gray", "gray"), "as the vendor's"


def test_a_forced_undo_of_another_version_is_undone_by_what_the_file_had(
    target: Path, change: Callable[..., Any]
) -> None:
    first = change(move, str(target), "Add", "black").change
    upgraded(target)
    undo = change(restore, first, force=True).change
    change(move, str(target), "Log", "white")
    change(restore, undo)
    assert (policies(target)["Add"], policies(target)["Log"]) == ("gray", "white")


def test_the_moves_of_a_pruned_change_are_repeated(target: Path, change: Callable[..., Any]) -> None:
    ids = [change(move, str(target), op, "black").change for op in ("Add", "Neg", "Mul")]
    backups(prune=1, backup_dir=str(target.parent / "vault"))
    assert raised(Refused, change, restore, ids[1]).name == "pruned"
    upgraded(target)
    change(reapply, ids[1])
    assert [op for op, policy in policies(target).items() if policy == "black"] == ["Neg"]
