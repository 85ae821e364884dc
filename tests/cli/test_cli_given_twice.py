"""An option given twice means both, or is refused: no command drops a value in silence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli_support import LEGACY, ONLY_910, Run, names, rows

from opsinfo_cli.app import cli


def commands(
    command: click.Command, context: click.Context, *path: str
) -> Iterator[tuple[tuple[str, ...], click.Option]]:
    """Every option of every command."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, click.Context(below, info_name=name, parent=context), *path, name)
        return
    yield from ((path, param) for param in command.params if isinstance(param, click.Option))


OPTIONS = list(commands(cli, click.Context(cli)))
ONE_VALUE = [(path, each) for path, each in OPTIONS if not (each.multiple or each.count or each.is_flag)]


def test_every_command_has_options_of_one_value() -> None:
    assert len({path for path, _ in ONE_VALUE}) > 25
    assert len(ONE_VALUE) > 200


@pytest.mark.parametrize("path", sorted({path for path, _ in ONE_VALUE}), ids=" ".join)
def test_every_option_of_one_value_is_refused_if_given_twice(path: tuple[str, ...], opsinfo: Run) -> None:
    for option in (each for of, each in ONE_VALUE if of == path):
        for words in ([option.opts[0], "x", option.opts[-1], "y"], [option.opts[-1], "x", option.opts[-1], "x"]):
            ran = opsinfo(*path, *words, "--format=json") if option.name != "format" else opsinfo(*path, *words)
            assert ran.code == 2, words
            assert f"{max(option.opts, key=len)} is given twice" in ran.out + ran.err, words


def test_a_flag_may_be_repeated(opsinfo: Run, opp: Path) -> None:
    once = opsinfo("list", f"{opp}@ascend910b", "-q", "-v")
    assert opsinfo("list", f"{opp}@ascend910b", "-q", "-q", "-v", "-v", "--verbose").out == once.out
    assert opsinfo("apply", f"{opp}@ascend910b", opp / "none.json", "--strict", "--strict", "-n", "-n").code == 3


def test_the_words_of_a_check_are_not_options(opsinfo: Run, opp: Path) -> None:
    line = [
        "bisect",
        "--against",
        f"{opp}@ascend910b",
        "--among",
        "Add",
        "--",
        "true",
        "{mixlist}",
        "--against",
        "x",
        "--against",
        "y",
    ]
    assert opsinfo(*line).code == 0


def test_a_default_of_the_configuration_is_not_a_second_value(
    opsinfo: Run, opp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "opsinfo.toml").write_text('format = "json"\n', "utf-8")
    (tmp_path / "m.json").write_text("{}", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert opsinfo("validate", "m.json", "--format", "concise").code == 0
    assert opsinfo("validate", "m.json", "--format", "concise", "--format", "json").code == 2


def test_apply_takes_several_chips(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    mixlist = fixtures / "ops_info.json"  # SoftmaxV2 to black
    ran = opsinfo(
        "apply", opp, mixlist, "--soc", "ascend910", "--soc", "910B3", "--soc", "Ascend910A", "--format", "json"
    )
    assert ran.code == 0
    assert [Path(file["path"]) for file in ran.json["files"]] == [opp / ONLY_910, opp / LEGACY]
    for soc in ("ascend910", "ascend910b"):
        assert rows(opsinfo("list", f"{opp}@{soc}", "--match", "SoftmaxV2"))[0][1] == "black"
    opsinfo("restore", opp)  # one change
    for soc in ("ascend910", "ascend910b"):
        assert rows(opsinfo("list", f"{opp}@{soc}", "--match", "SoftmaxV2"))[0][1] == "gray"


def test_apply_says_which_chip_lacks_an_op_type(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"black-list": {"to-add": ["SwiGlu", "SoftmaxV2", "Nowhere"]}}), "utf-8")
    both = ("--soc", "ascend910", "--soc", "ascend910b", "-n")
    ran = opsinfo("apply", opp, path, *both, "--format", "json")
    assert "unknown operator `SwiGlu`: not in ascend910, " in ran.err
    assert (ran.code, ran.json["ignored"]) == (0, ["Nowhere"])
    ran = opsinfo("apply", opp, path, *both, "--strict", "--format", "json")
    assert (ran.code, ran.json["ignored"]) == (1, ["Nowhere", "SwiGlu"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--output", "copy"], "the target has several chips; --output can write only one"),
        (["--soc", "ascend999"], "unknown chip `ascend999`"),
    ],
)
def test_apply_to_several_chips_refuses(
    words: list[str], message: str, opsinfo: Run, opp: Path, fixtures: Path
) -> None:
    ran = opsinfo("apply", opp, fixtures / "ops_info.json", "--soc", "ascend910", "--soc", "ascend910b", *words)
    assert (ran.code, message in ran.err) == (2, True)


def library_of(path: Path, **policies: str) -> str:
    flags = {"white": "true", "black": "false"}
    entries = {
        name: {"precision_reduce": {"flag": flags[policy]}} if policy in flags else {}
        for name, policy in policies.items()
    }
    path.write_text(json.dumps(entries), "utf-8")
    return str(path)


@pytest.mark.parametrize("turned", [False, True])
def test_move_writes_a_mark_that_any_target_needs_in_any_order(turned: bool, opsinfo: Run, tmp_path: Path) -> None:
    a = library_of(tmp_path / "aic-a-ops-info.json", Add="white", Mul="black", Sub="white", Only="gray")
    b = library_of(tmp_path / "aic-b-ops-info.json", Add="black", Mul="black", Sub="gray")
    against = [word for each in ([b, a] if turned else [a, b]) for word in ("--against", each)]
    path = tmp_path / "m.json"
    assert opsinfo("move", path, "Add", "Mul", "Sub", "--to", "black", *against, "--create").code == 0
    assert json.loads(path.read_text("utf-8")) == {"black-list": {"to-add": ["Add", "Sub"]}}
    assert opsinfo("move", path, "Sub", "--to", "gray", *against).code == 0  # white in one, gray in the other
    assert json.loads(path.read_text("utf-8")) == {
        "white-list": {"to-remove": ["Sub"]},
        "black-list": {"to-add": ["Add"]},
    }
    ran = opsinfo("move", path, "Only", "--to", "white", *against)
    assert ran.code == 0
    assert "`Only` is not in " in ran.err


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("Add", "`Add` is white in one target and black in another: no marks make it gray in both"),
        ("Adx", "unknown operator `Adx`"),
    ],
)
def test_move_refuses_what_no_mark_does_in_all_targets(op: str, message: str, opsinfo: Run, tmp_path: Path) -> None:
    a = library_of(tmp_path / "aic-a-ops-info.json", Add="white")
    b = library_of(tmp_path / "aic-b-ops-info.json", Add="black")
    ran = opsinfo("move", tmp_path / "m.json", op, "--to", "gray", "--against", a, "--against", b, "--create")
    assert (ran.code, message in ran.err, (tmp_path / "m.json").exists()) == (2, True, False)


def test_list_narrows_by_every_pattern(opsinfo: Run, opp: Path) -> None:
    found = names(opsinfo("list", f"{opp}@ascend910b", "--match", "Add", "--match", "SwiGlu"))
    assert found == ["Add", "SwiGlu"]
