"""A wrong kind or value of any argument of the Python API ends in an OpsinfoError, never in what fails on it later."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import opsinfo_cli
from opsinfo_cli import Install, Library, Mixlist, OpsinfoError, Profile, Store, Target
from opsinfo_cli.errors import UsageFault

ROOT = Path(__file__).resolve().parent.parent
CONFIG = "fixtures/opp/built-in/op_impl/ai_core/tbe/config"
LIBRARY = f"{CONFIG}/ascend910/aic-ascend910-ops-info.json"
TARGET = "fixtures/opp@ascend910b"
MIXLIST = "fixtures/mixlists/good/several-operators.json"
MODEL = "fixtures/model.onnx"

WRONG = (0, -1, 1.5, math.nan, True, "x", "a\0b", "", b"x", None, [], [1], {}, {"a": 1}, "fixtures/logs", "\ud800")

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Target.open": (Target.open, {"target": TARGET, "soc": None, "core": "ai", "kind": None}),
    "Target.describe": (lambda **given: Target.open(TARGET).describe(**given), {"ops": "MatMulV2", "mixlist": None}),
    "Target.to_dict": (lambda **given: Target.open(TARGET).to_dict(**given), {"mixlist": None}),
    "Store.read": (Store.read, {"directory": f"{CONFIG}/ascend910", "label": None, "tree": None}),
    "Install.open": (Install.open, {"root": "fixtures/opp", "soc": "ascend910b", "core": "ai", "customs": None}),
    "Library.read": (Library.read, {"path": LIBRARY}),
    "Mixlist.read": (Mixlist.read, {"path": MIXLIST}),
    "Mixlist.of": (Mixlist.of, {"lists": {"black-list": {"to-add": ["Log"]}}}),
    "Operators.require": (lambda **given: Target.open(TARGET).operators.require(**given), {"names": ["Log"]}),
    "Profile.read": (lambda **given: Profile.read("fixtures/profiles/op_summary.csv", **given), {"device": ""}),
    "validate": (
        lambda **given: opsinfo_cli.validate(MIXLIST, **given),
        {"against": TARGET, "modes": "mixed_float16", "severity": "note", "select": (), "baseline": None},
    ),
    "diff": (opsinfo_cli.diff, {"a": TARGET, "b": "fixtures/opp@ascend910", "mixlist_a": None, "named": None}),
    "fmt": (opsinfo_cli.fmt, {"mixlists": MIXLIST, "output": "new.json", "dry_run": True}),
    "move": (
        opsinfo_cli.move,
        {"target": "new.json", "ops": "Log", "to": "black", "match": (), "against": TARGET, "create": True}
        | {"store": None, "dry_run": True, "wait": 1, "backup_dir": None, "reason": None},
    ),
    "apply": (opsinfo_cli.apply, {"target": TARGET, "mixlist": MIXLIST, "output": None, "dry_run": True}),
    "backups": (opsinfo_cli.backups, {"target": None, "prune": None}),
    "restore": (opsinfo_cli.restore, {"target": LIBRARY, "to": None, "only": False}),
    "reapply": (opsinfo_cli.reapply, {"what": None}),
    "snapshot": (opsinfo_cli.snapshot, {"target": TARGET}),
    "merge": (opsinfo_cli.merge, {"mixlists": [MIXLIST], "against": TARGET, "minimize": True, "models": ()}),
    "qualify": (
        opsinfo_cli.qualify,
        {"logs": "fixtures/logs/apex-two-ranks.log", "metric": None, "reference": (), "against": None}
        | {"steps": None, "ranks": None, "amp": None, "loss_scale": None, "spread": 0.01},
    ),
    "convert": (opsinfo_cli.convert, {"source": "apex:O1", "to": "mixlist", "files": None, "against": TARGET}),
    "decide": (opsinfo_cli.decide, {"system": "apex:O1", "calls": "softmax", "low": None, "against": None}),
    "read_system": (opsinfo_cli.read_system, {"text": "apex:O1"}),
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPSINFO_BACKUP_DIR", str(tmp_path / "vault"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_an_error_of_opsinfo(name: str) -> None:
    function, arguments = CALLS[name]
    for each in arguments:
        for value in WRONG:
            try:
                function(**{**arguments, each: value})
            except OpsinfoError:
                continue


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_argument_of_a_function_on_models_is_an_error_of_opsinfo() -> None:
    pytest.importorskip("onnxruntime", reason="models need onnx and onnxruntime")
    arguments = {"model": MODEL, "against": TARGET, "mode": "mixed_float16", "inputs": (), "shapes": None}
    for name in arguments:
        for value in WRONG:
            if (name, value) in (("inputs", []), ("inputs", {}), ("shapes", {}), ("shapes", None), ("against", None)):
                continue  # as without it
            with pytest.raises(OpsinfoError):
                opsinfo_cli.simulate_model(**{**arguments, name: value})  # type: ignore[arg-type]
            if name == "inputs":
                continue
            given = {"check": lambda path: True, "model": MODEL, "against": TARGET, "mode": "mixed_float16"}
            if name in given:
                with pytest.raises(OpsinfoError):
                    opsinfo_cli.bisect_mixlist(**{**given, name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("validate", (MIXLIST, {"severity": "warn"}), "`severity` of validate cannot be 'warn'"),
        ("move", ("new.json", {"wait": math.nan}), "`wait` of move cannot be nan"),
        ("qualify", ("fixtures/logs/apex-two-ranks.log", {"ranks": True}), "`ranks` of qualify cannot be True"),
        ("qualify", ("fixtures/logs/apex-two-ranks.log", {"ranks": 0}), "ranks must be a whole number above 0, not 0"),
        ("fmt", ("a\0b", {}), r"`mixlists` of fmt cannot be 'a\\x00b'"),
        ("merge", ([MIXLIST, 3], {}), "`mixlists` of merge cannot be of type list"),
    ],
)
def test_the_error_names_function_argument_and_value(function: str, arguments: Any, message: str) -> None:
    with pytest.raises(UsageFault, match=message):
        getattr(opsinfo_cli, function)(arguments[0], **arguments[1])


def test_an_unknown_argument_is_a_type_error_of_the_signature() -> None:
    for function in (opsinfo_cli.merge, opsinfo_cli.validate):
        with pytest.raises(TypeError, match="nothing"):
            function(MIXLIST, nothing=1)  # type: ignore[call-arg]


def test_what_is_no_store_or_install_is_refused_when_it_is_opened() -> None:
    with pytest.raises(UsageFault, match="the directory has no library"):
        Store.read("fixtures/logs")
    with pytest.raises(UsageFault, match="not an operator package"):
        Install.open("fixtures/logs")


def test_paths_of_bytes_that_are_not_utf_8_are_paths(tmp_path: Path) -> None:
    name = os.fsdecode(b"mix\xff.json")
    shutil.copyfile(MIXLIST, name)
    assert Mixlist.read(name).marks == Mixlist.read(MIXLIST).marks


def test_a_removed_current_folder_is_an_opsinfo_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    calls: tuple[Callable[[], Any], ...] = (
        lambda: opsinfo_cli.validate("ops_info.json"),
        lambda: opsinfo_cli.validate(ROOT / MIXLIST),
        lambda: opsinfo_cli.validate(ROOT / MIXLIST, base="HEAD"),
        lambda: Store.read("config"),
        lambda: Install.open("opp"),
        lambda: opsinfo_cli.move("ops_info.json", "Log", "black"),
        lambda: opsinfo_cli.diff("a.json", "b.json"),
    )
    for call in calls:
        monkeypatch.chdir(tmp_path / "gone")
        shutil.rmtree(tmp_path / "gone", ignore_errors=True)
        try:
            with pytest.raises(OpsinfoError):
                call()
        finally:
            monkeypatch.undo()
            (tmp_path / "gone").mkdir()
