"""Edits by example: every `.case` file has a text before and the exact text after."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.fmt import FmtPlan
from opsinfo_cli.core.change.plan import LibraryPlan, MixlistPlan
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source

HERE = Path(__file__).parent


@dataclass
class Case:
    before: bytes
    after: bytes
    header: dict[str, str] = field(default_factory=dict)

    @property
    def moves(self) -> dict[str, Policy]:
        return _policies(self.header["move"])

    @property
    def library(self) -> dict[str, Policy] | None:
        return _policies(self.header["library"]) if "library" in self.header else None


def _policies(text: str) -> dict[str, Policy]:
    return {name: Policy(policy) for name, policy in (pair.split("=") for pair in text.split())}


def read_case(path: Path) -> Case:
    data = path.read_bytes()
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    lines = data.split(newline)
    first, second = lines.index(b"--- before"), lines.index(b"--- after")
    header = dict(line.decode().split(": ", 1) for line in lines[:first])
    return Case(_text(lines[first + 1 : second], newline), _text(lines[second + 1 : -1], newline), header)


def _text(lines: list[bytes], newline: bytes) -> bytes:
    if lines and lines[-1] == b"\\ no newline at end":
        return newline.join(lines[:-1])
    return b"".join(line + newline for line in lines)


def cases(folder: str) -> list[str]:
    return sorted(path.stem for path in (HERE / folder).glob("*.case"))


def source_of(data: bytes) -> Source:
    return Source(data, "f.json")


@pytest.mark.parametrize("name", cases("moves"))
def test_a_move_in_a_library_gives_exactly_the_text_after(name: str) -> None:
    case = read_case(HERE / "moves" / f"{name}.case")
    source = source_of(case.before)
    plan = LibraryPlan(case.moves)
    result = source_of(plan.patch(source).apply(source))
    assert result.data == case.after
    plan.prove(source, result)


@pytest.mark.parametrize("name", cases("moves"))
def test_a_move_made_twice_changes_nothing_the_second_time(name: str) -> None:
    case = read_case(HERE / "moves" / f"{name}.case")
    assert not LibraryPlan(case.moves).patch(source_of(case.after))


@pytest.mark.parametrize("name", cases("moves"))
def test_a_move_and_the_move_back_change_no_policy(name: str) -> None:
    case = read_case(HERE / "moves" / f"{name}.case")
    before = {name: entry.policy for name, entry in Library.of(source_of(case.before)).entries.items()}
    after = source_of(case.after)
    plan = LibraryPlan({op: before[op] for op in case.moves})
    back = source_of(plan.patch(after).apply(after))
    plan.prove(after, back)
    assert {name: entry.policy for name, entry in Library.of(back).entries.items()} == before


@pytest.mark.parametrize("name", cases("mixlist-moves"))
def test_a_move_in_a_mixlist_gives_exactly_the_text_after(name: str) -> None:
    case = read_case(HERE / "mixlist-moves" / f"{name}.case")
    source = source_of(case.before)
    (to,) = set(case.moves.values())
    plan = MixlistPlan(dict.fromkeys(case.moves, to), case.library)
    result = source_of(plan.patch(source).apply(source))
    assert result.data == case.after
    plan.prove(source, result)
    if case.library is not None or to is not Policy.GRAY:
        assert not plan.patch(result)


@pytest.mark.parametrize("name", cases("mixlist-moves"))
def test_a_move_in_a_mixlist_has_the_requested_effect(name: str) -> None:
    case = read_case(HERE / "mixlist-moves" / f"{name}.case")
    mixlist = Mixlist(scan(source_of(case.after)))
    for op, policy in case.moves.items():
        if case.library is not None:
            assert mixlist.effective(op, case.library[op]) is policy
        elif policy is not Policy.GRAY:
            assert {mixlist.effective(op, library) for library in Policy} == {policy}
        else:
            assert mixlist.marks_of(op) == frozenset()


@pytest.mark.parametrize("name", cases("fix"))
def test_fixing_gives_exactly_the_text_after(name: str) -> None:
    case = read_case(HERE / "fix" / f"{name}.case")
    source = source_of(case.before)
    plan = FmtPlan()
    patch = plan.patch(source)
    result = source_of(patch.apply(source))
    assert result.data == case.after
    assert bool(patch) is (case.before != case.after)
    plan.prove(source, result)
    assert not plan.patch(result)
