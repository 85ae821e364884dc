"""What commands that write share: the writer, the files of a target to change, a generated file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ..change.fmt import BuildPlan
from ..change.moves import FileResult, Job, Move, Result, planned
from ..change.vault import Vault, vault_path
from ..change.writer import Writer
from ..errors import Refused, UsageFault, join_some
from ..model.install import root_above
from ..model.library import Library, Store, engine_keys, library_files, load_order
from ..model.target import Target
from ..report.console import Console
from ..text.source import Source, encoded
from .open import require_no_library
from .params import WriteOptions


def vault_of(writing: WriteOptions) -> Vault:
    return Vault(vault_path(writing.backup_dir, os.environ))


def writer_of(writing: WriteOptions, console: Console) -> Writer:
    return Writer(
        vault_of(writing), wait=writing.wait, in_place=writing.in_place, force=writing.force, say=console.warn
    )


def changed(kind: str, jobs: Sequence[Job], writing: WriteOptions, console: Console) -> Result:
    """Change files as one change, or return what would change. Files that are refused are reported.

    :param kind: the command, for the record
    """
    writer = writer_of(writing, console)
    result = writer.run(kind, jobs) if writing.writes else writer.preview(jobs)
    for error in result.refused:
        console.failure_text(error)
    if result.change and any(root_above(job.path) for job in jobs):
        console.note(
            "this changes an installed library: every network on this machine is affected; "
            "the recommended way is a mixlist (`opsinfo explain mixlists`)"
        )
    if result.change and writing.in_place:
        console.warn("the file was overwritten in place, which is not atomic; the backup is safe")
    return result


def created(kind: str, path: str, data: bytes, writing: WriteOptions, console: Console, moved: Sequence[Move]) -> str:
    """Create a file.

    :returns: the id of the change
    """
    return writer_of(writing, console).create({path: data}, kind, moved).id


def built(
    kind: str,
    out: str,
    text: str,
    sources: Sequence[Source],
    writing: WriteOptions,
    console: Console,
    require: Callable[[Source], None] = require_no_library,
) -> Result:
    """Write a text to ``out``, or return what would change. A file that already has the text is not written.

    :param sources: the files that the text was made from; ``out`` may be one of them
    :param require: raises if ``out`` may not be replaced
    :raises Stale: if ``out`` is a source and has changed since
    """
    if os.path.lexists(out):
        require(Source.read(out))
        real = os.path.realpath(out)
        made_from = next((source.sha256 for source in sources if os.path.realpath(source.path) == real), None)
        return changed(kind, [Job(out, BuildPlan(text, made_from))], writing, console)
    data = encoded(text)
    nothing, source = Source(b"", out), Source(data, out)
    file = FileResult(out, nothing, BuildPlan(source.text).patch(nothing), source, [], [], is_new=True)
    return Result([file], created(kind, out, data, writing, console, []) if writing.writes else None)


def would_build(text: str, source: Source) -> Result:
    """Return what would change if a text replaced a source."""
    return Result([planned(Job(source.path, BuildPlan(text)), source)])


def undoing(writing: WriteOptions, target: str) -> str:
    """Return the command line that undoes a change of a target."""
    folder = writing.backup_dir
    words = ["opsinfo", "restore", *(["--backup-dir", folder] if folder else [])]
    return " ".join(map(_quoted, [*words, *(["--"] if target.startswith("-") else []), target]))


def _quoted(word: str) -> str:
    """Return a word as a shell reads it; bytes that are no text, and control characters, as escapes of bash and zsh."""
    from shlex import quote

    if word.isprintable():
        return quote(word)
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\x{byte:02x}" for byte in os.fsencode(word))
    return f"$'{''.join(plain)}'"


def winning_files(
    target: Target, names: Sequence[str], chosen: str | None, force: bool, console: Console
) -> dict[str, list[str]]:
    """Return the files to change, with their op types: in each store the file whose entry wins, or may win.

    :param chosen: the label of a store; None for all
    :param force: whether to edit an entry of a lone file that another file overrides
    :raises UsageFault: if the store is unknown
    :raises Refused: if the target is a file whose entry is overridden
    """
    stores = [store for store in target.operators.stores if chosen in (None, store.label)]
    if not stores:
        labels = ", ".join(f"`{store.label}`" for store in target.operators.stores)
        raise UsageFault(f"unknown store `{chosen}`", name="unknown-store", hint=f"known stores: {labels}")
    real = {library.path: os.path.realpath(library.path) for store in stores for library in store.libraries}
    named = {each: path for path, each in real.items()}  # links may list a file twice
    files: dict[str, list[str]] = {}
    for name in names:
        entries = [each for store in stores if name in store.definitions for each in store.contenders(name)]
        if not entries:
            raise UsageFault(f"`{name}` is not in store `{chosen}`", name="unknown-operator")
        for path in dict.fromkeys(named[real[entry.path]] for entry in entries):
            files.setdefault(path, []).append(name)
    if target.kind == "library" and not force:
        _require_winning(target.path, names, console)
    return files


def _require_winning(path: str, names: Sequence[str], console: Console) -> None:
    """Warn if the load order is undefined.

    :raises Refused: if a file of the same directory that is loaded later has the op type too
    """
    folder, own = os.path.split(os.path.abspath(path))
    siblings = library_files(folder)
    if own not in siblings:
        return
    keys, real = engine_keys(folder, siblings), os.path.realpath(path)
    doubts: dict[str, list[str]] = {}
    for name in reversed(load_order(folder, siblings)):
        other = os.path.join(folder, name)
        if keys[name] < keys[own] or os.path.realpath(other) == real:
            continue
        try:
            definitions = Store([Library.read(other)]).definitions
        except Refused:
            continue
        for op in (op for op in names if op in definitions):
            place = f"{name}:{definitions[op][-1].line}"
            if keys[name] > keys[own]:
                raise Refused(
                    f"the entry of `{op}` never wins: {place} replaces it",
                    name="shadowed-entry",
                    path=path,
                    hint=f"move it in {other}, or in the store {folder}; --force edits it here",
                )
            doubts.setdefault(op, []).append(place)
    for op, places in doubts.items():
        console.warn(f"the load order is undefined: this entry of `{op}` wins, or {join_some(places)}")
