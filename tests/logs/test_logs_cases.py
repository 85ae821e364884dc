"""Short logs of every format with all that they prove: each file of `cases/` is one; see its README.

Each number was worked out by reading the log.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from log_reading import log_of, shown

from opsinfo_cli.logs import log as log_module
from opsinfo_cli.logs.blocks import Block
from opsinfo_cli.logs.formats import FORMATS
from opsinfo_cli.logs.log import Log
from opsinfo_cli.logs.points import Facts


class Case(NamedTuple):
    known: dict[str, int]
    log: bytes
    evidence: dict[str, Any]


def case_of(path: Path) -> Case:
    header, _, rest = path.read_bytes().partition(b"--- log\n")
    log, _, evidence = rest.partition(b"--- evidence\n")
    known = dict(line.split(": ") for line in header.decode().splitlines())
    return Case({name: int(value) for name, value in known.items()}, log, json.loads(evidence))


CASES = {path.stem: case_of(path) for path in sorted(Path(__file__).parent.glob("cases/*.case"))}


def seen(log: Log, known: dict[str, Any]) -> Any:
    facts = Facts(**known)
    return json.loads(json.dumps(shown(log.evidence(facts.steps, facts.ranks), facts)))


def block(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


@pytest.mark.parametrize("name", CASES)
def test_a_log_gives_the_evidence_in_its_case(name: str) -> None:
    case = CASES[name]
    assert seen(log_of(block(case.log)), case.known) == case.evidence


@pytest.mark.parametrize("name", CASES)
def test_a_log_gives_the_same_in_blocks_of_any_size(name: str) -> None:
    """Copies of a message may then be read one by one."""
    case = CASES[name]
    lines = [line + b"\n" for line in block(case.log).split(b"\n")[:-1]]
    head = 2  # a table is known by its first two lines, and a block is much longer
    for size in (1, 3):
        starts = range(head, len(lines), size)
        log = log_of(b"".join(lines[:head]), *(b"".join(lines[at : at + size]) for at in starts))
        assert seen(log, case.known) == case.evidence


@pytest.mark.parametrize("name", CASES)
def test_the_words_and_marks_of_a_line_leave_nothing_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line goes to each format."""
    case = CASES[name]
    monkeypatch.setattr(log_module, "WORDS", (b"",))
    for kind in FORMATS:
        monkeypatch.setattr(kind, "marks", (b"",))
    log = Log()
    log.take(Block(block(case.log), continues=False))
    assert seen(log, case.known) == case.evidence


def test_every_format_has_a_case() -> None:
    assert {kind.name for kind in FORMATS} <= {case.evidence["format"] for case in CASES.values()}


@pytest.mark.parametrize("name", CASES)
def test_no_case_has_an_impossible_count(name: str) -> None:
    count = CASES[name].evidence["count"]
    assert 0 <= count["calibrating"] <= count["low"] <= count["high"]
    assert count["steps"] is None or count["high"] <= count["steps"]
