"""Check whether a kernel accepts a node, before its dtypes are chosen.

The check is per tensor, not per column: no column needs to fit as a whole. Source: hicann/ge ffdcbc9f,
compiler/engines/nn_engine/optimizer/ops_kernel_store/sub_ops_store.cc:113-284, 306-340, 722-830, 1234-1302; the order
of static and dynamic kernels, fe_ops_kernel_info_store.cc:253-322, 398-420. What a kernel's own check would say is not
known: yes is assumed.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from ....core.cann.option_files import Customized
from ....core.cann.policy import Policy
from .kernel import Kernel, Slot
from .node_facts import BoundPort, OperatorFacts, OperatorPort
from .promote import Promotion, has_promoted_column, promotion_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....core.cann.precision_mode import Mode


_ND_REACHABLE = frozenset({"ND", "FRACTAL_NZ", "ND_RNN_BIAS", "FRACTAL_ZN_RNN", "FRACTAL_Z"})
"""Formats that a tensor of format ND can be converted to (utils/common/op_info_common.cc:40, 327-333)."""
_NO_FP16 = frozenset({"ALLOW_FP32_TO_BF16", "MIX_BF16"})
_NO_FP16_IF_BLACK = frozenset({"FORCE_FP32", "MIX_FP16"})
_NO_BF16 = frozenset({"ALLOW_FP32_TO_FP16", "MIX_FP16"})
_NO_BF16_IF_BLACK = frozenset({"FORCE_FP32", "MIX_BF16"})
_RISES = frozenset({("float16", "float32"), ("bfloat16", "float32")})


class Bound(NamedTuple):
    """A node's tensors bound to the columns of a kernel: each (port, slot, dtypes, formats), None if absent.

    :param promotion: groups of inputs that must be promoted to one dtype; None if not required
    """

    inputs: tuple[BoundPort | None, ...]
    outputs: tuple[BoundPort | None, ...]
    promotion: Promotion | None = None


class KernelRefusal(NamedTuple):
    """Why a kernel refuses a node: the code of the reason and the tensor as text."""

    why: str
    detail: str


def bind(facts: OperatorFacts, kernel: Kernel, policy: Policy, mode: Mode) -> Bound | KernelRefusal:
    """Return the node bound to the kernel, or the refusal.

    The dynamic kernel is asked first, if it serves the node's shapes.
    """
    inputs = _slots(kernel.inputs, facts.inputs, kernel.alike, facts.lenient)
    outputs = _slots(kernel.outputs, facts.outputs, kernel.alike, facts.lenient)
    if inputs is None or outputs is None:
        return KernelRefusal("refused-tensors", "inputs" if inputs is None else "outputs")
    if facts.shapes:
        dynamics = [True] if kernel.dynamic_shape and (kernel.dynamic_rank or facts.shapes == 1) else []
    else:
        dynamics = [True, False] if kernel.serves_static else [False]
    refusal: KernelRefusal | None = None
    for dynamic in dynamics:
        bound = Bound(_bound(facts.inputs, inputs, dynamic), _bound(facts.outputs, outputs, dynamic))
        found = _check(facts, kernel, bound, policy, mode)
        if isinstance(found, Bound):
            return found
        refusal = refusal or found
    return refusal or KernelRefusal("refused-shape", "unknown shapes")


def customized_columns(customized: Customized, bound: Bound) -> list[int]:
    """Return the columns with the dtypes of a customize_dtypes file for every tensor."""
    first = next((tensor for tensor in (*bound.inputs, *bound.outputs) if tensor is not None), None)
    columns = list(range(len(first.dtypes))) if first else []
    for wanted, ports in ((customized.inputs, bound.inputs), (customized.outputs, bound.outputs)):
        for dtype, port in zip(wanted, ports, strict=False):
            if dtype is not None and port is not None:
                columns = [column for column in columns if column < len(port.dtypes) and port.dtypes[column] == dtype]
    return columns


def refuses_all_nodes(customized: Customized, kernels: Sequence[Kernel]) -> bool:
    """Whether the library proves that no node of an op type can have the dtypes of a customize_dtypes file: no column
    of any kernel, static or dynamic, has them for the tensors that every node has.
    """
    for kernel in kernels:
        if kernel.confidence != "library":
            return False
        refusals = []
        for dynamic in (False, True):
            inputs, outputs = (
                _bound([OperatorPort(None)] * len(slots), slots, dynamic)
                for slots in map(required_slots, (kernel.inputs, kernel.outputs))
            )
            if any(tensor.dtypes for tensor in (*inputs, *outputs) if tensor is not None):
                refusals.append(not customized_columns(customized, Bound(inputs, outputs)))
        if not refusals or not all(refusals):
            return False
    return bool(kernels)


def required_slots(slots: Sequence[Slot]) -> list[Slot]:
    """Return the slots whose tensors every node has at the same place: those before the first other one."""
    return list(takewhile(lambda slot: slot.param_type == "required", slots))


def _check(facts: OperatorFacts, kernel: Kernel, bound: Bound, policy: Policy, mode: Mode) -> Bound | KernelRefusal:
    promotion = promotion_of(kernel, bound.inputs)
    asks_dtypes = True
    if facts.customized is not None and any(tensor is not None for tensor in (*bound.inputs, *bound.outputs)):
        if not customized_columns(facts.customized, bound):
            return KernelRefusal("refused-customized", "")
        asks_dtypes = False
    if facts.op_type == "Cast":
        return bound if kernel.inputs and _fits_exactly(bound) else KernelRefusal("refused-cast", "")
    for side, ports in (("input", bound.inputs), ("output", bound.outputs)):
        for index, tensor in enumerate(ports):
            if tensor is None or not tensor.port.present:
                continue
            if asks_dtypes and not (
                _dtype_fits(facts, tensor, policy, mode)
                or (side == "input" and promotion is not None and has_promoted_column(promotion, index, tensor.dtypes))
            ):
                if not tensor.dtypes:
                    return KernelRefusal("refused-shape", "unknown shapes" if facts.shapes else "static shapes")
                return KernelRefusal("refused-dtype", f"{side} {index}")
            if tensor.port.format == "ND" and tensor.formats and not _ND_REACHABLE.intersection(tensor.formats):
                return KernelRefusal("refused-format", f"{side} {index}")
            if side == "input" and tensor.slot.needs_const and not tensor.port.const and not facts.lenient:
                return KernelRefusal("refused-value", f"input {index}")
    return bound._replace(promotion=promotion)


def _fits_exactly(bound: Bound) -> bool:
    """Whether some column has the very dtypes of a Cast (sub_ops_store.cc:843-960; fe_ops_kernel_info_store.cc:628)."""
    ports = [tensor for tensor in (*bound.inputs, *bound.outputs) if tensor is not None and tensor.port.present]
    return any(
        all(
            column < len(tensor.dtypes)
            and tensor.port.dtype in (None, tensor.dtypes[column])
            and (tensor.port.format is None or tensor.formats[column] in ("ND", tensor.port.format))
            for tensor in ports
        )
        for column in range(len(ports[0].dtypes) if ports else 0)
    )


def _dtype_fits(facts: OperatorFacts, tensor: BoundPort, policy: Policy, mode: Mode) -> bool:
    own = tensor.port.dtype
    if own is None or own in tensor.dtypes:
        return own is not None or bool(tensor.dtypes)
    if any((own, dtype) in _RISES for dtype in tensor.dtypes):
        return True
    if facts.keep or mode.engine == "KEEP_ORIGIN":
        return False
    black, engine = policy is Policy.BLACK, mode.engine
    if own in ("float32", "bfloat16") and "float16" in tensor.dtypes:
        to_fp16 = engine not in _NO_FP16 and not (black and engine in _NO_FP16_IF_BLACK)
        return to_fp16 or _to_bf16(tensor, black, engine)
    return _to_bf16(tensor, black, engine)


def _to_bf16(tensor: BoundPort, black: bool, engine: str) -> bool:
    if tensor.port.dtype != "float32" or "bfloat16" not in tensor.dtypes:
        return False
    return engine not in _NO_BF16 and not (black and engine in _NO_BF16_IF_BLACK)


def _bound(ports: Sequence[OperatorPort], slots: Sequence[Slot | None], dynamic: bool) -> tuple[BoundPort | None, ...]:
    bound: list[BoundPort | None] = []
    for port, slot in zip(ports, slots, strict=True):
        if slot is None:
            bound.append(None)
            continue
        row = slot.dynamic if dynamic else slot.static
        bound.append(BoundPort(port, slot, row.dtypes, row.formats))
    return tuple(bound)


def _slots(
    slots: tuple[Slot, ...], ports: Sequence[OperatorPort], alike: bool, lenient: bool
) -> list[Slot | None] | None:
    """Which slot each tensor is; None when their numbers do not fit (opskernel/ops_store/ops_kernel_common.cc:141-244).

    Tensors are matched by position. Inputs of variable number share what the others leave, in equal parts: files seldom
    have the names that the engine goes by.
    """
    count = len(ports)
    if not count:
        lacking = any(slot.param_type in ("required", "dynamic") for slot in slots)
        return None if lacking and not lenient and not alike else []
    if alike:
        return [slots[0]] * count
    variable = [index for index, slot in enumerate(slots) if slot.param_type == "dynamic"]
    if variable:
        shared = count - (len(slots) - len(variable))
        if shared > 0 and shared % len(variable) == 0:
            share = shared // len(variable)
            return [slot for slot in slots for _ in range(share if slot.param_type == "dynamic" else 1)]
        if not lenient:
            return None
    needed = max(
        (index + 1 for index, slot in enumerate(slots) if slot.param_type in ("required", "dynamic")), default=0
    )
    if needed <= count <= len(slots) or lenient:
        return [*slots[:count], *[None] * (count - len(slots))]
    return None
