"""Findings on stores, installs, precision modes and the vault: one situation for each rule."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from check_support import Checker

from opsinfo_cli.core.cann.install import Install
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.closed_folders import Widened
from opsinfo_cli.core.change.plan import Job, LibraryPlan
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer
from opsinfo_cli.core.check.finding import Finding, Outcome
from opsinfo_cli.core.check.mode import check_modes
from opsinfo_cli.core.check.rules import RULES
from opsinfo_cli.core.check.store import check_install
from opsinfo_cli.core.check.vault import check_vault
from opsinfo_cli.core.text.source import Place

WHITE: dict[str, Any] = {"precision_reduce": {"flag": "true"}}
BLACK: dict[str, Any] = {"precision_reduce": {"flag": "false"}}
GRAY: dict[str, Any] = {}


def named(findings: list[Finding]) -> list[str]:
    return sorted({finding.rule.name for finding in findings})


def checked(folder: Path, **files: dict[str, Any]) -> Checker:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name.replace('_', '-')}.json").write_text(json.dumps(content))
    checker = Checker()
    checker.check_paths([str(folder)])
    return checker


def store(tmp_path: Path) -> Path:
    return tmp_path / "tbe" / "config" / "ascend910b"


A, NN, MATH = "aic_ascend910b_ops_info", "aic_ascend910b_ops_info_nn", "aic_ascend910b_ops_info_math"
CV = "aic_ascend910b_ops_info_cv"


def test_a_sound_store_has_no_findings(tmp_path: Path) -> None:
    checker = checked(store(tmp_path), **{A: {"Add": WHITE}, NN: {"Log": BLACK}})
    assert checker.outcome.findings == []
    assert [(verdict.kind, verdict.engine_accepts) for verdict in checker.outcome.files] == [
        ("library", True),
        ("library", True),
        ("store", True),
    ]


def test_an_entry_that_never_wins_is_a_note(tmp_path: Path) -> None:
    checker = checked(store(tmp_path), **{NN: {"Add": WHITE, "X": GRAY}, MATH: {"Add": WHITE, "Y": GRAY}})
    (finding,) = checker.outcome.findings
    assert (finding.rule.name, finding.severity, finding.pointer) == ("shadowed", "note", "/Add")
    assert finding.path.endswith("-nn.json")


def test_shadowed_is_a_warning_if_the_policies_differ(tmp_path: Path) -> None:
    checker = checked(store(tmp_path), **{NN: {"Add": WHITE, "X": GRAY}, MATH: {"Add": BLACK, "Y": GRAY}})
    (finding,) = checker.outcome.findings
    assert (finding.rule.name, finding.severity) == ("shadowed", "warning")


def test_the_pointer_to_a_shadowed_entry_is_escaped(tmp_path: Path) -> None:
    checker = checked(store(tmp_path), **{NN: {"a/b": WHITE, "X": GRAY}, MATH: {"a/b": WHITE, "Y": GRAY}})
    assert [finding.pointer for finding in checker.outcome.findings] == ["/a~1b"]


@pytest.mark.parametrize("name", ["aic-ascend910b-ops-info-backup", "copy-of-aic", "notes", "aic-ascend910-ops-info"])
def test_a_stray_file_is_reported(tmp_path: Path, name: str) -> None:
    checker = checked(store(tmp_path), **{A: {"Add": WHITE}, name: {"Log": WHITE}})
    strays = [finding for finding in checker.outcome.findings if finding.rule.name == "stray-json"]
    assert [Path(finding.path).stem for finding in strays] == [name]


def test_a_package_that_repeats_a_file_of_a_shorter_name_is_stray(tmp_path: Path) -> None:
    def strays(**libraries: dict[str, Any]) -> list[tuple[str, str]]:
        found = checked(store(tmp_path / str(len(libraries))), **libraries).outcome.findings
        return [(Path(each.path).stem, each.message) for each in found if each.rule.name == "stray-json"]

    ((name, message),) = strays(**{A: {"Add": WHITE, "Log": WHITE}, MATH: {"Add": WHITE}})
    assert name == "aic-ascend910b-ops-info-math"
    assert message.startswith(f"every op type of `{name}.json` is also in `aic-ascend910b-ops-info.json`;")
    assert strays(**{MATH: {"Add": WHITE, "Log": WHITE}, NN: {"Add": WHITE}, CV: {"Exp": WHITE}}) == []


@pytest.mark.parametrize("name", ["nn", "math", "cv", "transformer", "legacy"])
def test_a_package_of_the_vendor_is_not_stray(tmp_path: Path, name: str) -> None:
    checker = checked(store(tmp_path), **{A: {"Add": WHITE}, f"{A}_{name}": {"Log": WHITE}})
    assert checker.outcome.findings == []


def test_two_files_of_one_length_that_share_an_op_type(tmp_path: Path) -> None:
    checker = checked(store(tmp_path), **{NN: {"Add": WHITE, "X": GRAY}, CV: {"Add": BLACK, "Y": GRAY}})
    assert "load-order-undefined" in named(checker.outcome.findings)


def test_any_number_of_files_of_one_length_is_one_finding(tmp_path: Path) -> None:
    names = [f"{A}_{letter * 2}" for letter in "abcde"]
    checker = checked(store(tmp_path), **{name: {"Add": WHITE, f"Own{name[-1]}": WHITE} for name in names})
    (tie,) = [finding for finding in checker.outcome.findings if finding.rule.name == "load-order-undefined"]
    assert "ops-info-aa.json" in tie.message
    assert "and 2 more is undefined; all have `Add`" in tie.message


def test_an_entry_of_undefined_order_is_not_shadowed(tmp_path: Path) -> None:
    checker = checked(store(tmp_path), **{NN: {"Add": WHITE, "X": GRAY}, CV: {"Add": BLACK, "Y": GRAY}})
    (tie,) = checker.outcome.findings
    assert tie.message.endswith("undefined; all have `Add` (black or white)")
    assert tie.hint is None


def test_the_policy_of_a_bad_flag_is_unknown(tmp_path: Path) -> None:
    bad = {"precision_reduce": {"flag": "flase"}}
    checker = checked(store(tmp_path / "a"), **{NN: {"Add": WHITE, "X": GRAY}, MATH: {"Add": bad, "Y": GRAY}})
    (shadowed,) = [each for each in checker.outcome.findings if each.rule.name == "shadowed"]
    assert shadowed.message.endswith("; here it is white, there unknown")
    checker = checked(store(tmp_path / "b"), **{NN: {"Add": WHITE, "X": GRAY}, CV: {"Add": bad, "Y": GRAY}})
    (tie,) = [each for each in checker.outcome.findings if each.rule.name == "load-order-undefined"]
    assert tie.message.endswith("all have `Add` (unknown or white)")


@pytest.mark.parametrize("above", ["legacy", "my-legacy-build"])
def test_an_undefined_order_has_a_hint_if_a_folder_above_is_called_legacy(tmp_path: Path, above: str) -> None:
    checker = checked(store(tmp_path / above), **{NN: {"Add": WHITE, "X": GRAY}, CV: {"Add": BLACK, "Y": GRAY}})
    (tie,) = checker.outcome.findings
    assert tie.hint == "a folder of the path has `legacy` in its name"


def test_files_of_one_length_are_fine_if_a_longer_one_wins(tmp_path: Path) -> None:
    files = {NN: {"Add": WHITE}, CV: {"Add": BLACK}, f"{A}_math": {"Add": WHITE}}
    assert "load-order-undefined" not in named(checked(store(tmp_path), **files).outcome.findings)


def test_the_fixture_store_shows_its_shadowed_entries(fixtures: Path) -> None:
    checker = Checker()
    checker.check_paths([str(fixtures / "opp/built-in/op_impl/ai_core/tbe/config/ascend910b")])
    shadowed = {f.pointer: f.severity for f in checker.outcome.findings if f.rule.name == "shadowed"}
    assert shadowed == {"/IndexFill": "warning", "/UnfoldGrad": "note"}
    assert not [finding for finding in checker.outcome.findings if finding.severity == "error"]


def test_a_bad_value_in_an_entry_that_never_wins_refuses_nothing(tmp_path: Path) -> None:
    bad = {"precision_reduce": {"flag": "flase"}}
    checker = checked(store(tmp_path), **{NN: {"Add": bad, "X": GRAY}, MATH: {"Add": BLACK, "Y": GRAY}})
    finding = next(finding for finding in checker.outcome.findings if finding.rule.name == "bad-flag")
    assert (finding.severity, finding.engine) == ("warning", "ignores")
    assert all(verdict.engine_accepts for verdict in checker.outcome.files)


def test_one_bad_file_is_reported_and_the_store_is_refused(tmp_path: Path) -> None:
    checker = checked(store(tmp_path), **{A: {"Add": {"opFile": {"value": 1}}}, NN: {"Log": BLACK}})
    accepts = {Path(verdict.path).name: verdict.engine_accepts for verdict in checker.outcome.files}
    assert accepts == {
        "aic-ascend910b-ops-info.json": False,
        "aic-ascend910b-ops-info-nn.json": True,
        "ascend910b": False,
    }


def test_a_file_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    folder = store(tmp_path)
    folder.mkdir(parents=True)
    (folder / "aic-ascend910b-ops-info.json").mkdir()
    checker = checked(folder, **{NN: {"Add": {"precision_reduce": {"flag": "x"}}}})
    assert named(checker.outcome.findings) == ["bad-flag"]
    assert [Path(str(error.path)).name for error in checker.failures] == ["aic-ascend910b-ops-info.json"]


# installs


def built_in(opp: Path) -> Path:
    return opp / "built-in/op_impl/ai_core/tbe/config/ascend910b"


def test_the_fixture_install_has_no_findings(opp: Path) -> None:
    assert list(check_install(Install.open(str(opp), "ascend910b", "ai"))) == []


def test_a_store_that_fails_is_reported_with_its_consequence(opp: Path) -> None:
    (built_in(opp) / "aic-ascend910b-ops-info-nn.json").write_text('{"Add": {"precision_reduce": {"flag": "flase"}}}')
    (finding,) = check_install(Install.open(str(opp), "ascend910b", "ai"))
    assert finding.rule.name == "store-fails"
    assert finding.path.startswith(str(built_in(opp)))
    assert "aic-ascend910b-ops-info-nn.json" in finding.message


@pytest.mark.parametrize("has_vendor", [True, False])
def test_a_store_that_fails_stops_the_engine_if_no_other_store_is_there(opp: Path, has_vendor: bool) -> None:
    (built_in(opp) / "aic-ascend910b-ops-info-nn.json").write_text("{")
    if not has_vendor:
        shutil.rmtree(opp / "vendors")
    (finding,) = check_install(Install.open(str(opp), "ascend910b", "ai"))
    cost = "CANN ignores all operators in this folder" if has_vendor else "CANN does not start"
    assert finding.message.startswith(f"{cost} because of aic-ascend910b-ops-info-nn.json: ")


def test_a_store_that_only_current_engines_refuse_is_reported_with_the_first_reason(opp: Path) -> None:
    odd = {"input0": {"name": "x", "paramType": "required", "dtype": "float,float16", "format": "ND"}}
    (built_in(opp) / "aic-ascend910b-ops-info-nn.json").write_text(json.dumps({"Log": odd, "Exp": odd}))
    (finding,) = check_install(Install.open(str(opp), "ascend910b", "ai"))
    assert finding.rule.name == "store-fails"
    assert "`Log`" in finding.message
    assert "`Exp`" not in finding.message


def test_a_store_that_fails_is_reported_at_the_place_in_its_file(opp: Path) -> None:
    (built_in(opp) / "aic-ascend910b-ops-info-nn.json").write_text('{"Add":\n {"precision_reduce": {"flag": flase}}}')
    (finding,) = check_install(Install.open(str(opp), "ascend910b", "ai"))
    assert finding.path == str(built_in(opp) / "aic-ascend910b-ops-info-nn.json")
    assert (finding.start, finding.end) == (Place(2, 32), Place(2, 33))


def test_a_finding_that_all_chips_of_an_install_share_is_reported_once() -> None:
    one, other, third = (
        Finding(RULES["store-fails"], text, "f.json", None, None) for text in ("one", "other", "third")
    )
    outcome = Outcome()
    outcome.add("opp ascend910", "install", [one, other, one])
    outcome.add("opp ascend910b", "install", [one, third])
    assert outcome.findings == [one, other, third]
    outcome.add("f.json", "library", [one])
    assert outcome.findings == [one, other, third, one]


def test_a_load_priority_without_an_equals_sign_is_reported_with_its_line(opp: Path) -> None:
    (opp / "vendors/config.ini").write_text("# x\nload_priority acme\n")
    findings = list(check_install(Install.open(str(opp), "ascend910b", "ai")))
    finding = next(each for each in findings if each.rule.name == "bad-load-priority")
    assert (finding.start, finding.end) == (Place(2, 1), Place(2, 2))


def test_a_custom_path_without_effect_is_reported(opp: Path, fixtures: Path, tmp_path: Path) -> None:
    renamed = shutil.copytree(fixtures / "custom/fastops", tmp_path / "copy")
    install = Install.open(str(opp), "ascend910b", "ai", [str(renamed)])
    findings = [each for each in check_install(install) if each.rule.name == "broken-custom-path"]
    assert [each.path for each in findings] == [str(renamed)]


# precision modes


def test_modes_are_judged() -> None:
    def names(*modes: str, socs: tuple[str, ...] = ("ascend910b",), mixlist: bool = True) -> list[str]:
        return named(list(check_modes(list(modes), list(socs), ["mixlist"] if mixlist else [])))

    assert names("allow_mix_precision") == []
    assert names("mixed_bfloat16") == []
    assert names("allow_mixed_precision") == ["unknown-mode"]
    assert names("force_lowerprecision") == ["unknown-mode"]
    assert names("force_fp16") == ["mode-refuses-mixlist"]
    assert names("force_fp16", mixlist=False) == []
    assert names("mixed_bfloat16", socs=("ascend910",)) == ["mode-not-on-soc"]
    assert names("mixed_hif8") == ["mode-not-on-soc"]
    assert names("mixed_hif8", socs=("ascend950",)) == []
    assert names("allow_mix_precision", "mixed_float16") == ["both-modes"]
    assert names("allow_mix_precision", "cube_fp16in_fp32out", mixlist=False) == []
    assert names("mixed_bfloat16", socs=("ascend910b", "ascend910")) == ["mode-not-on-soc"]


@pytest.mark.parametrize("mode", ["mixed_bfloat16", "mixed_hif8"])
def test_names_of_the_950_and_960_have_its_modes_and_an_unknown_chip_is_a_warning(mode: str) -> None:
    socs = ("ascend910_95", "ascend910_96", "ascend950", "ascend960", "ascend970")
    (finding,) = check_modes([mode], socs, ["mixlist"])
    assert (finding.rule.name, finding.severity, finding.engine) == ("mode-not-on-soc", "warning", "accepts")
    assert "ascend970" in finding.message


def test_an_unknown_mode_gets_the_near_one() -> None:
    (finding,) = check_modes(["allow_mixed_precision"], [], ["mixlist"])
    assert "`allow_mix_precision`" in str(finding.hint)


# the vault


@pytest.fixture
def moved(opp: Path, tmp_path: Path) -> tuple[Vault, Path]:
    """A vault after one move in the fixture's built-in store."""
    vault = Vault(str(tmp_path / "vault"))
    path = built_in(opp) / "aic-ascend910b-ops-info-nn.json"
    name = next(iter(json.loads(path.read_text())))
    Writer(vault).run("move", [Job(str(path), LibraryPlan({name: _other(path, name)}))])
    return vault, path


def _other(path: Path, name: str) -> Policy:
    from opsinfo_cli.core.cann.library import Library

    return Policy.WHITE if Library.read(str(path)).entries[name].policy is Policy.BLACK else Policy.BLACK


def everywhere(_: str) -> bool:
    return True


def test_a_vault_in_order_has_no_findings(moved: tuple[Vault, Path]) -> None:
    assert [finding.rule.name for finding in check_vault(moved[0], everywhere)] == ["edited-here"]


def test_edits_that_an_upgrade_replaced_are_lost(moved: tuple[Vault, Path]) -> None:
    vault, path = moved
    original = vault.content(vault.history().entries[0])
    path.write_bytes(original + b"\n\n")
    (finding,) = check_vault(vault, everywhere)
    assert (finding.rule.name, finding.path) == ("edits-lost", str(path.resolve()))
    assert "reapply" in str(finding.hint)


def test_edits_elsewhere_are_not_reported(moved: tuple[Vault, Path]) -> None:
    vault, path = moved
    path.write_bytes(vault.content(vault.history().entries[0]) + b"\n\n")
    assert list(check_vault(vault, lambda _: False)) == []


def test_a_folder_left_writable_is_put_back_and_reported(moved: tuple[Vault, Path]) -> None:
    vault, path = moved
    (record,) = vault.history().records
    vault.save(replace(record, state="pending", folders=[Widened(str(path.parent), 0o550)]))
    path.parent.chmod(0o750)
    findings = [each for each in check_vault(vault, everywhere) if each.rule.name == "modes-left-open"]
    assert [each.path for each in findings] == [str(path.parent)]
    assert path.parent.stat().st_mode & 0o7777 == 0o550
    path.parent.chmod(0o755)


def test_a_change_killed_between_two_files_is_unfinished(moved: tuple[Vault, Path], tmp_path: Path) -> None:
    vault, path = moved
    text = path.read_bytes()
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('{"Add":{}}')
    jobs = [Job(str(tmp_path / name), LibraryPlan({"Add": Policy.BLACK})) for name in ("a.json", "b.json")]
    Writer(vault).run("apply", jobs)
    (tmp_path / "b.json").write_text('{"Add":{}}')
    record = vault.history().records[-1]
    vault.save(replace(record, state="pending"))
    findings = [each for each in check_vault(vault, everywhere) if each.rule.name == "unfinished-change"]
    assert [each.path for each in findings] == [str(tmp_path / "a.json")]
    assert record.id in findings[0].message
    assert path.read_bytes() == text


def test_backups_of_an_earlier_version_and_damage_are_reported(moved: tuple[Vault, Path]) -> None:
    vault, _ = moved
    Path(vault.path, "objects").mkdir()
    Path(vault.folder, "1", "record.json").write_text("{}")
    assert [each.rule.name for each in check_vault(vault, everywhere)] == ["damaged-backup", "older-vault"]
