"""Names of chips: the table, an install's own ini files before it, and the script that writes the table."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from raising import raised

from opsinfo_cli.core.cann.chips import (
    chip_folder,
    chips_in,
    folder_of,
    known_folders,
    meant_chip,
    note_of,
    peoples_names,
    suggest,
)
from opsinfo_cli.core.cann.install import Install, chips_at
from opsinfo_cli.core.cann.precision_mode import MODES, knows_modes_of
from opsinfo_cli.errors import UsageFault

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("Ascend910_9362", "ascend910_93"),
        ("Ascend910_9363", "ascend910_93"),
        ("Ascend310B4", "ascend310b"),
        ("Ascend310B2", "ascend310b"),
        ("Ascend310B3", "ascend310b"),
        ("Ascend310P5", "ascend310p"),
        ("Ascend310P7", "ascend310p"),
        ("Ascend310P3Vir04", "ascend310p"),
        ("Ascend910_95", "ascend910_95"),
        ("Ascend950PR_9599", "ascend950"),
        ("Ascend950DT_9582", "ascend950"),
        ("ascend950pr_958a", "ascend950"),
        ("Ascend350_355e", "ascend350"),
        ("AS31XM1X", "as31xm1"),
        ("MC62CM12AA", "mc62"),
        ("KirinX90", "kirinx90"),
        ("Ascend910B4-1", "ascend910b"),
        # as npu-smi prints them
        ("310P3", "ascend310p"),
        ("310B4", "ascend310b"),
        ("910B3", "ascend910b"),
        ("910B4-1", "ascend910b"),
        ("910_9362", "ascend910_93"),
        ("910ProB", "ascend910"),
        ("950PR_9599", "ascend950"),
        # folders, and the two chips that differ by a capital
        ("910_95", "ascend910_95"),
        ("910b", "ascend910b"),
        ("910B", "ascend910"),
        ("Ascend910B", "ascend910"),
        ("ascend910b", "ascend910b"),
        ("Ascend310P", "ascend310p"),
        # no chips
        ("Ascend910_9361", None),
        ("Ascend910B5", None),
        ("9362", None),
        ("B3", None),
        ("ascend", None),
        ("", None),
    ],
)
def test_the_folder_of_a_chip(name: str, folder: str | None) -> None:
    assert chip_folder(name) == folder


def test_every_chip_of_the_table_is_found_with_and_without_ascend_in_any_case() -> None:
    for folder, facts in known_folders().items():
        assert chip_folder(folder) == folder
        for chip in facts.chips:
            short = chip.removeprefix("Ascend")
            assert {chip_folder(chip), chip_folder(chip.upper()), chip_folder(short)} == {folder}, chip


@pytest.mark.parametrize(
    ("name", "folders", "folder"),
    [
        ("910_95", ["ascend910_95", "ascend950"], "ascend910_95"),
        ("910_95", ["ascend950"], "ascend950"),
        ("Ascend950PR_9599", ["ascend910_95"], "ascend910_95"),
        ("Ascend910B3", ["ascend910"], None),
        ("ascend999", ["ascend999"], "ascend999"),
        ("Ascend999", ["ascend999"], "ascend999"),
        ("999", ["ascend999"], "ascend999"),
    ],
)
def test_the_folder_among_those_of_an_install(name: str, folders: list[str], folder: str | None) -> None:
    assert folder_of(name, folders) == folder


MEANT = {
    # what people type: what the hint says in an install of the 910, the A2 and the A3
    "910C": "did you mean `ascend910_93` (Ascend910C)?",
    "Ascend910C": "did you mean `ascend910_93` (Ascend910C)?",
    "ascend_910c": "did you mean `ascend910_93` (Ascend910C)?",
    "A3": "did you mean `ascend910_93` (Atlas A3)?",
    "atlas a3": "did you mean `ascend910_93` (Atlas A3)?",
    "A2": "did you mean `ascend910b` (Atlas A2)?",
    "Atlas 800I A2": "did you mean `ascend910b` (Atlas 800I A2)?",
    "Atlas800": "did you mean `ascend910b` (Atlas 800T A2, Atlas 800I A2) or `ascend910_93` (Atlas 800T A3, "
    "Atlas 800I A3)?",
    "Atlas 200": "did you mean `ascend910b` (Atlas 200T A2 Box16) or `ascend310b` (Atlas 200I A2)?",
    "Atlas 350 加速卡": "that is `ascend950` (Atlas 350); it has ascend910, ascend910b, ascend910_93",
    "950DT": "that is `ascend950` (Ascend950DT); it has ascend910, ascend910b, ascend910_93",
    "A": None,
    "xeon": None,
}


@pytest.mark.parametrize("typed", MEANT)
def test_the_names_of_people_are_hints(typed: str) -> None:
    assert meant_chip(typed, ["ascend910", "ascend910b", "ascend910_93"]) == MEANT[typed]


def test_a_folder_under_its_earlier_name_is_there() -> None:
    assert meant_chip("Atlas 350", ["ascend910_95"]) == "did you mean `ascend950` (Atlas 350)?"


def test_every_name_of_people_has_a_source_and_a_folder_of_the_table() -> None:
    for name, folder, source in peoples_names():
        assert folder in known_folders()
        assert re.search(r"\S+ at [0-9a-f]{8}: \S+:\d+|hiascend\.com, \S+", source), name
        assert chip_folder(name) is None, "a command takes it"


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("Ascend910_9361", ["Ascend910_9362", "Ascend910_9363", "Ascend910_9381"]),
        ("910_9361", ["Ascend910_9362", "Ascend910_9363", "Ascend910_9381"]),
        ("Ascend310B5", ["ascend310b"]),
        ("ascend91ob", ["ascend910b"]),
        ("Ascend950PR_9598", ["Ascend950PR_9589", "Ascend950PR_9579", "Ascend950PR_958a"]),
        ("xeon", []),
    ],
)
def test_a_chip_that_does_not_exist_gets_near_names(typed: str, near: list[str]) -> None:
    assert suggest(typed, known_folders()) == near


@pytest.mark.parametrize(("name", "notes"), [("Ascend910B", 1), ("910B", 1), ("ascend910", 0), ("Ascend910ProB", 0)])
def test_the_old_910b_is_said(name: str, notes: int) -> None:
    assert len(note_of(name, chip_folder(name))) == notes


def with_ini(root: Path, chip: str, short: str, folder: str = "x86_64-linux/data") -> None:
    ini = root / folder / "platform_config" / f"{chip}.ini"
    ini.parent.mkdir(parents=True, exist_ok=True)
    ini.write_text(f"[version]\nSoC_version={chip}\nShort_SoC_version={short}\n", "utf-8")


@pytest.mark.parametrize("folder", ["aarch64-linux/data", "compiler/data", "data", "opp/data"])
def test_the_ini_files_of_an_install_come_before_the_table(folder: str, tmp_path: Path) -> None:
    """A chip that the table does not have, and one that it has in another folder."""
    shutil.copytree(FIXTURES / "opp", tmp_path / "opp")
    with_ini(tmp_path, "Ascend910B7", "Ascend910B", folder)
    with_ini(tmp_path, "Ascend310P3", "Ascend910", folder)
    root = str(tmp_path / "opp")
    assert Install.open(root, "Ascend910B7").soc == Install.open(root, "910B7").soc == "ascend910b"
    assert Install.open(root, "310P3").soc == "ascend910"
    assert Install.open(root, "Ascend910B3").soc == "ascend910b"  # by the table: these files do not have it
    assert chips_in("ascend910b", chips_at(root)) == ["Ascend910B7"]


def test_ini_files_that_cannot_be_read_or_say_nothing_are_passed_over(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "opp", tmp_path / "opp")
    with_ini(tmp_path, "Ascend910B7", "")
    (tmp_path / "x86_64-linux/data/platform_config/Ascend910B8.ini").mkdir()
    (tmp_path / "x86_64-linux/data/platform_config/Ascend910B9.ini").symlink_to("nowhere")
    assert chips_at(str(tmp_path / "opp")) == {}


def test_a_chip_that_an_install_lacks_is_named_by_its_folder() -> None:
    error = raised(UsageFault, Install.open, str(FIXTURES / "opp"), "310P3")
    assert (error.message, error.hint) == ("`ascend310p` is none of its chips", "it has ascend910, ascend910b")
    error = raised(UsageFault, Install.open, str(FIXTURES / "opp"), "Ascend910B5")
    assert (error.message, error.hint) == ("unknown chip `Ascend910B5`", "did you mean `ascend910b`?")


@pytest.mark.parametrize(
    ("folder", "bf16"),
    [
        ("ascend910b", True),
        ("ascend610lite", True),
        ("ascend910_95", True),
        ("ascend960", True),
        ("ascend310p", False),
        ("ascend035", False),
        ("mc62", False),
    ],
)
def test_a_bfloat16_mode_is_on_chips_that_convert_to_it(folder: str, bf16: bool) -> None:
    assert MODES["mixed_bfloat16"].is_on(folder) is bf16
    assert knows_modes_of(folder) is (folder != "mc62")  # no ini file of it is known


def script() -> Any:
    sys.path.append(str(ROOT))
    return pytest.importorskip("tools.chips", reason="the script is in the repository, not in the source distribution")


def repository(folder: Path, files: dict[str, str]) -> str:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    author = ["-c", "user.name=x", "-c", "user.email=x@y"]
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return f"{folder}@HEAD"


def ini(chip: str, short: str, vconv: str = "f322f16", mmad: str = "f16f16f16") -> str:
    return (
        f"[version]\nSoC_version={chip}\nShort_SoC_version={short}\n[AICoreintrinsicDtypeMap]\n"
        f"24=Intrinsic_vconv|f322f32r,{vconv}\n25=Intrinsic_mmad|u32u8u8,{mmad}\n"
    )


def test_the_script_takes_chips_of_ini_files_and_of_scripts_only_what_these_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chips = script()
    toolkit = repository(
        tmp_path / "toolkit",
        {
            f"{chips.TOOLKIT[0]}/Ascend910_9362.ini": ini("Ascend910_9362", "Ascend910_93", "f322bf16r", "h322f32"),
            f"{chips.TOOLKIT[0]}/Ascend310P3.ini": ini("Ascend310P3", "Ascend310P"),
        },
    )
    runtime = repository(
        tmp_path / "runtime",
        {
            f"{chips.RUNTIME[0]}/Ascend310P3.ini": ini("Ascend310P3", "Ascend310P"),
            f"{chips.RUNTIME[1]}/Ascend950PR_9599.ini": ini("Ascend950PR_9599", "Ascend950", "f322bf16z"),
        },
    )
    names = {
        "ascend910_9361": "ascend910_93",
        "ascend310p3vir01": "ascend310p",
        "ascend950pr_958a": "ascend950",
        "mc62cm12aa": "mc62",
    }
    operators = repository(
        tmp_path / "operators",
        {
            chips.SCRIPT: f"SOC_TO_SHORT_SOC_MAP = {json.dumps(names, indent=4)}\nOTHER = {{\n}}\n",
            chips.BUILD: 'set(ASCEND_ALL_COMPUTE_UNIT\n    "ascend630;ascend950"\n    CACHE STRING "all")\n',
        },
    )
    table = tmp_path / "chips.json"
    monkeypatch.setattr(chips, "TABLE", table)
    words = [f"--toolkit=a/b={toolkit}", f"--runtime=a/b={runtime}", f"--operators=a/b={operators}"]
    monkeypatch.setattr(sys, "argv", ["chips", *words, "--check"])
    assert (chips.main(), table.exists()) == (1, False)
    monkeypatch.setattr(sys, "argv", ["chips", *words])
    assert chips.main() == 0
    assert json.loads(table.read_text("utf-8"))["folders"] == {
        "ascend310p": {"bf16": False, "hf32": False, "chips": ["Ascend310P3", "Ascend310P3Vir01"]},
        "ascend630": {"bf16": None, "hf32": None, "chips": []},
        "ascend910_93": {"bf16": True, "hf32": True, "chips": ["Ascend910_9362"]},
        "ascend950": {"bf16": True, "hf32": False, "chips": ["Ascend950PR_958a", "Ascend950PR_9599"]},
        "mc62": {"bf16": None, "hf32": None, "chips": ["mc62cm12aa"]},
    }
    monkeypatch.setattr(sys, "argv", ["chips", *words, "--check"])
    assert chips.main() == 0
    assert "nothing changed" in capsys.readouterr().out


def test_the_table_has_the_layout_that_the_script_writes() -> None:
    path = ROOT / "opsinfo_cli/core/cann/data/chips.json"
    content = json.loads(path.read_text("utf-8"))
    assert script().dumped(content["sources"], content["folders"]) == path.read_text("utf-8")
