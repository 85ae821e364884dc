"""Files of a git revision in a temporary folder: the one place where opsinfo writes what it reads again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from tempfile import TemporaryDirectory


@contextmanager
def temporary_folder() -> Iterator[str]:
    with TemporaryDirectory(prefix="opsinfo-base-") as folder:
        yield os.path.realpath(folder)


def unpack_files(folder: str, files: Mapping[str, bytes], links: Mapping[str, bytes]) -> None:
    """Write files into a folder; a link last, so that nothing is written through one.

    :param files: relative path -> content; a path that leads out, as only a forged tree has it, is left out
    :param links: relative path -> what it leads to, which whoever reads it checks
    """
    for path, content in files.items():
        place = _inside(folder, path)
        if place and not os.path.lexists(place):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "xb") as file:
                file.write(content)
    for path, target in links.items():
        place = _inside(folder, path)
        if place and not os.path.lexists(place) and b"\0" not in target:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.symlink(os.fsdecode(target), place)


def _inside(folder: str, path: str) -> str | None:
    parts = path.split("/")
    return None if path.startswith("/") or {"", ".", "..", ".git"} & {*parts} else os.path.join(folder, path)
