"""Shared by commands that write: run jobs, report the changes, return an exit status."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Sequence

from ...change.moves import Job, Result
from ...change.vault import Scope, Vault, vault_path
from ...change.whole_file import real_path
from ...change.writer import Writer
from ...errors import Refused
from ...model.install import CORES, root_above
from ...model.target import TargetOptions, resolve
from ...report.terminal.output import Output
from ...report.views.changes import change_document
from .common_options import WriteOptions


def vault_of(writing: WriteOptions) -> Vault:
    return Vault(vault_path(writing.backup_dir, os.environ))


def writer_of(writing: WriteOptions, output: Output) -> Writer:
    return Writer(
        vault_of(writing),
        wait=writing.wait,
        in_place=writing.in_place,
        force=writing.trust_folder,
        say=lambda text: output.say(text, "warning"),
    )


class WriteRun:
    """One run of a command that writes.

    :param undo: the target in the undo command
    :param ignored: given names that are not in the target
    """

    def __init__(
        self, kind: str, output: Output, writing: WriteOptions, undo: str, ignored: Sequence[str] = ()
    ) -> None:
        self.kind = kind
        self.output = output
        self.writing = writing
        self.undo = undo
        self.ignored = list(ignored)

    @property
    def writes(self) -> bool:
        return self.writing.writes

    def files(self, jobs: list[Job]) -> int:
        """Change files, or show what would change.

        :returns: the exit status
        """
        result = self.changed(jobs)
        self.report(result)
        return self.status(result)

    def changed(self, jobs: list[Job]) -> Result:
        """As :meth:`files`, without reporting the outcome."""
        writer = writer_of(self.writing, self.output)
        if not self.writes:
            return writer.preview(jobs)
        result = writer.run(self.kind, jobs)
        if result.change:
            self._warn_of_installs(jobs)
        if self.writing.in_place and result.change:
            self.output.say("the file was overwritten in place, which is not atomic; the backup is safe", "warning")
        return result

    def status(self, result: Result) -> int:
        if result.refused:
            return 3
        return 1 if self.writing.check and result.would_change else 0

    def report(self, result: Result) -> None:
        self._report_refused(result)
        if self.output.format == "json":
            self.output.document(change_document(result, self.ignored, dry_run=not self.writes))
        elif self.writing.dry_run:
            from ...report.formats.unified_diff import unified_diff

            for file in result.files:
                self.output.diff(unified_diff(file.source, file.patch, file.result, file.is_new))
        else:
            self._summarise(result)

    def _report_refused(self, result: Result) -> None:
        from ...report.terminal.failure import failure_lines

        for error in result.refused:
            for line in failure_lines(error, self.output.look(sys.stderr)):
                self.output.complain(line)

    def _summarise(self, result: Result) -> None:
        touched = [file for file in result.files if file.patch]
        if not touched:
            self.output.tell("nothing to change")
        elif not self.writes:
            self.output.tell(f"{len(touched)} file{'' if len(touched) == 1 else 's'} would change")
        else:
            for file in touched:
                self.output.tell(f"made {file.path}" if file.is_new else f"wrote {file.path}; backup {file.backup}")
                self.output.detail(f"  SHA-256 {file.source.sha256} -> {file.result.sha256}")
            self.output.tell(f"change {result.change}; undo it with: {self._undoing()}")

    def _undoing(self) -> str:
        """The command line that undoes the change."""
        folder = self.writing.backup_dir
        words = ["opsinfo", "restore", *(["--backup-dir", folder] if folder else [])]
        return " ".join(map(_quoted, [*words, *(["--"] if self.undo.startswith("-") else []), self.undo]))

    def _warn_of_installs(self, jobs: list[Job]) -> None:
        if any(root_above(job.path) for job in jobs):
            self.output.say(
                "this changes an installed library: every network on this machine is affected; "
                "the recommended way is a mixlist (`opsinfo explain mixlists`)",
            )


def _quoted(word: str) -> str:
    """Return a word as a shell reads it; bytes that are no text, and control characters, as escapes of bash and zsh."""
    from shlex import quote

    if word.isprintable():
        return quote(word)
    data = os.fsencode(word)
    return "$'" + "".join(chr(b) if 32 <= b < 127 and b not in b"'\\" else f"\\x{b:02x}" for b in data) + "'"


def scope_of(target: str | None) -> Scope:
    """Return the real paths of a TARGET of a vault command; files may be damaged or missing.

    :raises Refused: if the kind of the path cannot be determined
    """
    if target is None:
        return lambda _: True
    is_folder = _is_folder(target)
    real = real_path(target)
    if is_folder:
        return lambda path: path.startswith(real.rstrip("/") + "/")
    if os.path.lexists(target) or "/" in target or target.endswith(".json"):
        return lambda path: path == real
    install = resolve(target, TargetOptions(), os.environ).install
    assert install is not None  # a bare name can only be a SoC
    folders = {os.path.realpath(site.directory) for core in CORES for site in install.sites(core)}
    return lambda path: os.path.dirname(path) in folders


def _is_folder(path: str) -> bool:
    """:raises Refused: if the disk fails, so that the answer is unknown"""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except ValueError:  # a NUL character cannot be in a path
        return False
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG):
            return False
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
