"""Short logs of every format with all that they show: `log_cases.json`.

Each number was worked out by reading the log. `says` omits default values (`logs_seen.DEFAULTS`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from logs_seen import seen

from opsinfo_cli.runs.readers import READERS

CASES: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("log_cases.json").read_text("utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_log_gives_the_evidence_in_its_case(name: str) -> None:
    assert json.loads(json.dumps(seen(CASES[name]))) == CASES[name]["says"]


def test_every_format_has_a_case() -> None:
    assert {reader.name for reader in READERS} <= {case["says"]["format"] for case in CASES.values()}


@pytest.mark.parametrize("name", CASES)
def test_no_case_has_an_impossible_count(name: str) -> None:
    count = CASES[name]["says"]["count"]
    assert 0 <= count["calibrating"] <= count["low"] <= count["high"]
    assert count["steps"] is None or count["high"] <= count["steps"]
