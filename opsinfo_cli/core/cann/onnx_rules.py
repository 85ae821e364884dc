"""What CANN's front end makes of each ONNX operator: a table of its plugins, one text for each family.

Source: the plugins ``*_onnx_plugin.cpp`` of hicann/ops-nn e5c3fa93, ops-math c4193324 and ops-cv 6ae87653, their keys
(``OriginOpType``) and the graphs that they build (``ParseOpToGraphFn``). ``onnx_plugins`` reads the texts.

A text has the operators of one family. A line without indent names operators and opsets, and after them further domains
with their versions. Each line below it is a case: conditions, a colon, and nodes. The first case whose conditions hold
counts; if none does, the operator is one node as in ``PLAIN``.

Conditions: ``axes``, ``!axes``: an attribute is given or not. ``p=1``, ``p!=1``: its value, or that of the line
``defaults``. ``+2``, ``-2``: input 2 is given or not. ``in=2``, ``in>2``, ``in<2``, ``out>1``: numbers of inputs and
outputs. Other words are names of ``CONDITIONS`` of ``graph.readers.onnx_expansion``; all must hold.

Nodes: ``name=Type<dtype>(inputs)``. The node without a name is the operator itself, ``*``; the others are added. The
dtype is that of the output, ``@output`` that of the operator's. Without one it is ``@output`` for ``*``, else that of
the first input. ``~`` is the operator's name. Inputs:

- ``0``: that of the operator; ``1+``: that and all after it; ``_``: absent
- ``name``, ``name:1``: an output of a node before it
- ``int32:axis=0``: a constant of one value, that of an attribute or its default; ``int32:2``
- ``int64[axes]``, ``float32[0,0]``: a constant of a list; ``int32[@pads]``: one of its ``VALUES``

``->`` names what yields the outputs of the operator; without it the last node yields output 0, and ``*`` the others.
``! reason``: the plugin refuses the operator. ``needs: a b``: it does without the attributes.
"""

from __future__ import annotations

PLAIN = """
8-18: Abs Acos Acosh AdaCast Add And:LogicalAnd Asin Asinh Atan Atanh BasicGRUInplaceFillWindowCache
    BasicLSTMInplaceFillWindowCache BatchNormalization:BatchNorm BoundingBoxDecode Cast Ceil Celu Col2im Cos
    Cosh CumSum:Cumsum DepthToSpace Det:MatrixDeterminant Div:RealDiv Dropout Einsum Elu Equal Erf Exp Expand
    Flatten Floor GRU:CommonGRU GatherElements GatherND:GatherNd GlobalAveragePool GlobalLpPool Greater
    Hardmax:HardMax Identity If InstanceNormalization:InstanceNorm LRN LSTM:CommonLSTM LeakyRelu Less
    LessOrEqual:LessEqual Log LogSoftmax:LogSoftmaxV2 MatMul:BatchMatMulV2 Mul NPUGroupQuant:GroupQuant Neg
    Not:LogicalNot Or:LogicalOr PRelu PhonyConcat PhonySplit Pow Range Reciprocal Relu RepeatWithPad Reshape
    Round Selu Shape Sigmoid Sign Sin Sinh Size Softmax:SoftmaxV2 Softplus Softsign SpaceToDepth SparseToDense
    Sqrt Sub Sum:AccumulateNV2 Tan Tanh Tile TransArgb Where:SelectV2
11-18: ConcatFromSequence NPUAddRmsNorm:AddRmsNorm NPUAnchorResponseFlags:AnchorResponseFlags
    NPUAntiQuant:AscendAntiQuantV2 NPUAscendQuantV2:AscendQuantV2 NPUBatchNms:BatchMultiClassNonMaxSuppression
    NPUBoundingBoxDecode:BoundingBoxDecode NPUBoundingBoxEncode:BoundingBoxEncode NPUCiou:CIoU NPUDiou:DIoU
    NPUDtypeCast:Cast NPUDynamicQuant:DynamicQuant NPUDynamicQuantV2:DynamicQuantV2 NPUFastGelu:FastGelu
    NPUFormatCast:Identity NPUFusedAddRmsNorm:FusedAddRmsNorm NPUGeglu:GeGluV2 NPUGroupNormSilu:GroupNormSilu
    NPUIou:Iou NPUMish:Mish NPUNmsWithMask:NMSWithMask NPUPsRoiPooling:PSROIPoolingV2 NPUQuantize:Quantize
    NPURmsNorm:RmsNorm NPURoiAlign:ROIAlign NPURotaryMul:RotaryMul NPUScatter:ArgMaxGrad
    NPUSignBitsPack:SignBitsPack NPUSignBitsUnpack:SignBitsUnpack
    NPUSoftmaxCrossEntropyWithLogits:SoftmaxCrossEntropyWithLogits NPUYoloBoxesEncode:YoloBoxesEncode Pad:PadV3
    ScatterElements SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength
    SplitToSequence
8-16: AdaptiveAvgPool2d AdaptiveMaxPool2d AffineGrid BatchMatMul
    BatchMultiClassNMS:BatchMultiClassNonMaxSuppression Bucketize DynSeqOuter GroupNormRelu
    Int8GivenIntTensorFill:Constant Int8Quantize:AscendQuant MovingSumWithSigmoid PSROIPooling:PSROIPoolingV2
    QuantBatchMatMul:QuantBatchMatmulV3 RoiExtractor Yolo YoloPreDetection YoloV3DetectionOutputV2
    YoloV5DetectionOutput YoloxBoundingBoxDecode
8-22: AscendAntiQuant AscendDequant AscendDequantS16 AscendQuant AscendRequant AscendRequantS16
10-18: IsInf Mod ReverseSequence Slice:StridedSliceV2 TopK
18: BitwiseAnd BitwiseNot:Invert BitwiseOr BitwiseXor Mish
17: ResizeBicubic SwinAttentionFFN SwinAttentionScore SwinTransformerLnQKV
11,16-18: GridSample3D:GridSampler3D GridSample:GridSampler2D GridSampleV2:GridSample
9-18: IsNaN:IsNan MeanVarianceNormalization:MVNV2 Shrink
9-16: DeformableConv2D DeformableOffsets
8-17: ReduceL1:LpNormV2 ReduceL2:LpNormV2
8-12: Squeeze Unsqueeze
13-18: Squeeze:SqueezeV3 Unsqueeze:UnsqueezeV3
1,8-18: MaxRoiPool:ROIPooling
1,6,8-18: HardSigmoid
8-16,18: LSTMP
12-18: SoftmaxCrossEntropyLoss
9-11: Scatter:ScatterElements
11-19: NPUWeightQuantBatchMatmulV2:WeightQuantBatchMatmulV2
11: BlendFaceBgPartTwo
8,12-18: GreaterOrEqual:GreaterEqual
13-16: Triu
14-18: HardSwish
15-18: CastLike
npu 1: NPUAddRmsNorm:AddRmsNorm NPUAnchorResponseFlags:AnchorResponseFlags NPUAntiQuant:AscendAntiQuantV2
    NPUAscendQuantV2:AscendQuantV2 NPUBatchNms:BatchMultiClassNonMaxSuppression
    NPUBoundingBoxDecode:BoundingBoxDecode NPUBoundingBoxEncode:BoundingBoxEncode NPUCiou:CIoU NPUDiou:DIoU
    NPUDtypeCast:Cast NPUDynamicQuant:DynamicQuant NPUDynamicQuantV2:DynamicQuantV2 NPUFastGelu:FastGelu
    NPUFormatCast:Identity NPUFusedAddRmsNorm:FusedAddRmsNorm NPUGeglu:GeGluV2 NPUGeluV2:GeluV2
    NPUGroupNormSilu:GroupNormSilu NPUGroupQuant:GroupQuant NPUIou:Iou NPUMish:Mish NPUNmsWithMask:NMSWithMask
    NPUPsRoiPooling:PSROIPoolingV2 NPUQuantize:Quantize NPURmsNorm:RmsNorm NPURoiAlign:ROIAlign
    NPURotaryMul:RotaryMul NPUScatter:ArgMaxGrad NPUSignBitsPack:SignBitsPack NPUSignBitsUnpack:SignBitsUnpack
    NPUSoftmaxCrossEntropyWithLogits:SoftmaxCrossEntropyWithLogits NPUYoloBoxesEncode:YoloBoxesEncode
    WeightQuantBatchMatmulV2
aten 0: adaptive_max_pool2d:AdaptiveMaxPool2d
"""
"""Operators that become one node with the same inputs: domain, opsets, and ``operator:type`` where they differ."""

REFUSED = """
Selu 8-18
    defaults: alpha=1.67326 gamma=1.0507
    other_selu: ! only the default alpha and gamma are supported
IsInf 10-18
    defaults: detect_negative=1 detect_positive=1
    detect_negative!=1: ! detect_negative and detect_positive must be 1
    detect_positive!=1: ! detect_negative and detect_positive must be 1
GatherND 8-18
    defaults: batch_dims=0
    batch_dims!=0: ! batch_dims must be 0
Dropout 8-18
    +1: ! the inputs ratio and training_mode are not supported
    +2: ! the inputs ratio and training_mode are not supported
Pad 11-18
    +3: ! the input axes is not supported
MeanVarianceNormalization 9-18
    out>1: ! one output at most
LRN 8-18
    needs: size
Cast 8-18
    needs: to
Unsqueeze 8-12
    needs: axes
Einsum 8-18
    needs: equation
DepthToSpace 8-18
    needs: blocksize
    blocksize=1: ! blocksize must be 2 or more
SpaceToDepth 8-18
    needs: blocksize
MaxRoiPool 1,8-18
    needs: pooled_shape
Col2im 8-18
    needs: kernel_size dilation padding stride
NPURoiAlign 11-18 npu 1
    needs: spatial_scale pooled_height pooled_width
NPUPsRoiPooling 11-18 npu 1
    needs: spatial_scale output_dim group_size
PSROIPooling 8-16
    needs: spatial_scale output_dim group_size
NPUScatter 11-18 npu 1
    needs: dim
NPUSignBitsPack 11-18 npu 1
    needs: size
NPUSignBitsUnpack 11-18 npu 1
    needs: size dtype
NPUAnchorResponseFlags 11-18 npu 1
    needs: featmap_sizes strides num_base_anchors
NPUBoundingBoxDecode 11-18 npu 1
    needs: max_shapes
"""
"""Operators of ``PLAIN`` that their plugins, or the inputs that the type has, refuse in some cases."""

CONVOLUTION = """
Conv 8-18
    odd_pads: ! pads must have an even number of values
    !kernel_shape !strides !dilations !pads: ! needs kernel_shape, pads, strides or dilations
    3d same_padding: ! auto_pad is not supported in three dimensions
    in<2: ! two or three inputs
    in>3: ! two or three inputs
    1d: UnsqueezeX=Unsqueeze(0) UnsqueezeW=Unsqueeze(1) Conv2D(UnsqueezeX UnsqueezeW 2) SqueezeY=Squeeze(*)
    3d: Conv3D(0 1 2)
    Conv2D(0 1 2)
ConvTranspose 8-18
    odd_pads: ! pads must have an even number of values
    needs: kernel_shape
    short_output: ! output_shape and output_padding need a value for each dimension, two at least
    in<2: ! two or three inputs
    in>3: ! two or three inputs
    1d: UnsqueezeX=Unsqueeze(0) UnsqueezeW=Unsqueeze(1)
        Conv2DTranspose(int64[0,0,0,0] UnsqueezeX UnsqueezeW 2) SqueezeY=Squeeze(*)
    3d: Conv3DTranspose(int64[0,0,0,0,0] 0 1 2)
    Conv2DTranspose(int64[0,0,0,0] 0 1 2)
Int8Conv 8-16
    Conv2D<int32>(0 1 2) Deq=AscendDequant<float16>(* float16:@scale) Quant=AscendQuant<int8>(Deq)
Int8ConvRelu 8-16
    Conv2D<int32>(0 1 2) Deq=AscendDequant<float16>(* float32:@scale) Relu=Relu(Deq) Quant=AscendQuant<int8>(Relu)
Int8FC 8-16
    in<2: ! two or three inputs
    in>3: ! two or three inputs
    FullyConnection<int32>(0 1 2) Deq=AscendDequant<float16>(* float16:@scale) Quant=AscendQuant<int8>(Deq)
NPUDeformableConv2d 9-16 npu 1
    needs: strides paddings
    x=Identity(0) filter=Identity(1) offsets=Identity(2) bias=Identity(3) DeformableConv2D(x filter offsets bias)
Corr 8-16
    Correlation(0 1)
"""
"""conv_onnx_plugin.cpp, conv_transpose_onnx_plugin.cpp, int8_conv*_onnx_plugin.cpp, int8_fc_onnx_plugin.cpp,
npu_deformable_conv2d_onnx_plugin.cpp, correlation_onnx_plugin.cpp"""

POOLING = """
AveragePool 8-18
    odd_pads: ! pads must have an even number of values
    0d: ! kernel_shape must have one to three values
    1d: UnsqueezeX=Unsqueeze(0) AvgPoolV2(UnsqueezeX) SqueezeAvgpoolv2=Squeeze(*)
    3d: AvgPool3D(0)
    AvgPoolV2(0)
MaxPool 8-18
    defaults: storage_order=0
    odd_pads: ! pads must have an even number of values
    0d: ! kernel_shape must have one to three values
    out>1: ! the output Indices is not supported
    storage_order=1: ! storage_order must be 0
    1d large padded: UnsqueezeX=Unsqueeze(0) permuteIn=TransposeD(UnsqueezeX)
        PadV2=PadV2(permuteIn int32[@paddings] float32:-65504.0) MaxPool(PadV2) permuteOut=TransposeD(*)
        SqueezeTranspose=Squeeze(permuteOut)
    1d large: UnsqueezeX=Unsqueeze(0) permuteIn=TransposeD(UnsqueezeX) MaxPool(permuteIn) permuteOut=TransposeD(*)
        SqueezeTranspose=Squeeze(permuteOut)
    1d: UnsqueezeX=Unsqueeze(0) MaxPoolV3(UnsqueezeX) SqueezeMaxpoolv3=Squeeze(*)
    3d: MaxPool3D(0)
    large padded: permuteIn=TransposeD(0) PadV2=PadV2(permuteIn int32[@paddings] float32:-65504.0) MaxPool(PadV2)
        permuteOut=TransposeD(*)
    large: permuteIn=TransposeD(0) MaxPool(permuteIn) permuteOut=TransposeD(*)
    MaxPoolV3(0)
LpPool 8-18
    odd_pads: ! pads must have an even number of values
    0d: ! kernel_shape must have one to three values
    1d large padded: Abs=Abs(0) Power_0=Power(Abs) UnsqueezeX=Unsqueeze(Power_0)
        permuteIn=Transpose(UnsqueezeX int32[0,2,3,1]) PadV2=PadV2(permuteIn int32[@paddings] int32:0) AvgPool(PadV2)
        permuteOut=Transpose(* int32[0,3,1,2]) Squeeze=Squeeze(permuteOut) Muls=Muls(Squeeze) Power_1=Power(Muls)
    1d large: Abs=Abs(0) Power_0=Power(Abs) UnsqueezeX=Unsqueeze(Power_0)
        permuteIn=Transpose(UnsqueezeX int32[0,2,3,1]) AvgPool(permuteIn) permuteOut=Transpose(* int32[0,3,1,2])
        Squeeze=Squeeze(permuteOut) Muls=Muls(Squeeze) Power_1=Power(Muls)
    1d: Abs=Abs(0) Power_0=Power(Abs) UnsqueezeX=Unsqueeze(Power_0) AvgPoolV2(UnsqueezeX) Squeeze=Squeeze(*)
        Muls=Muls(Squeeze) Power_1=Power(Muls)
    3d: Abs=Abs(0) Power_0=Power(Abs) AvgPool3D(Power_0) Muls=Muls(*) Power_1=Power(Muls)
    large padded: Abs=Abs(0) Power_0=Power(Abs) permuteIn=Transpose(Power_0 int32[0,2,3,1])
        PadV2=PadV2(permuteIn int32[@paddings] int32:0) AvgPool(PadV2) permuteOut=Transpose(* int32[0,3,1,2])
        Muls=Muls(permuteOut) Power_1=Power(Muls)
    large: Abs=Abs(0) Power_0=Power(Abs) permuteIn=Transpose(Power_0 int32[0,2,3,1]) AvgPool(permuteIn)
        permuteOut=Transpose(* int32[0,3,1,2]) Muls=Muls(permuteOut) Power_1=Power(Muls)
    Abs=Abs(0) Power_0=Power(Abs) AvgPoolV2(Power_0) Muls=Muls(*) Power_1=Power(Muls)
GlobalMaxPool 8-18
    ReduceMax(0 int32[-1,2])
MaxUnpool 9,11-18
    needs: kernel_shape
    other_pads: ! pads must have two values for each of kernel_shape
    in=2: identity1=Identity(0) shape1=Shape<int32>(identity1) sub1=Sub(shape1 int32[@unpool_sub])
        mul1=Mul(sub1 int32[@unpool_strides]) sub2=Sub(mul1 int32[@unpool_rest]) identity2=Identity(sub2)
        reshape1=Reshape(identity1 int32[-1]) reshape2=Reshape(1 int32[-1])
        StridedSlice1=StridedSlice(reshape1 int32[0] int32[1] int32[1]) zeroslike1=ZerosLike(StridedSlice1)
        BroadcastTo1=BroadcastTo(zeroslike1 identity2) reshape3=Reshape(BroadcastTo1 int32[-1])
        ScatterElements(reshape3 reshape2 reshape1) reshape4=Reshape(* identity2)
    identity1=Identity(0) identity2=Identity(2) reshape1=Reshape(identity1 int32[-1]) reshape2=Reshape(1 int32[-1])
        StridedSlice1=StridedSlice(reshape1 int32[0] int32[1] int32[1]) zeroslike1=ZerosLike(StridedSlice1)
        BroadcastTo1=BroadcastTo(zeroslike1 identity2) reshape3=Reshape(BroadcastTo1 int32[-1])
        ScatterElements(reshape3 reshape2 reshape1) reshape4=Reshape(* identity2)
Int8Dequantize 8-16
    antiquant=AscendAntiQuant<float16>(0) MaxPool(antiquant)
"""
"""average_pool, max_pool, lppool, global_max_pool, maxunpool and int8_dequantize_onnx_plugin.cpp"""

REDUCTION = """
ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceLogSumExp 8-12
    ~(0 int32[axes])
ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceLogSumExp 13-18
    in=1: ~(0 int32[axes])
    in=2: ~(0 1)
    ! one or two inputs
ReduceLogSum 8-12
    axes: ReduceSum(0 int32[axes]) Log=Log(*)
    ReduceSum(0 int32:@none) Log=Log(*)
ReduceLogSum 13-18
    in=1: ReduceSum(0 int32[axes]) Log=Log(*)
    in=2: ReduceSum(0 1) Log=Log(*)
    ! one or two inputs
ReduceSumSquare 1,8-18
    +1: ! the input axes is not supported
    SquareSumV1(0)
ArgMax 8-18
    defaults: select_last_index=0 keepdims=1
    select_last_index=1: ! select_last_index must be 0
    keepdims=1: ArgMaxV2(0 int32:axis=0) ExpandDims=ExpandDims(* int32:axis=0)
    ArgMaxV2(0 int32:axis=0)
ArgMin 8-18
    defaults: select_last_index=0 keepdims=1
    select_last_index=1: ! select_last_index must be 0
    keepdims=1: ArgMin<int32>(0 int32:axis=0) ExpandDims=ExpandDims<int32>(* int32:axis=0)
    ArgMin<int32>(0 int32:axis=0)
LpNormalization 1,8-18
    Identity=Identity(0) LpNormV2(Identity) Div=Div(Identity *)
"""
"""reduce_*_onnx_plugin.cpp, argmax and argmin_onnx_plugin.cpp, lp_normalization_onnx_plugin.cpp"""

ARITHMETIC = """
Gemm 8-18
    defaults: alpha=1 beta=1
    in=3 alpha=1 beta=1: MatMulV2(0 1) add=Add(* 2)
    in=3: Muls2=Muls(2) MatMulV2(0 1) Muls1=Muls(*) add=Add(Muls1 Muls2)
    MatMulV2(0 1)
LayerNormalization 17-18
    defaults: stash_type=1
    stash_type=0 in=2: identity_0=Identity(0) shape=Shape<int32>(identity_0) identity_1=Identity(1)
        broadcastto1=BroadcastTo(identity_1 shape) identity_2=Identity(float32:0.0)
        broadcastto2=BroadcastTo(identity_2 shape) LayerNorm(identity_0 broadcastto1 broadcastto2) Adds=Adds(*:2)
        Rsqrt=Rsqrt(Adds) cast1=Identity(Rsqrt) cast2=Identity(*:1) -> * cast2 cast1
    stash_type=0: identity_0=Identity(0) shape=Shape<int32>(identity_0) identity_1=Identity(1)
        broadcastto1=BroadcastTo(identity_1 shape) identity_2=Identity(2) broadcastto2=BroadcastTo(identity_2 shape)
        LayerNorm(identity_0 broadcastto1 broadcastto2) Adds=Adds(*:2) Rsqrt=Rsqrt(Adds) cast1=Identity(Rsqrt)
        cast2=Identity(*:1) -> * cast2 cast1
    in=2: identity_0=Identity(0) shape=Shape<int32>(identity_0) identity_1=Identity(1)
        broadcastto1=BroadcastTo(identity_1 shape) identity_2=Identity(float32:0.0)
        broadcastto2=BroadcastTo(identity_2 shape) LayerNorm(identity_0 broadcastto1 broadcastto2) Adds=Adds(*:2)
        Rsqrt=Rsqrt(Adds) identity_3=Identity(Rsqrt) cast1=Cast<float32>(identity_3) identity_4=Identity(*:1)
        cast2=Cast<float32>(identity_4) -> * cast2 cast1
    identity_0=Identity(0) shape=Shape<int32>(identity_0) identity_1=Identity(1)
        broadcastto1=BroadcastTo(identity_1 shape) identity_2=Identity(2) broadcastto2=BroadcastTo(identity_2 shape)
        LayerNorm(identity_0 broadcastto1 broadcastto2) Adds=Adds(*:2) Rsqrt=Rsqrt(Adds) identity_3=Identity(Rsqrt)
        cast1=Cast<float32>(identity_3) identity_4=Identity(*:1) cast2=Cast<float32>(identity_4) -> * cast2 cast1
Clip 8-10
    cast=Cast<float32>(0) ClipByValue(cast float32:min=-3.402823e+38 float32:max=3.402823e+38)
Clip 11-18
    -1 -2: ! min or max must be given
    -2: Maximum(0 1)
    -1: Minimum(0 2)
    ClipByValue(0 1 2)
Max 8-18
    in=1: Identity(0)
    @chain Maximum
Min 8-18
    in=1: Identity(0)
    @chain Minimum
Mean 8-18
    AccumulateNV2(0+) Muls=Muls(*)
Xor 8-18
    Cast_a=Cast<int32>(0) Cast_b=Cast<int32>(1) BitwiseXor<int32>(Cast_a Cast_b) Cast_out=Cast(*)
BitShift 11-18
    direction=LEFT: LeftShift(0 1)
    direction=RIGHT: RightShift(0 1)
    ! direction must be LEFT or RIGHT
ThresholdedRelu 10-18
    identity=Identity(0) Threshold(identity) mul=Mul(identity *)
"""
"""gemm, layer_normalization, clip, max, min, mean, xor, bitshift and threshold_relu_onnx_plugin.cpp"""

SHAPE = """
Concat 8-18
    needs: axis
    in=1: Identity(0)
    ConcatD(0+)
Pad 8-10
    needs: pads
    odd_pads: ! pads must have an even number of values
    mode=reflect: MirrorPad(0 int32[@pads])
    PadV3(0 int32[@pads] float32:value=0.0)
Split 8-18
    split wrong_split: ! as many values of split as outputs
    num_outputs wrong_outputs: ! num_outputs is not the number of outputs
    in=1 split: SplitV(0 int64[split] int32:axis=0)
    in=1 num_outputs uneven: ! the axis cannot be divided evenly
    in=1 num_outputs: SplitV(0 int64[@even] int32:axis=0)
    in=1: Split(int32:axis=0 0)
    SplitV(0 1 int32:axis=0)
Slice 8-9
    needs: starts ends
    axes: StridedSliceV2(0 int64[starts] int64[ends] int64[axes])
    StridedSliceV2(0 int64[starts] int64[ends])
NPUSlice 11-18 npu 1
    Slice(0 int32[offsetss] int32[sizes])
NPUIndexing 11-18 npu 1
    StridedSlice(0 int64[begins] int64[ends] int64[strides])
Transpose 8-18
    needs: perm
    Transpose(0 int32[perm])
Int8Transpose 8-16
    Transpose(0 int64[axes])
Trilu 14-18
    Trilu(0 1)
ConstantOfShape 8-18
    Fill(0 @value)
EyeLike 8-18
    !dtype: shape=Shape<int32>(0) split=Split<int32>(int32:0 shape) add=Adds<int32>(split) fill=Fill<int32>(add int32:1)
        cast=Cast<float32>(fill) squeeze=Squeeze<int32>(split) squeeze1=Squeeze<int32>(split:1)
        MatrixDiagV2<float32>(cast int32:k=0 squeeze squeeze1 float32:0)
    shape=Shape<int32>(0) split=Split<int32>(int32:0 shape) add=Adds<int32>(split) fill=Fill<int32>(add int32:1)
        cast=Cast<@output>(fill) squeeze=Squeeze<int32>(split) squeeze1=Squeeze<int32>(split:1)
        MatrixDiagV2(cast int32:k=0 squeeze squeeze1 @zero)
Resize 10
    mode=linear: Identity=Identity(0) Shape=Shape<int32>(Identity) Cast0=Cast<float32>(Shape) Mul=Mul(Cast0 1)
        Cast1=Cast<int32>(Mul) Resize(Identity float32:0.0 float32:0.0 Cast1)
    nearest: Identity=Identity(0) Shape=Shape<int32>(Identity) Cast0=Cast<float32>(Shape) Mul=Mul(Cast0 1)
        Cast1=Cast<int32>(Mul) Slice=Slice(Cast1 int32:2 int32:2) ResizeNearestNeighborV2(Identity Slice)
    ! mode must be nearest or linear
Resize 11-18
    in<3: ! three or four inputs
    nearest +3: x=Identity(0) sizes=Identity(3) Cast0=Cast<int32>(sizes) Slice=Slice(Cast0 int32:2 int32:2)
        ResizeNearestNeighborV2(x Slice)
    nearest: x=Identity(0) scales=Identity(2) Shape=Shape<int32>(x) Cast0=Cast<float32>(Shape) Mul=Mul(Cast0 scales)
        Cast1=Cast<int32>(Mul) Slice=Slice(Cast1 int32:2 int32:2) ResizeNearestNeighborV2(x Slice)
    !interpolating: ! mode must be nearest, linear or cubic
    +3: x=Identity(0) sizes=Identity(3) Cast0=Cast<int32>(sizes) Resize(x @roi @scales Cast0)
    x=Identity(0) scales=Identity(2) Shape=Shape<int32>(x) Cast0=Cast<float32>(Shape) Mul=Mul(Cast0 scales)
        Cast1=Cast<int32>(Mul) Resize(x @roi scales Cast1)
Upsample 8-9,11-16
    nearest: Resize(0 float32[0,0,0,0,0,0,0,0] 1)
    mode=linear: Resize(0 float32[0,0,0,0,0,0,0,0] 1)
    ! mode must be nearest or linear
"""
"""concat, pad, split, slice, transpose, trilu, constantofshape, eyelike, resize and upsample_onnx_plugin.cpp"""

INDEX = """
Gather 8-18
    GatherV2(0 1 int32:axis=0)
Compress 9-18
    axis: condition=Where<int64>(1) squeeze_where=Squeeze(condition) GatherV2(0 squeeze_where int32:axis=0)
    condition=Where<int64>(1) squeeze_where=Squeeze(condition) flatten=Flatten(0) squeeze=Squeeze(flatten)
        GatherV2(squeeze squeeze_where int32:0)
ScatterND 8-18
    defaults: reduction=none
    reduction=none: TensorMove=TensorMove(0) ScatterNdUpdate(TensorMove 1 2)
    reduction=add: TensorMove=TensorMove(0) ScatterNdAdd(TensorMove 1 2)
    reduction=max: TensorMove=TensorMove(0) ScatterNdMax(TensorMove 1 2)
    reduction=min: TensorMove=TensorMove(0) ScatterNdMin(TensorMove 1 2)
    ! reduction is not supported
NonZero 9-18
    NonZero(0)
TopK 8-9
    needs: k
    TopK(0 int32:k=1)
Unique 11-18
    UniqueWithCountsAndSorting(0) shape=Shape<int32>(*) empty=Empty<int64>(shape) -> * empty *:1 *:2
OneHot 9-18
    Split=Split<@output>(int32:0 2) identity_1=Identity(0) identity_2=Identity(1) Add=Add(identity_1 identity_2)
        Mod=Mod(Add identity_2) OneHot(Mod identity_2 Split:1 Split)
NPUOneHot 11-18 npu 1
    needs: depth
    Cast_data0=Cast<int32>(0) on=Cast<float32>(int32:on_value=1) off=Cast<float32>(int32:off_value=0)
        OneHotD(Cast_data0 on off)
"""
"""gather, compress, scatter_nd, non_zero, topk, unique, onehot and one_hot_d_onnx_plugin.cpp. ScatterND is in
similar_opp_onnx_plugin.cpp too, as TensorScatterUpdate: the compiler's answers have ScatterNdUpdate."""

RANDOM = """
RandomNormal 8-18
    defaults: dtype=1
    needs: shape
    !float_dtype: ! dtype must be float32, float16 or float64
    RandomStandardNormal(int32[shape]) mul=Muls(*) add=Adds(mul)
RandomUniform 8-18
    defaults: dtype=1
    dtype=6: RandomUniformInt(int32[shape] int32:low=0 int32:high=1)
    dtype=2: RandomUniformInt(int32[shape] uint8:low=0 uint8:high=1)
    !half_dtype: ! dtype must be float32, float16, int32 or uint8
    RandomUniform(int32[shape]) Muls=Muls(*) Adds=Adds(Muls)
RandomNormalLike 8-18
    !float_dtype: ! dtype must be float32, float16 or float64
    shape=Shape<int32>(0) RandomStandardNormal(shape) cast_scale=Cast<@output>(float32:scale=1.0)
        cast_mean=Cast<@output>(float32:mean=0.0) mul=Mul(* cast_scale) add=Add(mul cast_mean)
RandomUniformLike 8-18
    !float_dtype: ! dtype must be float32, float16 or float64
    shape=Shape<int32>(0) RandomUniform(shape) cast_scale=Cast<@output>(float32:@range)
        cast_mean=Cast<@output>(float32:low=0.0) mul=Mul(* cast_scale) add=Add(mul cast_mean)
Bernoulli 15-18
    StatelessBernoulliV2(0 int64:seed=-1 int64:0)
Multinomial 8-18
    Multinomial<int32>(0 int32:1)
"""
"""random_normal, random_uniform, random_*_like, bernoulli and multinomial_onnx_plugin.cpp. The last one overwrites
the attributes that it reads."""

DETECTION = """
NonMaxSuppression 10-18
    in<2: ! two to five inputs
    in>5: ! two to five inputs
    NonMaxSuppressionV6<int32>(0+) Cast=Cast<int64>(*)
RoiAlign 8-18
    unsqueeze=Unsqueeze(2) cast=Cast<float32>(unsqueeze) cast1=Cast<float32>(1)
        concat=Concat<float32>(int32:1 cast cast1) ROIAlign(0 concat)
RoiAlignRotated 11-18 mmdeploy 1
    needs: output_height output_width spatial_scale
    Transpose_0=Transpose(0 int32[0,2,3,1]) Transpose_1=Transpose(1 int32[1,0]) RoiAlignRotated(Transpose_0 Transpose_1)
        Transpose_2=Transpose(* int32[0,3,1,2])
NMSRotated 11-18 mmdeploy 1
    needs: iou_threshold
    in=2: mul=Mul(float32[1.0,1.0,1.0,1.0,57.29578] 0) identity=Identity(1) shape=Shape<int32>(identity)
        empty=Empty<int64>(shape) RotatedNMS(mul identity empty)
    in=3: mul=Mul(float32[1.0,1.0,1.0,1.0,57.29578] 0) RotatedNMS(mul 1 2)
    ! two or three inputs
NPUGiou 11-18 npu 1
    GIoU(0 1) Transpose=Transpose(* int32[1,0])
NPUGridAssignPositive 11-18 npu 1
    GridAssignPositive(0+ int32[@num_gts])
NPUNmsV4 11-18 npu 1
    NonMaxSuppressionV4(0 1 int32:max_output_size=0 2 3)
NPURotatedIou 11-18 npu 1
    Transpose_0=Transpose(0 int32[0,2,1]) Transpose_1=Transpose(1 int32[0,2,1]) RotatedIou(Transpose_0 Transpose_1)
NPURotatedOverlaps 11-18 npu 1
    Transpose_0=Transpose(0 int32[0,2,1]) Transpose_1=Transpose(1 int32[0,2,1]) RotatedOverlaps(Transpose_0 Transpose_1)
Col2Im 18
    needs: dilations pads strides
    not_pairs: ! dilations, pads and strides must have two values each
    cast=Cast<int32>(1) Col2ImV2(0 cast 2)
"""
"""Plugins of hicann/ops-cv. That of Col2Im takes two pads, where ONNX has a begin and an end for each dimension."""

RECURRENT = """
NPULstm 11-18 npu 1
    flagSeq=1: DynamicRNN(0 1 2 3 4 5)
    DynamicRNN(0 1 2 _ 4 5)
NPULstmCell 11-18 npu 1
    hasBias=0: x=ExpandDims(0 int32[0]) h=ExpandDims(3 int32[0]) c=ExpandDims(4 int32[0])
        DynamicRNNV2(x 1 2 _ _ h c)
    x=ExpandDims(0 int32[0]) h=ExpandDims(3 int32[0]) c=ExpandDims(4 int32[0]) bias=Add(5 6)
        DynamicRNNV2(x 1 2 bias _ h c)
NPUGru 11-18 npu 1
    DynamicGRUV2(0 2 3 4 5 _ 1)
NPUDropoutWithAddSoftmax 11-18 npu 1
    needs: alpha
    x2=Identity(0) x1=Identity(1) ones=OnesLike(x2) mask=Cast<uint8>(ones) cast2=Cast<float16>(x2)
        cast1=Cast<float16>(x1) AxpyWithSoftmaxAndDropOutDoMask(cast1 cast2 mask) -> mask * *:1
"""
"""npu_lstm, npu_lstm_cell, npu_gru and npu_dropout_with_add_softmax_onnx_plugin.cpp"""

FAMILIES = (CONVOLUTION, POOLING, REDUCTION, ARITHMETIC, SHAPE, INDEX, RANDOM, DETECTION, RECURRENT, REFUSED)
