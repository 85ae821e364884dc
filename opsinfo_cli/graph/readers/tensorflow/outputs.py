"""Number and dtypes of the outputs of TensorFlow's operators, which a GraphDef does not list.

A rule is a list of words, one for each output: the name of an attribute that holds a dtype, ``Name=default``,
``:dtype`` itself, ``N*word`` as many as attribute ``N`` says, ``@Name`` one for each dtype of a list. Source: the
REGISTER_OP statements of tensorflow/tensorflow tensorflow/core/ops/*.cc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .nodes import Type, Types

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST = 1 << 14
"""The most outputs that an attribute may set."""


def _rules(table: str) -> dict[str, list[str]]:
    found = {}
    for line in table.strip().splitlines():
        words, _, names = line.partition("|")
        found.update(dict.fromkeys(names.split(), words.split()))
    return found


_RULES = _rules(
    """
    :bool | Equal NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr LogicalNot IsFinite IsNan IsInf All
    :bool | Any
    :bool | ApproximateEqual InTopK InTopKV2 LoopCond VarIsInitializedOp IsVariableInitialized QueueIsClosedV2
    :int32 | Rank NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 Bucketize TensorArraySizeV3 TensorListLength
    :int32 :int32 | NonMaxSuppressionV4
    :int32 T :int32 | NonMaxSuppressionV5
    :float32 :float32 :float32 :int32 | CombinedNonMaxSuppression
    :int64 | Where
    :float32 | ResizeBilinear ResizeBicubic ResizeArea CropAndResize ExtractGlimpse Dequantize TensorArrayWriteV3
    :float32 | TensorArrayScatterV3 TensorArraySplitV3
    :float64 | Timestamp
    :string | AsString StringJoin Substr StringLower StringUpper StringStrip ReduceJoin StringFormat RegexReplace
    :string | EncodeBase64
    :uint8 | DecodeJpeg
    :resource | VarHandleOp HashTableV2 MutableHashTableV2 Iterator IteratorV2 StackV2 FIFOQueueV2
    :variant | TensorListReserve TensorListFromTensor EmptyTensorList TensorListSetItem TensorListPushBack
    :variant | TensorListSplit
    :resource :float32 | TensorArrayV3 TensorArrayGradV3
    element_dtype | TensorListGetItem
    element_dtype | TensorListStack TensorListGather
    dtype :int64 | TensorArrayConcatV3
    dtype | Placeholder PlaceholderV2 PlaceholderWithDefault Const ReadVariableOp Variable VariableV2 TensorArrayReadV3
    dtype | TensorArrayGatherV3 ResourceGather ResourceGatherNd RandomStandardNormal RandomUniform TruncatedNormal
    dtype=float32 | StatelessRandomNormal StatelessRandomUniform StatelessTruncatedNormal
    out_type=int32 | Shape Size VariableShape
    N*out_type=int32 | ShapeN
    output_type=int64 | ArgMax ArgMin
    DstT | Cast
    type | Bitcast
    Tout=float32 | Real Imag Angle ComplexAbs
    Tout | RandomUniformInt BatchMatMulV3 LookupTableFindV2
    Tcomplex=complex64 | FFT FFT2D FFT3D IFFT IFFT2D IFFT3D RFFT
    Treal=float32 | IRFFT
    Tidx=int32 | Range
    output_dtype=int64 | Multinomial
    Tparams | Gather GatherV2 GatherNd
    T | Conv2D MatMul Add AddV2 Mul Relu Identity
    num_split*T | Split SplitV
    num*T | Unpack
    num_partitions*T | DynamicPartition
    N*shape_type=int32 | ConcatOffset
    T T | Switch RefSwitch SparseSoftmaxCrossEntropyWithLogits SoftmaxCrossEntropyWithLogits BroadcastGradientArgs Qr
    T T | SelfAdjointEigV2
    T :int32 | Merge RefMerge TopKV2 TopK
    T out_idx=int32 | Unique UniqueV2 ListDiff
    T out_idx=int32 out_idx=int32 | UniqueWithCounts UniqueWithCountsV2
    T Targmax=int64 | MaxPoolWithArgmax
    T :float32 :float32 | QuantizeV2
    T T T | Svd
    num_outs*T | _SwitchN
    T T T T T | FusedBatchNorm FusedBatchNormGrad
    T U=float32 U=float32 U=float32 U=float32 | FusedBatchNormGradV2 FusedBatchNormGradV3
    T U=float32 U=float32 U=float32 U=float32 | FusedBatchNormV2
    T U=float32 U=float32 U=float32 U=float32 U=float32 | FusedBatchNormV3
    T T T T T T T | BlockLSTM LSTMBlockCell
    T T T T | GRUBlockCell
    @T | IdentityN While StatelessWhile _While
    @Tout | PartitionedCall StatefulPartitionedCall If StatelessIf _If Case StatelessCase PyFunc
    @output_types | IteratorGetNext
    @component_types | QueueDequeueV2
    @dtypes | Unstage RestoreV2
    | NoOp Assert ControlTrigger AssignVariableOp AssignAddVariableOp AssignSubVariableOp SaveV2 PrintV2
    """
)

_NAMES = {
    "Switch": ("output_false", "output_true"),
    "Merge": ("output", "value_index"),
    "TopKV2": ("values", "indices"),
    "Unique": ("y", "idx"),
    "UniqueV2": ("y", "idx"),
    "UniqueWithCounts": ("y", "idx", "count"),
    "MaxPoolWithArgmax": ("output", "argmax"),
    "SoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "SparseSoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "TensorArrayV3": ("handle", "flow"),
    "TensorArrayConcatV3": ("value", "lengths"),
    "BroadcastGradientArgs": ("r0", "r1"),
    "NonMaxSuppressionV4": ("selected_indices", "valid_outputs"),
    "NonMaxSuppressionV5": ("selected_indices", "selected_scores", "valid_outputs"),
    "CombinedNonMaxSuppression": ("nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"),
    "BlockLSTM": ("i", "cs", "f", "o", "ci", "co", "h"),
    "LSTMBlockCell": ("i", "cs", "f", "o", "ci", "co", "h"),
    "GRUBlockCell": ("r", "u", "c", "h"),
    "QuantizeV2": ("output", "output_min", "output_max"),
    "Qr": ("q", "r"),
    "Svd": ("s", "u", "v"),
    "SelfAdjointEigV2": ("e", "v"),
    "ListDiff": ("out", "idx"),
}
_BATCH_NORM = ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3")
_NAMES |= dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), _BATCH_NORM)


def output_dtypes(op: str, attributes: Mapping[str, object], given: Callable[[int], str | None]) -> list[str | None]:
    """Return the dtype of each output of an operator; None if unknown.

    :param given: the dtype of an input by its number
    """
    words = _RULES.get(op)
    if words is None:
        for name in ("T", "dtype", "Tout"):
            value = attributes.get(name)
            if isinstance(value, Type):
                return [value.dtype]
            if isinstance(value, Types):
                return list(value.dtypes)
        return [given(0)]
    found: list[str | None] = []
    for word in words:
        found += _word(word, attributes, given)
    return found


def is_known(op: str) -> bool:
    """Whether it is known how many outputs an operator has."""
    return op in _RULES


def _word(word: str, attributes: Mapping[str, object], given: Callable[[int], str | None]) -> list[str | None]:
    if word.startswith("@"):
        value = attributes.get(word[1:])
        return list(value.dtypes) if isinstance(value, Types) else []
    count, star, rest = word.rpartition("*")
    if star:
        number = attributes.get(count)
        return _word(rest, attributes, given) * (min(number, MOST) if isinstance(number, int) and number > 0 else 1)
    if rest.startswith(":"):
        return [rest[1:]]
    name, _, default = rest.partition("=")
    value = attributes.get(name)
    return [value.dtype if isinstance(value, Type) else default or given(0)]


def output_number(op: str, name: str, number: int) -> int | None:
    """Return the number of an output ``name:number``, as functions write it; None if unknown.

    An operator that is not in the table has one result, which may be a list.
    """
    names = _NAMES.get(op)
    if names is None:
        return number
    return names.index(name) + number if name in names else None
