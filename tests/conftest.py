"""Shared by all tests. No test may reach the real home, the real vault or the caller's Ascend environment."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from case_ids import case_id
from corpus_place import CORPUS
from hypothesis import HealthCheck, settings
from memory_disk import use_memory_disk
from program_run import Runner, runner
from skips import IN_CI, is_expected

from opsinfo_cli.core.cann import install

ROOT = Path(__file__).resolve().parent.parent

use_memory_disk()

for _number, _handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGTERM, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:  # as in a job in the background, and the processes of tests with it
        signal.signal(_number, _handler)

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    max_examples=100,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("explore", settings.get_profile("steady"), derandomize=False, max_examples=1000)
settings.load_profile("steady")  # --hypothesis-profile=explore is loaded later, and each run has another seed


def new_folder(factory: pytest.TempPathFactory, prefix: str) -> Path:
    """An empty folder of this session. ``factory.mktemp`` lists all folders made before to number the next one, which
    takes milliseconds after some thousand tests.
    """
    return Path(tempfile.mkdtemp(prefix=prefix, dir=factory.getbasetemp()))


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_folder(tmp_path_factory, re.sub(r"\W", "_", request.node.name)[:30])


@pytest.fixture(scope="session")
def empty_homes() -> list[Path]:
    """Homes that a test left empty, for the next one: most do, and making and removing a folder takes a millisecond."""
    return []


@pytest.fixture(autouse=True)
def isolation(
    tmp_path_factory: pytest.TempPathFactory, empty_homes: list[Path], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A separate home and vault for the test, beside ``tmp_path``, and a clean environment."""
    home = empty_homes.pop() if empty_homes else new_folder(tmp_path_factory, "home")
    for name in list(os.environ):
        if name.startswith(("ASCEND_", "GITHUB_", "OPSINFO_", "CI_", "GIT_")) or name in (
            "NO_COLOR",
            "FORCE_COLOR",
            "COLUMNS",
            "LINES",
            "PYTEST_ADDOPTS",
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPSINFO_LANG", "en")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(install, "FOR_ALL_USERS", str(home / "absent"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("OPSINFO_BACKUP_DIR", str(home / "vault"))
    yield home
    if os.access(home, os.R_OK | os.W_OK | os.X_OK) and not os.listdir(home):
        empty_homes.append(home)
        return
    for folder, _, _ in os.walk(home):
        os.chmod(folder, 0o700)


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture
def quick_starts(isolation: Path, bytecode: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shared byte code for hundreds of processes, outside the tree."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(bytecode))


@pytest.fixture
def fixtures() -> Path:
    """The repository's own example files; never written to."""
    return ROOT / "fixtures"


@pytest.fixture
def opp(tmp_path: Path, fixtures: Path) -> Path:
    """A writable copy of ``fixtures/opp``."""
    return Path(shutil.copytree(fixtures / "opp", tmp_path / "opp"))


@pytest.fixture
def lock_owner_is_shown() -> Callable[[Path], bool]:
    """Whether the system shows the owner of a file's lock; an overlay file system shows another device."""

    def is_shown(path: Path) -> bool:
        here, locks = path.stat(), Path("/proc/locks")
        named = f" {os.major(here.st_dev):02x}:{os.minor(here.st_dev):02x}:{here.st_ino} "
        return locks.exists() and named in locks.read_text()

    return is_shown


@pytest.fixture
def corpus() -> Path:
    """Real files, kept beside the checkout or at ``$OPSINFO_CORPUS``; they are not part of the repository."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real files is missing (set OPSINFO_CORPUS to its folder)")
    return CORPUS


@pytest.fixture
def report_schemas(corpus: Path) -> Path:
    folder = corpus / "report-schemas"
    if not folder.is_dir():
        pytest.skip("this corpus holds no schemas of report formats")
    return folder


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    return case_id(val, argname)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out heavy tests if all tests are run, without ``-m``."""
    if config.option.markexpr or [Path(each).resolve() for each in config.args] != [ROOT / "tests"]:
        return
    heavy = [item for item in items if item.get_closest_marker("heavy")]
    config.hook.pytest_deselected(items=heavy)
    items[:] = [item for item in items if not item.get_closest_marker("heavy")]


def refuse_unexpected_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure where CI=true, unless ``skips.py`` names its reason."""
    if not (IN_CI and report.skipped) or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not is_expected(reason):
        report.outcome = "failed"
        report.longrepr = f"{reason}: no skip where CI=true, unless tests/skips.py names this reason"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    outcome: Any = yield
    refuse_unexpected_skip(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    outcome: Any = yield
    refuse_unexpected_skip(outcome.get_result())


def pytest_collection_finish() -> None:
    """Run the garbage collector rarely, and not over the collected tests: it took a tenth of the workers' time."""
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture
def opsinfo(request: pytest.FixtureRequest, isolation: Path, tmp_path: Path) -> Runner:
    """Run the program: ``opsinfo("list", path, cwd=..., env={...}, input="...")``; see ``program_run.runner``.

    It runs inside the test's process, or, if the test is marked with ``process``, as a separate process.
    """
    return runner(tmp_path, in_process=request.node.get_closest_marker("process") is None)


@pytest.fixture
def opsinfo_process(isolation: Path, tmp_path: Path) -> Runner:
    """As ``opsinfo``, but always as a separate process."""
    return runner(tmp_path, in_process=False)
