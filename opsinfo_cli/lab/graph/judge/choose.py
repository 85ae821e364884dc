"""The choice of one node's column.

Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/graph_optimizer/op_judge/format_and_dtype/
op_format_dtype_judge.cc:482-560 and strategy/op_format_dtype_strategy_manager.cc:254-315.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....core.cann.dtype_names import FLOATING
from .format_filters import filter_formats, heavy_format
from .lists_and_modes import JudgedTensor, Matched, Work, match
from .node_facts import DtypeChoice
from .promote import narrow
from .support import KernelRefusal, bind, customized_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....core.cann.policy import Policy
    from .kernel import Kernel
    from .node_facts import BoundPort, JudgeSetting, OperatorFacts, Seen
    from .support import Bound

_LATE = 0xFF
"""Added to an input's place in the order if a constant or nothing feeds it (op_format_dtype_judge.cc:674-713)."""


class Step(NamedTuple):
    """What one tensor did to the columns.

    :param columns: those that it left
    """

    side: str
    number: int
    dtype: str
    matched: Matched
    columns: list[int]


def choose(
    facts: OperatorFacts,
    seen: Sequence[str | Seen | None],
    kernels: Sequence[Kernel],
    policies: Sequence[Policy],
    setting: JudgeSetting,
) -> DtypeChoice:
    """Return the choice for a node, from the first kernel that accepts it.

    :param seen: the dtype that feeds each input
    :param policies: the policy of each kernel, after the mixlist
    """
    if kernels and not any(port.dtype for port in (*facts.inputs, *facts.outputs)):
        return left_as_is(facts, "unknown-dtype")
    refusal = KernelRefusal("not-in-store", "")
    first: Policy | None = None
    confidence: str | None = None
    for number, (kernel, policy) in enumerate(zip(kernels, policies, strict=True)):
        bound = bind(facts, kernel, policy, setting.mode)
        if isinstance(bound, KernelRefusal):
            refusal, first, confidence = bound, first or policy, kernel.confidence
            continue
        return _choose_column(facts, seen, kernel, policy, setting, bound)._replace(kernel=number)
    return left_as_is(facts, refusal.why, first, refusal.detail)._replace(confidence=confidence)


def left_as_is(facts: OperatorFacts, why: str, policy: Policy | None = None, detail: str = "") -> DtypeChoice:
    """The choice for a node that is not judged: its own dtypes, or those that a customize_dtypes file sets
    (format_selector/manager/format_dtype_setter.cc:291-330).
    """
    inputs = [port.dtype if port.present else None for port in facts.inputs]
    outputs = [port.dtype for port in facts.outputs]
    if facts.customized is not None:
        for own, wanted in ((inputs, facts.customized.inputs), (outputs, facts.customized.outputs)):
            for index, dtype in enumerate(wanted[: len(own)]):
                if dtype is not None and (own is outputs or facts.inputs[index].present):
                    own[index] = dtype
    return DtypeChoice(tuple(inputs), tuple(outputs), -1, why, policy, detail=detail)


def _choose_column(
    facts: OperatorFacts,
    seen: Sequence[str | Seen | None],
    kernel: Kernel,
    policy: Policy,
    setting: JudgeSetting,
    bound: Bound,
) -> DtypeChoice:
    """Return the choice for a node from a kernel that accepts it."""
    asked = [] if facts.customized is None else customized_columns(facts.customized, bound)
    columns = list(asked)
    steps = _narrow_columns(facts, seen, kernel, policy, setting, bound, columns)
    column = columns[0] if columns else asked[0] if asked else 0
    decided: tuple[str, int] | None = None
    detail = ""
    if bound.promotion is not None:
        matched = Matched(True, "promoted")
    elif asked:
        matched = Matched(True, "customized")
    else:
        decided, matched, detail = _reason(bound, steps, column)
    own = (*facts.inputs, *facts.outputs)
    ports = (*bound.inputs, *bound.outputs)
    dtypes = [_dtype_at(tensor, column) for tensor in ports]
    if None in ports:  # a tensor that the kernel does not list goes with listed ones of its dtype
        listed = {
            tensor.port.dtype: dtype
            for tensor, dtype in zip(ports, dtypes, strict=True)
            if tensor and tensor.port.present
        }
        dtypes = [
            listed.get(port.dtype, port.dtype) if tensor is None and port.present else dtype
            for port, tensor, dtype in zip(own, ports, dtypes, strict=True)
        ]
    layouts = [heavy_format(tensor, column) for tensor in ports]
    count = len(bound.inputs)
    return DtypeChoice(
        tuple(dtypes[:count]),
        tuple(dtypes[count:]),
        column,
        matched.why,
        policy,
        decided,
        matched.followed,
        matched.through,
        kernel.confidence,
        detail=detail,
        layouts=(tuple(layouts[:count]), tuple(layouts[count:])) if any(layouts) else None,
    )


def _narrow_columns(
    facts: OperatorFacts,
    seen: Sequence[str | Seen | None],
    kernel: Kernel,
    policy: Policy,
    setting: JudgeSetting,
    bound: Bound,
    columns: list[int],
) -> list[Step]:
    """Narrow the columns in place, and return what each tensor did.

    :param columns: empty: all of them; it may be empty again if none fits
    """
    places: dict[int, int] = {}
    for index, port in enumerate(facts.inputs):
        places.setdefault(index + _LATE if port.late else index, index)  # of two at one place the later one is lost
    order = [places[place] for place in sorted(places)]
    steps: list[Step] = []
    if bound.promotion is None:
        work = Work(facts, setting, policy, kernel.null, _takes_16_gives_32(bound))
        for side, ports, numbers in (
            ("inputs", bound.inputs, order),
            ("outputs", bound.outputs, range(len(bound.outputs))),
        ):
            has_begun = bool(columns)  # from all columns again if the inputs left none
            for number in numbers:
                tensor = ports[number]
                if tensor is None or not tensor.port.present:
                    continue
                if not has_begun:
                    # by formats, as the engine (GenerateInitialMatchedIndexVec); there are as many dtypes
                    columns[:] = range(len(tensor.formats))
                    has_begun = True
                if tensor.port.dtype is not None:
                    is_input = side == "inputs"
                    feed = seen[number] if is_input else None
                    matched = match(work, JudgedTensor(tensor.port, tensor.dtypes, is_input, number, feed), columns)
                    steps.append(Step(side, number, tensor.port.dtype, matched, list(columns)))
        filter_formats(kernel, bound.inputs, bound.outputs, order, columns)
    elif narrow(bound.promotion, bound.inputs, columns) and columns:
        filter_formats(kernel, bound.inputs, bound.outputs, order, columns)
    return steps


def _takes_16_gives_32(bound: Bound) -> bool:
    """Return whether a column has float16 at input 0 and float32 at output 0 (op_format_dtype_judge.cc:218-260)."""
    first, output = (ports[0] if ports else None for ports in (bound.inputs, bound.outputs))
    if first is None or output is None or len(first.dtypes) > len(output.dtypes):
        return False
    pairs = zip(first.dtypes, output.dtypes, strict=False)
    return any(pair == ("float16", "float32") for pair in pairs)


def _reason(bound: Bound, steps: Sequence[Step], column: int) -> tuple[tuple[str, int] | None, Matched, str]:
    """Return the deciding tensor: the first after which all remaining columns had the chosen floating dtypes."""
    ports = (*bound.inputs, *bound.outputs)

    def floating(column: int) -> list[str | None]:
        return [dtype if (dtype := _dtype_at(tensor, column)) in FLOATING else None for tensor in ports]

    wanted = floating(column)
    judged = [step for step in steps if step.dtype in FLOATING] or steps
    if not any(step.matched.fits for step in judged):
        return None, Matched(False, "first-column"), judged[0].matched.why if judged else "mode"
    for step in steps:
        if step.matched.fits and column in step.columns and all(floating(other) == wanted for other in step.columns):
            return (step.side, step.number), step.matched, ""
    last = next(step for step in reversed(steps) if step.matched.fits)
    return (last.side, last.number), last.matched, ""


def _dtype_at(tensor: BoundPort | None, column: int) -> str | None:
    if tensor is None or not tensor.port.present:
        return None
    return tensor.dtypes[column] if column < len(tensor.dtypes) else tensor.port.dtype
