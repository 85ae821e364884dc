"""Every way opsinfo says no.

The tree, by exit status (the one mapping to exit codes is ``cli.main``)::

    OpsinfoError
    ├── UsageFault           2  the question was wrong: unknown names, clashing options
    └── Refused              3  a file or the system refused
        ├── Damaged             not what the engine can read (place given)
        ├── Locked              another process holds the file
        ├── Stale               the file is not the one the plan was made for
        ├── MissingPackage      a package that one command needs is not installed
        └── NotConfirmed        written, but the disk did not confirm it
"""

from __future__ import annotations

__all__ = ["Damaged", "Locked", "MissingPackage", "NotConfirmed", "OpsinfoError", "Refused", "Stale", "UsageFault"]


class OpsinfoError(Exception):
    """Base of every expected failure.

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
        super().__init__(message)
        self.message = message
        self.name = name or self.default_name
        self.hint = hint
        self.path = path
        self.line = line
        self.column = column


class UsageFault(OpsinfoError):
    exit_code = 2
    default_name = "usage"


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


class NotConfirmed(Refused):
    default_name = "durability-not-confirmed"
