"""Rows of `opsinfo graph`, and its limits: processor time and memory for generated models."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from data import Data
from rows import Row, Skipped
from workplace import Workplace

__all__ = ["LIMITS_HEAD", "Limit", "graph_limits", "graph_rows", "limit_line"]

HERE = Path(__file__).resolve().parent
SMALL, LARGE = 10_000, 100_000
GROWN = {"onnx": (20_000, 200_000), "dump": (SMALL, LARGE)}
"""Nodes between which growth of time is measured. 10,000 nodes of ONNX take 0.1 s above start-up, which is noise."""
MOST_GROWTH = 10.5
ENDS = ("Const", "Data", "NetOutput")
LIMITS_HEAD = """| graph | nodes | CPU, s | at most | memory, MB | at most | ten times the nodes: CPU | instructions | |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"""


def _model(place: Workplace, kind: str, nodes: int) -> Path:
    """A generated model, made by another process: the peak memory of a child begins with that of its parent."""
    path = place.folder / f"model-{nodes}.{kind}"
    if not path.exists():
        subprocess.run([place.python, str(HERE / "graphs.py"), kind, str(nodes), str(path)], check=True)
    return path


def _ours(place: Workplace, data: Data, model: Path) -> list[str]:
    return place.opsinfo("graph", model, "--against", data.store_910b, "--precision-mode", "mixed_float16")


def _needs(package: str) -> None:
    if find_spec(package) is None:
        raise Skipped(f"{package} is not installed")


def graph_rows(place: Workplace, data: Data) -> Iterator[Row]:
    """Each against the usual reader: 100,000 nodes of ONNX, 10,000 operators of a dump."""
    for kind, nodes, peer, package, must, aim in (
        ("onnx", LARGE, "onnx.load and a walk", "onnx", 5.0, 3.0),
        ("dump", SMALL, "protobuf's text_format", "google.protobuf", 0.1, 0.08),
    ):
        try:
            _needs(package.partition(".")[0])
        except Skipped as reason:
            print(f"graph {kind}: skipped, {reason}")
            continue
        model = _model(place, kind, nodes)
        script = [place.python, str(HERE / "graph_peers.py"), kind, str(model)]
        yield Row(f"graph {kind}", peer, _ours(place, data, model), script, must, aim, compare=_same_nodes)


def _same_nodes(ours: str, peer: str) -> None:
    """Require equal numbers of operators; op types of ONNX get other names."""
    counts = [
        Counter({words[0]: int(words[1]) for words in map(str.split, text.splitlines())}) for text in (ours, peer)
    ]
    totals = [sum(count for op_type, count in each.items() if op_type not in ENDS) for each in counts]
    if totals[0] != totals[1] or not totals[0]:
        raise SystemExit(f"graph: {totals[0]} operators, the peer has {totals[1]}")


@dataclass(frozen=True)
class Limit:
    """
    :param seconds: processor time of the whole command; memory in bytes
    :param growth: the factor of the time above start-up for ten times the nodes
    :param instructions: the same for instructions, which do not depend on the machine and its load; None: not counted
    """

    name: str
    nodes: int
    seconds: float
    most_seconds: float
    memory: int
    most_memory: int
    growth: float | None = None
    instructions: float | None = None

    @property
    def met(self) -> bool:
        return (
            self.seconds <= self.most_seconds
            and self.memory <= self.most_memory
            and all(each is None or each <= MOST_GROWTH for each in (self.growth, self.instructions))
        )


def graph_limits(place: Workplace, data: Data, rounds: int, count: bool) -> Iterator[Limit]:
    """:param count: whether to count instructions, which takes valgrind and minutes"""
    for kind, seconds, memory in (("onnx", 3.0, 1_000_000_000), ("dump", 8.0, 500_000_000)):
        if kind == "onnx" and find_spec("onnx") is None:
            continue
        used, peak = _taken(place, data, _model(place, kind, LARGE), rounds)
        growth = _growth([_least(place, data, _model(place, kind, nodes), rounds) for nodes in (10, *GROWN[kind])])
        instructions = None
        if count:
            sizes = (10, SMALL, LARGE)
            instructions = _growth([_instructions(place, data, _model(place, kind, nodes)) for nodes in sizes])
        yield Limit(f"graph {kind}", LARGE, used, seconds, peak, memory, growth, instructions)
    real = sorted(
        Path(os.environ.get("OPSINFO_CORPUS", HERE.parent.parent / "shared" / "corpus")).glob("graphs/ge_proto*.txt")
    )
    for path in real[:1]:
        used, memory = _taken(place, data, path, rounds)
        yield Limit("graph, a dump of ResNet-50", 465, used, 0.3, memory, 500_000_000)


def _taken(place: Workplace, data: Data, model: Path, rounds: int) -> tuple[float, int]:
    """Return the median processor time, and the peak memory."""
    runs = [_run(place, _ours(place, data, model)) for _ in range(rounds + 1)][1:]
    return median(seconds for seconds, _ in runs), max(memory for _, memory in runs)


def _growth(taken: list[float]) -> float:
    start, small, large = taken
    return (large - start) / max(small - start, 1e-9)


def _least(place: Workplace, data: Data, model: Path, rounds: int) -> float:
    """Return the least processor time; what other runs took more was the machine's load."""
    return min(_run(place, _ours(place, data, model))[0] for _ in range(rounds + 1))


def _instructions(place: Workplace, data: Data, model: Path) -> float:
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command = [*valgrind, *_ours(place, data, model)]
    ran = subprocess.run(command, env=place.environment, capture_output=True, text=True, check=True)
    return float(ran.stderr.rpartition("refs:")[2].split()[0].replace(",", ""))


def _run(place: Workplace, command: list[str]) -> tuple[float, int]:
    out = os.open(place.folder / "graph.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    actions = [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2)]
    child = os.posix_spawn(command[0], command, place.environment, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    os.close(out)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit((place.folder / "graph.out").read_text()[-2000:])
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def limit_line(each: Limit) -> str:
    growths = ("" if growth is None else f"{growth:.1f}" for growth in (each.growth, each.instructions))
    cells = (
        each.name,
        f"{each.nodes:,}",
        f"{each.seconds:.2f}",
        f"{each.most_seconds:.1f}",
        f"{each.memory / 1e6:.0f}",
    )
    ends = (f"{each.most_memory / 1e6:.0f}", *growths, "met" if each.met else "**missed**")
    return f"| {' | '.join((*cells, *ends))} |"
