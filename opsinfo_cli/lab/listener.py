"""What a capability tells on its way: to the console of a command, or to a program."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol
from warnings import warn

if TYPE_CHECKING:
    from collections.abc import Callable


class Listener(Protocol):
    """The console of the command line is one."""

    def note(self, text: str) -> None: ...

    def warn(self, text: str) -> None: ...

    def detail(self, text: str) -> None: ...

    def progress(self, description: str, total: float | None = None) -> AbstractContextManager[Callable[[float], None]]:
        """:returns: a context manager whose value is called with each part that is done"""


class PythonListener:
    """Gives warnings as Python warnings. Notes are for people, and dropped."""

    def note(self, text: str) -> None: ...

    def warn(self, text: str) -> None:
        warn(text, stacklevel=2)

    def detail(self, text: str) -> None: ...

    def progress(self, description: str, total: float | None = None) -> AbstractContextManager[Callable[[float], None]]:
        return nullcontext(lambda _: None)
