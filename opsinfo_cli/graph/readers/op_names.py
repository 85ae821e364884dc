"""Names of operators in ONNX and TensorFlow, and their Ascend op types."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from ...neighbours.facts import facts

if TYPE_CHECKING:
    from ..graph import ModelGraph

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


def tensorflow_types(op: str) -> list[str]:
    """Return the op types of a TensorFlow operator, of which a node takes one; none if unknown."""
    found: list[str] = facts("tf_to_ascend").get(op, [])
    return found


@lru_cache(maxsize=1)
def translated_types() -> frozenset[str]:
    """Return all op types that operators of ONNX and TensorFlow become, and the D forms of fusion."""
    rows = [row["ascend"] for op in facts("onnx_to_ascend_by_opset")["ops"].values() for row in op["by_opset"]]
    return frozenset(chain(*rows, *facts("tf_to_ascend").values(), (f"{name}D" for name in _D_FORMS)))


def second_types(graph: ModelGraph) -> set[str]:
    """Return the types that fusion may turn op types with a constant input into."""
    return {
        f"{node.type}D"
        for node in graph
        if node.type in _D_FORMS and any(source and graph[source.node].type == "Const" for source in node.sources)
    }
