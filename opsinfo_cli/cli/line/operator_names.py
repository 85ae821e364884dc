"""Names of operators for a line that is being typed: from the cache, without click, without a word."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...model.target import TargetOptions, resolve
from ...report.known_names import known_names

if TYPE_CHECKING:
    from ...model.target import Target


def operator_names(text: str, options: TargetOptions, against: str | None = None) -> Iterable[str]:
    """Op types of a target; of a mixlist those of the target it is held against, else its own.

    :raises OpsinfoError: where there is no such target, or the engine refuses it
    """
    if against is not None:
        return operator_names(against, options._replace(kind=None))
    target = resolve(text, options, os.environ)
    if target.kind == "mixlist":
        return sorted(target.mixlist.marks)
    return sorted({name for names in _stores(target) for name in names})


def _stores(target: Target) -> Iterator[Iterable[str]]:
    if target.kind in ("library", "snapshot"):
        yield known_names([target.path], lambda: target.operators.names, os.environ)
        return
    from ...model.store import Store, library_files

    sites = [site.directory for site in target.install.sites()] if target.install else [target.path]
    for folder in filter(os.path.isdir, sites):
        files = [os.path.join(folder, name) for name in library_files(folder)]
        yield known_names(files, lambda folder=folder: Store.read(folder).definitions, os.environ)  # type: ignore[misc]


def starting(names: Iterable[str], begun: str) -> list[str]:
    """Names that begin so; in another case where none does in this one, and all of those agree."""
    typed = [name for name in names if _can_be_typed(name)]
    found = [name for name in typed if name.startswith(begun)]
    if not found:
        found = [name for name in typed if name.lower().startswith(begun.lower())]
        found = found if len({name[: len(begun)] for name in found}) == 1 else []
    return found


def _can_be_typed(name: str) -> bool:
    """Names come from files: none may do anything in a shell."""
    return name[:1] != "-" and all(letter.isalnum() or letter in "_-.:/" for letter in name)
