"""The kinds of files that are checked: how each is recognised, and what checks it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ...errors import Damaged, OpsinfoError, Refused, UsageFault, quoted
from ...near_names import NearNames
from ..cann.file_kind import (
    OPTION_KINDS,
    FileKind,
    NamedKind,
    OptionKind,
    foreign_of,
    is_library_name,
    is_marked,
    is_mixlist_name,
    kind_of,
    may_be_recognised,
    option_kind,
)
from ..cann.foreign_files import foreign_binary
from ..cann.ini import build_of, is_ini, rank
from ..cann.library import Library, Store
from ..cann.load_order import library_files, load_order
from ..cann.opdef.find import LEFT_OUT, SUFFIXES, is_experimental, is_source, project_of
from ..cann.precision_mode import MODES
from ..cann.targets.table import unknown_kind
from ..text.members import Members, read_members
from ..text.scanner import Document, scan
from ..text.source import Source, read_bytes
from .finding import CheckedKind, Finding, at
from .ini import check_inis
from .library import check_library, root_is_no_object
from .mixlist import MixlistReading, MixlistTarget, check_against, check_mixlist, foreign_list, near_names_of
from .models import Models, OpenModels
from .options import OptionCheck, OptionFile
from .rules import Severity
from .store import check_store, never_built
from .text import bom, faults, syntax_finding

if TYPE_CHECKING:
    from ..cann.opdef.reading import Reading


class Asked(NamedTuple):
    """
    :param against: the targets that mixlists are for
    :param modes: names of precision modes, known or not
    :param models: the models that mixlists are for, if there are any
    :param kind: the kind of all files; None detects it
    :param follow: whether files that scripts name are checked too
    :param by_chip: whether it is reported that sources give an op type different policies on different chips
    :param open_models: opens models; of none, it gives the rules that need no model
    :param exclude: patterns of files and folders that a walk leaves out
    """

    against: Sequence[MixlistTarget] = ()
    modes: Sequence[str] = ()
    models: Models | None = None
    kind: NamedKind | None = None
    follow: bool = False
    by_chip: bool = False
    open_models: OpenModels | None = None
    exclude: Sequence[str] = ()


NOT_MARKED = "neither its name nor its text marks a kind of file that is checked"


class ReadFile:
    """A file that was read, or a folder of libraries.

    As JSON is read what the user names; of a tree what ends in `.json`, is not given as options, and is marked. As
    options is read what is given as such, of a tree if its text fits; and what is not given, does not end in `.json`,
    and fits. What is read as both is checked as options, which come first in ``KINDS``.

    :param data: None for a folder
    :param given: its kind, if it is known; None detects it
    :param top: the folder of the tree in which it was met, out of which no link is followed; None if the user names it
    """

    def __init__(self, path: str, data: bytes | None, given: NamedKind | None = None, top: str | None = None) -> None:
        self.path = path
        self.is_folder = data is None
        self.data = data or b""
        self.given = given
        self.top = top

    @property
    def is_named(self) -> bool:
        """Whether the user names it; of a tree only what is marked by name or text is checked."""
        return self.top is None

    @cached_property
    def source(self) -> Source:
        """:raises Damaged: if it is not UTF-8"""
        return Source(self.data, self.path)

    @cached_property
    def damage(self) -> Damaged | None:
        try:
            _ = self.source
        except Damaged as error:
            return error
        return None

    @cached_property
    def content(self) -> Members | Document:
        return read_members(self.source)

    @property
    def is_shown(self) -> bool:
        """Whether it is checked whatever it contains."""
        return self.is_named or is_library_name(self.path) or is_mixlist_name(self.path)

    @cached_property
    def option_kind(self) -> OptionKind | None:
        given = self.given
        if given not in (None, *OPTION_KINDS) or (given is None and self.path.lower().endswith(".json")):
            return None
        found = option_kind(Source(self.data, self.path, strict=False).text, self.path, self.is_named)
        return given if given in OPTION_KINDS and (found or self.is_named) else found

    @cached_property
    def json_kind(self) -> FileKind | None:
        """Its kind by content and name, marked or not; None if it is not to be read."""
        if not self.may_be_json:
            return None
        if self.damage:
            return "library" if is_library_name(self.path) else "mixlist"
        if not self.is_named and not may_be_recognised(self.source):
            return None
        given = self.given if self.is_named and self.given in ("library", "mixlist") else None
        return given or kind_of(self.source, self.content)

    @property
    def may_be_json(self) -> bool:
        return self.is_named or (self.given not in OPTION_KINDS and self.path.lower().endswith(".json"))

    def not_checked(self) -> str:
        """Return why it is not checked.

        :raises UsageFault: if the user names it
        """
        if self.is_named and not self.damage:
            if self.json_kind == "snapshot":
                message = "a snapshot cannot be validated; it is a target for --against"
                hint = "`opsinfo diff` compares it with an install"
                raise UsageFault(message, name="wrong-kind", path=self.path, hint=hint)
            script = (
                f"--follow checks what a script names; --atc {quoted(self.path)} takes the options of its atc command"
            )
            hint = (
                script
                if self.path.endswith((".sh", ".py"))
                else f"add --as library, mixlist, {', '.join(OPTION_KINDS[:-1])} or {OPTION_KINDS[-1]}"
            )
            raise unknown_kind(self.source, hint, self.content)
        if not self.may_be_json or self.damage or not may_be_recognised(self.source):
            return NOT_MARKED
        foreign = foreign_of(self.source, self.content)
        return foreign.message if foreign else NOT_MARKED


class SourceProject(NamedTuple):
    """The OpDef sources of one project: path -> what it says.

    :param folder: into which includes may lead
    :param experimental: those below `experimental/`, which is a build of its own
    """

    folder: str
    main: dict[str, Reading]
    experimental: dict[str, Reading]

    @property
    def reading(self) -> Reading:
        return _joined(self.main)

    @property
    def apart(self) -> Reading:
        return _joined(self.experimental)


def _joined(readings: Mapping[str, Reading]) -> Reading:
    from ..cann.opdef.reading import joined

    return joined(readings.values())


class Context:
    """What the checks of one run share.

    :param has_base: whether a base is compared with, or is what is checked
    :param project: the folder into which includes of OpDef sources may lead; None for that of each source
    :param known: OpDef sources that need not be read: path -> what it says. Of a base they are those that the checkout
        has as well: their rows and findings name files of the checkout, and are compared by relative paths alone
    :ivar projects: the OpDef sources that were read
    """

    def __init__(
        self,
        asked: Asked,
        has_base: bool = False,
        project: str | None = None,
        known: Mapping[str, Reading] = MappingProxyType({}),
    ) -> None:
        self.asked = asked
        self.has_base = has_base
        self.project = project
        self.known = known
        self.projects: list[SourceProject] = []

    @cached_property
    def names(self) -> NearNames:
        """The op types of the targets; one search of near names has one bound for all files and passes of fixes."""
        return near_names_of(self.asked.against)


class FileFindings(NamedTuple):
    """The findings on one file.

    :param accepts: whether the engine accepts it; None if the findings say so
    :param kind: None for that of the table
    :param failure: why it could not be checked
    """

    path: str
    findings: Iterable[Finding] = ()
    accepts: bool | None = None
    kind: CheckedKind | None = None
    failure: OpsinfoError | None = None


class FileCheck(NamedTuple):
    """
    :param check: checks files of this kind; all of a run at once, if they are checked ``together``
    """

    recognises: Callable[[ReadFile], bool]
    check: Callable[[Sequence[ReadFile], Context], Iterator[FileFindings]]
    together: bool = False


def is_opdef(file: ReadFile) -> bool:
    """Return whether a file is an OpDef source; of a tree not below tests and the like, which are not read at all."""
    return file.path.endswith(SUFFIXES) and not folders_left_out(file) - {"experimental"} and is_source(file.data)


def folders_left_out(file: ReadFile) -> frozenset[str]:
    """Return which folders above a source of a tree have no operators of the project."""
    if file.top is None:
        return frozenset()
    return LEFT_OUT.intersection(os.path.relpath(os.path.realpath(file.path), file.top).split("/")[:-1])


def check_opdef(files: Sequence[ReadFile], context: Context) -> Iterator[FileFindings]:
    """Check OpDef sources, those of one project together."""
    from ..cann.opdef.reading import joined
    from .opdef import SourceCheck

    against = [each.target for each in context.asked.against]
    context.projects = _projects(files, context)
    for project in context.projects:
        found: dict[str, list[Finding]] = {path: [] for path, each in project.main.items() if not each.not_read}
        for finding in SourceCheck(project.reading, project.apart, against, context.asked.by_chip).findings():
            found.setdefault(finding.path, []).append(finding)
        if context.has_base:  # findings of the base are left out, so experiments can be checked, too
            found.update((path, []) for path in project.experimental)
            for finding in SourceCheck(project.apart, joined(()), (), context.asked.by_chip).findings():
                found.setdefault(finding.path, []).append(finding)
        yield from (FileFindings(path, findings) for path, findings in found.items())


def _projects(files: Sequence[ReadFile], context: Context) -> list[SourceProject]:
    """Read OpDef sources by project, but for those that the context knows."""
    from ..cann.opdef.reading import read_each

    paths: dict[str, tuple[list[str], list[str]]] = {}
    for file in files:
        folder = context.project or str(project_of(file.top or file.path))
        # with a base what a path holds does not depend on which folder was named
        inside = os.path.relpath(os.path.realpath(file.path), os.path.realpath(folder))
        is_apart = bool(folders_left_out(file)) or (context.has_base and is_experimental(inside))
        paths.setdefault(folder, ([], []))[is_apart].append(file.path)
    found = []
    for folder, parts in paths.items():
        unread = [path for part in parts for path in part if path not in context.known]
        read = {**context.known, **dict(zip(unread, read_each(unread, folder), strict=True))}
        main, experimental = ({path: read[path] for path in part} for part in parts)
        found.append(SourceProject(folder, main, experimental))
    return found


def is_build(file: ReadFile) -> bool:
    """Return whether a file is an ini of opbuild."""
    if file.given not in (None, "library") or not file.path.lower().endswith(".ini"):
        return False
    return is_ini(file.path, file.data.decode("utf-8", "replace"))


def check_builds(files: Sequence[ReadFile], context: Context) -> Iterator[FileFindings]:
    """Check inis, those of one chip and build together."""
    builds: dict[tuple[str, str | None], list[Source]] = {}
    for file in files:
        if file.damage:
            yield FileFindings(file.path, [syntax_finding(file.damage)])
        else:
            builds.setdefault(build_of(file.path), []).append(file.source)
    for sources in builds.values():
        yield from (FileFindings(path, findings) for path, findings in check_inis(sorted(sources, key=rank)))


def _is_option(kind: OptionKind, file: ReadFile) -> bool:
    return file.option_kind == kind


def check_options(files: Sequence[ReadFile], context: Context) -> Iterator[FileFindings]:
    asked = context.asked
    for file in files:
        assert file.option_kind is not None
        read = OptionFile(file.option_kind, Source(file.data, file.path, strict=False))
        yield FileFindings(file.path, OptionCheck(read, asked.against, asked.models, asked.open_models).findings())


def _is_marked_as(kind: NamedKind, file: ReadFile) -> bool:
    """Return whether a file counts as a library or a mixlist, and is of this kind of the two.

    =================  ======================  ================================================
    a file             with the name of        counts, where ``kind_of`` gives it a kind,
    =================  ======================  ================================================
    that a user names  anything                in any case
    of a tree          a library or mixlist    in any case (``is_shown``)
    of a tree          other JSON              if its text is clearly of its kind (``is_marked``)
    of a tree          anything else           never (``may_be_json``)
    =================  ======================  ================================================

    What is not UTF-8 has the kind of its name, and is never marked. ``may_be_recognised`` only spares reading the JSON.
    """
    found = file.json_kind
    if file.is_folder or found not in ("library", "mixlist") or (file.damage and not file.is_shown):
        return False
    if file.damage and file.is_named and file.given is None and (foreign := foreign_binary(file.path, file.data[:64])):
        raise foreign.fault(file.path)
    if not file.damage and not file.is_shown and not is_marked(file.source, file.content):
        return False
    return (file.given or found) == kind


def check_libraries(files: Sequence[ReadFile], context: Context) -> Iterator[FileFindings]:
    yield from (FileFindings(file.path, [finding for _, finding in _library(file)[1]]) for file in files)


def _library(file: ReadFile) -> tuple[Library | None, list[tuple[str | None, Finding]]]:
    """Return a library with its findings and their op types; None if the engine could not load its entries at all."""
    if file.damage:
        return None, [(None, syntax_finding(file.damage))]
    source, content = file.source, file.content
    if not isinstance(content, Members):
        return None, [(None, each) for each in (*bom(source, fixable=False), *faults(content, fixable=False))]
    if content.members is None:
        return None, [(None, root_is_no_object(source, content))]
    library = Library(source, content.members)
    findings = list(check_library(library, content))
    return (None if any(library.structure_faults()) else library), findings


def check_mixlists(files: Sequence[ReadFile], context: Context) -> Iterator[FileFindings]:
    for file in files:
        if file.damage:
            yield FileFindings(file.path, [syntax_finding(file.damage)])
        elif context.asked.models and not context.asked.against:
            fault = UsageFault("--model requires --against for a mixlist", path=file.path)
            yield FileFindings(file.path, failure=fault)
        elif file.given is None and (node := foreign_list(scan(file.source).root, file.path, context.asked.against)):
            message = "no entry of its lists is an op type; as a mixlist the engine refuses it"
            hint = "--exclude leaves it out, and --as mixlist checks it as one"
            severity: Severity = "error" if file.is_named else "warning"
            span = node.start, node.end
            yield FileFindings(
                file.path, [at("foreign-list", file.source, span, message, hint=hint, severity=severity)]
            )
        else:
            yield FileFindings(file.path, _find_in_mixlist(file.source, context))


def _find_in_mixlist(source: Source, context: Context) -> Iterator[Finding]:
    """Yield what is wrong in a mixlist, with its op types for the targets, and with its effect on the models."""
    document, asked = scan(source), context.asked
    yield from check_mixlist(document)
    if document.root is not None and asked.against:
        known = [mode for mode in map(MODES.get, asked.modes) if mode]
        reading = MixlistReading(source, document.root)
        yield from check_against(reading, asked.against, context.names, known, bool(asked.models))
        if asked.models:
            yield from asked.models.check_mixlist(reading, asked.against, known)


def check_store_folder(folder: ReadFile) -> Iterator[FileFindings]:
    """Check a config directory: its files, and the result of loading them together."""
    try:
        names = load_order(folder.path, library_files(folder.path))
    except Refused as error:
        yield FileFindings(folder.path, failure=error)
        return
    read: dict[str, tuple[Library | None, list[tuple[str | None, Finding]]]] = {}
    for path in (os.path.join(folder.path, name) for name in names):
        try:
            data = read_bytes(path, folder.top or folder.path)
        except Refused as error:
            yield FileFindings(path, failure=error)
            read[path] = None, []
        else:
            read[path] = _library(ReadFile(path, data))
    libraries = [library for library, _ in read.values() if library]
    store = Store(libraries, folder.path)
    together: dict[str, list[Finding]] = {}
    for finding in check_store(store) if len(libraries) == len(read) else ():
        together.setdefault(finding.path, []).append(finding)
    accepts = True
    for path, (library, findings) in read.items():
        own = [never_built(store, library, name, each) if library and name else each for name, each in findings]
        all_of_file = own + together.get(path, [])
        accepts &= not any(finding.is_refused for finding in all_of_file)
        yield FileFindings(path, all_of_file, kind="library")
    yield FileFindings(folder.path, accepts=accepts)


KINDS: Mapping[CheckedKind, FileCheck] = {
    "store": FileCheck(
        lambda file: file.is_folder, lambda files, _: chain.from_iterable(map(check_store_folder, files))
    ),
    "opdef": FileCheck(is_opdef, check_opdef, together=True),
    "ini": FileCheck(is_build, check_builds, together=True),
    **{kind: FileCheck(partial(_is_option, kind), check_options) for kind in OPTION_KINDS},
    "library": FileCheck(partial(_is_marked_as, "library"), check_libraries),
    "mixlist": FileCheck(partial(_is_marked_as, "mixlist"), check_mixlists),
}
"""In the order in which a file is asked what it is; the first kind that recognises it checks it."""


def kind_of_file(file: ReadFile) -> CheckedKind | None:
    """Return the kind by which a file is checked; None if it is none of the table.

    :raises UsageFault: if the user names it, and it is a model
    """
    return next((name for name, kind in KINDS.items() if kind.recognises(file)), None)
