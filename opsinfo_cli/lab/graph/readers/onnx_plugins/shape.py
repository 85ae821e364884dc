"""concat, pad, split, slice, transpose, trilu, constantofshape, eyelike, resize and upsample_onnx_plugin.cpp"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..onnx_operator import OUTPUT, Constant, Copy, From, pairs

if TYPE_CHECKING:
    from ..onnx_operator import Input, OnnxOperator


def _concat(it: OnnxOperator) -> None:
    it.require("axis")
    if it.inputs == 1:
        it.add("Identity", 0)
    else:
        it.add("ConcatD", From(0))


def _pad(it: OnnxOperator) -> None:
    """The pads are an attribute up to opset 10, then an input."""
    if it.opset >= 11:
        if it.has(3):
            it.refuse("the input axes is not supported")
        return
    it.require("pads")
    it.require_even_pads()
    pads = Constant("int32", pairs(it.ints("pads")))
    if it.value("mode") == "reflect":
        it.add("MirrorPad", 0, pads)
    else:
        it.add("PadV3", 0, pads, Constant("float32", it.number("value", 0.0)))


def _split(it: OnnxOperator) -> None:
    if it.has("split") and len(it.ints("split")) != it.outputs:
        it.refuse("as many values of split as outputs")
    if it.has("num_outputs") and int(it.number("num_outputs", 0)) != it.outputs:
        it.refuse("num_outputs is not the number of outputs")
    axis = Constant("int32", it.number("axis", 0))
    if it.inputs != 1:
        it.add("SplitV", 0, 1, axis)
    elif it.has("split"):
        it.add("SplitV", 0, Constant("int64", it.ints("split")), axis)
    elif it.has("num_outputs"):
        size = _size_along_axis(it)
        if size % it.outputs:
            it.refuse("the axis cannot be divided evenly")
        it.add("SplitV", 0, Constant("int64", [size // it.outputs] * it.outputs), axis)
    else:
        it.add("Split", axis, 0)


def _size_along_axis(it: OnnxOperator) -> int:
    shape, axis = it.graph.tensor(it.node.inputs[0]).shape or (), it.number("axis", 0)
    return shape[int(axis)] if -len(shape) <= axis < len(shape) else 0


def _slice(it: OnnxOperator) -> None:
    """Begins and ends are attributes up to opset 9, then inputs."""
    if it.opset >= 10:
        return
    it.require("starts", "ends")
    names = ("starts", "ends", "axes") if it.has("axes") else ("starts", "ends")
    it.add("StridedSliceV2", 0, *[Constant("int64", it.ints(name)) for name in names])


def _npu_slice(it: OnnxOperator) -> None:
    it.add("Slice", 0, *[Constant("int32", it.ints(name)) for name in ("offsetss", "sizes")])


def _npu_indexing(it: OnnxOperator) -> None:
    it.add("StridedSlice", 0, *[Constant("int64", it.ints(name)) for name in ("begins", "ends", "strides")])


def _transpose(it: OnnxOperator) -> None:
    it.require("perm")
    it.add("Transpose", 0, Constant("int32", it.ints("perm")))


def _int8_transpose(it: OnnxOperator) -> None:
    it.add("Transpose", 0, Constant("int64", it.ints("axes")))


def _trilu(it: OnnxOperator) -> None:
    it.add("Trilu", 0, 1)


def _constant_of_shape(it: OnnxOperator) -> None:
    given = it.value("value")
    value, dtype = given if isinstance(given, tuple) else (0.0, "float32")
    it.add("Fill", 0, Constant(dtype, value))


def _eye_like(it: OnnxOperator) -> None:
    dtype = OUTPUT if it.has("dtype") else "float32"
    shape = it.add("Shape", 0, name="shape", dtype="int32")
    sizes = it.add("Split", Constant("int32", 0), shape, name="split", dtype="int32")
    ones = it.add("Adds", sizes, name="add", dtype="int32")
    ones = it.add("Fill", ones, Constant("int32", 1), name="fill", dtype="int32")
    ones = it.add("Cast", ones, name="cast", dtype=dtype)
    rows = it.add("Squeeze", sizes, name="squeeze", dtype="int32")
    columns = it.add("Squeeze", f"{sizes}:1", name="squeeze1", dtype="int32")
    diagonal = Constant("int32", it.number("k", 0))
    own = "" if it.has("dtype") else dtype
    it.add("MatrixDiagV2", ones, diagonal, rows, columns, Constant(dtype, 0), dtype=own)


def _resize(it: OnnxOperator) -> None:
    """Scales are input 1 in opset 10; then input 2, and sizes input 3."""
    mode = it.word("mode", "nearest")
    if it.opset == 10:
        if mode not in ("linear", "nearest"):
            it.refuse("mode must be nearest or linear")
        x = it.add("Identity", 0, name="Identity")
        sizes = _scaled(it, x, 1)
        if mode == "linear":
            it.add("Resize", x, Constant("float32", 0.0), Constant("float32", 0.0), sizes)
        else:
            it.add("ResizeNearestNeighborV2", x, _last_two(it, sizes))
        return
    if it.inputs < 3:
        it.refuse("three or four inputs")
    if mode not in ("nearest", "linear", "cubic"):
        it.refuse("mode must be nearest, linear or cubic")
    x = it.add("Identity", 0, name="x")
    scales: Input = Copy("scales", 2)
    if it.has(3):
        sizes = it.add("Cast", it.add("Identity", 3, name="sizes"), name="Cast0", dtype="int32")
    else:
        scales = it.add("Identity", 2, name="scales")
        sizes = _scaled(it, x, scales)
    if mode == "nearest":
        it.add("ResizeNearestNeighborV2", x, _last_two(it, sizes))
    else:
        it.add("Resize", x, Copy("roi", 1), scales, sizes)


def _scaled(it: OnnxOperator, x: str, scales: Input) -> str:
    """Return the shape of ``x``, scaled."""
    shape = it.add("Shape", x, name="Shape", dtype="int32")
    scaled = it.add("Mul", it.add("Cast", shape, name="Cast0", dtype="float32"), scales, name="Mul")
    return it.add("Cast", scaled, name="Cast1", dtype="int32")


def _last_two(it: OnnxOperator, sizes: str) -> str:
    return it.add("Slice", sizes, Constant("int32", 2), Constant("int32", 2), name="Slice")


def _upsample(it: OnnxOperator) -> None:
    if it.word("mode", "nearest") not in ("nearest", "linear"):
        it.refuse("mode must be nearest or linear")
    it.add("Resize", 0, Constant("float32", [0.0] * 8), 1)


PLUGINS = {
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "EyeLike": _eye_like,
    "Int8Transpose": _int8_transpose,
    "NPUIndexing": _npu_indexing,
    "NPUSlice": _npu_slice,
    "Pad": _pad,
    "Resize": _resize,
    "Slice": _slice,
    "Split": _split,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Upsample": _upsample,
}
