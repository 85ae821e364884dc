"""The input, output and leftovers of a trial on a Ray cluster."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest
from ray_support import Search, commands, ended
from running_processes import wait_until

NOTHING_TO_DO = 4
"""Runs of a check that always passes: both ends, each twice."""


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code, *words]


def test_a_trial_gets_its_own_files_and_environment_and_that_of_its_node(search: Search) -> None:
    code = (
        "import json, os, sys\n"
        "names = 'OPSINFO_MIXLIST OPSINFO_TRIAL ASCEND_CACHE_PATH ASCEND_RT_VISIBLE_DEVICES NODE_OF_TEST'.split()\n"
        "print(json.dumps([sys.argv[1:], os.getcwd(), sorted(os.listdir()), [os.environ.get(name) for name in names]]))"
    )
    assert search.run("run", check=python(code, "{mixlist}", "{trial}", "{cache}"))[0] == 0
    nodes = set()
    for record in search.events("run", "end"):
        node = search.node("run", record["trial"])
        folder, name = node["folder"], f"mixlist-{record['trial']:04}.json"
        words, cwd, files, (mixlist, trial, cache, devices, number) = json.loads(record["tail"])
        assert words == [mixlist, trial, cache] == [f"{folder}/{name}", folder, f"{folder}/cache"]
        assert (cwd, files) == (folder, ["cache", name, "output.log"])
        assert (devices, node["devices"]) == ("0", {"NPU": ["0"]})
        assert record["device"] == f"{node['address']} NPU 0"
        assert not Path(folder).exists()
        nodes.add(number)
    assert nodes <= {"0", "1", "2", "3"}


def test_folders_are_kept_on_the_nodes_on_request(search: Search) -> None:
    code = "import sys; open('result', 'w').write(sys.argv[1])"
    assert search.run("run", "--keep-folders", check=python(code, "{mixlist}"))[0] == 0
    for number in range(1, NOTHING_TO_DO + 1):
        folder = Path(search.node("run", number)["folder"])
        assert (folder / "result").read_text() == str(folder / f"mixlist-{number:04}.json")
        assert (folder / "output.log").read_bytes() == b""


def test_output_arrives_while_the_trial_runs(search: Search) -> None:
    gate = search.folder / "gate"
    code = "import os, sys, time\nprint('begun', flush=True)\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.05)"
    process = search.start("run", check=python(code, str(gate)))
    output = search.folder / "run/trials/0001/output.log"
    wait_until(lambda: output.exists() and output.read_text() == "begun\n")
    assert not search.events("run", "end")
    gate.touch()
    assert ended(process)[0] == 0


def test_ten_megabytes_of_output_arrive_whole(search: Search) -> None:
    code = "import sys\nfor number in range(1_000_000): sys.stdout.write(f'{number:9}\\n')"
    assert search.run("run", check=python(code))[0] == 0
    whole = "".join(f"{number:9}\n" for number in range(1_000_000))
    for record in search.events("run", "end"):
        assert (search.folder / f"run/trials/{record['trial']:04}/output.log").read_text() == whole
        assert record["tail"] == whole[-2000:]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (python("raise SystemExit(126)"), "ended with 126"),
        (["/nowhere/check.sh"], "ended with 127"),
    ],
)
def test_a_check_that_cannot_be_run_stops_the_search(search: Search, check: list[str], message: str) -> None:
    code, document, _ = search.run("run", check=check)
    assert code == 3
    assert document["error"]["name"] == "check-unusable"
    assert message in document["error"]["message"]
    if check[0] == "/nowhere/check.sh":
        assert search.events("run", "no-verdict")[0]["tail"] == "/nowhere/check.sh: No such file or directory\n"


def test_a_check_that_takes_too_long_is_ended_with_all_its_commands(search: Search) -> None:
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', sys.argv[1]])\n"
        "time.sleep(600)"
    )
    mark = f"mark of {search.folder}"
    code_of_exit, document, _ = search.run("run", "--timeout", "1", check=python(code, mark))
    assert code_of_exit == 3
    assert "took longer than --timeout" in document["error"]["message"]
    wait_until(lambda: not commands(mark))


def test_ctrl_c_leaves_no_process_and_no_folder(search: Search) -> None:
    process = search.start("run", check=search.check(hangs=True))
    search.hanging()
    process.send_signal(signal.SIGINT)
    code, document, err = ended(process)
    assert (code, document["ended"]) == (130, "interrupted"), err
    assert not commands(str(search.folder / "check.py"))
    started = [record["trial"] for record in search.events("run", "start")]
    begun = [trial for trial in started if (search.folder / f"run/trials/{trial:04}/node.json").exists()]
    assert not any(Path(search.node("run", trial)["folder"]).exists() for trial in begun)


def test_a_resource_that_no_node_has_is_refused_with_the_resources_of_the_nodes(search: Search) -> None:
    code, document, _ = search.run("run", "--resources", "NPU=2", check=search.check())
    error = document["error"]
    assert (code, error["name"]) == (3, "no-resources")
    assert error["message"] == "no node of the Ray cluster has NPU 2: it has 4 nodes with CPU 1, NPU 1"
    assert not (search.folder / "run/journal.jsonl").exists()
