"""The exceptions of opsinfo.

The tree, by exit status (``app.main`` exits with it)::

    OpsinfoError
    ├── WarningsFound        1  there are warnings, with --strict
    ├── NoVerdict            1  nothing was measured that could pass
    ├── UsageFault           2  wrong usage: unknown names, conflicting options
    │   └── UnknownOperator     no such op type; a KeyError too
    └── Refused              3  a file or the system refused
        ├── Damaged             the engine cannot read it; has the place
        ├── Locked              another process holds the file
        ├── Stale               the file changed since the plan was made
        ├── MissingPackage      a package that the command requires is not installed
        └── NotConfirmed        written, but the disk did not confirm it
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

_LONGEST_NAME, _LONGEST = 200, 1000


def brief(message: str) -> str:
    """Return a message with very long names shortened: a file may have a name of megabytes."""
    if len(message) <= _LONGEST_NAME:
        return message
    import re

    message = re.sub("`([^`]*)`", _brief_name, message)
    return message if len(message) <= _LONGEST else f"{message[: _LONGEST - 203]}...{message[-200:]}"


def _brief_name(match: re.Match[str]) -> str:
    name = match[1]
    return match[0] if len(name) <= _LONGEST_NAME else f"`{name[: _LONGEST_NAME - 3]}...`"


def counted(count: int, word: str) -> str:
    """Return a number with its word."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def join_some(texts: Sequence[str], most: int = 3) -> str:
    """Return the first ``most`` of many texts, and the number of others."""
    shown = ", ".join(texts[:most])
    return f"{shown} and {len(texts) - most} more" if len(texts) > most else shown


class OpsinfoError(Exception):
    """Base of every expected failure.

    :param message: shortened if it has long names
    :param name: kebab-case slug, stable, for scripts
    :param hint: what to do about it
    :param line: 1-based, with ``column`` in code points
    """

    exit_code = 3
    default_name = "failed"

    def __init__(
        self,
        message: str,
        *,
        name: str | None = None,
        hint: str | None = None,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        message = brief(message)
        super().__init__(message)
        self.message = message
        self.name = name or self.default_name
        self.hint = brief(hint) if hint else hint
        self.path = path
        self.line = line
        self.column = column

    def __str__(self) -> str:
        """Return ``path:line:column: message``, as far as the place is known, and the hint in a line of its own."""
        place = [str(part) for part in (self.path, self.line, self.column) if part is not None] if self.path else []
        text = ": ".join([":".join(place), self.message] if place else [self.message])
        return f"{text}\nhint: {self.hint}" if self.hint else text


class Stopped(BaseException):
    """A signal requests the end of the process, as KeyboardInterrupt does.

    :ivar number: of the signal
    """

    def __init__(self, number: int) -> None:
        self.number = number


class UsageFault(OpsinfoError):
    exit_code = 2
    default_name = "usage"


class UnknownOperator(UsageFault, KeyError):
    default_name = "unknown-operator"


class WarningsFound(OpsinfoError):
    """There are warnings, and ``--strict`` counts them as errors."""

    exit_code = 1
    default_name = "warnings-found"


class NoVerdict(OpsinfoError):
    """Nothing of a model was judged, or could be compared: a check of it neither passes nor fails."""

    exit_code = 1
    default_name = "no-verdict"


class Refused(OpsinfoError):
    default_name = "refused"


class Damaged(Refused):
    default_name = "damaged-file"


class Locked(Refused):
    default_name = "locked"


class Stale(Refused):
    default_name = "stale"


class MissingPackage(Refused):
    default_name = "missing-package"


def quoted(*words: str) -> str:
    """Return words as a shell reads them; bytes that are no text and control characters as escapes of bash and zsh."""
    from shlex import quote

    def one(word: str) -> str:
        if word.isprintable():
            return quote(word)
        plain = (
            chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\x{byte:02x}" for byte in os.fsencode(word)
        )
        return f"$'{''.join(plain)}'"

    return " ".join(map(one, words))


def installing(packages: str = "onnx onnxruntime numpy") -> str:
    """Return the command that installs packages for this Python, a hint for :class:`MissingPackage`.

    :param packages: by default those of the extra `models`, which a checkout or a zip file needs too
    """
    from shutil import which

    python = sys.executable or "python3"
    return f"{'python3' if which('python3') == python else quoted(python)} -m pip install {packages}"


class NotConfirmed(Refused):
    default_name = "durability-not-confirmed"
