"""TARGET, the object of a command, and the lookup of a SoC name.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/utils/common/configuration.cc
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias
from warnings import warn

from ...errors import Damaged, Refused, UsageFault, join_some
from ..document import as_json
from ..text.members import read_members
from ..text.scanner import scan
from ..text.source import Source, read_bytes
from .chips import folder_of, note_of
from .definitions import PHRASES, Chips, Definitions, chips_of
from .entry import Columns
from .file_kind import FileKind, foreign_of, is_library_name, kind_of
from .foreign_files import foreign_binary
from .install import Install, environment_customs, opp_root, select_root
from .library import Library, Operators, Store
from .load_order import library_files
from .mixlist import AnyMixlist, Mixlist
from .snapshot import Snapshot, snapshot_text

if TYPE_CHECKING:
    from ..documents import shared as documents
    from ..documents.list import ListDocument
    from ..documents.show import ShowDocument
    from ..text.members import Members
    from ..text.scanner import Document
    from .foreign_files import Foreign


_SOC_IN_NAME = r"(?:aic|dsa)-([a-z0-9_]+)-ops-info(?:-.+)?\.json"


class TargetOptions(NamedTuple):
    """Options of the command line that describe a target.

    :param kind: None detects it
    :param soc: the chip of an install
    :param customs: custom operator packages
    :param stdin: standard input, if ``-`` is a target
    """

    kind: FileKind | None = None
    soc: str | None = None
    core: str = "ai"
    customs: tuple[str, ...] = ()
    stdin: bytes | None = None


TargetKind: TypeAlias = Literal["library", "mixlist", "snapshot", "store", "install", "ini", "opdef", "package"]
AnyTarget: TypeAlias = "Target | Install | Store | Library | Mixlist | str | os.PathLike[str]"
"""What names a target: one that is open, a path, or a SoC name of the environment's install."""
AnyTargets: TypeAlias = "AnyTarget | Iterable[AnyTarget] | None"


class Target:
    """A library, a store, an install, a snapshot, a mixlist, or op types that are defined elsewhere.

    :param text: as given
    :param definitions: inis of opbuild, or a custom package
    :param notes: messages about how it was found; ``doubts`` are those that may change an answer
    """

    def __init__(
        self,
        text: str,
        kind: TargetKind,
        path: str,
        source: Source | None = None,
        install: Install | None = None,
        notes: list[str] | None = None,
        outcome: Members | Document | None = None,
        definitions: Definitions | None = None,
    ) -> None:
        self.text = text
        self.kind = kind
        self.path = path
        self.source = source
        self.install = install
        self.notes = notes or []
        self.doubts: list[str] = []
        self.definitions = definitions
        self._outcome = outcome

    @classmethod
    def open(cls, target: AnyTarget, soc: str | None = None, core: str = "ai", kind: FileKind | None = None) -> Target:
        """Open a TARGET: a path, or a SoC name of the environment's install; an open one is not read again.

        :raises UsageFault: if it names no target, or several
        :raises Refused: if it cannot be read
        """
        if isinstance(target, Target):
            return target
        if isinstance(target, (Library, Mixlist)):
            found = cls(
                target.path, "library" if isinstance(target, Library) else "mixlist", target.path, target.source
            )
            if isinstance(target, Mixlist):
                found.mixlist = target
            else:
                found.operators = target.operators
            return found
        if isinstance(target, Install):
            text = f"{target.root}@{target.soc}" if target.soc else target.root
            return cls(text, "install", target.root, install=target)
        if isinstance(target, Store):
            path = target.directory or target.libraries[0].path
            found = cls(path, "store" if target.directory else "library", path)
            found.operators = target.operators
            return found
        if not isinstance(target, (str, os.PathLike)):
            message = f"a target is a path, a SoC name or an open target, not {type(target).__name__}"
            raise UsageFault(message, name="wrong-type")
        return resolve(os.fspath(target), TargetOptions(kind=kind, soc=soc, core=core), os.environ)

    def __repr__(self) -> str:
        return f"<Target {self.text}: {self.kind}{f' for {self.soc}' if self.soc else ''}>"

    @property
    def phrase(self) -> str:
        """Its kind in a sentence."""
        return {"install": "an install", **PHRASES}.get(self.kind, f"a {self.kind}")

    @property
    def _known(self) -> Install | Snapshot | Definitions | None:
        """What knows more of the target than its path does."""
        return self.install or self.definitions or self.snapshot

    @cached_property
    def operators(self) -> Operators:
        """:raises Refused: if the engine refuses a store"""
        if known := self._known:
            return known.operators
        if self.kind == "store":
            return Store.read(self.path).operators
        if self.source is not None and self.kind == "library":
            return Library.of(self.source, self._outcome).operators
        raise UsageFault("a mixlist has no operators", name="wrong-kind", path=self.path)

    @cached_property
    def mixlist(self) -> Mixlist:
        """:raises Damaged: if the engine would refuse it"""
        assert self.source is not None
        return Mixlist(scan(self.source))

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """:raises Refused: if it is damaged, or of an unknown version"""
        if self.kind != "snapshot":
            return None
        assert self.source is not None
        return Snapshot.of(self.source)

    @property
    def soc(self) -> str | None:
        """The SoC, if known: of the install or snapshot, or from the folder or name of a file or store."""
        if known := self._known:
            return known.soc
        folder = os.path.abspath(self.path) if self.kind == "store" else os.path.dirname(os.path.abspath(self.path))
        name, parent = os.path.basename(folder), os.path.basename(os.path.dirname(folder))
        if parent == "config":
            return name
        named = re.fullmatch(_SOC_IN_NAME, os.path.basename(self.path)) if self.kind == "library" else None
        return named[1] if named else None

    @property
    def version(self) -> str | None:
        known = self._known
        return known.version if known else None

    @property
    def core(self) -> str:
        """The engine of its op types: ``ai``, ``vector`` or ``dsa``; ``ai`` for a file or store."""
        known = self._known
        return known.core if known else "ai"

    @property
    def facts(self) -> documents.Target:
        """What a JSON document says of it."""
        return {
            "text": self.text,
            "kind": self.kind,
            "path": self.path,
            "soc": self.soc,
            "version": self.version,
        }

    def to_dict(self, mixlist: AnyMixlist | None = None) -> ListDocument:
        """Return the JSON document of ``opsinfo list``: the op types, or the marks of a mixlist.

        :param mixlist: applied to the libraries
        """
        from .operator_documents import list_document
        from .operator_rows import mixlist_rows, operator_rows

        is_mixlist = self.kind == "mixlist"
        applied = None if mixlist is None else Mixlist.open(mixlist)
        rows = mixlist_rows(self.mixlist, None) if is_mixlist else operator_rows(self.operators, applied)
        document = list_document(self.facts, rows, len(rows), self.other_counts())
        if self.definitions and self.definitions.unreadable:
            document["unreadable"] = as_json(self.definitions.unreadable)
        return document

    def describe(self, ops: str | Iterable[str], mixlist: AnyMixlist | None = None) -> ShowDocument:
        """Return the JSON document of ``opsinfo show``: of some op types also the dtypes of their tensors.

        :param mixlist: applied to the libraries
        :raises UnknownOperator: if an op type is unknown
        """
        from .operator_documents import show_document
        from .operator_rows import operator_row

        applied = None if mixlist is None else Mixlist.open(mixlist)
        found = self.operators.require([ops] if isinstance(ops, str) else ops)
        return show_document(self.facts, [(operator_row(each, applied), Columns(each.entry)) for each in found])

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
        known = self._known
        return known.other_engines if known else {}


def one_or_several(targets: AnyTargets) -> list[AnyTarget]:
    if targets is None:
        return []
    if isinstance(targets, (str, os.PathLike, Target, Install, Store, Library, Mixlist)):
        return [targets]
    return [*targets] if isinstance(targets, Iterable) else [targets]  # what is none, `Target.open` refuses


def targets_of(targets: AnyTargets) -> list[Target]:
    return [Target.open(each) for each in one_or_several(targets)]


def target_text(target: AnyTarget) -> str:
    """Return what names a target on the command line."""
    return os.fspath(target) if isinstance(target, (str, os.PathLike)) else Target.open(target).text


def snapshot(target: AnyTarget, *, say: Callable[[str], None] = warn) -> str:
    """Return the file of ``opsinfo snapshot``: op types, policies and dtype columns, for use without CANN.

    :param say: called with what makes the policies uncertain, and what is left out
    :raises UsageFault: if it is a mixlist
    """
    opened = Target.open(target)
    if opened.kind == "mixlist":
        raise UsageFault("a snapshot requires libraries; this is a mixlist", name="wrong-kind", path=opened.path)
    for doubt in opened.doubts_of_policies():
        say(doubt)
    facts = Snapshot(opened.soc, opened.version, opened.core, opened.operators, opened.other_engines)
    text = snapshot_text(facts)
    for entry in (entry for store in opened.operators.stores for entry in store.winners()):
        if entry.refused:
            say(f"{entry.path}:{entry.line}: `{entry.name}` is left out: {entry.refused}")
        elif entry.unread:
            say(f"`{entry.name}` is saved without its dtypes, since they could not be read: {entry.unread}")
    return text


def target_labels(targets: Sequence[Target]) -> list[str]:
    """Return distinct short labels: the SoCs, else the texts as given, else both together."""
    texts = [target.text for target in targets]
    socs = [target.soc or target.text for target in targets]
    both = [
        text if text == soc or text.endswith(f"@{soc}") else f"{text} {soc}"
        for text, soc in zip(texts, socs, strict=True)
    ]
    return next((labels for labels in (socs, texts) if len(set(labels)) == len(labels)), both)


def resolve(text: str, options: TargetOptions, environ: Mapping[str, str]) -> Target:
    """:raises UsageFault: if the text names no target, or several
    :raises Refused: if it cannot be read
    """
    if text == "-":
        if options.stdin is None:
            raise UsageFault("this command does not read standard input", hint="give a path")
        if options.kind is None:
            raise UsageFault("standard input has no name", hint="add --as library or --as mixlist")
        target = Target("-", options.kind, "-", source=Source(options.stdin, "-"))
    elif os.path.isdir(text):
        target = _from_directory(text, options)
    elif os.path.lexists(text):
        target = _from_file(text, options)
    else:
        _require_lookup(text)
        root, _, soc = text.rpartition("@")
        if soc and os.path.lexists(root):
            target = _from_chip(text, root, soc, options)
        elif "/" in text or text.endswith(".json"):
            raise Refused("no such file or directory", name="unreadable", path=text, hint=_WHAT_A_TARGET_IS)
        else:
            target = _from_soc(text, options, environ)
    if target.kind != "mixlist":  # for a mixlist the options describe the target of --against
        for path in options.customs:
            if target.install is None:
                target.doubts.append(f"--custom {path} has no effect: the target is no install")
            elif why := target.install.nothing_from(f"env:{path}"):
                target.doubts.append(f"--custom {path} adds nothing for {target.soc or target.core}: {why}")
    return target


_WHAT_A_TARGET_IS = (
    "a target is a library, mixlist or snapshot file, a folder of libraries, an operator package (OPP), one of its "
    "chips as PACKAGE@SOC, an ini of opbuild or OpDef sources, or the name of a chip"
)


def _from_chip(text: str, root: str, soc: str, options: TargetOptions) -> Target:
    """``TARGET@SOC``: one chip of an install."""
    _require_no_soc(text, options)
    options = options._replace(soc=soc)
    target = _from_directory(root, options) if os.path.isdir(root) else _from_file(root, options)
    if target.install is None and target.definitions is None:
        raise UsageFault("only an operator package has chips to choose from", name="wrong-kind", path=root)
    target.text = text
    return target


def _require_no_soc(text: str, options: TargetOptions) -> None:
    """:raises UsageFault: if a target that names its SoC has another option for it"""
    if options.soc:
        raise UsageFault(f"`{text}` names the chip already", hint="leave out --soc")


def _require_lookup(path: str) -> None:
    """:raises Refused: if it cannot be determined whether the path exists, because a folder above is not searchable"""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise Refused(reason or str(error), name="unreadable", path=path) from None


def _from_file(text: str, options: TargetOptions) -> Target:
    if options.kind in (None, "library") and (chips := chips_of(text)):
        return defined_target(text, chips, options)
    data = read_bytes(text)
    try:
        source = Source(data, text)
    except Damaged:
        if foreign := foreign_binary(text, data[:64]):
            raise foreign.fault(text) from None
        raise
    outcome = read_members(source)
    kind = options.kind or kind_of(source, outcome)
    if kind is None:
        raise unknown_kind(source, "add --as library or --as mixlist", outcome)
    target = Target(text, kind, text, source=source, outcome=outcome)
    if target.snapshot:
        target.snapshot.require_of(options.soc, options.core, text)
    _require_chip(target, options.soc)
    return target


def unknown_kind(source: Source, hint: str, outcome: Members | Document | None = None) -> UsageFault:
    """Return the error for a file that is neither a library nor a mixlist: what it is, if that is known."""
    if foreign := foreign_of(source, outcome):
        return foreign.fault(source.path)
    return UsageFault("neither a library nor a mixlist", name="unknown-kind", path=source.path, hint=hint)


def _require_chip(target: Target, soc: str | None) -> None:
    """:raises UsageFault: if a library or store is of another chip; a mixlist leaves the choice to ``--against``"""
    if soc and target.kind in ("library", "store") and target.soc and folder_of(soc, [target.soc]) is None:
        raise UsageFault(f"the {target.kind} is of {target.soc}, not of `{soc}`", name="unknown-soc", path=target.path)


def defined_target(text: str, chips: Chips, options: TargetOptions) -> Target:
    if options.core != "ai":
        raise UsageFault(f"it has no op types of the {options.core} core", name="wrong-kind", path=text)
    return Target(text, chips.kind, chips.path, definitions=chips.of(options.soc))


def _from_directory(text: str, options: TargetOptions) -> Target:
    root = opp_root(text)
    if root is None and _holds_libraries(text):
        target = Target(text, "store", text)
        _require_chip(target, options.soc)
        return target
    chips = chips_of(text)
    if root and chips is None:
        install = Install.open(root, options.soc, options.core, list(options.customs))
        return Target(text, "install", text, install=install, notes=note_of(options.soc or "", install.soc))
    if chips:
        return defined_target(text, chips, options)
    raise not_a_target(text)


def not_a_target(directory: str) -> UsageFault:
    """Return the error for a directory without libraries: what its files are, if that is known."""
    foreign = next(filter(None, _foreign_in(directory)), None)
    if foreign:
        return foreign.fault(directory)
    return UsageFault(
        "the directory is neither a store nor an operator package",
        name="wrong-kind",
        path=directory,
        hint="a store has `aic-<soc>-ops-info*.json`, an operator package `built-in/op_impl`, a project OpDef sources",
    )


def _holds_libraries(directory: str) -> bool:
    paths = [os.path.join(directory, name) for name in library_files(directory)]
    if any(map(is_library_name, paths)):
        return True
    if os.path.basename(os.path.dirname(os.path.abspath(directory))) == "config":
        return not paths or not all(_foreign_in(directory))
    return any(os.path.isfile(path) and kind_of(Source.read(path, directory)) == "library" for path in paths)


def _foreign_in(directory: str) -> Iterator[Foreign | None]:
    """Yield what each file of a directory is that the engine would load as a library; None if it is not recognised."""
    for name in library_files(directory):
        path = os.path.join(directory, name)
        try:
            yield foreign_of(Source.read(path, directory))
        except Refused:
            yield None


def _from_soc(text: str, options: TargetOptions, environ: Mapping[str, str]) -> Target:
    root = select_root(environ, f"no such file or directory: `{text}`")
    customs = [*options.customs, *environment_customs(environ)]
    install = Install.open(root.path, text, options.core, customs)
    _require_no_soc(text, options)
    notes = []
    if root.by == "usual folder":
        notes.append(f"using {root.path}, found in a usual folder; ASCEND_OPP_PATH is not set")
    return Target(text, "install", root.path, install=install, notes=[*notes, *note_of(text, install.soc)])
