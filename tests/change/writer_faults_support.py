"""Shared by the tests of faults and locks."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from opsinfo_cli.change.filesystem import FileSystem

# faults of the system


class Faulty(FileSystem):
    """Fails one call, chosen by ``when(name, arguments)``."""

    def __init__(self, when: Callable[[str, tuple[Any, ...]], int | None]) -> None:
        super().__init__()
        self.when = when

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name in ("when", "__class__", "__dict__") or not callable(found):
            return found

        def call(*arguments: Any) -> Any:
            number = self.when(name, arguments)
            if number:
                raise OSError(number, os.strerror(number))
            return found(*arguments)

        return call
