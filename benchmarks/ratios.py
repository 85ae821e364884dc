"""Measure opsinfo against tools that do the same work, and how its time grows. The bounds are in docs/performance.md.

    python benchmarks/ratios.py                    every row
    python benchmarks/ratios.py --only list --only move --runs 31
    python benchmarks/ratios.py --peers FOLDER     where check-jsonschema is, if it is not on PATH

Needs jq. All data are generated below a temporary folder, with a copy of the package, so that it has byte code and
nobody edits it meanwhile. A row whose peer is missing is skipped. Exit status 1 if a row misses its bound.

Times are processor time of whole processes and of those that they wait for, which other work on the machine changes
little; wall time is shown beside it. The two commands of a pair take turns, and the median of the ratios of the pairs
counts. Large inputs are run a few times, and their best run counts; memory is the largest peak of a process.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import Process
from pathlib import Path
from statistics import median
from typing import IO, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CONFIG = Path("built-in/op_impl/ai_core/tbe/config")
STORE = {"cv": 30, "legacy": 818, "math": 34, "nn": 239, "transformer": 259}
"""Files of a store and their operators, which give the sizes of the real ones."""
CHIPS = 17
POLICIES = (
    "reduce inputs as $file ({}; . + $file) | . as $all | keys[] | [., "
    '({"true": "white", "false": "black"}[$all[.].precision_reduce.flag // ""] // "gray")] | @tsv'
)
"""A jq program: name and policy of every op type, sorted; of equal names the one of the last file."""


@dataclass(frozen=True)
class Measured:
    """One row of the table.

    :param value: what is judged, in the unit of the bound
    :param details: the times or sizes behind it
    """

    name: str
    peer: str
    value: float
    bound: float
    details: str

    @property
    def met(self) -> bool:
        return self.value <= self.bound


class Run(NamedTuple):
    """Seconds of processor time and wall time of one run, and its peak of memory in MB."""

    processor: float
    wall: float
    memory: float


class Skipped(Exception):
    """A row that cannot be measured here, with the reason."""


class Bench:
    """A folder with the package, and what rows need from it."""

    def __init__(self, folder: Path, runs: int, peers: str | None) -> None:
        self.folder, self.runs, self.peers = folder, runs, peers
        for name in ("opsinfo_cli", "schemas"):
            shutil.copytree(ROOT / name, folder / "package" / name, ignore=shutil.ignore_patterns("__pycache__"))
        program = folder / "package" / "opsinfo"
        program.write_text("import sys\nfrom opsinfo_cli.app import main\nsys.exit(main())\n")
        self.program = [sys.executable, str(program)]
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("ASCEND_", "OPSINFO_"))}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        self.environment = {
            **kept,
            "OPSINFO_BACKUP_DIR": str(folder / "vault"),
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
        }

    def opsinfo(self, *words: str | Path) -> str:
        return shlex.join([*self.program, *map(str, words)])

    def tool(self, name: str) -> str:
        """:raises Skipped: if it is not installed"""
        found = shutil.which(name, path=self.peers) if self.peers else None
        found = found or shutil.which(name)
        if found is None:
            raise Skipped(f"{name} is not installed")
        return found

    def library(self, path: Path, operators: int, seed: int = 1, soc: str = "ascend910b") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        words = ["--operators", str(operators), "--soc", soc, "--seed", str(seed), "--out", str(path)]
        subprocess.run([sys.executable, str(ROOT / "fixtures/generate.py"), *words], check=True)
        return path

    def store(self) -> list[Path]:
        """The five files of one chip, in load order."""
        top = self.folder / "opp" / CONFIG / "ascend910b"
        files = [top / f"aic-ascend910b-ops-info-{package}.json" for package in STORE]
        if not top.is_dir():
            for seed, (path, operators) in enumerate(zip(files, STORE.values(), strict=True)):
                self.library(path, operators, seed)
        return sorted(files, key=lambda path: ("legacy" not in path.name, len(path.name), path.name))

    def output(self, command: str) -> str:
        """:raises SystemExit: if the command fails; 1 is a status of `diff` and `validate`"""
        done = subprocess.run(
            command, shell=True, env=self.environment, cwd=self.folder, capture_output=True, text=True
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def once(self, command: str, output: IO[bytes] | int = subprocess.DEVNULL) -> Run:
        """:raises SystemExit: if the command fails; 1 is a status of `diff` and `validate`"""
        began = time.perf_counter()
        child = subprocess.Popen(
            shlex.split(command),
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):
            raise SystemExit(f"{command}: exit {child.returncode}")
        wall = time.perf_counter() - began
        return Run(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)

    def timed(self, *commands: str, prepare: str | None = None) -> list[list[Run]]:
        """The runs of each command; the commands take turns, and two rounds before do not count."""
        runs: list[list[Run]] = [[] for _ in commands]
        for number in range(self.runs + 2):
            for command, own in zip(commands, runs, strict=True):
                if prepare:
                    subprocess.run(["sh", "-c", prepare], env=self.environment, cwd=self.folder, check=True)
                run = self.once(command)
                if number >= 2:
                    own.append(run)
        return runs

    def pair(self, name: str, peer: str, bound: float, ours: str, its: str, prepare: str | None = None) -> Measured:
        runs = self.timed(ours, its, prepare=prepare)
        mine, other = (median(run.processor for run in own) * 1000 for own in runs)
        value, wall = (median(a[at] / b[at] for a, b in zip(*runs, strict=True)) for at in (0, 1))
        return Measured(name, peer, value, bound, f"{mine:.0f} ms, {other:.0f} ms; of wall time {wall:.2f}")

    def large(self, *words: str | Path, runs: int = 3) -> tuple[float, float]:
        """The least seconds of some runs, and the largest peak of memory in MB."""
        with (self.folder / "large.out").open("wb") as output:
            done = [self.once(self.opsinfo(*words), output) for _ in range(runs)]
        return min(run.processor for run in done), max(run.memory for run in done)


# --- pairs


def list_row(bench: Bench) -> Iterator[Measured]:
    files = bench.store()
    ours, its = (
        bench.opsinfo("list", files[0].parent),
        shlex.join([bench.tool("jq"), "-rn", POLICIES, *map(str, files)]),
    )
    columns = [[line.split("\t")[:2] for line in bench.output(each).splitlines()] for each in (ours, its)]
    if columns[0] != columns[1]:
        raise SystemExit("list: jq does not print the same names and policies")
    yield bench.pair("list of one store", "jq, the same rows", 2.5, ours, its)
    ini = bench.folder / "aic-ascend910b-ops-info.ini"
    ini.write_text("".join(ini_lines(json.loads(files[0].read_text()))))
    ours, its = bench.opsinfo("list", ini), bench.opsinfo("list", files[0])
    if len(bench.output(ours).splitlines()) != len(bench.output(its).splitlines()):
        raise SystemExit("list: the ini has other op types than its library")
    yield bench.pair("list of an ini", "of its library", 1.5, ours, its)


def ini_lines(library: dict[str, dict[str, dict[str, str]]]) -> Iterator[str]:
    for name, sections in library.items():
        yield f"[{name}]\n"
        for section, keys in sections.items():
            yield from (f"{section}.{key}={value}\n" for key, value in keys.items())


def diff_row(bench: Bench) -> Iterator[Measured]:
    top = bench.folder / "toolkit/opp"
    for number in range(CHIPS):
        soc = f"ascend{310 + number}"
        bench.library(top / CONFIG / soc / f"aic-{soc}-ops-info.json", 500, number, soc)
    files = sorted(top.rglob("*.json"))
    jq = "; ".join(shlex.join([bench.tool("jq"), "-rn", POLICIES, str(path)]) for path in files)
    ours = bench.opsinfo("diff", top)
    if len(bench.output(ours).splitlines()) < 500:
        raise SystemExit("diff: fewer op types than each of the chips has")
    yield bench.pair(f"diff of {CHIPS} chips, {sum(path.stat().st_size for path in files) / 1e6:.0f} MB", "jq for each", 2.0, ours, f"sh -c {shlex.quote(jq)}")  # fmt: skip # noqa: E501


def validate_row(bench: Bench) -> Iterator[Measured]:
    files = bench.store()
    schema = ROOT / "schemas/ops-info-library.schema.json"
    its = shlex.join([bench.tool("check-jsonschema"), "--schemafile", str(schema), *map(str, files)])
    yield bench.pair("validate", "check-jsonschema", 0.7, bench.opsinfo("validate", files[0].parent), its)


def move_row(bench: Bench) -> Iterator[Measured]:
    """Before each run the file is as delivered, the vault is empty and the disk is synchronised."""
    pristine = bench.store()[0]
    place = bench.folder / "move"
    target, backup, made = place / pristine.name, place / "backup", place / "made"
    name = next(name for name, entry in json.loads(pristine.read_bytes()).items() if "precision_reduce" not in entry)
    prepare = f"rm -rf {place} {bench.folder / 'vault'} && mkdir {place} && cp {pristine} {target} && sync"
    ours = bench.opsinfo("move", target, name, "--to", "black")
    edit = shlex.join(
        [bench.tool("jq"), "--indent", "4", f'.[{json.dumps(name)}].precision_reduce.flag = "false"', str(target)]
    )
    its = f"cp {target} {backup} && {edit} > {made} && mv {made} {target}"
    results = []
    for command in (ours, its):
        bench.output(f"{prepare} && {command}")
        results.append(json.loads(target.read_bytes()))
    if results[0] != results[1] or results[0] == json.loads(pristine.read_bytes()):
        raise SystemExit("move: the two do not end in the same document")
    yield bench.pair("move", "cp, jq, mv", 3, ours, f"sh -c {shlex.quote(its)}", prepare)


PORT = """        this->{kind}("{name}")
            .ParamType(REQUIRED)
            .DataType({{ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16, ge::DT_INT32, ge::DT_INT8, ge::DT_UINT8}})
            .Format({{ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND}})
            .UnknownShapeFormat(
                {{ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND}});
"""
OPERATOR = """#include "register/op_def_registry.h"

namespace ops {{
class Op{number} : public OpDef {{
public:
    explicit Op{number}(const char* name) : OpDef(name)
    {{
{ports}        this->Attr("axis").AttrType(OPTIONAL).Int(-1);
        OpAICoreConfig config;
        config.DynamicCompileStaticFlag(true).DynamicFormatFlag(true).PrecisionReduceFlag({flag});
        this->AICore().AddConfig("ascend910b", config);
        this->AICore().AddConfig("ascend950", Config950());
    }}

private:
    OpAICoreConfig Config950() const
    {{
        OpAICoreConfig config;
        config.DynamicFormatFlag(true).ExtendCfgInfo("opFile.value", "op{number}_apt");
        return config;
    }}
}};
OP_ADD(Op{number});
}} // namespace ops
"""
SOURCES = 690
"""As the largest operator repository has; there they have 3 MB."""


def write_sources(folder: Path, count: int) -> Path:
    ports = [PORT.format(kind="Input", name=f"x{number}") for number in range(5)]
    ports.append(PORT.format(kind="Output", name="y"))
    for number in range(count):
        path = folder / f"op{number}" / "op_host" / f"op{number}_def.cpp"
        path.parent.mkdir(parents=True)
        flag = "true" if number % 3 else "false"
        path.write_text(OPERATOR.format(number=number, ports="".join(ports), flag=flag))
    return folder


def sources_row(bench: Bench) -> Iterator[Measured]:
    """OpDef sources: a whole repository, and one file."""
    every, one = write_sources(bench.folder / "sources", SOURCES), write_sources(bench.folder / "source", 1)
    ours = bench.opsinfo("list", f"{every}@ascend950")
    if len(bench.output(ours).splitlines()) < SOURCES:
        raise SystemExit("list: fewer op types than sources")
    seconds, memory = bench.large("list", f"{every}@ascend950")
    yield Measured(f"list of {SOURCES} OpDef sources", "-", seconds, 4, "seconds")
    yield Measured("the same, memory", "-", memory, 200, "MB")
    yield bench.pair("list of one OpDef source", "opsinfo --help", 1.5, bench.opsinfo("list", f"{one}@ascend950"), bench.opsinfo("--help"))  # fmt: skip # noqa: E501


def help_row(bench: Bench) -> Iterator[Measured]:
    its = shlex.join([sys.executable, "-c", "import click"])
    yield bench.pair("--help", "import click", 1.7, bench.opsinfo("--help"), its)


# --- large inputs and growth


def growth_row(bench: Bench) -> Iterator[Measured]:
    """Processor time above start-up for ten times the data, divided by ten."""
    sizes = (1, 2_200, 22_000)
    paths = {n: bench.library(bench.folder / f"growth/{n}/aic-ascend910b-ops-info.json", n) for n in sizes}
    for words in (["list"], ["validate"]):
        times = bench.timed(*(bench.opsinfo(*words, path) for path in paths.values()))
        start, small, large = (median(run.processor for run in runs) for runs in times)
        growth = (large - start) / max(small - start, 1e-9)
        size = paths[22_000].stat().st_size / paths[2_200].stat().st_size
        details = f"{small * 1000:.0f} ms, {large * 1000:.0f} ms; start-up {start * 1000:.0f} ms"
        yield Measured(f"{words[0]}, growth of time by growth of data", "-", growth / size, 1.1, details)


LAYER = (("MatMulV2", "MatMul"), ("Add", "Add"), ("Relu", "Relu"), ("SoftmaxV2", "Softmax"))


def write_onnx(path: Path) -> None:
    import numpy
    from onnx import TensorProto, helper, numpy_helper, save_model

    nodes, weights, last = [], [], "x"
    for number in range(100_000):
        op = LAYER[number % len(LAYER)][1]
        feeds = [last]
        if op in ("MatMul", "Add"):
            weights.append(numpy_helper.from_array(numpy.ones((8, 8), "f4"), f"w{number}"))
            feeds.append(f"w{number}")
        last = f"layer{number}/{op.lower()}"
        nodes.append(helper.make_node(op, feeds, [last], name=last))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 8]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def onnx_row(bench: Bench) -> Iterator[Measured]:
    """The model is written by another process: the peak of a child begins with the memory of its parent."""
    if find_spec("onnx") is None:
        raise Skipped("onnx is not installed")
    path = bench.folder / "model.onnx"
    writer = Process(target=write_onnx, args=(path,))
    writer.start()
    writer.join()
    seconds, memory = bench.large("graph", path, *judged(bench))
    yield Measured("graph, ONNX, 100,000 nodes", "-", seconds, 6, "seconds")
    yield Measured("the same, memory", "-", memory, 500, "MB")


def judged(bench: Bench) -> list[str]:
    """The words that judge a model by a store that knows the operators of LAYER."""
    top = bench.folder / "judged"
    if not top.is_dir():
        shutil.copytree(ROOT / "fixtures" / "opp", top)
    return ["--against", f"{top}@ascend910b", "--precision-mode", "mixed_float16"]


TENSOR = """    {kind} {{
      dtype: DT_FLOAT
      shape {{
        dim: 1
        dim: {dim}
        dim: 768
      }}
      layout: "ND"
      attr {{
        key: "origin_data_type"
        value {{
          s: "DT_FLOAT"
        }}
      }}
      attr {{
        key: "origin_format"
        value {{
          s: "ND"
        }}
      }}
      attr {{
        key: "origin_shape"
        value {{
          list {{
            i: 1
            i: {dim}
            i: 768
            val_type: VT_LIST_INT
          }}
        }}
      }}
      has_out_attr: true
      size: {size}
      device_type: "NPU"
      real_dim_cnt: 3
    }}
"""
NODE = """  op {{
    name: "{name}"
    type: "{type}"
{feeds}    attr {{
      key: "_datadump_original_op_names"
      value {{
        list {{
          s: "{name}"
          val_type: VT_LIST_STRING
        }}
      }}
    }}
    attr {{
      key: "_input_name_idx_key"
      value {{
        list {{
          s: "x0"
          val_type: VT_LIST_STRING
        }}
      }}
    }}
    attr {{
      key: "_input_name_idx_value"
      value {{
        list {{
          i: 0
          val_type: VT_LIST_INT
        }}
      }}
    }}
    has_out_attr: true
    id: {number}
{tensors}  }}
"""


def dump_row(bench: Bench) -> Iterator[Measured]:
    """As the graph engine prints it with ``DUMP_GE_GRAPH=2``."""
    path = bench.folder / "ge_proto_00020_FeTopoSortingAfter.txt"
    with path.open("w", encoding="utf-8") as file:
        file.write('name: "model"\ngraph {\n  name: "main"\n')
        last, number = "", 0
        while file.tell() < 200e6:
            op = "Data" if not last else LAYER[number % len(LAYER)][0]
            name, dim = f"layer{number}/{op.lower()}", 128 + number % 7 * 64
            kinds = [*(["input_desc"] if last else []), "output_desc"]
            tensors = "".join(TENSOR.format(kind=kind, dim=dim, size=dim * 3072) for kind in kinds)
            feeds = f'    input: "{last}:0"\n' if last else ""
            file.write(NODE.format(name=name, type=op, feeds=feeds, number=number, tensors=tensors))
            last, number = name, number + 1
        file.write("}\n")
    seconds, memory = bench.large("graph", path, *judged(bench))
    yield Measured(f"graph, a dump of 200 MB, {number:,} nodes", "-", seconds, 8, f"seconds; {memory:.0f} MB")
    path.unlink()


WORDS = "INFO epoch loss lr time data prec1 samples elapsed ms grad norm batch".split()  # noqa: SIM905
OVERFLOW = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {}.0\n"
MEGATRON = (
    " iteration {0:8d}/90000000 | consumed samples: {0:12d} | elapsed time per iteration (ms): 123.4 | learning rate: "
    "1.0E-05 | global batch size:   512 | lm loss: 2.38E+00 | loss scale: 65536.0 | grad norm: 0.227 | number of "
    "skipped iterations:   0 | number of nan iterations:   0 |\n"
)


def usual_line(step: int, chance: random.Random) -> str:
    """One line in thousands matters."""
    if step % 20_000 == 1:
        return "loss_scale             : dynamic\n" + OVERFLOW.format(2 ** chance.randint(10, 16))
    return f"2024-05-01 12:00:00 [INFO] {' '.join(chance.choices(WORDS, k=14))} step: {step} loss: 1.234\n"


def logs_row(bench: Bench) -> Iterator[Measured]:
    shapes: dict[str, tuple[int, Callable[[int, random.Random], str]]] = {
        "usual": (100, usual_line),
        "every line counts": (20, lambda step, chance: MEGATRON.format(step)),
        "nothing but overflows": (20, lambda step, chance: OVERFLOW.format(2 ** chance.randint(10, 16))),
    }
    for name, (megabytes, line) in shapes.items():
        path, chance, step = bench.folder / "train.log", random.Random(1), 0
        peaks = []
        for size in (megabytes / 4, megabytes):
            with path.open("w", encoding="utf-8") as file:
                while file.tell() < size * 1e6:
                    file.writelines(line(step + at, chance) for at in range(1, 1001))
                    step += 1000
            seconds, memory = bench.large("qualify", path)
            peaks.append(memory)
        if name == "usual":
            yield Measured("qualify, a usual log of 100 MB", "-", seconds, 5, "seconds")
        else:
            yield Measured(f"qualify, {name}", "-", seconds / megabytes * 1000, 200, "seconds for a GB")
        yield Measured("the same, memory for four times the log", "-", peaks[1] / peaks[0], 1.1, f"{peaks[1]:.0f} MB")


def bisect_row(bench: Bench) -> Iterator[Measured]:
    """opsinfo's own time for each trial, as `bisect` measures it."""
    file = bench.store()[0]
    names = sorted(json.loads(file.read_bytes()))[:60]
    (bench.folder / "types.txt").write_text("\n".join(names))
    check = bench.folder / "check.sh"
    check.write_text("#!/bin/sh\n" + "".join(f'grep -q \'"{name}"\' "$1" || exit 1\n' for name in names[10:50:13]))
    check.chmod(0o755)
    own = []
    for _ in range(3):
        shutil.rmtree(bench.folder / "journal", ignore_errors=True)
        words = ["--against", file.parent, "--among", "@types.txt", "--journal", "journal", "--format", "json"]
        document = json.loads(bench.output(bench.opsinfo("bisect", *words, "--", check, "{mixlist}")))
        own.append(float(document["overhead_ms"]))
    yield Measured("bisect, own time for a trial", "-", median(own), 50, "ms")


ROWS: dict[str, Callable[[Bench], Iterator[Measured]]] = {
    "list": list_row,
    "diff": diff_row,
    "validate": validate_row,
    "move": move_row,
    "sources": sources_row,
    "help": help_row,
    "growth": growth_row,
    "onnx": onnx_row,
    "dump": dump_row,
    "logs": logs_row,
    "bisect": bisect_row,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure opsinfo against its bounds.")
    parser.add_argument("--only", action="append", choices=ROWS, help="measure this row; repeatable")
    parser.add_argument("--runs", type=int, default=15, help="runs of each command of a pair (default: 15)")
    parser.add_argument("--peers", metavar="FOLDER", help="folder with check-jsonschema")
    options = parser.parse_args()
    missed = 0
    print("| job | peer | value | at most | | |\n| --- | --- | ---: | ---: | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory(prefix="opsinfo-ratios-") as folder:
        bench = Bench(Path(folder), options.runs, options.peers)
        for name in options.only or ROWS:
            try:
                for row in ROWS[name](bench):
                    missed += not row.met
                    verdict = "met" if row.met else "MISSED"
                    print(f"| {row.name} | {row.peer} | {row.value:.2f} | {row.bound:g} | {row.details} | {verdict} |", flush=True)  # fmt: skip # noqa: E501
            except Skipped as reason:
                print(f"| {name} | | | | skipped: {reason} | |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
