"""Findings on an install: stores that fail, a bad load_priority, custom paths without effect."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..errors import OpsinfoError
from ..model.install import CORES, Install
from ..model.library import Store
from ..text.source import Place
from .finding import Finding, whole_file
from .rules import rule


def check_install(install: Install) -> Iterator[Finding]:
    yield from bad_load_priority(install)
    yield from broken_custom_path(install)
    yield from store_fails(install)


def bad_load_priority(install: Install) -> Iterator[Finding]:
    priority = install.load_priority
    if priority.bad_line:
        place, end = Place(priority.bad_line, 1), Place(priority.bad_line, 2)
        said = "the load_priority line has no `=`, so the engine does not start (E20003)"
        hint = "write `load_priority=<vendor>,<vendor>`"
        yield Finding(rule("bad-load-priority"), said, priority.path, place, end, hint=hint)


def broken_custom_path(install: Install) -> Iterator[Finding]:
    for skipped in install.skipped("ai"):
        said = f"the engine skips this custom path: {skipped.reason}"
        yield whole_file("broken-custom-path", skipped.path, said)


def store_fails(install: Install) -> Iterator[Finding]:
    if install.missing_built_in:
        said = f"no built-in store for {install.soc}: the engine does not start even with a custom store (E20002)"
        hint = "install the operator package for this SoC, or remove the vendor's folder for it"
        yield whole_file("store-fails", install.missing_built_in, said, hint)
    for core in CORES:
        sites = [site for site in install.sites(core) if os.path.isdir(site.directory)]
        for site in sites:
            try:
                doubts = Store.read(site.directory, site.label).doubts
                failure: OpsinfoError | None = doubts[0] if doubts else None
            except OpsinfoError as error:
                failure = error
            if failure:
                yield _failure(site.directory, failure, alone=len(sites) == 1)


def _failure(directory: str, failure: OpsinfoError, alone: bool) -> Finding:
    """Return the finding at the place in the file that fails its store."""
    cost = "the engine does not start" if alone else "the engine silently starts without these operators"
    file = os.path.basename(failure.path or directory)
    said = f"the engine drops the store {directory} because of {file}: {failure.message}; {cost}"
    hint = "`opsinfo validate` on the file shows more; `opsinfo restore` undoes the last change"
    start = Place(failure.line, failure.column) if failure.line and failure.column else None
    end = Place(start.line, start.column + 1) if start else None
    return Finding(rule("store-fails"), said, failure.path or directory, start, end, hint=hint)
