"""The run folder of a search, with the journal, the best list and a folder for each trial.

It is made for its owner alone, and nothing in it is opened through a link: a checkout of somebody else may bring one.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from ...core.cann.file_kind import is_library_name
from ...core.change.trust import require_trusted
from ...core.change.vault_place import require_outside_vault
from ...errors import Refused, UsageFault
from .placeholders import CACHE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .trial import Files

OUTPUT, BEST, BEST_KEPT = "output.log", "best.json", "best.keep_dtype.cfg"
BEST_OTHERS = ("best.txt", "best.py")
"""Lists of other systems."""
_JOURNAL = "journal.jsonl"
_IGNORED = ".gitignore"
_TAIL = 2000
"""Bytes of a trial's output that the journal keeps."""
_OTHER = "--journal DIR names another one"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)


class RunFolder:
    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.journal = os.path.join(self.path, _JOURNAL)
        self.trials = os.path.join(self.path, "trials")

    def require(self, resumes: bool, restarts: bool = False) -> None:
        """Check before the search that it can begin, resume or begin anew here.

        :raises UsageFault: if there is a search, or an answer that a new one would replace
        :raises Refused: if there is no search to resume, nothing may be written there, another user may replace the
            folder while root writes, or it is in a vault or a config directory
        """
        first = self.path
        while not os.path.isdir(os.path.dirname(first)):  # folders above that are missing are made later
            first = os.path.dirname(first)
        real = os.path.realpath(self.journal)
        require_outside_vault(self.path, real)
        if is_library_name(os.path.join(os.path.dirname(real), BEST)):
            message = f"a config directory cannot be a run folder: the engine would read {BEST} as a library"
            raise Refused(message, name="run-in-store", path=self.path, hint=_OTHER)
        require_trusted(first, os.path.realpath(first), hint=_OTHER)
        if resumes:
            try:
                os.stat(self.journal)
            except PermissionError as error:
                raise Refused(str(error.strerror), name="unreadable", path=self.journal, hint=_OTHER) from None
            except OSError:
                message, hint = "there is no journal to resume", "without --resume, a new search begins"
                raise Refused(message, name="no-journal", path=self.journal, hint=hint) from None
        elif self.has_search and not restarts:
            hint = "--resume continues it; --restart begins anew; --journal DIR starts another one"
            raise UsageFault("there is a search in this folder already", name="exists", path=self.path, hint=hint)
        elif not self.has_search:
            for path in (os.path.join(self.path, name) for name in (BEST, BEST_KEPT, *BEST_OTHERS)):
                if os.path.lexists(path):
                    raise UsageFault("a new search would replace this file", name="exists", path=path, hint=_OTHER)
        if not os.access(first if os.path.isdir(first) else os.path.dirname(first), os.W_OK):
            raise write_error(self.path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))

    def make(self) -> None:
        """Make the folder; git ignores a new one, as it does the caches of other tools.

        :raises Refused: if the system refuses, or there is a link, or a folder of another user
        """
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            if _own_folder(self.path):
                with open(open_new(os.path.join(self.path, _IGNORED)), "wb") as file:
                    file.write(b"*\n")
            _own_folder(self.trials)
        except OSError as error:
            raise write_error(self.path, error) from None

    @property
    def has_search(self) -> bool:
        return os.path.lexists(self.journal)

    def set_aside(self) -> str:
        """Move what a search left into a folder of its own, the journal last: until then it can be done again.

        :returns: that folder, from the current directory
        :raises Refused: as :meth:`make`
        """
        names = ("trials", BEST, BEST_KEPT, *BEST_OTHERS, _JOURNAL)
        try:
            number = next(number for number in count(1) if not os.path.lexists(f"{self.path}/before-{number}"))
            aside = os.path.join(self.path, f"before-{number}")
            os.mkdir(aside, 0o700)
            for name in names:
                with suppress(FileNotFoundError):
                    os.rename(os.path.join(self.path, name), os.path.join(aside, name))
        except OSError as error:
            raise write_error(self.path, error) from None
        return os.path.relpath(aside)

    def trial(self, number: int, files: Files) -> str:
        """Make the folder of a new trial with its files: no trial sees the leftovers of another one.

        :returns: its path
        :raises Refused: as :meth:`make`
        """
        folder = os.path.join(self.trials, f"{number:04}")
        self.make()  # the check may have removed it
        try:
            os.mkdir(folder, 0o700)
            os.mkdir(os.path.join(folder, CACHE), 0o700)
            for name, content in files.values():
                with open(open_new(os.path.join(folder, name)), "wb") as file:
                    file.write(content)
        except OSError as error:
            raise write_error(folder, error) from None
        return folder

    def write(self, name: str, data: bytes) -> str:
        """Write a file as a whole; a link of that name is replaced, not followed.

        :returns: its path
        :raises Refused: as :meth:`make`
        """
        path = os.path.join(self.path, name)
        temporary = f"{path}.{os.getpid()}.tmp"
        self.make()
        try:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            with open(open_new(temporary), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:
            raise write_error(path, error) from None
        return path

    def write_texts(self, texts: Mapping[str, str]) -> list[str]:
        """Write files by name.

        :returns: their paths, from the current directory
        :raises Refused: as :meth:`make`
        """
        return [os.path.relpath(self.write(name, text.encode("utf-8"))) for name, text in texts.items()]


def _own_folder(path: str) -> bool:
    """Make a folder unless it exists.

    :returns: whether it was made
    :raises OSError: if the system refuses
    :raises Refused: if it is a link, or belongs to another user
    """
    is_new = False
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
        is_new = True
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise Refused("the run folder is a link or a file", name="not-own", path=path, hint=_OTHER)
    if status.st_uid != os.geteuid():
        raise Refused("the run folder belongs to another user", name="not-own", path=path, hint=_OTHER)
    return is_new


def open_new(path: str) -> int:
    """Return the descriptor of a new file that only its owner may read.

    :raises OSError: if it exists, or the system refuses
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def write_error(path: str, error: OSError) -> Refused:
    """Return the error for a search whose run folder cannot be written."""
    hint = None
    if error.errno in _FULL:
        hint = "free some space, and continue with --resume"
    elif error.errno in _CLOSED:
        hint = _OTHER
    return Refused(f"cannot write: {error.strerror or error}", name="not-written", path=path, hint=hint)


def mixlist_name(number: int) -> str:
    """Return a separate name for each trial: the engine reads each path once per process."""
    return f"mixlist-{number:04}.json"


def keep_dtype_name(number: int) -> str:
    """The same for keep_dtype files."""
    return f"keep_dtype-{number:04}.cfg"


def tail(folder: str) -> str:
    """Return the end of a trial's output; empty if there is none."""
    with suppress(OSError), open(os.path.join(folder, OUTPUT), "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
        return file.read().decode("utf-8", "replace")
    return ""


def last_lines(text: str, most: int = 10) -> list[str]:
    """Return the last lines of a trial's output that are not empty."""
    return [line for line in text.splitlines() if line.strip()][-most:]
