"""The files to check under a path: what git lists of a folder, or everything where git is missing or refuses."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from ...opening import is_below, unreadable
from ..cann.file_kind import is_library_name, is_option_name
from ..cann.opdef.find import SUFFIXES
from ..cann.repository import git_root
from ..cann.targets.store import is_loaded_from
from ..change.vault_place import in_vault
from .finding import Outcome, PassedOver
from .git import PATIENCE, git
from .referenced_files import OTHERS
from .settings_in_scripts import SCRIPTS

SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv"})

_CHECKED = (".json", ".cfg", ".ini")
_SEARCHED = (*SCRIPTS, *OTHERS)
Use: TypeAlias = Literal["checked", "source", "searched"]


def use_of(path: str, follow: bool) -> Use | None:
    """Return what a file of a tree is read for, by its name: to be checked, as an OpDef source only, or with ``follow``
    only for what it names; None if it is not read.
    """
    extension = os.path.splitext(path)[1].lower()  # none for a name like `.json`
    if extension in _CHECKED or is_option_name(path):
        return "checked"
    if path.endswith(SUFFIXES):
        return "source"
    return "searched" if follow and extension in _SEARCHED else None


class FoundFile(NamedTuple):
    """A store or file to check.

    :param top: the folder of the tree in which it was met; None for a file that the user names
    :param is_store: whether it is a config directory
    """

    path: str
    top: str | None = None
    is_store: bool = False
    use: Use = "checked"


class Listing(NamedTuple):
    """What git lists of a folder: the files that it tracks, and others that it does not ignore.

    :param entries: files, submodules, and with a slash at the end other repositories
    :param folders: the folders that have entries
    """

    entries: frozenset[str]
    folders: frozenset[str]


_EXCLUDED = "it is excluded"


@dataclass
class FoundFiles:
    """The files and stores under some paths, in the order in which they are reported.

    :param outcome: takes folders that cannot be read, what a walk leaves out, and why git did not say what to leave out
    :param excludes: whether a file or folder of a tree is left out
    :param follow: whether files that may name others are read, too
    """

    outcome: Outcome = field(default_factory=Outcome)
    found: list[FoundFile] = field(default_factory=list)
    excludes: Callable[[str], bool] = lambda path: False
    follow: bool = False

    def add(self, path: str) -> None:
        """Add a file, or every store and file of a tree that may be checked and that git does not ignore."""
        if os.path.isdir(path):
            self._walk(path)
        else:
            self.found.append(FoundFile(path))

    def _walk(self, top: str) -> None:
        tree = os.path.realpath(top)
        waiting = [(top, self._listing(top))]
        while waiting:
            folder, listing = waiting.pop()
            if in_vault(os.path.join(os.path.realpath(folder), "")):
                self.outcome.passed_over.append(PassedOver(f"{_shown(folder)}/", "it is a vault of backups"))
                continue
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self.outcome.failures.append(unreadable(error, folder))
                continue
            if folder != top and {"journal.jsonl", "trials"} <= {entry.name for entry in entries}:
                self.outcome.passed_over.append(PassedOver(f"{_shown(folder)}/", "it holds the trials of a bisect"))
                continue
            folders = [entry for entry in entries if _is_folder(entry) and entry.name != ".git"]
            self._add_files(folder, [entry.path for entry in entries if not _is_folder(entry)], listing, tree)
            for entry in reversed(folders):
                if entry.name in SKIPPED_FOLDERS:
                    reason = "a folder of this name is another tool's"
                elif entry.is_symlink():
                    reason = "it is a link to a folder"
                elif self.excludes(entry.path):
                    reason = _EXCLUDED
                elif listing is None or entry.path in listing.folders:
                    waiting.append((entry.path, listing))
                    continue
                elif listing.entries & {entry.path, f"{entry.path}/"}:
                    waiting.append((entry.path, self._listing(entry.path)))
                    continue
                else:
                    reason = "git lists nothing in it"
                self.outcome.passed_over.append(PassedOver(f"{_shown(entry.path)}/", reason))

    def _add_files(self, folder: str, paths: Sequence[str], listing: Listing | None, tree: str) -> None:
        files = []
        for path in paths:
            use = use_of(path, self.follow)
            if use is None:
                continue
            if self.excludes(path):
                self.outcome.passed_over.append(PassedOver(_shown(path), _EXCLUDED))
            elif listing is not None and path not in listing.entries:
                self.outcome.passed_over.append(PassedOver(_shown(path), "git ignores it"))
            elif os.path.islink(path) and not is_below(os.path.realpath(path), tree):
                self.outcome.passed_over.append(PassedOver(_shown(path), "it is a link out of this folder"))
            else:
                files.append(FoundFile(path, tree, use=use))
        jsons = [file.path for file in files if file.path.lower().endswith(".json")]
        others = [path for path in paths if path.endswith(".json") and not is_library_name(path)]
        # names of libraries | other JSON | the engine loads the place | the folder is
        # none               | any        | any                        | files
        # some               | none       | any                        | a store
        # some               | some       | yes                        | a store
        # some               | some       | no                         | files: no engine reads the others
        if any(map(is_library_name, jsons)) and (not others or is_loaded_from(folder)):
            # as a whole, because the engine ignores .gitignore
            self.found.append(FoundFile(_shown(folder), tree, is_store=True))
            files = [file for file in files if file.path not in jsons]
        self.found += (file._replace(path=_shown(file.path)) for file in files)

    def _listing(self, top: str) -> Listing | None:
        """Return what git lists of a folder; None if everything in it is to be checked, which is said."""
        notes = self.outcome.notes
        if git_root(os.path.abspath(top)) is None:
            if os.path.lexists(os.path.join(top, ".gitignore")):
                notes.append(f"{_shown(top)}: .gitignore is not used, because this is not a git repository")
            return None
        try:
            if git(top, "check-ignore", "--quiet", "--no-index", "--", ".").returncode == 0:
                return None  # named by the user, so it is read
            listed = git(top, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
            reason = os.fsdecode(listed.stderr).strip().partition("\n")[0]
        except FileNotFoundError:
            listed, reason = None, "git is not installed"
        except subprocess.TimeoutExpired:
            listed, reason = None, f"git did not answer in {PATIENCE} seconds"
        if listed is None or listed.returncode != 0:
            notes.append(f"{_shown(top)}: files that git ignores are checked too, since git failed: {reason}")
            return None
        entries = frozenset(os.path.join(top, name) for name in os.fsdecode(listed.stdout).split("\0") if name)
        folders: set[str] = set()
        for entry in entries:
            folder = os.path.dirname(entry.rstrip("/"))
            while folder not in folders and len(folder) >= len(top):
                folders.add(folder)
                folder = os.path.dirname(folder)
        return Listing(entries, frozenset(folders))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder or a link to one; a link to itself is none."""
    return os.path.isdir(entry.path) if entry.is_symlink() else entry.is_dir()


def _shown(path: str) -> str:
    """Return a path without a leading `./`."""
    return path.removeprefix("./") or path
