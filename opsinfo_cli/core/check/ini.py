"""Rules on inis of opbuild: what the vendor's script drops and refuses, and what the engine refuses of the rest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from ...errors import join_some
from ..cann.entry_rules import EntryFault
from ..cann.ini import IniLibrary, IniStore, ini_source, read_ini
from ..text.source import Source
from .finding import Finding, at
from .library import entry_findings
from .text import pointer_to


def check_inis(sources: Sequence[Source]) -> Iterator[tuple[str, list[Finding]]]:
    """Yield the findings on each ini of one chip, which the script reads together.

    :param sources: in the order in which the script reads them
    """
    libraries = [IniLibrary(source, read_ini(source)) for source in map(ini_source, sources)]
    store = IniStore(libraries)
    for library in libraries:
        source, ini = library.source, library.ini
        texts = [("ini-line-ignored", each) for each in ini.ignored] + [("ini-refused", each) for each in ini.refused]
        findings = [at(rule, source, (text.start, text.end), text.message) for rule, text in texts]
        replaced = set()
        for name, entry in library.entries.items():
            winner = store.definitions.get(name, [entry])[-1]
            if winner.source is not source:
                replaced.add(name)
                place = f"{os.path.relpath(winner.path, os.path.dirname(source.path))}:{winner.line}"
                message = f"section `{name}` is replaced, with all its keys, by the one in {place}"
                span = (entry.member.key_start, entry.member.key_end)
                findings.append(at("ini-line-ignored", source, span, message, pointer=pointer_to(name)))
        own = [(fault, each) for entry, fault, each in entry_findings(library) if entry.name not in replaced]
        findings += [each for fault, each in own if fault is None or not fault.word]
        yield source.path, [*findings, *_join_words(own)]


def _join_words(findings: Iterable[tuple[EntryFault | None, Finding]]) -> Iterator[Finding]:
    """Yield one finding for all words that the same copies of the script refuse, at the first of them."""
    groups: dict[str, dict[str, Finding]] = {}
    for fault, finding in findings:
        if fault is not None and fault.word:
            groups.setdefault(fault.whose, {}).setdefault(f"`{fault.word}`", finding)
    for scripts, words in groups.items():
        first = min(words.values(), key=lambda finding: finding.order)
        yield Finding(
            first.rule,
            f"{join_some(list(words), 12)}: {scripts}",
            first.path,
            first.start,
            first.end,
            hint="use the script of the repository that the operators are from",
            snippet=first.snippet,
        )
