"""What the commands that write have in common: from jobs to a report and an exit status."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Sequence

from ...change.restore import Scope
from ...change.vault import Vault, vault_path
from ...change.writer import Job, Result, Writer
from ...errors import Refused
from ...model.opp import CORES, root_above
from ...model.target import Options, resolve
from ...report.formats.unified_diff import unified_diff
from ...report.terminal.output import Output
from ...report.views.changes import change_document, change_lines
from ...typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Run", "scope_of", "vault_of", "writer_of"]


def vault_of(options: dict[str, Any]) -> Vault:
    return Vault(vault_path(options.get("backup_dir"), os.environ))


def writer_of(options: dict[str, Any], output: Output) -> Writer:
    return Writer(
        vault_of(options),
        wait=options.get("wait", 30.0),
        in_place=options.get("in_place", False),
        say=lambda text: output.say(text, "warning"),
    )


class Run:
    """One run of a command that writes.

    :param undo: the target to name in the command that undoes it
    :param ignored: names that were asked for and are not there
    """

    def __init__(
        self, kind: str, output: Output, options: dict[str, Any], undo: str, ignored: Sequence[str] = ()
    ) -> None:
        self.kind = kind
        self.output = output
        self.options = options
        self.undo = undo
        self.ignored = list(ignored)

    @property
    def writes(self) -> bool:
        return not (self.options.get("dry_run") or self.options.get("check"))

    def files(self, jobs: list[Job]) -> int:
        """Change files, or show what would change.

        :returns: the exit status
        """
        result = self.changed(jobs)
        self.report(result)
        return self.status(result)

    def changed(self, jobs: list[Job]) -> Result:
        """What :meth:`files` does, without a word on what came of it."""
        writer = writer_of(self.options, self.output)
        if not self.writes:
            return writer.preview(jobs)
        result = writer.run(self.kind, jobs)
        if result.change:
            self._say_shared(jobs)
        if self.options.get("in_place") and result.change:
            self.output.say("the file was overwritten in place, which is not atomic; the backup is safe", "warning")
        return result

    def status(self, result: Result) -> int:
        return 1 if self.options.get("check") and result.would_change else 0

    def report(self, result: Result) -> None:
        if self.output.format == "json":
            self.output.document(change_document(result, self.ignored, dry_run=not self.writes))
        elif self.options.get("dry_run"):
            for file in result.files:
                self.output.diff(unified_diff(file.source, file.patch, file.result, file.is_new))
        else:
            self.output.lines(change_lines(self.output, result, self.undo))
            self._tell(result)

    def _tell(self, result: Result) -> None:
        touched = [file for file in result.files if file.patch]
        if not touched:
            self.output.tell("nothing to change")
        elif not self.writes:
            self.output.tell(f"{len(touched)} file{'' if len(touched) == 1 else 's'} would change")
        else:
            for file in touched:
                self.output.tell(f"made {file.path}" if file.is_new else f"wrote {file.path}; backup {file.backup}")
                self.output.detail(f"  SHA-256 {file.source.sha256} -> {file.result.sha256}")
            place = self.options.get("backup_dir")
            words = ["opsinfo", "restore", *(["--backup-dir", place] if place else [])]
            words += ["--", self.undo] if self.undo.startswith("-") else [self.undo]
            self.output.tell(f"change {result.change}; undo it with: {shlex.join(words)}")

    def _say_shared(self, jobs: list[Job]) -> None:
        if any(root_above(job.path) for job in jobs):
            self.output.say(
                "this changes an installed library: every network on this machine is affected; "
                "the recommended way is a mixlist (`opsinfo explain mixlists`)",
            )


def scope_of(target: str | None) -> Scope:
    """Which real paths a TARGET of the vault's commands means; files may be damaged or gone.

    :raises Refused: where the system cannot tell
    """
    if target is None:
        return lambda _: True
    is_folder = _is_folder(target)
    real = os.path.realpath(target)
    if is_folder:
        return lambda path: path.startswith(real.rstrip("/") + "/")
    if os.path.lexists(target) or "/" in target or target.endswith(".json"):
        return lambda path: path == real
    install = resolve(target, Options(), os.environ).install
    assert install is not None  # a bare name is a SoC or nothing
    folders = {os.path.realpath(site.directory) for core in CORES for site in install.sites(core)}
    return lambda path: os.path.dirname(path) in folders


def _is_folder(path: str) -> bool:
    """:raises Refused: where a disk does not answer: that is not the same as no"""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except ValueError:  # no path at all
        return False
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG):
            return False
        raise Refused(error.strerror or str(error), name="unreadable", path=path) from None
