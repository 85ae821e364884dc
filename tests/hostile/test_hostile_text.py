"""The invariants of reader and splicer on valid texts with random damage; the fuzzer checks more inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hostile_invariants import check_bytes
from hypothesis import example, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
SEEDS = [path.read_bytes() for path in sorted((ROOT / "fixtures" / "mixlists").rglob("*.json"))]
ENTRY = {"input0": {"name": "x", "dtype": "float"}, "precision_reduce": {"flag": "true"}, "op": {"pattern": "reduce"}}
SEEDS += [
    json.dumps({"Add": ENTRY, "Log": {}}, indent=4).encode(),
    b'\xef\xbb\xbf{"Add":{"precision_reduce":{"flag":"false"}},"Add ":{}}\r\n}',
]
TOKENS = [
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\0",
    b"//",
    b"/*",
    b"*/",
    b"#",
    b"NaN",
    b"1e9",
    b"-",
]
TOKENS += [b'"flag"', b'"precision_reduce"', b'"Add"', b'"to-add"', b'"black-list"', b"\\ud83d", b"\\u0041", b"\xff"]
TOKENS += [b"\xef\xbb\xbf", b"{}", b"[]", b'"":', b"\xe4\xb8\xad", b"\xc2\x85", b"\xe2\x80\xa8", b"true", b" ", b""]


@pytest.mark.parametrize("number", range(len(SEEDS)))
def test_every_invariant_holds_for_a_valid_text(number: int) -> None:
    check_bytes(SEEDS[number])


@settings(max_examples=400)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 6), st.sampled_from(TOKENS)), min_size=1, max_size=4),
)
@example(b"", [])
def test_every_invariant_holds_for_a_damaged_text(seed: bytes, damages: list[tuple[int, int, bytes]]) -> None:
    for at, length, token in damages:
        at %= len(seed) + 1
        seed = seed[:at] + token + seed[at + length :]
    check_bytes(seed)
