"""`opsinfo bisect`: searches with checks whose truth is known."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from bisect_support import CHAIN, CULPRITS, among, black, events, needing, script
from cli_support import Run, mixlist, rows, write
from model_files import dump, onnx_model

from opsinfo_cli import Mixlist, Target, bisect_mixlist
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.lab.bisect.places import ray
from opsinfo_cli.lab.bisect.run_folder import RunFolder
from opsinfo_cli.lab.commands.bisect import answer as view

Search = Callable[..., Any]
ACCURACY_PAGE = Path(__file__).resolve().parents[3] / "docs" / "accuracy_page.py"


@pytest.fixture
def search(opsinfo: Run, opp: Path) -> Search:
    """Run a search against the fixture's ascend910b."""

    def run(*words: str | Path, **options: Any) -> Any:
        return opsinfo("bisect", "--against", opp, "--soc", "ascend910b", *words, **options)

    return run


def test_a_slow_check_or_disk_is_reported_and_makes_no_other_difference_to_the_page_of_accuracy(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = needing(tmp_path / "check")

    def printed(limit: float) -> str:
        monkeypatch.setattr(view, "_SLOW", limit)
        monkeypatch.setattr(view, "_FAST", limit)
        text: str = search(*among(), "--journal", "journal", "-o", "ops_info.json", "--", check).err
        shutil.rmtree(tmp_path / "journal")
        (tmp_path / "ops_info.json").unlink()
        return text

    fast, slow = printed(1e9), printed(0)
    assert re.search(r"^note: a run takes .* s: expect .* s more$", slow, re.MULTILINE)
    assert re.search(r"^opsinfo itself took \d+ ms for each trial$", slow, re.MULTILINE)
    without_numbers = run_path(str(ACCURACY_PAGE))["without_numbers"]
    assert without_numbers(slow) == without_numbers(fast)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--simulate", "--max-error", "0.01"], "there is a search in this folder already"),
        (["--resume", "--journal", "none", "--simulate", "--max-error", "0.01"], "there is no journal to resume"),
        (["--journal", "new", "--", "./evaluate.sh"], "the check does not read the list"),
    ],
)
def test_what_refuses_a_search_is_said_before_the_model_is_read(
    search: Search, tmp_path: Path, fixtures: Path, words: list[str], error: str
) -> None:
    folder = RunFolder(str(tmp_path / ".opsinfo-bisect"))
    folder.make()
    Path(folder.journal).touch()
    (tmp_path / "evaluate.sh").write_text("true", "utf-8")
    result = search("--model", fixtures / "model.onnx", *words)
    assert result.err.startswith(f"error: {error}")


def test_each_culprit_names_the_trial_that_failed_without_it(search: Search, tmp_path: Path) -> None:
    document = search(*among(), "--format", "json", "--", needing(tmp_path / "check")).json
    assert (document["ended"], document["one_minimal"], document["monotone"]) == ("found", True, True)
    ends = {each["trial"]: each for each in events(tmp_path / ".opsinfo-bisect") if each["event"] == "end"}
    for culprit in document["culprits"]:
        proof = ends[culprit["trial"]]
        assert proof["verdict"] == "fail"
        assert sorted([*proof["set"], culprit["type"]]) == CULPRITS
    assert document["trials"]["passed"] + document["trials"]["failed"] == len(ends)


def test_a_trial_gets_its_own_folder_mixlist_and_cache(search: Search, tmp_path: Path) -> None:
    log = tmp_path / "log"
    line = f'echo "$1|$2|$3|$OPSINFO_MIXLIST|$OPSINFO_TRIAL|$ASCEND_CACHE_PATH|$ASCEND_RT_VISIBLE_DEVICES" >> {log}'
    check = needing(tmp_path / "check", None, line, "test -d $ASCEND_CACHE_PATH || exit 126")
    assert search(*among(), "--devices", "7", "--", check, "{mixlist}", "x={trial}", "{cache}").code == 0
    found = [line.split("|") for line in log.read_text("utf-8").splitlines()]
    assert len({each[0] for each in found}) == len(found)
    for mixlist_, trial, cache, *env in found:
        assert trial.startswith(f"x={tmp_path}/.opsinfo-bisect/trials/")
        assert env == [mixlist_, trial[2:], cache, "7"]
        assert cache == f"{trial[2:]}/cache"
        assert Path(mixlist_).parent == Path(trial[2:])


def test_words_after_the_dashes_reach_the_command_unchanged(search: Search, tmp_path: Path) -> None:
    log = tmp_path / "log"
    check = script(tmp_path / "check", f'for each in "$@"; do echo "$each" >> {log}; done', "exit 0")
    words = ["--format", "json", "-q", "--", "a b", "{other}", "--against=x"]
    assert search("--among", "Add", "--force", "--", check, *words).code == 0
    assert log.read_text("utf-8").splitlines() == words * 4


def test_the_answer_is_printed_even_if_it_cannot_be_written(search: Search, tmp_path: Path) -> None:
    check = needing(tmp_path / "check", None, "mkdir -p taken", "touch taken/x")
    ran = search(*among(), "-o", "taken/out.json", "--", check, "{mixlist}")
    assert ran.code == 3  # its folder does not exist before the search
    (tmp_path / "taken").mkdir()
    gone = needing(tmp_path / "check", None, f"rm -rf {tmp_path}/taken")
    ran = search(*among(), "-o", "taken/out.json", "--format", "json", "--", gone, "{mixlist}")
    assert ran.code == 3
    assert sorted(culprit["type"] for culprit in ran.json["culprits"]) == CULPRITS
    assert ran.json["mixlist"] is None
    assert "taken" in ran.err


def test_an_existing_list_is_backed_up(search: Search, opsinfo: Run, tmp_path: Path) -> None:
    out = write(tmp_path / "out.json", mixlist(black_add=["Old"]))
    ran = search(*among(), "-o", out, "--", needing(tmp_path / "check"))
    assert f"wrote {out}; backup" in ran.err
    assert black(out) == CULPRITS
    assert opsinfo("restore", out).code == 0
    assert black(out) == ["Old"]


def test_culprits_of_a_model_come_with_their_nodes_and_casts(search: Search, tmp_path: Path) -> None:
    check = needing(tmp_path / "check", ["MatMulV2"])
    document = search("--model", dump(tmp_path, CHAIN), "--format", "json", "--", check).json
    (culprit,) = document["culprits"]
    assert culprit["type"] == "MatMulV2"
    assert {"a", "g"} <= set(culprit["nodes"])
    assert isinstance(culprit["casts"], int)


def test_the_cheapest_list_is_found_with_what_it_moves_and_what_stays_low(search: Search, tmp_path: Path) -> None:
    check = script(tmp_path / "check", 'grep -Eq \'MatMulV2|SoftmaxV2|Mul"\' "$OPSINFO_MIXLIST"')
    words = ["--model", dump(tmp_path, CHAIN), "--", check]
    document = search("--format", "json", *words).json
    (culprit,) = document["culprits"]
    assert document["cost"] == {"nodes": 1, "bytes": 128, "microseconds": None}
    assert culprit["type"] != "MatMulV2"
    assert document["left_low"]["nodes"] == 5
    assert "Log" not in document["not_judged"]
    text = search("--journal", "other", *words).err
    assert "the list moves 1 node (128 bytes) to high; it leaves 5 nodes (320 bytes) low" in text


def test_where_a_list_moves_everything_the_document_says_how_to_go_on(search: Search, tmp_path: Path) -> None:
    check = needing(tmp_path / "check", ["MatMulV2"])
    words = ["--model", dump(tmp_path), "--format", "json"]
    assert search(*words, "--", check).json["next"].startswith("everything is in high precision with this list: --by")
    kept = search(*words, "--by", "node", "--journal", "nodes", "--", check).json
    assert (kept["keep_dtype"]["ended"], kept["next"]) == ("cannot-cure", None)


def test_what_cannot_be_cured_comes_with_the_nodes_still_low_and_those_not_judged(
    search: Search, tmp_path: Path
) -> None:
    nodes = [dict(each) for each in CHAIN["nodes"]]
    nodes.insert(-1, {"name": "u", "type": "Unheard", "inputs": ["g:0"], "out": ["f32"]})
    words = ["--model", dump(tmp_path, {"nodes": nodes}), "--among", "Mul", "--among", "Relu"]
    check = script(tmp_path / "check", 'grep -q Relu "$OPSINFO_MIXLIST" && echo too low || echo base', "exit 1")
    ran = search(*words, "--", check)
    assert ran.code == 1
    assert "still low with all candidates on the black list: a, d, g" in ran.err
    assert "1 Unheard; no list moves them" in ran.err
    assert "  too low" in ran.err
    document = search("--journal", "other", "--format", "json", *words, "--", check).json
    assert document["still_low"] == ["a", "d", "g"]
    assert document["not_judged"] == ["Unheard"]


def test_the_candidates_of_an_onnx_model_are_in_the_order_of_their_error_in_a_simulation(
    search: Search, tmp_path: Path
) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    words = ["--model", onnx_model(tmp_path, [[1.001, 0.3], [0.1, -2.7]]), "--dry-run", "--", "true", "{mixlist}"]
    ran = search(*words)
    assert [row[0] for row in rows(ran)] == ["MatMulV2", "Relu"]
    assert "suspected by a simulation: MatMulV2, Relu" in ran.err
    assert "requires --simulate, or an ONNX model" in search("--evidence", "e.json", "--saturate", *words).err
    search(*words[:2], "--simulate", "--max-error", "0.0001")
    journal = (tmp_path / ".opsinfo-bisect/journal.jsonl").read_text("utf-8")
    assert re.search(r"cosine 0\.999\d+, max_rel_error", journal)
    failed = search("--shape", "nothing=1", *words)
    assert (failed.code, "nothing" in failed.err) == (2, True)


LIBRARY = "built-in/op_impl/ai_core/tbe/config/ascend910b/aic-ascend910b-ops-info-nn.json"
INPUTS = {
    "model.onnx": "the model",
    "weights.bin": "the model",
    LIBRARY: "the target",
    "base.json": "the base list",
    "inputs.npz": "`inputs.npz`",
    "evidence.json": "`evidence.json`",
    "kernel_details.csv": "`kernel_details.csv`",
    "check": "`./check`",
    "config.yml": "`config.yml`",
}


def test_a_search_is_not_resumed_once_an_input_changed(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    """What a journal says is about files with this content."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    import numpy as np

    onnx_model(tmp_path, [[1.001, 0.3], [0.1, -2.7]], external=True)
    np.savez(tmp_path / "inputs.npz", x=np.ones((2, 2), "f4"))
    write(tmp_path / "base.json", mixlist(black_add=["MaxPool"]))
    (tmp_path / "evidence.json").write_text('{"types": [{"type": "Relu", "error_alone": 0.5}]}', "utf-8")
    (tmp_path / "kernel_details.csv").write_text("Name,Type,Accelerator Core,Duration(us)\nx,Relu,AI_CORE,2\n", "utf-8")
    (tmp_path / "config.yml").touch()
    needing(tmp_path / "check", ["MatMulV2"])
    words = ["bisect", "--against", opp, "--soc", "ascend910b", "--model", "model.onnx", "--mixlist", "base.json"]
    words += ["--evidence", "evidence.json", "--profile", "kernel_details.csv"]
    command = [*words, "--", "./check", "--config=config.yml", "{mixlist}"]
    simulated = [*words[:-4], "--journal", "other", "--inputs", "inputs.npz", "--simulate", "--max-error", "0.1"]
    for line in (command, simulated):
        assert opsinfo(*line).code == 0
        assert opsinfo(line[0], "--resume", *line[1:]).code == 0
    for name, named in INPUTS.items():
        file = (opp if name == LIBRARY else tmp_path) / name
        before = file.read_bytes()
        file.write_bytes(before + (b"\x32\0" if name == "model.onnx" else b"\n"))
        line = simulated if name == "inputs.npz" else command
        ran = opsinfo(line[0], "--resume", "--format", "json", *line[1:])
        assert (ran.code, ran.json["error"]["name"]) == (2, "journal-differs")
        assert ran.json["error"]["message"].endswith(f"changed since: {named}"), name
        file.write_bytes(before)
    (tmp_path / "config.yml").write_text("lr: 1\n", "utf-8")
    for more in ["--force"], []:  # a search that was forced goes on with what is now
        assert opsinfo(command[0], "--resume", *more, *command[1:]).code == 0


def test_the_nodes_of_a_culprit_are_searched_next(search: Search, tmp_path: Path) -> None:
    check = script(
        tmp_path / "check",
        'grep -q MatMulV2 "$OPSINFO_MIXLIST" && exit 0',
        'test "$1" = "$OPSINFO_KEEP_DTYPE" || exit 126',
        'grep -qx g "$1"',
    )
    words = ["--model", dump(tmp_path, CHAIN), "--by", "node", "-o", "out.json", "--format", "json"]
    ran = search(*words, "--", check, "{keep_dtype}")
    assert ran.code == 0
    assert [each["type"] for each in ran.json["culprits"]] == ["MatMulV2"]
    assert [each["name"] for each in ran.json["keep_dtype"]["nodes"]] == ["g"]
    assert (tmp_path / "out.keep_dtype.cfg").read_text("utf-8") == "g\n"


def test_a_budget_that_ends_among_nodes_names_no_file_before_one_passed(search: Search, tmp_path: Path) -> None:
    check = script(tmp_path / "check", 'grep -q MatMulV2 "$OPSINFO_MIXLIST" && exit 0', 'grep -qx g "$1"')
    words = ["--model", dump(tmp_path, CHAIN), "--by", "node"]
    said: list[str] = []
    while not said or "must keep the dtype" not in said[-1]:
        more = ["--resume"] if said else []
        said.append(search(*words, *more, "--budget", f"{len(said) + 1}", "--", check, "{keep_dtype}").err)
    assert any("\nno keep_dtype file is known to pass; 0 runs among nodes\n" in text for text in said)
    assert any(re.search(r"^the smallest keep_dtype file known to pass has \d nodes?; ", text, re.M) for text in said)
    assert not any("has 0 nodes" in text for text in said)


def test_a_check_that_is_not_monotone_is_named(search: Search, tmp_path: Path) -> None:
    lines = [
        'has() { grep -q "\\"$1\\"" "$OPSINFO_MIXLIST"; }',
        "has Mul || exit 1",
        "if has Relu; then has Add || exit 1; fi",
        "if has Add; then has AddN || exit 1; fi",
        "if has AddN; then has Conv2D || exit 1; fi",
        "if has Conv2D; then has MatMulV2 || exit 1; fi",
    ]
    document = search(*among(), "--format", "json", "--", script(tmp_path / "check", *lines)).json
    assert [each["type"] for each in document["culprits"]] == ["Mul"]
    assert document["monotone"] is False


def test_the_page_names_model_target_mode_and_check_and_has_the_lists_that_were_run(
    search: Search, tmp_path: Path
) -> None:
    check = needing(tmp_path / "check", ["MatMulV2"])
    words = ["--model", dump(tmp_path, CHAIN), "--precision-mode", "mixed_bfloat16", "--format", "html"]
    ran = search(*words, "--", check, "{mixlist}", "a b", "$(id)")
    assert ran.code == 0
    for text in (
        "ge_proto",
        "ascend910b",
        "mixed_bfloat16",
        f"{check} {{mixlist}} &#x27;a b&#x27; &#x27;$(id)&#x27;",
        "Proved by trial",
        "Lists that were run",
        "MatMulV2",
    ):
        assert text in ran.out, text


def test_on_a_cluster_a_local_file_is_no_command_and_ray_is_needed(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "check.sh").touch()
    for command in (["./check.sh"], ["sh", "check.sh"]):
        ran = search(*among(), "--ray", "auto", "--", *command)
        assert (ran.code, f"`{command[-1]}` is a file of the current directory" in ran.err) == (2, True)
    monkeypatch.setattr(ray, "find_spec", lambda name: None)
    error = search(*among(), "--ray", "auto", "--format", "json", "--", "true", "{mixlist}").json["error"]
    assert (error["name"], error["hint"].partition(" ")[2]) == ("missing-package", "-m pip install ray")
    assert not (tmp_path / ".opsinfo-bisect").exists()


def test_with_i_a_person_judges_every_trial(search: Search) -> None:
    words = ["--among", "Mul", "--among", "Add", "-i", "--format", "json"]
    ran = search(*words, input="p\npass\nwhat\nfail\nf\nf\np\nf\np\nf\n")
    assert ran.code == 0
    assert ran.json["ended"] == "found"
    assert "mixlist-0001.json" in ran.err
    stopped = search(*words, "--journal", "other", input="p\np\n")
    assert stopped.code == 3
    assert stopped.json["error"]["name"] == "no-answer"


def test_a_terminal_shows_a_table_and_the_progress_with_the_time_left(
    terminal: Callable[..., tuple[int, str]], opp: Path, tmp_path: Path
) -> None:
    words = ["bisect", "--against", f"{opp}@ascend910b", *among()]
    code, shown = terminal(*words, "--dry-run", "--", "true", "{mixlist}")
    assert (code, "suspicion" in shown) == (0, True)
    code, shown = terminal(*words, "--", needing(tmp_path / "check", None, "sleep 0.2"), "{mixlist}")
    assert code == 0
    assert re.search(r"━\S* \S*\d:\d\d:\d\d\S* best: 3 of 8 op types; \d+ done, at most \d+ left \(.* s\)", shown)
    assert "proved by trial" in shown


def test_a_prompt_stands_alone_on_its_line(start: Callable[..., Any], opp: Path) -> None:
    ours, theirs = os.openpty()
    words = ["bisect", "--against", f"{opp}@ascend910b", "--among", "Mul", "-i"]
    process = start(*words, stdin=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    process.stdin.write(b"p\np\nf\nf\n")
    process.stdin.flush()
    text = b""
    with suppress(OSError):  # the terminal is closed
        while part := os.read(ours, 1 << 16):
            text += part
    os.close(ours)
    assert process.wait() == 0
    lines = re.sub(rb"\x1b\[[0-9;]*m", b"", text).decode().splitlines()
    assert [line for line in lines if "skip or quit" in line and not line.startswith("pass, fail,")] == []
    assert "\x1b[2K" not in text.decode()


def test_a_person_who_quits_leaves_the_best_list(opsinfo_process: Run, opp: Path, tmp_path: Path) -> None:
    words = ["bisect", "--against", opp, "--soc", "ascend910b", "--among", "Mul", "--among", "Add"]
    ran = opsinfo_process(*words, "-i", "-o", "out.json", input="p\np\nf\nf\nq\n")
    assert ran.code == 130
    assert "interrupted: the smallest list known to pass has 2 op types" in ran.err
    assert "to go on, run the same command with --resume" in ran.err
    assert black(tmp_path / "out.json") == ["Add", "Mul"]


def test_concurrent_trials_have_a_device_each(search: Search, tmp_path: Path) -> None:
    taken = f"{tmp_path}/$ASCEND_RT_VISIBLE_DEVICES"
    check = needing(tmp_path / "check", None, f"mkdir {taken} || exit 126", f"sleep 0.05; rmdir {taken}")
    assert search(*among(), "--devices", "4,5,6", "--", check).code == 0
    devices = {each["device"] for each in events(tmp_path / ".opsinfo-bisect") if each["event"] == "end"}
    assert devices == {"4", "5", "6"}


@pytest.mark.parametrize(
    ("words", "check", "title"),
    [
        ([], "grep -q Mul $0 && grep -q Add $0", "Op types that stay in high precision for now: not proved yet"),
        (["--grow"], "! grep -q Mul $0", "Op types that are not white for now: not proved yet"),
    ],
)
def test_what_a_stopped_search_lists_is_not_proved_yet(
    search: Search, words: list[str], check: str, title: str
) -> None:
    given = [*among(), *words, "--budget", "5", "--", "sh", "-c", check, "{mixlist}"]
    page = search("--journal", "other", "--format", "html", *given)
    assert page.code == 1
    for text in (title, "not proved yet", "to go on, run the same command with --resume and a larger --budget"):
        assert text in page.out
    assert "proved: the check fails" not in page.out


def test_a_terminal_shows_that_a_list_is_not_proved_yet(terminal: Callable[..., tuple[int, str]], opp: Path) -> None:
    given = ["bisect", "--against", f"{opp}@ascend910b", *among(), "--budget", "5"]
    code, shown = terminal(*given, "--", "sh", "-c", "grep -q Mul $0 && grep -q Add $0", "{mixlist}")
    assert code == 1
    assert "Op types that stay in high precision for now: not proved yet" in shown
    assert "to go on, run the same command with --resume and a larger --budget" in shown


def test_a_stopped_search_says_how_to_go_on_and_an_ended_one_does_not(search: Search, tmp_path: Path) -> None:
    check = needing(tmp_path / "check", None)
    stopped = search(*among(), "--budget", "4", "--format", "json", "--", check, "{mixlist}")
    document = json.loads(stopped.out)
    assert (document["one_minimal"], document["next"]) == (
        False,
        "to go on, run the same command with --resume and a larger --budget",
    )
    ended = json.loads(search(*among(), "--resume", "--format", "json", "--", check, "{mixlist}").out)
    assert (ended["one_minimal"], ended["next"]) == (True, None)


def test_git_ignores_a_new_run_folder_and_no_folder_of_the_user(search: Search, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    check = needing(tmp_path / "check", None)
    for folder in ("new", "mine"):
        assert search(*among(), "--journal", folder, "--", check, "{mixlist}").code == 0
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"
    assert not (tmp_path / "mine" / ".gitignore").exists()


def test_a_mode_that_the_chip_lacks_is_warned_about(opsinfo: Run, opp: Path) -> None:
    words = ("--precision-mode", "mixed_bfloat16", "--among", "Mul", "--dry-run", "--", "true", "{mixlist}")
    for soc, is_warned in (("ascend910", True), ("ascend910b", False)):
        ran = opsinfo("bisect", "--against", f"{opp}@{soc}", *words)
        assert (f"warning: {soc} does not have the mode mixed_bfloat16" in ran.err) is is_warned


def test_a_search_from_python_runs_what_the_command_runs(search: Search, opp: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model = onnx_model(tmp_path, [[1.001, 0.3], [0.1, -2.7]])
    check = ["grep", "-q", "MatMulV2", "{mixlist}"]
    assert search("--model", model, "--", *check).code == 0
    found = bisect_mixlist(check, f"{opp}@ascend910b", model=model, journal=str(tmp_path / "python"))
    assert [culprit.type for culprit in found.culprits] == ["MatMulV2"]

    def told(folder: str) -> list[Any]:
        changing = {"seconds", "sum", "tail"}
        return [{k: v for k, v in each.items() if k not in changing} for each in events(tmp_path / folder)]

    assert told("python") == told(".opsinfo-bisect")


@pytest.mark.parametrize("check", ["./check.sh {mixlist}", "true", "", []])
def test_a_check_from_python_is_neither_text_nor_empty(opp: Path, tmp_path: Path, check: Any) -> None:
    with pytest.raises(UsageFault, match="a function or the words of a command"):
        bisect_mixlist(check, f"{opp}@ascend910b", among=["Mul"], journal=str(tmp_path / "run"))


@pytest.mark.parametrize("has_model", [False, True])
def test_a_search_from_python_warns_of_a_mode_and_names_that_the_target_lacks(
    opp: Path, tmp_path: Path, has_model: bool
) -> None:
    base = write(tmp_path / "base.json", mixlist(black_add=["Mull"]))
    words = (lambda _: True, f"{opp}@ascend910", "mixed_bfloat16", base)
    subject: dict[str, Any] = {"model": dump(tmp_path, CHAIN)} if has_model else {"among": ["Mul"]}
    with (
        pytest.warns(UserWarning, match="ascend910 does not have the mode mixed_bfloat16"),
        pytest.warns(UserWarning, match="unknown operator `Mull`: not in the target"),
    ):
        bisect_mixlist(*words, **subject, journal=str(tmp_path / "run"))


def test_a_search_from_python_takes_one_op_type_or_path_and_open_values(opp: Path, tmp_path: Path) -> None:
    base = Mixlist.of(mixlist(black_add=["Add"]))
    evidence = write(tmp_path / "simulated.json", {"types": [{"type": "Mul", "error_alone": 1}]})
    found = bisect_mixlist(
        ["grep", "-q", "Mul", "{mixlist}"],
        Target.open(f"{opp}@ascend910b"),
        mixlist=base,
        among="Mul",
        evidence=evidence,
        journal=tmp_path / "run",
    )
    assert [culprit.type for culprit in found.culprits] == ["Mul"]
    assert sorted(Mixlist.read(str(found.mixlist)).marks) == ["Add", "Mul"]
