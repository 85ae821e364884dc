"""paddle_to_ascend.json: the op types that Paddle's NPU kernels run.

Read from a checkout of PaddleCustomDevice: the operators of ``backends/npu/kernels`` by their registration, and the
`NpuOpRunner` of their functions and of the functions that these call. Fluid's names of operators (``reduce_sum``) are
those of Paddle's ``op_compat.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .data_text import dumped
from .upstream import Upstream

_KERNELS = "backends/npu/kernels"
_REGISTERED = re.compile(r"PD_REGISTER_PLUGIN_KERNEL\(\s*(\w+),\s*npu,\s*\w+,\s*(?:custom_kernel::)?(\w+)")
_FUNCTION = re.compile(r"^(?:static\s+|inline\s+)*(?:void|aclError|phi::DenseTensor)\s+(\w+)\(", re.MULTILINE)
_RUNS = re.compile(r'(?:NpuOpRunner(?:\s+\w+)?|\bSetType)\(\s*"(\w+)"')
_CALLS = re.compile(r"\b(\w+)(?:<[\w\s,:]*>)?\(")
_MOVING = frozenset(
    """
    Cast Identity Fill FillD Fills FillV2D ZerosLike OnesLike BroadcastTo BroadcastToD Transpose TransposeD TransData
    Reshape Slice StridedSlice StridedSliceD SliceD Concat ConcatD Tile TileD TileWithAxis Pack Unpack Split SplitD
    SplitV SplitVD ExpandD ExpandDims Squeeze Unsqueeze Shape TensorMove Range AssignValue Select SelectV2 Pad PadD
    PadV3 ConcatV2 OneHot OneHotD Muls Adds Assign Equal NotEqual Greater GreaterEqual Less LessEqual ReduceAll
    ReduceAny LogicalAnd LogicalNot LogicalOr Sign MaskedFill
    """.split()  # noqa: SIM905
)
"""Op types that only move, make, scale or compare data: a list of an operator is not about them, unless it is one."""
_ELEMENTARY = frozenset(
    """
    Add AddV2 Adds Sub Mul Muls Div RealDiv DivNoNan Axpy Sqrt Rsqrt Inv Square Power Pow Abs Neg Exp Maximum Minimum
    ReduceSum ReduceSumD ReduceMean ReduceMax ReduceMaxD ReduceMin GatherV2 ArgMaxD ArgMaxV2
    """.split()  # noqa: SIM905
)
"""Op types of which many operators are made: they stand for an operator that runs nothing else, and one of them."""
_BY_MODE = frozenset({"bilinear_interp"})
"""Operators that share a function with another one, which chooses by a mode."""
FLUID = {
    "arg_max": "argmax", "arg_min": "argmin", "bilinear_interp_v2": "bilinear_interp", "elementwise_add": "add",
    "elementwise_div": "divide", "elementwise_floordiv": "floor_divide", "elementwise_max": "maximum",
    "elementwise_min": "minimum", "elementwise_mod": "remainder", "elementwise_mul": "multiply",
    "elementwise_sub": "subtract", "expand_v2": "expand", "fill_constant": "full",
    "flatten_contiguous_range": "flatten", "hard_swish": "hardswish", "lookup_table_v2": "embedding",
    "matmul_v2": "matmul", "nearest_interp_v2": "nearest_interp", "reduce_max": "max", "reduce_mean": "mean",
    "reduce_min": "min", "reduce_prod": "prod", "reduce_sum": "sum", "reshape2": "reshape",
    "softmax_with_cross_entropy": "cross_entropy_with_softmax", "squeeze2": "squeeze", "top_k_v2": "topk",
    "transpose2": "transpose", "unsqueeze2": "unsqueeze",
}  # fmt: skip
"""Paddle's phi/ops/yaml/op_compat.yaml."""


def paddle_to_ascend(upstream: Upstream) -> str:
    """Return the data file."""
    functions: dict[str, str] = {}
    registered: dict[str, str] = {}
    for path in upstream.paths(_KERNELS, ".cc"):
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", upstream.read(path), flags=re.DOTALL)
        for name, body in _functions(text):
            functions[name] = functions.get(name, "") + body
        registered.update(dict(_REGISTERED.findall(text)))
    names: dict[str, set[str]] = {}
    for name, function in registered.items():
        op_types = _op_types(function, functions, set())
        own = {op_type for op_type in op_types if op_type.lower() in (name.replace("_", ""), f"{name}v2", f"{name}d")}
        op_types = op_types - _MOVING | own
        names[name] = set() if name in _BY_MODE else op_types - _ELEMENTARY or op_types
    composed = [name for name, op_types in names.items() if len(op_types) > 1 and op_types <= _ELEMENTARY]
    composed += [fluid for fluid, phi in FLUID.items() if phi in composed]
    names = {name: op_types for name, op_types in names.items() if name not in composed}
    names |= {fluid: names[phi] for fluid, phi in FLUID.items() if names.get(phi) and fluid not in names}
    content = {
        "version": f"PaddleCustomDevice {upstream.version()}",
        "source": f"PaddlePaddle/PaddleCustomDevice: {_KERNELS}/*.cc, NpuOpRunner; Paddle: op_compat.yaml",
        "names": {name: sorted(op_types) for name, op_types in sorted(names.items()) if op_types},
        "composed": sorted(composed),
    }
    return dumped(content)


def _functions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the body of each function that is defined."""
    for match in _FUNCTION.finditer(text):
        end = _closing(text, match.end() - 1, "()")
        if text[end + 1 :].lstrip().startswith("{"):
            start = text.index("{", end)
            yield match[1], text[start : _closing(text, start, "{}") + 1]


def _closing(text: str, start: int, pair: str) -> int:
    """Return where the bracket at ``start`` is closed."""
    depth = 0
    for match in re.compile(f"[{re.escape(pair)}]").finditer(text, start):
        depth += 1 if match[0] == pair[0] else -1
        if depth == 0:
            return match.start()
    return len(text) - 1


def _op_types(function: str, functions: dict[str, str], seen: set[str]) -> set[str]:
    """Return what a function runs, also by the functions that it calls."""
    op_types: set[str] = set()
    todo = [function]
    for name in todo:
        if name in seen or name not in functions:
            continue
        seen.add(name)
        op_types |= set(_RUNS.findall(functions[name]))
        todo += [called for called in _CALLS.findall(functions[name]) if called in functions]
    return op_types
