"""The run folder and its journal: nothing of somebody else is changed, and a journal cut short is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from zlib import crc32

import pytest
from raising import raised

from opsinfo_cli.errors import Damaged, Locked, Refused, UsageFault
from opsinfo_cli.lab.bisect.journal import SearchJournal, begin
from opsinfo_cli.lab.bisect.problem import identity_of
from opsinfo_cli.lab.bisect.run_folder import OUTPUT, RunFolder, tail
from opsinfo_cli.lab.bisect.trial import Trial, TrialEnd
from opsinfo_cli.lab.bisect.verdicts import TrialVerdict


def summed(text: str) -> bytes:
    """Return a line of a journal from its JSON without the sum and the last brace."""
    return f'{text}, "sum": "{crc32(text.encode()):08x}"}}\n'.encode()


BEGIN = summed('{"event": "search", "format": 2')
FACTS = {"command": ["./check"], "candidates": ["Add", "Mul"], "files": {"a.onnx": "1"}}


def written(path: Path) -> bytes:
    """Return the text of a journal of one run."""
    journal = SearchJournal(str(path))
    journal.begin(FACTS)
    journal.record_start(1, ["Add"])
    journal.record_verdict(
        Trial(1, frozenset(), {}, "", [], None), ["Add"], TrialVerdict.FAIL, TrialEnd(1, seconds=2.5)
    )
    journal.record_start(2, [])
    journal.close()
    return path.read_bytes()


def test_a_journal_cut_at_any_byte_keeps_its_whole_lines(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole")
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    path = tmp_path / "cut"
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        journal = SearchJournal(str(path))
        past = journal.past()
        journal.close()
        lines = sum(end <= size for end in ends)
        assert path.read_bytes() == whole[: ends[lines - 1] if lines else 0]
        assert (past is None) is (lines == 0)
        if past is not None:
            assert past.facts == FACTS
            assert (len(past.trials), past.last) == (int(lines >= 3), [0, 0, 1, 1, 2][lines])


def test_every_line_names_its_trial_and_set(tmp_path: Path) -> None:
    _, *lines = map(json.loads, written(tmp_path / "journal").splitlines())
    found = [(line["event"], line["trial"], line["set"]) for line in lines]
    assert found == [("start", 1, ["Add"]), ("end", 1, ["Add"]), ("start", 2, [])]


def test_a_search_goes_on_with_more_evidence_and_not_with_another_model(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    journal = SearchJournal(str(tmp_path / "journal"))
    past = begin(journal, {**FACTS, "files": {"a.onnx": "1", "more.csv": "2"}})
    assert past is not None
    assert len(past.trials) == 1
    with pytest.raises(UsageFault, match=r"changed since: `a\.onnx`\n"):
        begin(journal, {**FACTS, "files": {"a.onnx": "3"}})
    journal.close()


@pytest.mark.parametrize(
    "text",
    [
        b"no newline, not a journal",
        b"x",
        b'{"event": "search"}\n',
        summed('{"event": "search", "format": 1'),
        BEGIN + b"rest\n",
        BEGIN + summed('{"event": "end", "trial": 1, "set": [], "verdict": "pass", "seconds": "abc"') + b"cut",
        BEGIN + 200_000 * b"[" + b"\n",
        BEGIN + summed('{"event": "start", "trial": 1e400'),
        BEGIN + summed('{"event": "search", "files": "x"'),
        BEGIN + summed(f'{{"event": "end", "trial": 1, "set": [], "verdict": "pass", "seconds": 1{400 * "0"}'),
        b"\xff\n",
    ],
)
def test_a_file_that_is_no_journal_is_refused_and_not_changed(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(text)
    journal = SearchJournal(str(path))
    with pytest.raises(Damaged, match="the journal is damaged" if text.startswith(BEGIN) else "not a journal"):
        journal.past()
    journal.close()
    assert path.read_bytes() == text


def test_a_record_with_any_byte_changed_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole")
    path = tmp_path / "changed"
    for at in range(len(whole) - 1):  # a last line without its end is one that a kill cut short
        data = bytearray(whole)
        data[at] ^= 1
        path.write_bytes(data)
        journal = SearchJournal(str(path))
        with pytest.raises(Damaged):
            journal.past()
        journal.close()
        assert path.read_bytes() == data


def test_a_journal_is_not_opened_through_a_link_nor_twice(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep", "utf-8")
    for name, target in (("link", victim), ("dangling", tmp_path / "nothing")):
        (tmp_path / name).symlink_to(target)
        with pytest.raises(Refused, match="cannot write"):
            SearchJournal(str(tmp_path / name))
    assert (victim.read_text("utf-8"), (tmp_path / "nothing").exists()) == ("keep", False)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(Damaged, match="not a journal"):
        SearchJournal(str(tmp_path / "fifo"))
    journal = SearchJournal(str(tmp_path / "journal"))
    with pytest.raises(Locked):
        SearchJournal(str(tmp_path / "journal"))
    journal.close()


def test_the_end_of_an_output_is_shown_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    assert tail(str(tmp_path)) == ""
    (tmp_path / OUTPUT).write_bytes(b"first line\n" * 1000 + b"caf\xe9, the last line\n")
    shown = tail(str(tmp_path))
    assert shown.endswith("line\ncaf\ufffd, the last line\n")
    assert len(shown) < 5000


def test_only_the_owner_may_read_a_run_folder(tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path / "run"))
    made = folder.trial(1, {"mixlist": ("m.json", b"{}")})
    SearchJournal(folder.journal).close()
    best = folder.write("best.json", b"1")
    assert folder.write("best.json", b"2") == best
    assert Path(best).read_bytes() == b"2"
    for path in (folder.path, folder.trials, made, os.path.join(made, "cache")):
        assert os.stat(path).st_mode & 0o777 == 0o700
    for path in (best, folder.journal, os.path.join(made, "m.json")):
        assert os.stat(path).st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
@pytest.mark.parametrize("name", ["run", "new/run"])
def test_root_refuses_a_run_folder_that_others_may_replace(tmp_path: Path, name: str) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(Refused, match="can be written by everybody"):
        RunFolder(str(tmp_path / name)).require(False)


@pytest.mark.parametrize("resumes", [False, True])
@pytest.mark.parametrize("folder", ["vault/0123abcd", "vault/0123abcd/1/run", "tbe/config/ascend910b"])
def test_a_run_folder_is_neither_in_a_vault_nor_a_config_directory(tmp_path: Path, folder: str, resumes: bool) -> None:
    (tmp_path / "vault/0123abcd/1").mkdir(parents=True)
    (tmp_path / "vault/0123abcd/1/record.json").write_text("{}", "utf-8")
    (tmp_path / "tbe/config/ascend910b").mkdir(parents=True)
    with pytest.raises(Refused, match=r"in a vault of backups|the engine would read best\.json as a library"):
        RunFolder(str(tmp_path / folder)).require(resumes)
    RunFolder(str(tmp_path / "tbe/config/ascend910b/.opsinfo-bisect")).require(False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_journal_that_may_not_be_read_is_not_missing(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o000)
    with pytest.raises(Refused, match="Permission denied"):
        RunFolder(str(tmp_path / "run")).require(True)


@pytest.mark.parametrize("resumes", [False, True])
def test_a_run_folder_in_which_nothing_can_be_written_is_refused_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resumes: bool
) -> None:
    asked = tmp_path / "run" if resumes else tmp_path
    if resumes:
        asked.mkdir()
        written(asked / "journal.jsonl")
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (str(asked), os.W_OK))
    error = raised(Refused, RunFolder(str(tmp_path / "run")).require, resumes)
    assert (error.message, error.hint) == ("cannot write: Permission denied", "--journal DIR names another one")


def test_planted_links_are_replaced_or_refused_and_never_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("keep", "utf-8")
    run = tmp_path / "run"
    run.mkdir()
    (run / "best.json").symlink_to(victim / "file")
    folder = RunFolder(str(run))
    (run / f"best.json.{os.getpid()}.tmp").symlink_to(victim / "file")  # also what a killed run of this number left
    folder.write("best.json", b"{}")
    assert not (run / "best.json").is_symlink()
    (run / "trials").rmdir()
    (run / "trials").symlink_to(victim)
    with pytest.raises(Refused, match="a link"):
        folder.trial(1, {})
    (tmp_path / "linked").symlink_to(victim)
    with pytest.raises(Refused, match="a link"):
        RunFolder(str(tmp_path / "linked")).make()
    assert [path.name for path in victim.iterdir()] == ["file"]
    assert (victim / "file").read_text("utf-8") == "keep"


def test_a_run_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RunFolder(str(tmp_path / "run")).make()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(Refused, match="belongs to another user"):
        RunFolder(str(tmp_path / "run")).make()


def test_a_large_file_is_known_by_its_size_and_time(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # nothing is stored, and reading it would take an hour
    before = identity_of(str(path))
    assert identity_of(str(path)) == before
    os.utime(path, ns=(0, 1))
    assert identity_of(str(path)) != before


def test_a_search_begins_resumes_and_begins_anew_only_where_nothing_is_lost(tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path / "run"))
    folder.require(resumes=False)
    with pytest.raises(Refused, match="there is no journal to resume"):
        folder.require(resumes=True)
    folder.make()
    for name in ("best.json", "best.keep_dtype.cfg", "best.txt", "best.py"):
        path = Path(folder.write(name, b"of somebody"))
        with pytest.raises(UsageFault, match="a new search would replace this file"):
            folder.require(resumes=False)
        path.unlink()
    written(tmp_path / "run/journal.jsonl")
    with pytest.raises(UsageFault, match="there is a search in this folder already"):
        folder.require(resumes=False)
    folder.require(resumes=True)
    folder.require(resumes=False, restarts=True)
    folder.trial(1, {})
    folder.write("best.json", b"old")
    assert Path(folder.set_aside()).resolve() == tmp_path / "run/before-1"
    assert sorted(os.listdir(tmp_path / "run/before-1")) == ["best.json", "journal.jsonl", "trials"]
    folder.require(resumes=False)
    assert folder.trial(1, {}).endswith("trials/0001")


def test_a_config_directory_is_no_run_folder(tmp_path: Path) -> None:
    store = tmp_path / "opp/built-in/op_impl/ai_core/tbe/config/ascend910b"
    store.mkdir(parents=True)
    with pytest.raises(Refused, match="a config directory cannot be a run folder"):
        RunFolder(str(store)).require(resumes=False)
