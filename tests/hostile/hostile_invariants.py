"""Invariants for any bytes, checked by the fuzzer and by a property test in CI."""

from __future__ import annotations

import json
import math
import re
from itertools import islice
from typing import Any, NoReturn

from opsinfo_cli.core.cann.library import Library, Store
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.fmt import FmtPlan
from opsinfo_cli.core.change.plan import LibraryPlan, MixlistPlan
from opsinfo_cli.core.text.members import Members, read_members
from opsinfo_cli.core.text.scanner import Document, scan, syntax_patch
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged, OpsinfoError, Refused, UsageFault

__all__ = ["check_bytes"]

_BLANKS = " \t\n\r"
_HALVES = re.compile(r"\\u[dD][89a-fA-F]")


def check_bytes(data: bytes) -> None:
    """:raises AssertionError: if an invariant fails; any other error is a failure too"""
    try:
        source = Source(data, "f.json")
    except Damaged as error:
        _placed(error)
        return
    document = scan(source)
    if source.text.lstrip(_BLANKS)[:1] not in ("{", "["):
        return  # a lone scalar is neither library nor mixlist, so its end does not matter
    _readers_agree(source, document)
    _standard_library_agrees(source, document)
    _fixed_text_is_strict(source, document)
    _library_edits_prove(source)
    _mixlist_edits_prove(source)


def _placed(error: Damaged) -> None:
    assert error.line is not None
    assert error.column is not None
    assert min(error.line, error.column) >= 1


def _named(error: OpsinfoError, name: str) -> None:
    assert error.name == name


def _readers_agree(source: Source, document: Document) -> None:
    for fault in document.faults:
        assert 0 <= fault.start <= fault.end <= len(source.text) + 1
        assert source.place(fault.start).line >= 1
    _agrees(read_members(source), document)


def _agrees(outcome: Members | Document, document: Document) -> None:
    if isinstance(outcome, Document):
        assert document.faults, "the exact reader accepts what the fast one refuses"
        assert outcome.faults == document.faults
        return
    assert not document.faults, "the fast reader accepts what the exact one refuses"
    root = document.require_root()
    assert (outcome.start, outcome.end) == (root.start, root.end)
    assert (outcome.members is None) is (root.kind != "object")
    spans = [(m.name, m.key.start, m.key.end, m.value.start, m.value.end) for m in root]
    assert spans == [(m.key, m.key_start, m.key_end, m.start, m.end) for m in outcome.members or ()]
    for member, exact in zip(outcome.members or (), root, strict=True):
        assert _with_texts(member.value) == _folded(exact.value)
        assert member.has_duplicates is _has_twins(exact.value)


def _with_texts(value: Any) -> Any:
    """Return a value of the fast reader, with numbers as their text."""
    if isinstance(value, dict):
        return {key: _with_texts(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_texts(each) for each in value]
    return value if value is None or isinstance(value, str | bool) else str(value)


def _folded(node: Any) -> Any:
    """Return a value of the exact reader likewise, with equal keys folded."""
    if node.kind == "object":
        return {member.name: _folded(member.value) for member in node}
    if node.kind == "array":
        return [_folded(item) for item in node.items]
    return node.value


def _has_twins(node: Any) -> bool:
    names = [member.name for member in node]
    inner = [member.value for member in node] + node.items
    return len(set(names)) != len(names) or any(map(_has_twins, inner))


class _Constant(Exception):
    pass


def _constant(_: str) -> NoReturn:
    raise _Constant


def _number(text: str) -> str:
    if math.isinf(float(text)):
        raise _Constant
    return text


def _standard_library_agrees(source: Source, document: Document) -> None:
    """`json` accepts what opsinfo accepts, and also constants, infinite numbers, lone surrogates and depth."""
    text = source.text.lstrip(_BLANKS)
    try:
        json.JSONDecoder(parse_constant=_constant, parse_int=_number, parse_float=_number).raw_decode(text)
        takes = True
    except (ValueError, _Constant, RecursionError):
        takes = False
    if not document.faults:
        assert takes
    elif takes:
        ours = {fault.message.split(" than ")[0] for fault in document.faults}
        assert ours <= {"a lone surrogate in a string", "nested deeper"}, ours
        assert "nested deeper" in ours or _HALVES.search(text)


def _fixed_text_is_strict(source: Source, document: Document) -> None:
    try:
        patch = syntax_patch(document)
    except Damaged:
        assert any(fault.fix is None for fault in document.faults)
        return
    assert all(fault.fix for fault in document.faults)
    result = Source(patch.apply(source), source.path)
    again = scan(result)
    assert again.faults == []
    assert again.tail is None
    assert not result.bom
    json.loads(result.text, parse_constant=_constant, parse_int=_number, parse_float=_number)
    FmtPlan().prove(source, result)


def _library_edits_prove(source: Source) -> None:
    try:
        library = Library.of(source)
        store = Store([library])
        store.require_loadable()
    except Damaged as error:
        _placed(error)
        return
    for name in islice(store.definitions, 3):
        before = library.entries[name].policy
        for policy in Policy:
            plan = LibraryPlan({name: policy})
            try:
                patch = plan.patch(source)
            except Refused as error:
                _named(error, "duplicate-key")
                continue
            if not patch:
                assert policy is before
                continue
            result = Source(patch.apply(source), source.path)
            plan.prove(source, result)
            back = LibraryPlan({name: before})
            again = Source(back.patch(result).apply(result), source.path)
            back.prove(result, again)
            assert _without_flags(again) == _without_flags(source)


def _without_flags(source: Source) -> Any:
    """Every entry without its flag, and the values of entries that are never read."""
    library = Library.of(source)
    passed_over = {name: each.member.value for name, each in library.entries.items() if library.is_passed_over(each)}
    read = {name: each for name, each in library.entries.items() if name not in passed_over}
    return passed_over, {
        name: {
            section: {key: each for key, each in content.items() if key.strip() != "flag"} or None
            for section, content in entry.value.items()
            if section.strip() != "precision_reduce"
        }
        for name, entry in read.items()
    }


def _mixlist_edits_prove(source: Source) -> None:
    try:
        mixlist = Mixlist(scan(source))
    except Damaged as error:
        _placed(error)
        return
    names = (*islice(mixlist.marks, 2), "Add")
    for to in Policy:
        for library in (None, dict.fromkeys(names, Policy.WHITE), dict.fromkeys(names, Policy.GRAY)):
            plan = MixlistPlan(dict.fromkeys(names, to), library)
            try:
                patch = plan.patch(source)
            except UsageFault as error:
                _named(error, "gray-needs-library")
                continue
            except Refused as error:
                _named(error, "duplicate-key")
                continue
            plan.prove(source, Source(patch.apply(source), source.path))
