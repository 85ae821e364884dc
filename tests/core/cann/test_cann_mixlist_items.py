"""The structure of a mixlist as in the engine: of equal keys only the last is read."""

from __future__ import annotations

import pytest
from check_support import Checker

from opsinfo_cli.core.cann.mixlist import Mixlist, structure_faults
from opsinfo_cli.core.check.structure import mixlist_faults
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged

CASES: dict[str, tuple[str, list[tuple[str, tuple[str | int, ...]]]]] = {
    # situation: (text, name and place of each fault)
    "an empty mixlist": ("{}", []),
    "an array": ("[]", [("wrong-type", ())]),
    "a list that is an array": ('{"black-list": []}', [("wrong-type", ("black-list",))]),
    "an action that is a string": ('{"black-list": {"to-add": "A"}}', [("wrong-type", ("black-list", "to-add"))]),
    "an op type that is a number": (
        '{"black-list": {"to-add": ["A", 1]}}',
        [("wrong-type", ("black-list", "to-add", 1))],
    ),
    "a list under a near key, with a fault inside": (
        '{"white_list": {"to-add": [null]}}',
        [("unknown-list", ("white_list",)), ("wrong-type", ("white_list", "to-add", 0))],
    ),
    "a list under a near key, beside the real one": (
        '{"white_list": {"to-add": [null]}, "white-list": {}}',
        [("unknown-list", ("white_list",))],
    ),
    "a list that is far from all": ('{"schedule": {"to-add": [null]}}', [("unknown-list", ("schedule",))]),
    "an overwritten list that is an array": ('{"black-list": ["Add"], "black-list": {"to-add": ["Mul"]}}', []),
    "an overwritten list with an unknown action": ('{"black-list": {"add": []}, "black-list": {}}', []),
    "an overwritten action that is a number": ('{"black-list": {"to-add": 1, "to-add": ["A"]}}', []),
    "a list overwritten by an array": (
        '{"black-list": {"to-add": ["A"]}, "black-list": ["A"]}',
        [("wrong-type", ("black-list",))],
    ),
}


@pytest.mark.parametrize("situation", CASES)
def test_the_faults_of_the_structure_are_those_of_the_last_of_equal_keys(situation: str) -> None:
    text, wanted = CASES[situation]
    root = scan(Source(text.encode(), "mixlist.json")).require_root()
    assert [(fault.name, fault.steps) for fault in mixlist_faults(root)] == wanted
    assert any(structure_faults(root)) is bool(wanted)


@pytest.mark.parametrize("situation", CASES)
def test_reading_and_checking_a_mixlist_agree_on_whether_the_engine_accepts_it(situation: str) -> None:
    text, wanted = CASES[situation]
    checker = Checker(kind="mixlist")
    checker.check_file("mixlist.json", text.encode())
    assert checker.outcome.files[0].engine_accepts is not bool(wanted)
    if wanted:
        with pytest.raises(Damaged):
            Mixlist(scan(Source(text.encode(), "mixlist.json")))
    else:
        Mixlist(scan(Source(text.encode(), "mixlist.json")))
