"""Shared by commands that write, or that look into the vault."""

from __future__ import annotations

import errno
import os
import stat

from ..change.vault import Scope, Vault, vault_path
from ..change.whole_file import real_path
from ..change.writer import Writer
from ..errors import Refused
from ..model.install import CORES
from ..model.target import TargetOptions, resolve
from ..report.console import Console
from .params import WriteOptions


def vault_of(writing: WriteOptions) -> Vault:
    return Vault(vault_path(writing.backup_dir, os.environ))


def writer_of(writing: WriteOptions, console: Console) -> Writer:
    return Writer(
        vault_of(writing),
        wait=writing.wait,
        in_place=writing.in_place,
        force=writing.force,
        say=console.warn,
    )


def undoing(writing: WriteOptions, target: str) -> str:
    """Return the command line that undoes a change of a target."""
    folder = ["--backup-dir", writing.backup_dir] if writing.backup_dir else []
    words = ["opsinfo", "restore", *folder, *(["--"] if target.startswith("-") else []), target]
    return " ".join(map(_quoted, words))


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
