"""A signal ends every command soon, wherever it is in a large input."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest
from cli_support import COMMANDS, ROOT
from contract import SIGNAL_STATUSES
from running_processes import wait_until

pytestmark = pytest.mark.heavy

OPP = str(ROOT / "fixtures" / "opp@ascend910b")
LARGE = {
    "list": "list store",
    "show": "show store Op7",
    "diff": "diff store twin",
    "move": "move store/aic-ascend910b-ops-info.json Op7 --to black --dry-run",
    "edit": "edit store",
    "apply": "apply store/aic-ascend910b-ops-info.json ops_info.json --dry-run",
    "merge": "merge ops_info.json more_ops_info.json",
    "fmt": "fmt more_ops_info.json -n",
    "validate": "validate ops_info.json --against store",
    "doctor": "doctor store",
    "snapshot": "snapshot store -o out.json",
    "graph": f"graph model.onnx --against {OPP}",
    "simulate": f"simulate model.onnx --against {OPP}",
    "bisect": f"bisect --model model.onnx --against {OPP} -- sleep 60 {{mixlist}}",
    "profile": "profile kernel_details.csv",
    "qualify": "qualify train.log",
    "numerics": "numerics dump",
    "systems": "systems convert --from mixlist --to keep-dtype more_ops_info.json",
}
SMALL = {"socs", "backups", "restore", "reapply", "explain", "modes", "schema", "completion"}
"""They read few and small files. Those that write end while they wait for a lock, too: ``test_cli_signals``."""
SECONDS = 0.7
"""Of processor time, after which a command is in its input."""
PATIENCE = 60
"""Seconds in which a signalled command ends even on a loaded machine; the status of one that finishes is another."""

ENTRY = (
    '"Op%d": {"input0": {"name": "x", "dtype": "float16,float", "format": "ND,ND", "paramType": "required"}, '
    '"output0": {"name": "y", "dtype": "float16,float", "format": "ND,ND", "paramType": "required"}, '
    '"precision_reduce": {"flag": "true"}}'
)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the inputs of the commands."""
    folder = tmp_path_factory.mktemp("large")
    library = "{" + ",\n".join(ENTRY % number for number in range(90_000)) + "}"
    for name in ("store", "twin"):
        (folder / name).mkdir()
        (folder / name / "aic-ascend910b-ops-info.json").write_text(library, "utf-8")
    for name, letters in (("ops_info.json", "Op%dx"), ("more_ops_info.json", "Mul%d")):
        names = ", ".join(f'"{letters % number}"' for number in range(200_000))
        (folder / name).write_text(f'{{"black-list": {{"to-add": [{names}]}}}}', "utf-8")
    profile = (ROOT / "fixtures" / "profiles" / "kernel_details.csv").read_text("utf-8")
    head, *rows = profile.splitlines(keepends=True)
    (folder / "kernel_details.csv").write_text(head + "".join(rows) * (100_000_000 // len(profile)), "utf-8")
    log = (ROOT / "fixtures" / "logs" / "apex-two-ranks.log").read_bytes()
    (folder / "train.log").write_bytes(log * (200_000_000 // len(log)))
    return folder


@pytest.fixture(scope="module")
def arrays(large: Path) -> None:
    onnx = pytest.importorskip("onnx")
    numpy = pytest.importorskip("numpy")
    (large / "dump").mkdir()
    numpy.lib.format.open_memmap(
        large / "dump" / "Add.a.1.1.output.0.npy", mode="w+", dtype=numpy.float32, shape=(300_000_000,)
    )
    make, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    nodes = [make(("Relu", "Exp")[number % 2], [f"v{number}"], [f"v{number + 1}"]) for number in range(40_000)]
    ends = [value(name, 1, [4]) for name in ("v0", "v40000")]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:])
    opsets = [onnx.helper.make_opsetid("", 17)]
    (large / "model.onnx").write_bytes(onnx.helper.make_model(graph, opset_imports=opsets).SerializeToString())


def processor_time(process: subprocess.Popen[bytes]) -> float:
    """Return the seconds that a process has taken."""
    after = Path(f"/proc/{process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(after[11]) + int(after[12])) / os.sysconf("SC_CLK_TCK")


def test_every_command_has_a_large_input_or_is_known_to_have_none() -> None:
    assert {*LARGE, *SMALL} == set(COMMANDS)
    assert not SMALL & set(LARGE)


@pytest.mark.parametrize(
    ("command", "number"), list(zip(LARGE, cycle([signal.SIGINT, signal.SIGTERM]), strict=False)), ids=LARGE
)
def test_a_signal_ends_a_command_in_a_large_input(
    start: Callable[..., subprocess.Popen[bytes]],
    large: Path,
    tmp_path: Path,
    command: str,
    number: signal.Signals,
    request: pytest.FixtureRequest,
) -> None:
    words = LARGE[command].split()
    if command in ("graph", "simulate", "bisect", "numerics"):
        request.getfixturevalue("arrays")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "EDITOR": "sleep 60", "HOME": str(tmp_path)}
    if command == "bisect":
        words[1:1] = ["--journal", str(tmp_path / "journal")]
    process = start(*words, cwd=large, env=environment, stdout=subprocess.DEVNULL)
    before = {path.name for path in large.iterdir()}
    wait_until(lambda: process.poll() is not None or processor_time(process) > SECONDS)
    assert process.poll() is None, f"the input is too small: {process.stderr and process.stderr.read()!r}"
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == SIGNAL_STATUSES[number]
    assert b"Traceback" not in err
    assert {path.name for path in large.iterdir()} == before
