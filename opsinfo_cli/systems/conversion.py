"""Convert one system's lists to another system's files, and report what became of every entry."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from warnings import warn

from ..core.cann.mixlist import Mixlist, MixlistFile
from ..core.cann.onnx_opsets import NEWEST_OPSET
from ..core.cann.target import AnyTarget, AnyTargets, Target, as_target_or_mixlist, one_or_several
from ..core.document import Count, headed, internal, renamed
from ..errors import UsageFault
from .input_lists import open_inputs, read_inputs
from .model_nodes import with_model
from .registry import SYSTEMS, lists_of, system_called
from .system import ConversionOptions, System, Write
from .translation import translate
from .vocabulary import ListEntry, Loss, OperatorLists, ReadLists, loss_of, reasons_of


@dataclass(frozen=True)
class DroppedEntry:
    """One entry that the files do not express."""

    name: str
    """The entry as written in the source."""
    reason: str
    """Why the entry was not carried over."""


@dataclass(frozen=True)
class Entries:
    """What happened to the entries of the source."""

    given: Count
    """Number of entries in the source."""
    carried: Count
    """Number of source entries that the files express."""
    dropped: Sequence[DroppedEntry]
    """The entries that were not carried over, in the order of the source."""


@dataclass(frozen=True)
class ConvertedFile:
    """One file."""

    name: str
    """The usual name of the file."""
    path: str | None
    """The path that was or would be written; null if no output was given."""
    text: str
    """The complete text of the file."""


@dataclass(frozen=True)
class Conversion:
    """Files converted from other lists, what happened to every entry, and every lossy step. Later versions may add
    keys.
    """

    to: str
    """The format that was written."""
    base: Sequence[str]
    """The baseline that the files are a difference against."""
    entries: Entries
    """What happened to the entries of the source."""
    added: Sequence[str]
    """Names in the files that are not in the source: other forms of its operators."""
    losses: list[Loss]
    """Every step in which the result differs from the source, in order."""
    files: list[ConvertedFile]
    """The resulting files; empty if --strict refused."""
    change: str | None = None
    """The id of the change; null if no file was written."""
    dry_run: bool = False
    """Whether writing was skipped because of --dry-run or --check."""
    source: str = renamed("from", "")
    """The format or system that was read."""
    given: tuple[str, ...] = internal(())
    """The entries of the source, in its order."""
    title: str = internal("")
    """What the lists of the source are called."""

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the files by their usual names."""
        return {file.name: file.text for file in self.files}

    @property
    def is_partial(self) -> bool:
        """Whether a part of the source was not read that the files could express."""
        return any(loss.is_unread for loss in self.losses)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo systems convert``."""
        return headed("systems convert", self)


def convert(
    source: str,
    to: str,
    files: AnyTargets | Mixlist | MixlistFile = None,
    *,
    against: AnyTarget | None = None,
    model: str | None = None,
    opset: int | None = None,
    output: str | None = None,
    with_defaults: bool = False,
    replace: bool = False,
    same_names: bool = False,
    say: Callable[[str], None] = warn,
) -> Conversion:
    """Convert lists to the files of another system, as ``opsinfo systems convert``. What is lost is in the result.

    :param files: a file of ``source``, or several if it has several; a target or mixlist may be open; none for the
        system's own lists
    :param against: the target that a mixlist is a difference from
    :param model: an ONNX model whose nodes the node names and patterns of ``source`` mean
    :param opset: ONNX: the opset of the model
    :param output: the file or folder that the files are meant for, as they may name it
    :param with_defaults: also translate the built-in entries that stay active beside the files
    :param replace: also move the op types that the files do not list, as their system would
    :param same_names: map an unknown name to the target's op type of the same name
    :param say: called with what makes the policies of a target uncertain
    :raises UsageFault: if an argument has no effect, or a system cannot be read or written
    :raises Refused: if a file cannot be read
    """
    given = [files] if isinstance(files, Mixlist | MixlistFile) else one_or_several(files)
    inputs = open_inputs(system_called(source), given, as_target_or_mixlist, Mixlist.read) if given else None
    target, origin = system_called(to), system_called(source.partition(":")[0])
    require_writer(target)
    if replace and not target.delta:
        raise UsageFault("--replace requires --to mixlist")
    if against is not None and not target.delta and not (inputs is not None and origin.delta):
        raise UsageFault("--against requires a mixlist to read or to write")
    base = None if against is None else Target.open(against)
    if base:
        for doubt in base.doubts_of_policies():
            say(doubt)
    if inputs is not None:
        read = read_inputs(system_called(source), inputs, base, say)
    elif origin.facts is None:
        raise UsageFault(f"{source} has no built-in lists; give a file")
    else:
        read = ReadLists(lists_of(source))
    if model is not None:
        if not any(entry.scope == "node" for entry in read.lists.entries):
            raise UsageFault("--model has no effect: the lists name no nodes")
        read = with_model(read, model, target.has_nodes)
    if with_defaults and (inputs is None or source == "library"):
        message = f"--with-defaults adds nothing: the lists of {source} are converted whole"
        raise UsageFault(message, hint="it applies to files beside which built-in entries stay active")
    if opset is not None and "onnx" not in (read.lists.names, target.names):
        raise UsageFault("--opset requires an ONNX format on one side")
    if opset is not None and opset > NEWEST_OPSET:
        raise UsageFault(f"the operators of opset {opset} are unknown", hint=f"the newest known is {NEWEST_OPSET}")
    asked = ConversionOptions(everything=replace, out=output, opset=opset, with_defaults=with_defaults)
    if base and target.delta:
        asked = asked._replace(operators=base.operators, target=base.text)
    if same_names:
        if asked.operators is None:
            raise UsageFault("--same-names requires --against", hint="add --against TARGET")
        asked = asked._replace(same=frozenset(asked.operators.names))
    made, title = convert_lists(read, target, asked), read.lists.title
    return dataclasses.replace(made, source=source, to=to, base=(base.text,) if base else (), title=title)


def convert_lists(read: ReadLists, to: System, options: ConversionOptions) -> Conversion:
    """Return the lists as files of another system.

    :raises UsageFault: if the target cannot be written, or its files are differences and there is nothing to compare
        with
    """
    write = require_writer(to)
    lists = read.lists if options.with_defaults else dataclasses.replace(read.lists, entries=read.lists.own)
    unread = reasons_of(read.losses)
    sources = dict.fromkeys(source for entry in lists.entries for source in entry.sources)
    given = tuple({**sources, **unread})
    dropped = {name: reason for name, reason in unread.items() if name not in sources}
    losses = [
        dataclasses.replace(loss, kind="node-rules")
        if loss.is_unread and loss.scope == "node" and not to.has_nodes
        else loss
        for loss in read.losses
    ]
    nodes = [entry for entry in lists.entries if entry.scope == "node"] if to.has_nodes else []
    lists = dataclasses.replace(lists, entries=tuple(entry for entry in lists.entries if entry not in nodes))
    schemes = [to.names]
    if lists.names != to.names and "ascend" not in (lists.names, to.names):
        schemes.insert(0, "ascend")  # between two other systems names become Ascend's op types first
    for scheme in schemes:
        after = translate(lists, scheme, options.same, options.opset)
        _drop(dropped, given, lists, (*after.lists.entries, *nodes), reasons_of(after.losses))
        losses += after.losses
        lists = after.lists
    lists = dataclasses.replace(lists, entries=(*lists.entries, *nodes))
    written = write(to, lists, options)
    reasons = written.dropped
    kept = [entry for entry in lists.deciding().values() if entry.name not in reasons]
    _drop(dropped, given, lists, kept, reasons)
    added = tuple(entry.name for entry in kept if entry.is_form and entry.name not in written.unchanged)
    forms = loss_of("form", "added: other forms of the listed operators", added)
    losses += [*(dataclasses.replace(loss, lossy=False) for loss in forms), *written.losses]
    left_out = tuple(DroppedEntry(name, dropped[name]) for name in given if name in dropped)
    entries = Entries(len(given), len(given) - len(left_out), left_out)
    files = [ConvertedFile(name, None, text) for name, text in written.files.items()]
    return Conversion(to.name, (), entries, added, losses, files, given=given)


def _drop(
    dropped: dict[str, str],
    given: Iterable[str],
    before: OperatorLists,
    after: Iterable[ListEntry],
    reasons: Mapping[str, str],
) -> None:
    """Add what a step drops: source names that the entries before it stood for and those after it do not."""
    left = {source for entry in after for source in entry.sources}
    current: dict[str, list[str]] = {}
    for entry in before.entries:
        for source in entry.sources:
            current.setdefault(source, []).append(entry.name)
    for name in given:
        if name not in left and name not in dropped:
            names = (*current.get(name, ()), name)
            names += tuple(word.partition(".")[0] for word in names)  # an overload is dropped with its operator
            reason = next((reasons[word] for word in names if word in reasons), None)
            dropped[name] = reason or "other entries decide its op types"


def require_writer(system: System) -> Write:
    """:raises UsageFault: if the system cannot be written"""
    if system.write is None:
        known = ", ".join(other.name for other in SYSTEMS.values() if other.write)
        hint = system.instead or f"these can: {known}"
        raise UsageFault(f"{system.name} cannot be written", name="not-writable", hint=hint)
    return system.write
