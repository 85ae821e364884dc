"""Read lists: the text files of a system, the op types of a target, the marks of a mixlist."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from ..core.cann.library import Operators
from ..core.cann.mixlist import Mixlist, MixlistFile
from ..core.cann.policy import Policy
from ..core.cann.target import AnyTarget, Target, as_target_or_mixlist, target_text
from ..core.text.source import Source
from ..errors import OpsinfoError, UsageFault
from .list_text import read_list_text
from .registry import NOT_FLOAT16, formats_of
from .system import System
from .vocabulary import ListEntry, OperatorClass, OperatorLists, ReadLists, loss_of

_INT8 = re.compile(r"IgnoredScope\(|activation_encodings|^\s*(?:from|import) (?:nncf|quark|aimet\w*)\b", re.MULTILINE)
"""What NNCF, AIMET and Quark write or are called with."""
CLASSES = {Policy.WHITE: OperatorClass.LOW, Policy.BLACK: OperatorClass.HIGH, Policy.GRAY: OperatorClass.FOLLOW}


File = TypeVar("File", bound="AnyTarget | Mixlist | MixlistFile")
Inputs: TypeAlias = "Target | Mixlist | MixlistFile | list[str]"
"""What lists are read from: libraries or a mixlist, which are open, or the paths of a system's text files."""


def open_inputs(
    system: System,
    files: Sequence[File],
    open_target: Callable[[File], Target | MixlistFile],
    read_mixlist: Callable[[str], Mixlist],
) -> Inputs:
    """Open the files of a system, or what it names as such.

    :raises UsageFault: if there are too many, or it is no mixlist
    """
    if system.input == "text":
        return [target_text(file) for file in files]
    if len(files) != 1:
        raise UsageFault(f"{system.name} takes exactly one {'TARGET' if system.input == 'target' else 'file'}")
    (file,) = files
    if system.input == "target":
        return open_target(file)
    if isinstance(file, (str, os.PathLike)):
        path = target_text(file)
        return read_mixlist(system.mixlist_path(Source.read(path)) if system.mixlist_path else path)
    if isinstance(file, Mixlist):
        return file
    target = as_target_or_mixlist(file)
    if not isinstance(target, MixlistFile):
        raise UsageFault(f"{system.name} takes a mixlist, not {target.phrase}", name="wrong-kind", path=target.path)
    return target.mixlist


def read_inputs(system: System, inputs: Inputs, base: Target | None, say: Callable[[str], None]) -> ReadLists:
    """:param base: the target that a mixlist's marks apply to; None to read the marks alone

    :raises UsageFault: if the system has no files to read
    """
    if isinstance(inputs, (Target, MixlistFile)):
        return of_target(inputs, say)
    if isinstance(inputs, Mixlist):
        return of_mixlist(inputs, base.operators if base else None, system.name)
    return read_lists(system, [read_list_text(path) for path in inputs])


def read_lists(system: System, sources: list[Source]) -> ReadLists:
    """Return the lists in a system's text files.

    :raises UsageFault: if there are too many files, or they contain no list
    :raises Damaged: if a file has another structure
    """
    if system.read is None:
        message = f"{system.name} has no files to read"
        raise UsageFault(message, name="not-readable", hint=formats_of(system.names))
    if system.files is not None and len(sources) > system.files:
        wanted = "exactly one file" if system.files == 1 else f"at most {system.files} files ({system.reads})"
        raise UsageFault(f"{system.name} takes {wanted}")
    try:
        return system.read(system, sources)
    except OpsinfoError as error:
        tool = next((tool for source in sources for tool in _INT8.findall(source.text)), None)
        if tool is None:
            raise
        raise UsageFault(f"these are settings for INT8 (`{tool}`); {NOT_FLOAT16}", path=error.path) from None


def of_operators(operators: Operators, text: str = "library") -> OperatorLists:
    """Return every op type of a target with the class of its policy."""
    entries = tuple(_entry(operator.name, operator.entry.policy) for operator in operators)
    return OperatorLists(system=text, names="ascend", unlisted="library", entries=entries)


def of_target(target: Target | MixlistFile, say: Callable[[str], None]) -> ReadLists:
    """Return the op types of libraries; for a mixlist alone, those whose policy its marks decide.

    :param say: called with what makes the policies uncertain
    """
    if isinstance(target, MixlistFile):
        return ReadLists(of_mixlist(target.mixlist).lists)
    for doubt in target.doubts_of_policies():
        say(doubt)
    return ReadLists(of_operators(target.operators, text=target.text))


def of_mixlist(mixlist: Mixlist, operators: Operators | None = None, system: str = "mixlist") -> ReadLists:
    """Return the marks of a mixlist as the user's own entries, and the op types it does not mark as defaults.

    :param operators: the op types of a target; without it a mark that only removes has no effect
    """
    own, undecided = [], []
    for name in sorted(mixlist.marks):
        policy: Policy | None
        if operators is not None and name in operators:
            policy = mixlist.effective(name, operators[name].entry.policy)
        else:
            policy = mixlist.alone(name)
        if policy is None:
            undecided.append(name)
        else:
            own.append(_entry(name, policy))
    rest = [_entry(op.name, op.entry.policy, True) for op in operators or () if op.name not in mixlist.marks]
    message = (
        "not op types of the target, and their marks only remove, so the resulting list is unknown"
        if operators is not None
        else "their marks only remove, so the resulting list is unknown without the library; add --against TARGET"
    )
    losses = loss_of("not-in-base", message, undecided, drops=True)
    lists = OperatorLists(system=system, names="ascend", unlisted="library", entries=(*own, *rest))
    return ReadLists(lists, losses)


def _entry(name: str, policy: Policy, is_default: bool = False) -> ListEntry:
    return ListEntry(name, cls=CLASSES[policy], origin=str(policy), is_default=is_default)
