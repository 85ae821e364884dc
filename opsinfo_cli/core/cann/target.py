"""TARGET, the object of a command: what was recognised, and the op types of one chip of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from itertools import chain, count
from typing import Any, TypeAlias
from warnings import warn

from ...arguments import checked
from ...errors import Refused, UsageFault, join_some, quoted
from ..document import as_json, headed
from ..text.source import Source
from .file_kind import FileKind
from .install import Core, Install
from .library import Library, Operators, Store
from .mixlist import AnyMixlist, Mixlist, MixlistFile
from .snapshot import Edited, Snapshot, snapshot_text
from .targets.found import FACTS, Found, Named, OneChip, TargetFacts, TargetKind, TargetOptions, require_no_soc
from .targets.install import of_install
from .targets.library import soc_of_library
from .targets.store import soc_of_store
from .targets.table import recognise

AnyTarget: TypeAlias = "Target | Install | Store | Library | str | os.PathLike[str]"
"""What names a target: one that is open, a path, or a SoC name of the environment's install."""
AnyTargets: TypeAlias = "AnyTarget | Iterable[AnyTarget] | None"


@dataclass(eq=False, repr=False)
class Target(OneChip):
    """What has op types with policies: a library, a store, an install, a snapshot, or what defines op types elsewhere.

    It is a :class:`OneChip`, whose fields it takes over (``**vars(chip)``), with what names it.

    :ivar text: as given
    :ivar doubts: messages that may change an answer
    """

    _: KW_ONLY
    text: str
    kind: TargetKind
    path: str
    doubts: list[str] = field(default_factory=list)

    @classmethod
    @checked
    def open(
        cls, target: AnyTarget | Mixlist, soc: str | None = None, core: Core = "ai", kind: FileKind | None = None
    ) -> Target:
        """Open a TARGET: a path, or a SoC name of the environment's install; an open one is not read again.

        :raises UsageFault: if it names no target, or several, or a mixlist
        :raises Refused: if it cannot be read
        """
        if isinstance(target, Target):
            return target
        if isinstance(target, Library):
            return cls._of(target.path, "library", target.operators, soc_of_library(target.path), target.source)
        if isinstance(target, Install):
            text = f"{target.root}@{target.soc}" if target.soc else target.root
            return cls(**vars(of_install(target, [])), text=text, kind="install", path=target.root)
        if isinstance(target, Store):
            if target.directory:
                return cls._of(target.directory, "store", target.operators, soc_of_store(target.directory))
            path = target.libraries[0].path
            return cls._of(path, "library", target.operators, soc_of_library(path))
        if isinstance(target, Mixlist):
            raise a_mixlist(target.path)
        if not isinstance(target, (str, os.PathLike)):
            message = f"a target is a path, a SoC name or an open target, not {type(target).__name__}"
            raise UsageFault(message, name="wrong-type")
        return resolve(os.fspath(target), TargetOptions(kind=kind, soc=soc, core=core), os.environ)

    @classmethod
    def _of(
        cls, path: str, kind: TargetKind, operators: Operators, soc: str | None, source: Source | None = None
    ) -> Target:
        return cls(lambda: operators, soc, source=source, text=path, kind=kind, path=path)

    def __repr__(self) -> str:
        return f"<Target {self.text}: {self.kind}{f' for {self.soc}' if self.soc else ''}>"

    @property
    def phrase(self) -> str:
        """Its kind in a sentence."""
        return FACTS[self.kind].phrase

    @cached_property
    def operators(self) -> Operators:
        """:raises Refused: if the engine refuses a store"""
        return self.read()

    @property
    def facts(self) -> TargetFacts:
        return TargetFacts(self.text, self.kind, self.path, self.soc, self.version)

    @checked
    def to_dict(self, mixlist: AnyMixlist | None = None) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo list``: the op types.

        :param mixlist: applied to the libraries
        """
        from .operator_rows import ListDocument, operator_rows

        applied = None if mixlist is None else Mixlist.open(mixlist)
        rows = operator_rows(self.operators, applied)
        document = headed("list", ListDocument.of(rows, len(rows), self.other_counts(), self.facts))
        if self.unreadable:
            document["unreadable"] = as_json(self.unreadable)
        return document

    @checked
    def describe(self, ops: str | Iterable[str], mixlist: AnyMixlist | None = None) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo show``: of some op types also the dtypes of their tensors.

        :param mixlist: applied to the libraries
        :raises UnknownOperator: if an op type is unknown
        """
        from .operator_rows import OperatorDetails, ShowDocument

        applied = None if mixlist is None else Mixlist.open(mixlist)
        found = self.operators.require([ops] if isinstance(ops, str) else ops)
        document = headed("show", ShowDocument([OperatorDetails.of(each, applied) for each in found], self.facts))
        if self.unreadable:
            document["unreadable"] = as_json(self.unreadable)
        return document

    def other_counts(self) -> dict[str, int]:
        """Return the number of op types in the stores of an install for other cores."""
        return self.install.other_counts() if self.install else {}

    def doubts_of_policies(self) -> Iterator[str]:
        """Yield what makes the policies uncertain."""
        for store in self.operators.stores:
            for remark in store.remarks:
                yield f"{remark.path}:{remark.line}: {remark.message}"
            if store.doubts:
                first = store.doubts[0]
                more = f" (and {len(store.doubts) - 1} more)" if len(store.doubts) > 1 else ""
                yield f"{first.path}:{first.line}: {first.message}{more}; current engines refuse this store"
            for paths, names in store.undecided().items():
                if any(len({entry.policy for entry in store.contenders(name)}) > 1 for name in names):
                    yield f"the load order of {join_some(paths)} is undefined; see `opsinfo doctor`"

    @property
    def other_engines(self) -> Mapping[str, str]:
        """Op types of other engines: name -> engine."""
        return self.read_engines()


def one_or_several(targets: AnyTargets) -> list[AnyTarget]:
    if targets is None:
        return []
    if isinstance(targets, (str, os.PathLike, Target, Install, Store, Library)):
        return [targets]
    return [*targets] if isinstance(targets, Iterable) else [targets]  # what is none, `Target.open` refuses


def targets_of(targets: AnyTargets) -> list[Target]:
    return [Target.open(each) for each in one_or_several(targets)]


def as_target_or_mixlist(target: AnyTarget | Mixlist | MixlistFile) -> Target | MixlistFile:
    """Open a TARGET as :meth:`Target.open`, or a mixlist, for functions that take both."""
    if isinstance(target, MixlistFile):
        return target
    if isinstance(target, Mixlist):
        return MixlistFile(target.source)
    if isinstance(target, (str, os.PathLike)):
        return target_or_mixlist(os.fspath(target), TargetOptions(), os.environ)
    return Target.open(target)


def target_text(target: AnyTarget | Mixlist | MixlistFile) -> str:
    """Return what names a target on the command line."""
    return os.fspath(target) if isinstance(target, (str, os.PathLike)) else as_target_or_mixlist(target).text


def snapshot(target: AnyTarget, *, edited: Iterable[Edited] = (), say: Callable[[str], None] = warn) -> str:
    """Return the file of ``opsinfo snapshot``: op types, policies and dtype columns, for use without CANN.

    :param edited: op types whose policy is not the vendor's, which the snapshot says wherever it is read
    :param say: called with what makes the policies uncertain, and what is left out
    :raises UsageFault: if it is a mixlist
    """
    opened = Target.open(target)
    for doubt in opened.doubts_of_policies():
        say(doubt)
    facts = Snapshot(
        opened.soc,
        opened.version,
        opened.core,
        opened.operators,
        opened.other_engines,
        sorted({*opened.edited, *edited}),
    )
    text = snapshot_text(facts)
    for entry in (entry for store in opened.operators.stores for entry in store.winners()):
        if entry.refused:
            say(f"{entry.path}:{entry.line}: `{entry.name}` is left out: {entry.refused}")
        elif entry.unread:
            say(f"`{entry.name}` is saved without its dtypes, since they could not be read: {entry.unread}")
    return text


def target_labels(targets: Sequence[Target | MixlistFile]) -> list[str]:
    """Return distinct short labels: the SoCs, else the texts as given, else both together, numbered if need be."""
    texts = [target.text for target in targets]
    socs = [target.soc or target.text for target in targets]
    both = [
        text if text == soc or text.endswith(f"@{soc}") else f"{text} {soc}"
        for text, soc in zip(texts, socs, strict=True)
    ]
    labels: dict[str, None] = {}
    for label in next((each for each in (socs, texts) if len(set(each)) == len(each)), both):
        numbered = chain([label], (f"{label} ({number})" for number in count(2)))
        labels[next(each for each in numbered if each not in labels)] = None
    return [*labels]


def resolve(text: str, options: TargetOptions, environ: Mapping[str, str]) -> Target:
    """Return the target that a text names.

    :raises UsageFault: if the text names no target, or several, or a mixlist
    :raises Refused: if it cannot be read
    """
    target = target_or_mixlist(text, options, environ)
    if isinstance(target, MixlistFile):
        raise a_mixlist(target.path)
    return target


def target_or_mixlist(text: str, options: TargetOptions, environ: Mapping[str, str]) -> Target | MixlistFile:
    """Return the target that a text names, or the mixlist, for commands that take both.

    For a mixlist the options describe the target of ``--against``.

    :raises UsageFault: if the text names neither, or several targets
    :raises Refused: if it cannot be read
    """
    found, soc = look_up(text, options, environ)
    return MixlistFile(found) if isinstance(found, Source) else target_of(text, found, soc, options.customs)


def targets_or_mixlist(
    text: str, options: TargetOptions, socs: Sequence[str], environ: Mapping[str, str]
) -> list[Target | MixlistFile]:
    """Return a target for each chip, as :func:`target_or_mixlist` does for one, or the mixlist.

    :param socs: the chips to choose; empty for all
    """
    found, soc = look_up(text, options, environ)
    if isinstance(found, Source):
        return [MixlistFile(found)]
    chips: Sequence[str | None] = [soc] if soc else [*(found.list_socs() if found.has_chips else ())] or [None]
    if socs and found.has_chips:
        require_no_soc(text, soc)
        chips = socs
    return [target_of(text, found, each, options.customs) for each in chips]


def look_up(text: str, options: TargetOptions, environ: Mapping[str, str]) -> tuple[Found | Source, str | None]:
    """Return what a text names, with its chip if the text or the options name it, or the text of a mixlist.

    :raises UsageFault: if the text names neither
    :raises Refused: if it cannot be read
    """
    if text == "-" and options.handed is None:
        raise UsageFault("this command does not read standard input", hint="give a path")
    named, soc = Named(text, options, environ), options.soc
    root, _, chip = text.rpartition("@")
    if not named.is_read:
        _require_lookup(text)
        if chip and os.path.lexists(root):
            require_no_soc(text, soc)
            named, soc = Named(root, options, environ), chip
    found = recognise(named, options)
    if named.path != text and not (isinstance(found, Found) and found.has_chips):
        raise UsageFault("only an operator package has chips to choose from", name="wrong-kind", path=root)
    return found, soc


def target_of(text: str, found: Found, soc: str | None, customs: Iterable[str] = ()) -> Target:
    """Return one chip of what a text names.

    :raises UsageFault: if there are several, or none of that name
    """
    target = Target(**vars(found.open(soc)), text=text, kind=found.kind, path=found.path)
    for path in customs:
        if target.install is None:
            target.doubts.append(f"--custom {path} has no effect: the target is no install")
        elif why := target.install.nothing_from(f"env:{path}"):
            target.doubts.append(f"--custom {path} adds nothing for {target.soc or target.core}: {why}")
    return target


def a_mixlist(path: str) -> UsageFault:
    message = "this is a mixlist, which has only marks; a library, store, install or snapshot is required"
    hint = f"`opsinfo show TARGET OP --mixlist {quoted(path)}` shows its effect"
    return UsageFault(message, name="wrong-kind", path=path, hint=hint)


def _require_lookup(path: str) -> None:
    """:raises Refused: if it cannot be determined whether the path exists, because a folder above is not searchable"""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise Refused(reason or str(error), name="unreadable", path=path) from None
