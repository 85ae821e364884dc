"""Measure that costs are linear: twice the input takes at most 2.5 times the processor time.

    python benchmarks/linear.py                                  every row
    python benchmarks/linear.py --only marks --only 'of a log'   inputs whose name contains a text
    python benchmarks/linear.py --check                          every command line twice, on a very small input

Each input is generated at three sizes, each twice the one before, and each command line is run on them. Judged is the
processor time above that of the same command on a very small input, so that start-up hides nothing; the best of some
runs counts, because other work only adds time. A row whose times are too short for a ratio meets the bound. Exit
status 1 if a row misses it.

What is not linear on purpose: near names, for which a run has one budget, and the cost of `simulate --by node`, which
computes the model once for each node.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import importlib
import json
import os
import pkgutil
import pty
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import vaults
from ratios import MEGATRON, NODE, OVERFLOW, PORT, ROOT, TENSOR, Bench, write_sources

BOUND = 2.5
SMALLEST = 2
LEAST = 0.03
"""Seconds below which a time is noise, and no ratio is taken of it."""
TYPES = ("MatMulV2", "Add", "Relu", "SoftmaxV2")


class Row(NamedTuple):
    """:param times: seconds above those of the smallest input, for the three sizes"""

    name: str
    size: int
    line: str
    times: list[float]

    @property
    def ratio(self) -> float:
        """The larger ratio of two times, the first of which is no noise; 0 if both are."""
        pairs = zip(self.times, self.times[1:], strict=False)
        return max((later / earlier for earlier, later in pairs if earlier >= LEAST), default=0.0)


class Input(NamedTuple):
    """An input that grows.

    :param size: the smallest of the three sizes
    :param write: writes it at a size into a folder
    :param lines: command lines that are run in that folder; those that begin with `tty` run on a terminal
    """

    name: str
    size: int
    write: Callable[[Path, int], None]
    lines: str


def write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1))


# --- mixlists and libraries


def write_marks(folder: Path, count: int) -> None:
    names = [f"Op{number}" for number in range(count)]
    write_json(folder / "ops_info.json", {"black-list": {"to-add": names[::2]}, "white-list": {"to-add": names[1::2]}})
    write_library(folder, 200)


def library_entry(flag: str = "true") -> dict[str, dict[str, str]]:
    tensor = {"dtype": "float16,float", "format": "ND,ND", "paramType": "required", "shape": "all"}
    return {
        "input0": {"name": "x", **tensor},
        "output0": {"name": "y", **tensor},
        "precision_reduce": {"flag": flag},
    }


def write_library(folder: Path, count: int, prefix: str = "Op") -> None:
    flags = ("true", "false")
    entries = {f"{prefix}{number}": library_entry(flags[number % 2]) for number in range(count)}
    write_json(folder / "library.json", entries)


def write_entries(folder: Path, count: int) -> None:
    write_library(folder, count)
    other = {f"Op{number}": library_entry("false") for number in range(count // 2, count + count // 2)}
    write_json(folder / "other.json", other)
    names = [f"Op{number}" for number in range(count)]
    write_json(folder / "ops_info.json", {"black-list": {"to-add": names}})
    (folder / "list.ini").write_text(
        "".join(
            f"[{name}]\ninput0.name=x\ninput0.dtype=float16\ninput0.paramType=required\nprecision_reduce.flag=true\n"
            for name in names
        )
    )


def write_findings(folder: Path, count: int) -> None:
    """Entries with bad flags, and marks with fixes."""
    entries = {f"Op{number}": library_entry("maybe") for number in range(count)}
    write_json(folder / "library.json", entries)
    marks = ",\n".join(f'"Op{number}", "Op{number}" // note' for number in range(count))
    (folder / "ops_info.json").write_text(f'{{"black-list": {{"to-add": [\n{marks}\n]}}}}')


def write_ignored(folder: Path, count: int) -> None:
    """A commented list with repetitions, and a configuration that ignores every second of them."""
    marks = "\n".join(f'"Op{number // 2}", // {number}' for number in range(count))
    (folder / "ops_info.json").write_text(f'{{"black-list": {{"to-add": [\n{marks}\n]}}}}')
    words = ", ".join(f'"duplicate-operator:/black-list/to-add/{number}"' for number in range(0, count, 2))
    (folder / "opsinfo.toml").write_text(f"ignore = [{words}]\n")


def write_comments(folder: Path, count: int) -> None:
    """Lists with comments on lines of their own, behind entries, and all on one line before another entry."""
    lines = "\n".join(f'// why {number}\n"Op{number}", // more' for number in range(count))
    (folder / "lines.jsonc").write_text(f'{{"black-list": {{"to-add": [\n{lines}\n]}}}}')
    comments = " ".join(f"/* {number} */" for number in range(count))
    (folder / "line.jsonc").write_text(f'{{"black-list": {{"to-add": [\n"Op1", {comments} "Op2"\n]}}}}')


def write_scripts(folder: Path, count: int) -> None:
    """Commands with arrays and variables, and Python with defaults."""
    lines = (
        f'M{at}=force_fp16\na{at}=(--model=m{at} "--precision_mode=$M{at}")\natc "${{a{at}[@]}}"' for at in range(count)
    )
    (folder / "convert.sh").write_text("\n".join(lines) + "\n")
    (folder / "train.py").write_text(
        "".join(
            f'add_argument("--m{at}", default="origin")\nNPURunConfig(precision_mode=args.m{at})\n'
            for at in range(count)
        )
    )


def write_near_names(folder: Path, count: int) -> None:
    write_library(folder, 500, "MatMulBiasAddNormGradOp")
    names = [f"MatMulBiasAddNormGardOp{number}" for number in range(count)]
    write_json(folder / "ops_info.json", {"black-list": {"to-add": names}})


def write_near_targets(folder: Path, count: int) -> None:
    write_library(folder, count, "MatMulBiasAddNormGradOp")
    names = [f"MatMulBiasAddNormGardOp{number}" for number in range(20)]
    write_json(folder / "ops_info.json", {"black-list": {"to-add": names}})


def write_option_files(folder: Path, count: int) -> None:
    write_library(folder, 200)
    (folder / "keep_dtype.cfg").write_text("".join(f"layer{number}\nOpType::Op{number}\n" for number in range(count)))
    lines = [f"OpType::Op{number}:InputDtype:float16:OutputDtype:float16\n" for number in range(count)]
    (folder / "customize_dtypes.cfg").write_text("".join(lines))
    lines = [f"Op{number}=high_precision\n" for number in range(count)]
    (folder / "op_precision.ini").write_text("[ByOpType]\n" + "".join(lines))


def write_chips(folder: Path, count: int) -> None:
    for number in range(count):
        chip = f"ascend{900 + number}"
        config = folder / "install/built-in/op_impl/ai_core/tbe/config" / chip
        config.mkdir(parents=True)
        write_json(config / f"aic-{chip}-ops-info.json", {f"Op{at}": library_entry() for at in range(20)})


# --- trees


def write_tree(folder: Path, count: int) -> None:
    """A tree, and the same as a git repository: mixlists, JSON of another tool, scripts, files that git ignores."""
    for top in ("tree", "repository"):
        for number in range(count):
            place = folder / top / f"part{number % 50}"
            place.mkdir(parents=True, exist_ok=True)
            write_json(place / f"ops_info{number}.json", {"black-list": {"to-add": [f"Op{number}"]}})
            write_json(place / f"package{number}.json", {"name": f"p{number}", "files": ["a", "b"]})
            (place / f"run{number}.sh").write_text(f"atc --modify_mixlist=ops_info{number}.json --model=m.onnx\n")
    (folder / "repository/.gitignore").write_text("package*.json\n")
    subprocess.run(["git", "init", "-q", str(folder / "repository")], check=True)


def write_folders(folder: Path, count: int) -> None:
    """Folders in a row, each with one file."""
    for number in range(count):
        place = folder / "tree" / f"part{number % 100}" / f"inner{number}"
        place.mkdir(parents=True)
        write_json(place / "ops_info.json", {"black-list": {"to-add": ["Add"]}})


def write_script(folder: Path, count: int) -> None:
    call = "atc --model=m{}.onnx --modify_mixlist=ops_info.json --precision_mode=allow_mix_precision\n"
    (folder / "run.sh").write_text("".join(map(call.format, range(count))))
    options = [f'options["modify_mixlist{number}"] = "ops_info.json"\n' for number in range(count)]
    (folder / "train.py").write_text(
        "options = {}\n" + "".join(options) + 'options["modify_mixlist"] = "ops_info.json"'
    )
    write_json(folder / "ops_info.json", {"black-list": {"to-add": ["Add"]}})


# --- OpDef sources


def write_many_sources(folder: Path, count: int) -> None:
    write_sources(folder / "sources", count)


def write_ports(folder: Path, count: int) -> None:
    """One operator with many inputs, and one file with many operators."""
    place = folder / "sources/op_host"
    place.mkdir(parents=True)
    ports = "".join(PORT.format(kind="Input", name=f"x{number}") for number in range(count))
    head = '#include "register/op_def_registry.h"\nnamespace ops {\n'
    add = 'this->AICore().AddConfig("ascend950");'
    body = "class Wide : public OpDef {{ public: explicit Wide(const char* name) : OpDef(name) {{ {} {} }} }};\n"
    wide = body.format(ports, add)
    (place / "wide_def.cpp").write_text(f"{head}{wide}OP_ADD(Wide);\n}}\n")
    many = "".join(body.replace("Wide", f"Op{number}").format("", add) + f"OP_ADD(Op{number});\n" for number in range(count))  # fmt: skip # noqa: E501
    (place / "many_def.cpp").write_text(f"{head}{many}}}\n")


def write_unread(folder: Path, count: int) -> None:
    """Registrations without a class."""
    registered = "".join(f"OP_ADD(No{number});\n" for number in range(count))
    (folder / "unread_def.cpp").write_text(f"{registered}class X : public OpDef {{}};\n")


def write_wrong_inis(folder: Path, count: int) -> None:
    """A section with many bad inputs, and a line with many bad words."""
    bad = "".join(f"input{number}.dtype=bogus\n" for number in range(count))
    (folder / "aic-ascend910b-ops-info.ini").write_text(f"[Add]\n{bad}")
    words = ",".join(f"bogus{number}" for number in range(4 * count))
    head = "[Add]\ninput0.name=x\ninput0.paramType=required\n"
    (folder / "aic-ascend910-ops-info.ini").write_text(f"{head}input0.dtype={words}\n")


def write_macros(folder: Path, count: int) -> None:
    place = folder / "sources/op_host"
    place.mkdir(parents=True)
    macros = "".join(f"#define TYPES{number} ge::DT_FLOAT\n" for number in range(count))
    lists = "".join(f"static const std::vector<ge::DataType> list{number} = {{TYPES{number}}};\n" for number in range(count))  # fmt: skip # noqa: E501
    (place / "op_def.cpp").write_text(
        f'#include "register/op_def_registry.h"\n{macros}namespace ops {{\n{lists}'
        "class Op : public OpDef { public: explicit Op(const char* name) : OpDef(name) {"
        'this->Input("x").ParamType(REQUIRED).DataType(list0); this->AICore().AddConfig("ascend950"); } };\n'
        "OP_ADD(Op);\n}\n"
    )


# --- models


def save_onnx(path: Path, nodes: list[object], **parts: object) -> None:
    from onnx import TensorProto, helper, save_model

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    more = parts.pop("more_inputs", [])
    graph = helper.make_graph(nodes, "g", [ends[0], *more], ends[1:], **parts)  # type: ignore[arg-type,misc]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("d", 1)]
    functions = [
        helper.make_function("d", f"F{number}", ["x"], ["y"], [helper.make_node("Relu", ["x"], ["y"])], opsets[:1])
        for number in range(sum(getattr(node, "domain", "") == "d" for node in nodes))
    ]
    save_model(helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=8), path)


def chain(count: int) -> list[object]:
    from onnx import helper

    names = ["x", *(f"layer{number}" for number in range(count - 1)), "y"]
    kinds = ("Relu", "Add", "Sigmoid", "Mul")
    return [
        helper.make_node(kind, [names[at]] * (2 if kind in ("Add", "Mul") else 1), [names[at + 1]], name=f"node{at}")
        for at in range(count)
        for kind in [kinds[at % 4]]
    ]


def write_nodes(folder: Path, count: int) -> None:
    save_onnx(folder / "model.onnx", chain(count))
    write_json(folder / "ops_info.json", {"black-list": {"to-add": ["Add", "Relu"]}})
    (folder / "keep_dtype.cfg").write_text("".join(f"node{number}\n" for number in range(count)))
    (folder / "customize_dtypes.cfg").write_text(
        "".join(f"node{number}::InputDtype:float,OutputDtype:float\n" for number in range(count))
    )
    (folder / "op_precision.ini").write_text(
        "[ByNodeName]\n" + "".join(f"node{number}=high_precision\n" for number in range(count))
    )


def write_fan(folder: Path, count: int) -> None:
    """Many nodes that read one tensor, and one node that reads them all."""
    from onnx import helper

    nodes: list[object] = [
        helper.make_node("Relu", ["x"], [f"r{number}"], name=f"r{number}") for number in range(count)
    ]
    nodes.append(helper.make_node("Concat", [f"r{number}" for number in range(count)], ["c"], name="c", axis=0))
    nodes.append(helper.make_node("ReduceMean", ["c"], ["y"], name="mean", axes=[0], keepdims=1))
    save_onnx(folder / "model.onnx", nodes)


def write_parts(folder: Path, count: int) -> None:
    """Nodes with many inputs of one tensor, many outputs, many attributes, and an attribute with many values."""
    from onnx import helper

    attributes = {f"a{number}": number for number in range(count)}
    nodes: list[object] = [
        helper.make_node("Relu", ["x"], ["r"], name="r", **attributes),
        helper.make_node("Sum", ["r"] * count, ["s"], name="s"),
        helper.make_node("Split", ["s"], [f"t{number}" for number in range(count)], name="t", axis=0),
        helper.make_node("Custom", ["t0"], ["y"], name="c", values=list(range(count))),
    ]
    save_onnx(folder / "model.onnx", nodes)


def write_initializers(folder: Path, count: int) -> None:
    from onnx import helper

    nodes = chain(4)
    tensors = [helper.make_tensor(f"w{number}", 1, [4], [1.0, 2.0, 3.0, 4.0]) for number in range(count)]
    more = [helper.make_tensor_value_info(f"in{number}", 1, [4]) for number in range(count)]
    infos = [helper.make_tensor_value_info(f"v{number}", 1, [4]) for number in range(count)]
    save_onnx(folder / "model.onnx", nodes, initializer=tensors, more_inputs=more, value_info=infos)


def write_subgraphs(folder: Path, count: int) -> None:
    from onnx import helper

    end = helper.make_tensor_value_info("z", 1, [4])
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["z"], name="inner")], "body", [], [end])
    condition = helper.make_tensor("k", 9, [], [True])
    nodes: list[object] = [
        helper.make_node("If", ["k"], [f"i{number}"], name=f"if{number}", then_branch=body, else_branch=body)
        for number in range(count)
    ]
    nodes.append(helper.make_node("Sum", [f"i{number}" for number in range(count)], ["y"], name="sum"))
    save_onnx(folder / "model.onnx", nodes, initializer=[condition])


def write_deep_subgraphs(folder: Path, count: int) -> None:
    """Twelve bodies in each other, because protocol buffers allow few levels; all nodes read the outermost input."""
    from onnx import helper

    end = helper.make_tensor_value_info("z", 1, [4])
    relu = helper.make_node("Relu", ["x"], ["z"])
    plain, inner = helper.make_graph([relu], "plain", [], [end]), [relu]
    for depth in range(12):
        body = helper.make_graph(inner, f"body{depth}", [], [end])
        inner = [helper.make_node("Relu", ["x"], [f"r{depth}_{at}"], name=f"r{depth}_{at}") for at in range(count)]
        inner.append(helper.make_node("If", ["k"], ["z"], name=f"if{depth}", then_branch=body, else_branch=plain))
    nodes = [*inner, helper.make_node("Relu", ["z"], ["y"], name="last")]
    save_onnx(folder / "model.onnx", nodes, initializer=[helper.make_tensor("k", 9, [], [True])])


def write_functions(folder: Path, count: int) -> None:
    from onnx import helper

    names = ["x", *(f"v{number}" for number in range(count - 1)), "y"]
    nodes: list[object] = [
        helper.make_node(f"F{at}", [names[at]], [names[at + 1]], name=f"f{at}", domain="d") for at in range(count)
    ]
    save_onnx(folder / "model.onnx", nodes)


def write_tensorflow(folder: Path, count: int) -> None:
    nodes = ['node { name: "n0" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }']
    nodes += [
        f'node {{ name: "n{at}" op: "Relu" input: "n{at - 1}" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}'
        for at in range(1, count)
    ]
    (folder / "model.pbtxt").write_text("\n".join(nodes))


def write_dump(folder: Path, count: int) -> None:
    lines = ['name: "model"\ngraph {\n  name: "main"\n']
    last = ""
    for number in range(count):
        op = TYPES[number % 4] if last else "Data"
        kinds = [*(["input_desc"] if last else []), "output_desc"]
        tensors = "".join(TENSOR.format(kind=kind, dim=128, size=393216) for kind in kinds)
        feeds = f'    input: "{last}:0"\n' if last else ""
        last = f"layer{number}/{op.lower()}"
        lines.append(NODE.format(name=last, type=op, feeds=feeds, number=number, tensors=tensors))
    text = "".join(lines) + "}\n"
    (folder / "ge_proto_00020_FeTopoSortingAfter.txt").write_text(text)
    (folder / "ge_proto_00099_Build.txt").write_text(text.replace("dtype: DT_FLOAT\n", "dtype: DT_FLOAT16\n"))


# --- logs and profiles


def write_log(line: Callable[[int], str]) -> Callable[[Path, int], None]:
    def write(folder: Path, count: int) -> None:
        (folder / "train.log").write_text("".join(line(step) for step in range(1, count + 1)))

    return write


def write_ranks(folder: Path, count: int) -> None:
    """A folder with a log for each rank, and one log in which the ranks alternate."""
    (folder / "logs").mkdir()
    lines = [OVERFLOW.format(2.0 ** (16 - step % 8)) + f"step {step} loss: 1.5\n" for step in range(20)]
    for rank in range(count):
        (folder / "logs" / f"rank{rank}.log").write_text("".join(lines))
    (folder / "train.log").write_text("".join(f"[rank{rank}] {line}" for line in lines for rank in range(count)))


def write_profile(folder: Path, rows: int, types: int) -> None:
    head = (
        "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
        "Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
        "Output Shapes,Output Data Types,Output Formats,Context ID\n"
    )
    with (folder / "op_summary.csv").open("w") as file:
        file.write(head)
        for row in range(rows):
            file.write(
                f"0,1,{row},3,layer{row},Type{row % types},static,AI_CORE,{1767323045000000 + row}.000\t,4.5,0,8,0,NO,"
                '"64,256",FLOAT,ND,"64,256",FLOAT16,ND,N/A\n'
            )
    write_json(folder / "ops_info.json", {"black-list": {"to-add": [f"Type{number}" for number in range(types)]}})
    write_library(folder, min(types, 20_000), "Type")


def write_rows(folder: Path, count: int) -> None:
    write_profile(folder, count, 50)


def write_types(folder: Path, count: int) -> None:
    write_profile(folder, count, count)


# --- searches, and lists of other systems


def write_search(folder: Path, candidates: int, culprits: int) -> None:
    """A check that passes if all culprits are on the list."""
    write_library(folder, candidates)
    names = [f"Op{number}" for number in range(candidates)]
    (folder / "types.txt").write_text("\n".join(names))
    wanted = folder / "wanted.txt"
    wanted.write_text("".join(f'"{name}"\n' for name in names[:: candidates // culprits][:culprits]))
    check = folder / "check.sh"
    check.write_text(f'#!/bin/sh\ntest "$(grep -cFf {wanted} "$1")" -eq {culprits}\n')
    check.chmod(0o755)


def write_candidates(folder: Path, count: int) -> None:
    write_search(folder, max(count, 4), 4)


def write_trials(folder: Path, count: int) -> None:
    write_search(folder, 256, count)


def write_names(folder: Path, count: int) -> None:
    write_library(folder, count)
    (folder / "bf16.txt").write_text("".join(f"Op{number}\n" for number in range(0, count, 2)))
    (folder / "fp32.txt").write_text("".join(f"Op{number}\n" for number in range(1, count, 2)))
    (folder / "train.py").write_text(f"auto_mixed_precision(net, white_list={[f'nn.Op{at}' for at in range(count)]})\n")
    write_json(folder / "ops_info.json", {"black-list": {"to-add": [f"Op{number}" for number in range(count)]}})


INPUTS = (
    Input(
        "marks of a mixlist",
        5_000,
        write_marks,
        """
        list ops_info.json
        validate ops_info.json
        fmt ops_info.json --check
        merge ops_info.json
        move ops_info.json Op1 --to gray -n
        diff ops_info.json ops_info.json
        tty list ops_info.json
        """,
    ),
    Input(
        "entries of a library",
        1_000,
        write_entries,
        """
        list library.json
        validate library.json
        show library.json Op1
        diff library.json other.json
        diff library.json other.json --sections
        diff library.json other.json --format mixlist
        diff library.json other.json library.json
        snapshot library.json
        list library.json --mixlist ops_info.json
        apply library.json ops_info.json -n
        edit library.json -n
        edit ops_info.json --against library.json -n
        validate ops_info.json --against library.json
        list list.ini
        validate list.ini
        schema mixlist --against library.json
        tty list library.json
        tty diff library.json other.json
        """,
    ),
    Input(
        "ignored places",
        1_000,
        write_ignored,
        """
        validate ops_info.json
        validate ops_info.json --fix --unsafe-fixes -n
        """,
    ),
    Input(
        "comments of a list",
        5_000,
        write_comments,
        """
        move lines.jsonc Op1 --to white -n
        move line.jsonc Op1 --to white -n
        move line.jsonc Log --to black -n
        fmt lines.jsonc -o ops_info.json -n
        """,
    ),
    Input(
        "options of scripts",
        500,
        write_scripts,
        """
        validate convert.sh --follow
        validate train.py --follow
        """,
    ),
    Input(
        "findings",
        2_000,
        write_findings,
        """
        validate library.json
        validate ops_info.json
        validate library.json --format json
        validate library.json --format concise
        validate library.json --format github
        validate library.json --report sarif:r.sarif
        validate library.json --report gitlab:r.json
        validate library.json --report junit:r.xml
        validate ops_info.json --baseline b.json --update-baseline
        validate ops_info.json --fix --unsafe-fixes -n
        fmt ops_info.json -n
        tty validate library.json
        """,
    ),
    Input(
        "near names",
        100,
        write_near_names,
        """
        validate ops_info.json --against library.json
        validate ops_info.json --against library.json --fix --unsafe-fixes -n
        list library.json --mixlist ops_info.json
        """,
    ),
    Input("targets of near names", 1_000, write_near_targets, "validate ops_info.json --against library.json"),
    Input(
        "lines of option files",
        4_000,
        write_option_files,
        """
        validate keep_dtype.cfg --against library.json
        validate customize_dtypes.cfg --against library.json
        validate op_precision.ini --against library.json
        """,
    ),
    Input(
        "chips of an install",
        40,
        write_chips,
        """
        diff install
        socs install
        doctor install
        tty diff install
        """,
    ),
    Input(
        "files of a tree",
        500,
        write_tree,
        """
        validate tree
        validate repository
        validate tree --follow
        validate repository --follow -v
        tty validate tree
        """,
    ),
    Input("folders of a tree", 500, write_folders, "validate tree"),
    Input(
        "lines of a script",
        500,
        write_script,
        """
        validate run.sh --follow
        validate train.py --follow
        """,
    ),
    Input(
        "OpDef sources",
        20,
        write_many_sources,
        """
        list sources@ascend950
        validate sources
        show sources@ascend950 Op1 --format opdef
        """,
    ),
    Input(
        "ports and operators of a source",
        100,
        write_ports,
        """
        list sources@ascend950
        show sources@ascend950 Wide
        """,
    ),
    Input("macros of a source", 1_000, write_macros, "list sources@ascend950"),
    Input("registrations that cannot be read", 4_000, write_unread, "validate unread_def.cpp"),
    Input(
        "faults of an ini",
        2_000,
        write_wrong_inis,
        """
        validate aic-ascend910b-ops-info.ini
        validate aic-ascend910-ops-info.ini
        """,
    ),
    Input(
        "nodes of an ONNX model",
        1_000,
        write_nodes,
        """
        graph model.onnx --against opp@ascend910b
        graph model.onnx --against opp@ascend910b --by node
        graph model.onnx --against opp@ascend910b --format json
        graph model.onnx --against opp@ascend910b --format html -o page.html
        graph model.onnx --against opp@ascend910b --format model-explorer -o page.json
        graph model.onnx --against opp@ascend910b --compare-mixlist ops_info.json
        graph model.onnx --against opp@ascend910b --compare-mixlist ops_info.json --by node
        graph model.onnx --against opp@ascend910b --keep-dtype keep_dtype.cfg
        graph model.onnx --against opp@ascend910b --customize-dtypes customize_dtypes.cfg
        graph model.onnx --against opp@ascend910b --op-precision-mode op_precision.ini
        graph model.onnx --against opp@ascend910b --node node1
        graph model.onnx --against opp@ascend910b --match 'node*' --write-keep-dtype out.cfg
        validate ops_info.json keep_dtype.cfg op_precision.ini --against opp@ascend910b --model model.onnx
        validate customize_dtypes.cfg --against opp@ascend910b --model model.onnx
        tty graph model.onnx --against opp@ascend910b --by node
        tty graph model.onnx --against opp@ascend910b
        """,
    ),
    Input(
        "nodes of a simulation",
        250,
        write_nodes,
        """
        simulate model.onnx --against opp@ascend910b --precision-mode mixed_float16
        simulate model.onnx --against opp@ascend910b --precision-mode mixed_float16 --by node
        simulate model.onnx --against opp@ascend910b --precision-mode mixed_float16 --format html -o page.html
        """,
    ),
    Input(
        "readers of a tensor and inputs of a node",
        3_000,
        write_fan,
        """
        graph model.onnx --against opp@ascend910b
        graph model.onnx --against opp@ascend910b --format json
        graph model.onnx --against opp@ascend910b --format html -o page.html
        graph model.onnx --against opp@ascend910b --node mean
        """,
    ),
    Input(
        "attributes, inputs and outputs of a node",
        3_000,
        write_parts,
        """
        graph model.onnx --against opp@ascend910b
        graph model.onnx --against opp@ascend910b --format json
        graph model.onnx --against opp@ascend910b --by node
        tty graph model.onnx --against opp@ascend910b --by node
        """,
    ),
    Input(
        "initializers, inputs and shapes of a model",
        5_000,
        write_initializers,
        """
        graph model.onnx --against opp@ascend910b
        graph model.onnx --against opp@ascend910b --format json
        """,
    ),
    Input(
        "subgraphs of a model",
        500,
        write_subgraphs,
        """
        graph model.onnx --against opp@ascend910b
        graph model.onnx --against opp@ascend910b --format json
        """,
    ),
    Input("nodes of deep subgraphs", 100, write_deep_subgraphs, "graph model.onnx --against opp@ascend910b"),
    Input("functions of a model", 500, write_functions, "graph model.onnx --against opp@ascend910b"),
    Input("nodes of a TensorFlow model", 3_000, write_tensorflow, "graph model.pbtxt --against opp@ascend910b"),
    Input(
        "nodes of a dump",
        2_000,
        write_dump,
        """
        graph ge_proto_00020_FeTopoSortingAfter.txt --against opp@ascend910b
        graph ge_proto_00020_FeTopoSortingAfter.txt --against opp@ascend910b --read-back ge_proto_00099_Build.txt
        """,
    ),
    Input(
        "lines of a log of overflows",
        20_000,
        write_log(lambda step: OVERFLOW.format(2 ** (step % 7 + 10))),
        """
        qualify train.log
        qualify train.log --format json
        qualify train.log --plot scale.svg
        tty qualify train.log
        """,
    ),
    Input(
        "steps of a log of Megatron",
        10_000,
        write_log(MEGATRON.format),
        """
        qualify train.log
        qualify train.log --plot scale.svg --metric 'lm loss: ([0-9.E+]+)'
        """,
    ),
    Input(
        "updates on one line of a log",
        10_000,
        write_log("epoch 001 | num_updates={} | loss_scale=128 ".format),
        "qualify train.log",
    ),
    Input(
        "ranks of a run",
        50,
        write_ranks,
        """
        qualify logs
        qualify train.log
        """,
    ),
    Input(
        "rows of a profile",
        5_000,
        write_rows,
        """
        profile op_summary.csv
        profile op_summary.csv --by kernel
        profile op_summary.csv --format json
        profile op_summary.csv --against library.json --mixlist ops_info.json
        """,
    ),
    Input(
        "op types of a profile",
        2_000,
        write_types,
        """
        profile op_summary.csv
        profile op_summary.csv --format html -o page.html
        profile op_summary.csv --format json
        profile op_summary.csv --against library.json --mixlist ops_info.json
        tty profile op_summary.csv
        tty profile op_summary.csv --by kernel
        """,
    ),
    Input(
        "candidates of a search",
        500,
        write_candidates,
        "bisect --against library.json --among @types.txt -- ./check.sh {mixlist}",
    ),
    Input(
        "trials of a search",
        8,
        write_trials,
        """
        bisect --against library.json --among @types.txt -- ./check.sh {mixlist}
        bisect --against library.json --among @types.txt --resume -- ./check.sh {mixlist}
        """,
    ),
    Input("vendor versions in the vault", 500, vaults.write_versions, "\n".join(vaults.LINES)),
    Input("changes in the vault", 1_000, vaults.write_changes, "\n".join(vaults.LINES)),
    Input(
        "names of another system's lists",
        1_000,
        write_names,
        """
        systems convert --from habana-hmp --to mixlist --against library.json --same-names bf16.txt fp32.txt
        systems show habana-hmp=bf16.txt,fp32.txt
        systems convert --from mixlist --to keep-dtype ops_info.json
        """,
    ),
)


class Growth:
    """Runs command lines, and takes their processor time.

    Each run is a fork of this process, which has imported every module, so that start-up takes next to nothing.
    """

    def __init__(self, bench: Bench, runs: int) -> None:
        self.bench, self.runs = bench, runs
        self.errors = bench.folder / "linear.err"
        sys.path.insert(0, str(bench.folder / "package"))
        package = importlib.import_module("opsinfo_cli")
        for module in pkgutil.walk_packages(package.__path__, "opsinfo_cli."):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # of packages that are not installed
                    importlib.import_module(module.name)

    def rows(self, given: Input) -> Iterator[Row]:
        folders = [self.written(given, size) for size in (SMALLEST, given.size, given.size * 2, given.size * 4)]
        for line in map(str.strip, given.lines.strip().splitlines()):
            start, *times = (min(self.seconds(line, folder) for _ in range(self.runs)) for folder in folders)
            yield Row(given.name, given.size * 4, line, [max(time - start, 0.0) for time in times])
        shutil.rmtree(self.bench.folder / "inputs")

    def check(self, given: Input) -> None:
        """:raises SystemExit: if a command line does not run"""
        folder = self.written(given, SMALLEST)
        for line in map(str.strip, given.lines.strip().splitlines()):
            self.seconds(line, folder)
            self.seconds(line, folder)  # as it is measured: more than once
        shutil.rmtree(self.bench.folder / "inputs")

    def written(self, given: Input, size: int) -> Path:
        folder = self.bench.folder / "inputs" / str(size)
        folder.mkdir(parents=True)
        shutil.copytree(ROOT / "fixtures/opp", folder / "opp")
        given.write(folder, size)
        return folder

    def seconds(self, line: str, folder: Path) -> float:
        if "--resume" not in line:
            shutil.rmtree(folder / ".opsinfo-bisect", ignore_errors=True)
        (folder / "out.cfg").unlink(missing_ok=True)  # which no command overwrites
        on_terminal = line.startswith("tty ")
        ours, its = pty.openpty() if on_terminal else (None, os.open(os.devnull, os.O_RDWR))
        if on_terminal:
            fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 80, 0, 0))
        child = os.fork()
        if child == 0:
            self.run(shlex.split(line.removeprefix("tty ")), folder, its)
        os.close(its)
        if ours is not None:
            drain(ours)
        _, status, usage = os.wait4(child, 0)
        if os.waitstatus_to_exitcode(status) not in (0, 1):
            raise SystemExit(f"{line}: exit {status}\n{self.errors.read_text()[-2000:]}")
        return usage.ru_utime + usage.ru_stime

    def run(self, words: list[str], folder: Path, terminal: int) -> NoReturn:
        status = 70
        try:
            os.dup2(terminal, 0)
            os.dup2(terminal, 1)
            os.dup2(os.open(self.errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
            os.chdir(folder)
            os.environ.clear()
            os.environ.update({**self.bench.environment, "TERM": "xterm", "VISUAL": "sed -i s/^white/black/"})
            status = importlib.import_module("opsinfo_cli.app").main(words)
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 70
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)


def drain(terminal: int) -> None:
    with contextlib.suppress(OSError):  # the other end is closed
        while os.read(terminal, 1 << 16):
            pass
    os.close(terminal)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure that costs are linear.")
    parser.add_argument("--only", action="append", metavar="TEXT", help="inputs whose name contains this; repeatable")
    parser.add_argument("--runs", type=int, default=2, help="runs of each command line; the best counts (default: 2)")
    parser.add_argument("--check", action="store_true", help="measure nothing: run each command line twice")
    options = parser.parse_args()
    missed = 0
    if not options.check:
        print("| input | size | command | seconds at a quarter, at half and at the size | largest ratio | |")
        print("| --- | ---: | --- | --- | ---: | --- |", flush=True)
    with tempfile.TemporaryDirectory(prefix="opsinfo-linear-") as folder:
        growth = Growth(Bench(Path(folder), 1, None), options.runs)
        for given in INPUTS:
            if options.only and not any(text in given.name for text in options.only):
                continue
            if options.check:
                growth.check(given)
                continue
            for row in growth.rows(given):
                missed += row.ratio > BOUND
                verdict = "MISSED" if row.ratio > BOUND else "met" if row.ratio else "too short"
                times = ", ".join(f"{time:.2f}" for time in row.times)
                print(
                    f"| {row.name} | {row.size:,} | `{row.line}` | {times} | {row.ratio:.2f} | {verdict} |", flush=True
                )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
