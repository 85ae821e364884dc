"""Stores: which files are loaded, in which order, and which entry wins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from raising import raised
from tables import cases

from opsinfo_cli.core.cann.library import Operators, Store
from opsinfo_cli.core.cann.load_order import library_files, load_order
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.errors import Refused, UsageFault

WHITE = {"precision_reduce": {"flag": "true"}}
BLACK = {"precision_reduce": {"flag": "false"}}
GRAY: dict[str, Any] = {}


def fill(folder: Path, **files: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name.replace('_', '-')}.json").write_text(json.dumps(content))
    return folder


def test_only_names_that_end_in_json_and_do_not_begin_with_a_dot_are_loaded(tmp_path: Path) -> None:
    for name in ("a.json", ".b.json", ".json", "c.JSON", "d.json.bak", "e.jsonc", "f", "x.json", "ops.info.json"):
        (tmp_path / name).write_text("{}")
    assert library_files(str(tmp_path)) == ["a.json", "ops.info.json", "x.json"]


def test_a_directory_named_like_a_library_fails_the_store(tmp_path: Path) -> None:
    fill(tmp_path, a={"Add": WHITE})
    (tmp_path / "x.json").mkdir()
    assert raised(Refused, Store.read, str(tmp_path)).path == str(tmp_path / "x.json")


def test_legacy_is_loaded_first_then_the_shorter_path(tmp_path: Path) -> None:
    names = ["aic-nn.json", "aic-transformer.json", "aic-legacy-and-a-very-long-name.json", "aic-cv1.json"]
    assert load_order(str(tmp_path), names) == [
        "aic-legacy-and-a-very-long-name.json",
        "aic-nn.json",
        "aic-cv1.json",
        "aic-transformer.json",
    ]


def test_length_is_counted_in_bytes(tmp_path: Path) -> None:
    assert load_order(str(tmp_path), ["\u4e2d.json", "ab.json"]) == ["ab.json", "\u4e2d.json"]


def test_names_of_one_length_have_the_same_order_on_every_machine(tmp_path: Path) -> None:
    names = ["b.json", "a.json", "c.json"]
    assert (
        load_order(str(tmp_path), names) == load_order(str(tmp_path), reversed(names)) == ["a.json", "b.json", "c.json"]
    )


def test_the_later_file_replaces_the_entry_whole(tmp_path: Path) -> None:
    fill(tmp_path, aic_legacy={"Add": {**WHITE, "opFile": {"value": "x"}}, "Log": BLACK}, aic_nn={"Add": GRAY})
    operators = Operators([Store.read(str(tmp_path))])
    add = operators["Add"]
    assert str(add.entry.policy) == "gray"
    assert add.entry.sections == {}
    assert add.entry.path.endswith("aic-nn.json")
    assert [(Path(entry.path).name, str(entry.policy)) for _, entry in add.shadowed] == [("aic-legacy.json", "white")]
    assert add.also_in == []
    assert str(operators["Log"].entry.policy) == "black"


def test_one_broken_file_fails_the_whole_store(tmp_path: Path) -> None:
    fill(tmp_path, a={"Add": WHITE}, bb={"Log": {"precision_reduce": {"flag": "flase"}}})
    error = raised(Refused, Store.read, str(tmp_path))
    assert error.path == str(tmp_path / "bb.json")
    assert error.line == 1
    assert "Log" in error.message


def test_a_bad_value_in_an_entry_that_never_wins_fails_nothing(tmp_path: Path) -> None:
    fill(tmp_path, a={"Log": {"precision_reduce": {"flag": "flase"}}}, bb={"Log": BLACK})
    assert str(Operators([Store.read(str(tmp_path))])["Log"].entry.policy) == "black"


def test_a_wrong_type_fails_the_store_even_in_an_entry_that_never_wins(tmp_path: Path) -> None:
    fill(tmp_path, a={"Log": {"precision_reduce": {"flag": False}}}, bb={"Log": BLACK})
    with pytest.raises(Refused):
        Store.read(str(tmp_path))


def test_a_mismatch_of_columns_is_a_doubt_and_the_policy_is_read(tmp_path: Path) -> None:
    odd = {"name": "x", "paramType": "required", "dtype": "float,float16", "format": "ND"}
    fill(tmp_path, a={"Log": {**BLACK, "input0": odd}})
    store = Store.read(str(tmp_path))
    assert str(Operators([store])["Log"].entry.policy) == "black"
    assert [doubt.path for doubt in store.doubts] == [str(tmp_path / "a.json")]


def test_an_empty_folder_of_an_install_is_an_empty_store(tmp_path: Path) -> None:
    assert Operators([Store.read(str(tmp_path), "built-in")]).names == []


def test_a_folder_without_libraries_is_no_store_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="no library"):
        Store.read(str(tmp_path))


def test_a_missing_directory_is_refused(tmp_path: Path) -> None:
    error = raised(Refused, Store.read, str(tmp_path / "none"))
    assert (error.message, error.path) == ("No such file or directory", str(tmp_path / "none"))


def undecided(folder: Path) -> list[tuple[list[str], list[str]]]:
    found = Store.read(str(folder)).undecided()
    return [([Path(path).name for path in paths], names) for paths, names in found.items()]


def test_files_of_one_length_that_share_an_op_type_are_undecided(tmp_path: Path) -> None:
    fill(tmp_path, aa={"Add": WHITE, "Log": GRAY}, bb={"Add": BLACK}, cc={"Add": GRAY, "Pow": GRAY})
    assert undecided(tmp_path) == [(["aa.json", "bb.json", "cc.json"], ["Add"])]


def test_two_files_of_different_lengths_that_share_an_op_type_are_decided(tmp_path: Path) -> None:
    fill(tmp_path, aa={"Add": WHITE, "Log": GRAY}, bbb={"Add": BLACK})
    store = Store.read(str(tmp_path))
    assert store.undecided() == {}
    assert {name: [Path(entry.path).name for entry in store.contenders(name)] for name in ("Add", "Log")} == {
        "Add": ["bbb.json"],
        "Log": ["aa.json"],
    }


def test_files_of_one_length_are_decided_if_a_longer_one_wins(tmp_path: Path) -> None:
    fill(tmp_path, aa={"Add": WHITE}, bb={"Add": BLACK}, ccc={"Add": GRAY})
    assert undecided(tmp_path) == []


def test_two_legacy_files_that_share_an_op_type_are_undecided(tmp_path: Path) -> None:
    fill(tmp_path, legacy={"Add": WHITE}, longer_legacy={"Add": WHITE})
    assert undecided(tmp_path) == [(["legacy.json", "longer-legacy.json"], ["Add"])]


def test_files_of_one_length_without_a_shared_op_type_are_decided(tmp_path: Path) -> None:
    fill(tmp_path, aa={"Add": WHITE}, bb={"Log": BLACK})
    assert undecided(tmp_path) == []


def test_a_parent_folder_called_legacy_makes_the_order_undefined(tmp_path: Path) -> None:
    folder = fill(tmp_path / "my-legacy-checkout" / "config", aic_nn={"Add": BLACK}, aic_legacy={"Add": WHITE})
    assert undecided(folder) == [(["aic-legacy.json", "aic-nn.json"], ["Add"])]


def test_the_order_is_that_of_the_real_path(tmp_path: Path) -> None:
    fill(tmp_path / "legacy", aa={"Add": WHITE}, bbb={"Add": BLACK})
    (tmp_path / "link").symlink_to("legacy")
    assert len(Store.read(str(tmp_path / "link")).undecided()) == 1


def test_the_first_store_wins_and_the_others_are_listed(tmp_path: Path) -> None:
    custom = Store.read(str(fill(tmp_path / "custom", a={"Add": WHITE, "Mine": BLACK})), "vendor:acme")
    built_in = Store.read(str(fill(tmp_path / "built-in", a={"Add": BLACK, "Log": BLACK})), "built-in")
    operators = Operators([custom, built_in])
    assert operators.names == ["Add", "Log", "Mine"]
    add = operators["Add"]
    assert (str(add.entry.policy), add.store.label) == ("white", "vendor:acme")
    assert [(store.label, str(entry.policy)) for store, entry in add.also_in] == [("built-in", "black")]
    assert add.shadowed == []
    assert [store.label for store, _ in add.winners] == ["vendor:acme", "built-in"]
    assert operators["Log"].store.label == "built-in"


def test_all_unknown_names_are_reported_with_near_names(tmp_path: Path) -> None:
    operators = Operators([Store.read(str(fill(tmp_path, a={"MatMulV2": WHITE, "Add": GRAY})))])
    error = raised(UsageFault, operators.require, ["Add", "MatMu1V2", "Zzz"])
    assert "`MatMu1V2`" in error.message
    assert "`Zzz`" in error.message
    assert "`MatMulV2`" in str(error.hint)
    assert error.exit_code == 2
    assert "MatMu1V2" not in operators
    assert "Add" in operators
    assert [each.name for each in operators.require(["MatMulV2", "Add"])] == ["MatMulV2", "Add"]


def test_one_unknown_name_is_reported_in_the_singular_and_more_in_the_plural(tmp_path: Path) -> None:
    operators = Operators([Store.read(str(fill(tmp_path, a={"MatMulV2": WHITE})))])
    for names, message, hint in (
        (["Zzzzzzzz"], "unknown operator `Zzzzzzzz`", "`opsinfo list TARGET --match 'PATTERN*'` lists the names"),
        (["Zzzzzzzz", "Yyyyyyyy"], "unknown operators `Zzzzzzzz`, `Yyyyyyyy`", None),
        ([f"Z{number:07}" for number in range(11)], None, None),
    ):
        error = raised(UsageFault, operators.require, names)
        assert error.message == (message or error.message)
        assert error.hint == (hint or error.hint)
    assert error.message.count("`") == 20, "ten of eleven"


@cases(
    "unknown, hints",
    {
        "one": (["MatMu1V2"], "did you mean `MatMulV2`?"),
        "two": (
            ["MatMu1V2", "MatMulVV2"],
            "`MatMu1V2`: did you mean `MatMulV2`? `MatMulVV2`: did you mean `MatMulV2`?",
        ),
    },
)
def test_near_names_follow_their_name_if_several_are_unknown(tmp_path: Path, unknown: list[str], hints: str) -> None:
    operators = Store.read(str(fill(tmp_path, a={"MatMulV2": WHITE}))).operators
    assert raised(UsageFault, operators.require, ["MatMulV2", *unknown]).hint == hints


def test_near_names_are_given_for_ten_unknown_names_at_most(tmp_path: Path) -> None:
    operators = Store.read(str(fill(tmp_path, a={"MatMulV2": WHITE}))).operators
    error = raised(UsageFault, operators.require, [f"MatMul{letter}2" for letter in "ABCDEFGHIJK"])
    assert str(error.hint).count("`MatMulV2`") == 10


def test_a_store_alone_gives_its_files_in_load_order(tmp_path: Path) -> None:
    store = Store.read(str(fill(tmp_path, a={"Mul": GRAY, "Add": WHITE}, bb={"Add": BLACK})))
    assert list(store.operators.libraries()) == [str(tmp_path / "a.json"), str(tmp_path / "bb.json")]


def test_a_store_is_shown_with_its_folder_or_else_its_label(tmp_path: Path) -> None:
    store = Store.read(str(fill(tmp_path, a={}, bb={})), "built-in")
    assert repr(store) == f"<Store {tmp_path}: 2 libraries>"
    assert repr(Store([], label="vendor:x")) == "<Store vendor:x: 0 libraries>"


def test_an_operator_is_shown_with_its_policy_and_others_of_its_name(tmp_path: Path) -> None:
    store = Store.read(str(fill(tmp_path / "a", a={"Add": WHITE, "Mul": GRAY}, bb={"Add": BLACK})), "built-in")
    other = Store.read(str(fill(tmp_path / "b", a={"Mul": WHITE})), "vendor:x")
    operators = Operators([store, other])
    add, mul = operators["Add"], operators["Mul"]
    assert (add.policy, mul.policy) == (Policy.BLACK, Policy.GRAY)
    assert (repr(add), repr(mul)) == ("<Operator Add: black>", "<Operator Mul: gray>")
    assert [(entry.policy, at.label) for at, entry in add.shadowed] == [(Policy.WHITE, "built-in")]
    assert (repr(operators), repr(Operators([store]))) == ("<Operators: 2 of 2 stores>", "<Operators: 2 of 1 store>")
    assert [each.name for each in operators] == ["Add", "Mul"]
    with pytest.raises(KeyError):
        operators["Zzz"]
