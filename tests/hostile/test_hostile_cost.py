"""Small models whose cost is not in proportion to their size, streams in place of files, and signals while they run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_support import Hostile
from running_processes import PATIENCE, wait_until

onnx = pytest.importorskip("onnx")

pytestmark = pytest.mark.heavy

X, Y = (onnx.helper.make_tensor_value_info(name, 1, [4]) for name in "xy")
OPSETS = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("d", 1)]


def onnx_bytes(nodes: list[Any], constants: list[Any] | None = None, functions: list[Any] | None = None) -> bytes:
    graph = onnx.helper.make_graph(nodes, "g", [X], [Y], constants or [])
    made = onnx.helper.make_model(graph, opset_imports=OPSETS, functions=functions or [], ir_version=8)
    data: bytes = made.SerializeToString()
    return data


def functions(depth: int) -> bytes:
    """A model of functions that call the next one twice."""
    node = onnx.helper.make_node
    calls = [(f"f{number}", "d") for number in range(1, depth)] + [("Relu", "")]
    made = [
        onnx.helper.make_function(
            "d",
            f"f{number}",
            ["x"],
            ["y"],
            [node(op, ["x"], ["a"], domain=domain), node(op, ["a"], ["y"], domain=domain)],
            OPSETS,
        )
        for number, (op, domain) in enumerate(calls)
    ]
    return onnx_bytes([node("f0", ["x"], ["y"], domain="d")], functions=made)


def branches(depth: int) -> bytes:
    """A TensorFlow graph of functions whose `If` has the next one as both branches."""

    def condition(function: str) -> str:
        both = "".join(
            f'attr {{ key: "{key}" value {{ func {{ name: "{function}" }} }} }} '
            for key in ("then_branch", "else_branch")
        )
        return f'name: "a" op: "If" input: "x" input: "x" {both}'

    dtype = "type: DT_FLOAT"
    library = "".join(
        f'function {{ signature {{ name: "f{n}" '
        f'input_arg {{ name: "x" {dtype} }} output_arg {{ name: "y" {dtype} }} }} '
        f'node_def {{ {condition(f"f{n + 1}")} }} ret {{ key: "y" value: "a:output:0" }} }} '
        for n in range(depth)
    )
    placeholder = f'node {{ name: "x" op: "Placeholder" attr {{ key: "dtype" value {{ {dtype} }} }} }}'
    return f"{placeholder} node {{ {condition('f0')} }} library {{ {library} }}".encode()


def endless() -> bytes:
    make, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    body = onnx.helper.make_graph(
        [make("Identity", ["c"], ["d"]), make("Add", ["v", "v"], ["w"])],
        "body",
        [value("i", 7, []), value("c", 9, []), value("v", 1, [4])],
        [value("d", 9, []), value("w", 1, [4])],
    )
    constants = [onnx.helper.make_tensor("n", 7, [], [1 << 62]), onnx.helper.make_tensor("k", 9, [], [True])]
    return onnx_bytes([make("Loop", ["n", "k", "x"], ["y"], body=body)], constants)


MODELS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    # situation: name, content, what the error says
    "ONNX functions that double": ("m.onnx", lambda: functions(40), "more than 200,000 nodes"),
    "TensorFlow branches that double": ("m.pbtxt", lambda: branches(40), "more than 200,000 nodes"),
    "many empty graphs": ("m.json", lambda: json.dumps({"graph": [{}] * 75_000}).encode(), ""),
}


@pytest.mark.parametrize("situation", MODELS)
def test_a_model_that_grows(hostile: Hostile, tmp_path: Path, situation: str) -> None:
    name, content, message = MODELS[situation]
    (tmp_path / name).write_bytes(content())
    ran = hostile("graph", tmp_path / name, seconds=20, megabytes=2500)
    assert ran.code == (3 if message else 0)
    assert message in ran.err


@pytest.mark.parametrize("many", ["inputs", "attributes"])
def test_a_node_with_many_parts_takes_as_long_as_many_nodes(
    hostile: Hostile, tmp_path: Path, fixtures: Path, many: str
) -> None:
    count = 30_000
    attributes = {f"a{number}": number for number in range(count if many == "attributes" else 0)}
    nodes = [
        onnx.helper.make_node("Relu", ["x"], ["r"], **attributes),
        onnx.helper.make_node("Sum", ["r"] * (count if many == "inputs" else 2), ["y"]),
    ]
    (tmp_path / "m.onnx").write_bytes(onnx_bytes(nodes))
    target = f"{fixtures / 'opp'}@ascend910b"
    ran = hostile("graph", tmp_path / "m.onnx", "--against", target, seconds=15, megabytes=2500)
    assert ran.code == 0


def test_a_pipe_in_place_of_a_file_is_refused(hostile: Hostile, tmp_path: Path, fixtures: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    weight = onnx.TensorProto(name="w", data_type=1, dims=[4], data_location=1)
    weight.external_data.add(key="location", value="pipe")
    (tmp_path / "m.onnx").write_bytes(onnx_bytes([onnx.helper.make_node("Add", ["x", "w"], ["y"])], [weight]))
    target = f"{fixtures / 'opp'}@ascend910b"
    lines = (["graph", "pipe"], ["list", "pipe"], ["simulate", "m.onnx", "--against", target])
    for line in lines:
        ran = hostile(*line, cwd=tmp_path, seconds=20, megabytes=8000)
        assert (ran.code, "not a regular file" in ran.err) == (3, True), ran.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_an_endless_model(tmp_path: Path, fixtures: Path, number: signal.Signals) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "m.onnx").write_bytes(endless())
    words = ["simulate", "m.onnx", "--against", f"{fixtures / 'opp'}@ascend910b", "--inputs", "random:1"]
    command = [sys.executable, "-m", "opsinfo_cli", *words]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: process.poll() is not None or seconds_of(process.pid) > 1.5)
            process.send_signal(number)
            assert process.wait(PATIENCE) == 128 + number
        finally:
            process.kill()


def seconds_of(pid: int) -> float:
    """Return the processor time that a process has taken."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def test_a_log_that_grows_is_read_up_to_its_size(tmp_path: Path) -> None:
    line = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 1024.0\n"
    log = tmp_path / "train.log"
    log.write_text(line * 50_000)
    with log.open("a") as file:
        command = [sys.executable, "-m", "opsinfo_cli", "qualify", str(log)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None:
                file.write(line * 5_000)
                file.flush()
                assert log.stat().st_size < 1 << 31
                time.sleep(0.02)
            assert process.returncode in (0, 1)
