"""Names of operators for completion: from the cache, without click, silently."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...errors import OpsinfoError
from ...model.cann_roots import select_root
from ...model.opp import socs_of
from ...model.target import TargetOptions, resolve
from .known_names import known_names

if TYPE_CHECKING:
    from ...model.target import Target


def operator_names(text: str, options: TargetOptions, against: str | None = None) -> Iterable[str]:
    """Op types of a target; for a mixlist those of the target it is checked against, else its own and those of the
    environment's CANN.

    :raises OpsinfoError: if the target does not exist, or the engine refuses it
    """
    if against is not None:
        return operator_names(against, options._replace(kind=None))
    target = resolve(text, options, os.environ)
    if target.kind == "mixlist":
        return sorted({*target.mixlist.marks, *_of_environment()})
    return sorted({name for names in _stores(target) for name in names})


def _of_environment() -> Iterator[str]:
    """Yield op types of every chip of the install that the environment selects; none without an install."""
    try:
        root = select_root(os.environ, "a SoC").path
        for soc in socs_of(root):
            yield from operator_names(root, TargetOptions(soc=soc))
    except OpsinfoError:
        return


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
    """Return names with this prefix; if there are none, names in another case, if all agree in the case."""
    typed = [name for name in names if _can_be_typed(name)]
    found = [name for name in typed if name.startswith(begun)]
    if not found:
        found = [name for name in typed if name.lower().startswith(begun.lower())]
        found = found if len({name[: len(begun)] for name in found}) == 1 else []
    return found


def _can_be_typed(name: str) -> bool:
    """Return whether a name from a file is harmless in a shell."""
    return name[:1] != "-" and all(letter.isalnum() or letter in "_-.:/" for letter in name)
