"""Sessions of onnxruntime: on the CPU, unoptimised and with one thread, so that equal models yield equal values."""

from __future__ import annotations

import os
from concurrent.futures import Future, wait
from threading import Thread
from typing import TYPE_CHECKING

from ...errors import Refused, brief
from .packages import load_package

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

_FATAL = 4
_FOLDER = "session.model_external_initializers_file_folder_path"
"""Set to a path that is no folder: weights in other files are given as arrays, onnxruntime opens none."""
_NO_COPIES = "session.disable_prepacking"
"""Packed weights are copies in memory and change the sums, because a rounded weight is not packed."""
_NO_KERNEL = "Could not find an implementation"
_PATIENCE = 0.5
"""Seconds that a node may take to end after a signal."""


class ModelSession:
    """A model that can be computed.

    Optimisation is off: no rounding can be fused away, and a session is made in a third of the time.
    """

    def __init__(self, model: bytes, weights: Mapping[str, Any], path: str) -> None:
        """:param model: the ModelProto
        :param weights: arrays of the weights that were kept apart
        :param path: the user's file, for messages
        :raises MissingPackage: if ``onnxruntime`` is not installed
        :raises Refused: if onnxruntime cannot load the model
        """
        runtime = load_package("onnxruntime")
        runtime.set_default_logger_severity(_FATAL)
        options = runtime.SessionOptions()
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry(_FOLDER, os.devnull)
        options.add_session_config_entry(_NO_COPIES, "1")
        self._path = path
        self._weights = {name: runtime.OrtValue.ortvalue_from_numpy(array) for name, array in weights.items()}
        if self._weights:
            options.add_external_initializers(list(self._weights), list(self._weights.values()))
        try:
            made = _call_in_thread(runtime.InferenceSession, model, options, providers=["CPUExecutionProvider"])
            self._session = made.result()
        except Exception as error:  # onnxruntime raises a dozen kinds of exceptions
            if _NO_KERNEL in str(error) and _reads_bfloat16(model):
                message = "onnxruntime computes no bfloat16 on a CPU, so that this model has no reference in float32"
                hint = "give the model as it was before its conversion to bfloat16"
                raise Refused(message, name="bfloat16-model", path=path, hint=hint) from None
            message = f"onnxruntime cannot load the model: {_first_line(error)}"
            raise Refused(message, name="not-loaded", path=path) from None

    def run(self, feeds: Mapping[str, Any]) -> Sequence[Any]:
        """Return every output, in the model's order.

        :raises Refused: if onnxruntime cannot compute it
        """
        settings = load_package("onnxruntime").RunOptions()
        run = _call_in_thread(self._session.run, None, dict(feeds), settings)
        try:
            outputs: Sequence[Any] = run.result()
            return outputs
        except Exception as error:  # as above
            message = f"onnxruntime cannot compute the model: {_first_line(error)}"
            raise Refused(message, name="not-computed", path=self._path) from None
        except BaseException:  # a signal: onnxruntime ends before the next node
            settings.terminate = True
            wait([run], _PATIENCE)
            raise


def _reads_bfloat16(model: bytes) -> bool:
    """Return whether a model has weights or values of bfloat16 of its own; of roundings only Casts have them."""
    onnx = load_package("onnx")
    proto = onnx.ModelProto.FromString(model)
    try:
        known = onnx.shape_inference.infer_shapes(proto).graph
    except Exception:  # it raises what it meets, and the weights say enough then
        known = proto.graph
    values = [*known.input, *known.value_info, *known.output]
    code = onnx.TensorProto.BFLOAT16
    return any(value.type.tensor_type.elem_type == code for value in values) or any(
        weight.data_type == code for weight in known.initializer
    )


def _call_in_thread(call: Callable[..., Any], *words: Any, **options: Any) -> Future[Any]:
    """Return the future of a call of onnxruntime; a thread makes it, so that signals are handled meanwhile."""
    future: Future[Any] = Future()

    def work() -> None:
        try:
            future.set_result(call(*words, **options))
        except Exception as error:
            future.set_exception(error)

    Thread(target=work, daemon=True).start()
    return future


def _first_line(error: Exception) -> str:
    """Return the first line of a message, without its code."""
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    head, _, rest = text.partition(" : ")
    while rest and (head.startswith("[ONNXRuntimeError]") or head.isdigit() or head.isupper()):
        text = rest
        head, _, rest = text.partition(" : ")
    return brief(text)
