"""Another system's lists as commands name them: NAME, NAME:LEVEL, NAME=FILE[,FILE], or a TARGET."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import UsageFault
from ...model.target import TargetOptions
from ...neighbours.library import CLASSES, of_mixlist, of_operators
from ...neighbours.placed import Lists, Placed, Told
from ...neighbours.systems import System, lists_of, names_system, system_called
from ...report.terminal.output import Output
from ...report.views.neighbours import lists_document, say_losses, show_lists
from ...text.source import Source
from .doubts import report_doubts, report_unknown
from .mixlist_input import accepted_mixlist
from .options import matches
from .targets import open_against, open_target


def open_lists(text: str, output: Output, options: TargetOptions) -> Lists:
    """A system's lists, or a target's.

    :raises UsageFault: where a system has no such level, or its files are not of its kind
    """
    return open_system(text, output) if names_system(text) else told_of_target(text, output, options).lists


def open_system(text: str, output: Output) -> Lists:
    """:raises UsageFault: where there is no such system or level, or its files are not of its kind"""
    name, equals, files = text.partition("=")
    if not equals:
        return lists_of(text)
    system = system_called(name)
    if system.names == "ascend" and system.name != "keep-dtype":
        raise UsageFault(f"{name} is Ascend's own, and a TARGET itself", name="wrong-kind", hint=f"say {files}")
    told = read_files(system, files.split(","), None, output, TargetOptions())
    say_losses(output, told.losses)
    return told.lists


def told_of_target(text: str, output: Output, options: TargetOptions) -> Told:
    """A library, store or install with every op type; a lone mixlist with what its marks decide."""
    target = open_target(text, output, options)
    if target.kind == "mixlist":
        return Told(of_mixlist(target.mixlist))
    report_doubts(target, output)
    return Told(of_operators(target.operators, text=text))


def read_files(system: System, paths: Sequence[str], base: str | None, output: Output, options: TargetOptions) -> Told:
    """:raises UsageFault: where the system has no files to read, or they say differences and there is no base"""
    if system.reads is None:
        raise UsageFault(f"{system.name} has no files to read", name="not-readable")
    if system.name == "library":
        if len(paths) != 1:
            raise UsageFault("one TARGET is read at a time")
        return told_of_target(paths[0], output, options)
    if system.name in ("mixlist", "mindspore-lite"):
        return _read_mixlist(system, paths, base, output, options)
    told: Told = system.code.read([Source.read(path) for path in paths], system)
    return told


def _read_mixlist(
    system: System, paths: Sequence[str], base: str | None, output: Output, options: TargetOptions
) -> Told:
    if len(paths) != 1:
        raise UsageFault(f"{system.name} is one file")
    if base is None or names_system(base):
        raise UsageFault(
            "a mixlist says what differs from a library, and needs one", name="needs-base", hint="say --base TARGET"
        )
    path = system.code.mixlist_path(Source.read(paths[0])) if system.name == "mindspore-lite" else paths[0]
    mixlist = accepted_mixlist(path, output)
    target = open_against(base, output, options)
    report_doubts(target, output)
    report_unknown(mixlist, target.operators, output)
    return Told(of_operators(target.operators, mixlist, system.name))


def list_system(text: str, lists: tuple[str, ...], globs: tuple[str, ...], output: Output) -> int:
    """`opsinfo list --system`: what a system lists, at which level, in which version."""
    if output.format not in ("text", "json"):
        raise UsageFault(f"another system's lists are shown as text or json, not as {output.format}")
    found = open_system(text, output)
    wanted = {str(CLASSES[policy]) for policy in CLASSES if str(policy) in lists}
    shown = [each for each in found.placed if _wanted(each, wanted, globs)]
    if output.format == "json":
        output.document(lists_document(found, shown))
    else:
        show_lists(output, found, shown)
    return 0


def _wanted(each: Placed, classes: set[str], globs: tuple[str, ...]) -> bool:
    if classes and str(each.cls) not in classes:
        return False
    return matches(each.name, globs)
