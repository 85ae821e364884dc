"""Shared by the tests of faults: small libraries, scenes with what may be true after them, processes of a user."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pkgutil
import re
import signal
import stat
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import opsinfo_cli
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.plan import Job, LibraryPlan, Result
from opsinfo_cli.core.change.restore import restore_last
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer
from opsinfo_cli.errors import NotConfirmed, OpsinfoError

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("OPSINFO_CORPUS") or ROOT.parent / "shared" / "corpus")
USER = 65534
TEMP = re.compile(r"\.opsinfo-[0-9]+-[0-9a-f]+\.tmp")
CONFIG = "opp/built-in/op_impl/ai_core/tbe/config/ascend910b"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount, give files away or become another user")


def library_text(**flags: str | None) -> str:
    """A library in the vendor's form: ``library_text(Add="true", Log=None)``."""
    content: dict[str, Any] = {}
    for name, flag in flags.items():
        tensor = {"dtype": "float16,float32", "format": "ND,ND", "name": "x", "paramType": "required"}
        content[name] = {"input0": tensor, "output0": {**tensor, "name": "y"}}
        if flag is not None:
            content[name]["precision_reduce"] = {"flag": flag}
    return json.dumps(content, indent=4).replace('": ', '":') + "\n"


TEXT = library_text(Add="true", Log=None, Mul="true")
NEW = library_text(Add="false", Log=None, Mul="true")
assert TEXT.replace("true", "false", 1) == NEW


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def everywhere(_: str) -> bool:
    return True


def writer_on(place: Path, **options: Any) -> Writer:
    """Return a writer with a vault, which does not wait for locks."""
    return Writer(Vault(str(place)), **{"wait": 0, **options})


def is_over(vault: Vault) -> bool:
    """Whether no change is pending."""
    return "pending" not in {record.state for record in vault.history().records}


def jobs(paths: Iterable[Path], to: Policy = Policy.BLACK, op: str = "Add") -> list[Job]:
    return [Job(str(path), LibraryPlan({op: to})) for path in paths]


def lay(folder: Path, count: int, text: str = TEXT) -> list[Path]:
    """Create several libraries in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"aic-ascend910b-ops-info-{letter}.json" for letter in "abcdefgh"[:count]]
    for number, path in enumerate(paths):
        # an op type that all files have is shadowed in all but one, so each file also has its own
        path.write_text(text.replace('"Mul"', f'"Mul{number}"'))
    return paths


# a run, and the allowed states after it

Content = bytes | None
"""The content of a file; None for no file."""


@dataclass
class Scene:
    """Files, the vault, and one action on them.

    :param wanted: the content of each file after the action
    :param detour: another change, to check that work can continue
    """

    files: list[Path]
    place: Path
    before: list[Content]
    wanted: list[Content]
    act: Callable[[Writer], Any]
    detour: Callable[[Writer], Any] | None = None

    def writer(self) -> Writer:
        return writer_on(self.place)

    def run(self) -> str:
        """The outcome: ``done``, ``partly`` if files were refused, ``not confirmed``, a refusal's name, or a crash."""
        try:
            result = self.act(self.writer())
            if isinstance(result, Result) and result.refused:
                return "partly"
        except NotConfirmed:
            return "not confirmed"
        except OpsinfoError as error:
            return error.name
        except OSError as error:
            return f"crashed with {error!r}"
        return "done"

    def contents(self) -> list[Content]:
        return [path.read_bytes() if path.exists() else None for path in self.files]

    def state(self) -> str:
        """``new`` or ``old`` if all files are, ``mixed`` if each is one of the two."""
        now = self.contents()
        if now == self.wanted:
            return "new"
        if now == self.before:
            return "old"
        whole = all(each in pair for each, *pair in zip(now, self.before, self.wanted, strict=True))
        return "mixed" if whole else "torn"

    def temps(self) -> list[str]:
        """Return the other files in the folders of the files."""
        folders = {path.parent for path in self.files}
        return sorted(each.name for folder in folders for each in folder.iterdir() if each not in self.files)

    def vault_temps(self) -> list[str]:
        return sorted(path.name for path in self.place.rglob(".*"))

    def damaged_backups(self) -> list[str]:
        """Backups that do not match their record; read here, because root does not read the vault of another user."""
        found = []
        for record in self.place.glob("*/[0-9]*/record.json"):
            for file in json.loads(record.read_bytes())["files"]:
                if file["backup"] and sha256((record.parent / file["backup"]).read_bytes()) != file["before"]:
                    found.append(str(record))
        return found

    def missing_backups(self) -> list[str]:
        """Overwritten contents without a backup."""
        pairs = zip(self.contents(), self.before, strict=True)
        lost = {sha256(old) for now, old in pairs if old is not None and now != old}
        kept = {sha256(path.read_bytes()) for path in self.place.glob("*/*/[0-9]*-*")}
        return sorted(lost - kept)


def disk_state(top: Path) -> frozenset[tuple[str, int, bytes]]:
    """All that a run can find below a folder: names without what is random in them, modes, contents."""
    found = set()
    for folder, folders, names in os.walk(top):
        for path in (f"{folder}/{name}" for name in [*folders, *names]):
            mode = os.lstat(path).st_mode
            found.add((TEMP.sub("TEMP", path), mode, Path(path).read_bytes() if stat.S_ISREG(mode) else b""))
    return frozenset(found)


def complaints(scene: Scene, answer: str, leftovers: int) -> Iterator[str]:
    """Check the invariants after any fault.

    :param leftovers: how many temps are allowed
    """
    state = scene.state()
    outcome = f"the answer is {answer!r}, the files are {state}"
    if state == "torn" or answer.startswith("crashed"):
        yield outcome
    elif answer in ("done", "not confirmed"):
        if state != "new":
            yield outcome
    elif answer not in ("unfinished-change", "killed", "partly") and state != "old":
        yield outcome
    if scene.damaged_backups():
        yield "the content of a backup does not match its name"
    if scene.missing_backups():
        yield "an overwritten content has no backup"
    temps = scene.temps()
    if not all(map(TEMP.fullmatch, temps)):
        yield f"unexpected files: {temps}"
    if len(temps) + len(scene.vault_temps()) > leftovers:
        yield f"left behind: {temps + scene.vault_temps()}"


def complaints_of_the_next_run(scene: Scene) -> Iterator[str]:
    """Check that the next run of a healthy system succeeds, cleans up, and can be followed by another change.

    A restore that stopped between two files may first be completed or reversed by a separate run.
    """
    stopped_between = scene.state() == "mixed"
    answer = scene.run()
    if stopped_between and answer == "done" and scene.state() == "old":
        answer = scene.run()
    if answer == "unfinished-change":
        restore_last(scene.writer(), everywhere)
        if scene.state() != "old":
            yield f"after restore of the unfinished change, the files are {scene.state()}"
        answer = scene.run()
    if answer not in ("done", "nothing-to-restore") or scene.state() != "new":
        yield f"the next run ends with {answer!r}, the files are {scene.state()}"
    if scene.detour:
        yield from _complaints_of_a_detour(scene, scene.detour)
    if scene.temps():
        yield f"still there after the next run: {scene.temps()}"
    if scene.damaged_backups():
        yield "a backup is damaged after the next run"


def _complaints_of_a_detour(scene: Scene, detour: Callable[[Writer], Any]) -> Iterator[str]:
    now, writer = scene.contents(), scene.writer()
    try:
        detour(writer)
        if scene.contents() == now:
            yield "another change changed nothing"
        restore_last(writer, everywhere)
    except OpsinfoError as error:
        yield f"another change and its undo were refused: {error.message}"
        return
    if scene.contents() != now:
        yield "the undo of another change did not restore the files"
    if not is_over(writer.vault):
        yield "a change is still pending after the undo"


# processes


def run_main(words: Sequence[str], stdout: int | None = None) -> int:
    """Run the program in this process, as the interpreter would. It ends the process, except under coverage.

    Deferred signals are delivered once the program can handle them.

    :returns: its exit status
    """
    from opsinfo_cli import app as program

    prepare_and_run = program._prepare_and_run

    def unblocked(words: list[str]) -> int:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        return prepare_and_run(words)

    program._prepare_and_run = unblocked  # type: ignore[assignment]
    warnings.simplefilter("ignore", ResourceWarning)  # as by default; pytest shows it
    out = os.open(os.devnull, os.O_WRONLY) if stdout is None else stdout
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.stdout, sys.stderr = (os.fdopen(each, "w", encoding="utf-8", closefd=False) for each in (1, 2))
    sys.argv = ["opsinfo", *words]
    try:
        program.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        return 1


def import_all() -> None:
    """Import every module, before a child becomes a user who cannot read them: a checkout may be in root's home."""
    for module in pkgutil.walk_packages(opsinfo_cli.__path__, "opsinfo_cli."):
        with suppress(ImportError):  # of packages that are not installed
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def fork(action: Callable[[], int], user: int | None = None) -> int:
    """A child process, of another user if one is given.

    :returns: its pid
    """
    child = os.fork()
    if child:
        return child
    status = 70
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if user is not None and os.geteuid() == 0:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        status = action()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def ended(child: int) -> int:
    """Wait for a child, and return its exit status, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def as_user(action: Callable[[], int], user: int | None = USER) -> int:
    return ended(fork(action, user))


def give(user: int, *paths: Path) -> None:
    """Change the owner of files, if run by root."""
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, user, user)
