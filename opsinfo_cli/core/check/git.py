"""Run git in a checkout that is not trusted: it writes nothing, fetches nothing, and runs no program of it."""

from __future__ import annotations

import os
import shutil
import subprocess

_USER_SETTINGS = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")
"""The variables of git that do not point to another repository, as ``GIT_DIR`` in a hook does."""
_SAFELY = (
    *("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "safe.bareRepository=explicit"),
)
"""Options with which git writes nothing, and runs no program that the configuration of a checked repository, or of a
bare one in its tree, names: a file monitor, a hook. The transport that fetches a missing `.gitignore` is forbidden by
``GIT_ALLOW_PROTOCOL``, which no configuration overrides."""
PATIENCE = 60
"""The seconds after which git is given up: a named pipe as `.gitignore` would stop it."""


def file_of_revision(text: str) -> bytes | None:
    """Return the content of a file that is named as git names it, ``HEAD~1:ops_info.json``; None if it is none."""
    if text.startswith(("-", ":")) or ":" not in text or os.path.lexists(text):
        return None
    try:
        answer = git(os.curdir, "cat-file", "blob", text)
    except (FileNotFoundError, subprocess.TimeoutExpired, ValueError):
        return None
    return None if answer.returncode else answer.stdout


def git(folder: str, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """:raises FileNotFoundError: if git is not installed
    :raises subprocess.TimeoutExpired: if it does not answer
    """
    program = shutil.which("git")
    if program is None or not os.path.isabs(program):  # a relative one could lie in the checked folder
        raise FileNotFoundError("git")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _USER_SETTINGS}
    return subprocess.run(
        [program, *_SAFELY, "-C", folder, *words],
        env={**kept, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"},
        input=stdin or b"",
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
