"""Op types that operators of ONNX and TensorFlow become, and the D forms of fusion."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ..package_data import package_data
from .onnx_opsets import DEFAULT_DOMAIN, onnx_operators

_WITH_D_FORM = """
ArgMax ArgMin BatchToSpace BatchToSpaceND BroadcastTo Concat ConcatOffset ConcatV2 Conv2DBackpropFilter
Conv2DBackpropInput Conv2DTranspose Conv3DBackpropFilter Conv3DBackpropInput Conv3DTranspose CropAndResize
Cumprod Cumsum DepthwiseConv2DBackpropFilter DepthwiseConv2DBackpropInput EuclideanNorm Expand Fill GatherV2
HistogramFixedWidth InplaceAdd InplaceSub InplaceUpdate LinSpace OneHot Pad PadV2 PadV3 Range ReduceAll
ReduceAny ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Resize ResizeBilinearV2 ResizeNearestNeighborV2
ResizeNearestNeighborV2Grad ReverseV2 ScatterNd Slice SpaceToBatch SpaceToBatchND Split SplitV StridedSlice
StridedSliceGrad Tile TopK TopKV2 Transpose UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd
UnsortedSegmentSum
"""
D_FORMS = frozenset(_WITH_D_FORM.split())
"""Types that fusion may turn into their D form if the input that becomes an attribute is a constant (the ConstToAttr
passes: hicann/ge compiler/engines/nn_engine/inc/common/fusion_pass_util.h:20-52). Both forms are in the public operator
libraries of CANN."""


@cache
def onnx_names() -> Mapping[str, tuple[str, ...]]:
    """Return the op types of each ONNX operator in any opset and case; a name of another domain as ``npu::NPUGru``."""
    return {
        op if domain == DEFAULT_DOMAIN else f"{domain}::{op}": tuple(
            dict.fromkeys(op_type for _, op_types in rows for op_type in op_types)
        )
        for (domain, op), rows in onnx_operators().items()
    }


@cache
def tensorflow_names() -> Mapping[str, tuple[str, ...]]:
    """Return the op types of each TensorFlow operator, of which a node takes one."""
    return {name: tuple(op_types) for name, op_types in package_data(__package__, "tf_to_ascend")["names"].items()}


_VERSION = re.compile(r"(.*?)(?:V(\d+))?", re.DOTALL)


def false_friends(name: str) -> dict[str, tuple[str, ...]]:
    """Return the op types that ONNX's and TensorFlow's operator of a name becomes, by framework, where it is not one.

    A later version of what it becomes is left out, since fusion may make it: ``BatchMatMulV3`` of ``BatchMatMulV2``.

    >>> false_friends("Div"), false_friends("Relu")
    ({'ONNX': ('RealDiv',)}, {})
    """
    tables = {"ONNX": onnx_names(), "TensorFlow": tensorflow_names()}
    found = {
        framework: tuple(op_type for op_type in table[name] if op_type != "Identity") or table[name]
        for framework, table in tables.items()
        if name not in table.get(name, (name,))
    }
    stem, version = _split_version(name)
    return {
        framework: op_types
        for framework, op_types in found.items()
        if not any(_split_version(op_type)[0] == stem and _split_version(op_type)[1] < version for op_type in op_types)
    }


def _split_version(op_type: str) -> tuple[str, int]:
    match = _VERSION.fullmatch(op_type)
    assert match is not None, "any text matches"
    return match[1], int(match[2] or 1)


@cache
def translated_types() -> frozenset[str]:
    """Return all op types that operators of ONNX and TensorFlow become, and the D forms of fusion."""
    named = (*onnx_names().values(), *tensorflow_names().values())
    return frozenset(op_type for op_types in named for op_type in op_types) | {f"{name}D" for name in D_FORMS}


FUSED_KERNELS = frozenset({"AutomaticBufferFusionOp", "AscBackend", "FusedAscBackend", "AscBackendNoKernelOp"})
"""Op types of a profile whose kernels were fused after dtypes are chosen: a list names what they were made of, which
msprof has in ``fusion_op_*.csv``. AutomaticBufferFusionOp: hicann/ge ffdcbc9f, automatic_buffer_fusion.cc:422, after
OptimizeOriginalGraphJudgeInsert. The others: its AutoFuse, compiler/graph/optimize/autofuse, kAutofuseNodeSet."""
