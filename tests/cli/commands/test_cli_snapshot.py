"""`opsinfo snapshot`, and snapshots as the TARGET of commands that read or write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import AI_910B, NN, Run, finding_names, mixlist, names, rows, snapshot, write


@pytest.fixture
def taken(opsinfo: Run, fixtures: Path, tmp_path: Path) -> Path:
    path = tmp_path / "ascend910b.opsinfo.json"
    ran = opsinfo("snapshot", fixtures / "opp", "--soc", "ascend910b", "-o", path)
    assert (ran.code, ran.out) == (0, "")
    assert "made" in ran.err
    return path


def test_standard_output_and_a_file_are_equal(opsinfo: Run, fixtures: Path, opp: Path, taken: Path) -> None:
    for words in ((fixtures / "opp",), (opp,), (taken,)):
        ran = opsinfo("snapshot", *words, "--soc", "ascend910b")
        assert (ran.code, ran.out, ran.err) == (0, taken.read_text("utf-8"), "")


def test_a_snapshot_is_listed_shown_compared_and_ported(opsinfo: Run, fixtures: Path, taken: Path) -> None:
    install = (fixtures / "opp", "--soc", "ascend910b")
    listed = opsinfo("list", taken)
    assert [row[:3] for row in rows(listed)] == [row[:3] for row in rows(opsinfo("list", *install))]
    row = next(row for row in rows(listed) if row[0] == "IndexFill")
    path, line = row[3].rsplit(":", 1)
    assert path == str(taken)
    assert '"IndexFill"' in taken.read_text("utf-8").splitlines()[int(line) - 1]
    document = opsinfo("list", taken, "--match", "AddN", "--format", "json").json
    assert document["target"] | {"text": ""} == {
        "text": "", "kind": "snapshot", "path": str(taken), "soc": "ascend910b", "version": "8.3.RC1"
    }  # fmt: skip
    assert [each["store"] for each in document["operators"][0]["also_in"]] == ["built-in"]
    shown = opsinfo("show", taken, "AvgPoolGradD", "Add").out
    assert "the snapshot has gray" in shown
    of_install = opsinfo("show", *install[:1], "AvgPoolGradD", "Add", *install[1:]).out
    heads = ("  inputs", "  outputs", "   ", "  black", "  white")
    tensors = [[line for line in text.splitlines() if line.startswith(heads)] for text in (shown, of_install)]
    assert tensors[0] == tensors[1] != []
    assert "the kernel chooses its dtypes" in shown
    (same,) = opsinfo("show", taken, "AvgPoolGradD", "--format", "json").json["operators"]
    assert (same["can_be_black"], same["can_be_white"]) == ("no", "yes")
    assert opsinfo("diff", taken, f"{fixtures}/opp@ascend910b").code == 0
    differing = opsinfo("diff", taken, f"{fixtures}/opp@ascend910")
    assert differing.code == 1
    assert differing.out == opsinfo("diff", f"{fixtures}/opp@ascend910b", f"{fixtures}/opp@ascend910").out
    assert opsinfo("diff", fixtures / "opp-old", taken, "--format", "mixlist").code == 0


def test_mixlists_are_checked_against_a_snapshot(opsinfo: Run, taken: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["matmulv2", "Unique", "AvgPoolGradD"]))
    ran = opsinfo("validate", path, "--against", taken, "--format", "json")
    assert finding_names(ran) == ["black-without-fp32", "not-in-ai-core", "unknown-operator"]
    assert opsinfo("move", path, "MatMulV2", "--to", "white", "--against", taken).code == 0
    assert "MatMulV2" not in path.read_text("utf-8"), "it is already white in the snapshot"
    assert opsinfo("move", path, "MatMulV9", "--to", "white", "--against", taken).code == 2
    assert ["AvgPoolGradD", "black", "gray"] in [row[:3] for row in rows(opsinfo("list", path, "--against", taken))]
    assert names(opsinfo("list", taken, "--mixlist", path, "--on", "black"))[:1] == ["ApplyMomentumD"]


WRITING = [
    ("move", "{}", "Add", "--to", "black"),
    ("move", "{}", "Add", "--to", "black", "--dry-run"),
    ("apply", "{}", "m.json"),
    ("apply", "{}", "m.json", "--output", "copy.json"),
    ("fmt", "{}"),
    ("doctor", "{}"),
    ("validate", "{}"),
    ("diff", "{}", "{}", "--sections"),
    ("list", "{}", "--soc", "ascend910"),
    ("list", "{}", "--core", "vector"),
]


@pytest.mark.parametrize("words", WRITING, ids=lambda words: " ".join(words).replace("{}", "SNAPSHOT"))
def test_commands_that_cannot_use_a_snapshot_refuse_it(
    opsinfo: Run, taken: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    before = snapshot(tmp_path)
    ran = opsinfo(*(str(taken) if word == "{}" else word for word in words))
    assert (ran.code, ran.out) == (2, "")
    assert "snapshot" in ran.err
    assert snapshot(tmp_path) == before


def test_check_reports_a_stale_snapshot_until_it_is_updated(opsinfo: Run, opp: Path, taken: Path) -> None:
    words = ("snapshot", opp, "--soc", "ascend910b", "-o", taken)
    assert opsinfo(*words, "--check").code == 0
    assert "nothing to change" in opsinfo(*words).err
    assert opsinfo("move", opp / NN, "SwiGlu", "--to", "black").code == 0
    old = taken.read_bytes()
    assert opsinfo(*words, "--check").code == 1
    dry = opsinfo(*words, "--dry-run")
    assert [line.split('"')[1] for line in dry.out.splitlines() if line.startswith(("-  ", "+  "))] == ["SwiGlu"] * 2
    assert taken.read_bytes() == old
    document = opsinfo(*words, "--format", "json").json
    assert [file["path"] for file in document["files"]] == [str(taken)]
    assert opsinfo(*words, "--check").code == 0
    assert opsinfo("restore", taken).code == 0
    assert taken.read_bytes() == old


def test_a_snapshot_is_not_written_over_other_files(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    target = ("snapshot", opp, "--soc", "ascend910b", "-o")
    other = write(tmp_path / "package.json", {"name": "x"})
    for place in (other, opp / NN, opp / AI_910B / "facts.json"):
        ran = opsinfo(*target, place)
        assert (ran.code, ran.out) == (2, ""), place
    assert json.loads(other.read_text("utf-8")) == {"name": "x"}
    assert opsinfo(*target, tmp_path / "no/such/folder.json").code == 3
    assert opsinfo("snapshot", other).code == 2
    assert opsinfo("snapshot", write(tmp_path / "m.json", mixlist(black_add=["Add"]))).code == 2
    for words in (("--check",), ("--dry-run",), ("--format", "json")):
        assert opsinfo("snapshot", opp, "--soc", "ascend910b", *words).code == 2


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [('"schema_version": 3', '"schema_version": 4', 3), ('"flag": "true"', '"flag": 1', 11)],
    ids=["unknown version", "wrong type"],
)
def test_an_unreadable_snapshot_is_refused_with_the_place(
    opsinfo: Run, fixtures: Path, taken: Path, old: str, new: str, line: int
) -> None:
    taken.write_text(taken.read_text("utf-8").replace(old, new), "utf-8")
    for words in (("list", taken), ("validate", fixtures / "mixlists/good/add-black.json", "--against", taken)):
        ran = opsinfo(*words)
        assert (ran.code, ran.out) == (3, "")
        assert f"{taken}:{line}:" in ran.err
        assert "opsinfo snapshot" in ran.err or "upgrade" in ran.err


def test_a_target_without_a_known_chip_is_reported(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "facts.json", (fixtures / "opp" / NN).read_bytes())
    ran = opsinfo("snapshot", path)
    assert (ran.code, ran.json["soc"]) == (0, None)
    assert "the SoC of the target is unknown" in ran.err
    named = write(tmp_path / "aic-ascend910b-ops-info-nn.json", path.read_bytes())
    assert opsinfo("snapshot", named).json["soc"] == "ascend910b"
