"""The readers and the plans on many more texts, on large ones, and on every op type of real libraries."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.plan import LibraryPlan
from opsinfo_cli.core.text.members import read_members
from opsinfo_cli.core.text.scanner import Document, scan
from opsinfo_cli.core.text.source import Source

ROOT = Path(__file__).resolve().parents[2]
PIECES = ["{", "}", "[", "]", ",", ":", '"a"', '"b"', '"', "\\", "1", "-", ".", "e", "0", "true", "nul", " ", "\n"]
PIECES += ["//", "/*", "*/", "#", "\\u0041", "\\ud800", "\\udc00", "\ufeff", "\u4e2d", "NaN", "\t", "\0"]


@settings(max_examples=3000)
@given(
    st.sampled_from(["{", "[", '{"a":', '["a",', '{"a":{"b":']),
    st.lists(st.sampled_from(PIECES), max_size=20).map("".join),
    st.sampled_from(["", "]", "}", "}}"]),
)
def test_both_readers_accept_the_same_texts(head: str, body: str, end: str) -> None:
    text = head + body + end
    source = Source(text.encode(), "f.json")
    fast, exact = read_members(source), scan(source)
    if isinstance(fast, Document):
        assert exact.faults
    else:
        assert exact.faults == []
        assert exact.require_root().end == fast.end
        json.loads(source.text[fast.start : fast.end])
    for fault in exact.faults:
        assert 0 <= fault.start <= fault.end <= len(source.text)


def generated(tmp_path: Path, *arguments: str) -> Path:
    path = tmp_path / "aic-big-ops-info.json"
    subprocess.run(
        [sys.executable, str(ROOT / "fixtures/generate.py"), *arguments, "--out", str(path)], check=True, timeout=120
    )
    return path


def test_a_library_of_20000_operators_is_read_and_moved(tmp_path: Path) -> None:
    source = Source.read(str(generated(tmp_path, "--operators", "20000", "--seed", "3")))
    library = Library.of(source)
    assert len(library.entries) == 20_000
    pick = random.Random(1)
    wanted = {name: pick.choice(list(Policy)) for name in pick.sample(sorted(library.entries), 500)}
    plan = LibraryPlan(wanted)
    result = Source(plan.patch(source).apply(source), source.path)
    plan.prove(source, result)


def test_every_29th_op_type_of_the_real_libraries_goes_to_every_list_and_back(corpus: Path) -> None:
    for path in sorted(corpus.glob("cann-*/opp/built-in/op_impl/ai_core/**/*.json")):
        source = Source.read(str(path))
        library = Library.of(source)
        before = {name: entry.policy for name, entry in library.entries.items()}
        for name in list(library.entries)[::29]:
            for policy in Policy:
                plan = LibraryPlan({name: policy})
                result = Source(plan.patch(source).apply(source), source.path)
                plan.prove(source, result)
                back = LibraryPlan({name: before[name]})
                again = Source(back.patch(result).apply(result), source.path)
                assert json.loads(again.text) == json.loads(source.text)
                if before[name] is not Policy.GRAY or policy is Policy.GRAY:
                    assert len(again.data) == len(source.data)
