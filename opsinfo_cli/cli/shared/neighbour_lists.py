"""Open a system's lists: NAME, NAME:LEVEL, NAME=FILE[,FILE], or an Ascend TARGET."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import UsageFault
from ...model.target import TargetOptions
from ...neighbours.ascend_lists import CLASSES, of_mixlist, of_operators
from ...neighbours.systems import System, lists_of, names_system, system_called
from ...neighbours.vocabulary import ListEntry, OperatorLists, ReadLists
from ...report.terminal.output import Output
from ...report.views.conversion import say_losses
from ...report.views.neighbours import lists_document, show_lists
from ...text.source import Source
from .doubts import report_doubts
from .mixlist_input import accepted_mixlist
from .options import matches
from .targets import open_against, open_target


def open_lists(text: str, output: Output, options: TargetOptions) -> OperatorLists:
    """Return the lists of a system or a target.

    :raises UsageFault: if the level is unknown, or the files have another format
    """
    return open_system(text, output) if names_system(text) else lists_of_target(text, output, options).lists


def open_system(text: str, output: Output) -> OperatorLists:
    """:raises UsageFault: if the system or level is unknown, or the files have another format"""
    name, equals, files = text.partition("=")
    if not equals:
        return lists_of(text)
    system = system_called(name)
    if system.names == "ascend" and system.name != "keep-dtype":
        raise UsageFault(f"{name} is a TARGET, not another system", name="wrong-kind", hint=f"give {files}")
    read = read_files(system, files.split(","), None, output, TargetOptions())
    say_losses(output, read.losses)
    return read.lists


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
    if system.name == "library":
        if len(paths) != 1:
            raise UsageFault("give exactly one TARGET")
        return lists_of_target(paths[0], output, options)
    if system.name in ("mixlist", "mindspore-lite"):
        return _read_mixlist(system, paths, base, output, options)
    read: ReadLists = system.code.read([Source.read(path) for path in paths], system)
    return read


def _read_mixlist(
    system: System, paths: Sequence[str], base: str | None, output: Output, options: TargetOptions
) -> ReadLists:
    if len(paths) != 1:
        raise UsageFault(f"{system.name} takes exactly one file")
    path = system.code.mixlist_path(Source.read(paths[0])) if system.name == "mindspore-lite" else paths[0]
    mixlist = accepted_mixlist(path, output)
    if base is None or names_system(base):
        return of_mixlist(mixlist, None, system.name)
    target = open_against(base, output, options)
    report_doubts(target, output)
    return of_mixlist(mixlist, target.operators, system.name)


def list_system(text: str, lists: tuple[str, ...], globs: tuple[str, ...], output: Output) -> int:
    """Run `opsinfo list --system`: print a system's lists for one level, with their version."""
    if output.format not in ("text", "json"):
        raise UsageFault(f"another system's lists are shown as text or json, not as {output.format}")
    found = open_system(text, output)
    wanted = {str(CLASSES[policy]) for policy in CLASSES if str(policy) in lists}
    shown = [each for each in found.entries if _wanted(each, wanted, globs)]
    if output.format == "json":
        output.document(lists_document(found, shown))
    else:
        show_lists(output, found, shown)
    return 0


def _wanted(each: ListEntry, classes: set[str], globs: tuple[str, ...]) -> bool:
    if classes and str(each.cls) not in classes:
        return False
    return matches(each.name, globs)
