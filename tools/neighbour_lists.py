"""Write the operator lists of other systems into opsinfo_cli/neighbours/data, each from a stated upstream version.

A source is a wheel, a file, or a git repository at a revision::

    python tools/neighbour_lists.py \
        --source apex=CHECKOUTS/apex@4ef930c1 \
        --source torch_amp=torch-2.15.0-...whl \
        --source tensorflow=tensorflow_cpu-2.21.0-...whl

``--all`` requires every source; without it the lists of the sources given are written. ``--check`` writes nothing and
exits 1 if a file would change. Names of operators and their lists are facts; nothing else is taken from a source.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).resolve().parent.parent / "opsinfo_cli/neighbours/data"
WIDTH = 120

NameList = dict[str, Any]
"""One list in the form of the data files: list, class, names, and optionally note, module, scope."""


class Upstream:
    """A wheel, a plain file, or a git repository at a revision."""

    def __init__(self, text: str) -> None:
        path, at, revision = text.rpartition("@") if "@" in text else (text, "", "")
        self.path = Path(path)
        self.revision = revision if at else "HEAD"
        self.is_file = self.path.is_file() and self.path.suffix != ".whl"

    def read(self, path: str) -> str:
        """Return the text of a file of the source; for a plain file, its own text."""
        if self.is_file:
            return self.path.read_text("utf-8")
        if self.path.suffix == ".whl":
            with zipfile.ZipFile(self.path) as wheel:
                return wheel.read(path).decode("utf-8")
        return self._git("show", f"{self.revision}:{path}")

    def version(self) -> str:
        """``torch 2.15.0`` for a wheel; commit and date for a repository."""
        if self.path.suffix == ".whl":
            name, version = self.path.name.split("-")[:2]
            return f"{name.replace('_', '-')} {version}"
        return self._git("show", "-s", "--format=%h of %cs", "--abbrev=8", self.revision).strip()

    def _git(self, *words: str) -> str:
        return subprocess.run(["git", "-C", str(self.path), *words], check=True, capture_output=True, text=True).stdout


class Generated(NamedTuple):
    """The content of one data file, from a source."""

    version: str
    source: str
    levels: dict[str, list[NameList]]


def listed(name: str, cls: str, names: Iterable[str], **more: str) -> NameList:
    return {"list": name, "class": cls, **more, "names": list(names)}


def python_lists(text: str) -> dict[str, list[str]]:
    """Module-level lists and sets of strings, or of dotted names, by variable; ``A | B`` joined."""
    found: dict[str, list[str]] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = _items(node.value, found)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if (
                isinstance(function, ast.Attribute)
                and function.attr == "extend"
                and isinstance(function.value, ast.Name)
            ):
                found[function.value.id] += _items(node.value.args[0], found)
    return found


def _items(value: ast.expr, known: dict[str, list[str]]) -> list[str]:
    if isinstance(value, ast.BinOp):
        return _items(value.left, known) + _items(value.right, known)
    if isinstance(value, ast.Name):
        return known.get(value.id, [])
    if isinstance(value, ast.Call) and value.args:  # APEX: compat.filter_attrs(MODULE, [...])
        return _items(value.args[-1], known)
    if not isinstance(value, ast.List | ast.Set | ast.Tuple):
        return []
    return [_item(item) for item in value.elts]


def _item(item: ast.expr) -> str:
    if isinstance(item, ast.Tuple):  # APEX's banned functions have a message
        return _item(item.elts[0])
    return str(item.value) if isinstance(item, ast.Constant) else ast.unparse(item)


def quoted(text: str) -> list[str]:
    return re.findall(r'"([^"]+)"', text)


def apex(upstream: Upstream, on_npu: bool = False) -> Generated:
    folder = "apex/amp/lists"
    functional = python_lists(upstream.read(f"{folder}/functional_overrides.py"))
    torch = python_lists(upstream.read(f"{folder}/torch_overrides.py"))
    tensor = python_lists(upstream.read(f"{folder}/tensor_overrides.py"))
    rnns = python_lists(upstream.read("apex/amp/rnn_compat.py"))["RNN_NAMES"]
    module = "torch.nn.functional"
    bmms = (
        listed("(neither)", "follow", torch["_bmms"], module="torch",
               note="low on CUDA 9.1 or later; on an NPU torch is not CUDA-enabled and they are in neither list")
        if on_npu
        else listed("FP16_FUNCS", "low", torch["_bmms"], module="torch", note="CUDA 9.1 or later, else FP32_FUNCS")
    )  # fmt: skip
    lists = [
        listed("FP16_FUNCS", "low", functional["FP16_FUNCS"], module=module),
        listed("FP32_FUNCS", "high", functional["FP32_FUNCS"], module=module),
        listed("BANNED_FUNCS", "banned", functional["BANNED_FUNCS"], module=module,
               note="raises on half input; allow_banned=True makes it float32"),
        listed("FP16_FUNCS", "low", torch["FP16_FUNCS"], module="torch"),
        bmms,
        listed("FP32_FUNCS", "high", torch["FP32_FUNCS"], module="torch"),
        listed("RNN_NAMES", "low", [*rnns, *(f"{name}_cell" for name in rnns)], module="torch",
               note="wrapped separately from the lists (amp.py, step 5)"),
        listed("CASTS", "promote", torch["CASTS"], module="torch"),
        listed("SEQUENCE_CASTS", "promote", torch["SEQUENCE_CASTS"], module="torch"),
        *(listed(name, cls, tensor[name], module="torch.Tensor")
          for name, cls in (("FP16_FUNCS", "low"), ("FP32_FUNCS", "high"), ("CASTS", "promote"))),
    ]  # fmt: skip
    version = f"NVIDIA/apex {upstream.version()}; apex.amp was removed by cb65b8ed of 2025-05-08"
    return Generated(version, "NVIDIA/apex: apex/amp/lists/*.py, rnn_compat.py, amp.py", {"O1": lists})


def torch_amp(upstream: Upstream) -> Generated:
    path = "torch/include/ATen/autocast_mode.h"
    text = upstream.read(path)

    def names(macro: str) -> list[str]:
        body = re.search(rf"#define AT_FORALL_{macro}\(_\)(.*?[^\\])\n", text, re.DOTALL)
        assert body
        entries = re.findall(r"_\(([\w]+)(?:,\s*(\w+))?\)", body[1])
        return [f"{name}.{overload}" if overload else name for name, overload in entries]

    different = re.search(r"#define AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE\(_\)(.*?[^\\])\n", text, re.DOTALL)
    assert different
    return Generated(
        f"{upstream.version()}, the CUDA lists (CPU and XPU have others)",
        "pytorch/pytorch: aten/src/ATen/autocast_mode.h",
        {
            "": [
                listed("lower_precision_fp", "low", names("LOWER_PRECISION_FP")),
                listed("fp32", "high", names("FP32")),
                listed("fp32_set_opt_dtype", "high", names("FP32_SET_OPT_DTYPE")),
                listed("fp32_append_dtype", "high", quoted(different[1])),
                listed("promote", "promote", names("PROMOTE")),
                listed("banned", "banned", ["binary_cross_entropy"]),
            ]
        },
    )


def torch_npu(upstream: Upstream) -> Generated:
    path = "torch_npu/csrc/aten/AutoCastOps.cpp"
    text = upstream.read(path)
    found: dict[str, list[str]] = {}
    for words in re.findall(r"^\s*KERNEL_PRIVATEUSEONE\(([^)]*)\)", text, re.MULTILINE):
        *name, policy = (word.strip() for word in words.split(","))
        found.setdefault(policy, []).append(".".join(name))
    found["fp32_append_dtype"] = re.findall(r'KERNEL_DIFFERENT_REDISPATCH[^"]*"([^"]+)"', text)
    banned = re.findall(r'm\.impl\(TORCH_SELECTIVE_NAME\("aten::(\w+)"', text)
    classes = {"lower_precision_fp": "low", "promote": "promote"}
    order = ("lower_precision_fp", "fp32", "fp32_set_opt_dtype", "fp32_append_dtype", "promote")
    lists = [listed(name, classes.get(name, "high"), found[name]) for name in order]
    lists.append(listed("banned", "banned", banned))
    return Generated(f"Ascend/pytorch {upstream.version()}", f"Ascend/pytorch: {path}", {"": lists})


CONDITIONS = {
    "use_cuda_ && cuda_version_ >= 9010": "CUDA 9.1 or later",
    "cuda_version_ >= 9010": "CUDA 9.1 or later",
    "cudnn_version_ >= 7602": "cuDNN 7.6.2 or later",
    "cudnn_version_ >= 8000": "cuDNN 8.0 or later",
    "if (use_onednn_)": "oneDNN only: float16 on a CPU",
}


def tensorflow(upstream: Upstream) -> Generated:
    path = "tensorflow/include/tensorflow/core/grappler/optimizers/auto_mixed_precision_lists.h"
    text = upstream.read(path)
    start = re.search(r"class AutoMixedPrecisionLists(?:Fp16|Cuda) ", text)
    assert start
    body = text[start.start() : text.index("class AutoMixedPrecisionListsMkl")]
    tensor_list = re.search(r"tensor_list_ops\[\] = \{(.*?)\};", text, re.DOTALL)
    assert tensor_list
    lists: list[NameList] = []
    for method, name, cls in (("Allow", "allow", "low"), ("Infer", "infer", "follow"), ("Deny", "deny", "high"),
                              ("Clear", "clear", "clear")):  # fmt: skip
        part = re.search(rf"{method}List\(\) override \{{(.*?)UpdateList\(", body, re.DOTALL)
        assert part
        lists += _conditional(part[1], name, cls)
    lists.append(listed("clear", "clear", quoted(tensor_list[1]), note="TensorList operators"))
    allow = [each for each in lists if each["class"] == "low"]
    source = "tensorflow/tensorflow: tensorflow/core/grappler/optimizers/auto_mixed_precision_lists.h"
    return Generated(f"{upstream.version()}, the CUDA lists", source, {"ALL": lists, "TENSOR_CORES_ONLY": allow})


def _conditional(text: str, name: str, cls: str) -> list[NameList]:
    """The names of one method, with conditional ones separate; a condition on CUDA alone is ignored."""
    notes: dict[str, list[str]] = {"": []}
    note = ""
    for line in text.splitlines():
        condition = next((said for words, said in CONDITIONS.items() if words in line), None)
        if line.strip() == "}":
            note = ""
        elif condition:
            note = condition
        notes.setdefault(note, []).extend(quoted(line))
    return [listed(name, cls, names, **({"note": note} if note else {})) for note, names in notes.items() if names]


def paddle(upstream: Upstream) -> Generated:
    found = python_lists(upstream.read("paddle/amp/amp_lists.py"))
    white = [
        listed("white", "low", found["WHITE_LIST"]),
        listed("white", "low", found["ONLY_FP16_WHITE_LIST"], note="float16 only"),
    ]
    extra = listed("extra black", "high", found["EXTRA_BLACK_LIST"])
    return Generated(
        upstream.version(),
        "PaddlePaddle/Paddle: python/paddle/amp/amp_lists.py, auto_cast.py",
        {"OD": white, "O1": [*white, listed("black", "high", found["FP16_BLACK_LIST"]), extra], "O2": [*white, extra]},
    )


def habana_autocast(upstream: Upstream) -> Generated:
    path = "hpu_ops/autocast_helpers.h"
    text = upstream.read(path)

    def names(variable: str) -> list[str]:
        body = re.search(rf"{variable}\s*\{{(.*?)\}};", text, re.DOTALL)
        assert body
        return quoted(body[1])

    lists = [
        listed("lower", "low", names("default_lower_ops")),
        listed("fp32", "high", names("default_fp32_ops")),
        listed("promote", "promote", names("promote_list"), note="fixed; no file can replace it"),
    ]
    return Generated(
        f"HabanaAI/gaudi-pytorch-bridge {upstream.version()}",
        f"HabanaAI/gaudi-pytorch-bridge: {path}, hpu_ops/backend/autocast_helpers.cpp",
        {"": lists},
    )


def optimum_habana(upstream: Upstream) -> Generated:
    """Check that the defaults are None, so that the lists are those of the bridge: see :func:`fill`.

    :raises SystemExit: if the DEFAULT lists are used, or a key has a default
    """
    path = "optimum/habana/transformers/gaudi_configuration.py"
    text = upstream.read(path)
    for key in ("autocast_bf16_ops", "autocast_fp32_ops"):
        if f'kwargs.pop("{key}", None)' not in text:
            raise SystemExit(f"{path}: {key} has a default other than None")
    if any(len(re.findall(rf"\b{name}\b", text)) != 1 for name in ("DEFAULT_BF16_OPS", "DEFAULT_FP32_OPS")):
        raise SystemExit(f"{path}: the DEFAULT lists are used")
    bridge = json.loads((DATA / "habana_autocast.json").read_text("utf-8"))
    return Generated(
        f"{upstream.version()}, whose lists default to None, so that those of {bridge['version']} apply",
        f"huggingface/optimum-habana: {path}; {bridge['source']}",
        {"": bridge["levels"][""]["lists"]},
    )


def habana_tf(upstream: Upstream) -> Generated:
    path = "TensorFlow/common/bf16_config/basic.json"
    found = json.loads(upstream.read(path))
    names = {"whitelist": "allowlist", "graylist": "conditional_list"}
    classes = {"allowlist": "low", "conditional_list": "follow", "strict_conditional_list": "follow",
               "whitelist": "low", "graylist": "follow"}  # fmt: skip
    lists = [listed(names.get(key, key), classes[key], found[key]) for key in found if found[key] and key in classes]
    for key, cls in (("non_convertible_exceptions", "high"), ("convertible_exceptions", "low")):
        if found.get(key):
            lists.append(listed(key, cls, [pair[0] for pair in found[key]], scope="node"))
    version = f"HabanaAI/Model-References {upstream.revision}, {upstream.version()}; the file is in 1.0.0 to 1.3.0"
    return Generated(version, f"HabanaAI/Model-References: {path}", {"": lists})


def mindspore(upstream: Upstream) -> Generated:
    found = python_lists(upstream.read("mindspore/train/amp.py"))

    def names(variable: str) -> list[str]:
        return [re.sub(r"^(P|gen)\.", "", name) for name in found[variable]]

    promote = "Addcdiv Addcmul Cross _PyboostCrossPrim GridSampler2D GridSampler3D BiasAdd AddN Dot Concat".split()  # noqa: SIM905
    return Generated(
        f"{upstream.version()}; auto's promote list, which is compiled in, copied manually from 2.7.0",
        "mindspore-ai/mindspore: mindspore/python/mindspore/train/amp.py; mindspore/ccsrc/common/amp/amp.cc",
        {
            "O1": [listed("AMP_WHITE_LIST", "low", names("AMP_WHITE_LIST"), scope="class")],
            "O2": [listed("AMP_BLACK_LIST", "high", names("AMP_BLACK_LIST"), scope="class")],
            "auto": [
                listed("AMP_AUTO_WHITE_LIST", "low", names("AMP_AUTO_WHITE_LIST")),
                listed("AMP_AUTO_BLACK_LIST", "high", names("AMP_AUTO_BLACK_LIST")),
                listed("g_AutoPromoteList", "promote", promote),
            ],
        },
    )


def onnxconverter(upstream: Upstream) -> Generated:
    path = "onnxconverter_common/float16.py"
    names = python_lists(upstream.read(path))["DEFAULT_OP_BLOCK_LIST"]
    version = f"microsoft/onnxconverter-common {upstream.version()}"
    return Generated(version, f"microsoft/onnxconverter-common: {path}",
                     {"": [listed("DEFAULT_OP_BLOCK_LIST", "high", names)]})  # fmt: skip


def modelopt(upstream: Upstream) -> Generated:
    path = "modelopt/onnx/autocast/precisionconverter.py"
    names = python_lists(upstream.read(path))["OP_TYPES_NOT_SUPPORTED_IN_LOW_PRECISION"]
    return Generated(
        upstream.version(), f"NVIDIA/Model-Optimizer: {path}", {"": [listed("always high", "high", names)]}
    )


MAKERS: dict[str, Callable[[Upstream], Generated]] = {
    "apex": apex,
    "apex_npu": lambda upstream: apex(upstream, on_npu=True),
    "torch_amp": torch_amp,
    "torch_npu": torch_npu,
    "tensorflow": tensorflow,
    "tensorflow_2_6": tensorflow,
    "paddle": paddle,
    "habana_autocast": habana_autocast,
    "optimum_habana": optimum_habana,
    "habana_tf": habana_tf,
    "mindspore": mindspore,
    "onnxconverter": onnxconverter,
    "modelopt": modelopt,
    "modelopt_0_40": modelopt,
}
"""By data file. habana_hmp.json is edited manually: Habana's HMP lists are published only on a web page."""


def fill(name: str, made: Generated) -> str:
    """The data file with its lists, version and source replaced; levels, properties and notes are edited manually."""
    content = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    content["version"], content["source"] = made.version, made.source
    for level, lists in made.levels.items():
        content["levels"][level]["lists"] = lists
    return dumped(content)


def families(paths: list[Path]) -> str:
    """families.json: op types that are forms of one operator: X, XD, XV2, XV3, XDV2, XV2D."""
    op_types = sorted({name for path in paths for name in json.loads(path.read_text("utf-8"))})
    found: dict[str, list[str]] = {}
    for name in op_types:
        found.setdefault(stem(name), []).append(name)
    content = json.loads((DATA / "families.json").read_text("utf-8"))
    content["families"] = {key: names for key, names in sorted(found.items()) if len(names) > 1 or key not in names}
    return dumped(content)


def stem(op_type: str) -> str:
    """``TopKV2D`` and ``TopKD`` as ``TopK``; the D of ``Conv2D`` and ``SpaceToBatchND`` stays."""
    return re.sub(r"(?:V\d)?(?:(?<![\dN])D|(?<=V\d)D)?(?:V\d)?$", "", op_type) or op_type


def dumped(content: Any) -> str:
    """Return JSON in the layout of the data files: arrays of strings filled to the line width."""
    return _dumped(content, 0) + "\n"


def _dumped(value: Any, depth: int, before: int = 0) -> str:
    pad, inner = "  " * depth, "  " * (depth + 1)
    if isinstance(value, dict) and value:
        rows = []
        for key, each in value.items():
            head = f"{inner}{json.dumps(key, ensure_ascii=False)}: "
            rows.append(head + _dumped(each, depth + 1, len(head)))
        return "{\n" + ",\n".join(rows) + f"\n{pad}}}"
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return _filled([json.dumps(each, ensure_ascii=False) for each in value], depth, before)
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(inner + _dumped(each, depth + 1) for each in value) + f"\n{pad}]"
    return json.dumps(value, ensure_ascii=False)


def _filled(words: list[str], depth: int, before: int) -> str:
    single = f"[{', '.join(words)}]"
    if before + len(single) < WIDTH:
        return single
    pad, inner = "  " * depth, "  " * (depth + 1)
    lines, line = [], inner
    for n, word in enumerate(words):
        word += "," if n < len(words) - 1 else ""
        if len(line) > len(inner) and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = inner
        line += (" " if len(line) > len(inner) else "") + word
    return "[\n" + "\n".join([*lines, line]) + f"\n{pad}]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", action="append", default=[], metavar="NAME=PATH[@REVISION]")
    parser.add_argument("--library", action="append", default=[], type=Path, metavar="FILE", help="for families.json")
    parser.add_argument("--all", action="store_true", help="require every source")
    parser.add_argument("--check", action="store_true", help="exit 1 if a file would change; write nothing")
    given = parser.parse_args()
    sources = dict(text.split("=", 1) for text in given.source)
    unknown = sorted(set(sources) - set(MAKERS))
    missing = sorted(set(MAKERS) - set(sources)) if given.all else []
    if unknown or missing:
        parser.error(f"unknown: {unknown}, missing: {missing}; there are {', '.join(MAKERS)}")
    changed = []
    for name in (each for each in MAKERS if each in sources):
        changed += _written(DATA / f"{name}.json", fill(name, MAKERS[name](Upstream(sources[name]))), given.check)
    if given.library:
        changed += _written(DATA / "families.json", families(given.library), given.check)
    print("\n".join(changed) or "nothing changed")
    return 1 if changed and given.check else 0


def _written(path: Path, text: str, check: bool) -> list[str]:
    if path.read_text("utf-8") == text:
        return []
    if not check:
        path.write_text(text, "utf-8")
    return [path.name]


if __name__ == "__main__":
    sys.exit(main())
