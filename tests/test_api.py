"""The package as a library: its page is run, its names are imported lazily, and the commands use the same functions."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import opsinfo_cli
from opsinfo_cli import Library, Mixlist, Store, Target, diff

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.md"
MODULES = [
    each.name
    for wing in ("text", "model", "change", "check")
    for each in pkgutil.walk_packages([str(ROOT / "opsinfo_cli" / wing)], f"opsinfo_cli.{wing}.")
] + ["opsinfo_cli.compare"]


def test_every_example_of_the_page_gives_its_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPSINFO_BACKUP_DIR", str(tmp_path / "vault"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path / "work")
    outcome = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert outcome.failed == 0
    assert outcome.attempted > 25


def test_the_example_of_the_guide_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (shown,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/guide.md").read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(shown, names)
    assert names["diff"] is diff


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


def test_importing_the_package_imports_nothing_of_it() -> None:
    code = "import json, sys, opsinfo_cli; print(json.dumps([n for n in sys.modules if n.startswith('opsinfo_cli.')]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_the_commands_call_the_functions_of_the_package() -> None:
    for name in ("diff", "validate"):
        command = importlib.import_module(f"opsinfo_cli.cli.commands.{name}")
        assert getattr(command, name) is getattr(opsinfo_cli, name)


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
        with pytest.raises(TypeError):
            diff(a, b, more)  # type: ignore[call-overload]
    with pytest.raises(KeyError):
        library.operators["NoSuchOp"]
