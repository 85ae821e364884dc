"""What CANN's front end makes of each ONNX operator: a table of its plugins, by family.

Source: the plugins ``*_onnx_plugin.cpp`` of hicann/ops-nn e5c3fa93, ops-math c4193324 and ops-cv 6ae87653, their keys
(``OriginOpType``) and the graphs that they build (``ParseOpToGraphFn``).

``PLAIN`` has the operators that become one node. All others are rules with cases: the first one whose conditions hold
counts; if none does, the operator is one node as in ``PLAIN``. Opsets are written as in ``1,8-18``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

_ANY = 1 << 30


# Conditions


class Has(NamedTuple):
    """An input, by its number, or an attribute is given."""

    what: int | str


class Lacks(NamedTuple):
    """It is not given."""

    what: int | str


class Is(NamedTuple):
    """An attribute, or its default in the rule, has a value."""

    attribute: str
    value: int | float | str


class IsNot(NamedTuple):
    """It has another value, or is not given and has no default."""

    attribute: str
    value: int | float | str


class Inputs(NamedTuple):
    """The number of inputs."""

    least: int
    most: int = _ANY


class Outputs(NamedTuple):
    """The number of outputs."""

    least: int
    most: int = _ANY


Condition: TypeAlias = "str | Has | Lacks | Is | IsNot | Inputs | Outputs"
"""A text is the name of one of ``CONDITIONS`` of ``lab.graph.readers.onnx_expansion``."""


# Nodes


class From(NamedTuple):
    """An input of the operator and all after it."""

    input: int


class Copy(NamedTuple):
    """An Identity of an input of the operator; an empty float32 constant if it is not given.

    :param name: of the Identity
    """

    name: str
    input: int


class Constant(NamedTuple):
    """A constant that the plugin adds.

    :param dtype: ``@output`` for that of the operator's output
    :param value: of a list a tensor of one dimension
    :param attribute: the attribute with the value, which is then the default
    """

    dtype: str
    value: int | float | list[int] | list[float]
    attribute: str = ""


class Computed(NamedTuple):
    """A constant whose value is one of ``VALUES`` of ``lab.graph.readers.onnx_expansion``."""

    dtype: str
    name: str


class Tensor(NamedTuple):
    """The tensor in an attribute; a float32 0 if it is not given."""

    attribute: str


Input: TypeAlias = "int | str | From | Copy | Constant | Computed | Tensor | None"
"""An input of the operator by its number, or an output of a node before, as ``name`` or ``name:1``; None for none."""


class Step(NamedTuple):
    """A node that the plugin builds.

    :param name: within the operator; ``*`` for the operator itself
    :param dtype: that of its output, ``@output`` for that of the operator's; empty for that of its first input, or of
        the operator for the operator itself
    """

    type: str
    inputs: tuple[Input, ...]
    name: str
    dtype: str


def step(op_type: str, *inputs: Input, name: str = "*", dtype: str = "") -> Step:
    return Step(op_type, inputs, name, dtype)


# Rules


class Case(NamedTuple):
    """A case of an operator.

    :param results: the outputs of steps that become those of the operator, in order; without them the last step yields
        output 0, and the operator itself the others
    :param is_chain: whether the one step has two inputs, and is repeated for each further input
    :param refused: why the plugin refuses the operator; empty if it does not
    """

    conditions: Sequence[Condition]
    steps: tuple[Step, ...] = ()
    results: Sequence[str] = ()
    is_chain: bool = False
    refused: str = ""


def case(conditions: Sequence[Condition], *steps: Step, results: Sequence[str] = (), is_chain: bool = False) -> Case:
    return Case(conditions, steps, results, is_chain)


def refuse(conditions: Sequence[Condition], reason: str) -> Case:
    return Case(conditions, refused=reason)


class OnnxRule(NamedTuple):
    """What an operator becomes.

    :param cases: the first one whose conditions hold counts
    :param defaults: values of attributes that are not given, for conditions
    :param also: a further domain that has the operator, in its opset 1
    """

    name: str
    opsets: str
    cases: tuple[Case, ...]
    defaults: Mapping[str, int | float | str]
    also: str


def rule(
    name: str,
    opsets: str,
    *cases: Case,
    needs: Sequence[str] = (),
    defaults: Mapping[str, int | float | str] | None = None,
    also: str = "",
) -> OnnxRule:
    """:param needs: attributes without which the plugin refuses the operator"""
    missing = (refuse([Lacks(attribute)], f"the attribute {attribute} is missing") for attribute in needs)
    return OnnxRule(name, opsets, (*missing, *cases), defaults or {}, also)


class Plain(NamedTuple):
    """Operators that become one node with the same inputs.

    :param op_types: by operator
    """

    opsets: str
    op_types: Mapping[str, str]
    domain: str


def plain(opsets: str, same: str, other: Mapping[str, str] | None = None, domain: str = "ai.onnx") -> Plain:
    """:param same: the operators whose name is the op type
    :param other: other operators with their op types
    """
    return Plain(opsets, {**{name: name for name in same.split()}, **(other or {})}, domain)


_NPU = {
    "NPUAddRmsNorm": "AddRmsNorm",
    "NPUAnchorResponseFlags": "AnchorResponseFlags",
    "NPUAntiQuant": "AscendAntiQuantV2",
    "NPUAscendQuantV2": "AscendQuantV2",
    "NPUBatchNms": "BatchMultiClassNonMaxSuppression",
    "NPUBoundingBoxDecode": "BoundingBoxDecode",
    "NPUBoundingBoxEncode": "BoundingBoxEncode",
    "NPUCiou": "CIoU",
    "NPUDiou": "DIoU",
    "NPUDtypeCast": "Cast",
    "NPUDynamicQuant": "DynamicQuant",
    "NPUDynamicQuantV2": "DynamicQuantV2",
    "NPUFastGelu": "FastGelu",
    "NPUFormatCast": "Identity",
    "NPUFusedAddRmsNorm": "FusedAddRmsNorm",
    "NPUGeglu": "GeGluV2",
    "NPUGroupNormSilu": "GroupNormSilu",
    "NPUIou": "Iou",
    "NPUMish": "Mish",
    "NPUNmsWithMask": "NMSWithMask",
    "NPUPsRoiPooling": "PSROIPoolingV2",
    "NPUQuantize": "Quantize",
    "NPURmsNorm": "RmsNorm",
    "NPURoiAlign": "ROIAlign",
    "NPURotaryMul": "RotaryMul",
    "NPUScatter": "ArgMaxGrad",
    "NPUSignBitsPack": "SignBitsPack",
    "NPUSignBitsUnpack": "SignBitsUnpack",
    "NPUSoftmaxCrossEntropyWithLogits": "SoftmaxCrossEntropyWithLogits",
    "NPUYoloBoxesEncode": "YoloBoxesEncode",
}
"""Operators that both the domain of ONNX and that of Huawei have."""

PLAIN = (
    plain(
        "8-18",
        (
            "Abs Acos Acosh AdaCast Add Asin Asinh Atan Atanh BasicGRUInplaceFillWindowCache "
            "BasicLSTMInplaceFillWindowCache BoundingBoxDecode Cast Ceil Celu Col2im Cos Cosh DepthToSpace "
            "Dropout Einsum Elu Equal Erf Exp Expand Flatten Floor GatherElements GlobalAveragePool GlobalLpPool "
            "Greater Identity If LRN LeakyRelu Less Log Mul Neg PRelu PhonyConcat PhonySplit Pow Range Reciprocal "
            "Relu RepeatWithPad Reshape Round Selu Shape Sigmoid Sign Sin Sinh Size Softplus Softsign "
            "SpaceToDepth SparseToDense Sqrt Sub Tan Tanh Tile TransArgb"
        ),
        {
            "And": "LogicalAnd",
            "BatchNormalization": "BatchNorm",
            "CumSum": "Cumsum",
            "Det": "MatrixDeterminant",
            "Div": "RealDiv",
            "GRU": "CommonGRU",
            "GatherND": "GatherNd",
            "Hardmax": "HardMax",
            "InstanceNormalization": "InstanceNorm",
            "LSTM": "CommonLSTM",
            "LessOrEqual": "LessEqual",
            "LogSoftmax": "LogSoftmaxV2",
            "MatMul": "BatchMatMulV2",
            "NPUGroupQuant": "GroupQuant",
            "Not": "LogicalNot",
            "Or": "LogicalOr",
            "Softmax": "SoftmaxV2",
            "Sum": "AccumulateNV2",
            "Where": "SelectV2",
        },
    ),
    plain(
        "11-18",
        (
            "ConcatFromSequence ScatterElements SequenceAt SequenceConstruct SequenceEmpty SequenceErase "
            "SequenceInsert SequenceLength SplitToSequence"
        ),
        {**_NPU, "Pad": "PadV3"},
    ),
    plain(
        "8-16",
        (
            "AdaptiveAvgPool2d AdaptiveMaxPool2d AffineGrid BatchMatMul Bucketize DynSeqOuter GroupNormRelu "
            "MovingSumWithSigmoid RoiExtractor Yolo YoloPreDetection YoloV3DetectionOutputV2 "
            "YoloV5DetectionOutput YoloxBoundingBoxDecode"
        ),
        {
            "BatchMultiClassNMS": "BatchMultiClassNonMaxSuppression",
            "Int8GivenIntTensorFill": "Constant",
            "Int8Quantize": "AscendQuant",
            "PSROIPooling": "PSROIPoolingV2",
            "QuantBatchMatMul": "QuantBatchMatmulV3",
        },
    ),
    plain("8-22", "AscendAntiQuant AscendDequant AscendDequantS16 AscendQuant AscendRequant AscendRequantS16"),
    plain("10-18", "IsInf Mod ReverseSequence TopK", {"Slice": "StridedSliceV2"}),
    plain("18", "BitwiseAnd BitwiseOr BitwiseXor Mish", {"BitwiseNot": "Invert"}),
    plain("17", "ResizeBicubic SwinAttentionFFN SwinAttentionScore SwinTransformerLnQKV"),
    plain(
        "11,16-18", "", {"GridSample3D": "GridSampler3D", "GridSample": "GridSampler2D", "GridSampleV2": "GridSample"}
    ),
    plain("9-18", "Shrink", {"IsNaN": "IsNan", "MeanVarianceNormalization": "MVNV2"}),
    plain("9-16", "DeformableConv2D DeformableOffsets"),
    plain("8-17", "", {"ReduceL1": "LpNormV2", "ReduceL2": "LpNormV2"}),
    plain("8-12", "Squeeze Unsqueeze"),
    plain("13-18", "", {"Squeeze": "SqueezeV3", "Unsqueeze": "UnsqueezeV3"}),
    plain("1,8-18", "", {"MaxRoiPool": "ROIPooling"}),
    plain("1,6,8-18", "HardSigmoid"),
    plain("8-16,18", "LSTMP"),
    plain("12-18", "SoftmaxCrossEntropyLoss"),
    plain("9-11", "", {"Scatter": "ScatterElements"}),
    plain("11-19", "", {"NPUWeightQuantBatchMatmulV2": "WeightQuantBatchMatmulV2"}),
    plain("11", "BlendFaceBgPartTwo"),
    plain("8,12-18", "", {"GreaterOrEqual": "GreaterEqual"}),
    plain("13-16", "Triu"),
    plain("14-18", "HardSwish"),
    plain("15-18", "CastLike"),
    plain(
        "1", "WeightQuantBatchMatmulV2", {**_NPU, "NPUGeluV2": "GeluV2", "NPUGroupQuant": "GroupQuant"}, domain="npu"
    ),
    plain("0", "", {"adaptive_max_pool2d": "AdaptiveMaxPool2d"}, domain="aten"),
)


REFUSED = (
    rule("Selu", "8-18", refuse(["other_selu"], "only the default alpha and gamma are supported")),
    rule(
        "IsInf",
        "10-18",
        refuse([IsNot("detect_negative", 1)], "detect_negative and detect_positive must be 1"),
        refuse([IsNot("detect_positive", 1)], "detect_negative and detect_positive must be 1"),
        defaults={"detect_negative": 1, "detect_positive": 1},
    ),
    rule("GatherND", "8-18", refuse([IsNot("batch_dims", 0)], "batch_dims must be 0"), defaults={"batch_dims": 0}),
    rule(
        "Dropout",
        "8-18",
        refuse([Has(1)], "the inputs ratio and training_mode are not supported"),
        refuse([Has(2)], "the inputs ratio and training_mode are not supported"),
    ),
    rule("Pad", "11-18", refuse([Has(3)], "the input axes is not supported")),
    rule("MeanVarianceNormalization", "9-18", refuse([Outputs(2)], "one output at most")),
    rule("LRN", "8-18", needs=["size"]),
    rule("Cast", "8-18", needs=["to"]),
    rule("Unsqueeze", "8-12", needs=["axes"]),
    rule("Einsum", "8-18", needs=["equation"]),
    rule("DepthToSpace", "8-18", refuse([Is("blocksize", 1)], "blocksize must be 2 or more"), needs=["blocksize"]),
    rule("SpaceToDepth", "8-18", needs=["blocksize"]),
    rule("MaxRoiPool", "1,8-18", needs=["pooled_shape"]),
    rule("Col2im", "8-18", needs=["kernel_size", "dilation", "padding", "stride"]),
    rule("NPURoiAlign", "11-18", needs=["spatial_scale", "pooled_height", "pooled_width"], also="npu"),
    rule("NPUPsRoiPooling", "11-18", needs=["spatial_scale", "output_dim", "group_size"], also="npu"),
    rule("PSROIPooling", "8-16", needs=["spatial_scale", "output_dim", "group_size"]),
    rule("NPUScatter", "11-18", needs=["dim"], also="npu"),
    rule("NPUSignBitsPack", "11-18", needs=["size"], also="npu"),
    rule("NPUSignBitsUnpack", "11-18", needs=["size", "dtype"], also="npu"),
    rule("NPUAnchorResponseFlags", "11-18", needs=["featmap_sizes", "strides", "num_base_anchors"], also="npu"),
    rule("NPUBoundingBoxDecode", "11-18", needs=["max_shapes"], also="npu"),
)
"""Operators of ``PLAIN`` that their plugins, or the inputs that the type has, refuse in some cases."""

CONVOLUTION = (
    rule(
        "Conv",
        "8-18",
        refuse(["odd_pads"], "pads must have an even number of values"),
        refuse(
            [Lacks("kernel_shape"), Lacks("strides"), Lacks("dilations"), Lacks("pads")],
            "needs kernel_shape, pads, strides or dilations",
        ),
        refuse(["3d", "same_padding"], "auto_pad is not supported in three dimensions"),
        refuse([Inputs(0, 1)], "two or three inputs"),
        refuse([Inputs(4)], "two or three inputs"),
        case(
            ["1d"],
            step("Unsqueeze", 0, name="UnsqueezeX"),
            step("Unsqueeze", 1, name="UnsqueezeW"),
            step("Conv2D", "UnsqueezeX", "UnsqueezeW", 2),
            step("Squeeze", "*", name="SqueezeY"),
        ),
        case(["3d"], step("Conv3D", 0, 1, 2)),
        case([], step("Conv2D", 0, 1, 2)),
    ),
    rule(
        "ConvTranspose",
        "8-18",
        refuse(["odd_pads"], "pads must have an even number of values"),
        refuse(["short_output"], "output_shape and output_padding need a value for each dimension, two at least"),
        refuse([Inputs(0, 1)], "two or three inputs"),
        refuse([Inputs(4)], "two or three inputs"),
        case(
            ["1d"],
            step("Unsqueeze", 0, name="UnsqueezeX"),
            step("Unsqueeze", 1, name="UnsqueezeW"),
            step("Conv2DTranspose", Constant("int64", [0, 0, 0, 0]), "UnsqueezeX", "UnsqueezeW", 2),
            step("Squeeze", "*", name="SqueezeY"),
        ),
        case(["3d"], step("Conv3DTranspose", Constant("int64", [0, 0, 0, 0, 0]), 0, 1, 2)),
        case([], step("Conv2DTranspose", Constant("int64", [0, 0, 0, 0]), 0, 1, 2)),
        needs=["kernel_shape"],
    ),
    rule(
        "Int8Conv",
        "8-16",
        case(
            [],
            step("Conv2D", 0, 1, 2, dtype="int32"),
            step("AscendDequant", "*", Computed("float16", "scale"), name="Deq", dtype="float16"),
            step("AscendQuant", "Deq", name="Quant", dtype="int8"),
        ),
    ),
    rule(
        "Int8ConvRelu",
        "8-16",
        case(
            [],
            step("Conv2D", 0, 1, 2, dtype="int32"),
            step("AscendDequant", "*", Computed("float32", "scale"), name="Deq", dtype="float16"),
            step("Relu", "Deq", name="Relu"),
            step("AscendQuant", "Relu", name="Quant", dtype="int8"),
        ),
    ),
    rule(
        "Int8FC",
        "8-16",
        refuse([Inputs(0, 1)], "two or three inputs"),
        refuse([Inputs(4)], "two or three inputs"),
        case(
            [],
            step("FullyConnection", 0, 1, 2, dtype="int32"),
            step("AscendDequant", "*", Computed("float16", "scale"), name="Deq", dtype="float16"),
            step("AscendQuant", "Deq", name="Quant", dtype="int8"),
        ),
    ),
    rule(
        "NPUDeformableConv2d",
        "9-16",
        case(
            [],
            step("Identity", 0, name="x"),
            step("Identity", 1, name="filter"),
            step("Identity", 2, name="offsets"),
            step("Identity", 3, name="bias"),
            step("DeformableConv2D", "x", "filter", "offsets", "bias"),
        ),
        needs=["strides", "paddings"],
        also="npu",
    ),
    rule("Corr", "8-16", case([], step("Correlation", 0, 1))),
)
"""conv_onnx_plugin.cpp, conv_transpose_onnx_plugin.cpp, int8_conv*_onnx_plugin.cpp, int8_fc_onnx_plugin.cpp,
npu_deformable_conv2d_onnx_plugin.cpp, correlation_onnx_plugin.cpp"""

_UNPOOL = (
    step("Reshape", "identity1", Constant("int32", [-1]), name="reshape1"),
    step("Reshape", 1, Constant("int32", [-1]), name="reshape2"),
    step(
        "StridedSlice",
        "reshape1",
        Constant("int32", [0]),
        Constant("int32", [1]),
        Constant("int32", [1]),
        name="StridedSlice1",
    ),
    step("ZerosLike", "StridedSlice1", name="zeroslike1"),
    step("BroadcastTo", "zeroslike1", "identity2", name="BroadcastTo1"),
    step("Reshape", "BroadcastTo1", Constant("int32", [-1]), name="reshape3"),
    step("ScatterElements", "reshape3", "reshape2", "reshape1"),
    step("Reshape", "*", "identity2", name="reshape4"),
)
"""The last nodes of MaxUnpool."""

POOLING = (
    rule(
        "AveragePool",
        "8-18",
        refuse(["odd_pads"], "pads must have an even number of values"),
        refuse(["0d"], "kernel_shape must have one to three values"),
        case(
            ["1d"],
            step("Unsqueeze", 0, name="UnsqueezeX"),
            step("AvgPoolV2", "UnsqueezeX"),
            step("Squeeze", "*", name="SqueezeAvgpoolv2"),
        ),
        case(["3d"], step("AvgPool3D", 0)),
        case([], step("AvgPoolV2", 0)),
    ),
    rule(
        "MaxPool",
        "8-18",
        refuse(["odd_pads"], "pads must have an even number of values"),
        refuse(["0d"], "kernel_shape must have one to three values"),
        refuse([Outputs(2)], "the output Indices is not supported"),
        refuse([Is("storage_order", 1)], "storage_order must be 0"),
        case(
            ["1d", "large", "padded"],
            step("Unsqueeze", 0, name="UnsqueezeX"),
            step("TransposeD", "UnsqueezeX", name="permuteIn"),
            step("PadV2", "permuteIn", Computed("int32", "paddings"), Constant("float32", -65504.0), name="PadV2"),
            step("MaxPool", "PadV2"),
            step("TransposeD", "*", name="permuteOut"),
            step("Squeeze", "permuteOut", name="SqueezeTranspose"),
        ),
        case(
            ["1d", "large"],
            step("Unsqueeze", 0, name="UnsqueezeX"),
            step("TransposeD", "UnsqueezeX", name="permuteIn"),
            step("MaxPool", "permuteIn"),
            step("TransposeD", "*", name="permuteOut"),
            step("Squeeze", "permuteOut", name="SqueezeTranspose"),
        ),
        case(
            ["1d"],
            step("Unsqueeze", 0, name="UnsqueezeX"),
            step("MaxPoolV3", "UnsqueezeX"),
            step("Squeeze", "*", name="SqueezeMaxpoolv3"),
        ),
        case(["3d"], step("MaxPool3D", 0)),
        case(
            ["large", "padded"],
            step("TransposeD", 0, name="permuteIn"),
            step("PadV2", "permuteIn", Computed("int32", "paddings"), Constant("float32", -65504.0), name="PadV2"),
            step("MaxPool", "PadV2"),
            step("TransposeD", "*", name="permuteOut"),
        ),
        case(
            ["large"],
            step("TransposeD", 0, name="permuteIn"),
            step("MaxPool", "permuteIn"),
            step("TransposeD", "*", name="permuteOut"),
        ),
        case([], step("MaxPoolV3", 0)),
        defaults={"storage_order": 0},
    ),
    rule(
        "LpPool",
        "8-18",
        refuse(["odd_pads"], "pads must have an even number of values"),
        refuse(["0d"], "kernel_shape must have one to three values"),
        case(
            ["1d", "large", "padded"],
            step("Abs", 0, name="Abs"),
            step("Power", "Abs", name="Power_0"),
            step("Unsqueeze", "Power_0", name="UnsqueezeX"),
            step("Transpose", "UnsqueezeX", Constant("int32", [0, 2, 3, 1]), name="permuteIn"),
            step("PadV2", "permuteIn", Computed("int32", "paddings"), Constant("int32", 0), name="PadV2"),
            step("AvgPool", "PadV2"),
            step("Transpose", "*", Constant("int32", [0, 3, 1, 2]), name="permuteOut"),
            step("Squeeze", "permuteOut", name="Squeeze"),
            step("Muls", "Squeeze", name="Muls"),
            step("Power", "Muls", name="Power_1"),
        ),
        case(
            ["1d", "large"],
            step("Abs", 0, name="Abs"),
            step("Power", "Abs", name="Power_0"),
            step("Unsqueeze", "Power_0", name="UnsqueezeX"),
            step("Transpose", "UnsqueezeX", Constant("int32", [0, 2, 3, 1]), name="permuteIn"),
            step("AvgPool", "permuteIn"),
            step("Transpose", "*", Constant("int32", [0, 3, 1, 2]), name="permuteOut"),
            step("Squeeze", "permuteOut", name="Squeeze"),
            step("Muls", "Squeeze", name="Muls"),
            step("Power", "Muls", name="Power_1"),
        ),
        case(
            ["1d"],
            step("Abs", 0, name="Abs"),
            step("Power", "Abs", name="Power_0"),
            step("Unsqueeze", "Power_0", name="UnsqueezeX"),
            step("AvgPoolV2", "UnsqueezeX"),
            step("Squeeze", "*", name="Squeeze"),
            step("Muls", "Squeeze", name="Muls"),
            step("Power", "Muls", name="Power_1"),
        ),
        case(
            ["3d"],
            step("Abs", 0, name="Abs"),
            step("Power", "Abs", name="Power_0"),
            step("AvgPool3D", "Power_0"),
            step("Muls", "*", name="Muls"),
            step("Power", "Muls", name="Power_1"),
        ),
        case(
            ["large", "padded"],
            step("Abs", 0, name="Abs"),
            step("Power", "Abs", name="Power_0"),
            step("Transpose", "Power_0", Constant("int32", [0, 2, 3, 1]), name="permuteIn"),
            step("PadV2", "permuteIn", Computed("int32", "paddings"), Constant("int32", 0), name="PadV2"),
            step("AvgPool", "PadV2"),
            step("Transpose", "*", Constant("int32", [0, 3, 1, 2]), name="permuteOut"),
            step("Muls", "permuteOut", name="Muls"),
            step("Power", "Muls", name="Power_1"),
        ),
        case(
            ["large"],
            step("Abs", 0, name="Abs"),
            step("Power", "Abs", name="Power_0"),
            step("Transpose", "Power_0", Constant("int32", [0, 2, 3, 1]), name="permuteIn"),
            step("AvgPool", "permuteIn"),
            step("Transpose", "*", Constant("int32", [0, 3, 1, 2]), name="permuteOut"),
            step("Muls", "permuteOut", name="Muls"),
            step("Power", "Muls", name="Power_1"),
        ),
        case(
            [],
            step("Abs", 0, name="Abs"),
            step("Power", "Abs", name="Power_0"),
            step("AvgPoolV2", "Power_0"),
            step("Muls", "*", name="Muls"),
            step("Power", "Muls", name="Power_1"),
        ),
    ),
    rule("GlobalMaxPool", "8-18", case([], step("ReduceMax", 0, Constant("int32", [-1, 2])))),
    rule(
        "MaxUnpool",
        "9,11-18",
        refuse(["other_pads"], "pads must have two values for each of kernel_shape"),
        case(
            [Inputs(2, 2)],
            step("Identity", 0, name="identity1"),
            step("Shape", "identity1", name="shape1", dtype="int32"),
            step("Sub", "shape1", Computed("int32", "unpool_sub"), name="sub1"),
            step("Mul", "sub1", Computed("int32", "unpool_strides"), name="mul1"),
            step("Sub", "mul1", Computed("int32", "unpool_rest"), name="sub2"),
            step("Identity", "sub2", name="identity2"),
            *_UNPOOL,
        ),
        case(
            [],
            step("Identity", 0, name="identity1"),
            step("Identity", 2, name="identity2"),
            *_UNPOOL,
        ),
        needs=["kernel_shape"],
    ),
    rule(
        "Int8Dequantize",
        "8-16",
        case([], step("AscendAntiQuant", 0, name="antiquant", dtype="float16"), step("MaxPool", "antiquant")),
    ),
)
"""average_pool, max_pool, lppool, global_max_pool, maxunpool and int8_dequantize_onnx_plugin.cpp"""

_REDUCTIONS = ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceLogSumExp")

REDUCTION = (
    *(rule(name, "8-12", case([], step(name, 0, Constant("int32", [], "axes")))) for name in _REDUCTIONS),
    *(
        rule(
            name,
            "13-18",
            case([Inputs(1, 1)], step(name, 0, Constant("int32", [], "axes"))),
            case([Inputs(2, 2)], step(name, 0, 1)),
            refuse([], "one or two inputs"),
        )
        for name in _REDUCTIONS
    ),
    rule(
        "ReduceLogSum",
        "8-12",
        case([Has("axes")], step("ReduceSum", 0, Constant("int32", [], "axes")), step("Log", "*", name="Log")),
        case([], step("ReduceSum", 0, Constant("int32", [])), step("Log", "*", name="Log")),
    ),
    rule(
        "ReduceLogSum",
        "13-18",
        case([Inputs(1, 1)], step("ReduceSum", 0, Constant("int32", [], "axes")), step("Log", "*", name="Log")),
        case([Inputs(2, 2)], step("ReduceSum", 0, 1), step("Log", "*", name="Log")),
        refuse([], "one or two inputs"),
    ),
    rule(
        "ReduceSumSquare",
        "1,8-18",
        refuse([Has(1)], "the input axes is not supported"),
        case([], step("SquareSumV1", 0)),
    ),
    rule(
        "ArgMax",
        "8-18",
        refuse([Is("select_last_index", 1)], "select_last_index must be 0"),
        case(
            [Is("keepdims", 1)],
            step("ArgMaxV2", 0, Constant("int32", 0, "axis")),
            step("ExpandDims", "*", Constant("int32", 0, "axis"), name="ExpandDims"),
        ),
        case([], step("ArgMaxV2", 0, Constant("int32", 0, "axis"))),
        defaults={"select_last_index": 0, "keepdims": 1},
    ),
    rule(
        "ArgMin",
        "8-18",
        refuse([Is("select_last_index", 1)], "select_last_index must be 0"),
        case(
            [Is("keepdims", 1)],
            step("ArgMin", 0, Constant("int32", 0, "axis"), dtype="int32"),
            step("ExpandDims", "*", Constant("int32", 0, "axis"), name="ExpandDims", dtype="int32"),
        ),
        case([], step("ArgMin", 0, Constant("int32", 0, "axis"), dtype="int32")),
        defaults={"select_last_index": 0, "keepdims": 1},
    ),
    rule(
        "LpNormalization",
        "1,8-18",
        case(
            [],
            step("Identity", 0, name="Identity"),
            step("LpNormV2", "Identity"),
            step("Div", "Identity", "*", name="Div"),
        ),
    ),
)
"""reduce_*_onnx_plugin.cpp, argmax and argmin_onnx_plugin.cpp, lp_normalization_onnx_plugin.cpp"""


def _layer_norm(bias: Input, statistics: Sequence[Step]) -> tuple[Step, ...]:
    """Return the nodes of LayerNormalization.

    :param statistics: the nodes that yield mean and deviation
    """
    return (
        step("Identity", 0, name="identity_0"),
        step("Shape", "identity_0", name="shape", dtype="int32"),
        step("Identity", 1, name="identity_1"),
        step("BroadcastTo", "identity_1", "shape", name="broadcastto1"),
        step("Identity", bias, name="identity_2"),
        step("BroadcastTo", "identity_2", "shape", name="broadcastto2"),
        step("LayerNorm", "identity_0", "broadcastto1", "broadcastto2"),
        step("Adds", "*:2", name="Adds"),
        step("Rsqrt", "Adds", name="Rsqrt"),
        *statistics,
    )


_NO_BIAS = Constant("float32", 0.0)
_SAME_DTYPE = (step("Identity", "Rsqrt", name="cast1"), step("Identity", "*:1", name="cast2"))
_FLOAT32 = (
    step("Identity", "Rsqrt", name="identity_3"),
    step("Cast", "identity_3", name="cast1", dtype="float32"),
    step("Identity", "*:1", name="identity_4"),
    step("Cast", "identity_4", name="cast2", dtype="float32"),
)
_MEAN_LAST = ("*", "cast2", "cast1")

ARITHMETIC = (
    rule(
        "Gemm",
        "8-18",
        case([Inputs(3, 3), Is("alpha", 1), Is("beta", 1)], step("MatMulV2", 0, 1), step("Add", "*", 2, name="add")),
        case(
            [Inputs(3, 3)],
            step("Muls", 2, name="Muls2"),
            step("MatMulV2", 0, 1),
            step("Muls", "*", name="Muls1"),
            step("Add", "Muls1", "Muls2", name="add"),
        ),
        case([], step("MatMulV2", 0, 1)),
        defaults={"alpha": 1, "beta": 1},
    ),
    rule(
        "LayerNormalization",
        "17-18",
        case([Is("stash_type", 0), Inputs(2, 2)], *_layer_norm(_NO_BIAS, _SAME_DTYPE), results=_MEAN_LAST),
        case([Is("stash_type", 0)], *_layer_norm(2, _SAME_DTYPE), results=_MEAN_LAST),
        case([Inputs(2, 2)], *_layer_norm(_NO_BIAS, _FLOAT32), results=_MEAN_LAST),
        case([], *_layer_norm(2, _FLOAT32), results=_MEAN_LAST),
        defaults={"stash_type": 1},
    ),
    rule(
        "Clip",
        "8-10",
        case(
            [],
            step("Cast", 0, name="cast", dtype="float32"),
            step(
                "ClipByValue", "cast", Constant("float32", -3.402823e38, "min"), Constant("float32", 3.402823e38, "max")
            ),
        ),
    ),
    rule(
        "Clip",
        "11-18",
        refuse([Lacks(1), Lacks(2)], "min or max must be given"),
        case([Lacks(2)], step("Maximum", 0, 1)),
        case([Lacks(1)], step("Minimum", 0, 2)),
        case([], step("ClipByValue", 0, 1, 2)),
    ),
    rule("Max", "8-18", case([Inputs(1, 1)], step("Identity", 0)), case([], step("Maximum", 0, 1), is_chain=True)),
    rule("Min", "8-18", case([Inputs(1, 1)], step("Identity", 0)), case([], step("Minimum", 0, 1), is_chain=True)),
    rule("Mean", "8-18", case([], step("AccumulateNV2", From(0)), step("Muls", "*", name="Muls"))),
    rule(
        "Xor",
        "8-18",
        case(
            [],
            step("Cast", 0, name="Cast_a", dtype="int32"),
            step("Cast", 1, name="Cast_b", dtype="int32"),
            step("BitwiseXor", "Cast_a", "Cast_b", dtype="int32"),
            step("Cast", "*", name="Cast_out"),
        ),
    ),
    rule(
        "BitShift",
        "11-18",
        case([Is("direction", "LEFT")], step("LeftShift", 0, 1)),
        case([Is("direction", "RIGHT")], step("RightShift", 0, 1)),
        refuse([], "direction must be LEFT or RIGHT"),
    ),
    rule(
        "ThresholdedRelu",
        "10-18",
        case(
            [],
            step("Identity", 0, name="identity"),
            step("Threshold", "identity"),
            step("Mul", "identity", "*", name="mul"),
        ),
    ),
)
"""gemm, layer_normalization, clip, max, min, mean, xor, bitshift and threshold_relu_onnx_plugin.cpp"""

SHAPE = (
    rule(
        "Concat", "8-18", case([Inputs(1, 1)], step("Identity", 0)), case([], step("ConcatD", From(0))), needs=["axis"]
    ),
    rule(
        "Pad",
        "8-10",
        refuse(["odd_pads"], "pads must have an even number of values"),
        case([Is("mode", "reflect")], step("MirrorPad", 0, Computed("int32", "pads"))),
        case([], step("PadV3", 0, Computed("int32", "pads"), Constant("float32", 0.0, "value"))),
        needs=["pads"],
    ),
    rule(
        "Split",
        "8-18",
        refuse([Has("split"), "wrong_split"], "as many values of split as outputs"),
        refuse([Has("num_outputs"), "wrong_outputs"], "num_outputs is not the number of outputs"),
        case(
            [Inputs(1, 1), Has("split")],
            step("SplitV", 0, Constant("int64", [], "split"), Constant("int32", 0, "axis")),
        ),
        refuse([Inputs(1, 1), Has("num_outputs"), "uneven"], "the axis cannot be divided evenly"),
        case(
            [Inputs(1, 1), Has("num_outputs")],
            step("SplitV", 0, Computed("int64", "even"), Constant("int32", 0, "axis")),
        ),
        case([Inputs(1, 1)], step("Split", Constant("int32", 0, "axis"), 0)),
        case([], step("SplitV", 0, 1, Constant("int32", 0, "axis"))),
    ),
    rule(
        "Slice",
        "8-9",
        case(
            [Has("axes")],
            step(
                "StridedSliceV2",
                0,
                Constant("int64", [], "starts"),
                Constant("int64", [], "ends"),
                Constant("int64", [], "axes"),
            ),
        ),
        case([], step("StridedSliceV2", 0, Constant("int64", [], "starts"), Constant("int64", [], "ends"))),
        needs=["starts", "ends"],
    ),
    rule(
        "NPUSlice",
        "11-18",
        case([], step("Slice", 0, Constant("int32", [], "offsetss"), Constant("int32", [], "sizes"))),
        also="npu",
    ),
    rule(
        "NPUIndexing",
        "11-18",
        case(
            [],
            step(
                "StridedSlice",
                0,
                Constant("int64", [], "begins"),
                Constant("int64", [], "ends"),
                Constant("int64", [], "strides"),
            ),
        ),
        also="npu",
    ),
    rule("Transpose", "8-18", case([], step("Transpose", 0, Constant("int32", [], "perm"))), needs=["perm"]),
    rule("Int8Transpose", "8-16", case([], step("Transpose", 0, Constant("int64", [], "axes")))),
    rule("Trilu", "14-18", case([], step("Trilu", 0, 1))),
    rule("ConstantOfShape", "8-18", case([], step("Fill", 0, Tensor("value")))),
    rule(
        "EyeLike",
        "8-18",
        case(
            [Lacks("dtype")],
            step("Shape", 0, name="shape", dtype="int32"),
            step("Split", Constant("int32", 0), "shape", name="split", dtype="int32"),
            step("Adds", "split", name="add", dtype="int32"),
            step("Fill", "add", Constant("int32", 1), name="fill", dtype="int32"),
            step("Cast", "fill", name="cast", dtype="float32"),
            step("Squeeze", "split", name="squeeze", dtype="int32"),
            step("Squeeze", "split:1", name="squeeze1", dtype="int32"),
            step(
                "MatrixDiagV2",
                "cast",
                Constant("int32", 0, "k"),
                "squeeze",
                "squeeze1",
                Constant("float32", 0),
                dtype="float32",
            ),
        ),
        case(
            [],
            step("Shape", 0, name="shape", dtype="int32"),
            step("Split", Constant("int32", 0), "shape", name="split", dtype="int32"),
            step("Adds", "split", name="add", dtype="int32"),
            step("Fill", "add", Constant("int32", 1), name="fill", dtype="int32"),
            step("Cast", "fill", name="cast", dtype="@output"),
            step("Squeeze", "split", name="squeeze", dtype="int32"),
            step("Squeeze", "split:1", name="squeeze1", dtype="int32"),
            step("MatrixDiagV2", "cast", Constant("int32", 0, "k"), "squeeze", "squeeze1", Constant("@output", 0)),
        ),
    ),
    rule(
        "Resize",
        "10",
        case(
            [Is("mode", "linear")],
            step("Identity", 0, name="Identity"),
            step("Shape", "Identity", name="Shape", dtype="int32"),
            step("Cast", "Shape", name="Cast0", dtype="float32"),
            step("Mul", "Cast0", 1, name="Mul"),
            step("Cast", "Mul", name="Cast1", dtype="int32"),
            step("Resize", "Identity", Constant("float32", 0.0), Constant("float32", 0.0), "Cast1"),
        ),
        case(
            ["nearest"],
            step("Identity", 0, name="Identity"),
            step("Shape", "Identity", name="Shape", dtype="int32"),
            step("Cast", "Shape", name="Cast0", dtype="float32"),
            step("Mul", "Cast0", 1, name="Mul"),
            step("Cast", "Mul", name="Cast1", dtype="int32"),
            step("Slice", "Cast1", Constant("int32", 2), Constant("int32", 2), name="Slice"),
            step("ResizeNearestNeighborV2", "Identity", "Slice"),
        ),
        refuse([], "mode must be nearest or linear"),
    ),
    rule(
        "Resize",
        "11-18",
        refuse([Inputs(0, 2)], "three or four inputs"),
        case(
            ["nearest", Has(3)],
            step("Identity", 0, name="x"),
            step("Identity", 3, name="sizes"),
            step("Cast", "sizes", name="Cast0", dtype="int32"),
            step("Slice", "Cast0", Constant("int32", 2), Constant("int32", 2), name="Slice"),
            step("ResizeNearestNeighborV2", "x", "Slice"),
        ),
        case(
            ["nearest"],
            step("Identity", 0, name="x"),
            step("Identity", 2, name="scales"),
            step("Shape", "x", name="Shape", dtype="int32"),
            step("Cast", "Shape", name="Cast0", dtype="float32"),
            step("Mul", "Cast0", "scales", name="Mul"),
            step("Cast", "Mul", name="Cast1", dtype="int32"),
            step("Slice", "Cast1", Constant("int32", 2), Constant("int32", 2), name="Slice"),
            step("ResizeNearestNeighborV2", "x", "Slice"),
        ),
        refuse(["not_interpolating"], "mode must be nearest, linear or cubic"),
        case(
            [Has(3)],
            step("Identity", 0, name="x"),
            step("Identity", 3, name="sizes"),
            step("Cast", "sizes", name="Cast0", dtype="int32"),
            step("Resize", "x", Copy("roi", 1), Copy("scales", 2), "Cast0"),
        ),
        case(
            [],
            step("Identity", 0, name="x"),
            step("Identity", 2, name="scales"),
            step("Shape", "x", name="Shape", dtype="int32"),
            step("Cast", "Shape", name="Cast0", dtype="float32"),
            step("Mul", "Cast0", "scales", name="Mul"),
            step("Cast", "Mul", name="Cast1", dtype="int32"),
            step("Resize", "x", Copy("roi", 1), "scales", "Cast1"),
        ),
    ),
    rule(
        "Upsample",
        "8-9,11-16",
        case(["nearest"], step("Resize", 0, Constant("float32", [0.0] * 8), 1)),
        case([Is("mode", "linear")], step("Resize", 0, Constant("float32", [0.0] * 8), 1)),
        refuse([], "mode must be nearest or linear"),
    ),
)
"""concat, pad, split, slice, transpose, trilu, constantofshape, eyelike, resize and upsample_onnx_plugin.cpp"""

INDEX = (
    rule("Gather", "8-18", case([], step("GatherV2", 0, 1, Constant("int32", 0, "axis")))),
    rule(
        "Compress",
        "9-18",
        case(
            [Has("axis")],
            step("Where", 1, name="condition", dtype="int64"),
            step("Squeeze", "condition", name="squeeze_where"),
            step("GatherV2", 0, "squeeze_where", Constant("int32", 0, "axis")),
        ),
        case(
            [],
            step("Where", 1, name="condition", dtype="int64"),
            step("Squeeze", "condition", name="squeeze_where"),
            step("Flatten", 0, name="flatten"),
            step("Squeeze", "flatten", name="squeeze"),
            step("GatherV2", "squeeze", "squeeze_where", Constant("int32", 0)),
        ),
    ),
    rule(
        "ScatterND",
        "8-18",
        case(
            [Is("reduction", "none")],
            step("TensorMove", 0, name="TensorMove"),
            step("ScatterNdUpdate", "TensorMove", 1, 2),
        ),
        case(
            [Is("reduction", "add")], step("TensorMove", 0, name="TensorMove"), step("ScatterNdAdd", "TensorMove", 1, 2)
        ),
        case(
            [Is("reduction", "max")], step("TensorMove", 0, name="TensorMove"), step("ScatterNdMax", "TensorMove", 1, 2)
        ),
        case(
            [Is("reduction", "min")], step("TensorMove", 0, name="TensorMove"), step("ScatterNdMin", "TensorMove", 1, 2)
        ),
        refuse([], "reduction is not supported"),
        defaults={"reduction": "none"},
    ),
    rule("NonZero", "9-18", case([], step("NonZero", 0))),
    rule("TopK", "8-9", case([], step("TopK", 0, Constant("int32", 1, "k"))), needs=["k"]),
    rule(
        "Unique",
        "11-18",
        case(
            [],
            step("UniqueWithCountsAndSorting", 0),
            step("Shape", "*", name="shape", dtype="int32"),
            step("Empty", "shape", name="empty", dtype="int64"),
            results=["*", "empty", "*:1", "*:2"],
        ),
    ),
    rule(
        "OneHot",
        "9-18",
        case(
            [],
            step("Split", Constant("int32", 0), 2, name="Split", dtype="@output"),
            step("Identity", 0, name="identity_1"),
            step("Identity", 1, name="identity_2"),
            step("Add", "identity_1", "identity_2", name="Add"),
            step("Mod", "Add", "identity_2", name="Mod"),
            step("OneHot", "Mod", "identity_2", "Split:1", "Split"),
        ),
    ),
    rule(
        "NPUOneHot",
        "11-18",
        case(
            [],
            step("Cast", 0, name="Cast_data0", dtype="int32"),
            step("Cast", Constant("int32", 1, "on_value"), name="on", dtype="float32"),
            step("Cast", Constant("int32", 0, "off_value"), name="off", dtype="float32"),
            step("OneHotD", "Cast_data0", "on", "off"),
        ),
        needs=["depth"],
        also="npu",
    ),
)
"""gather, compress, scatter_nd, non_zero, topk, unique, onehot and one_hot_d_onnx_plugin.cpp. ScatterND is in
similar_opp_onnx_plugin.cpp too, as TensorScatterUpdate: the compiler's answers have ScatterNdUpdate."""

RANDOM = (
    rule(
        "RandomNormal",
        "8-18",
        refuse(["not_float_dtype"], "dtype must be float32, float16 or float64"),
        case(
            [],
            step("RandomStandardNormal", Constant("int32", [], "shape")),
            step("Muls", "*", name="mul"),
            step("Adds", "mul", name="add"),
        ),
        needs=["shape"],
        defaults={"dtype": 1},
    ),
    rule(
        "RandomUniform",
        "8-18",
        case(
            [Is("dtype", 6)],
            step(
                "RandomUniformInt",
                Constant("int32", [], "shape"),
                Constant("int32", 0, "low"),
                Constant("int32", 1, "high"),
            ),
        ),
        case(
            [Is("dtype", 2)],
            step(
                "RandomUniformInt",
                Constant("int32", [], "shape"),
                Constant("uint8", 0, "low"),
                Constant("uint8", 1, "high"),
            ),
        ),
        refuse(["not_half_dtype"], "dtype must be float32, float16, int32 or uint8"),
        case(
            [],
            step("RandomUniform", Constant("int32", [], "shape")),
            step("Muls", "*", name="Muls"),
            step("Adds", "Muls", name="Adds"),
        ),
        defaults={"dtype": 1},
    ),
    rule(
        "RandomNormalLike",
        "8-18",
        refuse(["not_float_dtype"], "dtype must be float32, float16 or float64"),
        case(
            [],
            step("Shape", 0, name="shape", dtype="int32"),
            step("RandomStandardNormal", "shape"),
            step("Cast", Constant("float32", 1.0, "scale"), name="cast_scale", dtype="@output"),
            step("Cast", Constant("float32", 0.0, "mean"), name="cast_mean", dtype="@output"),
            step("Mul", "*", "cast_scale", name="mul"),
            step("Add", "mul", "cast_mean", name="add"),
        ),
    ),
    rule(
        "RandomUniformLike",
        "8-18",
        refuse(["not_float_dtype"], "dtype must be float32, float16 or float64"),
        case(
            [],
            step("Shape", 0, name="shape", dtype="int32"),
            step("RandomUniform", "shape"),
            step("Cast", Computed("float32", "range"), name="cast_scale", dtype="@output"),
            step("Cast", Constant("float32", 0.0, "low"), name="cast_mean", dtype="@output"),
            step("Mul", "*", "cast_scale", name="mul"),
            step("Add", "mul", "cast_mean", name="add"),
        ),
    ),
    rule(
        "Bernoulli",
        "15-18",
        case([], step("StatelessBernoulliV2", 0, Constant("int64", -1, "seed"), Constant("int64", 0))),
    ),
    rule("Multinomial", "8-18", case([], step("Multinomial", 0, Constant("int32", 1), dtype="int32"))),
)
"""random_normal, random_uniform, random_*_like, bernoulli and multinomial_onnx_plugin.cpp. The last one overwrites
the attributes that it reads."""

DETECTION = (
    rule(
        "NonMaxSuppression",
        "10-18",
        refuse([Inputs(0, 1)], "two to five inputs"),
        refuse([Inputs(6)], "two to five inputs"),
        case([], step("NonMaxSuppressionV6", From(0), dtype="int32"), step("Cast", "*", name="Cast", dtype="int64")),
    ),
    rule(
        "RoiAlign",
        "8-18",
        case(
            [],
            step("Unsqueeze", 2, name="unsqueeze"),
            step("Cast", "unsqueeze", name="cast", dtype="float32"),
            step("Cast", 1, name="cast1", dtype="float32"),
            step("Concat", Constant("int32", 1), "cast", "cast1", name="concat", dtype="float32"),
            step("ROIAlign", 0, "concat"),
        ),
    ),
    rule(
        "RoiAlignRotated",
        "11-18",
        case(
            [],
            step("Transpose", 0, Constant("int32", [0, 2, 3, 1]), name="Transpose_0"),
            step("Transpose", 1, Constant("int32", [1, 0]), name="Transpose_1"),
            step("RoiAlignRotated", "Transpose_0", "Transpose_1"),
            step("Transpose", "*", Constant("int32", [0, 3, 1, 2]), name="Transpose_2"),
        ),
        needs=["output_height", "output_width", "spatial_scale"],
        also="mmdeploy",
    ),
    rule(
        "NMSRotated",
        "11-18",
        case(
            [Inputs(2, 2)],
            step("Mul", Constant("float32", [1.0, 1.0, 1.0, 1.0, 57.29578]), 0, name="mul"),
            step("Identity", 1, name="identity"),
            step("Shape", "identity", name="shape", dtype="int32"),
            step("Empty", "shape", name="empty", dtype="int64"),
            step("RotatedNMS", "mul", "identity", "empty"),
        ),
        case(
            [Inputs(3, 3)],
            step("Mul", Constant("float32", [1.0, 1.0, 1.0, 1.0, 57.29578]), 0, name="mul"),
            step("RotatedNMS", "mul", 1, 2),
        ),
        refuse([], "two or three inputs"),
        needs=["iou_threshold"],
        also="mmdeploy",
    ),
    rule(
        "NPUGiou",
        "11-18",
        case([], step("GIoU", 0, 1), step("Transpose", "*", Constant("int32", [1, 0]), name="Transpose")),
        also="npu",
    ),
    rule(
        "NPUGridAssignPositive",
        "11-18",
        case([], step("GridAssignPositive", From(0), Computed("int32", "num_gts"))),
        also="npu",
    ),
    rule(
        "NPUNmsV4",
        "11-18",
        case([], step("NonMaxSuppressionV4", 0, 1, Constant("int32", 0, "max_output_size"), 2, 3)),
        also="npu",
    ),
    rule(
        "NPURotatedIou",
        "11-18",
        case(
            [],
            step("Transpose", 0, Constant("int32", [0, 2, 1]), name="Transpose_0"),
            step("Transpose", 1, Constant("int32", [0, 2, 1]), name="Transpose_1"),
            step("RotatedIou", "Transpose_0", "Transpose_1"),
        ),
        also="npu",
    ),
    rule(
        "NPURotatedOverlaps",
        "11-18",
        case(
            [],
            step("Transpose", 0, Constant("int32", [0, 2, 1]), name="Transpose_0"),
            step("Transpose", 1, Constant("int32", [0, 2, 1]), name="Transpose_1"),
            step("RotatedOverlaps", "Transpose_0", "Transpose_1"),
        ),
        also="npu",
    ),
    rule(
        "Col2Im",
        "18",
        refuse(["not_pairs"], "dilations, pads and strides must have two values each"),
        case([], step("Cast", 1, name="cast", dtype="int32"), step("Col2ImV2", 0, "cast", 2)),
        needs=["dilations", "pads", "strides"],
    ),
)
"""Plugins of hicann/ops-cv. That of Col2Im takes two pads, where ONNX has a begin and an end for each dimension."""

RECURRENT = (
    rule(
        "NPULstm",
        "11-18",
        case([Is("flagSeq", 1)], step("DynamicRNN", 0, 1, 2, 3, 4, 5)),
        case([], step("DynamicRNN", 0, 1, 2, None, 4, 5)),
        also="npu",
    ),
    rule(
        "NPULstmCell",
        "11-18",
        case(
            [Is("hasBias", 0)],
            step("ExpandDims", 0, Constant("int32", [0]), name="x"),
            step("ExpandDims", 3, Constant("int32", [0]), name="h"),
            step("ExpandDims", 4, Constant("int32", [0]), name="c"),
            step("DynamicRNNV2", "x", 1, 2, None, None, "h", "c"),
        ),
        case(
            [],
            step("ExpandDims", 0, Constant("int32", [0]), name="x"),
            step("ExpandDims", 3, Constant("int32", [0]), name="h"),
            step("ExpandDims", 4, Constant("int32", [0]), name="c"),
            step("Add", 5, 6, name="bias"),
            step("DynamicRNNV2", "x", 1, 2, "bias", None, "h", "c"),
        ),
        also="npu",
    ),
    rule("NPUGru", "11-18", case([], step("DynamicGRUV2", 0, 2, 3, 4, 5, None, 1)), also="npu"),
    rule(
        "NPUDropoutWithAddSoftmax",
        "11-18",
        case(
            [],
            step("Identity", 0, name="x2"),
            step("Identity", 1, name="x1"),
            step("OnesLike", "x2", name="ones"),
            step("Cast", "ones", name="mask", dtype="uint8"),
            step("Cast", "x2", name="cast2", dtype="float16"),
            step("Cast", "x1", name="cast1", dtype="float16"),
            step("AxpyWithSoftmaxAndDropOutDoMask", "cast1", "cast2", "mask"),
            results=["mask", "*", "*:1"],
        ),
        needs=["alpha"],
        also="npu",
    ),
)
"""npu_lstm, npu_lstm_cell, npu_gru and npu_dropout_with_add_softmax_onnx_plugin.cpp"""

FAMILIES = (CONVOLUTION, POOLING, REDUCTION, ARITHMETIC, SHAPE, INDEX, RANDOM, DETECTION, RECURRENT, REFUSED)
