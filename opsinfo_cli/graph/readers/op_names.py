"""Names of operators in ONNX and TensorFlow, and their Ascend op types."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

_DATA = "opsinfo_cli.neighbours.data"

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
_D_FORMS = frozenset(_WITH_D_FORM.split())
"""Types that fusion may turn into their D form if the input that becomes an attribute is a constant (the ConstToAttr
passes: hicann/ge compiler/engines/nn_engine/inc/common/fusion_pass_util.h:20-52). Both forms are in the public operator
libraries of CANN."""


class Mapping(NamedTuple):
    """The translation of an operator.

    :param types: op types; several if it expands, of which a node takes some
    :param expands: whether the node becomes a graph
    :param beyond: whether the table does not have the opset
    """

    types: tuple[str, ...]
    expands: bool = False
    beyond: bool = False


@lru_cache(maxsize=2)
def _table(name: str) -> dict[str, object]:
    text = files(_DATA).joinpath(name).read_text(encoding="utf-8")
    table = json.loads(text)
    found: dict[str, object] = table.get("ops", table)
    return found


def tensorflow_mapping(op: str) -> Mapping | None:
    """Return the translation of a TensorFlow operator; None if unknown."""
    types = _table("tf_to_ascend.json").get(op)
    return Mapping(tuple(str(each) for each in types)) if isinstance(types, list) and types else None


@lru_cache(maxsize=1)
def translated_types() -> frozenset[str]:
    """Return all op types that operators of ONNX and TensorFlow become, and the D forms of fusion."""
    onnx, tensorflow = _table("onnx_to_ascend_by_opset.json"), _table("tf_to_ascend.json")
    rows = [row for each in onnx.values() if isinstance(each, dict) for row in each["by_opset"]]
    lists = [*(row["ascend"] for row in rows), *(each for each in tensorflow.values() if isinstance(each, list))]
    return frozenset(name for names in lists for name in names) | {f"{name}D" for name in _D_FORMS}


def second_type(op_type: str) -> str | None:
    """Return the type that fusion may turn an op type with a constant second input into; None if there is none."""
    return f"{op_type}D" if op_type in _D_FORMS else None
