"""Read the files of `opsinfo systems convert`."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import UsageFault
from ...model.target import TargetOptions
from ...neighbours.reading import of_mixlist, of_operators, read_lists
from ...neighbours.system import System
from ...neighbours.vocabulary import ReadLists
from ...report.terminal.output import Output
from ...text.source import Source
from .doubts import report_doubts
from .mixlist_input import accepted_mixlist
from .targets import open_against, open_target


def lists_of_target(text: str, output: Output, options: TargetOptions) -> ReadLists:
    """Return the op types of a library, store or install; for a mixlist alone, those whose policy its marks decide."""
    target = open_target(text, output, options)
    if target.kind == "mixlist":
        return ReadLists(of_mixlist(target.mixlist).lists)
    report_doubts(target, output)
    return ReadLists(of_operators(target.operators, text=text))


def read_files(
    system: System, paths: Sequence[str], base: str | None, output: Output, options: TargetOptions
) -> ReadLists:
    """:param base: the TARGET that a mixlist's marks apply to; None to read the marks alone

    :raises UsageFault: if the system has no files to read
    """
    if system.reads is None:
        raise UsageFault(f"{system.name} has no files to read", name="not-readable")
    if system.input != "text" and len(paths) != 1:
        raise UsageFault(f"{system.name} takes exactly one {'TARGET' if system.input == 'target' else 'file'}")
    if system.input == "target":
        return lists_of_target(paths[0], output, options)
    if system.input == "mixlist":
        return _read_mixlist(system, paths[0], base, output, options)
    return read_lists(system, [Source.read(path) for path in paths])


def _read_mixlist(system: System, path: str, base: str | None, output: Output, options: TargetOptions) -> ReadLists:
    path = system.mixlist_path(Source.read(path)) if system.mixlist_path else path
    mixlist = accepted_mixlist(path, output)
    if base is None:
        return of_mixlist(mixlist, None, system.name)
    target = open_against(base, output, options)
    report_doubts(target, output)
    return of_mixlist(mixlist, target.operators, system.name)
