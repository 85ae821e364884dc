"""The input, output and leftovers of a trial on a Ray cluster."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from ray_support import Search, commands, ended
from running_processes import wait_until


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code, *words]


def test_a_trial_gets_its_own_files_and_environment_and_that_of_its_node(search: Search) -> None:
    code = (
        "import json, os, sys\n"
        "names = 'OPSINFO_MIXLIST OPSINFO_TRIAL ASCEND_CACHE_PATH ASCEND_RT_VISIBLE_DEVICES NODE_OF_TEST'.split()\n"
        "print(json.dumps([sys.argv[1:], os.getcwd(), sorted(os.listdir()), [os.environ.get(name) for name in names]]))"
    )
    assert search.run(check=python(code, "{mixlist}", "{trial}", "{cache}"))[0] == 0
    for record in search.events("end"):
        words, cwd, files, (mixlist, trial, cache, devices, number) = json.loads(record["tail"])
        name = f"mixlist-{record['trial']:04}.json"
        assert words == [mixlist, trial, cache] == [f"{cwd}/{name}", cwd, f"{cwd}/cache"]
        assert (files, devices) == (["cache", name], "0")
        assert record["device"].endswith(" NPU 0")
        assert number in ("0", "1")
        assert not Path(cwd).exists()


def test_a_device_named_in_the_command_is_not_made_the_only_visible_one(search: Search) -> None:
    code = "import os, sys; print(sys.argv[1], os.environ.get('ASCEND_RT_VISIBLE_DEVICES'))"
    assert search.run(check=python(code, "{device}"))[0] == 0
    assert {record["tail"] for record in search.events("end")} == {"0 None\n"}


def test_output_arrives_while_the_trial_runs(search: Search) -> None:
    gate = search.folder / "gate"
    code = "import os, sys, time\nprint('begun', flush=True)\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.05)"
    process = search.start(check=python(code, str(gate)))
    output = search.folder / "run/trials/0001/output.log"
    wait_until(lambda: output.exists() and output.read_text() == "begun\n")
    assert not search.events("end")
    gate.touch()
    assert ended(process)[0] == 0


def test_ten_megabytes_of_output_arrive_whole(search: Search) -> None:
    code = "import sys\nfor number in range(1_000_000): sys.stdout.write(f'{number:9}\\n')"
    assert search.run(check=python(code))[0] == 0
    whole = "".join(f"{number:9}\n" for number in range(1_000_000))
    for record in search.events("end"):
        assert (search.folder / f"run/trials/{record['trial']:04}/output.log").read_text() == whole
        assert record["tail"] == whole[-2000:]


def test_a_check_that_cannot_be_run_stops_the_search(search: Search) -> None:
    code, document, _ = search.run(check=["/nowhere/check.sh"])
    assert (code, document["error"]["name"]) == (3, "check-unusable")
    assert "ended with 127" in document["error"]["message"]
    assert search.events("no-verdict")[0]["tail"] == "/nowhere/check.sh: No such file or directory\n"


def test_a_check_that_takes_too_long_is_ended_with_all_its_commands(search: Search) -> None:
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', sys.argv[1]])\n"
        "time.sleep(600)"
    )
    mark = f"mark of {search.folder}"
    status, document, _ = search.run("--timeout", "1", check=python(code, mark))
    assert status == 3
    assert "took longer than --timeout" in document["error"]["message"]
    wait_until(lambda: not commands(mark))


def test_ctrl_c_leaves_no_process_and_no_folder(search: Search) -> None:
    process = search.start(check=search.check(hangs=True))
    mixlist, _ = search.hanging()
    process.send_signal(signal.SIGINT)
    code, document, err = ended(process)
    assert (code, document["ended"]) == (130, "interrupted"), err
    wait_until(lambda: not commands(str(search.folder / "check.py")) and not mixlist.parent.exists())
