"""Habana's text lists, of HMP and of torch autocast: two files, one operator a line (interop.md 3.1, 3.2, 3.5)."""

from __future__ import annotations

from ..errors import UsageFault
from ..text.source import Source
from .homes import Base, Home, Written, sorted_into, unlike
from .placed import Class, Lists, Loss, Placed, Told
from .systems import System, lists_of

__all__ = ["line_names", "not_promoted", "read", "write"]

_HOMES = {
    Class.LOW: Home("bf16"),
    Class.HIGH: Home("fp32"),
    Class.FOLLOW: Home(None, False),
    Class.PROMOTE: Home(None),
    Class.CLEAR: Home(None, False),
    Class.BANNED: Home("fp32", False),
}


def line_names(source: Source) -> tuple[list[str], list[str]]:
    """The names of a file and the lines that are none: the whole line is the name, blanks and CR included."""
    lines = [line for line in source.text.split("\n") if line]
    return [line for line in lines if line == line.strip()], [line for line in lines if line != line.strip()]


def read(sources: list[Source], system: System) -> Told:
    """The BF16 file, then the FP32 file. A file replaces the built-in list; without the second that one stays.

    :raises UsageFault: on more than two files
    """
    if len(sources) > 2:
        raise UsageFault(f"{system.name} has two files: the BF16 list, then the FP32 list")
    own = lists_of(system.name)
    kept = [each for each in own.placed if each.cls is Class.PROMOTE]
    given: list[Placed] = []
    losses = []
    for source, cls in zip(sources, (Class.LOW, Class.HIGH), strict=False):
        names, wrong = line_names(source)
        given += [Placed(name, cls, origin=source.path) for name in names]
        if wrong:
            said = f"{source.path}: the whole line is the name, and with blanks or CR around it it matches nothing"
            losses.append(Loss("not-a-name", said, tuple(wrong)))
    if len(sources) == 1:
        kept = [each for each in own.placed if each.cls is Class.HIGH] + kept
    both = {each.name for each in given if each.cls is Class.LOW} & {e.name for e in given if e.cls is Class.HIGH}
    if both and system.name == "habana-hmp":
        said = "in both files; HMP's documents do not say which one wins, and they are left out"
        losses.append(Loss("conflict", said, tuple(sorted(both))))
        given = [each for each in given if each.name not in both]
    return Told(own._replace(placed=(*given, *kept), version=None), tuple(losses))


def write(lists: Lists, base: Base, system: System) -> Written:
    own = lists_of(system.name)
    found = sorted_into(lists, _HOMES, system.name)
    losses = [*found.losses, *unlike(lists, own.unlisted, own.low, system.name), *not_promoted(lists, own)]
    files = {f"ops_{name}.txt": "".join(f"{each}\n" for each in names) for name, names in found.lists.items()}
    return Written(files, losses)


def not_promoted(lists: Lists, own: Lists) -> list[Loss]:
    """:param own: the built-in lists of the system, whose promote list nobody edits"""
    fixed = {each.name for each in own.placed if each.cls is Class.PROMOTE}
    lost = [name for name, each in lists.deciding().items() if each.cls is Class.PROMOTE and name not in fixed]
    said = f"the operators that {own.system} promotes are fixed, and these are not among them; they are left out"
    return [Loss("no-class", said, tuple(lost))] if lost else []
