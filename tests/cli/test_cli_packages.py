"""Custom packages that give nothing, and op types that another chip or package has: said, never ignored in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Run, finding_names, names

CONFIG = "op_impl/ai_core/tbe/config"


def package(folder: Path, chip: str, *ops: str, impl: bool = True) -> Path:
    """A custom package for one chip."""
    config = folder / CONFIG / chip
    config.mkdir(parents=True)
    if impl:
        (folder / f"op_impl/ai_core/tbe/{folder.name}_impl").mkdir()
    path = config / f"aic-{chip}-ops-info.json"
    path.write_text(json.dumps({op: {"precision_reduce": {"flag": "true"}} for op in ops}), "utf-8")
    return folder


def with_vendor(opp: Path, *, impl: bool = True, named: bool = True) -> Path:
    """A vendor whose package is for ascend910 alone."""
    package(opp / "vendors/customize", "ascend910", "AddCustom", impl=impl)
    if named:
        (opp / "vendors/config.ini").write_text("load_priority=customize,acme\n", "utf-8")
    return opp


@pytest.fixture
def a2(opp: Path) -> Path:
    """The install of the fixtures for ascend910b alone."""
    (opp / f"built-in/{CONFIG}/ascend910").rename(opp.parent / "ascend910")
    return opp


@pytest.mark.parametrize("impl", [True, False])
def test_an_operator_that_a_package_has_for_another_chip_is_named(impl: bool, opsinfo: Run, a2: Path) -> None:
    with_vendor(a2, impl=impl)
    ran = opsinfo("show", f"{a2}@ascend910b", "AddCustom", "--format", "json")
    assert (ran.code, ran.json["error"]["message"]) == (2, "unknown operator `AddCustom`")
    assert ran.json["error"]["hint"] == "`customize` has it for ascend910 only"
    ran = opsinfo("doctor", f"{a2}@ascend910b", "--format", "json")
    said = [each["message"] for each in ran.json["findings"] if each["path"].endswith("customize")]
    nothing = "the package adds nothing for ascend910b: it has operators for ascend910 only"
    assert said == [
        *(["the engine skips this custom path: `op_impl/ai_core/tbe/customize_impl` is missing"] * (not impl)),
        nothing,
    ]
    assert nothing in opsinfo("doctor", a2).out


def test_a_package_for_one_of_several_chips_is_as_it_should_be(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("doctor", with_vendor(opp), "--format", "json")
    assert "broken-custom-path" not in finding_names(ran)
    ran = opsinfo("doctor", f"{opp}@ascend910b", "--format", "json")
    assert "broken-custom-path" in finding_names(ran)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["validate", "MIXLIST", "--against", "TARGET"], 0),
        (["apply", "TARGET", "MIXLIST", "-n"], 0),
        (["merge", "MIXLIST", "--minimize", "--against", "TARGET"], 0),
        (["move", "MIXLIST", "AddCustom", "--to", "white", "--against", "TARGET"], 2),
        (["move", "TARGET", "AddCustom", "--to", "white"], 2),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_every_command_says_where_an_operator_is(
    command: list[str], code: int, opsinfo: Run, opp: Path, tmp_path: Path
) -> None:
    with_vendor(opp)
    mixlist = tmp_path / "m.json"
    mixlist.write_text('{"black-list": {"to-add": ["AddCustom"]}}', "utf-8")
    words = {"MIXLIST": str(mixlist), "TARGET": f"{opp}@ascend910b"}
    ran = opsinfo(*(words.get(word, word) for word in command))
    assert "`customize` has it for ascend910 only" in ran.out + ran.err
    assert ran.code == code


def test_other_places_of_an_operator(opsinfo: Run, opp: Path) -> None:
    """In the library of another chip, in a vendor that load_priority lacks, and in several places."""
    ran = opsinfo("show", f"{opp}@ascend910", "SwiGlu", "GEMM", "Swi")
    assert "it is an operator of ascend910b" in ran.err
    assert "`Swi`: did you mean `SwiGlu`?" not in ran.err
    with_vendor(opp, named=False)
    hint = "`customize` has it for ascend910 only"
    assert hint in opsinfo("show", f"{opp}@ascend910b", "AddCustom").err
    hint = "`customize` has it, but load_priority in vendors/config.ini does not have it"
    assert hint in opsinfo("show", f"{opp}@ascend910", "AddCustom").err


def test_a_damaged_library_elsewhere_does_not_hide_the_answer(opsinfo: Run, opp: Path) -> None:
    (with_vendor(opp) / f"vendors/customize/{CONFIG}/ascend910/aic-ascend910-ops-info.json").write_text(
        '{"AddCustom": '
    )
    ran = opsinfo("show", f"{opp}@ascend910b", "AddCustom")
    assert (ran.code, "unknown operator `AddCustom`" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda path: package(path, "ascend910", "AddCustom"), "it has operators for ascend910 only"),
        (
            lambda path: package(path, "ascend910b", "AddCustom", impl=False),
            "`op_impl/ai_core/tbe/mine_impl` is missing",
        ),
        (lambda path: path.mkdir(), "`op_impl/ai_core/tbe/config` is missing"),
    ],
    ids=["another chip", "no _impl", "empty"],
)
def test_a_named_package_that_gives_nothing_is_said(made, why: str, opsinfo: Run, opp: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    made(tmp_path / "mine")
    ran = opsinfo("list", f"{opp}@ascend910b", "--custom", tmp_path / "mine", "-q")
    assert ran.code == 0
    assert ran.err == f"warning: --custom {tmp_path / 'mine'} adds nothing for ascend910b: {why}\n"


def test_a_named_package_that_gives_operators_is_used_in_silence(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    mine = package(tmp_path / "mine", "ascend910b", "AddCustom")
    ran = opsinfo("list", f"{opp}@ascend910b", "--custom", mine, "--match", "AddCustom")
    assert (names(ran), ran.err) == (["AddCustom"], "")


@pytest.mark.parametrize("command", [["list"], ["doctor"], ["validate"], ["apply"]], ids=lambda words: words[0])
def test_a_named_package_that_does_not_exist_is_wrong_use(
    command: list[str], opsinfo: Run, opp: Path, fixtures: Path, tmp_path: Path
) -> None:
    mixlist = fixtures / "ops_info.json"
    more = {"validate": [mixlist, "--against", f"{opp}@ascend910b"], "apply": [f"{opp}@ascend910b", mixlist, "-n"]}
    ran = opsinfo(*command, *more.get(command[0], [f"{opp}@ascend910b"]), "--custom", tmp_path / "none")
    if command == ["validate"]:
        assert ran.code == 2  # it has no such option
    else:
        assert (ran.code, ran.err.splitlines()[:2]) == (2, ["error: no such directory", f"  --> {tmp_path / 'none'}"])


def test_the_hint_of_a_change_in_a_package_undoes_it(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    mine = package(tmp_path / "mine", "ascend910b", "AddCustom")
    library = mine / CONFIG / "ascend910b/aic-ascend910b-ops-info.json"
    before = library.read_text("utf-8")
    ran = opsinfo("move", f"{opp}@ascend910b", "AddCustom", "--to", "black", "--custom", mine)
    words = ran.err.rpartition("undo it with: opsinfo ")[2].split()
    assert opsinfo(*words).code == 0
    assert library.read_text("utf-8") == before


def test_a_package_beside_a_target_that_is_no_install_is_said(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    mine = package(tmp_path / "mine", "ascend910b", "AddCustom")
    ran = opsinfo("list", opp / f"built-in/{CONFIG}/ascend910b", "--custom", mine)
    assert ran.err == f"warning: --custom {mine} has no effect: the target is no install\n"
