"""`opsinfo apply`: the policies that the mixlist has. Its answers are in tests/answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import AI_910B, Run, rows, write


def test_the_effective_policies_are_written_into_the_library(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    path = fixtures / "mixlists/good/several-operators.json"
    target = (opp, "--soc", "ascend910b")
    wanted = {row[0]: row[1] for row in rows(opsinfo("list", *target, "--mixlist", path))}
    assert opsinfo("apply", opp, path, "--soc", "ascend910b").code == 0
    assert {row[0]: row[1] for row in rows(opsinfo("list", *target))} == wanted


def test_every_good_mixlist_applied_gives_its_policies(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    cases = json.loads((fixtures / "mixlists/CASES.json").read_text("utf-8"))
    source = fixtures / "opp" / AI_910B
    cases = [case for case in cases if case["engine_accepts"] and case["policies"] and "vendor" not in case["file"]]
    for case in cases[::7]:
        out = tmp_path / Path(case["file"]).stem
        assert opsinfo("apply", source, fixtures / "mixlists" / case["file"], "--output", out).code == 0
        found = {row[0]: row[1] for row in rows(opsinfo("list", out))}
        assert {name: found[name] for name in case["policies"]} == case["policies"], case["file"]


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("vendor:acme", "not in store `vendor:acme`, so not changed: Log, Mul"),
        ("built-in", "not in store `built-in`, so not changed: AcmeFlashGelu"),
        (None, None),
    ],
)
def test_what_is_in_another_store_than_the_chosen_one_is_said(
    opsinfo: Run, opp: Path, tmp_path: Path, store: str | None, said: str | None
) -> None:
    mixlist = tmp_path / "m.json"
    mixlist.write_text(
        json.dumps({"black-list": {"to-add": ["AcmeFlashGelu", "Mul", "AddN"]}, "white-list": {"to-add": ["Log"]}})
    )
    line = ["apply", f"{opp}@ascend910b", mixlist, *(["--store", store] if store else [])]
    before = {path: path.read_bytes() for path in opp.rglob("*.json")}
    strict = opsinfo(*line, "--strict")
    assert (strict.code, {path: path.read_bytes() for path in before} == before) == ((1, True) if said else (0, False))
    ran = opsinfo(*line)
    assert (ran.code, said is None or said in ran.err, "not changed" in ran.err) == (0, True, said is not None)


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("words", [[], ["--in-place"], ["--dry-run"], ["--output", "copy.json"]])
def test_a_warning_of_the_writing_itself_does_not_hide_what_was_written(
    opsinfo: Run, fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = (fixtures / "opp" / AI_910B / "aic-ascend910b-ops-info-legacy.json").read_bytes()
    (tmp_path / "own").mkdir()
    library = write(tmp_path / "own/library.json", before)
    (library.parent if what == "folder" else library).chmod(0o555 if what == "folder" else 0o444)
    (tmp_path / "m.json").write_text('{"black-list": {"to-add": ["Add"]}}')
    ran = opsinfo("apply", library, "m.json", "--strict", "--force", *words)
    is_written = library.read_bytes() != before
    assert is_written == (words in ([], ["--in-place"]))
    assert ("undo it with" in ran.err, "; backup " in ran.err) == (is_written, is_written)
    assert ("nothing was written" in ran.err) <= (not is_written and "--output" not in words)
    assert ran.code == int("warning:" in ran.err), ran.err
