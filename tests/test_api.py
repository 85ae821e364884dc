"""The package as a library: its page is run, its names are imported lazily, and the commands use the same functions."""

from __future__ import annotations

import doctest
import hashlib
import importlib
import inspect
import json
import pkgutil
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import opsinfo_cli
from opsinfo_cli import (
    Library,
    Mixlist,
    OpsinfoError,
    Policy,
    Store,
    Target,
    bisect_mixlist,
    diff,
    move,
    restore,
    simulate_model,
)
from opsinfo_cli.errors import UsageFault

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.md"
MODULES = [each.name for each in pkgutil.walk_packages([str(ROOT / "opsinfo_cli/core")], "opsinfo_cli.core.")]


def test_every_example_of_the_page_gives_its_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPSINFO_BACKUP_DIR", str(tmp_path / "vault"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path / "work")
    outcome = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert outcome.failed == 0
    assert outcome.attempted > 25


def test_the_example_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from generate import make_user_files  # type: ignore[import-not-found]

    make_user_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASCEND_OPP_PATH", "opp")
    (shown,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/guide.md").read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(shown, names)
    assert eval('mixlist.effective("SoftmaxV2", "gray")', names) is Policy.BLACK


def test_every_example_in_a_docstring_gives_its_result() -> None:
    outcomes = [doctest.testmod(import_module(name)) for name in MODULES]
    assert sum(outcome.failed for outcome in outcomes) == 0
    assert sum(outcome.attempted for outcome in outcomes) >= 4


@pytest.mark.parametrize("name", [name for name in opsinfo_cli.__all__ if name != "__version__"])
def test_a_public_name_is_there_explained_and_on_the_page(name: str) -> None:
    value = getattr(opsinfo_cli, name)
    assert value.__doc__
    assert f"`{name}`" in PAGE.read_text("utf-8")
    assert value.__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Libary"):
        opsinfo_cli.Libary  # noqa: B018


def test_importing_the_package_imports_its_version_alone() -> None:
    code = "import json, sys, opsinfo_cli; print(json.dumps([n for n in sys.modules if n.startswith('opsinfo_cli.')]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["opsinfo_cli.version"]


def test_the_commands_call_the_functions_of_the_package() -> None:
    commands = {
        "core": ("apply", "backups", "diff", "fmt", "merge", "move", "reapply", "restore", "snapshot", "validate"),
        "logs": ("qualify",),
        "systems": ("convert", "decide"),
    }
    # what both call with what they opened or checked
    inner = {
        "move": "move_operators",
        "validate": "check_and_fix",
    }
    for room, names in commands.items():
        for name in names:
            command = importlib.import_module(f"opsinfo_cli.{room}.commands.{name}")
            function = inspect.unwrap(getattr(opsinfo_cli, name))
            if name in inner:
                assert inner[name] in function.__code__.co_names
                assert getattr(command, inner[name]) is function.__globals__[inner[name]]
            else:
                assert getattr(command, name) is function


def test_diff_returns_the_result_of_the_command(fixtures: Path, tmp_path: Path, opsinfo: object) -> None:
    one, other = (fixtures / f"opp/built-in/op_impl/ai_core/tbe/config/{soc}" for soc in ("ascend910", "ascend910b"))
    found = diff(Target.open(str(one)), Store.read(str(other)))
    document = opsinfo("diff", one, other, "--format", "json").json  # type: ignore[operator]
    assert {each["name"]: (each["a"], each["b"]) for each in document["changed"]} == {
        name: (a.value, b.value) for name, (a, b) in found.changed.items()
    }
    assert document["only_in_b"] == found.only_in_b


def test_a_mixlist_is_compared_with_a_mixlist_only(fixtures: Path) -> None:
    mixlist = Mixlist.read(str(fixtures / "mixlists/good/several-operators.json"))
    library = Library.read(
        str(fixtures / "opp/built-in/op_impl/ai_core/tbe/config/ascend910/aic-ascend910-ops-info.json")
    )
    for a, b, more in ((mixlist, library, None), (library, mixlist, None), (mixlist, mixlist, mixlist)):
        with pytest.raises(UsageFault):
            diff(a, b, more)
    with pytest.raises(KeyError):
        library.operators["NoSuchOp"]


@pytest.fixture
def place(tmp_path: Path, fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A target; the working directory is empty, and the vault is not the user's."""
    monkeypatch.setenv("OPSINFO_BACKUP_DIR", str(tmp_path / "vault"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return f"{fixtures / 'opp'}@ascend910b"


def test_a_move_from_python_is_one_change_that_restore_undoes(place: str) -> None:
    assert move("m.json", "Mul", "black", against=place, create=True, dry_run=True).change is None
    assert not Path("m.json").exists()
    made = move("m.json", ["Mul", "Add"], Policy.BLACK, against=place, create=True)
    assert made.change
    before = Path("m.json").read_bytes()
    assert [each.name for file in move("m.json", "Mul", "gray", against=place).files for each in file.moved] == ["Mul"]
    assert restore("m.json", dry_run=True).files[0].content == before != Path("m.json").read_bytes()
    assert restore("m.json").files[0].sha256 == hashlib.sha256(before).hexdigest()
    assert Path("m.json").read_bytes() == before


def test_a_mark_that_changes_nothing_is_pinned_in_mixlists_only(place: str, fixtures: Path) -> None:
    black = {"MatMulV2": "black"}
    Path("m.json").write_text("{}", "utf-8")
    move("m.json", black, against=place)
    text = Path("m.json").read_text("utf-8")
    assert not move("m.json", {"Add": "gray"}, against=place).change
    assert move("m.json", {"Pow": "black"}, against=place, pin=True).change
    assert Path("m.json").read_text("utf-8") != text
    with pytest.raises(UsageFault, match="pin"):
        move(f"{shutil.copytree(fixtures / 'opp', 'opp')}@ascend910b", black, pin=True)


def test_a_move_from_python_takes_several_targets(place: str, fixtures: Path) -> None:
    """SwiGlu is in the A2 alone; a path is one target, not its letters."""
    against = [f"{fixtures / 'opp'}@ascend910", place]
    with pytest.warns(UserWarning, match="`SwiGlu` is not in .*@ascend910,"):
        move("m.json", ["SwiGlu", "SoftmaxV2"], "black", against=against, create=True)
    assert sorted(Mixlist.read("m.json").marks) == ["SoftmaxV2", "SwiGlu"]
    assert move("m.json", "SoftmaxV2", "black", against=place).stayed == ["SoftmaxV2"]


def test_a_move_from_python_is_refused_with_the_place_and_a_hint(place: str, fixtures: Path) -> None:
    snapshot = ROOT / "tests/sample-repository/snapshots/ascend910b.opsinfo.json"
    with pytest.raises(
        OpsinfoError, match=r"opsinfo\.json: a snapshot cannot be changed\nhint: change the target itself"
    ):
        move(str(snapshot), "Mul", "black")
    with pytest.raises(OpsinfoError, match="require a mixlist"):
        move(place, "Mul", "black", against=place)
    with pytest.raises(KeyError, match="did you mean `Mul`"):
        move("m.json", "mul", "black", against=place, create=True)
    with pytest.raises(OpsinfoError, match=r"^nothing-here\.json: no such file or directory\nhint: "):
        move("nothing-here.json", "Mul", "black")


def test_a_search_from_python_takes_a_command_or_a_function_and_resumes(place: str) -> None:
    def has_mul(path: str) -> bool:
        return "Mul" in Path(path).read_text("utf-8")

    for check, folder in ((has_mul, "one"), (["grep", "-q", "Mul", "{mixlist}"], "two")):
        stopped = bisect_mixlist(check, place, among=["Add", "Mul"], journal=folder, budget=1)
        assert (stopped.end.ended, len(stopped.culprits), stopped.end.minimal) == ("budget", 2, False)
        with pytest.raises(OpsinfoError, match="there is a search in this folder already"):
            bisect_mixlist(check, place, among=["Add", "Mul"], journal=folder)
        found = bisect_mixlist(check, place, among=["Add", "Mul"], journal=folder, resume=True)
        assert [culprit.type for culprit in found.culprits] == ["Mul"]
        assert list(Mixlist.read(str(found.mixlist)).marks) == ["Mul"]
    with pytest.raises(OpsinfoError, match="the journal belongs to another search"):
        bisect_mixlist(["true", "{mixlist}"], place, among=["Add", "Mul"], journal="two", resume=True)


def test_doubts_of_a_search_are_python_warnings(place: str) -> None:
    with pytest.raises(UsageFault, match="the check does not read the list"):
        bisect_mixlist(["true"], place, among=["Mul"])
    with pytest.warns(UserWarning, match="`Conv2D` is on the white list already"):
        bisect_mixlist(lambda _: True, place, among=["Conv2D"], grow=True, journal="white")


def test_a_simulation_from_python_takes_arrays_and_leaves_parts_out(place: str) -> None:
    onnx, numpy = pytest.importorskip("onnx"), pytest.importorskip("numpy")
    text = (
        '<ir_version: 8, opset_import: ["": 17]> net (float[1,2] x, float[2,2] w) => (float[1,2] y) {y = MatMul(x, w)}'
    )
    onnx.save(onnx.parser.parse_model(text), "m.onnx")
    arrays = {"x": numpy.float32([[1, 2]]), "w": numpy.float32([[1, 0], [0, 1]])}
    report = simulate_model("m.onnx", place, inputs=[arrays, "random:3"], traced=False, ranked=False)
    assert (report.passes, report.trace, report.types) == (None, None, [])
    assert simulate_model("m.onnx", place, inputs=[arrays], max_error=0).passes
    with pytest.raises(OpsinfoError, match=r"missing inputs: w"):
        simulate_model("m.onnx", place, inputs=[{"x": arrays["x"]}])
